"""What an external program printed: its times and its check value."""

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
"""Of double-precision numbers as Fortran writes them."""


class UnreadableOutput(Exception):
    """The output does not tell what it should; the message says so, with its last lines."""


def times(reading: Reading, outcome: ProcessOutcome) -> tuple[Seconds, ...]:
    """The times that a run tells, in seconds, at least one.

    Raises Unreadable where there are none or one is not a positive number.
    """
    if reading.kind == "wall":
        return (outcome.usage.wall if outcome.usage else outcome.seconds,)
    found = [_time(text, reading, outcome) for text in _values(reading, outcome)]
    if not found:
        raise UnreadableOutput(f"the program printed no time: {_absent(reading, outcome)}")
    return tuple(found)


def answer(check: Check, outcome: ProcessOutcome) -> Answer:
    """The check value of a run, the last that it tells.

    Raises Unreadable where there is none.
    """
    found = list(_values(check.reading, outcome))
    if not found:
        raise UnreadableOutput(
            f"the program printed no check value: {_absent(check.reading, outcome)}"
        )
    number = _number(found[-1])
    beyond = number is not None and math.isinf(number) and "inf" not in found[-1].lower()
    return found[-1] if number is None or beyond else number  # a hash may read 12e45678


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """An answer beside that of the reference."""

    error: float | None
    """Difference relative to the reference; None: they cannot be compared."""
    fault: str
    """What is wrong, in words; empty where they agree."""


def compare(found: Answer, reference: Answer, tolerance: float) -> AnswerComparison:
    """Whether an answer agrees with the reference."""
    if isinstance(found, str) or isinstance(reference, str):
        same = found == reference
        fault = "" if same else f"the check value is {found!r}, that of the baseline {reference!r}"
        return AnswerComparison(0.0 if same else None, fault)
    if not math.isfinite(found):
        return AnswerComparison(None, f"the check value is {found}")
    error = abs(found - reference) / (abs(reference) or 1.0)
    if error <= tolerance:
        return AnswerComparison(error, "")
    fault = (
        f"the check value is {found!r}, that of the baseline {reference!r}:"
        f" they differ by {error:.3g}, more than {tolerance:g}"
    )
    return AnswerComparison(error, fault)


def last_lines(outcome: ProcessOutcome) -> str:
    """What the program printed last, for a description."""
    text = (outcome.out.strip() or outcome.err.strip())[-TAIL:]
    return f"; its last lines:\n{text}" if text else "; it printed nothing"


def _time(text: str, reading: Reading, outcome: ProcessOutcome) -> Seconds:
    number = _number(text)
    if number is None or not (math.isfinite(number) and number > 0):
        found = f"the program printed {text[:80]!r} where its time should be"
        raise UnreadableOutput(f"{found} ({reading}){last_lines(outcome)}")
    return Seconds(number * reading.unit)


def _absent(reading: Reading, outcome: ProcessOutcome) -> str:
    return f"{reading} is not there{last_lines(outcome)}"


def _number(text: str) -> float | None:
    try:
        return float(_EXPONENT.sub("e", text.strip()))
    except ValueError:
        return None


def _values(reading: Reading, outcome: ProcessOutcome) -> Iterator[str]:
    """Every value as text, of standard output, else of standard error."""
    search = _matches if reading.kind == "pattern" else _members
    found = list(search(reading, outcome.out)) or list(search(reading, outcome.err))
    return iter(found)


def _matches(reading: Reading, text: str) -> Iterator[str]:
    pattern = re.compile(reading.pattern)
    for line in text.splitlines():
        for match in pattern.finditer(line[:_LONGEST]):
            yield match.group(1) or ""


def _members(reading: Reading, text: str) -> Iterator[str]:
    """A list of numbers is as many values."""
    for document in _documents(text):
        value = document
        for key in reading.keys:
            value = value.get(key) if isinstance(value, dict) else None
        for each in value if isinstance(value, list) else [value]:
            if each is not None and not isinstance(each, dict | list):
                yield str(each)


def _documents(text: str) -> Iterator[object]:
    """The JSON objects of a text: one to a line, or the whole of it."""
    found = False
    for line in text.splitlines():
        if line.lstrip().startswith("{"):
            document = _parsed(line)
            found = found or document is not None
            yield document
    if not found:
        yield _parsed(text)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
