"""Candidates of a problem in the order of their predicted times, without running any.

Neighbours may be so close that their order is a toss-up. The uncertainties of two predictions give
the probability that one candidate is faster than the other (``odds``). Errors that both predictions
share cancel out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from autotune.domain.candidate_names import matching
from autotune.domain.problem import AnyProblem
from autotune.domain.results import Part, Prediction
from autotune.domain.variant import Candidate

UNDECIDED = 0.1
"""Two candidates are told apart where the slower is faster with less than this probability."""

_ROUNDING = 1e-9
"""A relative difference of times that may come from the arithmetic."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its prediction and its rank; ``rank`` is None without a predicted time."""

    rank: int | None
    candidate: Candidate
    prediction: Prediction
    apart: float | None = None
    """Probability that the first of the ranking takes less time; 0.5 is a toss-up, and what the
    first has itself. None where the engine does not say what it is unsure of."""
    group: int | None = None
    """Candidates of one group are not told apart from the fastest of it; groups count from 1."""
    drawn: bool = True
    """It belongs to all candidates, or was drawn from them at random; else it is here since it is
    near one that was predicted or measured to be fast, and in no random sample."""

    @property
    def undecided(self) -> bool:
        """Whether the candidate cannot be distinguished from the first of the ranking."""
        return self.apart is not None and self.apart <= 1 - UNDECIDED


@dataclass(frozen=True, slots=True)
class Ranking:
    """All candidates of one problem, fastest prediction first, those without one at the end."""

    problem: AnyProblem
    entries: tuple[Ranked, ...]
    engine: str

    def matching(self, name: str) -> list[Ranked]:
        """The entries of the candidates that ``name`` names (``candidate_names.matching``)."""
        named = {c.identity for c in matching((e.candidate for e in self.entries), name)}
        return [entry for entry in self.entries if entry.candidate.identity in named]


def rank(candidates: Sequence[Candidate], predictions: Sequence[Prediction]) -> list[Ranking]:
    """One ranking per problem by one engine, in the order in which the problems first occur.

    Of equal predictions, such as of programs that saturate the memory, that with less work in the
    core comes first; then by the identity of the candidate, so that the ranking does not depend on
    the order of the input.
    """
    groups: dict[str, tuple[AnyProblem, list[tuple[Candidate, Prediction]]]] = {}
    of_object: dict[int, list[tuple[Candidate, Prediction]]] = {}
    for candidate, prediction in zip(candidates, predictions, strict=True):
        problem = candidate.problem
        if id(problem) not in of_object:  # many candidates share it, and its key takes time
            of_object[id(problem)] = groups.setdefault(problem.key, (problem, []))[1]
        of_object[id(problem)].append((candidate, prediction))
    engine = predictions[0].engine if predictions else ""
    return [Ranking(problem, _ordered(pairs), engine) for problem, pairs in groups.values()]


def _ordered(pairs: Sequence[tuple[Candidate, Prediction]]) -> tuple[Ranked, ...]:
    def key(pair: tuple[Candidate, Prediction]) -> tuple[bool, float, float, str]:
        candidate, prediction = pair
        seconds = prediction.seconds
        return seconds is None, seconds or 0.0, _core(prediction), candidate.identity

    ordered = sorted(pairs, key=key)
    distinct = _separations(
        [prediction for _, prediction in ordered if prediction.seconds is not None]
    )
    entries = []
    for place, (candidate, prediction) in enumerate(ordered, start=1):
        predicted = prediction.seconds is not None
        apart, group = distinct[place - 1] if predicted else (None, None)
        entries.append(Ranked(place if predicted else None, candidate, prediction, apart, group))
    return tuple(entries)


def _core(prediction: Prediction) -> float:
    """Seconds of work in the core, whether it overlaps with transfers or not."""
    return sum(part.seconds for part in prediction.parts if part.kind in ("T_OL", "T_nOL"))


