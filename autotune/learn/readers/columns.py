"""CSV: a header, a row per measurement; parameters first, what was measured in the last column.

A name may state the unit of its times (``time_ms``, ``time [s]``); these become seconds. Rows that
repeat the values of another are its repetitions. A column ``predicted_s`` is what an analytical
model says, one named ``status`` what became of the run. Commas, semicolons or tabs separate; where
they are no commas, a comma may be the decimal point.

Left out, and said so: an index that the header does not name or names by nothing, and columns that
are named like the response but for a number or a unit (``wall_time2`` beside ``wall_time``): what
was measured with the response cannot be asked for before the run.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autotune.errors import unknown_name
from autotune.learn.cleaning import Cell, Record
from autotune.learn.parameter import Parameter
from autotune.learn.readers.series import Columns, Series
from autotune.recorded.faults import Faults
from autotune.recorded.t4 import UNITS
from autotune.recorded.table import OWN, cell

STATUS, PREDICTED = "status", ("predicted_s", "predicted")
_MISSING = ("", "nan", "null")
_UNIT = re.compile(r"(.*?)[_ \[(]+([a-zµ]+)[\])]?", re.IGNORECASE)
_DECIMAL = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")
_MOST_ROWS = 2_000_000


def series(
    text: str,
    faults: Faults,
    response: str | None,
    wanted: Columns,
    domains: Mapping[str, Parameter],
) -> list[Series]:
    """The series of the response; with a model one for each column that is no option of it."""
    table = _split(text, faults, domains)
    roles = _roles(table, faults, response, wanted, domains)
    return [_series(table, roles, name, faults) for name in roles.responses]


def is_own(text: str) -> bool:
    """Whether this is a table that ``autotune export`` wrote."""
    header = text.lstrip("\ufeff\r\n").split("\n", 1)[0]
    return any(name.strip('" \r').startswith(OWN) for name in header.split(","))


# --- lines ----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Lines:
    """The cells of a file, as text, and what was left out of them."""

    header: list[str]
    rows: list[tuple[int, list[str]]]
    decimal_comma: bool
    treated: list[str]


def _split(text: str, faults: Faults, domains: Mapping[str, Parameter]) -> _Lines:
    text = text.lstrip("\ufeff")
    first = text.lstrip("\r\n").split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
    lines: list[tuple[int, list[str]]] = []
    try:
        for line in reader:
            if any(line):
                lines.append((reader.line_num, line))
            if len(lines) > _MOST_ROWS:
                raise faults.fail("", f"more than {_MOST_ROWS} rows", "a random part of them")
    except csv.Error as error:
        expected = "values between commas, semicolons or tabs"
        raise faults.fail(str(reader.line_num), f"not CSV: {error}", expected) from error
    if separator == ";" and domains and _lists_options(lines[0][1], domains):
        return _listed(lines, domains, faults)
    header = [name.strip() for name in lines[0][1]]
    table = _Lines(header, lines[1:], separator != ",", [])
    _unnamed_index(table)
    _check_header(table.header, faults)
    _check_widths(table, faults)
    return table


def _lists_options(line: Sequence[str], domains: Mapping[str, Parameter]) -> bool:
    """SPL Conqueror's CSV without a header: chosen binary options, and the measurement."""
    return (
        all(name.strip() in domains for name in line[:-1]) and _number(line[-1], True) is not None
    )


def _listed(
    lines: Sequence[tuple[int, list[str]]], domains: Mapping[str, Parameter], faults: Faults
) -> _Lines:
    options, rows = list(domains), []
    for number, line in lines:
        chosen = {name.strip() for name in line[:-1] if name.strip()}
        for name in sorted(chosen - set(options)):
            unknown = unknown_name("", "option", name, options)
            faults.add(str(number), unknown.found, unknown.expected, unknown.hint)
        flags = [str(int(name in chosen or name == "root")) for name in options]
        rows.append((number, [*flags, line[-1]]))
    faults.settle()
    return _Lines([*options, "performance"], rows, True, ["no header: each row lists its options"])


def _unnamed_index(table: _Lines) -> None:
    """Take away the numbers of rows: a first column that the header does not name."""
    width = len(table.header)
    if table.rows and all(len(row) == width + 1 for _, row in table.rows):
        table.header.insert(0, "")
    while "" in table.header:
        place = table.header.index("")
        table.header.pop(place)
        for _, row in table.rows:
            del row[place : place + 1]
        table.treated.append(f"column {place + 1} has no name: taken as an index and left out")


def _check_header(header: Sequence[str], faults: Faults) -> None:
    if len(header) < 2:
        expected = "parameters, and what was measured in the last column"
        raise faults.fail("1", f"columns: {', '.join(header) or 'none'}", expected)
    if any(not isinstance(cell(name), str) for name in header):
        raise faults.fail("1", "no header", "the names of the columns in the first line")
    again = sorted({name for name in header if header.count(name) > 1})
    if again:
        raise faults.fail("1", f"two columns named {', '.join(again)}", "each name once")


def _check_widths(table: _Lines, faults: Faults) -> None:
    width = len(table.header)
    for number, row in table.rows:
        if len(row) != width:
            expected = f"{width}, as the header"
            faults.add(str(number), f"{len(row)} values", expected, "cut off?")
    faults.settle()
    if not table.rows:
        raise faults.fail("", "no rows", "at least one measurement")


