"""Lower bounds of a predicted time: what the core, each cache and memory alone would take.

A sweep takes at least as long as its slowest resource, even if all others overlap with it fully:
the roofline (Williams, Waterman and Patterson, 2009) with a ceiling per level of the hierarchy, and
the parts of the ECM model (Stengel et al., 2015), which adds what does not overlap. Sweeps follow
one another, so that their bounds add up. All times are seconds per time step.

The bounds belong to one candidate. Another candidate that moves fewer lines or computes less has
lower ones. The least of each resource over all candidates says what a program would take that
combined the least traffic of one with the least arithmetic of another.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from autotune.domain.ranking import Ranked, Ranking
from autotune.domain.results import Part, Prediction
from autotune.units import Seconds

CORE = "core"
"""The bound of arithmetic, loads and stores of the innermost cache: max(T_OL, T_nOL)."""
_IN_CORE = ("T_OL", "T_nOL")
_NO_RESOURCE = ("sweep", "entry", "across", "again", "barrier", "communication")
"""Kinds of parts that are no resource, or that a bound does not hold for."""


@dataclass(frozen=True, slots=True)
class LowerBound:
    """The least seconds of a time step that one resource allows: ``core`` or a level."""

    resource: str
    seconds: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingBounds:
    """How far the best candidate of a ranking is from its lower bounds."""

    best: Ranked | None
    """The best candidate; None where none has a predicted time."""
    bounds: tuple[LowerBound, ...] = ()
    """Largest first; empty where ``reason`` says why there are none."""
    least: tuple[LowerBound, ...] = ()
    """The least bound of each resource over all candidates, largest first, of a level with what
    comes through it from farther ones; empty unless the parts of all are known."""
    reason: str = ""

    @property
    def candidate(self) -> str | None:
        """Id of the best candidate."""
        return self.best.candidate.id if self.best else None

    @property
    def seconds(self) -> Seconds | None:
        """Predicted time of a step of the best candidate."""
        return self.best.prediction.seconds if self.best else None

    @property
    def limit(self) -> LowerBound | None:
        """The largest bound, which limits the candidate most; None without bounds."""
        return self.bounds[0] if self.bounds else None

    @property
    def ratio(self) -> float | None:
        """Predicted time over the largest bound, at least 1; None without bounds."""
        limit = self.limit
        return None if limit is None or self.seconds is None else self.seconds / limit.seconds


def lower_bounds(prediction: Prediction) -> tuple[LowerBound, ...]:
    """The bounds of a prediction, largest first; empty unless its engine gives parts of sweeps.

    The bound of a level is the sum over the sweeps of the time of its transfers. The bound of the
    core is the sum of the larger of T_OL and T_nOL of every sweep.
    """
    sweeps: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for part in prediction.parts:
        if part.kind not in _NO_RESOURCE and _of_sweep(part, prediction):
            sweeps[part.sweep][part.kind] += part.seconds
    sums: dict[str, float] = defaultdict(float)
    for kinds in sweeps.values():
        sums[CORE] += max(kinds.get(kind, 0.0) for kind in _IN_CORE)
        for kind, seconds in kinds.items():
            if kind not in _IN_CORE:
                sums[kind] += seconds
    return _descending(sums)


def ranking_bounds(ranking: Ranking) -> RankingBounds:
    """The bounds of the first candidate of a ranking, or the reason why there are none."""
    best = ranking.entries[0] if ranking.entries else None
    if best is None or best.prediction.seconds is None:
        reason = "no candidate has a predicted time"
        return RankingBounds(best=None, reason=reason)
    bounds = lower_bounds(best.prediction)
    reason = "" if bounds else f"engine {ranking.engine} does not say what the core and levels take"
    return RankingBounds(best=best, bounds=bounds, least=_least(ranking), reason=reason)


def _least(ranking: Ranking) -> tuple[LowerBound, ...]:
    """The least bound of each resource over all candidates with a predicted time.

    What comes from a farther level passes a nearer one too, and takes at least as long as from
    there: so a candidate's bound of a level is the largest of those of this level and of all
    farther ones. Names of levels sort from near to far: L2, L3, MEM.
    """
    timed = [e.prediction for e in ranking.entries if e.prediction.seconds is not None]
    tables = [{b.resource: b.seconds for b in lower_bounds(prediction)} for prediction in timed]
    if not all(tables):
        return ()
    resources = {resource for table in tables for resource in table}
    farther = {r: [far for far in resources - {CORE} if far >= r] for r in resources - {CORE}}
    farther[CORE] = [CORE]
    return _descending(
        {
            resource: min(max(table.get(r, 0.0) for r in passing) for table in tables)
            for resource, passing in farther.items()
        }
    )


def _descending(sums: Mapping[str, float]) -> tuple[LowerBound, ...]:
    """Bounds above zero, largest first."""
    bounds = [LowerBound(name, Seconds(seconds)) for name, seconds in sums.items() if seconds > 0]
    return tuple(sorted(bounds, key=lambda bound: (-bound.seconds, bound.resource)))


def _of_sweep(part: Part, prediction: Prediction) -> bool:
    """Whether the time of the part's sweep is stated, which the part is a bound of."""
    return any(p.kind == "sweep" and p.sweep == part.sweep for p in prediction.parts)
