"""The document of ``autotune learn fit``: models fitted to all rows, and what one predicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from autotune.commands.learn.document import TableSource
from autotune.domain.tables.parameter import Value
from autotune.learning.models.base import Explanation, RowForecast
from autotune.learning.models.fits import Fit, Fits, HeldOutError, Predicted


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedModel:
    """A model fitted to all rows."""

    model: str
    reason: str
    """Why it could not be fitted; empty where it was."""
    formula: str | None
    error: HeldOutError | None
    """null: the model keeps no held-out rows."""
    explanation: Explanation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedRow:
    """The prediction for one row, in the unit of the table."""

    values: Mapping[str, Value]
    forecast: RowForecast


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedRows:
    """The predictions of the first model for a list of rows."""

    model: str
    source: str
    level: float
    expected: tuple[ExpectedRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FitDocument:
    """``autotune learn fit --json``: models fitted to one table."""

    schema: Literal["autotune.learn.fit/1"] = "autotune.learn.fit/1"
    data: TableSource
    models: tuple[FittedModel, ...]
    measured_again: float | None
    """The mean error of half of the repetitions predicting the others; null: none were repeated."""
    predicted: ExpectedRows | None
    interrupted: bool


def fits(fitted: Fits, predicted: Predicted | None = None) -> FitDocument:
    """The document of fitted models, with the predictions of the first one."""
    return FitDocument(
        data=TableSource.of(fitted.table),
        models=tuple(_model(fit) for fit in fitted.models),
        measured_again=fitted.measured_again,
        predicted=None if predicted is None else _expected(predicted),
        interrupted=fitted.interrupted,
    )


def _model(fit: Fit) -> FittedModel:
    return FittedModel(
        model=fit.model,
        reason=fit.reason,
        formula=fit.fitted.formula if fit.fitted else None,
        error=fit.error,
        explanation=fit.fitted.explain() if fit.fitted else None,
    )


def _expected(predicted: Predicted) -> ExpectedRows:
    inputs = predicted.rows.inputs
    return ExpectedRows(
        model=predicted.model,
        source=predicted.rows.source,
        level=predicted.level,
        expected=tuple(
            ExpectedRow(values=inputs.values(i), forecast=forecast)
            for i, forecast in enumerate(predicted.forecast.rows)
        ),
        notes=predicted.notes,
    )
