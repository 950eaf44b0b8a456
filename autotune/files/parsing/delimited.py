"""Splits a table of measurements in CSV into named columns, and interprets its cells.

Commas, semicolons or tabs separate; where they are not commas, a comma may be the decimal point.
Columns without a name, such as an index of the rows, are left out, with a note.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.tables.parameter import Parameter
from autotune.domain.tables.record import Cell
from autotune.errors import unknown_name
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import (
    NumberedLine,
    as_wide_as,
    cell,
    read_lines,
    repeated,
    separator_of,
    to_number,
)

_MISSING = ("", "nan", "null")
_DECIMAL = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")
_MOST_COLUMNS = 10_000


@dataclass(slots=True)
class DelimitedLines:
    """The cells of a file as text, with notes on what was left out."""

    header: list[str]
    rows: list[NumberedLine]
    decimal_comma: bool
    treated: list[str]


def split(text: str, faults: Faults, domains: Mapping[str, Parameter]) -> DelimitedLines:
    """The header and the rows of a text; a fault is added for each line of another length, which is
    left out.

    ``domains``: the options of a variability model; with them, lines may list the chosen options.
    InputError for a text that is no CSV with a header.
    """
    text = text.lstrip("\ufeff")
    first = text.lstrip("\r\n").split("\n", 1)[0]
    listed = bool(domains) and ";" in first and _lists_options(first.split(";"), domains)
    separator = ";" if listed else separator_of(first)
    if first.count(separator) >= _MOST_COLUMNS:
        raise faults.fail("1", f"more than {_MOST_COLUMNS} columns", "a column per parameter")
    lines = read_lines(text, separator, faults)
    if not lines:
        raise faults.fail("", "lines without a value", "a header, and a row per measurement")
    if listed:
        return _listed(lines, domains, faults)
    table = DelimitedLines([name.strip() for name in lines[0][1]], lines[1:], separator != ",", [])
    _unnamed_index(table)
    _check_header(table.header, faults)
    table.rows = as_wide_as(table.header, table.rows, faults)
    return table


def content(text: str, decimal_comma: bool) -> str | int | float | bool:
    """The value of a cell, with the decimal point of its file; its text where it is no number.

    >>> content("0,5", True), content("0,5", False), content("nan", False)
    (0.5, '0,5', 'nan')
    """
    text = text.strip()
    decimal = decimal_comma and _DECIMAL.fullmatch(text) is not None
    return cell(text.replace(",", ".") if decimal else text)


def setting(text: str, decimal_comma: bool) -> Cell:
    """The value of a cell; None for an empty cell and for numbers that are not finite."""
    if text.strip().lower() in _MISSING:
        return None
    value = content(text, decimal_comma)
    return None if isinstance(value, str) and to_number(value) is not None else value


def reads_back(text: str) -> bool:
    """Whether a cell with this text is read as this text, or as a number that prints as
    this text.
    """
    value = setting(text, False)
    return not isinstance(value, bool) and value is not None and str(value) == text


def number_of(text: str, decimal_comma: bool) -> float | None:
    """The finite number in a cell; None where it holds none."""
    value = setting(text, decimal_comma)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _lists_options(line: Sequence[str], domains: Mapping[str, Parameter]) -> bool:
    """Whether a line is of SPL Conqueror's CSV without a header: chosen binary options and the
    measurement.
    """
    listed = all(name.strip() in domains for name in line[:-1])
    return listed and number_of(line[-1], True) is not None


def _listed(
    lines: Sequence[NumberedLine], domains: Mapping[str, Parameter], faults: Faults
) -> DelimitedLines:
    options, rows = list(domains), []
    for number, line in lines:
        chosen = {name.strip() for name in line[:-1] if name.strip()}
        for name in sorted(chosen - set(options)):
            unknown = unknown_name("", "option", name, options)
            faults.add(str(number), unknown.found, unknown.expected, unknown.hint)
        flags = [str(int(name in chosen or name == "root")) for name in options]
        rows.append((number, [*flags, line[-1]]))
    faults.settle()
    return DelimitedLines(
        [*options, "performance"], rows, True, ["no header: each row lists its options"]
    )


def _unnamed_index(table: DelimitedLines) -> None:
    """Remove columns without a name; the first such column usually numbers the rows."""
    width = len(table.header)
    if table.rows and all(len(row) == width + 1 for _, row in table.rows):
        table.header.insert(0, "")
    nameless = [place for place, name in enumerate(table.header) if not name]
    for place in reversed(nameless):
        for row in (table.header, *(row for _, row in table.rows)):
            del row[place : place + 1]
    for place in nameless:
        table.treated.append(f"column {place + 1} has no name: taken as an index and left out")


def _check_header(header: Sequence[str], faults: Faults) -> None:
    if len(header) < 2:
        expected = "parameters, and what was measured in the last column"
        raise faults.fail("1", f"columns: {', '.join(header) or 'none'}", expected)
    if any(not isinstance(cell(name), str) for name in header):
        raise faults.fail("1", "no header", "the names of the columns in the first line")
    again = repeated(header)
    if again:
        raise faults.fail("1", f"two columns named {', '.join(again)}", "each name once")
