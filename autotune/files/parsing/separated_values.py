"""Reads lines of separated values as cells of text, and interprets cells and column titles."""

import csv
import functools
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from autotune.files.parsing.faults import Faults

UNITS: Mapping[str, float] = {
    "s": 1.0, "second": 1.0, "seconds": 1.0, "sec": 1.0,
    "ms": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3, "milisecond": 1e-3, "miliseconds": 1e-3,
    "us": 1e-6, "µs": 1e-6, "microsecond": 1e-6, "microseconds": 1e-6,
    "ns": 1e-9, "nanosecond": 1e-9, "nanoseconds": 1e-9,
}  # fmt: skip
"""Names of units of time, as they occur in files, to seconds."""

_MOST_ROWS = 2_000_000
_MOST_CELLS = 20_000_000
"""As text they take about a gigabyte of memory."""
_WORDS: Mapping[str, bool] = {"true": True, "false": False}
_BRACKETS = re.compile(r"(.*\S) \[([^\[\]]+)\]")
_UNIT = re.compile(r"(.*?)[_ \[(]+([a-zµ]+)[\])]?", re.IGNORECASE)

NumberedLine = tuple[int, list[str]]
"""The number of a line in its file, from 1, and its cells."""


def separator_of(header: str) -> str:
    """The separator of the names in a header: the most frequent of comma, semicolon and tab."""
    return max(",;\t", key=header.count)


def read_lines(
    text: str,
    separator: str,
    faults: Faults,
    *,
    empty_rows: bool = False,
    expected: str = "values between commas, semicolons or tabs",
) -> list[NumberedLine]:
    """The lines of a text that are not empty; InputError where the text is not CSV, or too large.

    ``empty_rows``: a line that has only separators counts as a row of empty cells.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
    lines: list[NumberedLine] = []
    cells = 0
    try:
        for line in reader:
            if line if empty_rows else any(line):
                lines.append((reader.line_num, line))
                cells += len(line)
            if len(lines) > _MOST_ROWS or cells > _MOST_CELLS:
                found = f"more than {_MOST_ROWS} rows or {_MOST_CELLS} values"
                raise faults.fail("", found, "a random part of them")
    except csv.Error as error:
        raise faults.fail(str(reader.line_num), f"not CSV: {error}", expected) from error
    return lines


def as_wide_as(
    header: Sequence[str], lines: Sequence[NumberedLine], faults: Faults
) -> list[NumberedLine]:
    """The lines with as many cells as the header; a fault is added for each other line."""
    width = len(header)
    fitting = []
    for number, line in lines:
        if len(line) == width:
            fitting.append((number, line))
        else:
            expected = f"{width}, as the header"
            faults.add(str(number), f"{len(line)} values", expected, "cut off?")
    return fitting


def repeated(header: Sequence[str]) -> list[str]:
    """The names that occur more than once in a header, sorted."""
    return sorted(name for name, count in Counter(header).items() if count > 1)


@functools.lru_cache(maxsize=1 << 16)
def cell(text: str) -> str | int | float | bool:
    """The value of a cell: a number where it looks like one, a truth value, else its text.

    A whole number is an integer in any notation; infinite numbers and nan are text.

    >>> cell(" 50.0 "), cell("1e3"), cell("True"), cell("1_000"), cell("inf")
    (50, 1000, True, '1_000', 'inf')
    """
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    number = to_number(text)
    if number is None or number != number or number in (float("inf"), float("-inf")):
        return text
    if re.fullmatch(r"[-+]?\d{1,300}", text):
        return int(text)
    return int(number) if number.is_integer() else number


def to_number(text: str) -> float | None:
    """The number that a text represents, which may be infinite or nan; None for other text.

    >>> to_number(" 1e3 "), to_number("1_000"), to_number("")
    (1000.0, None, None)
    """
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def quantity(title: str) -> tuple[str, str]:
    """The name and the unit of time in a column title; the unit is empty where the title has none.

    >>> quantity("time_ms"), quantity("Time [s]"), quantity("performance")
    (('time', 'ms'), ('Time', 's'), ('performance', ''))
    """
    match = _UNIT.fullmatch(title)
    if match is None or match.group(2).lower() not in UNITS:
        return title, ""
    return match.group(1).strip() or "time", match.group(2).lower()


def stated_unit(title: str) -> tuple[str, str]:
    """The name in a column title, and the unit of any kind that follows it in brackets.

    >>> stated_unit("speed [MB/s]"), stated_unit("speed")
    (('speed', 'MB/s'), ('speed', ''))
    """
    match = _BRACKETS.fullmatch(title.strip())
    return (match.group(1), match.group(2)) if match else (title, "")
