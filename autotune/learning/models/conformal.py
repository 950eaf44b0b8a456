"""Intervals for any regressor, from how far it was off on rows that it had not seen.

The table is cut into folds; each row is predicted by a regressor that was trained on the other
folds. With errors |log(T / predicted)| of n rows, an interval of level 1 - alpha reaches to the
ceil((n + 1)(1 - alpha))-th smallest of them (Vovk 2015, cross-conformal prediction; the split form
of Lei et al. 2018). Where that is beyond the n-th, that is for n < 1/alpha - 1, the interval is
infinite: so few rows say nothing at this level. Rows drawn like those of the training are covered
with about this level. Rows outside the training box are not warranted anything; their interval
reaches at least as far as any held-out row was off that lay outside the box of the other folds.
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
    """What was said of training rows by those who had not seen them, (n,) each.

    ``median`` is nan where nothing could be said. ``outside``: the row lies outside the box of the
    other folds.
    """

    median: Floats
    outside: Bools

    def errors(self, response: Floats) -> Floats:
        """(n,) |log(response / predicted)|; inf where nothing positive was predicted."""
        usable = (self.median > 0) & np.isfinite(self.median)
        apart = np.log(response) - np.log(np.where(usable, self.median, 1.0))
        return np.where(usable, np.abs(apart), np.inf)


def one_thread() -> AbstractContextManager[object]:
    """Linear algebra by one thread within: the matrices are small, and on a busy host threads that
    wait for one another take tens of times as long as one."""
    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits


def folds(count: int, seed: int, most: int = FOLDS) -> Indices:
    """(n,) the fold of each row, as even as can be; fewer rows than folds are each one of its own.

    >>> sorted(folds(7, 0).tolist())
    [0, 0, 1, 1, 2, 3, 4]
    """
    order = np.random.default_rng([seed, count]).permutation(count)
    fold_of = np.empty(count, dtype=np.intp)
    fold_of[order] = np.arange(count) % min(most, max(count, 1))
    return fold_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fold:
    """One part of the training rows, which is held out, and the rest, which is learned from."""

    own: Bools
    """(n,) which rows are left out."""
    others: MeasurementTable
    asked: ParameterRows
    outside: Bools
    """(rows left out,) which of them lie outside the box of the others."""


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
    return Fold(own=held_out, others=others, asked=held_inputs, outside=outside)


def hold_out(
    regressor: Regressor, cuts: Sequence[Fold], count: int, seed: int, whole: Predictor
) -> HeldOut:
    """Predict each of ``count`` rows from the other folds. ``whole``: trained on all rows."""
    median = np.full(count, np.nan)
    outside = np.ones(count, dtype=bool)
    for fold in cuts:
        outside[fold.own] = fold.outside
        try:
            median[fold.own] = resume(regressor, fold.others, seed, whole).predict(fold.asked)
        except InputError:  # the others are too few, or all alike: nothing is said
            continue
    return HeldOut(median=median, outside=outside)


def reach(errors: Floats, level: float) -> float:
    """How far an interval of this level reaches, as |log|; inf where the errors are too few.

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
    """A predictor with the errors that it makes on rows it has not seen."""

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
        """The formula of the regressor; empty where it has none."""
        return self.predictor.formula

    def explain(self) -> Explanation:
        """The terms of the regressor with their influence."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self.predictor.explain()

    def predict(self, inputs: ParameterRows, level: float = 0.9) -> Forecast:
        """Outside the training box, who may not extrapolate has an infinite interval; where a
        parameter differs that did not in training, so has everybody."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            median = self.predictor.predict(inputs)
        outside = self.encoder.outside(inputs)
        reached = reaches(self.errors, self.held_outside, level, outside)
        if not self.extrapolates:
            reached = np.where(outside, np.inf, reached)
        reached = np.where(self.encoder.novel(inputs), np.inf, reached)
        return forecast(median, reached, outside, self.encoder.unseen(inputs))


def reaches(errors: Floats, held_outside: Bools, level: float, outside: Bools) -> Floats:
    """(rows,) how far the interval of each row reaches; ``outside``: (rows,) which are so."""
    inner = reach(errors, level)
    outer = max(inner, float(errors[held_outside].max(initial=0.0)))
    return np.where(outside, outer, inner)


def forecast(median: Floats, reached: Floats, outside: Bools, notes: tuple[str, ...]) -> Forecast:
    """Medians with intervals that reach so far, as |log|, (n,) each."""
    median = np.where((median > 0) & np.isfinite(median), median, np.nan)
    factor = np.where(np.isnan(median), np.inf, np.exp(np.minimum(reached, _FARTHEST)))
    factor = np.where(np.isinf(reached), np.inf, factor)
    filled = np.where(np.isnan(median), 1.0, median)
    with np.errstate(over="ignore"):
        low, high = filled / factor, filled * factor
    return Forecast(median=median, low=low, high=high, outside=outside, notes=notes)


class Calibrating(LearnedModel, Protocol):
    """A model whose fit keeps what it said of its own rows before it had seen them."""

    def fit(self, table: MeasurementTable, seed: int = 0) -> Calibrated:
        """See Model."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformal:
    """A model made of a regressor, with cross-conformal intervals; see the module."""

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
        """Trains once on all rows and once without each fold.

        Where numbers of a regressor overflow it says nothing, or leaves out the term.
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