# --- who is told apart from whom ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unsure:
    """Logarithms of predicted times with their shared and own uncertainties."""

    times: Floats
    """(n,)"""
    shifts: Floats
    """(n, figures): for one standard deviation of each figure."""
    independent: Floats
    """(n,): standard deviations of each alone."""

    def slower(self, index: int, others: npt.NDArray[np.int64]) -> Floats:
        """The probability that each of ``others`` takes longer than the candidate at ``index``."""
        difference = self.times[others] - self.times[index]
        apart = ((self.shifts[others] - self.shifts[index]) ** 2).sum(axis=1)
        sigma = np.sqrt(apart + self.independent[others] ** 2 + self.independent[index] ** 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(difference == 0, 0.0, difference / sigma)
        return np.array([0.5 * (1 + math.erf(value / math.sqrt(2))) for value in score.tolist()])


def unsure(predictions: Sequence[Prediction]) -> Unsure | None:
    """The uncertainties of predicted times; None if one of the predictions states none."""
    uncertainties = [p.uncertainty for p in predictions if p.uncertainty is not None]
    if not uncertainties or len(uncertainties) < len(predictions):
        return None
    names = sorted({name for uncertainty in uncertainties for name in uncertainty.shared})
    shifts = np.array(
        [[uncertainty.shared.get(name, 0.0) for name in names] for uncertainty in uncertainties]
    )
    return Unsure(
        times=np.log(np.array([float(p.seconds or math.nan) for p in predictions])),
        shifts=shifts.reshape(len(uncertainties), len(names)),
        independent=np.array([uncertainty.independent for uncertainty in uncertainties]),
    )


def odds(first: Prediction, second: Prediction) -> float | None:
    """The probability that the first prediction's candidate is faster; None if it is unknown."""
    if first.seconds is None or second.seconds is None:
        return None
    both = unsure([first, second])
    return None if both is None else float(both.slower(0, np.array([1]))[0])


def _separations(predictions: Sequence[Prediction]) -> list[tuple[float | None, int | None]]:
    """The values ``apart`` and ``group`` for each of the sorted predictions.

    ``apart``: the probability that the first is faster. ``group``: candidates that cannot be
    distinguished share a number.
    """
    uncertain = unsure(predictions)
    if uncertain is None:
        return [(None, None)] * len(predictions)
    apart = uncertain.slower(0, np.arange(len(predictions))).tolist()
    groups = np.zeros(len(predictions), dtype=np.int64)
    reach = _reach(uncertain)
    number = 0
    for first in range(len(predictions)):
        if groups[first]:
            continue
        number += 1
        end = int(np.searchsorted(uncertain.times, reach[first], side="right"))
        left = first + np.flatnonzero(groups[first : max(end, first + 1)] == 0)
        near = uncertain.slower(first, left) <= 1 - UNDECIDED
        near[0] = True
        groups[left[near]] = number
    return list(zip(apart, groups.tolist(), strict=True))


def _reach(uncertain: Unsure) -> Floats:
    """(n,): logarithms of times above which nothing is mistaken for each of the predictions.

    The deviation of a difference is at most the sum of those of both.
    """
    alone = np.sqrt((uncertain.shifts**2).sum(axis=1) + uncertain.independent**2)
    deviations = NormalDist().inv_cdf(1 - UNDECIDED)
    limit: Floats = uncertain.times + deviations * (alone + alone.max()) + _ROUNDING
    return limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One kind of part of two candidates' times, in seconds per time step."""

    sweep: str
    """What is compared: LC, or APPROX+UPDATE where one of them fuses these."""
    kind: str
    first: float
    second: float
    first_count: float = 0.0
    """Rows that one pass streams from a level; 0 where that is not known."""
    second_count: float = 0.0


@dataclass(frozen=True, slots=True)
class Role:
    """The sweeps of two candidates that compute the same kernels, side by side."""

    kernels: frozenset[str]
    """In capitals."""
    parts: tuple[Difference, ...]

    @property
    def name(self) -> str:
        """The names of the kernels, joined."""
        return self.parts[0].sweep

    @property
    def first(self) -> float:
        """Seconds of the first candidate's sweeps."""
        return sum(part.first for part in self.parts if part.kind == "sweep")

    @property
    def second(self) -> float:
        """Seconds of the second candidate's sweeps."""
        return sum(part.second for part in self.parts if part.kind == "sweep")


def roles(first: Prediction, second: Prediction) -> list[Role]:
    """The sweeps of two candidates, matched by what they compute, the largest difference first.

    Sweeps are matched by their kernels, not by their names. Kernels that one candidate fuses are
    taken together.
    """
    sides = [_by_kernel(prediction, first, second) for prediction in (first, second)]
    groups: list[set[str]] = []
    for kernels in (kernels for side in sides for kernels, _ in side):
        touched = [group for group in groups if group & kernels]
        groups = [group for group in groups if group not in touched]
        groups.append(set(kernels).union(*touched))
    titles = []
    for group in groups:
        name = "+".join(sorted(group))
        sums = [_sums([part for kernels, part in side if kernels <= group]) for side in sides]
        parts = tuple(
            Difference(
                sweep=name,
                kind=kind,
                first=sums[0].get(kind, (0.0, 0.0))[0],
                second=sums[1].get(kind, (0.0, 0.0))[0],
                first_count=sums[0].get(kind, (0.0, 0.0))[1],
                second_count=sums[1].get(kind, (0.0, 0.0))[1],
            )
            for kind in dict.fromkeys((*sums[0], *sums[1]))
        )
        titles.append(Role(frozenset(group), parts))
    return sorted(titles, key=lambda role: (-abs(role.first - role.second), role.name))


def differences(first: Prediction, second: Prediction) -> list[Difference]:
    """The parts of two predictions, matched by what they compute, largest difference first."""
    rows = [part for role in roles(first, second) for part in role.parts]
    for kind in _APART:
        sums = [
            sum(p.seconds for p in prediction.parts if p.kind == kind)
            for prediction in (first, second)
        ]
        if any(sums):
            rows.append(Difference(sweep=kind, kind=kind, first=sums[0], second=sums[1]))
    return sorted(rows, key=lambda row: (-abs(row.first - row.second), row.sweep, row.kind))


_APART = ("barrier", "communication")
"""Kinds of parts that belong to no sweep."""


def _by_kernel(prediction: Prediction, *both: Prediction) -> list[tuple[frozenset[str], Part]]:
    """The parts that belong to sweeps, each with the set of its kernels.

    Different forms of a kernel, ``rhs`` and ``rhs_first``, count as one kernel. For stored
    predictions without kernels, the names of the sweeps begin with them.
    """
    parts = [part for predicted in both for part in predicted.parts]
    kernels = {name for part in parts for name in part.kernel.split("+")}
    heads = {part.sweep.partition("_")[0] for part in parts}
    made = []
    for part in prediction.parts:
        if part.kind in _APART:
            continue
        if part.kernel:
            forms = [(name, name.partition("_")[0]) for name in part.kernel.split("+")]
            names = [head if head in kernels else name for name, head in forms]
        else:
            names = [word for word in part.sweep.split("_") if word in heads]
        made.append((frozenset(name.upper() for name in names), part))
    return made


def _sums(parts: Sequence[Part]) -> dict[str, tuple[float, float]]:
    """For each kind of part, the sum of the seconds and the largest count."""
    sums: dict[str, tuple[float, float]] = {}
    for part in parts:
        seconds, count = sums.get(part.kind, (0.0, 0.0))
        sums[part.kind] = seconds + part.seconds, max(count, part.count)
    return sums
