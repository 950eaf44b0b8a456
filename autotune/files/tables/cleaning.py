"""Cleans the records of a file into a table that models can use; notes say what was done.

Left out: rows whose time is missing, not finite, zero or negative; rows with a missing value.
Merged: rows with the same values; their times are repetitions of one row. Set aside: columns of a
single value. A column that holds any text is categorical, including its numbers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from autotune.domain.tables.parameter import Parameter, Value, categorical, is_number, numeric
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.domain.tables.record import Cell, Heading, Record
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.errors import Fault, InputError, unknown_name
from autotune.files.parsing.faults import printable
from autotune.files.tables.merging import inputs, merged

__all__ = ["Cell", "Heading", "Record", "assemble", "first_few"]

_SHOWN = 3


def assemble(
    records: Sequence[Record], heading: Heading, treated: Sequence[str] = ()
) -> MeasurementTable:
    """The table made of records; its notes are ``treated`` and then what was done here.

    Raises InputError where rows set different parameters, no row can be used, or nothing varies.
    """
    notes = list(treated)
    names = _names(records, heading)
    _check_categories(names, heading)
    usable = _complete(_timed(records, notes), names, notes)
    if not usable:
        found = "; ".join(notes) or "no rows"
        expected = f"a row with all its values and a positive {heading.quantity}"
        raise InputError(Fault(where=heading.where, found=found, expected=expected))
    columns = {name: _column(name, usable, heading, notes) for name in names}
    parameters, constants = _parameters(columns, heading, notes)
    if not parameters:
        found = "; ".join([*notes, "the same values in every row"])
        expected = "a parameter that varies"
        raise InputError(Fault(where=heading.where, found=found, expected=expected))
    rows = list(zip(*(columns[parameter.name] for parameter in parameters), strict=True))
    entries = merged(rows, usable, heading, notes)
    found_inputs = inputs(parameters, entries)
    constraints = _checked(found_inputs, constants, heading, notes)
    return MeasurementTable(
        name=heading.name,
        inputs=found_inputs,
        response=np.array([entry.response for entry in entries.values()], dtype=np.float64),
        repetitions=tuple(entry.times for entry in entries.values()),
        quantity=heading.quantity,
        unit=heading.unit,
        better=heading.better,
        source=heading.source,
        constraints=constraints,
        treated=tuple(printable(note, len(note)) for note in notes),
        constants=tuple(constants.items()),
        statistic=heading.statistic,
        part=heading.part,
    )


# --- rows -----------------------------------------------------------------------------------


def _names(records: Sequence[Record], heading: Heading) -> list[str]:
    """The names of the parameters, which every row must set; InputError where one does not."""
    names = list(records[0].settings) if records else []
    for record in records:
        if record.settings.keys() == records[0].settings.keys():
            continue
        missing = [name for name in names if name not in record.settings]
        extra = [name for name in record.settings if name not in names]
        if missing or extra:
            found = f"no {', '.join(missing)}" if missing else f"also {', '.join(extra)}"
            expected = f"the parameters of the first row: {', '.join(names) or 'none'}"
            where = f"{heading.where}: {record.place}"
            raise InputError(Fault(where=where, found=found, expected=expected))
    for name in names:
        _check_text(name, "a name", heading)
    return names


def _check_text(text: str, what: str, heading: Heading) -> None:
    """Raise InputError for control characters, which a terminal would obey."""
    if printable(text, len(text)) != text:
        found = f"{what} with control characters: {printable(text)}"
        raise InputError(Fault(where=heading.where, found=found, expected="text without them"))


def _check_categories(names: Sequence[str], heading: Heading) -> None:
    for name in heading.categories:
        if name not in names:
            unknown = unknown_name(heading.where, "parameter", name, names)
            raise InputError(unknown)
        if name in heading.domains:
            found = f"{name} is asked to be categorical"
            expected = "what the variability model says of it"
            raise InputError(Fault(where=heading.where, found=found, expected=expected))


def _timed(records: Sequence[Record], notes: list[str]) -> list[Record]:
    """The records that have a positive, finite time, each with only its times of this kind."""
    kept, dropped, thinned = [], [], []
    for record in records:
        good = tuple(float(time) for time in record.times if _usable_time(time))
        if not good:
            shown = record.found or ", ".join(f"{time:g}" for time in record.times) or "none"
            dropped.append(f"{record.place} ({shown})")
            continue
        if len(good) < len(record.times):
            thinned.append(record.place)
        kept.append(replace(record, times=good))
    if dropped:
        notes.append(
            f"{_rows(dropped)} without a positive, finite time left out: {first_few(dropped)}"
        )
    if thinned:
        of = f"of {_rows(thinned)}" if len(thinned) > 1 else "of a row"
        notes.append(
            f"repetitions {of} that are not positive and finite left out: {first_few(thinned)}"
        )
    return kept


def _usable_time(time: float) -> bool:
    """Whether a time is a positive, finite number, and so is its square."""
    return time > 0 and 0 < time * time < math.inf


def _complete(records: Sequence[Record], names: Sequence[str], notes: list[str]) -> list[Record]:
    """The records that have a value for every parameter."""
    kept, dropped = [], []
    for record in records:
        empty = [name for name in names if _missing(record.settings[name])]
        if empty:
            dropped.append(f"{record.place} ({', '.join(empty)})")
        else:
            kept.append(record)
    if dropped:
        notes.append(f"{_rows(dropped)} with a missing value left out: {first_few(dropped)}")
    return kept


def _missing(cell: Cell) -> bool:
    return cell is None or not (isinstance(cell, str | bool) or is_number(cell))


def _rows(places: Sequence[str]) -> str:
    return "1 row" if len(places) == 1 else f"{len(places)} rows"


def first_few(places: Sequence[str]) -> str:
    """The first of some places as text, and the number of the others."""
    more = len(places) - _SHOWN
    return ", ".join(places[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


# --- columns --------------------------------------------------------------------------------


def _column(
    name: str, records: Sequence[Record], heading: Heading, notes: list[str]
) -> list[Value]:
    """The values of a column: all as numbers, or all as text."""
    raw = [record.settings[name] for record in records]
    plain = {cell: _plain(cell) for cell in set(raw)}
    cells = [plain[cell] for cell in raw]
    texts = [cell for cell in cells if isinstance(cell, str)]
    for text in set(texts):
        _check_text(text, f"a value of {name}", heading)
    domain = heading.domains.get(name)
    if name in heading.categories:
        return [str(cell) for cell in cells]
    if not texts and (domain is None or domain.numeric):
        return cells
    if domain is not None and domain.numeric:
        found = f"{name} is {printable(texts[0])!r}"
        expected = "a number, as the model says"
        raise InputError(Fault(where=heading.where, found=found, expected=expected))
    if len(texts) < len(cells) and domain is None:
        example = next(cell for cell in cells if not isinstance(cell, str))
        notes.append(
            f"{name} holds numbers ({example}) and text ({printable(texts[0])!r}):"
            " taken as categorical"
        )
    return [str(cell) for cell in cells]


def _plain(cell: Cell) -> Value:
    """A cell in a single form: truth values and whole numbers become integers, so 50.0
    equals 50.
    """
    if isinstance(cell, str):
        return cell
    number = cell or 0
    return int(number) if isinstance(number, bool) or float(number).is_integer() else number


def _parameters(
    columns: Mapping[str, Sequence[Value]], heading: Heading, notes: list[str]
) -> tuple[list[Parameter], dict[str, Value]]:
    """The parameters that vary, and the values of columns that do not."""
    parameters: list[Parameter] = []
    constants: dict[str, Value] = {}
    for name, values in columns.items():
        domain = heading.domains.get(name)
        if len(set(values)) == 1 and (domain is None or domain.constant):
            constants[name] = values[0]
            continue
        parameters.append(domain if domain is not None else _observed(name, values))
        if domain is not None and len(set(values)) == 1:
            notes.append(f"{name} is {values[0]} in every row: nothing can be learnt about it")
        if domain is not None:
            _check_domain(domain, values, notes)
    if constants:
        shown = ", ".join(f"{name} = {value}" for name, value in constants.items())
        notes.append(f"the same in every row, so no parameter: {shown}")
    return parameters, constants


def _observed(name: str, values: Sequence[Value]) -> Parameter:
    """The parameter whose domain is the set of values in the rows."""
    numbers = [value for value in values if not isinstance(value, str)]
    return numeric(name, numbers) if numbers else categorical(name, [str(v) for v in values])


def _check_domain(parameter: Parameter, values: Sequence[Value], notes: list[str]) -> None:
    inside = set(parameter.values)
    outside = sorted(
        str(value)
        for value in set(values)
        if (value not in inside if inside else value not in parameter)
    )
    if outside:
        notes.append(f"{parameter.name}: not in the domain of the model: {first_few(outside)}")


# --- constraints ---------------------------------------------------------------------------


def _checked(
    inputs: ParameterRows, constants: Mapping[str, Value], heading: Heading, notes: list[str]
) -> tuple[ParameterConstraint, ...]:
    """The constraints that are about varying parameters; a note says how many rows break one."""
    kept = []
    for constraint in (c.fix(constants) for c in heading.constraints):
        try:
            broken = sum(not constraint.holds(inputs.values(i)) for i in range(len(inputs)))
        except ValueError as error:
            found = f"constraint {constraint}: {error}"
            raise InputError(Fault(where=heading.where, found=found)) from error
        if broken:
            what = "1 row breaks" if broken == 1 else f"{broken} rows break"
            notes.append(f"{what} the constraint {constraint}; kept")
        if constraint.names:
            kept.append(constraint)
    return tuple(kept)
