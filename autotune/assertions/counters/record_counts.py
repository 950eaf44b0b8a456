"""Records of a run with the operations that line counts tell of.

A line is counted, not the visit or the call path by which it was reached. So a sum holds for all
visits together, and passes and failures of single visits stay unknown. Where several call paths
assert the same lines, or ranks were counted together, each gets what it asserts and, by its visits,
a part of the difference. Lines of functions that a block calls lie outside of it and are not
counted for it.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from autotune.assertions.counters.source_operators import (
    COUNTER,
    OperationCounts,
    count_operations,
)
from autotune.domain.assertion_record import AssertionRecord, Count, PathRecord
from autotune.errors import Fault, InputError
from autotune.units import counted

ALL_RANKS = f"{COUNTER}:all-ranks"
"""The counter of a rank's part of what all ranks did together."""


def with_own_counts(path: Path, record: AssertionRecord) -> AssertionRecord:
    """The record of a file with the operations of its rank, where this counted lines.

    The library has these counts written beside the record RUN.RANK.json, below RUN.RANK.gcov.
    Raises InputError where they cannot be read or are of several processes.
    """
    folder = path.with_suffix(".gcov")
    if not folder.is_dir():
        return record
    counts = count_operations(folder)
    _check_runs(counts, 1, folder, f"rank {record.rank}")
    (with_counts_of_rank,) = with_counts([record], counts)
    return with_counts_of_rank


def with_merged_counts(
    records: Sequence[AssertionRecord], folder: Path
) -> tuple[AssertionRecord, ...]:
    """The records of all ranks with the operations of all together.

    ``folder`` holds the data files, beside the object files, of ranks that wrote to the same ones.
    Raises InputError where these are not of as many processes as there are ranks.
    """
    counts = count_operations(folder)
    _check_runs(counts, records[0].ranks, folder, f"run {records[0].run}")
    return with_counts(records, counts, ALL_RANKS)


def _check_runs(counts: OperationCounts, expected: int, folder: Path, whose: str) -> None:
    if counts.runs not in (0, expected):
        raise InputError(
            Fault(
                where=str(folder),
                found=f"line counts of {counted(counts.runs, 'run')} together",
                expected=f"those of {whose}: of {counted(expected, 'run')} of a process",
                hint="remove all .gcda files before a run",
            )
        )


def with_counts(
    records: Sequence[AssertionRecord], counts: OperationCounts, counter: str = COUNTER
) -> tuple[AssertionRecord, ...]:
    """Records with the operations, of all of them together, of blocks that nobody else counted.

    Blocks without lines, and those of files without counts, stay as they are.
    """
    blocks: dict[_Lines, list[PathRecord]] = {}
    for record in records:
        for path in record.paths:
            if _is_open(path):
                blocks.setdefault(_lines(path), []).append(path)
    measured: dict[int, Count] = {}
    for lines, paths in blocks.items():
        total = counts.between(*lines)
        if total is not None:
            parts = _parts(total, paths)
            measured |= {id(path): part for path, part in zip(paths, parts, strict=True)}
    return tuple(
        replace(
            record,
            paths=tuple(
                replace(path, measured=measured[id(path)], counter=counter)
                if id(path) in measured
                else path
                for path in record.paths
            ),
        )
        for record in records
    )


_Lines = tuple[str, int, int]


def _lines(path: PathRecord) -> _Lines:
    return path.file, path.first_line, path.last_line


def _is_open(path: PathRecord) -> bool:
    return path.kind == "flop" and path.measured is None and path.first_line > 0


def _parts(total: int, paths: Sequence[PathRecord]) -> list[Count]:
    """A sum split over paths: whole numbers whose sum it is, near to what they assert."""
    difference = total - sum(Fraction(path.asserted) for path in paths)
    visits = max(1, sum(path.visits for path in paths))
    parts = [round(path.asserted + difference * path.visits / visits) for path in paths[:-1]]
    return [*parts, total - sum(parts)]
