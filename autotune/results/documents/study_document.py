"""The document of a study: its measurements and statistics, problem by problem."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from autotune.domain.metric import Metric
from autotune.domain.results import Status
from autotune.results.evaluate.common_deviation import CommonDeviation
from autotune.results.evaluate.common_winner import CommonWinner, common_winner
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
    ShortSearch,
    StudyEvaluation,
    TopLoss,
)
from autotune.results.report import words
from autotune.results.report.influences import Influences, influences
from autotune.results.report.search_records import FailureGroup, failed
from autotune.statistics.estimators import NoiseFloor
from autotune.statistics.residual_scales import ResidualFactor

Interval = tuple[float, float]
StudySchema = Literal["autotune.tune/1", "autotune.compare/1"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRow:
    """A candidate that was measured, or whose measurement failed."""

    candidate: str
    """Id."""
    variant: str
    chosen: str
    """Why it was measured."""
    predicted_s: float | None
    predicted_interval_s: Interval | None
    measured_s: float | None
    measured_interval_s: Interval | None
    """90 %; launches are counted, not samples. Null without a time. This and ``measured_s`` are
    null where the objective is not the time."""
    metrics: Mapping[str, float]
    """The metrics of a program in their units, the objective among them, and its time in
    seconds; empty where there is only the time."""
    deviation: float | None
    """(predicted - measured) / measured."""
    status: Status | None
    """ok, build-failed, crashed, timed-out, unreadable, wrong-result, out-of-bounds, implausible,
    contended."""
    detail: str
    verified_error: float | None
    """max abs(a - b) / max abs(b) against the reference."""
    samples: int
    """Samples without warm-ups."""
    disturbed: int
    """Samples during which other processes took the cores."""
    compared: bool
    """It takes part in the statistics of its problem."""
    memory_bytes: float | None
    """Peak resident memory of a launch, all its ranks together; null where it was not read."""
    energy_j: float | None
    """Energy of the node's processor packages in a time step; null where it cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontRow:
    """A candidate on the Pareto front: no other is better in all objectives."""

    candidate: str
    objectives: Mapping[str, float]
    """time in seconds per time step, energy in joules per time step, memory in bytes, metrics of a
    program in their units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemRow:
    """The results of a study for one problem."""

    problem: str
    best: str | None
    """Id of the winner; where it is undecided, of the candidate that is chosen."""
    contenders: tuple[str, ...]
    """Ids of those that may be the fastest, fastest first; more than one: it is undecided."""
    decided: bool
    """Whether one is told apart from all others; false also where it alone was measured."""
    baseline: str | None
    speedup: float | None
    """Time of the baseline over time of the winner: the ratio of the two times shown."""
    speedup_interval: Interval | None
    speedup_crossed: float | None
    """The same where each round is scored with the candidate that was best in the others."""
    serial: str | None
    """Id of the fastest with one thread, where the winner has more."""
    serial_speedup: float | None
    """Time of the fastest with one thread over time of the winner."""
    serial_speedup_interval: Interval | None
    losses: tuple[TopLoss, ...]
    cut: ShortSearch | None
    """How a budget ended the search, and what untried candidates promise; null where the search
    ended by its own rule, or all were tried."""
    noise_floor: NoiseFloor | None
    """Loss of choosing by measurement itself."""
    rank_correlation: float | None
    """Kendall's tau-b."""
    ordered_pairs: float | None
    """Share of pairs measured more than 5 % apart and predicted in that order."""
    common_deviation: CommonDeviation | None
    """What most predictions miss to one side, by more than a changed host explains; null where they
    do not."""
    measured: str
    """``k of N`` candidates: those that compare, in one run."""
    tried: int
    """Candidates that were measured or failed."""
    candidates: int
    """Legal ones, whether proposed or not."""
    lost: tuple[str, ...]
    """Ids of those that were tried and are no longer legal: they count nowhere."""
    disturbed: int
    """Samples of all candidates that other processes disturbed."""
    failures: tuple[FailureGroup, ...]
    objective: Metric
    """What is optimised."""
    objectives: tuple[str, ...]
    """What the front is over: those of the config, else what was read for all; time first."""
    front: tuple[FrontRow, ...]
    """Fastest first; empty where nothing but time was read."""
    residuals: tuple[ResidualFactor, ...]
    """Where the model is wrong."""
    influences: Influences | None
    """What makes candidates fast, by a performance-influence model of the compared ones. Null
    where too few candidates were compared, or the model says nothing."""
    evaluated: tuple[MeasuredRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDocument:
    """``autotune tune --json`` and ``autotune compare --json``."""

    schema: StudySchema
    study: str
    store: str
    runs: int
    timings_s: Mapping[str, float]
    """Wall time of the last run by stage: calibrate, predict, build, run, wall."""
    clock_ratio: float | None
    """Clock of the host when the last run began over the calibrated clock, in which predictions
    are made; null where it was not measured."""
    warning: str | None
    """Why predictions or times of the last run may be off, as the text says it."""
    problems: tuple[ProblemRow, ...]
    common: CommonWinner | None
    """One winner over all problems; null where the config wants a winner of each."""


def study(result: StudyEvaluation, schema: StudySchema, store: str) -> StudyDocument:
    """The document of an evaluated study, problem by problem."""
    runs = result.study.runs
    conditions = runs[-1].conditions if runs else {}
    return StudyDocument(
        schema=schema,
        study=result.study.name,
        store=store,
        runs=len(runs),
        timings_s=runs[-1].timings if runs else {},
        clock_ratio=float(conditions["clock_ratio"]) if "clock_ratio" in conditions else None,
        warning=(result.warning(runs[-1]) or None) if runs else None,
        problems=tuple(problem_row(problem) for problem in result.problems),
        common=common_winner(result.study, result.problems),
    )


def problem_row(problem: ProblemEvaluation) -> ProblemRow:
    """The part of a study's document for one problem."""
    speedup, alone = problem.speedup, problem.serial_speedup
    timed = problem.problem.goal.timed
    rows = tuple(_measured(row, timed=timed) for row in problem.evaluated)
    return ProblemRow(
        problem=problem.label,
        best=problem.best.candidate.id if problem.best else None,
        contenders=tuple(row.candidate.id for row in problem.contenders),
        decided=problem.decided,
        baseline=problem.baseline.candidate.id if problem.baseline else None,
        speedup=speedup.value if speedup else None,
        speedup_interval=speedup.interval if speedup else None,
        speedup_crossed=speedup.crossed if speedup else None,
        serial=problem.serial.candidate.id if problem.serial else None,
        serial_speedup=alone.value if alone else None,
        serial_speedup_interval=alone.interval if alone else None,
        losses=problem.losses,
        cut=problem.cut,
        noise_floor=problem.noise_floor,
        rank_correlation=problem.rank_correlation,
        ordered_pairs=problem.ordered_pairs,
        common_deviation=problem.common_deviation,
        measured=words.of_legal(problem.compared, problem),
        tried=len(rows) - problem.surplus,
        candidates=problem.space.candidates,
        lost=tuple(row.candidate.id for row in problem.lost),
        disturbed=sum(row.disturbed for row in rows),
        failures=failed(problem),
        objective=problem.problem.goal,
        objectives=tuple(problem.problem.metric(kind).name for kind in problem.objectives),
        front=tuple(
            FrontRow(
                candidate=row.candidate.id,
                objectives={
                    (metric := problem.problem.metric(kind)).name: metric.value(
                        row.objectives[kind]
                    )
                    for kind in problem.objectives
                },
            )
            for row in problem.front
        ),
        residuals=tuple(residual.factors for residual in problem.residuals),
        influences=influences(problem),
        evaluated=rows,
    )


def _measured(row: EvaluatedCandidate, *, timed: bool) -> MeasuredRow:
    prediction, measurement = row.prediction, row.measurement
    return MeasuredRow(
        candidate=row.candidate.id,
        variant=row.candidate.variant,
        chosen=row.chosen,
        predicted_s=row.predicted,
        predicted_interval_s=prediction.interval if prediction else None,
        measured_s=row.measured if timed else None,
        measured_interval_s=row.interval if timed else None,
        metrics=row.metrics,
        deviation=row.deviation,
        status=row.status,
        detail=measurement.detail if measurement else "",
        verified_error=measurement.error if measurement else None,
        samples=len(measurement.timed) if measurement else 0,
        disturbed=measurement.disturbed if measurement else 0,
        compared=row.compared,
        memory_bytes=row.memory,
        energy_j=row.energy,
    )
