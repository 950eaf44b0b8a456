"""Reads the JSON input of Extra-P, in its four forms.

    new         {"parameters": [names], "measurements": {call path: {metric:
                  [{"point": [numbers], "values": [repetitions]}]}}}
    old         lists "parameters", "callpaths", "metrics", "coordinates" with ids, and
                  "measurements" that name them: coordinate_id, callpath_id, metric_id, value
    JSON Lines  {"params": {name: value}, "callpath", "metric", "value"} on each line
    TaLPas      {"parameters": {name: value}; "callpath"; "metric"; "value"}, semicolons for commas

Source: Extra-P 4, its JSON, JSON Lines and TaLPas file readers.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Literal, NoReturn, TypeVar

from autotune.files.parsing import strict_json
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import to_number
from autotune.files.recorded.recorded_space import whole
from autotune.files.tables.cleaning import Cell, Record
from autotune.files.tables.series import Series

Lines = Literal["json-lines", "talpas"]
T = TypeVar("T")
_ROOT, _DEFAULT = "<root>", "<default>"
"""What Extra-P calls a call path and a metric that a line does not name."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|;')


def document(content: Mapping[str, object], faults: Faults) -> list[Series]:
    """The series of a JSON document in the new or the old form."""
    gathered = _Gathered(faults)
    if "callpaths" in content or "coordinates" in content:
        _old(content, gathered)
    else:
        _new(content, gathered)
    return gathered.series()


def lines(text: str, kind: Lines, faults: Faults) -> list[Series]:
    """The series of a file with one JSON object on each line."""
    gathered = _Gathered(faults)
    settings = "params" if kind == "json-lines" else "parameters"
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        if not line.strip():
            continue
        parsed = parse_line(line, kind, faults)
        if parsed is None:
            faults.add(str(number), f"{line.strip()[:40]!r}", "a JSON object on each line")
            continue
        chosen = parsed.get(settings)
        if not isinstance(chosen, dict) or "value" not in parsed:
            expected = f"{settings} (an object) and value"
            faults.add(str(number), f"keys {', '.join(map(str, parsed))}", expected)
            continue
        key = str(parsed.get("callpath", _ROOT)), str(parsed.get("metric", _DEFAULT))
        gathered.add(key, f"line {number}", chosen, [parsed["value"]])
    faults.settle()
    return gathered.series()


def parse_line(line: str, kind: Lines, faults: Faults) -> dict[str, object] | None:
    """The object in a line; None where the line is no JSON object. Faults found are added to
    ``faults``.
    """
    if kind == "talpas":  # a semicolon inside of a string stays
        line = _STRING.sub(lambda parsed: "," if parsed.group() == ";" else parsed.group(), line)
    try:
        parsed = strict_json.loads(line, faults)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


