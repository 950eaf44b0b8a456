"""Times, metrics and check values in the output of an external program."""

import csv
import json
import math
import sys
from collections.abc import Iterator, Mapping

import regex

from autotune.domain.metric import TIME
from autotune.domain.program import Check, Program
from autotune.domain.readings import PrintedMetric, Reading, TimeReading
from autotune.language.constraint import Value
from autotune.toolchain.child_process import ProcessOutcome, text_lines
from autotune.workloads.program.measuring.check_answers import Answer, number

_PATIENCE = 2.0
"""Seconds that a pattern may take to search a line."""
_LONGEST = 4096
"""Characters of a line that is searched."""
_REWRITES = 1000
"""So many of the last states of a line are looked at."""
_SHOWN = 8
"""Lines that a message shows of the beginning and of the end of an output."""
_WIDTH = 400
"""Characters of a line that a message shows."""
_COLOURS = regex.compile(r"\x1b\[[0-9;]*[A-Za-z]")
"""Sequences that colour what follows, or erase."""
_LEAST = sys.float_info.min
"""The smallest double with all its digits, 2.2e-308."""


class UnreadableOutput(Exception):
    """An expected value is missing in the output; the message shows its first and last lines."""


def values(program: Program, outcome: ProcessOutcome) -> tuple[Mapping[str, float], ...]:
    """The metrics of each sample in the output of a run: the time in seconds, others in their unit.

    There is a sample for every value of the objective. A metric that was printed once counts for
    all samples. Raises ``UnreadableOutput`` for a metric that is missing or no number, for another
    number of values, and for a time or an objective that is not positive.
    """
    columns = {TIME.name: _times(program.time, outcome)}
    for name, metric in program.metrics.items():
        columns[name] = _metric(metric, outcome, objective=name == program.objective)
    count = len(columns[program.objective])
    for name, column in columns.items():
        if len(column) not in (1, count):
            raise UnreadableOutput(
                f"the program printed {count} of {program.objective} and {len(column)} of"
                f" {name}{printed_lines(outcome)}"
            )
    return tuple(
        {name: column[i % len(column)] for name, column in columns.items()} for i in range(count)
    )


def out_of_bounds(program: Program, values: Mapping[str, Value]) -> str:
    """The first bound that the metrics of a sample violate, in words; empty if there is none.

    ``values`` are metrics, parameters and arguments by name.
    """
    for bound in program.bounds:
        try:
            if bound.require.holds(values):
                continue
            why = "does not hold"
        except ValueError as error:
            why = f"cannot be judged: {error}"
        named = (f"{name} = {_written(values[name])}" for name in bound.require.names)
        reason = f" ({bound.reason})" if bound.reason else ""
        return f"{bound.require.text} {why}: {', '.join(named)}{reason}"
    return ""


