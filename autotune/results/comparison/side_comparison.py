"""Sides beside one another, problem by problem: values."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autotune.domain.metric import Metric
from autotune.domain.results import Prediction
from autotune.domain.variant import Value
from autotune.statistics.drift import Contest

SideKind = Literal["study", "revision", "machine"]
Faster = Literal["first", "second", "undecided", "not compared"]
Winner = Literal["same", "moved", "undecided"]
"""Whether the winner of a side is that of the other one; ``undecided`` where it is not known of one
of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFacts:
    """What a side is: as a user named it, where and with what it was measured."""

    name: str
    kind: SideKind
    words: str
    """In words: ``study quick-2 of 2026-05-01``, ``HEAD~1 (1f2e3d4c5b, tile the loop)``."""
    machine: str
    """Title of the machine; several are joined by ``;``."""
    compilers: str
    fault: str = ""
    """Why it has nothing to compare; empty if it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideWinner:
    """What is chosen on a side for a problem, with its value, or what is predicted best."""

    side: str
    candidate: str
    """Readable name."""
    settings: Mapping[str, Value]
    """Parameters, compiler, flags and layout."""
    cost: float
    """Seconds of a time step where the time is optimised: smaller is better."""
    interval: tuple[float, float] | None
    """Of the cost, 90 %."""
    measured: bool
    """Else the cost is a prediction."""
    contenders: int
    """How many candidates may be the fastest; 1 where the winner is decided."""
    speedup: float | None
    """Cost of the baseline over this one."""
    prediction: Prediction | None

    @property
    def parts(self) -> dict[str, float]:
        """Predicted seconds by kind of part, all sweeps together; empty without a prediction."""
        sums: dict[str, float] = {}
        for part in self.prediction.parts if self.prediction else ():
            sums[part.kind] = sums.get(part.kind, 0.0) + part.seconds
        return sums


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioRange:
    """A cost over another one, with a 90 % interval; None where that is not known."""

    value: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, comparison: Contest | None) -> "RatioRange | None":
        """The ratio of a comparison within rounds."""
        if comparison is None:
            return None
        return cls(value=comparison.ratio, low=comparison.low, high=comparison.high)

    @property
    def inverse(self) -> "RatioRange":
        """The other cost over the one."""
        low = None if self.high is None else 1 / self.high
        high = None if self.low is None else 1 / self.low
        return RatioRange(value=1 / self.value, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVerdict:
    """The first side beside another one, for one problem."""

    first: str
    second: str
    ratio: RatioRange | None
    """Cost of the first side's winner over that of the second's; above 1 the second is faster."""
    faster: Faster
    basis: str
    """What the ratio and its interval rest on, a sentence."""
    winner: Winner
    keeping: RatioRange | None = None
    """On the second side, the cost of the first side's winner over that of the second's: what it
    costs to keep it. None where it was not measured there."""
    explanation: tuple[str, ...] = ()
    """What the model says of the difference, a sentence each."""
    cautions: tuple[str, ...] = ()

    @property
    def speedup(self) -> RatioRange | None:
        """How many times faster the faster side is; the ratio where that is undecided."""
        return self.ratio.inverse if self.ratio and self.faster == "first" else self.ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedProblem:
    """One problem: the winner of every side that has it, and the first side beside the others."""

    label: str
    objective: Metric
    winners: tuple[SideWinner, ...]
    pairs: tuple[PairVerdict, ...]
    unchanged: bool = False
    """Both sides have the same programs, so that there is nothing to measure."""
    not_compared: tuple[str, ...] = ()
    """Sides that do not have it in a form that compares, with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideComparison:
    """Sides beside one another."""

    sides: tuple[SideFacts, ...]
    problems: tuple[ComparedProblem, ...]
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def unchanged(self) -> bool:
        """Whether all sides have the same programs for some problem."""
        return any(problem.unchanged for problem in self.problems)

    @property
    def compared(self) -> bool:
        """Whether anything was compared."""
        return any(problem.pairs for problem in self.problems)


def faster(ratio: RatioRange | None) -> Faster:
    """Which side a ratio with its interval says is the faster one."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return "undecided"
    return "second" if ratio.low > 1 else "first" if ratio.high < 1 else "undecided"


def same_settings(first: Mapping[str, Value], second: Mapping[str, Value]) -> bool:
    """Whether two candidates have the same settings; one of null counts as none."""
    names = first.keys() | second.keys()
    return all(first.get(name) == second.get(name) for name in names)


def changed_settings(first: Mapping[str, Value], second: Mapping[str, Value]) -> str:
    """The settings in which candidates differ, in words: ``block: 8 -> 64``."""
    names = dict.fromkeys([*first, *second])
    changed = [name for name in names if first.get(name) != second.get(name)]
    return ", ".join(f"{n}: {first.get(n, 'none')} -> {second.get(n, 'none')}" for n in changed)


def combined(ratio: float, halves: Sequence[float]) -> RatioRange:
    """A ratio whose logarithm has independent errors; ``halves``: half a 90 % interval of each."""
    half = math.hypot(*halves)
    return RatioRange(value=ratio, low=ratio * math.exp(-half), high=ratio * math.exp(half))
