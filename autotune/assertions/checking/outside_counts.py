"""Counts that a counter gave after the run, such as line counts of the compiler, in records."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from autotune.domain.assertion_record import AssertionRecord, Count, PathKind, PathRecord

SOURCE_OPERATORS = "source-operators"


class SourceBlock(NamedTuple):
    """A counted block by its place in the source."""

    kind: PathKind
    """``flop``, ``load`` or ``store``."""
    file: str
    first_line: int
    last_line: int


def blocks_of(record: AssertionRecord) -> tuple[SourceBlock, ...]:
    """The places of the counted blocks of a record that no counter counted, each once."""
    return tuple(dict.fromkeys(_block(path) for path in record.paths if _is_open(path)))


def with_counts(
    record: AssertionRecord,
    counts: Mapping[SourceBlock, Count],
    counter: str = SOURCE_OPERATORS,
) -> AssertionRecord:
    """The record of a rank with the counts of its blocks, over all their visits in this rank.

    Blocks that a counter counted in the run keep its counts: see ``with_counts_of_run``.
    """
    return with_counts_of_run([record], counts, counter)[0]


def with_counts_of_run(
    records: Sequence[AssertionRecord],
    counts: Mapping[SourceBlock, Count],
    counter: str = SOURCE_OPERATORS,
) -> tuple[AssertionRecord, ...]:
    """The records of a run with counts of blocks that are sums over all ranks given.

    A counter that knows only lines cannot tell call paths and ranks apart: each gets its asserted
    count, and of the difference of the sums a part by its visits. The sums are exact, and only
    sums are compared (``AssertionVerdict.summed``).
    """
    members: defaultdict[SourceBlock, list[tuple[int, PathRecord]]] = defaultdict(list)
    for number, record in enumerate(records):
        for path in record.paths:
            if _is_open(path) and _block(path) in counts:
                members[_block(path)].append((number, path))
    measured: dict[tuple[int, int], Count] = {}
    for block, same in members.items():
        shares = _shares(counts[block], [path for _, path in same])
        for (number, path), share in zip(same, shares, strict=True):
            measured[number, path.id] = share
    return tuple(
        replace(
            record,
            paths=tuple(
                replace(path, measured=measured[number, path.id], counter=counter)
                if (number, path.id) in measured
                else path
                for path in record.paths
            ),
        )
        for number, record in enumerate(records)
    )


def _is_open(path: PathRecord) -> bool:
    return path.kind in ("flop", "load", "store") and path.measured is None and bool(path.file)


def _block(path: PathRecord) -> SourceBlock:
    return SourceBlock(path.kind, path.file, path.first_line, path.last_line)


def _shares(count: Count, paths: Sequence[PathRecord]) -> list[Count]:
    """The count of a block split over paths: exactly its sum, near to what they assert."""
    difference = Fraction(count) - sum(Fraction(path.asserted) for path in paths)
    visits = max(1, sum(path.visits for path in paths))
    shares: list[Count] = []
    left = Fraction(count)
    for path in paths[:-1]:
        share = round(Fraction(path.asserted) + difference * path.visits / visits)
        shares.append(share)
        left -= share
    last = left.numerator if left.denominator == 1 else float(left)
    return [*shares, last]
