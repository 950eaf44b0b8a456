"""Kernels of a skeleton: one loop nest over named dimensions, before any loop order is chosen.

A kernel states *what* is computed for each point of its dimensions; the loop order, fusion and
tiles are transformations of the loop tree that is made from it.
"""

from dataclasses import dataclass
from typing import Annotated

from autotune.domain.annotations import Bounds, Derived, OneKey, Text
from autotune.language.expression import Expr, Ref, references, show, symbols


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The right-hand side f(time, argument), evaluated component by component."""

    argument: Ref
    """The vector that f reads, without its long index: ``Y[l]`` or ``y``."""
    time: Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """The stencil of the problem, applied to the grid array ``argument``, point by point."""

    argument: Text
    in_place: bool = False
    """The kernel writes the array that it reads: points are read that were written before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """``target = value`` for every point of ``loops``; sums over the dimension ``reduce``.

    Without ``reduce``, ``value`` is assigned. With it, ``value`` is the term of the sum, and
    ``result``, an expression of ``sum``, is assigned. With ``evaluation``, the value is the
    right-hand side of the problem, or its stencil.
    """

    name: Annotated[str, Derived()]
    loops: Annotated[tuple[Text, ...], Bounds(least=1)]
    """Named dimensions in their default order."""
    target: Ref
    value: Expr | None = None
    reduce: Text | None = None
    result: Expr | None = None
    evaluation: Annotated[
        Evaluation | Application | None,
        OneKey(
            {"evaluate": Evaluation, "stencil": Application},
            both="a kernel evaluates a right-hand side or applies a stencil, not both",
        ),
    ] = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.evaluation is None):
            raise ValueError(f"kernel {self.name}: needs either a value or an evaluation")
        if self.reduce is not None and self.reduce not in self.loops:
            raise ValueError(
                f"kernel {self.name}: reduces over {self.reduce}, not one of its loops"
            )
        if (self.result is not None) and self.reduce is None:
            raise ValueError(f"kernel {self.name}: a result of a sum needs a dimension to reduce")
        if self.result is not None and "sum" not in symbols(self.result):
            raise ValueError(f"kernel {self.name}: {show(self.result)} does not use the sum")
        indexed = {symbol for index in self.target.indices for symbol in symbols(index)}
        free = set(self.loops) - ({self.reduce} if self.reduce else set())
        if indexed & set(self.loops) != free:
            raise ValueError(
                f"kernel {self.name}: target {show(self.target)} must be indexed by"
                f" {', '.join(sorted(free))}"
            )

    @property
    def on_grid(self) -> bool:
        """Whether the kernel applies a stencil, so that its loop runs over the points of a grid."""
        return isinstance(self.evaluation, Application)

    @property
    def reads(self) -> tuple[Ref, ...]:
        """The array elements that the kernel reads, without those of the right-hand side."""
        parts = [e for e in (self.value, self.result) if e is not None]
        return tuple(ref for part in parts for ref in references(part))
