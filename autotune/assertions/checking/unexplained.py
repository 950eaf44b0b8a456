"""Which assertions leave most of what was counted unexplained: what to refine next."""

from collections import defaultdict
from collections.abc import Sequence

from autotune.assertions.checking.asserted_points import AssertedPoint
from autotune.assertions.checking.size_distributions import calls_of
from autotune.assertions.checking.verdicts import UnexplainedTerm
from autotune.domain.assertion_record import MESSAGES, AssertionRecord, Count

_UNITS = {"flop": "flops", "load": "bytes loaded", "store": "bytes stored"}
UNASSERTED = "(unasserted)"
"""Stands for the messages that no assertion foretold."""


def unexplained(
    points: Sequence[AssertedPoint], records: Sequence[AssertionRecord]
) -> tuple[UnexplainedTerm, ...]:
    """The assertions whose sums differ from what was counted, by kind, the largest share first.

    Of flops, loads and stores only those of one counter are added; of messages the whole is all
    bytes that were sent, received, or passed to collectives.
    """
    kinds: defaultdict[str, list[AssertedPoint]] = defaultdict(list)
    for point in points:
        if point.measured is not None:
            kinds[_kind(point)].append(point)
    terms: list[UnexplainedTerm] = []
    for kind, same in kinds.items():
        whole = _whole(kind, same, records)
        rows = [
            (point.record.name, point.asserted, point.measured or 0)
            for point in same
            if point.asserted != point.measured
        ]
        left = whole - sum(point.measured or 0 for point in same)
        if left > 0:
            rows.append((UNASSERTED, 0, left))
        terms += sorted((_term(kind, whole, row) for row in rows), key=lambda term: -term.share)
    return tuple(terms)


def _kind(point: AssertedPoint) -> str:
    if point.kind in MESSAGES:
        return f"{point.kind} bytes"
    return (
        "loop trips" if point.kind == "loop" else f"{_UNITS[point.kind]} by {point.record.counter}"
    )


def _whole(kind: str, points: Sequence[AssertedPoint], records: Sequence[AssertionRecord]) -> Count:
    """All that was counted of a kind."""
    if points[0].kind not in MESSAGES:
        return sum(point.measured or 0 for point in points)
    word = kind.partition(" ")[0]
    return sum(call.size for r in records for call in calls_of(r) if call.kind == word)


def _term(kind: str, whole: Count, row: tuple[str, Count, Count]) -> UnexplainedTerm:
    name, asserted, measured = row
    gap = abs(asserted - measured)
    return UnexplainedTerm(name, kind, asserted, measured, gap / whole if whole else 1.0)