class _Gathered:
    """The records of each call path and metric, in the order of first appearance."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self._records: dict[tuple[str, str], list[Record]] = {}

    def add(
        self, key: tuple[str, str], place: str, chosen: Mapping[object, object], values: object
    ) -> None:
        """Add a point with its repetitions."""
        settings = {str(name): _cell(value) for name, value in chosen.items()}
        listed = values if isinstance(values, list) else [values]
        times = tuple(_time(value) for value in listed)
        shown = json.dumps(values)[:40] if any(math.isnan(time) for time in times) else ""
        record = Record(place=place, settings=settings, times=times, found=shown)
        part, metric = key
        named = "" if part == _ROOT else part, "time" if metric == _DEFAULT else metric
        self._records.setdefault(named, []).append(record)

    def fail(self, place: str, found: str, expected: str) -> NoReturn:
        """Raise InputError for a file that cannot be read further."""
        raise self.faults.fail(place, found, expected)

    def series(self) -> list[Series]:
        """The series of all records added so far."""
        if not self._records:
            self.fail("", "no measurement", "at least one point with a value")
        return [
            Series(records=records, quantity=metric, part=part)
            for (part, metric), records in self._records.items()
        ]


def _new(content: Mapping[str, object], gathered: _Gathered) -> None:
    names, tree = content.get("parameters"), content.get("measurements")
    if not isinstance(names, list) or not names or not isinstance(tree, dict):
        expected = "parameters (a list of names) and measurements (an object)"
        gathered.fail("", f"keys {', '.join(map(str, content))}", expected)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        gathered.fail("parameters", json.dumps(names), "a list of names, each once")
    for part, metrics in tree.items():
        place = f"measurements.{part}"
        for metric, points in _object(metrics, place, gathered).items():
            for i, raw in enumerate(_list(points, f"{place}.{metric}", gathered)):
                here = f"{place}.{metric}[{i}]"
                measurement = _object(raw, here, gathered)
                point = measurement.get("point")
                point = point if isinstance(point, list) else [point]
                if len(point) != len(names) or "values" not in measurement:
                    expected = f"point ({len(names)} numbers) and values"
                    gathered.fail(here, f"keys {', '.join(measurement)}", expected)
                chosen = dict(zip(names, point, strict=True))
                gathered.add((str(part), str(metric)), here, chosen, measurement["values"])


def _old(content: Mapping[str, object], gathered: _Gathered) -> None:
    parameters = _named(content, "parameters", gathered)
    parts, metrics = (_named(content, key, gathered) for key in ("callpaths", "metrics"))
    points: dict[str, dict[object, object]] = {}
    for place, raw in _entries(content, "coordinates", gathered):
        pairs = _list(raw.get("parameter_value_pairs"), f"{place}.parameter_value_pairs", gathered)
        chosen: dict[object, object] = {}
        for pair in pairs:
            measurement = _object(pair, place, gathered)
            name = parameters.get(_id(measurement, "parameter_id"))
            if name is None or name in chosen:
                what = "an unknown parameter_id" if name is None else f"{name} twice"
                gathered.fail(place, what, "the id of a parameter, each once")
            chosen[name] = _number(measurement.get("parameter_value"))
        _put(points, raw, chosen, place, gathered)
    merged: dict[tuple[str, str, str], tuple[str, list[object]]] = {}
    for place, raw in _entries(content, "measurements", gathered):
        where = _id(raw, "coordinate_id")
        part, metric = parts.get(_id(raw, "callpath_id")), metrics.get(_id(raw, "metric_id"))
        if part is None or metric is None or where not in points:
            gathered.fail(place, "an unknown id", "ids of a coordinate, a call path and a metric")
        merged.setdefault((part, metric, where), (place, []))[1].append(_number(raw.get("value")))
    for (part, metric, where), (place, values) in merged.items():
        gathered.add((part, metric), place, points[where], values)


def _named(content: Mapping[str, object], key: str, gathered: _Gathered) -> dict[str, str]:
    """The names by id; names and ids may each occur only once."""
    names: dict[str, str] = {}
    for place, raw in _entries(content, key, gathered):
        name = raw.get("name")
        if not isinstance(name, str) or name in names.values():
            gathered.fail(place, f"the name {name!r}", "text, each name once")
        _put(names, raw, name, place, gathered)
    if not names:
        gathered.fail(key, "nothing", "at least one, with id and name")
    return names


def _id(raw: Mapping[str, object], key: str = "id") -> str:
    """An id as text: files have numbers or text, and damaged files may have anything."""
    return json.dumps(raw.get(key))


def _put(
    into: dict[str, T], raw: Mapping[str, object], value: T, place: str, gathered: _Gathered
) -> None:
    """Store the name that belongs to an id."""
    if _id(raw) in into:
        gathered.fail(place, f"the id {_id(raw)} again", "each id once")
    into[_id(raw)] = value


def _entries(
    content: Mapping[str, object], key: str, gathered: _Gathered
) -> Iterator[tuple[str, dict[str, object]]]:
    for i, raw in enumerate(_list(content.get(key), key, gathered)):
        yield f"{key}[{i}]", _object(raw, f"{key}[{i}]", gathered)


def _list(value: object, place: str, gathered: _Gathered) -> list[object]:
    if not isinstance(value, list):
        gathered.fail(place, f"{type(value).__name__}", "a list")
    return value


def _object(value: object, place: str, gathered: _Gathered) -> dict[str, object]:
    if not isinstance(value, dict):
        gathered.fail(place, f"{type(value).__name__}", "an object")
    return value


def _number(value: object) -> object:
    """A number; in the old form it may be written as text."""
    number = to_number(value) if isinstance(value, str) else None
    return value if number is None else number


def _cell(value: object) -> Cell:
    if isinstance(value, str | int | float | bool):
        return whole(value)
    return None


def _time(value: object) -> float:
    time = _number(value)
    if isinstance(time, bool) or not isinstance(time, int | float):
        return math.nan
    try:
        return float(time)
    except OverflowError:
        return math.inf
