"""Sizes of messages, asserted against counted, as distributions: totals hide wrong sizes."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autotune.assertions.checking.verdicts import SizeComparison, SizeDifference
from autotune.domain.assertion_record import (
    MESSAGES,
    AssertionRecord,
    CallRecord,
    Count,
    SizeCount,
)

_SHOWN = 20
"""Sizes that differ, of more."""

Sizes = Mapping[Count, int]
"""Messages by size, in bytes."""


def total_variation(first: Sizes, second: Sizes) -> float:
    """Half the sum of the differences of the shares of all sizes: from 0 to 1.

    1 where one of both has no messages, 0 where both have none.

    >>> total_variation({8: 1, 16: 1}, {8: 4})
    0.5
    """
    totals = sum(first.values()), sum(second.values())
    if 0 in totals:
        return 0.0 if totals == (0, 0) else 1.0
    sizes = {*first, *second}
    return 0.5 * sum(
        abs(first.get(size, 0) / totals[0] - second.get(size, 0) / totals[1]) for size in sizes
    )


def earth_mover(first: Sizes, second: Sizes) -> float:
    """Bytes by which a message changes on average where one distribution is turned into the other.

    0 where one of both has no messages: there is nothing to turn.

    >>> earth_mover({8: 1, 16: 1}, {8: 4})
    4.0
    """
    totals = sum(first.values()), sum(second.values())
    if 0 in totals:
        return 0.0
    ascending = sorted({*first, *second})
    moved, share = 0.0, 0.0
    for size, larger in itertools.pairwise(ascending):
        share += first.get(size, 0) / totals[0] - second.get(size, 0) / totals[1]
        moved += abs(share) * (larger - size)
    return moved


def differences(first: Sizes, second: Sizes) -> tuple[SizeDifference, ...]:
    """The sizes of which both have not as many messages, the largest difference first."""
    unequal = [
        SizeDifference(size, first.get(size, 0), second.get(size, 0))
        for size in sorted({*first, *second})
        if first.get(size, 0) != second.get(size, 0)
    ]
    return tuple(sorted(unequal, key=lambda d: -abs(d.asserted - d.measured)))


@dataclass(slots=True)
class RankSizes:
    """Messages of one rank by size, asserted and counted."""

    stated: Counter[Count] = field(default_factory=Counter)
    counted: Counter[Count] = field(default_factory=Counter)
    to_self: int = 0
    unkept: int = 0
    """Messages whose size was not kept."""


def by_rank(records: Sequence[AssertionRecord]) -> Mapping[str, Mapping[int, RankSizes]]:
    """The sizes by what is sent (``send``, ``recv``, an operation of a coll) and by rank.

    Messages that were asserted where nobody watched MPI are left out.
    """
    sizes: defaultdict[str, dict[int, RankSizes]] = defaultdict(dict)

    def of(messages: str, rank: int) -> RankSizes:
        return sizes[messages].setdefault(rank, RankSizes())

    for record in records:
        for path in record.paths:
            if path.kind in MESSAGES and path.measured is not None:
                entry = of(path.operation or path.kind, record.rank)
                entry.stated.update(_counted(path.asserted_sizes))
                entry.unkept += path.asserted_other_sizes
        for call in calls_of(record):
            entry = of(operation_of(call), record.rank)
            entry.counted.update(_counted(call.sizes))
            entry.to_self += call.to_self
            entry.unkept += call.other_sizes
    return sizes


def compared(records: Sequence[AssertionRecord]) -> tuple[SizeComparison, ...]:
    """The sizes of all messages of a run, of each kind and operation that is asserted."""
    return tuple(
        _comparison(messages, ranks)
        for messages, ranks in by_rank(records).items()
        if any(entry.stated for entry in ranks.values())
    )


def _comparison(messages: str, ranks: Mapping[int, RankSizes]) -> SizeComparison:
    unequal = [rank for rank, entry in ranks.items() if +entry.stated != +entry.counted]
    worst = max(unequal, key=lambda rank: _distance(ranks[rank]), default=None)
    entry = RankSizes() if worst is None else ranks[worst]
    return SizeComparison(
        messages=messages,
        asserted=_listed([entry.stated for entry in ranks.values()]),
        measured=_listed([entry.counted for entry in ranks.values()]),
        to_self=sum(entry.to_self for entry in ranks.values()),
        total_variation=total_variation(entry.stated, entry.counted),
        earth_mover=earth_mover(entry.stated, entry.counted),
        rank=worst,
        differences=differences(entry.stated, entry.counted)[:_SHOWN],
        unknown=sum(entry.unkept for entry in ranks.values()),
    )


def _distance(entry: RankSizes) -> tuple[float, int]:
    """How much a rank differs: by distribution, then by number."""
    unequal = differences(entry.stated, entry.counted)
    return (
        total_variation(entry.stated, entry.counted),
        sum(abs(d.asserted - d.measured) for d in unequal),
    )


def calls_of(record: AssertionRecord) -> Iterator[CallRecord]:
    """All calls of MPI of a rank, within paths and outside of them."""
    yield from record.calls
    for path in record.paths:
        yield from path.calls


def operation_of(call: CallRecord) -> str:
    """``send``, ``recv``, or the operation of a collective call: ``allreduce`` of
    ``MPI_Iallreduce``.
    """
    if call.kind != "coll":
        return call.kind
    name = call.call.lower().removeprefix("mpi_").removesuffix("_init")
    return name[1:] if name.startswith("i") else name


def _counted(sizes: Sequence[SizeCount]) -> dict[Count, int]:
    counts: Counter[Count] = Counter()
    for size, messages in sizes:
        counts[size] += messages
    return counts


def _listed(counters: Sequence[Counter[Count]]) -> tuple[SizeCount, ...]:
    total: Counter[Count] = Counter()
    for counter in counters:
        total.update(counter)
    return tuple(SizeCount(size, total[size]) for size in sorted(total))
