"""The goal of a self-generated focal region, and the runs that it requests."""

import math
from dataclasses import dataclass
from typing import Literal

from autotune.learning.scaling.loglinear import LogLinear

StageName = Literal["second level", "bracket", "lower levels", "recentre", "forecast"]
_DEPTH = 5
"""Lower levels asked for where none are named: with the two known ones the seven of the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeGrid:
    """The sizes that the program can have: base + k step, in the column of the size where it is
    made of one column.
    """

    base: float = 0.0
    step: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.base) and 0 < self.step < math.inf):
            raise ValueError("base and step are finite, and the step between sizes is positive")

    def nearest(self, value: float) -> float:
        """The size above zero that is nearest to ``value``.

        >>> SizeGrid(base=10.0, step=60.0).nearest(811.0)
        790.0
        """
        size = self.base + round((value - self.base) / self.step) * self.step
        while size <= 0:
            size += self.step
        return size


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfGeneration:
    """How a self-generated region proposes the runs that it needs.

    ``spread``: the share by which the three sizes at a number of processors differ (``around`` the
    size), or by which their expected times differ (``around`` the time). Garren 2010 does the first
    for BT and the second for CG. ``lower``: the numbers of processors below the two highest; None
    for halvings, or for whole squares where all numbers are squares.
    """

    spread: float = 0.10
    around: Literal["size", "time"] = "size"
    lower: tuple[float, ...] | None = None
    grid: SizeGrid = SizeGrid()

    def __post_init__(self) -> None:
        if not 0 < self.spread < 1:
            raise ValueError("the spread is a share between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationPlan:
    """The goal of a self-generated region: the time T0 at ``processors``, forecast from runs on
    fewer.
    """

    time: float
    processors: float
    runs: SelfGeneration = SelfGeneration()

    def __post_init__(self) -> None:
        if not (self.time > 0 and self.processors > 0):
            raise ValueError("the time and the processors are positive")


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignPoint:
    """A run that is requested. ``column``: its size in the column of the size, where the size is
    made of one column.
    """

    processors: float
    size: float
    column: float | None
    expected: float | None
    """Time, in the unit of the runs."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The current stage of a plan: the runs to do next, and the model fitted so far, if any."""

    name: StageName
    points: tuple[DesignPoint, ...]
    model: LogLinear | None = None
    notes: tuple[str, ...] = ()


def lower_levels(highest: float, second: float, depth: int = _DEPTH) -> tuple[float, ...]:
    """The numbers of processors below the two given ones, in descending order, by repeated halving.

    They are powers of two where both given numbers are, even squares where both are squares, else
    whole numbers.

    >>> lower_levels(1024, 512), lower_levels(1024, 484)
    ((256, 128, 64, 32, 16), (256, 144, 64, 36, 16))
    """
    powers = all(math.log2(p).is_integer() for p in (highest, second))
    squares = not powers and all(math.sqrt(p).is_integer() for p in (highest, second))
    lower: list[float] = []
    for k in range(1, depth + 1):
        exact = (second if not squares else highest / 2) / 2**k
        whole = (2 * max(1, round(math.sqrt(exact) / 2))) ** 2 if squares else round(exact)
        if whole >= 1 and whole < second and whole not in lower:
            lower.append(whole)
    return tuple(lower)
