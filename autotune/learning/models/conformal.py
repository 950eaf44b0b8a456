"""Prediction intervals for any regressor, from its errors on held-out rows.

The table is cut into folds. Each row is predicted by a regressor that was trained on the other
folds. With errors |log(T / predicted)| of n rows, an interval of level 1 - alpha reaches to the
ceil((n + 1)(1 - alpha))-th smallest error (Vovk 2015, cross-conformal prediction; the split form of
Lei et al. 2018). Where n < 1/alpha - 1 there is no such error, and the interval is infinite: so few
rows say nothing at this level. Rows drawn like the training rows are covered with about this level.
For rows outside the training box the level is not warranted. Their interval reaches at least as far
as the largest error of a held-out row that lay outside the box of the other folds.
"""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.errors import Fault, InputError
from autotune.learning.models.base import (
    Bools,
    Explanation,
    Floats,
    Forecast,
    Indices,
    LearnedModel,
    Predictor,
    Regressor,
    resume,
)
from autotune.learning.models.encode import Encoder

FOLDS = 5
_FARTHEST = 700.0
"""The largest reach whose exponential is a number."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOut:
    """Predictions of the training rows by regressors that were trained without them, (n,) each.

    ``median`` is nan where there was no prediction. ``outside``: the row lies outside the box of
    the other folds.
    """

    median: Floats
    outside: Bools

    def errors(self, response: Floats) -> Floats:
        """(n,) |log(response / predicted)|; inf where no positive number was predicted."""
        usable = (self.median > 0) & np.isfinite(self.median)
        apart = np.log(response) - np.log(np.where(usable, self.median, 1.0))
        return np.where(usable, np.abs(apart), np.inf)


def one_thread() -> AbstractContextManager[object]:
    """A context in which linear algebra runs in one thread.

    The matrices are small, and on a busy host threads that wait for one another take tens of times
    as long.
    """
    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits


def folds(count: int, seed: int, most: int = FOLDS) -> Indices:
    """(n,) the fold of each row, in folds of sizes as equal as possible; with fewer rows than folds
    each row is a fold.

    >>> sorted(folds(7, 0).tolist())
    [0, 0, 1, 1, 2, 3, 4]
    """
    order = np.random.default_rng([seed, count]).permutation(count)
    fold_of = np.empty(count, dtype=np.intp)
    fold_of[order] = np.arange(count) % min(most, max(count, 1))
    return fold_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fold:
    """One fold of the training rows: the rows held out, and the other rows, which are
    trained on.
    """

    held_out: Bools
    """(n,) which rows are held out."""
    others: MeasurementTable
    inputs: ParameterRows
    outside: Bools
    """(rows held out,) which of them lie outside the box of the others."""


def cut(table: MeasurementTable, seed: int) -> tuple[Fold, ...]:
    """The folds of a table; no folds where the table has a single row."""
    fold = folds(len(table), seed)
    return tuple(
        _fold(table, fold == number)
        for number in range(int(fold.max()) + 1 if len(table) > 1 else 0)
    )


def _fold(table: MeasurementTable, held_out: Bools) -> Fold:
    others, held_inputs = table.take(~held_out), table.inputs.take(held_out)
    outside = Encoder.fit(others.inputs).outside(held_inputs)
    return Fold(held_out=held_out, others=others, inputs=held_inputs, outside=outside)


def hold_out(
    regressor: Regressor, cuts: Sequence[Fold], count: int, seed: int, whole: Predictor
) -> HeldOut:
    """Predict each of ``count`` rows by training on the other folds.

    ``whole``: the predictor trained on all rows, from which each training may start.
    """
    median = np.full(count, np.nan)
    outside = np.ones(count, dtype=bool)
    for fold in cuts:
        outside[fold.held_out] = fold.outside
        try:
            median[fold.held_out] = resume(regressor, fold.others, seed, whole).predict(fold.inputs)
        except InputError:  # the others are too few, or all alike: nothing is said
            continue
    return HeldOut(median=median, outside=outside)


def reach(errors: Floats, level: float) -> float:
    """The half-width of an interval of this level as |log|; inf where there are too few errors.

    >>> errors = np.arange(1.0, 10.0)
    >>> reach(errors, 0.9), reach(errors, 0.95), reach(errors, 0.5)
    (9.0, inf, 5.0)
    """
    if not 0 < level < 1:
        fault = Fault(where="level", found=str(level), expected="a share between 0 and 1")
        raise InputError(fault)
    place = math.ceil((len(errors) + 1) * level - 1e-9)
    return float(np.sort(errors)[place - 1]) if place <= len(errors) else math.inf


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calibrated:
    """A trained predictor with its errors on held-out rows, from which its intervals follow."""

    predictor: Predictor
    encoder: Encoder
    extrapolates: bool
    held_out: Floats
    """(n,) of the training rows; nan where nothing could be said."""
    errors: Floats
    """(n,) see HeldOut.errors."""
    held_outside: Bools
    """(n,) which of them lay outside the box of the other folds."""

    @property
    def formula(self) -> str | None:
        """The formula of the regressor; None where it has none."""
        return self.predictor.formula

    def explain(self) -> Explanation:
        """The terms of the regressor with their influence."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self.predictor.explain()

    def predict(self, inputs: ParameterRows, level: float = 0.9) -> Forecast:
        """The median and the interval of each row.

        Outside the training box, the interval is infinite unless the regressor may extrapolate. It
        is always infinite where a parameter that was constant in training has another value.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            median = self.predictor.predict(inputs)
        outside = self.encoder.outside(inputs)
        reached = reaches(self.errors, self.held_outside, level, outside)
        if not self.extrapolates:
            reached = np.where(outside, np.inf, reached)
        reached = np.where(self.encoder.outside_constant(inputs), np.inf, reached)
        return forecast(median, reached, outside, self.encoder.unseen(inputs))


def reaches(errors: Floats, held_outside: Bools, level: float, outside: Bools) -> Floats:
    """(rows,) the half-width of the interval of each row, as |log|.

    ``outside``: (rows,) True for rows outside the training box; ``held_outside``: the same for the
    held-out rows of ``errors``.
    """
    inner = reach(errors, level)
    outer = max(inner, float(errors[held_outside].max(initial=0.0)))
    return np.where(outside, outer, inner)


def forecast(median: Floats, reached: Floats, outside: Bools, notes: tuple[str, ...]) -> Forecast:
    """A forecast from medians and half-widths of intervals as |log|, (n,) each."""
    median = np.where((median > 0) & np.isfinite(median), median, np.nan)
    factor = np.where(np.isnan(median), np.inf, np.exp(np.minimum(reached, _FARTHEST)))
    factor = np.where(np.isinf(reached), np.inf, factor)
    filled = np.where(np.isnan(median), 1.0, median)
    with np.errstate(over="ignore"):
        low, high = filled / factor, filled * factor
    return Forecast(median=median, low=low, high=high, outside=outside, notes=notes)


class Calibrating(LearnedModel, Protocol):
    """A model whose fit keeps the predictions of its training rows that were made while they were
    held out.
    """

    def fit(self, table: MeasurementTable, seed: int = 0) -> Calibrated:
        """Fit to a table, keeping the held-out predictions; InputError where the table has nothing
        to learn from.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformal:
    """A model made of a regressor, with cross-conformal intervals; see the module conformal."""

    regressor: Regressor

    @property
    def name(self) -> str:
        """The name of the regressor."""
        return self.regressor.name

    @property
    def extrapolates(self) -> bool:
        """Whether the regressor may answer outside the training box."""
        return self.regressor.extrapolates

    def fit(self, table: MeasurementTable, seed: int = 0) -> Calibrated:
        """Train once on all rows and once without each fold.

        Where a number overflows, the regressor has no prediction or leaves out the term.
        """
        with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            whole = self.regressor.train(table, seed)
            held = hold_out(self.regressor, cut(table, seed), len(table), seed, whole)
        return Calibrated(
            predictor=whole,
            encoder=Encoder.fit(table.inputs),
            extrapolates=self.extrapolates,
            held_out=held.median,
            errors=held.errors(table.response),
            held_outside=held.outside,
        )
