"""Learning curves: how wrong models are by how many rows they have learned from.

Every trial is one model fitted to the training rows of one split and scored on the rest. A point of
a curve is the median over the trials of one model and one size, with their quartiles.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from autotune.errors import Fault, InputError
from autotune.learn import measures
from autotune.learn.base import Bools, Floats, Forecast, Model
from autotune.learn.splits import Course, Split
from autotune.learn.table import Table, Value
from autotune.progress import Progress

Measure = Literal["error_rate", "mdape", "tau_b", "coverage", "half_width", "answered"]
TOPS = (1, 3, 10)
LEVEL = 0.9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contender:
    """A model with the table it learns from: the analytical predictions in it may be its own."""

    name: str
    model: Model
    table: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How far one forecast was from what was measured; shares, None where there is no value.

    Rows without a prediction count in ``answered`` only, and as the slowest ones in a ranking.
    """

    rows: int
    answered: float
    error_rate: float | None
    """The mean absolute percentage error (MAPE)."""
    mdape: float | None
    """The median absolute percentage error."""
    tau_b: float | None
    top_loss: Mapping[int, float]
    """By k; of those below the number of rows."""
    coverage: float | None
    """The share of the answered rows within their interval."""
    half_width: float | None
    """The median half width of the intervals over the prediction; inf where too few were seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One model on one split: its score, or why there is none."""

    model: str
    size: int
    repeat: int
    group: Value | None
    score: Score | None
    failure: str = ""
    fit_seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median and quartiles of the trials that have a value."""

    median: float
    low: float
    high: float
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveTable:
    """All trials; models and sizes in the order they were asked for."""

    models: tuple[str, ...]
    course: Course
    trials: tuple[Trial, ...]
    tops: tuple[int, ...] = TOPS
    level: float = LEVEL

    @property
    def groups(self) -> tuple[Value, ...]:
        """The values that were left out in turn; none where rows were split at random."""
        return tuple(dict.fromkeys(t.group for t in self.trials if t.group is not None))

    def of(self, model: str, size: int, group: Value | None = None) -> tuple[Trial, ...]:
        """The trials of a model and size, of one group if asked for."""
        return tuple(
            t
            for t in self.trials
            if (t.model, t.size) == (model, size) and (group is None or t.group == group)
        )

    def point(
        self, model: str, size: int, measure: Measure, group: Value | None = None
    ) -> Spread | None:
        """A measure over the trials; None where none has a value."""
        return _spread(self.of(model, size, group), lambda score: getattr(score, measure))

    def top_loss(self, model: str, size: int, k: int, group: Value | None = None) -> Spread | None:
        """The top-k loss over the trials; None where none has one."""
        return _spread(self.of(model, size, group), lambda score: score.top_loss.get(k))

    def fit_seconds(self, model: str, size: int) -> float | None:
        """The median time of a fit; None where none succeeded."""
        times = [t.fit_seconds for t in self.of(model, size) if t.score is not None]
        return float(np.median(times)) if times else None

    def failures(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """Why models could not be fitted: model and reason to the sizes where it was so."""
        found: dict[tuple[str, str], list[int]] = {}
        for trial in self.trials:
            if trial.failure:
                found.setdefault((trial.model, trial.failure), []).append(trial.size)
        return {key: tuple(sorted(set(sizes))) for key, sizes in found.items()}

    def pays(self, model: str, against: str, k: int | None = None) -> int | None:
        """From which size a model is better than another one; None: at none of the sizes.

        Better: the median of the paired differences of the error rate (of the top-k loss where k is
        given) is below zero, at that size and at all larger ones.
        """
        reached = None
        for size in reversed(self.course.sizes):
            gain = self._differences(model, against, size, k)
            if not gain or float(np.median(gain)) >= 0:
                break
            reached = size
        return reached

    def _differences(self, model: str, against: str, size: int, k: int | None) -> list[float]:
        def value(trial: Trial) -> float | None:
            if trial.score is None:
                return None
            return trial.score.error_rate if k is None else trial.score.top_loss.get(k)

        others = {(t.repeat, t.group): value(t) for t in self.of(against, size)}
        pairs = [(value(t), others.get((t.repeat, t.group))) for t in self.of(model, size)]
        return [a - b for a, b in pairs if a is not None and b is not None]


def learning_curve(
    contenders: Sequence[Contender],
    course: Course,
    *,
    eligible: Bools | None = None,
    tops: tuple[int, ...] = TOPS,
    level: float = LEVEL,
    progress: Progress | None = None,
) -> CurveTable:
    """Fit and score each contender on each split. ``eligible``: (n,) rows that may be scored on.

    The tables of all contenders hold the same rows in the same order. A model that cannot be fitted
    to some rows has a trial without a score; InputError where rows are too few.
    """
    if not contenders:
        raise InputError(Fault(where="models", found="none", expected="at least one to score"))
    if any(one.table.inputs.rows != contenders[0].table.inputs.rows for one in contenders):
        raise ValueError("contenders need tables of the same rows")
    splits = course.splits(contenders[0].table, eligible)
    if not splits:
        found = "no row that may be scored on"
        raise InputError(Fault(where=contenders[0].table.name, found=found))
    trials: list[Trial] = []
    total = len(splits) * len(contenders)
    for split in splits:
        for one in contenders:
            if progress is not None:
                progress("fit and score", len(trials), total, f"{one.name}, {split.size} rows")
            trials.append(trial(one, split, course.seed, tops, level))
    if progress is not None:
        progress("fit and score", total, total)
    names = tuple(one.name for one in contenders)
    return CurveTable(models=names, course=course, trials=tuple(trials), tops=tops, level=level)


def trial(
    contender: Contender, split: Split, seed: int, tops: tuple[int, ...], level: float
) -> Trial:
    """One model on one split."""
    started = time.perf_counter()
    score, failure = None, ""
    try:
        fitted = contender.model.fit(contender.table.take(split.train), seed + split.repeat)
        taken = time.perf_counter() - started
        test = contender.table.take(split.test)
        score = scored(fitted.predict(test.inputs, level), test.response, tops)
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


def scored(forecast: Forecast, measured: Floats, tops: Sequence[int] = TOPS) -> Score:
    """The measures of a forecast of rows that were measured."""
    known = np.isfinite(forecast.median)
    answered = float(known.mean())
    if not known.any():
        return Score(
            rows=len(measured),
            answered=0.0,
            error_rate=None,
            mdape=None,
            tau_b=None,
            top_loss={},
            coverage=None,
            half_width=None,
        )
    median, truth = forecast.median[known], measured[known]
    last = 2 * float(np.abs(median).max()) + 1
    ranked = np.where(known, forecast.median, last)
    within = (forecast.low[known] <= truth) & (truth <= forecast.high[known])
    return Score(
        rows=len(measured),
        answered=answered,
        error_rate=measures.mape(median, truth),
        mdape=measures.mdape(median, truth),
        tau_b=measures.tau_b(median, truth),
        top_loss={k: measures.top_k_loss(ranked, measured, k) for k in tops if k < len(measured)},
        coverage=float(within.mean()),
        half_width=float(np.median(forecast.half_width[known])),
    )


def _reason(error: InputError) -> str:
    """Why a model could not be fitted: without what depends on the rows drawn."""
    fault = error.faults[0]
    return f"{fault.found}; expected {fault.expected}" if fault.expected else fault.found


def _spread(trials: Sequence[Trial], value: Callable[[Score], float | None]) -> Spread | None:
    scores = [value(t.score) for t in trials if t.score is not None]
    found = sorted(number for number in scores if number is not None)
    if not found:
        return None
    return Spread(
        median=_quantile(found, 0.5),
        low=_quantile(found, 0.25),
        high=_quantile(found, 0.75),
        trials=len(found),
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Linear between neighbours; inf, not nan, beside an infinite one."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    part = place - below
    if part == 0 or ordered[below] == ordered[above]:
        return ordered[below]
    return ordered[below] + part * (ordered[above] - ordered[below])
