"""Skeletons: the kernel calls, loops, communication and synchronisation of one time step."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

from autotune.domain.annotations import Bounds, Derived, OneOf, Text
from autotune.domain.kernel import Application, Kernel
from autotune.language.expression import Expr

Extent = Annotated[str, OneOf(("s", "n", "grid"))]
GRID = "grid"
"""The extent of dimensions and arrays that are the problem's grid."""


@dataclass(frozen=True, slots=True)
class CallStep:
    """A step of a skeleton that runs a kernel over the whole block of the thread."""

    kernel: Text


@dataclass(frozen=True, slots=True)
class CommStep:
    """A step that fetches the remote parts of an array that the next right-hand side reads."""

    array: Text


@dataclass(frozen=True, slots=True)
class SyncStep:
    """A step at which all threads wait for one another."""


@dataclass(frozen=True, slots=True)
class SwapStep:
    """A step at which two arrays of the grid exchange their storage."""

    first: Text
    second: Text

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise ValueError(f"{self.first} is exchanged with itself")


@dataclass(frozen=True, slots=True)
class LoopStep:
    """A step that repeats other steps ``count`` times (an expression of s and m)."""

    variable: Text
    count: Expr
    body: Annotated[tuple["Step", ...], Bounds(least=1)]


class MixedExtents(NamedTuple):
    """A place in a skeleton where a grid and the extents of IVPs are mixed."""

    keys: tuple[str, ...]
    """The keys of its file that lead there."""
    found: str
    expected: str


Step = CallStep | CommStep | SyncStep | SwapStep | LoopStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """The kernel calls, loops, communication and synchronisation of one time step.

    ``dimensions`` maps loop names to extents: ``s`` (short, known when code is generated) or ``n``
    (long, distributed blockwise). ``arrays`` maps array names to the extents of their dimensions.
    Arrays whose last extent is ``n`` are stored; the others are coefficients of the method. If
    stencils are applied, the only extent is ``grid``: all points of the problem's grid.
    """

    name: Annotated[str, Derived()]
    title: Text
    source: Text
    dimensions: Annotated[Mapping[str, Extent], Bounds(least=1)]
    arrays: Annotated[Mapping[str, tuple[Extent, ...]], Bounds(least=1)]
    kernels: Annotated[Mapping[str, Kernel], Bounds(least=1)]
    steps: Annotated[tuple[Step, ...], Bounds(least=1)]
    definition: str = field(init=False, default="")
    """12 hexadecimal digits over what a step computes, whatever its name."""

    def __post_init__(self) -> None:
        essence = repr((self.dimensions, self.arrays, self.kernels, self.steps))
        object.__setattr__(self, "definition", hashlib.sha256(essence.encode()).hexdigest()[:12])
        for mixed in self.mixed_extents():
            raise ValueError(f"{'.'.join(mixed.keys)}: {mixed.found}; {mixed.expected} is needed")
        for kernel in self.kernels.values():
            for loop in kernel.loops:
                if loop not in self.dimensions:
                    raise ValueError(f"kernel {kernel.name}: unknown dimension {loop!r}")
            for name in (kernel.target.array, *(ref.array for ref in kernel.reads)):
                if name not in self.arrays:
                    raise ValueError(f"kernel {kernel.name}: unknown array {name!r}")
            if isinstance(kernel.evaluation, Application):
                self._check_application(kernel, kernel.evaluation)
        called = _called(self.steps)
        for name in called:
            if name not in self.kernels:
                raise ValueError(f"step calls unknown kernel {name!r}")

    def _check_application(self, kernel: Kernel, applied: Application) -> None:
        if applied.argument not in self.arrays:
            raise ValueError(f"kernel {kernel.name}: unknown array {applied.argument!r}")
        if applied.argument == kernel.target.array:
            raise ValueError(
                f"kernel {kernel.name}: reads and writes {applied.argument}: points would be read"
                " that were written in the same sweep"
            )

    def mixed_extents(self) -> Iterator[MixedExtents]:
        """Every place where grids are used without stencils, or the extents s and n with them."""
        if not self._has_grid():
            for name, kernel in self.kernels.items():
                if kernel.on_grid:
                    found = "a stencil is applied, but no dimension is the grid"
                    keys = ("kernels", name, "stencil")
                    yield MixedExtents(keys, found, "a dimension of extent grid")
            return
        for name, extent in self.dimensions.items():
            if extent != GRID:
                found = f"{name}: {extent} beside a grid"
                yield MixedExtents(("dimensions", name), found, "grid everywhere")
        for name, extents in self.arrays.items():
            if extents != (GRID,):
                found = f"{name}: [{', '.join(extents)}] beside a grid"
                yield MixedExtents(("arrays", name), found, "[grid] everywhere")
        for name, kernel in self.kernels.items():
            if not kernel.on_grid:
                yield MixedExtents(
                    ("kernels", name), f"{name} applies no stencil", "the key stencil"
                )

    def _has_grid(self) -> bool:
        return any(GRID in extents for extents in (self.dimensions.values(), *self.arrays.values()))

    @property
    def family(self) -> Literal["ivp", "stencil"]:
        """The family of the problems that the skeleton is for."""
        return "stencil" if GRID in self.dimensions.values() else "ivp"


def _called(steps: tuple[Step, ...]) -> list[str]:
    names: list[str] = []
    for step in steps:
        if isinstance(step, CallStep):
            names.append(step.kernel)
        elif isinstance(step, LoopStep):
            names.extend(_called(step.body))
    return names
