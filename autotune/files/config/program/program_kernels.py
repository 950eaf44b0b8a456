"""Reads models of external programs that are given by kernel files: a stencil or an IVP, and a
space of variants.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from autotune import paths
from autotune.domain.family import family_of, go_together
from autotune.domain.misfit import Misfit, unknown
from autotune.domain.program_model import KernelModel
from autotune.domain.setup import Generated
from autotune.domain.stencil import Stencil
from autotune.files.config.facts import altered, note_misfits
from autotune.files.config.kernel_files import read_ivp, read_method, read_stencil
from autotune.files.config.session import Session
from autotune.files.config.spaces import read_generated
from autotune.files.parsing.yaml_document import Document

T = TypeVar("T")


def complete_kernel(
    session: Session, document: Document, stated: KernelModel
) -> KernelModel | None:
    """The draft of a model with the paths of its kernel files, after reading them; None with faults
    noted.
    """
    faults_before, section = len(session.faults), ("model", "kernel")
    note_misfits(session, document, stated.misfits(), ("model",))

    places: dict[str, str] = {}

    def content(
        key: str, collection: paths.Collection, read: Callable[[Session, Path], T | None]
    ) -> T | None:
        name, where = getattr(stated, key), document.place((*section, key))
        path = name and session.resolve(name, collection, document.path.parent, where)
        if not path:
            return None
        places[key] = str(path.resolve())
        return session.once(path, read)

    stencil = content("stencil", "kernels/stencil", read_stencil)
    content("ivp", "kernels/ivp", read_ivp)
    content("method", "kernels/method", read_method)
    generated = content("space", "variants/space", read_generated)
    if stencil is not None:
        note_misfits(session, document, _wrong_sizes(stated, stencil), section)
    if generated is not None:
        note_misfits(session, document, _wrong_space(stated, generated), section)
    return None if len(session.faults) > faults_before else altered(stated, **places)


def _wrong_sizes(kernel: KernelModel, stencil: Stencil) -> Iterator[Misfit]:
    """Sizes that are neither one nor as many as the stencil has dimensions."""
    count = len(stencil.dimensions)
    if len(kernel.size) not in (1, count):
        names = ", ".join(stencil.dimensions)
        found = f"{len(kernel.size)} sizes: {stencil.name} has the dimensions {names}"
        yield Misfit(("size",), found, f"one, or {count}")


def _wrong_space(kernel: KernelModel, generated: Generated) -> Iterator[Misfit]:
    """A space for another family, and parameters that the space lacks."""
    skeleton, space = generated.skeleton, generated.space
    if not go_together(skeleton, kernel):
        found = f"the space {space.name} is for {family_of(skeleton).words}"
        yield Misfit(("space",), found, f"a space for {family_of(kernel).words}")
    for name in kernel.parameters:
        keys = ("parameters", name)
        yield from unknown(keys, "parameter", name, space.parameters, of_key=True)
