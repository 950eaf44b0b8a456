"""Times and check values in the output of an external program."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from autotune.domain.program import Check, Reading
from autotune.toolchain.child_process import TAIL, ProcessOutcome
from autotune.units import Seconds

Answer = float | str
"""A check value: a number, or text that must be the same."""

_LONGEST = 4096
"""Characters of a line that is searched."""
_EXPONENT = re.compile(r"(?<=[0-9.])[dD](?=[-+]?[0-9])")
"""The exponent letter of double-precision numbers as Fortran writes them."""


class UnreadableOutput(Exception):
    """An expected value is missing in the output; the message shows its last lines."""


def times(reading: Reading, outcome: ProcessOutcome) -> tuple[Seconds, ...]:
    """The times in the output of a run, in seconds, at least one.

    Raises ``UnreadableOutput`` where there are none or one is not a positive number.
    """
    if reading.kind == "wall":
        return (outcome.usage.wall if outcome.usage else outcome.seconds,)
    seconds = [_time(text, reading, outcome) for text in _values(reading, outcome)]
    if not seconds:
        raise UnreadableOutput(f"the program printed no time: {_absent(reading, outcome)}")
    return tuple(seconds)


def answer(check: Check, outcome: ProcessOutcome) -> Answer:
    """The last check value in the output of a run.

    Raises ``UnreadableOutput`` where there is none.
    """
    texts = list(_values(check.reading, outcome))
    if not texts:
        raise UnreadableOutput(
            f"the program printed no check value: {_absent(check.reading, outcome)}"
        )
    number = _number(texts[-1])
    beyond = number is not None and math.isinf(number) and "inf" not in texts[-1].lower()
    return texts[-1] if number is None or beyond else number  # a hash may read 12e45678


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """A check value compared with the check value of the reference."""

    error: float | None
    """Difference relative to the reference; None: they cannot be compared."""
    fault: str
    """The fault in words; empty where the values agree."""


def compare(result: Answer, reference: Answer, tolerance: float) -> AnswerComparison:
    """Compare a check value with the reference."""
    if isinstance(result, str) or isinstance(reference, str):
        same = result == reference
        fault = "" if same else f"the check value is {result!r}, that of the baseline {reference!r}"
        return AnswerComparison(0.0 if same else None, fault)
    if not math.isfinite(result):
        return AnswerComparison(None, f"the check value is {result}")
    error = abs(result - reference) / (abs(reference) or 1.0)
    if error <= tolerance:
        return AnswerComparison(error, "")
    fault = (
        f"the check value is {result!r}, that of the baseline {reference!r}:"
        f" they differ by {error:.3g}, more than {tolerance:g}"
    )
    return AnswerComparison(error, fault)


def last_lines(outcome: ProcessOutcome) -> str:
    """The last lines that the program printed, for messages."""
    text = (outcome.out.strip() or outcome.err.strip())[-TAIL:]
    return f"; its last lines:\n{text}" if text else "; it printed nothing"


def _time(text: str, reading: Reading, outcome: ProcessOutcome) -> Seconds:
    number = _number(text)
    if number is None or not (math.isfinite(number) and number > 0):
        problem = f"the program printed {text[:80]!r} where its time should be"
        raise UnreadableOutput(f"{problem} ({reading}){last_lines(outcome)}")
    return Seconds(number * reading.unit)


def _absent(reading: Reading, outcome: ProcessOutcome) -> str:
    return f"{reading} is not there{last_lines(outcome)}"


def _number(text: str) -> float | None:
    try:
        return float(_EXPONENT.sub("e", text.strip()))
    except ValueError:
        return None


def _values(reading: Reading, outcome: ProcessOutcome) -> Iterator[str]:
    """The matching texts in standard output or, if there are none, in standard error."""
    search = _matches if reading.kind == "pattern" else _members
    matches = list(search(reading, outcome.out)) or list(search(reading, outcome.err))
    return iter(matches)


def _matches(reading: Reading, text: str) -> Iterator[str]:
    pattern = re.compile(reading.pattern)
    for line in text.splitlines():
        for match in pattern.finditer(line[:_LONGEST]):
            yield match.group(1) or ""


def _members(reading: Reading, text: str) -> Iterator[str]:
    """The values under a key of the JSON documents; a list of numbers gives several."""
    for document in _documents(text):
        value = document
        for key in reading.keys:
            value = value.get(key) if isinstance(value, dict) else None
        for member in value if isinstance(value, list) else [value]:
            if member is not None and not isinstance(member, dict | list):
                yield str(member)


def _documents(text: str) -> Iterator[object]:
    """The JSON objects of a text: one per line, or the whole text as one object."""
    any_document = False
    for line in text.splitlines():
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
