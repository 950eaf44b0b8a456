"""The assertions of a program, each over all call paths and ranks that reached it."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from autotune.assertions.checking import tolerances
from autotune.assertions.records.merged_paths import MergedPath
from autotune.domain.assertion_record import (
    MESSAGES,
    AssertionRecord,
    CallRecord,
    Count,
    PathKind,
    PathRecord,
    UnevaluatedVisits,
)


class PointMember(NamedTuple):
    """An assertion on one call path of one rank."""

    rank: int
    path: MergedPath
    record: PathRecord


@dataclass(frozen=True, slots=True)
class AssertedPoint:
    """A point of the program that asserts something, with its counts on every path and rank.

    All its counts are of one counter.
    """

    members: tuple[PointMember, ...]
    type: str
    """As published: ``ma_loop``, ``ma_mpi_isend``."""

    @property
    def record(self) -> PathRecord:
        """The first record; kind, name and expression are those of all."""
        return self.members[0].record

    @property
    def kind(self) -> PathKind:
        """What the point asserts."""
        return self.record.kind

    @property
    def place(self) -> str:
        """The place in the source: ``cg.c:12-14``; empty: not known."""
        record = self.record
        if not record.file:
            return ""
        lines = f":{record.first_line}" if record.first_line else ""
        if lines and record.last_line > record.first_line:
            lines += f"-{record.last_line}"
        return record.file + lines

    @property
    def call_paths(self) -> tuple[str, ...]:
        """The words of the call paths, in the order of the program."""
        return tuple(dict.fromkeys(member.path.words for member in self.members))

    @property
    def summed(self) -> bool:
        """Whether counts are known as sums over visits only."""
        return all(tolerances.is_summed(member.record) for member in self.members)

    @property
    def visits(self) -> int:
        """Visits that had a value."""
        without = sum(reason.visits for reason in self.no_value)
        return max(0, sum(member.record.visits for member in self.members) - without)

    @property
    def asserted(self) -> Count:
        """The sum over all visits that had a value."""
        return sum(member.record.asserted for member in self.members)

    @property
    def measured(self) -> Count | None:
        """The sum over all visits; None: nobody counted."""
        counts = [member.record.measured for member in self.members]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def no_value(self) -> tuple[UnevaluatedVisits, ...]:
        """Visits whose expression had no value, by reason."""
        counts: Counter[str] = Counter()
        for member in self.members:
            for reason in member.record.unevaluated:
                counts[reason.reason] += reason.visits
        return tuple(UnevaluatedVisits(*item) for item in counts.items())


_Point = tuple[str | int, ...]


def points(
    paths: Sequence[MergedPath], records: Sequence[AssertionRecord]
) -> tuple[AssertedPoint, ...]:
    """The assertions in the order of the program; one that two counters counted is two points."""
    members: defaultdict[_Point, list[PointMember]] = defaultdict(list)
    for path in paths:
        for rank, record in sorted(path.records.items()):
            if record.expression and record.kind not in ("region", "sub"):
                members[_point(record)].append(PointMember(rank, path, record))
    outside = {record.rank: record.calls for record in records}
    return tuple(
        AssertedPoint(tuple(same), _type(same, paths, outside)) for same in members.values()
    )


def _point(record: PathRecord) -> _Point:
    place = (record.file, record.first_line)
    text = (record.kind, record.name, record.operation, record.expression, record.repeat)
    return (*text, *place, record.counter)


def _type(
    members: Sequence[PointMember],
    paths: Sequence[MergedPath],
    outside: Mapping[int, tuple[CallRecord, ...]],
) -> str:
    """The published type of a point; of a message, by the only function of MPI that sent it."""
    record = members[0].record
    if record.kind not in MESSAGES:
        return f"ma_{record.kind}"
    if record.operation:
        return f"ma_mpi_{record.operation}"
    calls = {
        call.call
        for member in members
        for call in calls_around(member, paths, outside)
        if call.kind == record.kind
    }
    return calls.pop().lower().replace("mpi_", "ma_mpi_") if len(calls) == 1 else (
        f"ma_mpi_{record.kind}"
    )  # fmt: skip


def calls_around(
    member: PointMember,
    paths: Sequence[MergedPath],
    outside: Mapping[int, tuple[CallRecord, ...]],
) -> tuple[CallRecord, ...]:
    """The calls of MPI directly within the path that an assertion lies in."""
    if member.path.parent == -1:
        return outside.get(member.rank, ())
    around = paths[member.path.parent].records.get(member.rank)
    return () if around is None else around.calls
