"""Documents of what was measured: ``tune``, ``compare``, ``measure``, ``report``."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from autotune.domain.ranking import Ranked
from autotune.domain.results import Measurement
from autotune.measuring.candidates.host_measurer import KernelSeconds
from autotune.results.documents import Plain
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
    StudyEvaluation,
)
from autotune.results.report import search_records
from autotune.results.report.influences import influences
from autotune.statistics.residual_scales import Residual


class EvaluatedRow(TypedDict):
    """A candidate that was measured, or failed to be."""

    candidate: str
    variant: str
    chosen: str
    """Why it was measured."""
    predicted_s: float | None
    predicted_interval_s: list[float] | None
    measured_s: float | None
    measured_interval_s: list[float] | None
    """90 %, bootstrap over launches; null for fewer than three launches."""
    deviation: float | None
    """(predicted - measured) / measured."""
    status: str | None
    """ok, build-failed, crashed, timed-out, wrong-result, contended."""
    detail: str
    verified_error: float | None
    """max abs(a - b) / max abs(b) against the reference."""
    samples: int
    """Accepted samples."""
    rejected: int
    """Samples that did not count, because other processes took the cores."""
    compared: bool
    """It takes part in the statistics of its problem."""
    memory_bytes: float | None
    """Peak resident memory of a launch, all its ranks together; null where it was not read."""
    energy_j: float | None
    """Energy of the node's processor packages in a time step; null where it cannot be read."""


class LossRow(TypedDict):
    """Loss of the best of the predicted top k, among the measured candidates.

    Null where not all of the k were measured well enough to compare.
    """

    k: int
    loss: float | None


class NoiseRow(TypedDict):
    """Loss of choosing by measurement itself."""

    mean: float
    max: float


class FrontRow(TypedDict):
    """A candidate that no other one beats in all objectives."""

    candidate: str
    objectives: dict[str, float]
    """time in seconds per time step, energy in joules per time step, memory in bytes."""


class ResidualRow(TypedDict):
    """The error of the model over the candidates that share the value of a parameter."""

    parameter: str
    value: Plain
    factor: float
    """Measured over predicted time, geometric mean."""
    interval: list[float] | None
    """90 %; null for a single candidate."""
    candidates: int
    excess: float
    """This factor over that of all other candidates."""
    clear: bool
    """More than chance, all values of all parameters considered."""


class InfluencesRow(TypedDict):
    """What makes candidates fast, by a performance-influence model of the compared ones."""

    words: list[str]
    """Sentences; what is not more than chance is not said."""
    formula: str
    """Seconds, of the parameters."""
    candidates: int
    error: float
    """Mean |predicted / measured - 1| on candidates that the model had not seen."""
    error_of_same: float
    """The same where one time is said of all."""


class FailureRow(TypedDict):
    """The candidates that failed in one way."""

    status: str
    count: int
    reasons: list[str]
    """The line of the output that tells most, most frequent first."""


class ProblemRow(TypedDict):
    """What a study says about one problem."""

    problem: str
    best: str | None
    """Id of the winner."""
    baseline: str | None
    speedup: float | None
    """Time of the baseline over time of the winner."""
    speedup_interval: list[float] | None
    losses: list[LossRow]
    noise_floor: NoiseRow | None
    rank_correlation: float | None
    """Kendall's tau-b."""
    ordered_pairs: float | None
    """Share of pairs measured more than 5 % apart and predicted in that order."""
    measured: str
    """``k of N`` candidates."""
    tried: int
    """Candidates that were measured or failed."""
    candidates: int
    """Legal ones."""
    rejected: int
    """Samples of all candidates that did not count."""
    failures: list[FailureRow]
    objectives: list[str]
    """What the front is over: those of the config, else what was read for all; time first."""
    front: list[FrontRow]
    """Fastest first; empty where nothing but time was read."""
    residuals: list[ResidualRow]
    """Where the model is wrong."""
    influences: InfluencesRow | None
    """Null where too few candidates were compared, or the model says nothing."""
    evaluated: list[EvaluatedRow]


class StudyDocument(TypedDict):
    """``autotune tune --json`` and ``autotune compare --json``."""

    schema: str
    study: str
    store: str
    runs: int
    timings_s: dict[str, float]
    """Wall time of the last run by stage: calibrate, predict, build, run, wall."""
    problems: list[ProblemRow]


def study(result: StudyEvaluation, command: str, store: str) -> StudyDocument:
    """What a study says, problem by problem."""
    runs = result.study.runs
    return {
        "schema": f"autotune.{command}/1",
        "study": result.study.name,
        "store": store,
        "runs": len(runs),
        "timings_s": dict(runs[-1].timings) if runs else {},
        "problems": [_problem(problem) for problem in result.problems],
    }


