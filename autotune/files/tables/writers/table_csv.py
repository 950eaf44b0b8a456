"""Writes a table as CSV: its parameters, the analytical predictions, the measurements."""

import csv
import io
import math
import unicodedata

from autotune.domain.tables.table import MeasurementTable
from autotune.errors import Fault, InputError
from autotune.files.parsing.column_roles import taken_for, unit_of
from autotune.files.parsing.delimited import reads_back
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import separator_of
from autotune.files.tables.format_of_text import detect


def to_csv(table: MeasurementTable) -> str:
    """The table as text: a line for each repetition, with the response in the last column.

    Columns of a single value follow the parameters. The title of the response has the unit
    (``time_s``, ``rate [MB/s]``). ``autotune.files.tables.read`` reads the same rows and
    repetitions back; the domains are then the values that occur. A response that is not the mean of
    its repetitions is written in their place. Categories that all look like numbers become numbers
    unless the reader is told otherwise (``--categorical``).

    Raises InputError for names and categories that would be read as something else: ``status``,
    ``nan``.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [parameter.name for parameter in table.parameters]
    constants = dict(table.constants)
    guesses = table.inputs.analytical
    title = f"{table.quantity}_{table.unit}" if table.unit == "s" else table.metric.title
    said = ["predicted_s" if table.unit == "s" else "predicted"] if guesses is not None else []
    writer.writerow([*names, *constants, *said, title])
    faults = _faults(table, title, text.getvalue())
    if faults:
        raise InputError(*faults)
    for i, row in enumerate(table.inputs.rows):
        guess = (
            [] if guesses is None else ["" if math.isnan(guesses[i]) else repr(float(guesses[i]))]
        )
        times = table.repetitions[i]
        if table.statistic == "as given":
            times = (float(table.response[i]),)
        for time in times:
            writer.writerow([*row, *constants.values(), *guess, repr(time)])
    return text.getvalue()


def _faults(table: MeasurementTable, title: str, header: str) -> list[Fault]:
    """The names and values that a reader of this text would read as something else, as faults."""
    faults = []
    constants = dict(table.constants)
    name, unit = unit_of(title)
    if unit and (name, unit) != (table.quantity, table.unit):
        what = f"response {title!r}, which reads as {name} in {unit}"
        faults.append(Fault(where=table.name, found=what, expected="another name"))
    values = {p.name: p.values for p in table.parameters if not p.numeric}
    values |= {name: (value,) for name, value in constants.items() if isinstance(value, str)}
    for name in (*table.inputs.names, *constants):
        meaning = taken_for(name, title) or ("" if _plain(name) else "another name")
        if meaning:
            what = f"parameter {name!r}, which reads as {meaning}"
            faults.append(Fault(where=table.name, found=what, expected="another name"))
        for value in values.get(name, ()):
            if not (_plain(str(value)) and reads_back(str(value))):
                what = f"{name} = {value!r}, which reads as another value or as none"
                faults.append(Fault(where=table.name, found=what, expected="another text"))
    if detect(header, Faults(table.name)) != "csv":
        what = f"the first name, {table.inputs.names[0]!r}, which begins another format"
        faults.append(Fault(where=table.name, found=what, expected="another name"))
    if separator_of(header) != ",":
        what = "names with semicolons or tabs"
        faults.append(Fault(where=table.name, found=what, expected="fewer than the commas"))
    return faults


def _plain(text: str) -> bool:
    """Whether a cell with this text is read back unchanged; surrounding blanks and control
    characters are lost.
    """
    control = any(unicodedata.category(character) in ("Cc", "Cs") for character in text)
    return text.strip() == text and not control and not text.startswith("\ufeff")