def _written(value: Value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def answer(check: Check, outcome: ProcessOutcome) -> Answer:
    """The last check value in the output of a run.

    Raises ``UnreadableOutput`` where there is none.
    """
    texts = list(_values(check, outcome))
    if not texts:
        raise UnreadableOutput(f"the program printed no check value: {_absent(check, outcome)}")
    value = number(texts[-1])
    beyond = value is not None and math.isinf(value) and "inf" not in texts[-1].lower()
    return texts[-1] if value is None or beyond else value  # a hash may read 12e45678


def printed_lines(outcome: ProcessOutcome) -> str:
    """The first and the last lines of text that the program printed, for messages."""
    printed = outcome.out.strip() or outcome.err.strip()
    if not printed:
        return "; it printed nothing"
    lines = text_lines(printed)
    if not lines:
        return "; what it printed is no text"
    left_out = len(lines) - 2 * _SHOWN
    if left_out > 1:
        lines = [*lines[:_SHOWN], f"... ({left_out} lines)", *lines[-_SHOWN:]]
    shown = "\n".join(line[:_WIDTH] for line in lines)
    return f"; it printed:\n{shown}"


def _times(reading: TimeReading, outcome: ProcessOutcome) -> list[float]:
    if reading.wall:
        return [outcome.usage.wall if outcome.usage else outcome.seconds]
    return [
        _positive(text, "its time", reading, outcome, reading.unit)
        for text in _printed(reading, "time", outcome)
    ]


def _metric(metric: PrintedMetric, outcome: ProcessOutcome, *, objective: bool) -> list[float]:
    texts = _printed(metric, f"value of {metric.name}", outcome)
    if objective:
        return [_positive(text, metric.name, metric, outcome) for text in texts]
    return [_finite(text, metric.name, metric, outcome) for text in texts]


def _printed(reading: Reading, what: str, outcome: ProcessOutcome) -> list[str]:
    """The texts that a reading finds, at least one."""
    texts = list(_values(reading, outcome))
    if not texts:
        raise UnreadableOutput(f"the program printed no {what}: {_absent(reading, outcome)}")
    return texts


def _finite(text: str, what: str, reading: Reading, outcome: ProcessOutcome) -> float:
    value = number(text)
    if value is None or not math.isfinite(value):
        problem = f"the program printed {text[:80]!r} where {what} should be"
        raise UnreadableOutput(f"{problem} ({reading}){printed_lines(outcome)}")
    return value


def _positive(
    text: str, what: str, reading: Reading, outcome: ProcessOutcome, unit: float = 1.0
) -> float:
    """A positive number times ``unit`` that has all digits of a double, and its reciprocal too."""
    value = _finite(text, what, reading, outcome) * unit
    if not _LEAST <= value <= 1 / _LEAST:
        problem = f"the program printed {text[:80]!r} where {what} should be, a positive number"
        raise UnreadableOutput(f"{problem} ({reading}){printed_lines(outcome)}")
    return value


def _absent(reading: Reading, outcome: ProcessOutcome) -> str:
    if reading.pattern:
        why = f"no line matches the pattern {reading.pattern!r}"
    elif reading.csv:
        why = f"no table has the column {reading.csv!r}"
    else:
        why = f"no JSON object has the key {'.'.join(reading.json or ())}"
    return f"{why}{printed_lines(outcome)}"


def _values(reading: Reading, outcome: ProcessOutcome) -> Iterator[str]:
    """The matching texts in standard output or, if there are none, in standard error."""
    search = _matches if reading.pattern else _members if reading.json else _cells
    return iter(list(search(reading, outcome.out)) or list(search(reading, outcome.err)))


def shown_lines(text: str) -> Iterator[str]:
    """The lines of a text as a terminal shows them: what follows a carriage return overwrites the
    beginning of its line, and colours are not text.
    """
    for line in _COLOURS.sub("", text).split("\n"):
        shown = ""
        for part in line.split("\r")[-_REWRITES:]:
            shown = part[:_LONGEST] + shown[len(part) :]
        yield shown


def _matches(reading: Reading, text: str) -> Iterator[str]:
    for line in shown_lines(text):
        for match in line_matches(reading, line):
            yield match.group(1) or ""


def line_matches(reading: Reading, line: str) -> Iterator[regex.Match[str]]:
    """The matches of a reading's pattern in a line.

    Raises ``UnreadableOutput`` for a pattern that takes too long, which repeats of repeats do.
    """
    try:
        yield from regex.finditer(reading.pattern or "", line, timeout=_PATIENCE)
    except TimeoutError as error:
        raise UnreadableOutput(
            f"the pattern {reading.pattern!r} takes more than {_PATIENCE:g} s to search the line"
            f" {line[:60]!r} ..., which has {len(line)} characters: it repeats what it repeats"
        ) from error


def _cells(reading: Reading, text: str) -> Iterator[str]:
    """The values of a column of the tables whose header names it, by the first separator that finds
    any.
    """
    for separator in ",;\t":
        place, width, cells = -1, 0, list[str]()
        for line in shown_lines(text):
            row = [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]
            if reading.csv in row:
                place, width = row.index(reading.csv), len(row)
            elif place >= 0 and len(row) == width:
                cells.append(row[place])
            else:
                place = -1
        if cells:
            yield from cells
            return


def _members(reading: Reading, text: str) -> Iterator[str]:
    """The values under a key of the JSON documents; a list of numbers gives several. Truth values
    are true and false, as JSON writes them.
    """
    for document in _documents(text):
        value = document
        for key in reading.json or ():
            value = value.get(key) if isinstance(value, dict) else None
        for member in value if isinstance(value, list) else [value]:
            if member is not None and not isinstance(member, dict | list):
                yield str(member).lower() if isinstance(member, bool) else str(member)


def _documents(text: str) -> Iterator[object]:
    """The JSON objects of a text: one per line, or the whole text as one object."""
    any_document = False
    for line in text.split("\n"):
        if line.lstrip().startswith("{"):
            document = _parsed(line)
            any_document = any_document or document is not None
            yield document
    if not any_document:
        yield _parsed(text)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
