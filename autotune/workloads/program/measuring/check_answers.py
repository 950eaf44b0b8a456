"""Results of runs compared: numbers and texts that were printed, and files that were written."""

import hashlib
import math
import re
from dataclasses import dataclass
from pathlib import Path

_LARGEST = 1 << 24
"""Bytes of a file whose numbers are compared; a larger one must be the same."""
_BETWEEN = re.compile(r"[\s,;]+")
NUMBER = re.compile(
    r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][-+]?[0-9]+)?|nan|inf|infinity)",
    re.IGNORECASE | re.ASCII,
)
"""A number as C and Fortran write it, whose exponent letter may be D; digits are ASCII."""


def number(text: str) -> float | None:
    """The number that a text is, spaces around it aside; None for any other text."""
    plain = text.strip(" \t").lower()
    if NUMBER.fullmatch(plain) is None:
        return None
    return float(plain if "n" in plain else plain.replace("d", "e"))


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """The content of a file that a run wrote."""

    name: str
    digest: str
    words: tuple[str, ...] = ()
    """What stands between spaces, commas and semicolons; empty for a file that is no text, or a
    large one."""


Answer = float | str | WrittenFile
"""A check value: a number, a text that must be the same, or a file."""


def written_file(path: Path) -> WrittenFile:
    """The content of a file; OSError where it cannot be read."""
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    try:
        text = content.decode("utf-8") if len(content) <= _LARGEST else ""
    except UnicodeDecodeError:
        text = ""
    return WrittenFile(path.name, digest, tuple(word for word in _BETWEEN.split(text) if word))


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """A check value compared with the check value of the reference."""

    error: float | None
    """Difference relative to the reference; None: they cannot be compared."""
    fault: str
    """The fault in words; empty where the values agree."""


def compare(
    result: Answer, reference: Answer, tolerance: float, owner: str = "that of the baseline"
) -> AnswerComparison:
    """Compare a check value with the reference, which is named ``owner`` in words."""
    if isinstance(result, WrittenFile) and isinstance(reference, WrittenFile):
        return _compared_files(result, reference, tolerance)
    if not isinstance(result, float) or not isinstance(reference, float):
        same = result == reference
        fault = "" if same else f"the check value is {result!r}, {owner} {reference!r}"
        return AnswerComparison(0.0 if same else None, fault)
    if not math.isfinite(result):
        return AnswerComparison(None, f"the check value is {result}")
    error = abs(result - reference) / (abs(reference) or 1.0)
    if error <= tolerance:
        return AnswerComparison(error, "")
    fault = (
        f"the check value is {result!r}, {owner} {reference!r}:"
        f" they differ by {error:.3g}, more than {tolerance:g}"
    )
    return AnswerComparison(error, fault)


def _compared_files(
    result: WrittenFile, reference: WrittenFile, tolerance: float
) -> AnswerComparison:
    """Two files word by word; numbers relative to the largest number of the reference."""
    if result.digest == reference.digest:
        return AnswerComparison(0.0, "")
    name = f"the file {result.name}"
    if not result.words or not reference.words:
        return AnswerComparison(None, f"{name} is not the same as that of the baseline")
    if len(result.words) != len(reference.words):
        return AnswerComparison(
            None,
            f"{name} has {len(result.words)} words, that of the baseline {len(reference.words)}",
        )
    wanted = [number(word) for word in reference.words]
    scale = max((abs(w) for w in wanted if w is not None and math.isfinite(w)), default=0.0) or 1.0
    worst, place = 0.0, 0
    for i, (word, expected) in enumerate(zip(result.words, wanted, strict=True)):
        if word == reference.words[i]:
            continue
        got = number(word)
        if got is None or expected is None or not math.isfinite(got - expected):
            return AnswerComparison(None, _apart(name, i, result, reference))
        if abs(got - expected) / scale > worst:
            worst, place = abs(got - expected) / scale, i
    if worst <= tolerance:
        return AnswerComparison(worst, "")
    fault = _apart(name, place, result, reference)
    return AnswerComparison(worst, f"{fault}: they differ by {worst:.3g}, more than {tolerance:g}")


def _apart(name: str, place: int, result: WrittenFile, reference: WrittenFile) -> str:
    return (
        f"word {place + 1} of {name} is {result.words[place][:80]!r}, that of the baseline"
        f" {reference.words[place][:80]!r}"
    )
