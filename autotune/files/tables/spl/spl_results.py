"""Reads measurements of SPL Conqueror: XML, and CSV with semicolons.

    <results> <row>
      <data columname="Configuration"> binary options between commas, those that are chosen
      <data columname="Variable Features"> or "NumericOptions": name;value between commas
      <data columname="Performance"> a number, or several; each other column is a property too

``columname`` is the spelling of the format; ``column`` and ``columnname`` are read as well. Where a
row has an attribute that is ``true``, it holds several measurements. The attributes ``separator``
and ``decimalDelimiter`` of results then say how they are written. -1 means a failed measurement.

Source: SPL Conqueror's ConfigurationReader.
"""

import math
import re
from collections.abc import Mapping

from autotune.domain.tables.parameter import Parameter, Value
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import cell, to_number
from autotune.files.parsing.xml_tree import Element, parse
from autotune.files.tables.cleaning import Cell, Record
from autotune.files.tables.series import Series

_BINARY = ("configuration", "binaryoptions")
_NUMERIC = ("variable features", "numericoptions")
_OTHER = (
    "configid", "compileroptions", "configfileoptions", "parameteroptions", "programname",
    "startupbegin", "startupend",
)  # fmt: skip
"""Columns that the format defines and that are neither options nor properties."""


def series(text: str, faults: Faults, domains: Mapping[str, Parameter]) -> list[Series]:
    """One series for each property. ``domains``: the options of a variability model, or none."""
    rows: list[Element] = []
    root = parse(text, faults, {"row": rows.append})
    if root.tag != "results":
        hint = "a variability model goes beside the measurements" if root.tag == "vm" else ""
        raise faults.fail(str(root.line), f"<{root.tag}>", "<results> with measurements", hint)
    reading = _Reading(root, faults)
    for row in rows:
        reading.row(row)
    faults.settle()
    return reading.series(domains)


_Measured = tuple[tuple[float, ...], str]
"""Times, and the text of those that are no numbers."""


class _Reading:
    """The rows of a file, collected one by one."""

    def __init__(self, root: Element, faults: Faults) -> None:
        self._faults = faults
        self._decimal = root.attributes.get("decimalDelimiter", "")
        self._separator = root.attributes.get("separator", ",")
        self._chosen: list[tuple[int, frozenset[str], dict[str, Cell]]] = []
        self._times: dict[str, dict[int, _Measured]] = {}

    def row(self, row: Element) -> None:
        """Add the options and the properties of one row."""
        line, place = row.line, len(self._chosen)
        several = any(value.lower() == "true" for value in row.attributes.values())
        binary: frozenset[str] = frozenset()
        numbers: dict[str, Cell] = {}
        seen: set[str] = set()
        for data in row.children:
            column = _column(data)
            if column is None:
                expected = 'columname="Configuration" or a property'
                self._faults.add(str(data.line), f"<{data.tag}> without a column", expected)
            elif column in seen:
                self._faults.add(str(data.line), f"{column} twice in a row", "each column once")
            elif column.lower() in _BINARY:
                names = (name.strip() for name in data.text.split(","))
                binary = frozenset(name for name in names if name)
            elif column.lower() in _NUMERIC:
                numbers = self._numbers(data)
            elif column.lower() not in _OTHER:
                self._times.setdefault(column, {})[place] = self._measured(data.text, several)
            seen.add(column or "")
        self._chosen.append((line, binary, numbers))

    def _numbers(self, data: Element) -> dict[str, Cell]:
        numbers: dict[str, Cell] = {}
        for pair in data.text.split(","):
            if not pair.strip():
                continue
            name, _, value = (part.strip() for part in _halves(pair.strip()))
            number = cell(value)
            if isinstance(number, str) or not name or name in numbers:
                expected = "name;value, with a number, each name once"
                self._faults.add(str(data.line), f"numeric option {pair.strip()!r}", expected)
            else:
                numbers[name] = number
        return numbers

    def _measured(self, text: str, several: bool) -> _Measured:
        """The measurements of a property; nan, together with its text, for what is no number."""
        decimal, separator = self._decimal or ",", self._separator
        parts = text.split(separator) if several else [text]
        if several and decimal == separator:
            decimal = "."
        values = [to_number(part.strip().replace(decimal, ".")) for part in parts if part.strip()]
        times = tuple(math.nan if value is None else value for value in values)
        return times, text.strip()[:40] if None in values else ""

    def series(self, domains: Mapping[str, Parameter]) -> list[Series]:
        """The series of each property, in the order of first appearance."""
        if not self._chosen:
            raise self._faults.fail("", "no rows", "<row> with <data>")
        if not self._times:
            raise self._faults.fail("", "no property", "a column such as Performance")
        settings = self._settings(domains)
        return [
            Series(
                records=[
                    Record(
                        place=f"line {self._chosen[i][0]}",
                        settings=settings[i],
                        times=times.get(i, ((), ""))[0],
                        found=times.get(i, ((), ""))[1],
                    )
                    for i in range(len(settings))
                ],
                quantity=_quantity(name),
            )
            for name, times in self._times.items()
        ]

    def _settings(self, domains: Mapping[str, Parameter]) -> list[dict[str, Cell]]:
        """The value of every option in every row: 1 for a chosen option, 0 for others."""
        binary = dict.fromkeys(name for _, chosen, _ in self._chosen for name in sorted(chosen))
        numbers = dict.fromkeys(name for _, _, settings in self._chosen for name in settings)
        if domains:
            unknown = [
                name for name in (*binary, *numbers) if name not in domains and name != "root"
            ]
            if unknown:
                expected = f"options of the model: {', '.join(list(domains)[:8])}, ..."
                raise self._faults.fail("", f"options {', '.join(unknown[:5])}", expected)
            binary = dict.fromkeys(n for n in domains if n not in numbers and _flag(domains[n]))
            numbers = dict.fromkeys(n for n in domains if n not in binary)
        return [
            {name: int(name in chosen or name == "root") for name in binary}
            | {name: settings.get(name) for name in numbers}
            for _, chosen, settings in self._chosen
        ]


def _flag(parameter: Parameter) -> bool:
    ones: tuple[tuple[Value, ...], ...] = ((0, 1), (1,))
    return parameter.values in ones


def _column(data: Element) -> str | None:
    for name in ("columname", "columnname", "column"):
        if name in data.attributes:
            return data.attributes[name].strip()
    return None


def _halves(pair: str) -> tuple[str, str, str]:
    """The name and the value in a pair and their separator: a semicolon or, in old
    files, blanks.
    """
    if ";" in pair:
        return pair.partition(";")
    name, _, value = re.sub(r"\s+", " ", pair).partition(" ")
    return name, " ", value


def _quantity(name: str) -> str:
    return name.strip() or "measured"
