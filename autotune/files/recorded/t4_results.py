"""Reads T4 auto-tuning results: a list of configurations with times, validity and measurements.

Source: the schema of T4 results, version 1.0.0, as Kernel Tuner 1.x ships and writes it.
"""

import math
import re
from collections.abc import Mapping
from typing import TypeGuard, cast

from autotune.domain.metric import TIME as TIME_METRIC
from autotune.domain.metric import Direction, Metric
from autotune.domain.results import STATUSES, Status
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import UNITS
from autotune.files.recorded.recorded_space import Row, left_out, positive, settings_of

VERSION = "1.0.0"
"""The version of the schema that is read and written; others of the same major number are read."""

INVALIDITY: Mapping[str, Status] = {
    "correct": "ok",
    "compile": "build-failed",
    "runtime": "crashed",
    "timeout": "timed-out",
    "correctness": "wrong-result",
}
"""What the format says of a configuration, in our words. ``constraints``: no legal candidate."""

TIME, PREDICTED, STATUS = "time", "predicted", "status"
"""Names of measurements: the time, what a model predicted for it, what became of the candidate."""


def rows(content: Mapping[str, object], faults: Faults) -> tuple[list[Row], str]:
    """The rows of T4 results, and the unit of their times, always ``s``.

    The rows have the costs of another objective where the file states one.
    Configurations that break a constraint of their space are left out. Faults found are added to
    ``faults``.
    """
    check_version(content, faults)
    metadata = content.get("metadata")
    stated = metadata.get("timeunit") if isinstance(metadata, dict) else None
    unit = "ms" if stated is None else str(stated)  # what Kernel Tuner writes, with or without
    if unit.lower() not in UNITS:
        raise faults.fail("metadata.timeunit", f"{unit!r}", f"one of {', '.join(UNITS)}")
    goal = objective(content)
    results = content["results"]
    if not isinstance(results, list):
        raise faults.fail("results", f"{type(results).__name__}", "a list of configurations")
    kept = [_row(f"results[{i}]", result, unit, faults, goal) for i, result in enumerate(results)]
    return [row for row in kept if row is not None], "s"


def objective(content: Mapping[str, object]) -> Metric:
    """The objective that a file of ours states in its metadata; else the time."""
    metadata = content.get("metadata")
    stated = metadata.get("objective") if isinstance(metadata, dict) else None
    if not isinstance(stated, dict) or not isinstance(stated.get("name"), str):
        return TIME_METRIC
    better: Direction = "more" if stated.get("better") == "more" else "less"
    return Metric(stated["name"], str(stated.get("unit") or ""), better)


def check_version(content: Mapping[str, object], faults: Faults) -> None:
    """Add a fault for a schema of another major version; a file without a version counts as version
    1.
    """
    version = content.get("schema_version", VERSION)
    if re.fullmatch(r"1\.\d+\.\d+", str(version)) is None:
        hint = "convert it with the tool that wrote it"
        raise faults.fail("schema_version", f"{version!r}", f"{VERSION} (any 1.x.y)", hint)


def _row(place: str, raw: object, unit: str, faults: Faults, goal: Metric) -> Row | None:
    if not isinstance(raw, dict):
        return left_out(faults, place, f"{type(raw).__name__}", "a configuration with its times")
    settings = settings_of(raw.get("configuration"))
    if settings is None:
        place = f"{place}.configuration"
        found = "none" if not raw.get("configuration") else "not names with scalar values"
        return left_out(faults, place, found, "parameters: numbers, text, true, false")
    invalidity = raw.get("invalidity", "correct")
    if invalidity == "constraints":
        return None
    if invalidity not in INVALIDITY:
        allowed = ", ".join([*INVALIDITY, "constraints"])
        return left_out(faults, f"{place}.invalidity", f"{invalidity!r}", f"one of {allowed}")
    measured = _measurements(raw.get("measurements"), unit)
    predicted = _in_seconds(measured.get(PREDICTED))
    stated = measured.get(STATUS, (None, unit))[0]
    status = next((s for s in STATUSES if s == stated), INVALIDITY[invalidity])
    if status != "ok":
        return Row(place=place, settings=settings, seconds=None, status=status, predicted=predicted)
    if not goal.timed:
        value = positive(measured.get(goal.name, (None, ""))[0])
        if value is None:
            found = f"no positive value of {goal.name}"
            return left_out(faults, place, found, "a positive number")
        return Row(place=place, settings=settings, seconds=goal.cost(value))
    seconds = _in_seconds(measured.get(TIME))
    if seconds is None:
        return left_out(
            faults, place, _odd(measured), "a positive number", "a failure has an invalidity"
        )
    samples = _samples(raw.get("times"), unit)
    if samples is None:
        return left_out(
            faults, f"{place}.times.runtimes", "not positive numbers", "a list of times"
        )
    return Row(
        place=place, settings=settings, seconds=seconds, predicted=predicted, samples=samples
    )


def _measurements(raw: object, unit: str) -> dict[str, tuple[object, str]]:
    """Each measurement's value and unit by name; the unit of the file where the measurement states
    none.
    """
    return {
        str(measurement.get("name")): (
            measurement.get("value"),
            str(measurement.get("unit") or unit),
        )
        for measurement in (raw if isinstance(raw, list) else [])
        if isinstance(measurement, dict)
    }


def _in_seconds(measured: tuple[object, str] | None) -> float | None:
    if measured is None:
        return None
    number, factor = positive(measured[0]), UNITS.get(measured[1].lower())
    return None if number is None or factor is None else number * factor


def _odd(measured: Mapping[str, tuple[object, str]]) -> str:
    if TIME not in measured:
        others = ", ".join(sorted(measured)) or "nothing"
        return f"no measurement named {TIME!r}, but {others}"
    value, unit = measured[TIME]
    return f"the time is {value!r}" + ("" if unit.lower() in UNITS else f" in {unit!r}")


def _samples(times: object, unit: str) -> tuple[float, ...] | None:
    listed = times.get("runtimes", []) if isinstance(times, dict) else []
    if not isinstance(listed, list) or not _all_positive(listed):
        return None
    factor = UNITS[unit.lower()]
    return tuple([sample * factor for sample in listed])


def _all_positive(numbers: list[object]) -> TypeGuard[list[float]]:
    """Whether all values are finite numbers above zero; tested in one pass, since there may be
    many.
    """
    if not numbers:
        return True
    if not {type(number) for number in numbers} <= {int, float}:
        return False
    positive = cast("list[float]", numbers)
    return min(positive) > 0 and math.isfinite(sum(positive))
