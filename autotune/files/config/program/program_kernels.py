"""Reads models of external programs that are given by kernel files: a stencil or an IVP, and a
space of variants.
"""

from collections.abc import Iterator
from pathlib import Path

from autotune import paths
from autotune.domain.family import family_of, go_together
from autotune.domain.misfit import Misfit, unknown
from autotune.domain.program_model import KernelModel
from autotune.domain.skeleton import Skeleton
from autotune.domain.space import Space
from autotune.domain.stencil import Stencil
from autotune.files.config.facts import altered, note_misfits
from autotune.files.config.kernel_files import read_ivp, read_method, read_stencil
from autotune.files.config.session import Session
from autotune.files.config.skeletons import read_skeleton
from autotune.files.config.spaces import read_space
from autotune.files.parsing.yaml_document import Document


def complete_kernel(
    session: Session, document: Document, stated: KernelModel
) -> KernelModel | None:
    """The draft of a model with the paths of its kernel files, after reading them; None with faults
    noted.
    """
    faults_before, section = len(session.faults), ("model", "kernel")
    note_misfits(session, document, stated.misfits(), ("model",))

    def path(key: str, collection: paths.Collection) -> Path | None:
        name, where = getattr(stated, key), document.place((*section, key))
        return name and session.resolve(name, collection, document.path.parent, where)

    places = {
        "stencil": path("stencil", "kernels/stencil"),
        "ivp": path("ivp", "kernels/ivp"),
        "method": path("method", "kernels/method"),
        "space": path("space", "variants/space"),
    }
    stencil = session.once(place, read_stencil) if (place := places["stencil"]) else None
    for key, reader in (("ivp", read_ivp), ("method", read_method)):
        place = places[key]
        if place is not None:
            session.once(place, reader)
    space = session.once(place, read_space) if (place := places["space"]) else None
    if stencil is not None:
        note_misfits(session, document, _wrong_sizes(stated, stencil), section)
    if space is not None and places["space"] is not None:
        folder = places["space"].parent
        places["skeleton"] = session.resolve(space.skeleton, "variants/skeleton", folder)
        skeleton = session.once(place, read_skeleton) if (place := places["skeleton"]) else None
        note_misfits(session, document, _wrong_space(stated, space, skeleton), section)
    if len(session.faults) > faults_before:
        return None
    return altered(
        stated, **{key: place and str(paths.absolute(place)) for key, place in places.items()}
    )


def _wrong_sizes(kernel: KernelModel, stencil: Stencil) -> Iterator[Misfit]:
    """Sizes that are neither one nor as many as the stencil has dimensions."""
    count = len(stencil.dimensions)
    if len(kernel.size) not in (1, count):
        names = ", ".join(stencil.dimensions)
        found = f"{len(kernel.size)} sizes: {stencil.name} has the dimensions {names}"
        yield Misfit(("size",), found, f"one, or {count}")


def _wrong_space(kernel: KernelModel, space: Space, skeleton: Skeleton | None) -> Iterator[Misfit]:
    """A space for another family, and parameters that the space lacks."""
    if skeleton is not None and not go_together(skeleton, kernel):
        found = f"the space {space.name} is for {family_of(skeleton).words}"
        yield Misfit(("space",), found, f"a space for {family_of(kernel).words}")
    for name in kernel.parameters:
        keys = ("parameters", name)
        yield from unknown(keys, "parameter", name, space.parameters, of_key=True)
