"""Predicted against measured: what a study says, problem by problem.

Two runs never enter one statistic. Every figure of a problem comes from one run; the winner is the
one that was best in the last run that it could have lost: a run without the winner so far replaces
it only if it compared more candidates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autotune.measure import stats
from autotune.measure.stats import NoiseFloor
from autotune.results import Measurement, Prediction, Status
from autotune.store.records import CandidateRecord, ProblemFacts, RunRecord, StudyRecord

TOPS = (1, 3, 5)
"""The k of the losses of the predicted top k."""

Interval = tuple[float, float]
Rounds = Mapping[int, Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One candidate: predicted, measured, and what became of it. Seconds per time step."""

    candidate: CandidateRecord
    rank: int | None
    """Place by prediction within its problem; None without a predicted time."""
    prediction: Prediction | None
    chosen: str = ""
    """Why it was measured; empty when it was not."""
    measurement: Measurement | None = None
    measured: float | None = None
    interval: Interval | None = None
    """90 % interval of the measured time, bootstrap over launches; None for too few launches."""
    compared: bool = False
    """It takes part in the statistics of its problem: measured in that run, with enough samples."""
    note: str = ""

    @property
    def predicted(self) -> float | None:
        """Predicted seconds per time step."""
        return self.prediction.seconds if self.prediction else None

    @property
    def status(self) -> Status | None:
        """What became of it; None when it was not measured."""
        return self.measurement.status if self.measurement else None

    @property
    def deviation(self) -> float | None:
        """(predicted - measured) / measured."""
        if self.predicted is None or self.measured is None:
            return None
        return stats.deviation(self.predicted, self.measured)