def _problem(problem: ProblemEvaluation) -> ProblemRow:
    speedup, floor = problem.speedup, problem.noise_floor
    return {
        "problem": problem.label,
        "best": problem.best.candidate.id if problem.best else None,
        "baseline": problem.baseline.candidate.id if problem.baseline else None,
        "speedup": speedup.value if speedup else None,
        "speedup_interval": list(speedup.interval) if speedup and speedup.interval else None,
        "losses": [{"k": loss.k, "loss": loss.loss} for loss in problem.losses],
        "noise_floor": {"mean": floor.mean, "max": floor.maximum} if floor else None,
        "rank_correlation": problem.rank_correlation,
        "ordered_pairs": problem.ordered_pairs,
        "measured": f"{problem.compared} of {len(problem.rows)}",
        "tried": len(problem.evaluated),
        "candidates": len(problem.rows),
        "rejected": sum(_rejected(row) for row in problem.evaluated),
        "failures": [
            {
                "status": failed.status,
                "count": failed.count,
                "reasons": [words for words, _ in failed.reasons],
            }
            for failed in search_records.failed(problem)
        ],
        "objectives": list(problem.objectives),
        "front": [
            {
                "candidate": row.candidate.id,
                "objectives": {kind: row.objectives[kind] for kind in problem.objectives},
            }
            for row in problem.front
        ],
        "residuals": [_residual(residual) for residual in problem.residuals],
        "influences": _influences(problem),
        "evaluated": [_evaluated(row) for row in problem.evaluated],
    }


def _influences(problem: ProblemEvaluation) -> InfluencesRow | None:
    found = influences(problem)
    if found is None:
        return None
    return {
        "words": list(found.words),
        "formula": found.formula,
        "candidates": found.candidates,
        "error": found.error,
        "error_of_same": found.same,
    }


def _residual(found: Residual) -> ResidualRow:
    return {
        "parameter": found.parameter,
        "value": found.value,
        "factor": found.factor,
        "interval": [math.exp(edge) for edge in found.interval] if found.interval else None,
        "candidates": found.candidates,
        "excess": math.exp(found.excess),
        "clear": found.clear,
    }


def _rejected(row: EvaluatedCandidate) -> int:
    samples = row.measurement.samples if row.measurement else ()
    return sum(not sample.accepted and not sample.warm_up for sample in samples)


def _evaluated(row: EvaluatedCandidate) -> EvaluatedRow:
    prediction, measurement = row.prediction, row.measurement
    interval = prediction.interval if prediction else None
    return {
        "candidate": row.candidate.id,
        "variant": row.candidate.variant,
        "chosen": row.chosen,
        "predicted_s": row.predicted,
        "predicted_interval_s": list(interval) if interval else None,
        "measured_s": row.measured,
        "measured_interval_s": list(row.interval) if row.interval else None,
        "deviation": row.deviation,
        "status": row.status,
        "detail": measurement.detail if measurement else "",
        "verified_error": measurement.error if measurement else None,
        "samples": len(measurement.accepted) if measurement else 0,
        "rejected": _rejected(row),
        "compared": row.compared,
        "memory_bytes": row.memory,
        "energy_j": row.energy,
    }


class MeasureDocument(TypedDict):
    """``autotune measure --json``."""

    schema: str
    candidate: str
    predicted_s: float | None
    measured_s: float | None
    interval_s: list[float] | None
    status: str
    detail: str
    verified_error: float | None
    samples_s: list[float]
    """Every accepted sample."""
    rejected: int
    """Samples rejected as contended."""
    phases_s: dict[str, float] | None
    """Kernel (and ``barrier``) to seconds per step, in an instrumented run of its own."""


def measure(
    ranked: Ranked,
    measurement: Measurement,
    location: tuple[float, tuple[float, float] | None] | None,
    phases: KernelSeconds | None,
) -> MeasureDocument:
    """One candidate, measured; ``location`` is its time and interval."""
    interval = location[1] if location else None
    counted = [s for s in measurement.samples if not s.warm_up]
    return {
        "schema": "autotune.measure/1",
        "candidate": ranked.candidate.id,
        "predicted_s": ranked.prediction.seconds,
        "measured_s": location[0] if location else None,
        "interval_s": list(interval) if interval else None,
        "status": measurement.status,
        "detail": measurement.detail,
        "verified_error": measurement.error,
        "samples_s": [s.seconds for s in measurement.accepted],
        "rejected": sum(not s.accepted for s in counted),
        "phases_s": dict(phases.seconds) if phases else None,
    }


class EmitJobDocument(TypedDict):
    """``autotune tune --emit-job --json``."""

    schema: str
    study: str
    folder: str
    """What to take to the other machine, and to bring back."""
    script: str
    """What to run there; it writes results.jsonl and states/ beside itself."""
    candidates: list[str]
    """Ids of what it measures."""


def emitted(name: str, folder: Path, script: Path, candidates: Sequence[str]) -> EmitJobDocument:
    """Where a job was written, and what is in it."""
    return {
        "schema": "autotune.emit-job/1",
        "study": name,
        "folder": str(folder),
        "script": str(script),
        "candidates": list(candidates),
    }


class ReportDocument(TypedDict):
    """``autotune report --json``."""

    schema: str
    study: str
    file: str


def report(name: str, path: Path) -> ReportDocument:
    """Where the page was written."""
    return {"schema": "autotune.report/1", "study": name, "file": str(path)}


class MirrorDocument(TypedDict):
    """``autotune mirror --json``."""

    schema: str
    study: str
    file: str
    studies: list[str]
    """Names of the Optuna studies in it, one for each problem."""
    trials: int


def mirrored(result: StudyEvaluation, path: Path, trials: int) -> MirrorDocument:
    """Where the journal was written, and what is in it."""
    return {
        "schema": "autotune.mirror/1",
        "study": result.study.name,
        "file": str(path),
        "studies": [f"{result.study.name}/{problem.label}" for problem in result.problems],
        "trials": trials,
    }
