"""The records of all ranks of one run, and what of it was not recorded."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.assertions.counters import record_counts
from autotune.assertions.records import caliper_regions, record_files
from autotune.domain.assertion_record import AssertionRecord
from autotune.errors import Fault, InputError, nearest
from autotune.units import counted

_SHOWN = 8
"""Runs, files and ranks that an error names, of more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecords:
    """A run: the records of its ranks, by rank, without gaps where none is ``missing``."""

    records: tuple[AssertionRecord, ...]
    """At least one; ascending by rank."""
    missing: tuple[int, ...] = ()
    """Ranks that wrote no record: they died, or their files were not given."""
    chosen: tuple[int, ...] = ()
    """The only ranks that were asked for; empty: all."""

    def __post_init__(self) -> None:
        if len({record.run for record in self.records}) != 1:
            raise ValueError("records of one run have one run id, and there is at least one")

    @property
    def first(self) -> AssertionRecord:
        """The record of the lowest rank."""
        return self.records[0]

    @property
    def unfinished(self) -> tuple[int, ...]:
        """Ranks whose program did not end by its own will: their counts end where it died."""
        return tuple(record.rank for record in self.records if not record.complete)


def read(places: Sequence[Path], run: str = "", rank: int | None = None) -> RunRecords:
    """The run that files and folders hold; ``run`` chooses one of several, ``rank`` one rank.

    Line counts that lie beside a record are read with it: see ``record_counts``. Raises InputError
    for files that cannot be read, for files of several runs, and for a rank that has two files.
    """
    faults: list[Fault] = []
    read_records: list[tuple[Path, AssertionRecord]] = []
    for path in record_files.files_of(places):
        try:
            if path.suffix == record_files.CALIPER:
                read_records += [(path, record) for record in caliper_regions.read(path)]
            else:
                record = record_files.read(path)
                read_records.append((path, record_counts.with_own_counts(path, record)))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(*faults)
    return of_records(read_records, run, rank)


def of_records(
    files: Sequence[tuple[Path, AssertionRecord]], run: str = "", rank: int | None = None
) -> RunRecords:
    """The run that records hold, each with the file that it was read from: see ``read``."""
    runs: defaultdict[str, list[tuple[Path, AssertionRecord]]] = defaultdict(list)
    for path, record in files:
        runs[record.run].append((path, record))
    if run and run not in runs:
        names = sorted(runs)
        expected = "one of " + ", ".join(names[:_SHOWN])
        raise InputError(
            Fault(where="--run", found=f"no record of run {run!r}", expected=expected,
                  hint=nearest(run, names))
        )  # fmt: skip
    if not run and len(runs) > 1:
        raise InputError(_mixed(runs))
    return _whole(runs[run or next(iter(runs))], rank)


def _mixed(runs: dict[str, list[tuple[Path, AssertionRecord]]]) -> Fault:
    """The fault for files of several runs."""
    newest = max(runs, key=lambda run: max(record.started for _, record in runs[run]))
    shown = [
        f"{run} ({counted(len(files), 'file')}, such as {files[0][0].name})"
        for run, files in list(runs.items())[:_SHOWN]
    ]
    more = [f"{len(runs) - _SHOWN} more"] if len(runs) > _SHOWN else []
    return Fault(
        where=str(next(iter(runs.values()))[0][0].parent),
        found=f"records of {len(runs)} runs: " + ", ".join([*shown, *more]),
        expected="the records of one run",
        hint=f"--run {newest} chooses the one that began last",
    )


def _whole(files: Sequence[tuple[Path, AssertionRecord]], rank: int | None) -> RunRecords:
    by_rank: defaultdict[int, list[tuple[Path, AssertionRecord]]] = defaultdict(list)
    for path, record in files:
        by_rank[record.rank].append((path, record))
    faults = [
        Fault(
            where=str(same[1][0]),
            found=f"a second record of rank {number} of run {same[0][1].run}; the first is"
            f" {same[0][0]}",
            expected="one record for each rank",
        )
        for number, same in sorted(by_rank.items())
        if len(same) > 1
    ]
    sizes = sorted({record.ranks for _, record in files})
    if len(sizes) > 1:
        found = f"records of run {files[0][1].run} with {' and '.join(map(str, sizes))} ranks"
        faults.append(Fault(where=str(files[0][0].parent), found=found, expected="one number"))
    if faults:
        raise InputError(*faults)
    if rank is not None:
        if rank not in by_rank:
            found = f"no record of rank {rank}"
            expected = f"one of {', '.join(map(str, sorted(by_rank)[:_SHOWN]))}"
            raise InputError(Fault(where="--rank", found=found, expected=expected))
        return RunRecords(records=(by_rank[rank][0][1],), chosen=(rank,))
    return RunRecords(
        records=tuple(by_rank[number][0][1] for number in sorted(by_rank)),
        missing=tuple(number for number in range(sizes[0]) if number not in by_rank),
    )


def ranks_in_words(ranks: Sequence[int]) -> str:
    """Ranks as text: ``rank 3``, ``ranks 0-2, 5``.

    >>> ranks_in_words((0, 1, 2, 5))
    'ranks 0-2, 5'
    """
    spans: list[list[int]] = []
    for rank in ranks:
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    words = [str(a) if a == b else f"{a}-{b}" for a, b in spans[:_SHOWN]]
    more = [f"{sum(b - a + 1 for a, b in spans[_SHOWN:])} more"] if len(spans) > _SHOWN else []
    return f"rank{'s' if len(ranks) != 1 else ''} {', '.join([*words, *more])}"
