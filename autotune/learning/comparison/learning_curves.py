"""Learning curves: the error of models by the number of rows they were trained on.

Every trial is one model fitted to the training rows of one split and scored on the test rows. A
point of a curve is the median with quartiles over the trials of one model and one size. Losses also
have a mean, which is what choosing by the model costs in the long run.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from autotune.domain.tables.table import Value
from autotune.learning.comparison.splits import SplitPlan
from autotune.statistics.quantiles import quantile
from autotune.units import Unbounded

Measure = Literal["error_rate", "mdape", "tau_b", "coverage", "half_width", "answered", "outside"]
Kind = Literal["analytical", "learned", "hybrid"]
"""What a model knows: only what an engine says, only what was measured, or both."""
KINDS: tuple[Kind, ...] = ("analytical", "learned", "hybrid")
TOPS = (1, 3, 10)
LEVEL = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScore:
    """How far one forecast was from the measured times. Measures are shares; None where a measure
    has no value.

    Rows without a prediction lower the share ``answered``. They count as the slowest rows in a
    ranking and in no other measure.
    """

    rows: int
    answered: float
    error_rate: float | None
    """The mean absolute percentage error (MAPE)."""
    mdape: float | None
    """The median absolute percentage error."""
    tau_b: float | None
    """The mean over the problems."""
    top_loss: Mapping[int, float]
    """By k, the mean over the problems of more than k rows."""
    coverage: float | None
    """The share of the answered rows within their interval."""
    half_width: float | None
    """The median half width of the intervals over the prediction; inf where too few were seen."""
    outside: float = 0.0
    """The share of rows outside the training box: no interval is warranted there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The result of one model on one split: its score, or the reason why there is none."""

    model: str
    size: int
    repeat: int
    group: Value | None
    score: ModelScore | None
    failure: str = ""
    fit_seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSpread:
    """Median, quartiles and mean of a measure over the trials that have a value."""

    median: Unbounded
    low: Unbounded
    high: Unbounded
    mean: Unbounded
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveTable:
    """All trials of a comparison, with its models and training sizes in the order in which they
    were requested.

    ``kinds``: whether each model is analytical, learned or hybrid. ``floor``: for each test set the
    score of measuring it again, see ``noise_floor``; empty where no row was measured twice.
    ``planned``: the number of trials intended; it exceeds the number of ``trials`` after an
    interruption.
    """

    models: tuple[str, ...]
    kinds: tuple[Kind, ...]
    split_plan: SplitPlan
    trials: tuple[Trial, ...]
    tops: tuple[int, ...] = TOPS
    level: float = LEVEL
    floor: tuple[ModelScore, ...] = ()
    planned: int = 0

    @property
    def interrupted(self) -> bool:
        """Whether fewer trials were made than planned."""
        return self.planned > len(self.trials)

    @property
    def groups(self) -> tuple[Value, ...]:
        """The values that were left out of training in turn; empty where rows were
        split at random.
        """
        return tuple(dict.fromkeys(t.group for t in self.trials if t.group is not None))

    def kind(self, model: str) -> Kind:
        """The kind of a model: analytical, learned or hybrid."""
        return self.kinds[self.models.index(model)]

    def of_kind(self, kind: Kind) -> tuple[str, ...]:
        """The names of the models of one kind."""
        return tuple(m for m, k in zip(self.models, self.kinds, strict=True) if k == kind)

    def of(self, model: str, size: int, group: Value | None = None) -> tuple[Trial, ...]:
        """The trials of one model and training size; only those of ``group`` where it is given."""
        return tuple(
            t
            for t in self.trials
            if (t.model, t.size) == (model, size) and (group is None or t.group == group)
        )

    def point(
        self, model: str, size: int, measure: Measure, group: Value | None = None
    ) -> ScoreSpread | None:
        """Median, quartiles and mean of a measure over the trials of one model and size; None where
        no trial has a value.
        """
        return _of(self.of(model, size, group), lambda score: getattr(score, measure))

    def top_loss(
        self, model: str, size: int, k: int, group: Value | None = None
    ) -> ScoreSpread | None:
        """Median, quartiles and mean of the top-k loss over the trials of one model and size; None
        where no trial has a value.
        """
        return _of(self.of(model, size, group), lambda score: score.top_loss.get(k))

    def floor_point(self, measure: Measure) -> ScoreSpread | None:
        """Median, quartiles and mean over the test sets of a measure of measuring them again."""
        return spread(getattr(score, measure) for score in self.floor)

    def floor_loss(self, k: int) -> ScoreSpread | None:
        """Median, quartiles and mean over the test sets of the top-k loss of choosing by measuring
        again.
        """
        return spread(score.top_loss.get(k) for score in self.floor)

    def fit_seconds(self, model: str, size: int) -> float | None:
        """The median time in seconds of a fit; None where no fit succeeded."""
        times = [t.fit_seconds for t in self.of(model, size) if t.score is not None]
        return statistics.median(times) if times else None

    def failures(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """Why models could not be fitted: (model, reason) to the training sizes at which it
        happened.
        """
        repeats_of: dict[tuple[str, str], list[int]] = {}
        for trial in self.trials:
            if trial.failure:
                repeats_of.setdefault((trial.model, trial.failure), []).append(trial.size)
        return {key: tuple(sorted(set(sizes))) for key, sizes in repeats_of.items()}


def spread(values: Iterable[float | None]) -> ScoreSpread | None:
    """Median, quartiles and mean of the values that are not None; None where all are None."""
    ascending = sorted(number for number in values if number is not None)
    if not ascending:
        return None
    return ScoreSpread(
        median=quantile(ascending, 0.5),
        low=quantile(ascending, 0.25),
        high=quantile(ascending, 0.75),
        mean=math.fsum(ascending) / len(ascending) if math.isfinite(ascending[-1]) else math.inf,
        trials=len(ascending),
    )


def _of(trials: Sequence[Trial], value: Callable[[ModelScore], float | None]) -> ScoreSpread | None:
    return spread(value(t.score) for t in trials if t.score is not None)