@dataclass(frozen=True, slots=True)
class TopLoss:
    """Loss of the best of the predicted top ``k``, among the measured candidates.

    None where not all of the ``k`` were measured well enough to compare, but for those that failed.
    """

    k: int
    loss: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Speedup:
    """Time of the baseline over time of the winner, within rounds of one run.

    Chosen and scored on different rounds: each round is scored with the candidate that was best
    in the other rounds, so that luck in a round does not count as speed.
    """

    value: float
    interval: Interval | None
    """90 %, bootstrap over rounds; None for fewer than three rounds."""
    run: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemResult:
    """What a study says about one problem."""

    problem: ProblemFacts
    label: str
    """Unique within the study."""
    rows: tuple[Row, ...]
    """Every candidate, best prediction first."""
    run: str | None
    """The run that the statistics come from; None when nothing was measured."""
    best: Row | None
    baseline: Row | None
    speedup: Speedup | None
    losses: tuple[TopLoss, ...]
    noise_floor: NoiseFloor | None
    rank_correlation: float | None
    """Kendall's tau-b between predicted and measured times."""
    ordered_pairs: float | None
    """Share of the pairs measured more than 5 % apart that were predicted in the right order."""

    @property
    def compared(self) -> int:
        """How many candidates take part in the statistics."""
        return sum(row.compared for row in self.rows)

    @property
    def evaluated(self) -> tuple[Row, ...]:
        """The candidates that were measured or failed to be, fastest first, failures last."""
        tried = [row for row in self.rows if row.measurement]
        return tuple(sorted(tried, key=lambda row: (row.measured is None, row.measured or 0.0)))

    @property
    def failures(self) -> tuple[Row, ...]:
        """The candidates that were tried and have no time."""
        return tuple(row for row in self.rows if row.measurement and row.status != "ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResult:
    """What a study says, problem by problem in the order of its candidates."""

    study: StudyRecord
    problems: tuple[ProblemResult, ...]


def evaluate(study: StudyRecord, engine: str | None = None) -> StudyResult:
    """Compare the predictions of one engine (the first by name, when none is given) with the times.

    Pure: the same record gives the same result. Times of other machines than that of the last run
    take no part in the statistics.
    """
    groups: dict[str, list[CandidateRecord]] = {}
    for candidate in study.candidates:
        groups.setdefault(candidate.problem.key, []).append(candidate)
    labels = [group[0].problem.label for group in groups.values()]
    results = []
    for group in groups.values():
        problem = group[0].problem
        label = problem.label
        if labels.count(label) > 1:
            label += f"-{problem.suffix}"
        results.append(_problem(study, label, group, engine))
    return StudyResult(study=study, problems=tuple(results))


def _problem(
    study: StudyRecord, label: str, candidates: Sequence[CandidateRecord], engine: str | None
) -> ProblemResult:
    ordered = _by_prediction(study, candidates, engine)
    here = study.runs[-1].machine_identity if study.runs else ""
    runs = [run for run in study.runs if run.machine_identity == here]
    heats = [heat for run in runs if (heat := _heat(run, candidates))]
    champion, heat = _champion(heats)
    rows = tuple(_row(study, c, p, rank, heat) for c, p, rank in ordered)
    by_identity = {row.candidate.identity: row for row in rows}
    best = by_identity[champion] if champion else None
    baseline = next((row for row in rows if row.candidate.baseline), None)
    pairs = [
        (row.predicted, heat.times[row.candidate.identity])
        for row in rows
        if heat and row.compared and row.predicted is not None
    ]
    predicted, measured = [p for p, _ in pairs], [m for _, m in pairs]
    return ProblemResult(
        problem=candidates[0].problem,
        label=label,
        rows=rows,
        run=heat.run if heat else None,
        best=best,
        baseline=baseline,
        speedup=_speedup(heats, best, baseline),
        losses=tuple(TopLoss(k, _top_loss(rows, heat, k)) for k in TOPS) if pairs else (),
        noise_floor=stats.noise_floor(heat.rounds) if heat else None,
        rank_correlation=stats.kendall(predicted, measured),
        ordered_pairs=stats.ordered_pairs(predicted, measured),
    )


def _by_prediction(
    study: StudyRecord, candidates: Sequence[CandidateRecord], engine: str | None
) -> list[tuple[CandidateRecord, Prediction | None, int | None]]:
    if engine is None and study.predictions:
        engine = study.predictions[0].prediction.engine
    known = {s.candidate: s.prediction for s in study.predictions if s.prediction.engine == engine}

    def key(candidate: CandidateRecord) -> tuple[bool, float, str]:
        prediction = known.get(candidate.identity)
        seconds = prediction.seconds if prediction else None
        return seconds is None, seconds or 0.0, candidate.identity

    ordered = []
    for place, candidate in enumerate(sorted(candidates, key=key), start=1):
        prediction = known.get(candidate.identity)
        rank = place if prediction and prediction.seconds is not None else None
        ordered.append((candidate, prediction, rank))
    return ordered


# --- one run ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Heat:
    """The candidates of one problem that compare within one run."""

    run: str
    rounds: Mapping[str, Rounds]
    """Candidate to round to its accepted times."""
    times: Mapping[str, float]
    """Candidate to its location, from equally many samples of each."""

    @property
    def fastest(self) -> str:
        return min(self.times, key=lambda name: (self.times[name], name))


def _heat(run: RunRecord, candidates: Sequence[CandidateRecord]) -> _Heat | None:
    """What a run can compare; a candidate with less than half of the most samples cannot be."""
    members = {candidate.identity for candidate in candidates}
    rounds: dict[str, Rounds] = {}
    for measurement in run.measurements:
        if measurement.candidate in members and measurement.status == "ok":
            found = _rounds(measurement)
            if found:
                rounds[measurement.candidate] = found
    counts = {name: sum(map(len, values.values())) for name, values in rounds.items()}
    enough = {name: rounds[name] for name, n in counts.items() if 2 * n >= max(counts.values())}
    if not enough:
        return None
    pooled = {name: [t for times in r.values() for t in times] for name, r in enough.items()}
    return _Heat(run.id, enough, stats.locations(pooled))


def _top_loss(rows: Sequence[Row], heat: _Heat | None, k: int) -> float | None:
    """The loss of the true predicted top k; ranks are those among all candidates."""
    top = [row for row in rows if row.rank is not None and row.rank <= k]
    failed = [row for row in top if row.status not in (None, "ok", "contended")]
    times = [heat.times[r.candidate.identity] for r in top if heat and r.compared]
    if heat is None or not times or len(times) + len(failed) < len(top):
        return None
    return stats.loss(min(times), min(heat.times.values()))


def _rounds(measurement: Measurement) -> Rounds:
    """Accepted times by round; empty when the conditions changed under them."""
    try:
        return stats.by_round(measurement.samples)
    except ValueError:
        return {}


def _champion(heats: Sequence[_Heat]) -> tuple[str | None, _Heat | None]:
    """The winner over all runs and the run that it won."""
    champion: str | None = None
    won: _Heat | None = None
    for heat in heats:
        if won is None or champion in heat.times or len(heat.times) > len(won.times):
            champion, won = heat.fastest, heat
    return champion, won


def _row(
    study: StudyRecord,
    candidate: CandidateRecord,
    prediction: Prediction | None,
    rank: int | None,
    heat: _Heat | None,
) -> Row:
    """A candidate as measured in the run of the statistics, else in the last run that tried it."""
    identity = candidate.identity
    tried = [(run, m) for run in study.runs if (m := run.measurement(identity))]
    whys = [c.reason for run in study.runs for c in run.choices if c.candidate == identity]
    compared = heat is not None and identity in heat.times
    within = [(run, m) for run, m in tried if heat and run.id == heat.run]
    measurement = (within or tried)[-1][1] if tried else None
    measured, interval, note = _location(measurement)
    if heat is not None and measurement is not None and measured is not None and not compared:
        same = measurement.run == heat.run
        note = "too few samples to compare" if same else f"of run {measurement.run}: not compared"
    return Row(
        candidate=candidate,
        rank=rank,
        prediction=prediction,
        chosen=whys[0] if whys else "",
        measurement=measurement,
        measured=measured,
        interval=interval,
        compared=compared,
        note=note,
    )


def _location(measurement: Measurement | None) -> tuple[float | None, Interval | None, str]:
    if measurement is None or measurement.status != "ok":
        return None, None, ""
    try:
        launches = stats.by_launch(measurement.samples)
    except ValueError as error:
        return None, None, str(error)
    if not launches:
        return None, None, "no accepted sample"
    times = [time for launch in launches for time in launch]
    return stats.location(times), stats.interval(launches), ""


# --- the winner against the baseline ------------------------------------------------------------


def _speedup(heats: Sequence[_Heat], best: Row | None, baseline: Row | None) -> Speedup | None:
    """From the last run that compared both; None where none did."""
    if best is None or baseline is None:
        return None
    winner, reference = best.candidate.identity, baseline.candidate.identity
    heat = next((h for h in reversed(heats) if {winner, reference} <= h.times.keys()), None)
    if heat is None:
        return None
    if winner == reference:
        return Speedup(value=1.0, interval=None, run=heat.run, note="the baseline is the fastest")
    ratios = _crossed_ratios(heat, reference)
    if ratios:
        return Speedup(value=float(np.median(ratios)), interval=_spread(ratios), run=heat.run)
    value = stats.ratio(heat.rounds[reference], heat.rounds[winner])
    note = "chosen and scored on the same round"
    return None if value is None else Speedup(value=value, interval=None, run=heat.run, note=note)


def _crossed_ratios(heat: _Heat, reference: str) -> list[float]:
    """Baseline over winner in each round, the winner being the best of all the other rounds."""
    ratios = []
    for number in sorted(heat.rounds[reference]):
        others = {
            name: [t for r, times in rounds.items() if r != number for t in times]
            for name, rounds in heat.rounds.items()
            if number in rounds
        }
        times = stats.locations(others)
        if not times:
            continue
        chosen = min(times, key=lambda name: (times[name], name))
        one = {number: heat.rounds[chosen][number]}
        value = stats.ratio({number: heat.rounds[reference][number]}, one)
        if value is not None:
            ratios.append(value)
    return ratios


def _spread(ratios: Sequence[float], seed: int = 1, draws: int = 1000) -> Interval | None:
    """90 % interval of the median ratio, bootstrap over rounds."""
    if len(ratios) < 3:
        return None
    generator = np.random.default_rng(seed)
    values = np.asarray(ratios)
    medians = np.median(generator.choice(values, size=(draws, len(values))), axis=1)
    low, high = np.quantile(medians, [0.05, 0.95])
    return float(low), float(high)
