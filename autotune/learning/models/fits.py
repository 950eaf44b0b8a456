"""Models fitted to all rows of a table, and their predictions of new rows: the work of ``learn
fit``.

No rows are left to score on, so the error is that of cross-conformal fits: each row is predicted by
a model trained on the other folds (module ``conformal``).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.tables.table import MeasurementTable
from autotune.errors import Fault, InputError
from autotune.files.parsing.faults import printable
from autotune.learning.comparison.curve_fits import ComparedModel
from autotune.learning.comparison.measures import absolute_percentage_errors
from autotune.learning.comparison.model_comparison import default_models
from autotune.learning.comparison.noise_floor import halves_of
from autotune.learning.models.base import Fitted, Floats, Forecast
from autotune.learning.models.conformal import Calibrated, one_thread
from autotune.learning.models.rows_to_predict import Rows
from autotune.progress import Progress
from autotune.units import Unbounded

_USUAL = ("pool", "influence", "pmnf")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutError:
    """The errors |predicted - measured| / measured over the held-out rows that have a
    prediction.
    """

    rows: int
    answered: int
    """So many of the rows; the others have no error."""
    mean: float
    noise: Unbounded
    """The standard error of the mean; nan for a single row."""
    median: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """A model fitted to all rows, or the reason why it could not be fitted."""

    model: str
    fitted: Fitted | None = None
    error: HeldOutError | None = None
    """None where the model keeps no held-out rows."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fits:
    """The models that were fitted to one table, with their errors."""

    table: MeasurementTable
    models: tuple[Fit, ...]
    measured_again: float | None
    """The mean error of half of the repetitions as predictions of the other half."""
    interrupted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predicted:
    """The predictions of one fitted model for new rows, with intervals."""

    model: str
    level: float
    rows: Rows
    forecast: Forecast
    notes: tuple[str, ...]


def usual_models(table: MeasurementTable) -> tuple[str, ...]:
    """The names of the models that are fitted by default: pool and influence, and pmnf for tables
    of one to three numeric parameters.
    """
    return tuple(name for name in _USUAL if name in default_models(table))


def fit_all(
    table: MeasurementTable, entered: Sequence[ComparedModel], progress: Progress | None = None
) -> Fits:
    """Fit each model to all rows of the table; InputError where none can be fitted.

    KeyboardInterrupt ends the work with the models fitted so far, once there is one.
    """
    done: list[Fit] = []
    interrupted = False
    try:
        with one_thread():
            for number, item in enumerate(entered):
                if progress is not None:
                    progress("fit", number, len(entered), f"{item.name}, {len(item.table)} rows")
                done.append(_fit(item))
    except KeyboardInterrupt:
        if not any(item.fitted for item in done):
            raise
        interrupted = True
    if progress is not None:
        progress("fit", len(done), len(done))
    if not any(item.fitted for item in done):
        raise InputError(*(_unfitted(item) for item in done))
    again = _repeat_error(table)
    return Fits(table=table, models=tuple(done), measured_again=again, interrupted=interrupted)


def predict(fits: Fits, rows: Rows, level: float) -> Predicted:
    """The predictions of the first of the fitted models for these rows; InputError where it could
    not be fitted.
    """
    first = fits.models[0]
    if first.fitted is None:
        raise InputError(_unfitted(first))
    with one_thread():
        said = first.fitted.predict(rows.inputs, level)
    unsure = rows.differ
    forecast = Forecast(
        median=said.median,
        low=np.where(unsure, 0.0, said.low),
        high=np.where(unsure, np.inf, said.high),
        outside=said.outside | unsure,
    )
    silent = int(np.isnan(said.median).sum())
    notes = [*rows.notes, *(printable(note) for note in said.notes)]
    notes += [f"nothing can be said of {silent} rows"] * bool(silent)
    return Predicted(
        model=first.model, level=level, rows=rows, forecast=forecast, notes=tuple(notes)
    )


def _unfitted(fit: Fit) -> Fault:
    return Fault(where="--models", found=f"{fit.model} could not be fitted: {fit.reason}")


def _fit(contender: ComparedModel) -> Fit:
    try:
        fitted = contender.model.fit(contender.table)
    except InputError as error:
        return Fit(model=contender.name, reason=str(error))
    return Fit(model=contender.name, fitted=fitted, error=_error(fitted, contender.table.response))


def _error(fitted: Fitted, response: Floats) -> HeldOutError | None:
    if not isinstance(fitted, Calibrated):
        return None
    usable = np.isfinite(fitted.held_out) & (fitted.held_out > 0)
    count = int(usable.sum())
    if not count:
        return None
    errors = absolute_percentage_errors(fitted.held_out[usable], response[usable])
    return HeldOutError(
        rows=len(response),
        answered=count,
        mean=float(errors.mean()),
        noise=float(errors.std(ddof=1)) / math.sqrt(count) if count > 1 else math.nan,
        median=float(np.median(errors)),
    )


def _repeat_error(table: MeasurementTable) -> float | None:
    """Mean error of predicting one half of the repeated measurements by the other half, over both
    directions.

    None where no row was measured twice.
    """
    halves = halves_of(table)
    if halves is None:
        return None
    repeated = np.isfinite(halves.early) & np.isfinite(halves.late)
    early, late = halves.early[repeated], halves.late[repeated]
    both = (
        absolute_percentage_errors(early, late),
        absolute_percentage_errors(late, early),
    )
    return float(np.concatenate(both).mean())
