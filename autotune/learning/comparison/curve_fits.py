"""Computes learning curves: fits each model to the training rows of each split and scores it on the
test rows.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from autotune.domain.metric import Direction
from autotune.domain.tables.table import MeasurementTable
from autotune.errors import Fault, InputError
from autotune.learning.comparison import measures
from autotune.learning.comparison.learning_curves import (
    LEVEL,
    TOPS,
    CurveTable,
    Kind,
    ModelScore,
    Trial,
)
from autotune.learning.comparison.noise_floor import Halves
from autotune.learning.comparison.splits import SplitPlan, TrainTestSplit
from autotune.learning.comparison.time_left import Pace
from autotune.learning.models.base import Bools, Floats, Forecast, LearnedModel
from autotune.progress import Progress, time_left_text
from autotune.statistics import rank_correlation

STAGE = "fit and score"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedModel:
    """A model with the table it is fitted to.

    The tables of two models may differ in their column of analytical predictions.
    """

    name: str
    model: LearnedModel
    table: MeasurementTable
    kind: Kind = "learned"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scoring:
    """What forecasts are scored on, and by which measures.

    ``eligible``: (n,) True for rows that may be scored on; None: all rows. ``problems``: (n,) the
    problem that each row solves; rankings and losses are computed within one problem, since only
    its rows are alternatives. Empty: all rows solve the same problem. ``halves``: the times of rows
    that were measured repeatedly, as two halves.
    """

    tops: tuple[int, ...] = TOPS
    level: float = LEVEL
    eligible: Bools | None = None
    problems: tuple[str, ...] = ()
    halves: Halves | None = None

    def __post_init__(self) -> None:
        if not self.tops or min(self.tops) < 1:
            found = ", ".join(map(str, self.tops)) or "none"
            raise InputError(Fault(where="top", found=found, expected="numbers of at least 1"))
        if not 0 < self.level < 1:
            expected = "a share between 0 and 1"
            raise InputError(Fault(where="level", found=f"{self.level:g}", expected=expected))


def learning_curve(
    contenders: Sequence[ComparedModel],
    split_plan: SplitPlan,
    scoring: Scoring | None = None,
    progress: Progress | None = None,
) -> CurveTable:
    """Fit and score each model on each split.

    The tables of all models hold the same rows in the same order. A model that cannot be fitted to
    the training rows of a split has a trial without a score. Raises InputError where there are too
    few rows. KeyboardInterrupt ends the work with the trials made so far, if every model has a
    trial of every size; else it is raised. Runs in one thread: the matrices are small, and on a
    busy host threads wait for one another.
    """
    scoring = scoring or Scoring()
    if not contenders:
        raise InputError(Fault(where="models", found="none", expected="at least one to score"))
    table = contenders[0].table
    if any(contender.table.inputs.rows != table.inputs.rows for contender in contenders):
        raise ValueError("contenders need tables of the same rows")
    splits = split_plan.splits(table, scoring.eligible, scoring.problems)
    if not splits:
        found = "no row that may be scored on"
        raise InputError(Fault(where=table.name, found=found))
    work = [(split, contender) for split in splits for contender in contenders]
    with threadpool_limits(limits=1):
        trials = _fitted_trials(work, split_plan, scoring, progress)
    done = {(t.repeat, t.group) for t in trials}
    tests = {(s.repeat, s.group): s for s in splits if (s.repeat, s.group) in done}
    floor = [_floor(scoring, split) for split in tests.values()]
    return CurveTable(
        models=tuple(contender.name for contender in contenders),
        kinds=tuple(contender.kind for contender in contenders),
        split_plan=split_plan,
        trials=trials,
        tops=scoring.tops,
        level=scoring.level,
        floor=tuple(score for score in floor if score is not None),
        planned=len(work),
    )


def _fitted_trials(
    work: Sequence[tuple[TrainTestSplit, ComparedModel]],
    split_plan: SplitPlan,
    scoring: Scoring,
    progress: Progress | None,
) -> tuple[Trial, ...]:
    """The trials of these splits and models.

    After KeyboardInterrupt, the trials made so far, if every model has one of every size; else
    KeyboardInterrupt is raised.
    """
    trials: list[Trial] = []
    pace = Pace()
    needed = {(contender.name, size) for _, contender in work for size in split_plan.sizes}
    try:
        for number, (split, contender) in enumerate(work):
            if progress is not None:
                left = time_left_text(pace.left((c.name, s.size) for s, c in work[number:]))
                detail = ", ".join(filter(None, (f"{contender.name}, {split.size} rows", left)))
                progress(STAGE, number, len(work), detail)
            began = time.perf_counter()
            trials.append(trial(contender, split, split_plan.seed, scoring))
            pace.add(contender.name, split.size, time.perf_counter() - began)
    except KeyboardInterrupt:
        if needed - {(t.model, t.size) for t in trials}:
            raise
    if progress is not None:
        progress(STAGE, len(trials), len(work) if len(trials) == len(work) else len(trials))
    return tuple(trials)


def trial(contender: ComparedModel, split: TrainTestSplit, seed: int, scoring: Scoring) -> Trial:
    """Fit one model to the training rows of one split and score it on the test rows."""
    started = time.perf_counter()
    score, failure = None, ""
    try:
        fitted = contender.model.fit(contender.table.take(split.train), seed + split.repeat)
        taken = time.perf_counter() - started
        test = contender.table.take(split.test)
        forecast = fitted.predict(test.inputs, scoring.level)
        problems = _problems(scoring, split)
        score = scored(forecast, test.response, scoring.tops, problems, test.better)
    except InputError as error:
        taken, failure = time.perf_counter() - started, _reason(error)
    return Trial(
        model=contender.name,
        size=split.size,
        repeat=split.repeat,
        group=split.group,
        score=score,
        failure=failure,
        fit_seconds=taken,
    )


def _problems(scoring: Scoring, split: TrainTestSplit) -> tuple[str, ...]:
    return tuple(scoring.problems[i] for i in split.test) if scoring.problems else ()


# --- scores ---------------------------------------------------------------------------------


def scored(
    forecast: Forecast,
    measured: Floats,
    tops: Sequence[int] = TOPS,
    problems: Sequence[str] = (),
    better: Direction = "less",
) -> ModelScore:
    """Errors, rank correlation and top-k losses of a forecast against measured times; rankings are
    within each problem.

    ``better``: which of two values is the better. The loss of a rate, of which more is better, is
    that of its reciprocal.
    """
    predicted = np.isfinite(forecast.median)
    answered, outside = float(predicted.mean()), float(forecast.outside.mean())
    if not predicted.any():
        return ModelScore(
            rows=len(measured),
            answered=0.0,
            error_rate=None,
            mdape=None,
            tau_b=None,
            top_loss={},
            coverage=None,
            half_width=None,
            outside=outside,
        )
    median, truth = forecast.median[predicted], measured[predicted]
    order, costs = forecast.median, measured
    if better == "more":
        order, costs = -forecast.median, 1 / measured
    last = 2 * float(np.abs(median).max()) + 1
    ranked = np.where(predicted, order, last)
    within = (forecast.low[predicted] <= truth) & (truth <= forecast.high[predicted])
    places = _places(problems, len(measured))
    return ModelScore(
        rows=len(measured),
        answered=answered,
        error_rate=measures.mape(median, truth),
        mdape=measures.mdape(median, truth),
        tau_b=_tau(forecast.median, measured, places),
        top_loss={k: v for k in tops if (v := _loss(ranked, costs, places, k)) is not None},
        coverage=float(within.mean()),
        half_width=float(np.median(forecast.half_width[predicted])),
        outside=outside,
    )


def _places(problems: Sequence[str], count: int) -> list[NDArray[np.intp]]:
    """The indices of the rows of each problem."""
    if not problems:
        return [np.arange(count)]
    names = np.array(problems)
    return [np.flatnonzero(names == name) for name in dict.fromkeys(problems)]


def _tau(said: Floats, measured: Floats, places: Sequence[NDArray[np.intp]]) -> float | None:
    coefficients = []
    for rows in places:
        answered = rows[np.isfinite(said[rows])]
        if len(answered) > 1:
            coefficients.append(rank_correlation.kendall(said[answered], measured[answered]))
    values = [tau for tau in coefficients if tau is not None]
    return float(np.mean(values)) if values else None


def _loss(
    ranked: Floats, measured: Floats, places: Sequence[NDArray[np.intp]], k: int
) -> float | None:
    losses = [
        rank_correlation.top_loss(ranked[rows], measured[rows], k)
        for rows in places
        if len(rows) > k
    ]
    defined = [loss for loss in losses if loss is not None]
    return float(np.mean(defined)) if defined else None


def _floor(scoring: Scoring, split: TrainTestSplit) -> ModelScore | None:
    """The score of predicting the test rows by measuring them again; None where fewer than two rows
    were measured twice.
    """
    if scoring.halves is None:
        return None
    problems = _problems(scoring, split)
    return repeat_score(scoring.halves.take(split.test), replace(scoring, problems=problems))


def repeat_score(halves: Halves, scoring: Scoring) -> ModelScore | None:
    """The score of predicting one half of the repeated measurements by the other half.

    It is averaged over both directions. None where fewer than two rows have a time in both halves.
    ``scoring.problems`` belong to the rows of the halves.
    """
    both = np.flatnonzero(np.isfinite(halves.early) & np.isfinite(halves.late))
    if len(both) < 2:
        return None
    problems = tuple(scoring.problems[i] for i in both) if scoring.problems else ()
    early, late = halves.early[both], halves.late[both]
    there, back = (
        scored(_without_interval(a), b, scoring.tops, problems)
        for a, b in ((early, late), (late, early))
    )
    return replace(
        there,
        error_rate=_mean(there.error_rate, back.error_rate),
        mdape=_mean(there.mdape, back.mdape),
        top_loss={k: (there.top_loss[k] + back.top_loss[k]) / 2 for k in there.top_loss},
        coverage=None,
        half_width=None,
    )


def _mean(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else (first + second) / 2


def _without_interval(times: Floats) -> Forecast:
    """A forecast of these times whose intervals are unbounded."""
    return Forecast(
        median=times,
        low=np.zeros(len(times)),
        high=np.full(len(times), np.inf),
        outside=np.zeros(len(times), dtype=np.bool_),
    )


def _reason(error: InputError) -> str:
    """The reason why a model could not be fitted, without the details that depend on the rows
    drawn.
    """
    fault = error.faults[0]
    return f"{fault.found}; expected {fault.expected}" if fault.expected else fault.found
