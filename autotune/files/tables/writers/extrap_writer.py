"""Writes tables over the same points as the text input of Extra-P."""

from collections.abc import Sequence

from autotune.domain.tables.table import MeasurementTable, Tables
from autotune.errors import Fault, InputError

_MOST_PARAMETERS = 4
"""Extra-P 4 reads no more from text."""


def to_extrap(tables: MeasurementTable | Tables) -> str:
    """The tables as text for Extra-P 4: one region and metric for each table.

    Raises InputError for categorical parameters, more than four parameters, names with blanks, or
    tables of different points.
    """
    every = [tables] if isinstance(tables, MeasurementTable) else list(tables)
    faults = _faults(every)
    if faults:
        raise InputError(*faults)
    first = every[0]
    lines = [f"PARAMETER {parameter.name}" for parameter in first.parameters]
    lines += [f"POINTS ( {' '.join(map(str, row))} )" for row in first.inputs.rows]
    for table in every:
        lines += ["", f"REGION {table.part or table.name}", f"METRIC {table.quantity}"]
        lines += ["DATA " + " ".join(map(repr, times)) for times in table.repetitions]
    return "\n".join(lines) + "\n"


def _faults(tables: Sequence[MeasurementTable]) -> list[Fault]:
    first, faults = tables[0], []
    for parameter in first.parameters:
        if not parameter.numeric:
            text = f"{parameter.name} is categorical"
            faults.append(
                Fault(where="", found=text, expected="numbers: Extra-P has no categories")
            )
        if len(parameter.name.split()) != 1:
            text = f"the name {parameter.name!r}"
            faults.append(Fault(where="", found=text, expected="names without blanks"))
    if len(first.parameters) > _MOST_PARAMETERS:
        text = f"{len(first.parameters)} parameters"
        faults.append(Fault(where="", found=text, expected=f"at most {_MOST_PARAMETERS}"))
    for table in tables[1:]:
        if table.inputs.rows != first.inputs.rows or table.inputs.names != first.inputs.names:
            text = f"{table.name} has other points than {first.name}"
            hint = "write them to files of their own"
            faults.append(Fault(where="", found=text, expected="the same points", hint=hint))
    return faults
