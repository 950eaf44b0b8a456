"""Which settings candidates fail with: an option that the compiler refuses, a size that crashes."""

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autotune.language.constraint import Value
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate, ProblemEvaluation, varied

_LEAST = 2
"""Failures that a setting has to explain."""
_ALIKE = 5
"""Other settings that may explain as many, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingSetting:
    """A value of a parameter with which every tried candidate failed."""

    name: str
    value: Value
    count: int
    """Candidates that failed with it."""
    named: bool = False
    """The texts of these failures hold the value, or that of another setting that fails."""
    alike: tuple[tuple[str, Value], ...] = ()
    """Other settings, name and value, that the same number of failures have: it may be these."""


def failing_settings(result: ProblemEvaluation) -> tuple[FailingSetting, ...]:
    """The settings that explain failures, the one with most first.

    A setting explains the failures of all candidates that have it if none of them succeeded, at
    least two failed, and their texts name its value, or name no other of theirs and few other
    settings explain as many.
    """
    left = list(result.failures)
    worked = {pair for row in result.rows if row.status == "ok" for pair in _pairs(row)}
    explained: list[FailingSetting] = []
    while True:
        candidates = sorted(_suspects(left, worked), key=lambda s: (not s.named, -s.count))
        if not candidates:
            return tuple(sorted(explained, key=lambda s: -s.count))
        first, *others = candidates
        alike = [s for s in others if not first.named and s.count == first.count]
        if len(alike) > _ALIKE:
            return tuple(sorted(explained, key=lambda s: -s.count))
        pairs = tuple((s.name, s.value) for s in alike)
        count = sum((first.name, first.value) in _pairs(row) for row in result.failures)
        explained.append(dataclasses.replace(first, count=count, alike=pairs))
        left = [row for row in left if (first.name, first.value) not in _pairs(row)]


def _suspects(
    failures: Sequence[EvaluatedCandidate], worked: set[tuple[str, Value]]
) -> Iterator[FailingSetting]:
    """Settings that no candidate has that worked, and several have that failed."""
    for name, value in {pair: None for row in failures for pair in _pairs(row)}:
        rows = [row for row in failures if (name, value) in _pairs(row)]
        naming = [row for row in rows if _names(row, value)]
        silent = [row for row in rows if not any(_names(row, other) for _, other in _pairs(row))]
        if value is None or (name, value) in worked or len(naming) + len(silent) < _LEAST:
            continue
        named = len(naming) >= _LEAST and not silent
        if named or not naming:
            yield FailingSetting(name=name, value=value, count=len(rows), named=named)


def _names(row: EvaluatedCandidate, value: Value) -> bool:
    """Whether the text of a failure holds a value as a word."""
    if not isinstance(value, str) or not value.strip():
        return False
    return re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", _detail(row)) is not None


def _pairs(row: EvaluatedCandidate) -> list[tuple[str, Value]]:
    return list(varied(row.candidate).items())


def _detail(row: EvaluatedCandidate) -> str:
    return row.measurement.detail if row.measurement else ""
