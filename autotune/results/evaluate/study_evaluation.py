"""Predicted against measured times of a study, problem by problem.

No statistic mixes two runs: every figure of a problem comes from one run. The winner so far can
lose in every later run that measured it; a run without it replaces it only if that run compared
more candidates.
"""

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from autotune.domain.candidate_names import short_names
from autotune.domain.metric import positive_cost
from autotune.domain.problem_facts import ProblemFacts, labels
from autotune.domain.results import Measurement, Prediction, Status
from autotune.domain.variant import Value
from autotune.files.store.records import (
    LOST,
    CandidateRecord,
    ProblemSpace,
    RunRecord,
    StudyRecord,
)
from autotune.measuring.conditions.resource_use import ENERGY, MEMORY
from autotune.results.evaluate.common_deviation import (
    CommonDeviation,
    common_deviation,
    warning,
)
from autotune.results.evaluate.comparable import (
    ComparableRun,
    comparable_run,
    crossed_ratios,
    deciding_run,
    run_holds,
)
from autotune.statistics import (
    estimators,
    launch_times,
    pareto,
    rank_correlation,
    residual_scales,
)
from autotune.statistics.estimators import NoiseFloor
from autotune.statistics.expected_regret import choosable
from autotune.statistics.residual_scales import Observed, Residual
from autotune.statistics.waiting import Holds

OBJECTIVES = ("time", "energy", "memory")
"""What a front is over, as far as it was read."""
USUAL = 50
"""After so many evaluations .88 of the searches of recorded spaces are within 5 % of the best
(``docs/search.md``)."""
SEARCHED = "objectives"
"""Condition of runs that searched for more than the time: the objectives, joined by ``, ``."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedCandidate:
    """One candidate: predicted, measured, and its status. Seconds per time step."""

    candidate: CandidateRecord
    rank: int | None
    """Place by prediction within its problem; None without a predicted time."""
    prediction: Prediction | None
    chosen: str = ""
    """Why it was measured; empty when it was not."""
    measurement: Measurement | None = None
    measured: float | None = None
    interval: Interval | None = None
    """90 % interval of the measured time, from launches; None for too few launches."""
    compared: bool = False
    """It takes part in the statistics of its problem: measured in that run, with enough samples."""
    note: str = ""
    memory: float | None = None
    """Peak resident memory of its launches, bytes; None where it was not read."""
    energy: float | None = None
    """Joules of the node's packages in a time step; None where they cannot be read."""
    legal: bool = True
    """False: its space has lost it since it was proposed."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Medians of the time in seconds and of the metrics of a program in their units, by name."""

    @property
    def predicted(self) -> float | None:
        """Predicted seconds per time step."""
        return self.prediction.seconds if self.prediction else None

    @property
    def status(self) -> Status | None:
        """The status of the measurement; None for a candidate that was not measured."""
        return self.measurement.status if self.measurement else None

    @property
    def objectives(self) -> dict[str, float]:
        """The known values of time (or the cost of what is optimised), energy and memory, and the
        costs of metrics; smaller is better.
        """
        values_by_name = {"time": self.measured, "energy": self.energy, "memory": self.memory}
        costs: dict[str, float] = {}
        for metric in self.candidate.problem.metrics:
            if metric.name in self.metrics and metric != self.candidate.problem.goal:
                costs |= positive_cost(metric, self.metrics[metric.name])
        return costs | {name: value for name, value in values_by_name.items() if value}

    @property
    def deviation(self) -> float | None:
        """Relative deviation of the prediction: (predicted - measured) / measured."""
        if self.predicted is None or self.measured is None:
            return None
        return estimators.deviation(self.predicted, self.measured)


