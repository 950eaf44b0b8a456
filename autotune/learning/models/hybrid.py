"""Hybrid models, which combine an analytical model with a learned one.

    ScaledAnalytical      T = s AM, s the median of T / AM: for a model that is right up to a factor
    Stacked(base)         base, with AM as one more parameter (Ibeid et al. 2019, section 5)
    ResidualModel(base)   T = s AM 2^base: base learns log2(T / s AM)
    Averaged(...)         the mean of predictions (the "bagging" of Ibeid et al.)

T is the time and AM the analytical prediction of a row. A row without an analytical prediction has
no hybrid prediction, and is left out of training.
"""

from dataclasses import dataclass, replace

import numpy as np

from autotune.domain.tables.table import MeasurementTable, Parameter, ParameterRows, interval
from autotune.errors import Fault, InputError
from autotune.learning.models.base import (
    Explanation,
    Floats,
    ModelTerm,
    Predictor,
    Regressor,
    resume,
)
from autotune.learning.models.effects import ANALYTICAL, total_effects

_FARTHEST = 1000.0
"""The largest log2 of a ratio: its power of two is a number."""


def analytical(inputs: ParameterRows) -> Floats:
    """(n,) the analytical predictions; nan where there is none or it is not positive."""
    if inputs.analytical is None:
        return np.full(len(inputs), np.nan)
    return np.where(inputs.analytical > 0, inputs.analytical, np.nan)


def rows_with_prediction(table: MeasurementTable) -> MeasurementTable:
    """The rows of the table that have an analytical prediction; InputError where none has one."""
    mask = np.isfinite(analytical(table.inputs))
    count = int(mask.sum())
    if not count:
        found = "no analytical model"
        if table.inputs.analytical is not None:
            found = f"an analytical model that predicts none of {len(table)} rows"
        raise InputError(
            Fault(
                where=table.source or table.name,
                found=found,
                expected="an analytical prediction of the rows to learn from",
                hint="ridge, kriging, trees and the pool need none",
            )
        )
    return table if mask.all() else table.take(mask)


def _ratios(over: Floats, under: Floats) -> Floats:
    """(n,) 2^over / 2^under, limited so that it is finite and positive even where the powers are
    not.
    """
    return np.exp2(np.clip(over - under, -_FARTHEST, _FARTHEST))


def _left_out(table: MeasurementTable, used: MeasurementTable) -> tuple[str, ...]:
    missing = len(table) - len(used)
    return (f"{missing} rows without an analytical prediction were left out",) if missing else ()


