"""Reads the text input of Extra-P.

    PARAMETER p              one parameter a line, or several between blanks
    POINTS (4) (8) (16)      or  4 8 16;  with two parameters ( 20 1 ) ( 20 2 )
    REGION compute           a call path
    METRIC time
    DATA 8.31 8.02 8.14      the repetitions at the first point; a line for each point

Lines that begin with # are remarks. A region or a metric starts again at the first point.

Source: Extra-P 4, its text file reader.
"""

import math
import re
from collections.abc import Callable, Mapping

from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import cell, to_number
from autotune.files.tables.cleaning import Record
from autotune.files.tables.series import Series

FIELDS = ("PARAMETER", "POINTS", "REGION", "METRIC", "DATA")


def series(text: str, faults: Faults) -> list[Series]:
    """One series for each region and metric, in the order of first appearance."""
    reading = _Reading(faults)
    for place, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        words = line.strip().split(None, 1)
        if words and not words[0].startswith("#"):
            reading.take(place, words[0], words[1] if len(words) > 1 else "")
    faults.settle()
    return reading.series()


_Point = tuple[int | float, ...]


class _Reading:
    """The state of reading a file line by line."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._names: list[str] = []
        self._points: list[_Point] = []
        self._region = ""
        self._metric = "time"
        self._place = 0
        self._data: dict[tuple[str, str], list[Record]] = {}
        self._fields: Mapping[str, Callable[[int, str], None]] = {
            "PARAMETER": self._parameter,
            "POINTS": self._more_points,
            "REGION": self._begin_region,
            "METRIC": self._begin_metric,
            "DATA": self._repetitions,
        }

    def take(self, line: int, field: str, value: str) -> None:
        """Process one line that is neither empty nor a comment."""
        if field not in self._fields:
            self._faults.add(str(line), f"{field[:40]!r}", f"one of {', '.join(FIELDS)}")
        else:
            self._fields[field](line, value.strip())

    def _parameter(self, line: int, value: str) -> None:
        if self._points:
            self._faults.add(str(line), "PARAMETER after POINTS", "all parameters first")
        for name in value.split():
            if name in self._names:
                self._faults.add(str(line), f"PARAMETER {name} again", "each parameter once")
            self._names.append(name)

    def _more_points(self, line: int, value: str) -> None:
        if not self._names:
            raise self._faults.fail(str(line), "POINTS without a PARAMETER", "PARAMETER first")
        grouped = re.findall(r"\(([^()]*)\)", value)
        if "(" in value and re.sub(r"\([^()]*\)", "", value).strip():
            expected = "every point between its own parentheses"
            self._faults.add(str(line), f"points {value}", expected)
        plain = [value.split()] if len(self._names) > 1 else [[word] for word in value.split()]
        for words in [group.split() for group in grouped] if "(" in value else plain:
            numbers = [v for word in words if not isinstance(v := cell(word), str | bool | None)]
            if len(numbers) != len(self._names) or len(words) != len(self._names):
                found = f"the point ({' '.join(words)})"
                expected = f"{len(self._names)} numbers, one for each parameter"
                self._faults.add(str(line), found, expected)
            else:
                self._points.append(tuple(numbers))

    def _begin_region(self, _line: int, value: str) -> None:
        self._region, self._place = " ".join(value.split()), 0

    def _begin_metric(self, _line: int, value: str) -> None:
        self._metric, self._place = " ".join(value.split()), 0

    def _repetitions(self, line: int, value: str) -> None:
        self._faults.settle()  # else the points do not fit
        if self._place >= len(self._points):
            found = f"DATA line {self._place + 1} of {self._region or 'the program'}"
            expected = f"{len(self._points)}, one for each of the POINTS"
            raise self._faults.fail(str(line), found, expected)
        values = [to_number(word) for word in value.split()]
        record = Record(
            place=f"line {line}",
            settings=dict(zip(self._names, self._points[self._place], strict=True)),
            times=tuple(math.nan if v is None else v for v in values),
            found=value[:40] if None in values else "",
        )
        self._data.setdefault((self._region, self._metric), []).append(record)
        self._place += 1

    def series(self) -> list[Series]:
        """The series of all lines processed so far."""
        if not self._data:
            raise self._faults.fail("", "no DATA", "a DATA line for each of the POINTS")
        return [
            Series(
                records=records,
                quantity=metric,
                part=region,
                treated=self._left_over(len(records)),
            )
            for (region, metric), records in self._data.items()
        ]

    def _left_over(self, count: int) -> tuple[str, ...]:
        more = len(self._points) - count
        if more <= 0:
            return ()
        points = "point has" if more == 1 else "points have"
        return (f"the last {more} of {len(self._points)} {points} no DATA: left out",)
