"""Reads rows to predict from a CSV that has the parameters of a table as columns.

Other columns are kept. A missing value, or a text where the table has numbers, is an error that
names the line. A category that was not measured is left for the model to judge. A column that was
constant in the table may be missing. Where it has another value, its effect was not learned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autotune.domain.tables.parameter import Parameter, Value, is_number
from autotune.domain.tables.table import Floats, MeasurementTable, ParameterRows
from autotune.errors import nearest
from autotune.files.parsing import text_content
from autotune.files.parsing.column_roles import PREDICTED
from autotune.files.parsing.delimited import number_of, setting
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import (
    UNITS,
    as_wide_as,
    quantity,
    read_lines,
    repeated,
    separator_of,
)
from autotune.files.tables.read_table import LARGEST
from autotune.learning.formulas.base import Formula
from autotune.learning.models.base import Bools
from autotune.learning.models.formula_predictions import predictions

ADDED = ("median", "low", "high", "outside")
"""The columns that predictions are written to."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """The rows of a CSV, as the cells of the file and as inputs of a model."""

    source: str
    separator: str
    header: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    inputs: ParameterRows
    differ: Bools
    """(n,) where a column that never varied in the table has another value."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    """A CSV as text. ``lines``: the line number at which each row ends."""

    separator: str
    header: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def column(self, name: str) -> list[str]:
        """The cells of a column, (n,)."""
        place = self.header.index(name)
        return [row[place] for row in self.cells]

    @property
    def decimal_comma(self) -> bool:
        """Whether a comma may be the decimal point in this file."""
        return self.separator != ","


def read_rows(
    path: Path,
    table: MeasurementTable,
    *,
    analytical: str | None = None,
    formula: Formula | None = None,
) -> Rows:
    """The rows of a CSV as inputs like those of the table.

    ``analytical``: the name of the column with analytical predictions. By default the usual names
    are tried, or the ``formula`` is evaluated. Raises InputError for a column that is missing or
    doubled, for a column that has the name of a prediction, and for every value that cannot be
    used, with its line.
    """
    faults = Faults(str(path))
    sheet = _sheet(text_content.text(path, faults, "CSV", LARGEST), faults)
    _check_header(sheet.header, table, faults)
    columns = [_values(sheet, parameter, faults) for parameter in table.parameters]
    faults.settle()
    inputs = ParameterRows(parameters=table.parameters, rows=tuple(zip(*columns, strict=True)))
    notes: list[str] = []
    if table.inputs.analytical is not None:
        said = (
            predictions(formula, inputs)
            if formula is not None
            else _analytical_column(sheet, table, analytical, faults, notes)
        )
        inputs = ParameterRows(parameters=inputs.parameters, rows=inputs.rows, analytical=said)
    return Rows(
        source=str(path),
        separator=sheet.separator,
        header=sheet.header,
        cells=sheet.cells,
        inputs=inputs,
        differ=_differ(sheet, dict(table.constants), notes),
        notes=tuple(notes),
    )


def _sheet(text: str, faults: Faults) -> _Sheet:
    text = text.lstrip("\ufeff\r\n")
    separator = separator_of(text.split("\n", 1)[0])
    numbered = read_lines(text, separator, faults, empty_rows=True)
    if len(numbered) < 2:
        raise faults.fail("", "no rows", "a header, and a row for each prediction")
    header = tuple(name.strip() for name in numbered[0][1])
    as_wide_as(header, numbered[1:], faults)
    faults.settle()
    return _Sheet(
        separator=separator,
        header=header,
        cells=tuple(tuple(row) for _, row in numbered[1:]),
        lines=tuple(number for number, _ in numbered[1:]),
    )


def _check_header(header: Sequence[str], table: MeasurementTable, faults: Faults) -> None:
    for name in (p.name for p in table.parameters if p.name not in header):
        faults.add("1", f"no column {name}", "every parameter as a column", nearest(name, header))
    again = repeated(header)
    if again:
        faults.add("1", f"two columns named {', '.join(again)}", "each name once")
    taken = [name for name in ADDED if name in header]
    if taken:
        faults.add("1", f"columns named {', '.join(taken)}", "other names: predictions have these")
    faults.settle()


def _values(sheet: _Sheet, parameter: Parameter, faults: Faults) -> list[Value]:
    """The values of the column of a parameter, with the types of the table; values that cannot be
    used become faults.
    """
    values: list[Value] = []
    for line, text in zip(sheet.lines, sheet.column(parameter.name), strict=True):
        value = _plain(text, sheet)
        if value is None or (parameter.numeric and not is_number(value)):
            expected = "a finite number" if parameter.numeric else "a category"
            faults.add(str(line), f"{parameter.name} is {text.strip() or 'empty'!r}", expected)
        else:
            values.append(value if parameter.numeric else str(value))
    return values


def _plain(text: str, sheet: _Sheet) -> Value | None:
    """A cell as a value of a table: truth values and whole numbers become integers; None for an
    empty cell.
    """
    value = setting(text, sheet.decimal_comma)
    if value is None or isinstance(value, str):
        return value
    return int(value) if float(value).is_integer() else value


def _differ(sheet: _Sheet, constants: Mapping[str, Value], notes: list[str]) -> Bools:
    different = np.zeros(len(sheet.cells), dtype=bool)
    for name, value in constants.items():
        if name in sheet.header:
            other = [str(_plain(text, sheet)) != str(value) for text in sheet.column(name)]
            different |= np.array(other)
            if any(other):
                notes.append(
                    f"{name} was {value} in every row learned from: nothing is known of others"
                    f" ({sum(other)} rows)"
                )
    return different


def _analytical_column(
    sheet: _Sheet, table: MeasurementTable, analytical: str | None, faults: Faults, notes: list[str]
) -> Floats | None:
    """(n,) the analytical predictions in the unit of the table; None where the sheet has no such
    column.
    """
    wanted = (analytical,) if analytical else PREDICTED
    quantities = {quantity(name)[0] for name in wanted}
    name = next((n for n in sheet.header if n in wanted or quantity(n)[0] in quantities), None)
    if name is None:
        notes.append(f"no column {wanted[0]}: predicted without the analytical model")
        return None
    factor = 1.0
    if table.unit == "s":
        unit = quantity(name)[1]
        if not unit:
            raise faults.fail("1", f"{name} states no unit", f"a name like {name}_s or {name}_ms")
        factor = UNITS[unit]
    numbers = [number_of(text, sheet.decimal_comma) for text in sheet.column(name)]
    predicted = factor * np.array([x if x is not None and x > 0 else np.nan for x in numbers])
    return np.where(np.isfinite(predicted), predicted, np.nan)
