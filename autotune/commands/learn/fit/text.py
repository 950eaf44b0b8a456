"""What ``autotune learn fit`` prints and writes: whole formulas, terms, errors, predictions."""

import csv
import io
import math

from autotune.learning.models.fits import Fit, Fits, HeldOutError, Predicted
from autotune.learning.models.rows_to_predict import ADDED
from autotune.results.report.text_table import columns
from autotune.units import counted


def fits(fits: Fits) -> str:
    """Fitted models as text: a block per model, the noise floor, how the data were treated."""
    table = fits.table
    unit = f" in {table.unit}" if table.unit else ""
    if table.better == "more":
        unit += ", of which more is better,"
    blocks = [f"{table.name}: {table.quantity}{unit} of {counted(len(table), 'row')}"]
    blocks += [_model(model) for model in fits.models]
    if fits.measured_again is not None:
        again = f"{_share(fits.measured_again)} mean error"
        blocks.append(f"measured again: {again} of half of the repetitions predicting the others")
    if table.treated:
        blocks.append("\n".join(f"note: {note}" for note in table.treated))
    return "\n\n".join(blocks)


def _model(fit: Fit) -> str:
    if fit.fitted is None:
        return f"{fit.model}: not fitted: {fit.reason}"
    explained = fit.fitted.explain()
    lines = [f"{fit.model}: {fit.fitted.formula or 'no formula'}"]
    lines.append(f"  cross-validated error: {_error(fit.error)}")
    terms = [
        (term.text, f"{100 * term.influence:.1f} %", _coefficient(term.coefficient))
        for term in explained.terms
        if term.influence > 0
    ]
    if terms:
        lines += [
            "  terms by influence:",
            columns(terms, right=(1, 2), headed=False, indent="    "),
        ]
    return "\n".join([*lines, *(f"  note: {note}" for note in explained.notes)])


def _error(error: HeldOutError | None) -> str:
    if error is None:
        return "not known, for the model keeps no held-out rows (autotune learn compare scores it)"
    noise = "" if math.isnan(error.noise) else f" +- {_share(error.noise)}"
    rows = counted(error.rows, "row")
    if error.answered < error.rows:
        rows = f"{error.answered} of {rows}"
    return f"mean {_share(error.mean)}{noise}, median {_share(error.median)} of {rows}"


def _share(value: float) -> str:
    return f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.0f} %"


def _coefficient(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.5g}"


# --- predictions ----------------------------------------------------------------------------


def table(predicted: Predicted) -> str:
    """CSV text: the columns of the input and four of the prediction.

    Cells without a prediction are empty.
    """
    text = io.StringIO()
    rows, forecast = predicted.rows, predicted.forecast
    writer = csv.writer(text, delimiter=rows.separator, lineterminator="\n")
    writer.writerow([*rows.header, *ADDED])
    for i, cells in enumerate(rows.cells):
        numbers = (forecast.median[i], forecast.low[i], forecast.high[i])
        has_prediction = not math.isnan(forecast.median[i])
        shown = [f"{x:.6g}" if has_prediction else "" for x in numbers]
        writer.writerow([*cells, *shown, "true" if forecast.outside[i] else "false"])
    return text.getvalue()


def summary(predicted: Predicted, unit: str) -> str:
    """A summary of predictions: model, number of rows, rows outside the measured range, notes."""
    outside = int(predicted.forecast.outside.sum())
    count = len(predicted.rows.inputs)
    lines = [
        f"{predicted.model} predicts {counted(count, 'row')}"
        f"{f' in {unit}' if unit else ''}, with {100 * predicted.level:g} % intervals;"
        f" {outside} outside what was measured, of which no interval is sure"
    ]
    return "\n".join([*lines, *(f"note: {note}" for note in predicted.notes)])
