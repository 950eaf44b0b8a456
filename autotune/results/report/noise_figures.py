"""The numbers of the figures about noise: how samples scatter, what was disturbed, what drifts.

Moments are in seconds since the run began.
"""

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.results import Sample
from autotune.files.store.records import RunRecord, StudyRecord
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate, ProblemEvaluation
from autotune.results.report.figure_records import ShownCandidate, role, shown
from autotune.statistics.launch_times import candidate_time, launch_time
from autotune.statistics.waiting import holds_waiting

_MOST_SPREADS = 40


@dataclass(frozen=True, slots=True)
class SampleScatter:
    """The scatter of the samples of one candidate."""

    shown: ShownCandidate
    identity: str
    within: float | None
    """Relative standard deviation within its launches."""
    between: float | None
    """The same of its launches' locations."""
    launches: int
    undisturbed: int
    disturbed: int


@dataclass(frozen=True, slots=True)
class CandidateDrift:
    """Times of a candidate over the run: moments, and the ratio to its overall time."""

    shown: ShownCandidate
    seconds: tuple[float, ...]
    ratio: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class NoiseFigures:
    """The noise of the host as the scatter of the samples shows it."""

    spreads: tuple[SampleScatter, ...]
    drifts: tuple[CandidateDrift, ...]
    undisturbed: int
    disturbed: int


def noise(result: ProblemEvaluation, study: StudyRecord) -> NoiseFigures:
    """Spread of each candidate, disturbed samples, drift of the winner and baseline."""
    rows = [row for row in result.evaluated if row.compared and row.measurement]
    run = run_of(result, study)
    timed = [s for r in rows if r.measurement for s in r.measurement.samples if not s.warm_up]
    begun = begun_at(run) if run else 0.0
    marked = [row for row in rows if role(row, result) in ("winner", "baseline")]
    return NoiseFigures(
        spreads=tuple(
            _spread(row, result)
            for number, row in enumerate(rows)
            if number < _MOST_SPREADS or row in marked
        ),
        drifts=tuple(d for row in marked if len((d := _drift(row, result, begun)).ratio) > 1),
        undisturbed=sum(s.undisturbed for s in timed),
        disturbed=sum(not s.undisturbed for s in timed),
    )


def _spread(row: EvaluatedCandidate, result: ProblemEvaluation) -> SampleScatter:
    samples = [s for s in row.measurement.samples if not s.warm_up] if row.measurement else []
    launches = list(_launches(samples).values())
    inner = [np.var(np.log([s.seconds for s in la]), ddof=1) for la in launches if len(la) > 1]
    holds = holds_waiting([samples])
    outer = [math.log(launch_time(launch, holds).seconds) for launch in launches]
    return SampleScatter(
        shown=shown(row, result),
        identity=row.candidate.identity,
        within=math.sqrt(float(np.mean(inner))) if inner else None,
        between=float(np.std(outer, ddof=1)) if len(outer) > 1 else None,
        launches=len({s.launch for s in samples}),
        undisturbed=sum(s.undisturbed for s in samples),
        disturbed=sum(not s.undisturbed for s in samples),
    )


def _drift(row: EvaluatedCandidate, result: ProblemEvaluation, begun: float) -> CandidateDrift:
    launches = _launches(row.measurement.samples if row.measurement else ())
    holds = holds_waiting([row.measurement.samples if row.measurement else ()])
    times = {number: launch_time(launch, holds) for number, launch in launches.items()}
    usual = candidate_time(list(times.values())) if times else 1.0
    return CandidateDrift(
        shown=shown(row, result),
        seconds=tuple(moment(launch[0].taken) - begun for launch in launches.values()),
        ratio=tuple(time.seconds / usual for time in times.values()),
    )


def _launches(samples: Sequence[Sample]) -> dict[int, list[Sample]]:
    launches: dict[int, list[Sample]] = {}
    for sample in samples:
        if not sample.warm_up:
            launches.setdefault(sample.launch, []).append(sample)
    return dict(sorted(launches.items()))


def run_of(result: ProblemEvaluation, study: StudyRecord) -> RunRecord | None:
    """The run that the statistics of a problem come from."""
    return next((run for run in study.runs if run.id == result.run), None)


def begun_at(run: RunRecord) -> float:
    """The start of a run, in seconds since the epoch; not later than its first sample.

    The clock of another host may be behind.
    """
    first = (moment(m.samples[0].taken) for m in run.measurements if m.samples)
    return min([moment(run.started), *first])


def moment(text: str) -> float:
    """An ISO date and time as seconds since the epoch."""
    return datetime.datetime.fromisoformat(text).timestamp()
