"""Models of external programs by the kernel files: a stencil or an IVP, and a space of variants."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from autotune import paths
from autotune.domain.program_model import KernelModel
from autotune.domain.setup import FAMILIES
from autotune.errors import unknown_name
from autotune.files.config.fields import Model, Read, Text
from autotune.files.config.ivps import read_ivp
from autotune.files.config.methods import read_method
from autotune.files.config.program_fields import AnyFormula, Formula, Share, Where, formula
from autotune.files.config.session import Session
from autotune.files.config.skeletons import read_skeleton
from autotune.files.config.spaces import read_space
from autotune.files.config.stencils import read_stencil
from autotune.files.config.yaml_document import Document, Keys
from autotune.language.constraint import Condition

_NOTHING, _ONE = formula(0), formula(1)


def _sizes(found: object) -> tuple[Condition, ...]:
    """One formula, or one per dimension of a grid."""
    if not isinstance(found, list):
        return (formula(found),)
    if not 1 <= len(found) <= 3:
        raise ValueError(f"{len(found)} sizes: one, or the points of each dimension of a grid")
    return tuple(formula(each) for each in found)


class _Kernel(Model):
    stencil: Text | None = None
    ivp: Text | None = None
    method: Text | None = None
    correctors: int | None = Field(default=None, ge=1)
    size: Annotated[tuple[Condition, ...], Read(_sizes, "1")]
    space: Text = Field(description="the name of a space, or a path that ends in .yaml")
    parameters: dict[str, AnyFormula] = Field(default_factory=dict)


class KernelFile(Model):
    """A kernel of the kernel files, so many time steps of it."""

    kernel: _Kernel
    times: Formula = _ONE
    extra: Formula = _NOTHING
    where: Where = Field(default_factory=dict)
    accuracy: Share = 0.2


def kernel_model(session: Session, document: Document, section: KernelFile) -> KernelModel | None:
    """The model of a section, its files read, or None and faults."""
    known = len(session.faults)
    reader, kernel = _Reader(session, document), section.kernel
    reader.check_keys(kernel)
    stencil = reader.stencil(kernel)
    ivp = reader.file("ivp", kernel.ivp, "kernels/ivp", read_ivp)
    method = reader.file("method", kernel.method, "kernels/method", read_method)
    space, skeleton = reader.space(kernel)
    if len(session.faults) > known:
        return None
    return KernelModel(
        stencil=stencil,
        ivp=ivp,
        method=method,
        correctors=kernel.correctors,
        size=kernel.size,
        space=space,
        skeleton=skeleton,
        parameters=kernel.parameters,
        times=section.times,
        extra=section.extra,
        where=section.where,
        accuracy=section.accuracy,
    )


class _Reader:
    """Reads the files of a kernel, and checks what is said of it against them."""

    def __init__(self, session: Session, document: Document) -> None:
        self.session = session
        self.document = document

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        place = self.document.place(("model", "kernel", *keys))
        self.session.add(place, found, expected, hint)

    def check_keys(self, kernel: _Kernel) -> None:
        """Which keys go together."""
        if (kernel.stencil is None) == (kernel.ivp is None):
            self.add((), "a kernel is one of stencil and ivp", "either of them")
        elif kernel.ivp is None and (kernel.method or kernel.correctors):
            self.add((), "a stencil has no method and no correctors", "an ivp, or none of these")
        elif kernel.ivp is not None and kernel.method is None:
            self.add((), "the key 'method' is missing", "the method that solves the IVP")
        elif kernel.ivp is not None and len(kernel.size) > 1:
            self.add(("size",), f"{len(kernel.size)} sizes of an IVP", "one: N")

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
        """The path of a file that was read."""
        path = None if name is None else self.path(key, name, collection)
        if path is None:
            return None
        self.session.once(path, reader)
        return str(path.resolve())

    def stencil(self, kernel: _Kernel) -> str | None:
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

    def space(self, kernel: _Kernel) -> tuple[str, str]:
        """The paths of the space and its skeleton; its family and its parameters fit."""
        path = self.path("space", kernel.space, "variants/space")
        space = self.session.once(path, read_space) if path else None
        if path is None or space is None:
            return "", ""
        place = self.session.resolve(space.skeleton, "variants/skeleton", path.parent)
        skeleton = self.session.once(place, read_skeleton) if place else None
        family = "stencil" if kernel.ivp is None else "ivp"
        if skeleton is not None and skeleton.family != family:
            found = f"the space {space.name} is for {FAMILIES[skeleton.family]}"
            self.add(("space",), found, f"a space for {FAMILIES[family]}")
        for name in kernel.parameters:
            if name not in space.parameters:
                where = self.document.key(("model", "kernel", "parameters", name))
                self.session.faults.append(unknown_name(where, "parameter", name, space.parameters))
        return str(path.resolve()), str(place.resolve()) if place else ""
