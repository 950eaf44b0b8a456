"""Reads measurements from CSV: a header, a row per measurement, parameters first, the response in
the last column.

A name may state the unit of its times (``time_ms``, ``time [s]``); times are converted to seconds.
Rows with equal parameter values are repetitions. A column ``predicted_s`` holds the predictions of
an analytical model, a column ``status`` the outcome of the run. Commas, semicolons or tabs
separate; where they are no commas, a comma may be the decimal point.

Two kinds of columns are left out, with a note: an index without a name, and columns whose names
differ from the response only in a number or a unit (``wall_time2`` beside ``wall_time``). These
were measured together with the response, so they are not known before a run.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.tables.parameter import Parameter
from autotune.errors import unknown_name
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import UNITS, cell, quantity
from autotune.files.recorded.csv_table import OWN
from autotune.files.tables.cleaning import Record, first_few
from autotune.files.tables.delimited import DelimitedLines, number_of, setting, split
from autotune.files.tables.series import Columns, Series

STATUS, PREDICTED = "status", ("predicted_s", "predicted")


def series(
    text: str,
    faults: Faults,
    response: str | None,
    wanted: Columns,
    domains: Mapping[str, Parameter],
) -> list[Series]:
    """The series of the response; with a variability model one series for each column that is no
    option of it.
    """
    table = split(text, faults, domains)
    roles = _roles(table, faults, response, wanted, domains)
    return [_series(table, roles, name, faults) for name in roles.responses]


def is_own(text: str) -> bool:
    """Whether the text is a table that ``autotune export`` wrote."""
    header = text.lstrip("\ufeff\r\n").split("\n", 1)[0]
    return any(name.strip('" \r').startswith(OWN) for name in header.split(","))


def taken_for(name: str, response: str) -> str:
    """What a column of this name would be read as beside this response; empty where it is read as a
    parameter.

    >>> taken_for("tile", "time_s"), taken_for("time_ms", "time_s")
    ('', 'a twin of the response')
    """
    if name == STATUS:
        return "the status of a run"
    if name in PREDICTED:
        return "an analytical prediction"
    if name.startswith(OWN):
        return "a column of autotune export"
    if not isinstance(cell(name), str):
        return "a number"
    return "a twin of the response" if _alike(name, response) else ""


# --- what the columns are -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Roles:
    """The role of each column: parameter, response, prediction, status or ignored."""

    parameters: tuple[str, ...]
    responses: tuple[str, ...]
    predicted: str | None
    status: str | None
    treated: tuple[str, ...]


def _roles(
    table: DelimitedLines,
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
    """Whether two names are the same except for numbers, unit and separators."""
    return _stem(name) == _stem(response)


def _stem(name: str) -> str:
    return re.sub(r"[\W\d_]+", "", quantity(name)[0].lower())


# --- rows -----------------------------------------------------------------------------------


def _series(table: DelimitedLines, roles: _Roles, response: str, faults: Faults) -> Series:
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
        time = number_of(text, table.decimal_comma)
        said = number_of(row[place[guess]], table.decimal_comma) if guess else None
        records.append(
            Record(
                place=f"line {number}",
                settings={n: setting(row[place[n]], table.decimal_comma) for n in roles.parameters},
                times=(math.nan if time is None else time * factor,),
                predicted=math.nan if said is None or not said > 0 else said * guess_factor,
                found=(text or "empty")[:40] if time is None else "",
            )
        )
    treated = list(roles.treated)
    if failed:
        what = "row that is" if len(failed) == 1 else "rows that are"
        treated.append(f"{len(failed)} {what} not ok left out: {first_few(failed)}")
    if not records:
        raise faults.fail("", "; ".join(treated) or "no rows", "a row that is ok")
    shown = "s" if unit else ""
    return Series(records=records, quantity=name, unit=shown, treated=tuple(treated))
