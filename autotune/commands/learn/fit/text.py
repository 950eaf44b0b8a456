"""What ``autotune learn fit`` prints and writes: whole formulas, terms, errors, predictions."""

import csv
import io
import math

from autotune.learning.models.fits import Fit, Fits, HeldOutError, Predicted
from autotune.learning.models.rows_to_predict import ADDED
from autotune.results.report.text_table import columns


def fits(found: Fits) -> str:
    """A block for each model, what measuring again scores, what was done to the data."""
    table = found.table
    unit = f" in {table.unit}" if table.unit else ""
    blocks = [f"{table.name}: {table.quantity}{unit} of {len(table)} rows"]
    blocks += [_model(one) for one in found.models]
    if found.measured_again is not None:
        again = f"{_share(found.measured_again)} mean error"
        blocks.append(f"measured again: {again} of half of the repetitions predicting the others")
    if table.treated:
        blocks.append("\n".join(f"note: {note}" for note in table.treated))
    return "\n\n".join(blocks)


def _model(one: Fit) -> str:
    if one.fitted is None:
        return f"{one.model}: not fitted: {one.reason}"
    explained = one.fitted.explain()
    lines = [f"{one.model}: {one.fitted.formula or 'no formula'}"]
    lines.append(f"  cross-validated error: {_error(one.error)}")
    terms = [
        (f"    {term.text}", f"{100 * term.influence:.1f} %", _coefficient(term.coefficient))
        for term in explained.terms
        if term.influence > 0
    ]
    if terms:
        lines += ["  terms by influence:", columns(terms, right=(1, 2))]
    return "\n".join([*lines, *(f"  note: {note}" for note in explained.notes)])


def _error(found: HeldOutError | None) -> str:
    if found is None:
        return "not known, for the model keeps no held-out rows (autotune learn compare scores it)"
    noise = "" if math.isnan(found.noise) else f" +- {_share(found.noise)}"
    rows = str(found.rows)
    if found.answered < found.rows:
        rows = f"{found.answered} of {found.rows}"
    return f"mean {_share(found.mean)}{noise}, median {_share(found.median)} of {rows} rows"


def _share(value: float) -> str:
    return f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.0f} %"


def _coefficient(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.5g}"


# --- predictions ----------------------------------------------------------------------------


def table(found: Predicted) -> str:
    """CSV: the columns that were read, and the four of the prediction; nothing said is empty."""
    text = io.StringIO()
    rows, said = found.rows, found.forecast
    writer = csv.writer(text, delimiter=rows.separator, lineterminator="\n")
    writer.writerow([*rows.header, *ADDED])
    for i, cells in enumerate(rows.cells):
        numbers = (said.median[i], said.low[i], said.high[i])
        known = not math.isnan(said.median[i])
        shown = [f"{x:.6g}" if known else "" for x in numbers]
        writer.writerow([*cells, *shown, "true" if said.outside[i] else "false"])
    return text.getvalue()


def told(found: Predicted, unit: str) -> str:
    """Who predicts what, how many rows lie outside, and what to know of them."""
    outside = int(found.forecast.outside.sum())
    count = len(found.rows.inputs)
    lines = [
        f"{found.model} predicts {count} row{'s' if count > 1 else ''}"
        f"{f' in {unit}' if unit else ''}, with {100 * found.level:g} % intervals;"
        f" {outside} outside what was measured, of which no interval is sure"
    ]
    return "\n".join([*lines, *(f"note: {note}" for note in found.notes)])
