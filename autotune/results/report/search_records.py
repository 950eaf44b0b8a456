"""The numbers of the figures about a search: its history and its result.

Times are in seconds per time step, moments in seconds since the run began.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from autotune.domain.metric import ENERGY, MEMORY, TIME, Metric
from autotune.domain.results import Status
from autotune.files.store.records import StudyRecord
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
)
from autotune.results.report import words
from autotune.results.report.figure_records import ShownCandidate, shown
from autotune.results.report.noise_figures import begun_at, moment, run_of
from autotune.statistics.residual_scales import ResidualFactor

_MOST_VALUES = 12


@dataclass(frozen=True, slots=True)
class SearchStep:
    """One candidate tried in a search."""

    evaluation: int
    """From 1."""
    seconds: float
    """When it had its first sample that counts; of a failure when the one before had."""
    shown: ShownCandidate
    measured: float | None
    """None: it failed."""
    best: float | None
    """The best measured so far; None before any was."""


@dataclass(frozen=True, slots=True)
class Convergence:
    """The best time so far over the candidates tried, in the order of the search."""

    steps: tuple[SearchStep, ...]
    predicted: tuple[float, ...]
    """The best so far of the same candidates in the order of the predictions; empty: none."""
    baseline: float | None
    goal: Metric = TIME
    """What the values are the costs of."""


@dataclass(frozen=True, slots=True)
class ResidualFigures:
    """Where the predictions are wrong: residuals by parameter value, worst first."""

    shares: tuple[ResidualFactor, ...]
    overall: float
    """Measured over predicted, geometric mean over all compared candidates."""
    left_out: int
    """Values that are nearer to the mean than those shown."""


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """The objectives of one compared candidate."""

    shown: ShownCandidate
    identity: str
    values: Mapping[str, float]
    front: bool


@dataclass(frozen=True, slots=True)
class Front:
    """The compared candidates by objective; the front is sorted by the first objective."""

    objectives: tuple[str, ...]
    places: tuple[FrontPoint, ...]
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    """Objectives that are metrics of a program; what the points have of them are costs."""


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """The failures of one status: their number, and the first lines of their reasons."""

    status: Status
    count: int
    reasons: tuple[tuple[str, int], ...]
    """Most frequent first."""


def convergence(result: ProblemEvaluation, study: StudyRecord) -> Convergence:
    """Best time so far over evaluations and seconds, in the run of the statistics."""
    run = run_of(result, study)
    if run is None:
        return Convergence((), (), None)
    begun = begun_at(run)
    order = {choice.candidate: choice.place for choice in run.choices}
    tried = [row for row in result.rows if row.measurement and row.measurement.run == run.id]
    first = {row.candidate.identity: _first(row, begun) for row in tried}

    def key(row: EvaluatedCandidate) -> tuple[float, int, str]:
        name = row.candidate.identity
        return first[name], order.get(name, len(order)), name

    steps: list[SearchStep] = []
    best, last = math.inf, 0.0
    for number, row in enumerate(sorted(tried, key=key), start=1):
        time = row.measured if row.compared else None
        best = min(best, math.inf if time is None else time)
        moment = first[row.candidate.identity]
        last = max(last, moment if math.isfinite(moment) else last)
        so_far = best if math.isfinite(best) else None
        steps.append(SearchStep(number, last, shown(row, result), time, so_far))
    ranked = [r.measured for r in result.rows if r.compared and r.rank and r.measured]
    ahead = tuple(float(t) for t in np.minimum.accumulate(ranked)) if ranked else ()
    base = result.baseline
    baseline = base.measured if base and base.compared else None
    return Convergence(tuple(steps), ahead, baseline, result.problem.goal)


def residuals(result: ProblemEvaluation) -> ResidualFigures:
    """Measured over predicted by parameter value, largest differences first."""
    ordered = sorted(result.residuals, key=lambda r: (not r.clear, -abs(r.excess)))
    off = [row.deviation for row in result.rows if row.compared]
    logarithms = [-math.log1p(ratio) for ratio in off if ratio is not None]
    overall = math.exp(float(np.mean(logarithms))) if logarithms else 1.0
    largest = tuple(residual.factors for residual in ordered[:_MOST_VALUES])
    return ResidualFigures(largest, overall, len(ordered) - len(largest))


def front(result: ProblemEvaluation) -> Front:
    """The compared candidates in time, energy and memory; empty if only the time is known."""
    best = {row.candidate.identity: place for place, row in enumerate(result.front)}
    if not best:
        return Front((), ())
    kinds = result.objectives
    rows = [r for r in result.rows if r.compared and all(k in r.objectives for k in kinds)]
    rows.sort(key=lambda row: (best.get(row.candidate.identity, len(best)), row.measured or 0.0))
    return Front(
        objectives=kinds,
        places=tuple(
            FrontPoint(
                shown=shown(row, result),
                identity=row.candidate.identity,
                values={kind: row.objectives[kind] for kind in kinds},
                front=row.candidate.identity in best,
            )
            for row in rows
        ),
        metrics={
            kind: metric
            for kind in kinds
            if (metric := result.problem.metric(kind)) not in (TIME, ENERGY, MEMORY)
        },
    )


def failed(result: ProblemEvaluation, most: int = 3) -> tuple[FailureGroup, ...]:
    """The failures by status, most frequent first, with their most frequent reasons."""
    groups: dict[Status, Counter[str]] = {}
    for row in result.failures:
        if row.measurement:
            reason = words.first_words(row.measurement.detail) or "no details"
            groups.setdefault(row.measurement.status, Counter())[reason] += 1
    groups_of_failures = [
        FailureGroup(status, sum(reasons.values()), tuple(reasons.most_common(most)))
        for status, reasons in groups.items()
    ]
    return tuple(sorted(groups_of_failures, key=lambda failure: (-failure.count, failure.status)))


def _first(row: EvaluatedCandidate, begun: float) -> float:
    timed = row.measurement.timed if row.measurement else ()
    return min((moment(s.taken) - begun for s in timed), default=math.inf)
