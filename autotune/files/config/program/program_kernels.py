"""Reads models of external programs that are given by kernel files: a stencil or an IVP, and a
space of variants.
"""

from collections.abc import Callable
from pathlib import Path

from autotune import paths
from autotune.domain.family import family_of, go_together
from autotune.domain.program_model import KernelModel
from autotune.errors import unknown_name
from autotune.files.config.facts import altered, note_misfits
from autotune.files.config.kernel_files import read_ivp, read_method, read_stencil
from autotune.files.config.session import Session
from autotune.files.config.skeletons import read_skeleton
from autotune.files.config.spaces import read_space
from autotune.files.parsing.yaml_document import Document, Keys


def complete_kernel(
    session: Session, document: Document, stated: KernelModel
) -> KernelModel | None:
    """The draft of a model with the paths of its kernel files, after reading them; None with faults
    noted.
    """
    faults_before = len(session.faults)
    reader = _Reader(session, document)
    note_misfits(session, document, stated.misfits(), ("model",))
    stencil = reader.stencil(stated)
    ivp = reader.file("ivp", stated.ivp, "kernels/ivp", read_ivp)
    method = reader.file("method", stated.method, "kernels/method", read_method)
    space, skeleton = reader.space(stated)
    if len(session.faults) > faults_before:
        return None
    return altered(stated, stencil=stencil, ivp=ivp, method=method, space=space, skeleton=skeleton)


class _Reader:
    """Reads the files of a kernel, and checks the other keys of the model against them."""

    def __init__(self, session: Session, document: Document) -> None:
        self.session = session
        self.document = document

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        place = self.document.place(("model", "kernel", *keys))
        self.session.add(place, found, expected, hint)

    def path(self, key: str, name: str, collection: paths.Collection) -> Path | None:
        where = self.document.place(("model", "kernel", key))
        return self.session.resolve(name, collection, self.document.path.parent, where)

    def file(
        self,
        key: str,
        name: str | None,
        collection: paths.Collection,
        reader: Callable[[Session, Path], object],
    ) -> str | None:
        """The path of the file under a key, after reading it; None with faults noted where it
        cannot be read.
        """
        path = None if name is None else self.path(key, name, collection)
        if path is None:
            return None
        self.session.once(path, reader)
        return str(path.resolve())

    def stencil(self, kernel: KernelModel) -> str | None:
        name = kernel.stencil
        path = None if name is None else self.path("stencil", name, "kernels/stencil")
        stencil = self.session.once(path, read_stencil) if path else None
        if path is None or stencil is None:
            return None
        if len(kernel.size) not in (1, len(stencil.dimensions)):
            names = ", ".join(stencil.dimensions)
            found = f"{len(kernel.size)} sizes: {stencil.name} has the dimensions {names}"
            self.add(("size",), found, f"one, or {len(stencil.dimensions)}")
        return str(path.resolve())

    def space(self, kernel: KernelModel) -> tuple[str, str]:
        """The paths of the space and its skeleton, after checks of its family and its
        parameters.
        """
        path = self.path("space", kernel.space, "variants/space")
        space = self.session.once(path, read_space) if path else None
        if path is None or space is None:
            return "", ""
        place = self.session.resolve(space.skeleton, "variants/skeleton", path.parent)
        skeleton = self.session.once(place, read_skeleton) if place else None
        if skeleton is not None and not go_together(skeleton, kernel):
            found = f"the space {space.name} is for {family_of(skeleton).words}"
            self.add(("space",), found, f"a space for {family_of(kernel).words}")
        for name in kernel.parameters:
            if name not in space.parameters:
                where = self.document.key(("model", "kernel", "parameters", name))
                self.session.faults.append(unknown_name(where, "parameter", name, space.parameters))
        return str(path.resolve()), str(place.resolve()) if place else ""