@dataclass(frozen=True, slots=True)
class TopLoss:
    """Loss of the best of the predicted top ``k``, among the measured candidates; failed candidates
    are ignored.
    """

    k: int
    loss: float | None
    """None if one of the ``k`` was not measured well enough to be compared, and none of the others
    is the best of all: then it is 0 whatever that one takes."""
    at_most: float | None = None
    """Where the loss is None: that of those of the ``k`` that were measured; None without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speedup:
    """Time of the baseline over time of the winner in one run: the ratio of the two shown times."""

    value: float
    interval: Interval | None
    """90 %, from the ratios within rounds; None for fewer than three rounds."""
    run: str
    note: str = ""
    crossed: float | None = None
    """The median of the ratios when each round is scored with the candidate that was best in the
    other rounds, so that luck in a round does not count as speed; None for a single round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortSearch:
    """How a budget ended the search of a problem, and what a longer one may bring."""

    why: str
    """``the time is used up``."""
    promise: float | None
    """Greatest expected improvement of the untried candidates over the best, a share, by the last
    model; None where there was none."""
    further: int
    """So many more evaluations make as many as are usually enough; 0: more were made."""
    seconds: float | None
    """What these are expected to take, by the evaluations of the last run; None where unknown."""


@dataclass(frozen=True, kw_only=True)  # without slots: its names are computed once and kept
class ProblemEvaluation:
    """The results of a study for one problem."""

    problem: ProblemFacts
    label: str
    """Unique within the study."""
    rows: tuple[EvaluatedCandidate, ...]
    """The candidates that were proposed, and the baseline; best prediction first."""
    space: ProblemSpace
    """All its legal candidates as a summary, proposed or not."""
    run: str | None
    """The run that the statistics come from; None when nothing was measured."""
    best: EvaluatedCandidate | None
    """The winner; where it is undecided, the one that was chosen."""
    contenders: tuple[EvaluatedCandidate, ...]
    """Those that may be the fastest, fastest first; one alone where the winner is decided."""
    baseline: EvaluatedCandidate | None
    speedup: Speedup | None
    serial: EvaluatedCandidate | None
    """The fastest of one thread, where the winner has more."""
    serial_speedup: Speedup | None
    """Time of ``serial`` over time of the winner."""
    losses: tuple[TopLoss, ...]
    noise_floor: NoiseFloor | None
    rank_correlation: float | None
    """Kendall's tau-b between predicted and measured times."""
    ordered_pairs: float | None
    """Share of the pairs measured more than 5 % apart that were predicted in the right order."""
    searched: tuple[str, ...] = ()
    """The objectives of the search, where it had more than the time."""
    regret: float | None = None
    """Expected time of the best over that of the one that is the fastest of all, less 1."""
    common_deviation: CommonDeviation | None = None
    """What most predictions miss to one side; None where they do not."""
    cut: ShortSearch | None = None
    """How a budget ended its search; None where its own rule did, or all candidates were tried."""
    other_runs: tuple[float, ...] = ()
    """Seconds of a time step of the best in the other runs of the study on this machine."""

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The shortest name that no other candidate has, by identity."""
        return short_names((row.candidate for row in self.rows), several=self.builds > 1)

    @property
    def layouts(self) -> int:
        """How many ways there are in which its candidates are spread."""
        return len(self.space.layouts)

    @property
    def builds(self) -> int:
        """How many compilers with flags there are."""
        return len(self.space.builds)

    @property
    def objectives(self) -> tuple[str, ...]:
        """The objectives of the Pareto front, time first.

        They are the objectives of the search. If it had only time, they are those with a value for
        all candidates.
        """
        values = [row.objectives for row in self.rows if row.compared]
        read = (k for k in OBJECTIVES if values and all(k in value for value in values))
        return self.searched or tuple(read)

    @property
    def front(self) -> tuple[EvaluatedCandidate, ...]:
        """The compared candidates on the Pareto front.

        Candidates without a value for one of the objectives are left out. Empty if time is the only
        objective.
        """
        kinds = self.objectives
        if len(kinds) < 2:
            return ()
        rows = {row.candidate.identity: row for row in self.rows if row.compared}
        values = {name: row.objectives for name, row in rows.items()}
        return tuple(rows[name] for name in pareto.front(values, kinds))

    @property
    def residuals(self) -> tuple[Residual, ...]:
        """log(measured / predicted) of the compared candidates, by the value of each parameter."""
        return residual_scales.by_parameter(
            [
                Observed(parameters=varied(row.candidate), residual=-math.log1p(row.deviation))
                for row in self.rows
                if row.compared and row.deviation is not None
            ]
        )

    @property
    def compared(self) -> int:
        """How many candidates take part in the statistics."""
        return sum(row.compared for row in self.rows)

    @property
    def unopposed(self) -> bool:
        """Whether one candidate alone compares and others were never tried: nothing is decided."""
        return self.compared == 1 and len(self.evaluated) < self.space.candidates

    @property
    def decided(self) -> bool:
        """Whether one candidate is told apart from all others that were measured."""
        return len(self.contenders) == 1 and not self.unopposed

    @property
    def evaluated(self) -> tuple[EvaluatedCandidate, ...]:
        """The legal candidates that were tried, fastest first, failures last."""
        tried = [row for row in self.rows if row.measurement and row.legal]
        return tuple(
            sorted(
                tried,
                key=lambda row: (row is not self.best, row.measured is None, row.measured or 0.0),
            )
        )

    @property
    def failures(self) -> tuple[EvaluatedCandidate, ...]:
        """The legal candidates that were tried and have no time."""
        tried = (row for row in self.rows if row.measurement and row.legal)
        return tuple(row for row in tried if row.status != "ok")

    @property
    def lost(self) -> tuple[EvaluatedCandidate, ...]:
        """The candidates that were tried and are no longer legal: they take no part."""
        return tuple(row for row in self.rows if row.measurement and not row.legal)

    @property
    def surplus(self) -> int:
        """How many candidates more were tried than there are, where none is known to be lost: in
        studies that were continued before such candidates were marked.
        """
        return max(0, len(self.evaluated) - self.space.candidates) if self.space.exact else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyEvaluation:
    """The results of a study, problem by problem in the order of its candidates."""

    study: StudyRecord
    problems: tuple[ProblemEvaluation, ...]

    def warning(self, run: RunRecord) -> str:
        """Why predictions or times of a run may be off; empty where nothing is known."""
        deviations = (p.common_deviation for p in self.problems if p.run == run.id)
        return warning(run.conditions, deviations)


def evaluate(study: StudyRecord, engine: str | None = None) -> StudyEvaluation:
    """Compare the predictions of one engine (the first by name if none is given) with the times.

    The function is pure: the same record gives the same result. Times from other machines than that
    of the last run take no part in the statistics.
    """
    groups: dict[str, list[CandidateRecord]] = {}
    for candidate in study.candidates:
        groups.setdefault(candidate.problem.key, []).append(candidate)
    named = labels([group[0].problem for group in groups.values()])
    results = [
        _problem(study, label, group, engine)
        for label, group in zip(named, groups.values(), strict=True)
    ]
    return StudyEvaluation(study=study, problems=tuple(results))


def evaluate_among(
    study: StudyRecord, label: str, candidates: Sequence[CandidateRecord]
) -> ProblemEvaluation:
    """The results of some candidates of one problem, at least one: the winner is one of them.

    Their times are those of ``evaluate``, which sees by all candidates of the problem when the
    machine was slower. ``label``: of the problem.
    """
    key = candidates[0].problem.key
    return _problem(
        study, label, candidates, None, [c for c in study.candidates if c.problem.key == key]
    )


def _problem(
    study: StudyRecord,
    label: str,
    candidates: Sequence[CandidateRecord],
    engine: str | None,
    beside: Sequence[CandidateRecord] = (),
) -> ProblemEvaluation:
    """``beside``: all candidates of the problem, where the results are of some of them."""
    ordered = _by_prediction(study, candidates, engine)
    space, lost = study.space(candidates[0].problem.key), study.lost
    legal = [c for c in candidates if c.identity not in lost]
    comparable_runs = _comparable_runs(study, legal, (*candidates, *beside))
    safe = next((c.identity for c in candidates if c.baseline), None)
    comparable = deciding_run(comparable_runs)
    contenders = comparable.contenders if comparable else ()
    winner = _choice(comparable, {c.identity: c for c in candidates}, safe)
    regrets = comparable.regrets if comparable else {}
    before = {name for comparable in comparable_runs for name in comparable.times}
    everybody = {candidate.identity for candidate in (*candidates, *beside)}
    rows = _rows(study, ordered, comparable, comparable_runs, everybody)
    rivals = comparable is not None and len(comparable.times) > 1
    tried = sum(row.legal and row.measurement is not None for row in rows)
    by_identity = {row.candidate.identity: row for row in rows}
    best = by_identity[winner] if winner else None
    baseline = next((row for row in rows if row.candidate.baseline), None)
    serial = _serial(rows, best)
    pairs = [
        (row.predicted, comparable.times[row.candidate.identity])
        for row in rows
        if comparable and row.compared and row.predicted is not None
    ]
    predicted, measured = [p for p, _ in pairs], [m for _, m in pairs]
    return ProblemEvaluation(
        problem=candidates[0].problem,
        label=label,
        rows=rows,
        space=space,
        run=comparable.run if comparable else None,
        best=best,
        contenders=tuple(by_identity[name] for name in contenders),
        baseline=baseline,
        speedup=_speedup(comparable_runs, best, baseline, decided=len(contenders) == 1)
        if rivals or tried >= space.candidates
        else None,
        serial=serial,
        serial_speedup=_speedup(comparable_runs, best, serial, decided=True),
        losses=tuple(
            _top_loss(rows, comparable, before, k, min(k, space.predicted)) for k in estimators.TOPS
        )
        if pairs
        else (),
        noise_floor=estimators.noise_floor(comparable.rounds) if comparable else None,
        rank_correlation=rank_correlation.kendall(predicted, measured),
        ordered_pairs=estimators.ordered_pairs(predicted, measured),
        searched=_searched_objectives(study, comparable),
        regret=regrets.get(winner or ""),
        common_deviation=_common_deviation(study, comparable, pairs),
        cut=_cut(study, space, tried),
        other_runs=_in_other_runs(winner, comparable, comparable_runs),
    )


def _common_deviation(
    study: StudyRecord, comparable: ComparableRun | None, times: Sequence[tuple[float, float]]
) -> CommonDeviation | None:
    """What predicted and measured times of the run that decides have in common."""
    run = next((run for run in study.runs if comparable and run.id == comparable.run), None)
    return common_deviation(times, run.conditions) if run else None


def _cut(study: StudyRecord, space: ProblemSpace, tried: int) -> ShortSearch | None:
    """How a budget ended the search of a problem in the last run, where candidates are left."""
    run = study.tunings[-1] if study.tunings else None
    search = run.cut(space.problem) if run else None
    if run is None or search is None or tried >= space.candidates:
        return None
    spent = run.timings.get("build", 0.0) + run.timings.get("run", 0.0)
    further = max(0, min(USUAL, space.candidates) - tried)
    timed = bool(spent and run.measurements)
    return ShortSearch(
        why=search.why,
        promise=search.promise,
        further=further,
        seconds=further * spent / len(run.measurements) if timed else None,
    )


def _rows(
    study: StudyRecord,
    ordered: Sequence[tuple[CandidateRecord, Prediction | None, int | None]],
    comparable: ComparableRun | None,
    comparable_runs: Sequence[ComparableRun],
    everybody: Collection[str],
) -> tuple[EvaluatedCandidate, ...]:
    """The candidates as rows; those that are no longer legal are told. ``everybody``: the
    identities of all candidates of the problem.
    """
    holds = {run.id: run_holds(run, everybody) for run in study.runs}
    rows = [_row(study, c, p, rank, comparable, comparable_runs, holds) for c, p, rank in ordered]
    lost = study.lost
    return tuple(
        dataclasses.replace(row, legal=False, note=LOST) if row.candidate.identity in lost else row
        for row in rows
    )


def _comparable_runs(
    study: StudyRecord, candidates: Sequence[CandidateRecord], beside: Sequence[CandidateRecord]
) -> list[ComparableRun]:
    """The comparable times of candidates in each run on the last machine that measured them: those
    that they have beside all, unless all of them have too few rounds for that.
    """
    here = study.runs[-1].machine_identity if study.runs else ""
    members = {candidate.identity for candidate in candidates}
    everybody = members | {candidate.identity for candidate in beside}

    def times(run: RunRecord) -> ComparableRun | None:
        whole = comparable_run(run, everybody)
        return (whole and whole.among(members)) or comparable_run(run, members)

    # runs for a map are no ground for statistics
    runs = [run for run in study.tunings if run.machine_identity == here]
    return [comparable for run in runs if (comparable := times(run))]


def _in_other_runs(
    winner: str | None, deciding: ComparableRun | None, runs: Sequence[ComparableRun]
) -> tuple[float, ...]:
    """The times of the winner in runs that do not decide."""
    others = [run.times for run in runs if run is not deciding]
    return tuple(times[winner] for times in others if winner in times) if winner else ()


def _choice(
    comparable: ComparableRun | None, candidates: Mapping[str, CandidateRecord], safe: str | None
) -> str | None:
    """Of those that may be the fastest, the one with the least expected regret; of those that are
    about as good, the baseline, or the one most like it.
    """
    if comparable is None:
        return None
    if safe is None:
        return comparable.least_regret
    regrets = comparable.regrets
    usual = varied(candidates[safe])

    def unlike(name: str) -> tuple[int, float]:
        settings = varied(candidates[name])
        differ = sum(settings.get(k) != usual.get(k) for k in settings.keys() | usual.keys())
        return (-1 if name == safe else differ), regrets[name]

    return min(choosable(regrets), key=unlike)


def _searched_objectives(study: StudyRecord, comparable: ComparableRun | None) -> tuple[str, ...]:
    """The objectives that a run searched for; empty if that was the time alone."""
    run = next((run for run in study.runs if comparable and run.id == comparable.run), None)
    words = str(run.conditions.get(SEARCHED, "")).split(", ") if run else []
    return tuple(word for word in words if word)


def _by_prediction(
    study: StudyRecord, candidates: Sequence[CandidateRecord], engine: str | None
) -> list[tuple[CandidateRecord, Prediction | None, int | None]]:
    if engine is None and study.predictions:
        engine = study.predictions[0].prediction.engine
    predictions = {s.candidate: s for s in study.predictions if s.prediction.engine == engine}

    def key(candidate: CandidateRecord) -> tuple[bool, int, str]:
        stored = predictions.get(candidate.identity)
        rank = stored.rank if stored else None
        return rank is None, rank or 0, candidate.identity

    ordered: list[tuple[CandidateRecord, Prediction | None, int | None]] = []
    for candidate in sorted(candidates, key=key):
        stored = predictions.get(candidate.identity)
        ordered.append(
            (candidate, stored.prediction, stored.rank) if stored else (candidate, None, None)
        )
    return ordered


# --- one run ----------------------------------------------------------------------------------


def _top_loss(
    rows: Sequence[EvaluatedCandidate],
    comparable: ComparableRun | None,
    before: Collection[str],
    k: int,
    places: int,
) -> TopLoss:
    """The loss of the top k by prediction among all candidates, of which ``places`` are predicted.

    One that was never proposed was not measured: then no candidate of the store has its place.
    If finalists were measured again, the finalists among the top k represent it. The best of the
    top k is always a finalist, also if the others were compared in the runs ``before``.
    """
    top = [row for row in rows if row.rank is not None and row.rank <= k]
    if comparable is None:
        return TopLoss(k, None)
    failed = [row for row in top if row.status not in (None, "ok", "contended")]
    times = {
        row.candidate.identity: comparable.times[row.candidate.identity]
        for row in top
        if row.compared
    }
    again = [
        time for name, time in times.items() if comparable.finals and name in comparable.rounds
    ]
    finished = len(times) + len(failed)
    if again:
        finished += sum(not row.compared and row.candidate.identity in before for row in top)
    if not times:
        return TopLoss(k, None)
    best = min(comparable.times[name] for name in comparable.rounds)
    loss = estimators.loss(min(again or times.values()), best)
    complete = finished == len(top) and len({row.rank for row in top}) >= places
    return TopLoss(k, loss) if complete or loss == 0 else TopLoss(k, None, at_most=max(loss, 0.0))


def _row(
    study: StudyRecord,
    candidate: CandidateRecord,
    prediction: Prediction | None,
    rank: int | None,
    comparable: ComparableRun | None,
    comparable_runs: Sequence[ComparableRun],
    holds: Mapping[str, Holds],
) -> EvaluatedCandidate:
    """A candidate with its measurement in the run of the statistics, else in its last run: with the
    time that it has there beside the others.

    ``holds``: whether the times of a run hold what the programs waited.
    """
    identity = candidate.identity
    tried = [(run, m) for run in study.runs if (m := run.measurement(identity))]
    reasons = [c.reason for run in study.runs for c in run.choices if c.candidate == identity]
    compared = comparable is not None and identity in comparable.times
    within = [(run, m) for run, m in tried if comparable and run.id == comparable.run]
    measurement = (within or tried)[-1][1] if tried else None
    measured, interval, note = _location(measurement, holds)
    for made in comparable_runs:
        if measurement is not None and made.run == measurement.run and identity in made.times:
            measured, interval = made.times[identity], made.intervals[identity]
    if comparable is not None and measurement is not None and measured is not None and not compared:
        same = measurement.run == comparable.run
        note = "too few samples to compare" if same else f"of run {measurement.run}: not compared"
    return EvaluatedCandidate(
        candidate=candidate,
        rank=rank,
        prediction=prediction,
        chosen=reasons[0] if reasons else "",
        measurement=measurement,
        measured=measured,
        interval=interval,
        compared=compared,
        note=note,
        memory=max(_readings(measurement, MEMORY), default=None),
        energy=estimators.location(joules) if (joules := _readings(measurement, ENERGY)) else None,
        metrics=_metrics(measurement),
    )


def _metrics(measurement: Measurement | None) -> dict[str, float]:
    """The median of each metric in the samples that count."""
    values: dict[str, list[float]] = {}
    for sample in measurement.timed if measurement else ():
        for name, value in sample.metrics.items():
            values.setdefault(name, []).append(value)
    return {name: float(np.median(column)) for name, column in values.items()}


def _readings(measurement: Measurement | None, name: str) -> list[float]:
    """The positive readings of one condition in the samples."""
    readings = [s.conditions.get(name) for s in measurement.timed] if measurement else []
    return [float(v) for v in readings if isinstance(v, int | float) and 0 < v < math.inf]


def varied(candidate: CandidateRecord) -> dict[str, Value]:
    """Every setting in which candidates of a problem may differ, by name."""
    return {
        **candidate.parameters,
        "compiler": candidate.build.compiler,
        "flags": " ".join(candidate.build.flags),
        **dataclasses.asdict(candidate.layout),
    }


def _location(
    measurement: Measurement | None, holds: Mapping[str, Holds]
) -> tuple[float | None, Interval | None, str]:
    if measurement is None or measurement.status != "ok":
        return None, None, ""
    try:
        of_run = holds.get(measurement.run)
        launches = list(launch_times.by_launch(measurement.samples, of_run).values())
    except ValueError as error:
        return None, None, str(error)
    if not launches:
        return None, None, "no sample"
    return launch_times.candidate_time(launches), launch_times.interval(launches), ""


def _serial(
    rows: Sequence[EvaluatedCandidate], best: EvaluatedCandidate | None
) -> EvaluatedCandidate | None:
    """The fastest of the compared candidates of one thread, unless the best has one thread."""
    if best is None or best.candidate.layout.serial:
        return None
    times = [
        (row.measured, row.candidate.identity, row)
        for row in rows
        if row.compared and row.measured is not None and row.candidate.layout.serial
    ]
    return min(times, key=lambda entry: entry[:2])[2] if times else None


# --- the winner against the baseline ------------------------------------------------------------


def _speedup(
    comparable_runs: Sequence[ComparableRun],
    best: EvaluatedCandidate | None,
    baseline: EvaluatedCandidate | None,
    *,
    decided: bool,
) -> Speedup | None:
    """The speed-up from the last run that compared winner and ``baseline``, which may be any
    other candidate; None without one.

    A baseline that was dropped early, as clearly slower, compares by the rounds that it has.
    """
    if best is None or baseline is None:
        return None
    winner, reference = best.candidate.identity, baseline.candidate.identity
    comparable = next(
        (h for h in reversed(comparable_runs) if winner in h.rounds and reference in h.times), None
    )
    if comparable is None:
        return None
    if winner == reference:
        note = "the baseline is the fastest" if decided else "the baseline is chosen"
        return Speedup(value=1.0, interval=None, run=comparable.run, note=note)
    ratios = crossed_ratios(comparable, reference) if reference in comparable.rounds else ()
    return Speedup(
        value=comparable.times[reference] / comparable.times[winner],
        interval=comparable.ratio(reference, winner),
        run=comparable.run,
        crossed=float(np.median(ratios)) if ratios else None,
    )