# --- what the columns are -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Roles:
    """What each column is."""

    parameters: tuple[str, ...]
    responses: tuple[str, ...]
    predicted: str | None
    status: str | None
    treated: tuple[str, ...]


def _roles(
    table: _Lines,
    faults: Faults,
    response: str | None,
    wanted: Columns,
    domains: Mapping[str, Parameter],
) -> _Roles:
    header = table.header
    for name in (*wanted.without, *([wanted.analytical] if wanted.analytical else [])):
        _require(name, header, faults)
    free = [name for name in header if name not in wanted.without]
    status = STATUS if STATUS in free and STATUS not in domains else None
    predicted = wanted.analytical or next((n for n in PREDICTED if n in free), None)
    free = [name for name in free if name not in (status, predicted)]
    if not free:
        raise faults.fail("1", "no column is left", "parameters and what was measured")
    responses = _responses(free, faults, response, domains)
    treated = list(table.treated)
    if wanted.without:
        treated.append(f"left out as asked: {', '.join(wanted.without)}")
    twins = [n for n in free if n not in responses and any(_alike(n, r) for r in responses)]
    if twins:
        shown = ", ".join(twins)
        treated.append(f"{shown}: named like the response {responses[0]}, so left out")
    dropped = {*responses, *twins}
    others = [n for n in free if n not in dropped and domains and n not in domains]
    if others:
        treated.append(f"{', '.join(others)}: no option of the model, so left out")
    parameters = tuple(n for n in free if n not in dropped and n not in others)
    if not parameters:
        raise faults.fail("1", "no column is a parameter", "at least one beside the response")
    return _Roles(
        parameters=parameters,
        responses=tuple(responses),
        predicted=predicted,
        status=status,
        treated=tuple(treated),
    )


def _require(name: str, header: Sequence[str], faults: Faults) -> None:
    if name not in header:
        unknown = unknown_name("", "column", name, header)
        raise faults.fail("1", unknown.found, unknown.expected, unknown.hint)


def _responses(
    free: Sequence[str], faults: Faults, response: str | None, domains: Mapping[str, Parameter]
) -> list[str]:
    if response is not None:
        named = [name for name in free if response in (name, quantity(name)[0])]
        if not named:
            _require(response, free, faults)
        return named[:1]
    measured = [name for name in free if domains and name not in domains]
    return measured or [free[-1]]


def _alike(name: str, response: str) -> bool:
    """The same name but for numbers, unit and separators."""
    return _stem(name) == _stem(response)


def _stem(name: str) -> str:
    return re.sub(r"[\W\d_]+", "", quantity(name)[0].lower())


def quantity(title: str) -> tuple[str, str]:
    """What a title names, and its unit of time; empty where it states none.

    >>> quantity("time_ms"), quantity("Time [s]"), quantity("performance")
    (('time', 'ms'), ('Time', 's'), ('performance', ''))
    """
    match = _UNIT.fullmatch(title)
    if match is None or match.group(2).lower() not in UNITS:
        return title, ""
    return match.group(1).strip() or "time", match.group(2).lower()


# --- rows -----------------------------------------------------------------------------------


def _series(table: _Lines, roles: _Roles, response: str, faults: Faults) -> Series:
    name, unit = quantity(response)
    factor = UNITS[unit] if unit else 1.0
    place = {column: i for i, column in enumerate(table.header)}
    records, failed = [], []
    guess = roles.predicted
    guess_factor = UNITS.get(quantity(guess)[1], factor) if guess and unit else 1.0
    for number, row in table.rows:
        status = row[place[roles.status]].strip() if roles.status else "ok"
        if status not in ("ok", ""):
            failed.append(f"line {number} ({status})")
            continue
        text = row[place[response]].strip()
        time = _number(text, table.decimal_comma)
        said = _number(row[place[guess]], table.decimal_comma) if guess else None
        records.append(
            Record(
                place=f"line {number}",
                settings={n: _cell(row[place[n]], table.decimal_comma) for n in roles.parameters},
                times=(math.nan if time is None else time * factor,),
                predicted=math.nan if said is None or not said > 0 else said * guess_factor,
                found=(text or "empty")[:40] if time is None else "",
            )
        )
    treated = [*roles.treated, *_failures(failed)]
    if not records:
        raise faults.fail("", "; ".join(treated) or "no rows", "a row that is ok")
    shown = "s" if unit else ""
    return Series(records=records, quantity=name, unit=shown, treated=tuple(treated))


def _failures(failed: Sequence[str]) -> Iterable[str]:
    if failed:
        more = f" and {len(failed) - 3} more" if len(failed) > 3 else ""
        yield f"{len(failed)} rows that are not ok left out: {', '.join(failed[:3])}{more}"


def _cell(text: str, decimal_comma: bool) -> Cell:
    text = text.strip()
    if text.lower() in _MISSING:
        return None
    if decimal_comma and _DECIMAL.fullmatch(text):
        text = text.replace(",", ".")
    return cell(text)


def _number(text: str, decimal_comma: bool) -> float | None:
    value = _cell(text, decimal_comma)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
