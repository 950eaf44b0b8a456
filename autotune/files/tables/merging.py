"""Merges records with equal parameter values into one row with repetitions."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.record import Heading, Record
from autotune.domain.tables.table import ParameterRows, location


@dataclass(slots=True)
class MergedMeasurement:
    """All measurements at one combination of parameter values."""

    times: tuple[float, ...]
    locations: list[float]
    predicted: list[float]
    response: float = math.nan


Merged = dict[tuple[Value, ...], MergedMeasurement]


def merged(
    rows: Sequence[tuple[Value, ...]],
    records: Sequence[Record],
    heading: Heading,
    notes: list[str],
) -> Merged:
    """One entry for each combination of values, in the order of first appearance."""
    by_values: Merged = {}
    again: Counter[tuple[Value, ...]] = Counter()
    for row, record in zip(rows, records, strict=True):
        given = [] if record.location is None else [record.location]
        predictions = [] if math.isnan(record.predicted) else [record.predicted]
        if row in by_values:
            again[row] += 1
            by_values[row].times += record.times
            by_values[row].locations += given
            by_values[row].predicted += predictions
        else:
            by_values[row] = MergedMeasurement(
                times=record.times, locations=given, predicted=predictions
            )
    for entry in by_values.values():
        if heading.statistic == "as given" and entry.locations:
            entry.response = math.fsum(entry.locations) / len(entry.locations)
        else:
            entry.response = location(entry.times, heading.statistic)
    if again:
        apart = max(max(by_values[row].times) / min(by_values[row].times) - 1 for row in again)
        count = sum(again.values())
        verb = "row repeats" if count == 1 else "rows repeat"
        notes.append(
            f"{count} {verb} the values of another: merged, the times are repetitions of one row"
            f" (up to {100 * apart:.3g} % apart)"
        )
    return by_values


def inputs(parameters: Sequence[Parameter], merged: Merged) -> ParameterRows:
    """The merged rows, each with the mean of the analytical predictions of its repetitions."""
    guesses = [_mean(entry.predicted) if entry.predicted else math.nan for entry in merged.values()]
    predicted = any(not math.isnan(guess) for guess in guesses)
    return ParameterRows(
        parameters=tuple(parameters),
        rows=tuple(merged),
        analytical=np.array(guesses, dtype=np.float64) if predicted else None,
    )


def _mean(values: Sequence[float]) -> float:
    """The mean; for equal values exactly this value."""
    same = min(values) == max(values)
    return values[0] if same else math.fsum(values) / len(values)
