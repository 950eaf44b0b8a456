"""The files of records: which files arguments name, and the record that a file holds."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from autotune.domain.assertion_record import (
    COUNTED,
    MESSAGES,
    RECORD_SCHEMA,
    AssertionRecord,
    CallRecord,
    PathRecord,
    VariableRecord,
)
from autotune.errors import Fault, InputError
from autotune.files import checked_values
from autotune.files.parsing.faults import Faults
from autotune.units import counted

FORMATS = "the record of a rank, RUN.RANK.json, that `autotune assert run` wrote"
CALIPER = ".cali"
_LARGEST = 1 << 28
"""Bytes of a record; the largest that the library writes has some megabytes."""
_MOST_RANKS = 1 << 22
_EVENTS = ".events."
"""In the names of the files of events, which lie beside the records."""


def files_of(places: Sequence[Path]) -> tuple[Path, ...]:
    """The files of records in the order of their names: those named, and those in folders named.

    Raises InputError for a place that is not there, and for a folder without records.
    """
    files: list[Path] = []
    for place in places:
        if place.is_dir():
            files += _in_folder(place)
        elif place.exists():
            files.append(place)
        else:
            raise InputError(Fault(where=str(place), found="there is no such file or folder"))
    return tuple(dict.fromkeys(files))


def _in_folder(folder: Path) -> Iterator[Path]:
    files = sorted(
        path
        for path in folder.iterdir()
        if path.suffix in (".json", CALIPER)
        and _EVENTS not in path.name
        and not path.name.startswith(".")
    )
    if not files:
        raise InputError(
            Fault(
                where=str(folder),
                found="no records in this folder",
                expected="files RUN.RANK.json",
                hint="autotune assert run --output FOLDER -- COMMAND writes them; a program that"
                " was killed writes none",
            )
        )
    yield from files


def read(path: Path) -> AssertionRecord:
    """The record that a file holds; InputError, with the place, for anything else."""
    record = checked_values.read(AssertionRecord, path, RECORD_SCHEMA, FORMATS, _LARGEST)
    faults = Faults(str(path))
    if record.ranks > _MOST_RANKS:
        faults.add("ranks", f"the number {record.ranks}", f"at most {_MOST_RANKS}")
    for variable in record.variables:
        for what, count in _counts_of_variable(variable):
            _check_count(faults, f"variables.{variable.variable.name}.{what}", count)
    for k, item in enumerate(record.paths):
        for what, count in _counts_of_path(item):
            _check_count(faults, f"paths.{k} ({item.name}).{what}", count)
        if item.passes + item.failures and not item.visits:
            faults.add(f"paths.{k} ({item.name})", "counts of a path without visits")
        else:
            _check_account(faults, f"paths.{k} ({item.name})", item)
    for call in record.calls:
        for what, count in _counts_of_call(call):
            _check_count(faults, f"calls.{call.call}.{what}", count)
    faults.settle()
    return record


def _check_account(faults: Faults, place: str, path: PathRecord) -> None:
    """A fault where visits or messages neither pass nor fail nor have a reason for that.

    Counts that were read after the run tell nothing of single visits.
    """
    if path.measured is None or (path.kind in COUNTED and path.least is None):
        return
    judged = path.passes + path.failures
    if path.kind in MESSAGES:
        judged += path.missing
        total = sum(size.messages for size in path.asserted_sizes) + path.asserted_other_sizes
        noun = "message"
    else:
        judged += sum(reason.visits for reason in path.unevaluated)
        total, noun = path.visits, "visit"
    if judged != total:
        faults.add(place, f"verdicts on {judged} of {counted(total, noun)}", "a verdict on each")


def _check_count(faults: Faults, place: str, count: float) -> None:
    if count < 0:
        faults.add(place, f"the number {count}", "a count that is not below 0")


def _counts_of_variable(record: VariableRecord) -> Iterator[tuple[str, float]]:
    yield from (
        ("changes", record.changes), ("violations", record.violations),
        ("passes", record.passes), ("failures", record.failures),
    )  # fmt: skip
    yield from (("unevaluated", reason.visits) for reason in record.unevaluated)


def _counts_of_path(path: PathRecord) -> Iterator[tuple[str, float]]:
    yield from (
        ("visits", path.visits), ("passes", path.passes), ("failures", path.failures),
        ("other_differences", path.other_differences), ("zero", path.zero),
        ("missing", path.missing), ("asserted_other_sizes", path.asserted_other_sizes),
    )  # fmt: skip
    yield from (("unevaluated", reason.visits) for reason in path.unevaluated)
    yield from (("differences", difference.visits) for difference in path.differences)
    yield from (("asserted_sizes", size.messages) for size in path.asserted_sizes)
    for call in path.calls:
        yield from _counts_of_call(call)


def _counts_of_call(call: CallRecord) -> Iterator[tuple[str, float]]:
    yield from (
        ("messages", call.messages), ("size", call.size), ("to_self", call.to_self),
        ("other_sizes", call.other_sizes), ("other_peers", call.other_peers),
        ("unasserted", call.unasserted),
    )  # fmt: skip
    yield from (("sizes", size.messages) for size in call.sizes)
