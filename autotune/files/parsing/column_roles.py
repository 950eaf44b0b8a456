"""What each column of measurements in CSV is: a parameter, the response, a prediction or the
status of the runs; and the cells of each row by these roles.

The response is the last column that is neither status nor prediction, unless another is named. A
name may state the unit of its times (``time_ms``, ``time [s]``); times are converted to seconds. A
column ``predicted_s`` or ``predicted`` holds the predictions of an analytical model, a column
``status`` the outcome of the run.

Columns whose names differ from the response only in a number or a unit (``wall_time2`` beside
``wall_time``) are left out, with a note. These were measured together with the response, so they
are not known before a run.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.metric import Metric
from autotune.domain.tables.parameter import Parameter
from autotune.errors import unknown_name
from autotune.files.parsing.delimited import DelimitedLines, number_of
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import (
    UNITS,
    cell,
    quantity,
    separator_of,
    stated_unit,
)

STATUS = "status"
PREDICTED = ("predicted_s", "predicted")
"""The usual names of predictions; any other unit of time may end the name as well."""
EXPORTED = "parameter:"
"""What the names of parameters begin with in a table that ``autotune export`` wrote."""
METRIC = "metric:"
"""What the names of metrics of a program begin with in such a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRoles:
    """The role of each column; a column without a role is left out.

    ``parameters``: the name of each parameter to the title of its column.
    """

    parameters: Mapping[str, str]
    responses: tuple[str, ...]
    predicted: str | None
    status: str | None
    treated: tuple[str, ...] = ()
    """Notes on columns that were left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCells:
    """The cells of one row by their roles.

    ``time`` and ``predicted`` are in seconds where the title of the response states a unit; None
    where the cell, ``time_text`` or ``predicted_text``, holds no finite number.
    """

    line: int
    settings: Mapping[str, str]
    status: str
    """``ok`` where there is no column of this role, and where its cell is empty."""
    time_text: str
    time: float | None
    predicted_text: str
    predicted: float | None


def roles_of(
    table: DelimitedLines,
    faults: Faults,
    *,
    response: str | None = None,
    without: Sequence[str] = (),
    analytical: str | None = None,
    domains: Mapping[str, Parameter] | None = None,
) -> ColumnRoles:
    """The role of each column of a table; InputError for names that are no columns, and where no
    parameter is left.

    ``response``: its title, with or without the unit. ``without``: columns to leave out.
    ``analytical``: the column of predictions. ``domains``: the options of a variability model; with
    them, every other column is a response.
    """
    options = domains or {}
    header = table.header
    for name in (*without, *([analytical] if analytical else [])):
        _require(name, header, faults)
    free = [name for name in header if name not in without]
    status = STATUS if STATUS in free and STATUS not in options else None
    predicted = analytical or _prediction([n for n in free if n != response])
    free = [name for name in free if name not in (status, predicted)]
    if not free:
        raise faults.fail("1", "no column is left", "parameters and what was measured")
    responses = _responses(free, faults, response, options)
    treated = [f"left out as asked: {', '.join(without)}"] if without else []
    twins = [n for n in free if n not in responses and any(_alike(n, r) for r in responses)]
    if twins:
        shown = ", ".join(twins)
        treated.append(f"{shown}: named like the response {responses[0]}, so left out")
    dropped = {*responses, *twins}
    others = [n for n in free if n not in dropped and options and n not in options]
    if others:
        treated.append(f"{', '.join(others)}: no option of the model, so left out")
    parameters = {n: n for n in free if n not in dropped and n not in others}
    if not parameters:
        raise faults.fail("1", "no column is a parameter", "at least one beside the response")
    return ColumnRoles(
        parameters=parameters,
        responses=tuple(responses),
        predicted=predicted,
        status=status,
        treated=tuple(treated),
    )


def cells_of(table: DelimitedLines, roles: ColumnRoles, response: str) -> Iterator[MeasuredCells]:
    """The cells of each row by their roles; ``response`` is the column that holds the times."""
    place = {title: i for i, title in enumerate(table.header)}
    unit = unit_of(response)[1]
    factor = UNITS[unit] if unit else 1.0
    guess = roles.predicted
    guess_factor = UNITS.get(quantity(guess)[1], factor) if guess and unit else 1.0
    for line, row in table.rows:
        text = row[place[response]].strip()
        guess_text = row[place[guess]].strip() if guess else ""
        time = number_of(text, table.decimal_comma)
        predicted = number_of(guess_text, table.decimal_comma)
        yield MeasuredCells(
            line=line,
            settings={name: row[place[title]] for name, title in roles.parameters.items()},
            status=(row[place[roles.status]].strip() if roles.status else "") or "ok",
            time_text=text,
            time=None if time is None else time * factor,
            predicted_text=guess_text,
            predicted=None if predicted is None else predicted * guess_factor,
        )


def unit_of(response: str) -> tuple[str, str]:
    """The name of a response, and the unit of time that its title states; the unit is empty where
    there is none.

    >>> unit_of("time_ms"), unit_of("ms"), unit_of("performance")
    (('time', 'ms'), ('time', 'ms'), ('performance', ''))
    """
    if response.startswith(METRIC):
        return response, ""
    name, unit = quantity(response)
    return ("time", name.lower()) if not unit and name.lower() in UNITS else (name, unit)


def metric_of(title: str) -> Metric:
    """The metric of a response that is not a time: its name, and the unit in brackets behind it.

    >>> metric_of("metric:latency [ms]"), metric_of("rate")
    (Metric(name='latency', unit='ms', better='less'), Metric(name='rate', unit='', better='less'))
    """
    return Metric(*stated_unit(title.removeprefix(METRIC)))


def is_exported(text: str) -> bool:
    """Whether the text is a table that ``autotune export`` wrote."""
    header = text.lstrip("\ufeff\r\n").split("\n", 1)[0]
    names = header.split(separator_of(header))
    return any(name.strip('" \r').startswith(EXPORTED) for name in names)


def taken_for(name: str, response: str) -> str:
    """What a column of this name would be read as beside this response; empty where it is read as a
    parameter.

    >>> taken_for("tile", "time_s"), taken_for("time_ms", "time_s")
    ('', 'a twin of the response')
    """
    if name == STATUS:
        return "the status of a run"
    if _prediction([name]):
        return "an analytical prediction"
    if name.startswith(EXPORTED):
        return "a column of autotune export"
    if not isinstance(cell(name), str):
        return "a number"
    return "a twin of the response" if _alike(name, response) else ""


def _prediction(names: Sequence[str]) -> str | None:
    """The column of predictions among these names: a usual name, else one with another unit."""
    usual = next((name for name in PREDICTED if name in names), None)
    return usual or next((name for name in names if quantity(name)[0] in PREDICTED), None)


def _require(name: str, header: Sequence[str], faults: Faults) -> None:
    if name not in header:
        unknown = unknown_name("", "column", name, header)
        raise faults.fail("1", unknown.found, unknown.expected, unknown.hint)


def _responses(
    free: Sequence[str], faults: Faults, response: str | None, options: Mapping[str, Parameter]
) -> list[str]:
    if response is not None:
        named = [
            name for name in free if response in (name, unit_of(name)[0], metric_of(name).name)
        ]
        if not named:
            _require(response, free, faults)
        return named[:1]
    measured = [name for name in free if options and name not in options]
    return measured or [free[-1]]


def _alike(name: str, response: str) -> bool:
    """Whether two names are the same except for numbers, unit and separators."""
    return _stem(name) == _stem(response)


def _stem(name: str) -> str:
    return re.sub(r"[\W\d_]+", "", quantity(name)[0].lower())