# --- scaled -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledPredictor:
    """Predicts ``scale`` times the analytical model."""

    scale: float
    quantity: str
    notes: tuple[str, ...] = ()

    @property
    def formula(self) -> str:
        """The formula as text: ``time = 1.2 * analytical model``."""
        return f"{self.quantity} = {self.scale:.4g} * {ANALYTICAL}"

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) predictions; nan where there is no analytical prediction."""
        with np.errstate(over="ignore"):
            scaled: Floats = self.scale * analytical(inputs)
        return scaled

    def explain(self) -> Explanation:
        """One term: the analytical model and its scale."""
        return Explanation.of(
            [ModelTerm(text=ANALYTICAL, coefficient=self.scale, influence=1.0)], self.notes
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledAnalytical:
    """The analytical model times a factor: the median over the rows of measured time over predicted
    time.
    """

    name: str = "am-scaled"
    extrapolates: bool = True

    def train(self, table: MeasurementTable, seed: int = 0) -> ScaledPredictor:  # noqa: ARG002
        """Determine the factor from a table; InputError where no row has an analytical
        prediction.
        """
        used = rows_with_prediction(table)
        ratios = _ratios(np.log2(used.response), np.log2(analytical(used.inputs)))
        scale = float(np.median(ratios))
        return ScaledPredictor(scale=scale, quantity=table.quantity, notes=_left_out(table, used))


# --- as a feature -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StackedPredictor:
    """A predictor that was trained with the analytical model as a parameter."""

    inner: Predictor
    parameter: Parameter
    notes: tuple[str, ...]

    @property
    def formula(self) -> str | None:
        """The formula of the inner predictor; None where it has none."""
        return self.inner.formula

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) predictions of the response; nan where there is none."""
        values = analytical(inputs)
        silent = np.isnan(values)
        predicted = self.inner.predict(_with(inputs, self.parameter, np.where(silent, 1.0, values)))
        return np.where(silent, np.nan, predicted)

    def explain(self) -> Explanation:
        """The terms of the inner model with their influence."""
        explanation = self.inner.explain()
        return replace(explanation, notes=(*self.notes, *explanation.notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacked:
    """The regressor ``base`` with the analytical prediction as one more parameter."""

    name: str
    base: Regressor

    @property
    def extrapolates(self) -> bool:
        """Whether the inner regressor extrapolates."""
        return self.base.extrapolates

    def train(self, table: MeasurementTable, seed: int = 0) -> StackedPredictor:
        """Train the base on the rows that have an analytical prediction."""
        return self.resume(table, seed, None)

    def resume(
        self, table: MeasurementTable, seed: int, previous: Predictor | None
    ) -> StackedPredictor:
        """Train on a table, starting from the previous predictor."""
        used = rows_with_prediction(table)
        values = analytical(used.inputs)
        parameter = interval(ANALYTICAL, float(values.min()), float(values.max()))
        widened = replace(used, inputs=_with(used.inputs, parameter, values))
        inner = previous.inner if isinstance(previous, StackedPredictor) else None
        return StackedPredictor(
            inner=resume(self.base, widened, seed, inner),
            parameter=parameter,
            notes=_left_out(table, used),
        )


def _with(inputs: ParameterRows, parameter: Parameter, values: Floats) -> ParameterRows:
    """The rows with one more parameter of these values."""
    rows = tuple((*row, value) for row, value in zip(inputs.rows, values.tolist(), strict=True))
    return ParameterRows(parameters=(*inputs.parameters, parameter), rows=rows)


# --- the residual -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualPredictor:
    """The scaled analytical model times a predicted ratio of measured to scaled analytical time."""

    scaled: ScaledPredictor
    inner: Predictor
    share: float
    """Of the variance of log T, what the scaled analytical model explains."""
    formula: None = None

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) predictions of the response; nan where there is none."""
        with np.errstate(over="ignore", invalid="ignore"):
            predicted: Floats = self.scaled.predict(inputs) * self.inner.predict(inputs)
        return predicted

    def explain(self) -> Explanation:
        """The analytical model, then the terms that correct it."""
        inner = self.inner.explain()
        terms = [ModelTerm(text=ANALYTICAL, coefficient=self.scaled.scale, influence=self.share)]
        terms += [replace(t, influence=t.influence * (1 - self.share)) for t in inner.terms]
        return Explanation.of(terms, (*self.scaled.notes, *inner.notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualModel:
    """The regressor ``base`` trained on the ratio of measured to scaled analytical time."""

    name: str
    base: Regressor
    extrapolates: bool = False

    def train(self, table: MeasurementTable, seed: int = 0) -> ResidualPredictor:
        """Train the base on the ratios of measured to scaled analytical time."""
        return self.resume(table, seed, None)

    def resume(
        self, table: MeasurementTable, seed: int, previous: Predictor | None
    ) -> ResidualPredictor:
        """Train on a table, starting from the previous predictor."""
        used = rows_with_prediction(table)
        scaled = ScaledAnalytical().train(table)
        expected = np.log2(analytical(used.inputs)) + np.log2(scaled.scale)
        ratio = _ratios(np.log2(used.response), expected)
        rest = replace(used, response=ratio, repetitions=(), quantity="ratio", unit="")
        variance = float(np.log(used.response).var())
        left = float(np.log(ratio).var())
        inner = previous.inner if isinstance(previous, ResidualPredictor) else None
        return ResidualPredictor(
            scaled=scaled,
            inner=resume(self.base, rest, seed, inner),
            share=min(max(1 - left / variance, 0.0), 1.0) if variance else 0.0,
        )


# --- averaged -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AveragedPredictor:
    """The arithmetic mean of the predictions of several predictors."""

    members: tuple[Predictor, ...]
    table: MeasurementTable
    formula: None = None

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) mean predictions of the response; nan where there is none."""
        average: Floats = np.mean([member.predict(inputs) for member in self.members], axis=0)
        return average

    def explain(self) -> Explanation:
        """The total effects of the parameters and of the analytical prediction."""
        notes = [note for member in self.members for note in member.explain().notes]
        return total_effects(self.predict, self.table, tuple(dict.fromkeys(notes)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaged:
    """The arithmetic mean of what several regressors predict."""

    name: str
    members: tuple[Regressor, ...]

    @property
    def extrapolates(self) -> bool:
        """Whether all members may predict outside the training box."""
        return all(member.extrapolates for member in self.members)

    def train(self, table: MeasurementTable, seed: int = 0) -> AveragedPredictor:
        """Train every member on the same rows."""
        members = tuple(member.train(table, seed) for member in self.members)
        return AveragedPredictor(members=members, table=table)
