"""Records of a run with the operations that line counts tell of.

A line is counted, not the visit or the call path by which it was reached. So a sum holds for all
visits together; where several call paths assert the same lines, each gets a part of the sum in
proportion to what it asserts, and so does each rank where the ranks were counted together. Lines of
functions that a block calls lie outside of it and are not counted for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from autotune.assertions.counters.source_operators import (
    COUNTER,
    FLAGS,
    OperationCounts,
    count_operations,
)
from autotune.domain.assertion_record import (
    AssertionRecord,
    Count,
    DifferenceCount,
    PathRecord,
    WorstVisit,
)
from autotune.errors import Fault, InputError

ALL_RANKS = -1
"""In place of a rank: counts of all ranks together."""
TOGETHER = f"{COUNTER}:all-ranks"
"""The counter of a rank's part of what all ranks did together."""


def folder_of_rank(folder: Path, record: AssertionRecord) -> Path:
    """Where a rank writes its line counts, in the folder of the records (``GCOV_PREFIX``)."""
    return folder / f"{record.run}.{record.rank}.gcov"


def read_rank_counts(
    records: Sequence[AssertionRecord], folder: Path
) -> Mapping[int, OperationCounts]:
    """The operations of the ranks that counted lines, by rank; empty where none did.

    Raises InputError where only some did, or where counts cannot be read.
    """
    folders = {record.rank: folder_of_rank(folder, record) for record in records}
    absent = [path for path in folders.values() if not path.is_dir()]
    if len(absent) == len(folders):
        return {}
    if absent:
        raise InputError(
            Fault(
                where=str(absent[0]),
                found="no line counts of this rank, but of others of its run",
                expected="counts of all ranks",
                hint="a rank that is killed or that aborts writes none",
            )
        )
    return {rank: count_operations(path) for rank, path in folders.items()}


def read_merged_counts(
    records: Sequence[AssertionRecord], folder: Path
) -> Mapping[int, OperationCounts]:
    """The operations of all ranks together, from data files beside the object files.

    Raises InputError where they are not of as many processes as there are ranks.
    """
    counts = count_operations(folder)
    if counts.runs not in (0, records[0].ranks):
        raise InputError(
            Fault(
                where=str(folder),
                found=f"line counts of {counts.runs} processes together",
                expected=f"those of the {records[0].ranks} ranks of run {records[0].run}",
                hint="remove all .gcda files before the run",
            )
        )
    return {ALL_RANKS: counts}


def with_counts(
    records: Sequence[AssertionRecord], counts: Mapping[int, OperationCounts]
) -> tuple[AssertionRecord, ...]:
    """The records with the operations of blocks that nobody counted in the run itself.

    ``counts``: by rank, or of all ranks together under ``ALL_RANKS``. Blocks without lines, and
    those of files without counts, stay as they are.
    """
    if ALL_RANKS in counts:
        return _counted(records, counts[ALL_RANKS], TOGETHER)
    return tuple(
        counted
        for record in records
        for counted in (
            _counted([record], counts[record.rank], COUNTER) if record.rank in counts else [record]
        )
    )


def without_counts_hint() -> str:
    """What to do where blocks of operations were counted by nobody."""
    return f"compile and link with {' '.join(FLAGS)}, or count them in the program"


def _counted(
    records: Sequence[AssertionRecord], counts: OperationCounts, counter: str
) -> tuple[AssertionRecord, ...]:
    groups: dict[tuple[str, int, int], list[PathRecord]] = {}
    for record in records:
        for path in record.paths:
            if _is_open(path):
                groups.setdefault((path.file, path.first_line, path.last_line), []).append(path)
    sums = {key: counts.between(*key) for key in groups}
    asserted = {key: sum(Fraction(p.asserted) for p in paths) for key, paths in groups.items()}
    visits = {key: sum(p.visits for p in paths) for key, paths in groups.items()}

    def measured(path: PathRecord) -> PathRecord:
        key = (path.file, path.first_line, path.last_line)
        total = sums.get(key) if _is_open(path) else None
        if total is None:
            return path
        part = (
            Fraction(path.asserted) / asserted[key]
            if asserted[key]
            else Fraction(path.visits, visits[key] or 1)
        )
        return _with_measured(path, _plain(total * part), counter)

    return tuple(
        replace(record, paths=tuple(measured(path) for path in record.paths)) for record in records
    )


def _is_open(path: PathRecord) -> bool:
    return path.kind == "flop" and path.measured is None and path.first_line > 0


def _with_measured(path: PathRecord, measured: Count, counter: str) -> PathRecord:
    """The path with a sum over its visits; it passes where the sums are equal.

    The difference of a visit is the mean one. With a visit that has no asserted value there is
    nothing to compare.
    """
    if path.unevaluated or not path.visits:
        return replace(path, measured=measured, counter=counter)
    equal = measured == path.asserted
    difference = _plain((Fraction(path.asserted) - Fraction(measured)) / path.visits)
    return replace(
        path,
        measured=measured,
        counter=counter,
        passes=path.visits if equal else 0,
        failures=0 if equal else path.visits,
        differences=(DifferenceCount(difference, path.visits),),
        worst=None if equal else _mean_visit(path, measured),
    )


def _mean_visit(path: PathRecord, measured: Count) -> WorstVisit:
    return WorstVisit(
        asserted=_plain(Fraction(path.asserted) / path.visits),
        measured=_plain(Fraction(measured) / path.visits),
        binding=path.worst.binding if path.worst else {},
    )


def _plain(value: Fraction) -> Count:
    return int(value) if value.denominator == 1 else float(value)
