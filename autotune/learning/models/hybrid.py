"""An analytical model and a learned one together.

    Scaled            T = s AM, s the median of T / AM: for a model that is right but for a factor
    Stacked(base)     base, with AM as one more parameter (Ibeid et al. 2019, section 5)
    Residual(base)    T = s AM 2^base: base learns log2(T / s AM)
    Averaged(...)     the mean of predictions (the "bagging" of Ibeid et al.)

Where the analytical model cannot say anything, neither can these. Rows of which it says nothing are
left out of their training.
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
    """(n,) what the analytical model says; nan where it says nothing or nothing positive."""
    if inputs.analytical is None:
        return np.full(len(inputs), np.nan)
    return np.where(inputs.analytical > 0, inputs.analytical, np.nan)


def known(table: MeasurementTable) -> MeasurementTable:
    """The rows that the analytical model predicts; InputError where they are too few."""
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
    """(n,) 2^over / 2^under, finite and positive also where these are not."""
    return np.exp2(np.clip(over - under, -_FARTHEST, _FARTHEST))


def _left_out(table: MeasurementTable, used: MeasurementTable) -> tuple[str, ...]:
    missing = len(table) - len(used)
    return (f"{missing} rows without an analytical prediction were left out",) if missing else ()


# --- scaled -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledPredictor:
    """``scale`` times the analytical model."""

    scale: float
    quantity: str
    notes: tuple[str, ...] = ()

    @property
    def formula(self) -> str:
        """The formula as text: ``time = 1.2 * analytical model``."""
        return f"{self.quantity} = {self.scale:.4g} * {ANALYTICAL}"

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) predictions, as ``Predictor.predict`` says."""
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
    """The analytical model times the median of measured over predicted."""

    name: str = "am-scaled"
    extrapolates: bool = True

    def train(self, table: MeasurementTable, seed: int = 0) -> ScaledPredictor:  # noqa: ARG002
        """Needs one row that the analytical model predicts."""
        used = known(table)
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
        """The formula of the inner model."""
        return self.inner.formula

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) predictions, as ``Predictor.predict`` says."""
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
    """``base`` with the analytical prediction as one more parameter."""

    name: str
    base: Regressor

    @property
    def extrapolates(self) -> bool:
        """Whether the inner regressor extrapolates."""
        return self.base.extrapolates

    def train(self, table: MeasurementTable, seed: int = 0) -> StackedPredictor:
        """Trains the base on the rows that the analytical model predicts."""
        return self.resume(table, seed, None)

    def resume(
        self, table: MeasurementTable, seed: int, previous: Predictor | None
    ) -> StackedPredictor:
        """The same from where the previous predictor was."""
        used = known(table)
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
    """The inputs with one more parameter."""
    rows = tuple((*row, value) for row, value in zip(inputs.rows, values.tolist(), strict=True))
    return ParameterRows(parameters=(*inputs.parameters, parameter), rows=rows)


# --- the residual -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualPredictor:
    """The scaled analytical model times what a predictor says of the ratio."""

    scaled: ScaledPredictor
    inner: Predictor
    share: float
    """Of the variance of log T, what the scaled analytical model explains."""
    formula: None = None

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) predictions, as ``Predictor.predict`` says."""
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
    """``base`` learns the ratio of measured and scaled analytical time."""

    name: str
    base: Regressor
    extrapolates: bool = False

    def train(self, table: MeasurementTable, seed: int = 0) -> ResidualPredictor:
        """Train the inner regressor on the ratios measured / analytical."""
        return self.resume(table, seed, None)

    def resume(
        self, table: MeasurementTable, seed: int, previous: Predictor | None
    ) -> ResidualPredictor:
        """The same from where the previous predictor was."""
        used = known(table)
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
    """The arithmetic mean of predictions."""

    members: tuple[Predictor, ...]
    table: MeasurementTable
    formula: None = None

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) predictions, as ``Predictor.predict`` says."""
        average: Floats = np.mean([member.predict(inputs) for member in self.members], axis=0)
        return average

    def explain(self) -> Explanation:
        """Total effects of the parameters and of the analytical model."""
        notes = [note for member in self.members for note in member.explain().notes]
        return total_effects(self.predict, self.table, tuple(dict.fromkeys(notes)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaged:
    """The arithmetic mean of what several regressors predict."""

    name: str
    members: tuple[Regressor, ...]

    @property
    def extrapolates(self) -> bool:
        """Whether all members extrapolate."""
        return all(member.extrapolates for member in self.members)

    def train(self, table: MeasurementTable, seed: int = 0) -> AveragedPredictor:
        """Train every member on the same rows."""
        members = tuple(member.train(table, seed) for member in self.members)
        return AveragedPredictor(members=members, table=table)
