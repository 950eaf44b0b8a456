"""A table of measurements in words: its parameters, their domains, and the response."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from autotune.domain.tables.parameter import Parameter
from autotune.domain.tables.table import MeasurementTable
from autotune.results.report.number_words import seconds
from autotune.results.report.text_table import columns
from autotune.units import counted

_SHOWN = 8
_TABLES = 20


def text(tables: Sequence[MeasurementTable]) -> str:
    """Tables as text: one table in full, several as a line each, with the treatment of the data."""
    return full_table(tables[0]) if len(tables) == 1 else overview(tables)


def full_table(table: MeasurementTable) -> str:
    """One table in full: parameters, domains, rows, response, and how the data were treated."""
    parameters = counted(len(table.parameters), "parameter")
    head = [f"{table.name}: {counted(len(table), 'row')}, {parameters}"]
    head.append(f"  source       {table.source}")
    if table.part:
        head.append(f"  part         {table.part}")
    head.append(f"  response     {response(table)}")
    head.append(f"  repetitions  {repetitions(table)}")
    if table.inputs.analytical is not None:
        head.append(f"  analytical   {analytical(table)}")
    listed = [(parameter.name, parameter.kind, domain(parameter)) for parameter in table.parameters]
    blocks = ["\n".join(head), "parameters:\n" + columns(listed, headed=False, indent="  ")]
    if table.constraints:
        blocks.append("constraints:\n" + "\n".join(f"  {rule}" for rule in table.constraints))
    if table.treated:
        blocks.append("treated:\n" + "\n".join(f"  {note}" for note in table.treated))
    return "\n\n".join(blocks)


def overview(tables: Sequence[MeasurementTable]) -> str:
    """Several tables: a line for each response, and how its data were treated."""
    shown = [
        (table.name, counted(len(table), "row"), response(table)) for table in tables[:_TABLES]
    ]
    more = len(tables) - _TABLES
    lines = [
        f"{tables[0].source}: {len(tables)} responses over {', '.join(tables[0].inputs.names)}",
        columns(shown, right=(1,), headed=False, indent="  "),
    ]
    if more > 0:
        lines.append(f"  and {more} more")
    notes = dict.fromkeys(f"  {table.name}: {note}" for table in tables for note in table.treated)
    if notes:
        lines += ["treated:", *list(notes)[:_TABLES]]
    lines.append("one of them in full: --response NAME")
    return "\n".join(lines)


def response(table: MeasurementTable) -> str:
    """The range of the measured response, as text."""
    low, high = float(table.response.min()), float(table.response.max())
    unit = "" if table.unit in ("", "s") else f" {table.unit}"
    show = seconds if table.unit == "s" else "{:.4g}".format
    doubt = "" if table.unit else " (no unit stated)"
    more = "; more is better" if table.better == "more" else ""
    return f"{table.quantity} from {show(low)} to {show(high)}{unit}{doubt}{more}"


def repetitions(table: MeasurementTable) -> str:
    """How many repetitions a row has and how far apart they are, as text."""
    counts = sorted({len(times) for times in table.repetitions})
    if counts == [1]:
        return "none"
    spread = [max(times) / min(times) - 1 for times in table.repetitions if len(times) > 1]
    many = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    kept = "" if table.statistic == "as given" else f"; the response is their {table.statistic}"
    return f"{many} a row, {100 * float(np.median(spread)):.2g} % apart in the median row{kept}"


def analytical(table: MeasurementTable) -> str:
    """How many rows the analytical model predicts, and its median deviation from them."""
    analytical = table.inputs.analytical
    if analytical is None or np.isnan(analytical).all():
        return "says nothing"
    predicted_rows = ~np.isnan(analytical)
    off = (
        np.abs(analytical[predicted_rows] - table.response[predicted_rows])
        / table.response[predicted_rows]
    )
    count, deviation = int(predicted_rows.sum()), 100 * np.median(off)
    return f"{count} of {counted(len(table), 'row')}, median deviation {deviation:.3g} %"


def domain(parameter: Parameter) -> str:
    """The values of a parameter as short text.

    >>> from autotune.domain.tables.parameter import interval, numeric
    >>> domain(numeric("n", range(1, 101))), domain(interval("x", 0, 2))
    ('1 to 100 by 1 (100 values)', 'any number from 0 to 2')
    """
    values = parameter.values
    if not values:
        return f"any number from {parameter.low:g} to {parameter.high:g}"
    if len(values) <= _SHOWN:
        return ", ".join(map(str, values))
    if not parameter.numeric:
        return ", ".join(map(str, values[:_SHOWN])) + f", ... ({len(values)} values)"
    steps = {float(b) - float(a) for a, b in pairwise(values)}
    evenly = f" by {steps.pop():g}" if len(steps) == 1 else ""
    return f"{values[0]} to {values[-1]}{evenly} ({len(values)} values)"
