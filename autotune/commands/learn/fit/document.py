"""The document of ``autotune learn fit``: models fitted to all rows, and what one predicts."""

from typing import TypedDict

from autotune.commands.learn.compare.document import InfluenceRow, influences
from autotune.domain.tables.parameter import Value
from autotune.learning.models.fits import Fit, Fits, HeldOutError, Predicted


class HeldOutRow(TypedDict):
    """abs(predicted - measured) / measured over held-out rows, as shares."""

    rows: int
    answered: int
    """Of so many of them something was said; only these count."""
    mean: float
    noise: float | None
    """The standard error of the mean."""
    median: float


class FitRow(TypedDict):
    """A model fitted to all rows."""

    model: str
    reason: str | None
    """Why it could not be fitted; null where it was."""
    formula: str | None
    error: HeldOutRow | None
    """null: the model keeps no held-out rows."""
    terms: list[InfluenceRow]
    notes: list[str]


class RowPredicted(TypedDict):
    """What is expected of one row, in the unit of the table."""

    values: dict[str, Value]
    median: float | None
    """null: nothing can be said."""
    low: float | None
    high: float | None
    """null: infinite."""
    outside: bool
    """It lies outside what was measured, so that the interval is not sure."""


class PredictedRow(TypedDict):
    """What the first of the models says of rows."""

    model: str
    source: str
    level: float
    rows: list[RowPredicted]
    notes: list[str]


class FitDocument(TypedDict):
    """Models fitted to one table."""

    schema: str
    """autotune.learn.fit/1"""
    table: str
    source: str
    rows: int
    quantity: str
    unit: str
    models: list[FitRow]
    measured_again: float | None
    """The mean error of half of the repetitions predicting the others; null: none were repeated."""
    predicted: PredictedRow | None
    treated: list[str]
    interrupted: bool


def fits(found: Fits, predicted: Predicted | None = None) -> FitDocument:
    """The document of fits, and of what the first one predicts."""
    table = found.table
    return FitDocument(
        schema="autotune.learn.fit/1",
        table=table.name,
        source=table.source,
        rows=len(table),
        quantity=table.quantity,
        unit=table.unit,
        models=[_fit(one) for one in found.models],
        measured_again=found.measured_again,
        predicted=None if predicted is None else _predicted(predicted),
        treated=list(table.treated),
        interrupted=found.interrupted,
    )


def _fit(one: Fit) -> FitRow:
    explained = one.fitted.explain() if one.fitted else None
    return FitRow(
        model=one.model,
        reason=one.reason or None,
        formula=one.fitted.formula if one.fitted else None,
        error=_error(one.error),
        terms=influences(explained) if explained else [],
        notes=list(explained.notes) if explained else [],
    )


def _error(found: HeldOutError | None) -> HeldOutRow | None:
    if found is None:
        return None
    return HeldOutRow(
        rows=found.rows,
        answered=found.answered,
        mean=found.mean,
        noise=found.noise,
        median=found.median,
    )


def _predicted(found: Predicted) -> PredictedRow:
    said = found.forecast
    return PredictedRow(
        model=found.model,
        source=found.rows.source,
        level=found.level,
        rows=[
            RowPredicted(
                values=found.rows.inputs.values(i),
                median=float(said.median[i]),
                low=float(said.low[i]),
                high=float(said.high[i]),
                outside=bool(said.outside[i]),
            )
            for i in range(len(said))
        ],
        notes=list(found.notes),
    )
