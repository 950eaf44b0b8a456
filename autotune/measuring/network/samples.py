"""Samples of communication times as JSON Lines; each line is written when its sample is taken.

    {"schema": "autotune.comm-samples/1", "benchmark": "autotune", "nodes": 1, "ranks": 2, ...}
    {"operation": "allgather", "bytes": 64, "seconds": 4.1e-07, "count": 19000, "busy": [...], ...}

A header begins a run; the samples below it were taken under its conditions. A file may hold
several runs, so files may be joined. A line that a killed process cut short is left out.
"""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from autotune import paths
from autotune.domain.cost_curve import OPERATIONS, Operation
from autotune.errors import Fault, InputError
from autotune.units import Bytes, Seconds

SCHEMA = "autotune.comm-samples/1"
BUSY = 0.95
"""A sample with a rank below this share of processor time per wall time is contended."""
LARGEST = 1 << 28
"""Bytes of the largest file that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRun:
    """The conditions under which samples were taken."""

    benchmark: str
    """``autotune``, ``osu`` or ``imb``: times of different kinds are not comparable."""
    nodes: int
    ranks: int
    """On all nodes together."""
    cores: int = 0
    """Cores of each node that the ranks may use; 0: not known."""
    mpi: str = ""
    """Flavour and version."""
    program: str = ""
    """``c``, ``mpi4py``, or the version of another tool."""
    launcher: str = ""
    hosts: tuple[str, ...] = ()
    machine: str = ""
    """Identity of the hardware; empty: not known."""
    taken: str = ""
    """Date and time, ISO 8601."""
    priority: str = ""
    buffers: int = 0
    """Number of buffers that operations alternate between; 0: not known."""
    text: str = ""
    """Digest of the text that another benchmark printed; empty: measured here. A text counts once,
    however often it was imported."""

    def __post_init__(self) -> None:
        if not 1 <= self.nodes <= self.ranks or self.ranks % self.nodes:
            raise ValueError(f"{self.ranks} ranks cannot be spread evenly over {self.nodes} nodes")

    @property
    def imported_from(self) -> tuple[str, str, int, int] | None:
        """What equal tables of equal texts have in common; None for what was measured here."""
        return (self.text, self.program, self.nodes, self.ranks) if self.text else None

    @property
    def oversubscribed(self) -> bool:
        """Whether a node has more ranks than cores; times then include waiting for a core."""
        return 0 < self.cores < self.ranks // self.nodes

    @property
    def conditions(self) -> dict[str, object]:
        """The conditions that must be equal for all samples of one curve."""
        return {
            "benchmark": self.benchmark,
            "machine": self.machine,
            "hosts": len(self.hosts),
            "mpi": self.mpi,
            "program": self.program,
            "cores": self.cores,
            "buffers": self.buffers,
        }


class ImpossibleSample(ValueError):
    """Raised for values that no sample of an operation can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkSample:
    """The time that the slowest rank took for ``count`` operations in a row."""

    operation: Operation
    bytes: Bytes
    """Bytes that one rank contributes to one operation; 0 for a barrier."""
    seconds: Seconds
    """Seconds of one operation."""
    count: int
    busy: tuple[float, ...] = ()
    """Processor time over wall time of each rank; empty: not known."""
    launch: int = 0
    """Number of the repeat: launches of a run are independent of one another."""
    round: int = 0
    taken: float = 0.0
    """Seconds since the epoch."""

    def __post_init__(self) -> None:
        if self.operation not in OPERATIONS:
            raise ImpossibleSample(f"{self.operation!r} is not one of {', '.join(OPERATIONS)}")
        if not (math.isfinite(self.seconds) and self.seconds > 0):
            raise ImpossibleSample(f"{self.seconds} s is not a positive time")
        if self.bytes < 0 or self.count < 1:
            raise ImpossibleSample(f"{self.count} operations of {self.bytes} B")

    def contended(self, run: BenchmarkRun) -> bool:
        """Whether a rank did not get its core, or its share of the cores where there are more ranks
        than cores.
        """
        if not self.busy:
            return False
        if not run.oversubscribed:
            return min(self.busy) < BUSY
        return sum(self.busy) / (run.cores * run.nodes) < BUSY


@dataclass(slots=True)
class RecordedRun:
    """One run with the samples that were taken in it."""

    run: BenchmarkRun
    samples: list[BenchmarkSample] = field(default_factory=list)


class SampleWriter:
    """Appends runs to a file; everything written remains if the process is killed."""

    def __init__(self, path: Path) -> None:
        """Open the file; InputError if it is not writable or holds something other than samples."""
        self.path = path
        paths.check_output(path, appended=True)
        try:
            self._old = path.stat().st_size if path.is_file() else 0
            if self._old:
                _check_head(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("ab")
        except OSError as error:
            raise InputError(
                Fault(where=str(path), found=f"cannot be written: {error.strerror}")
            ) from error
        self.samples = 0

    def begin(self, run: BenchmarkRun) -> None:
        """Start a run; the samples that follow were taken under its conditions."""
        if self._old and not _ends_line(self.path):
            self._file.write(b"\n")
        self._line({"schema": SCHEMA, **asdict(run)})

    def __call__(self, sample: BenchmarkSample) -> None:
        """Append one sample."""
        self._line(asdict(sample))
        self.samples += 1

    def _line(self, row: Mapping[str, object]) -> None:
        self._file.write(json.dumps(row).encode() + b"\n")
        self._file.flush()

    def sync(self) -> None:
        """Wait until the disk has stored everything; called between launches, so that no sample is
        disturbed.
        """
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; a new file without samples is removed."""
        self.sync()
        empty = self._file.tell() == 0
        self._file.close()
        if empty:
            self.path.unlink(missing_ok=True)


def read(paths: Sequence[Path]) -> list[RecordedRun]:
    """The runs in some files, in order; a text of another benchmark that was imported more than
    once is taken once.

    Raises InputError with every fault: ``file:line``, the text found, and the text expected.
    """
    faults: list[Fault] = []
    recordings = _once([recorded for path in paths for recorded in _file(path, faults)])
    if not faults and not any(recorded.samples for recorded in recordings):
        where = ", ".join(map(str, paths))
        faults.append(Fault(where=where, found="no samples", hint="autotune comm bench takes some"))
    if faults:
        raise InputError(*faults)
    return recordings


def _once(recordings: Sequence[RecordedRun]) -> list[RecordedRun]:
    seen: set[tuple[str, str, int, int]] = set()
    kept = []
    for recorded in recordings:
        origin = recorded.run.imported_from
        if origin is None or origin not in seen:
            kept.append(recorded)
        if origin is not None:
            seen.add(origin)
    return kept


def _file(path: Path, faults: list[Fault]) -> list[RecordedRun]:
    text = read_text(path, faults)
    if text is None:
        return []
    lines = text.splitlines()
    runs: list[RecordedRun] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            if runs and _cut(lines, number):
                continue  # its process was killed
            expected = f"JSON Lines of {SCHEMA}"
            hint = "for the output of other benchmarks: autotune comm import"
            faults.append(Fault(where=where, found="not JSON", expected=expected, hint=hint))
            return runs
        try:
            _take(row, runs)
        except (KeyError, TypeError, ValueError) as error:
            words = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            faults.append(Fault(where=where, found=words, expected=f"JSON Lines of {SCHEMA}"))
            return runs
    return runs


def _take(row: object, runs: list[RecordedRun]) -> None:
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    if "schema" in row:
        if row["schema"] != SCHEMA:
            raise ValueError(f"the schema is {row['schema']!r}")
        runs.append(RecordedRun(_run(row)))
    elif not runs:
        raise ValueError(f'the first line has no "schema": "{SCHEMA}"')
    else:
        runs[-1].samples.append(_sample(row))


def _run(row: Mapping[str, object]) -> BenchmarkRun:
    return BenchmarkRun(
        benchmark=_text(row, "benchmark"),
        nodes=_whole(row, "nodes"),
        ranks=_whole(row, "ranks"),
        cores=_whole(row, "cores"),
        mpi=_text(row, "mpi"),
        program=_text(row, "program"),
        launcher=_text(row, "launcher"),
        hosts=tuple(map(str, _list(row, "hosts"))),
        machine=_text(row, "machine"),
        taken=_text(row, "taken"),
        priority=_text(row, "priority"),
        buffers=_whole(row, "buffers") if "buffers" in row else 0,
        text=_text(row, "text") if "text" in row else "",
    )


def _sample(row: Mapping[str, object]) -> BenchmarkSample:
    operation = _text(row, "operation")
    name_of = next((name for name in OPERATIONS if name == operation), None)
    if name_of is None:
        raise ValueError(f"operation {operation!r} is not one of {', '.join(OPERATIONS)}")
    return BenchmarkSample(
        operation=name_of,
        bytes=Bytes(_whole(row, "bytes")),
        seconds=Seconds(_number(row["seconds"])),
        count=_whole(row, "count"),
        busy=tuple(_number(value) for value in _list(row, "busy")),
        launch=_whole(row, "launch"),
        round=_whole(row, "round"),
        taken=_number(row["taken"]),
    )


def _text(row: Mapping[str, object], key: str) -> str:
    value = row[key]
    if not isinstance(value, str):
        raise TypeError(f"{key} is not text")
    return value


def _whole(row: Mapping[str, object], key: str) -> int:
    value = row[key]
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{key} is not a whole number")
    return value


def _list(row: Mapping[str, object], key: str) -> list[object]:
    value = row[key]
    if not isinstance(value, list):
        raise TypeError(f"{key} is not a list")
    return value


def _number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError(f"{value!r} is not a finite number")
    return float(value)


def _cut(lines: Sequence[str], number: int) -> bool:
    """Whether a line is where a killed process stopped: the last line, or one before a new run."""
    if number == len(lines):
        return True
    try:
        following = json.loads(lines[number])
    except (ValueError, RecursionError):
        return False
    return isinstance(following, dict) and "schema" in following


def read_text(path: Path, faults: list[Fault]) -> str | None:
    """The text of a file; None with a fault where it is absent, too large or not text."""
    where = str(path)
    try:
        if not path.is_file():
            absent = "there is no such file" if not path.exists() else "this is not a file"
            faults.append(Fault(where=where, found=absent))
            return None
        if path.stat().st_size > LARGEST:
            faults.append(Fault(where=where, found=f"the file has more than {LARGEST} B"))
            return None
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} is not UTF-8 text"
        faults.append(Fault(where=where, found=problem, expected="a text file"))
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or str(error)
        faults.append(Fault(where=where, found=f"cannot be read: {words}"))
    return None


def _check_head(path: Path) -> None:
    """Raise InputError where the file holds something other than samples."""
    faults: list[Fault] = []
    text = read_text(path, faults)
    head = (text or "").lstrip().partition("\n")[0]
    if text is not None:
        try:
            row = json.loads(head)
            right = isinstance(row, dict) and row.get("schema") == SCHEMA
        except (ValueError, RecursionError):
            right = False
        if not right:
            hint = "name another file with -o"
            problem = "the file holds something else: nothing is appended"
            faults.append(
                Fault(where=str(path), found=problem, expected=f"samples of {SCHEMA}", hint=hint)
            )
    if faults:
        raise InputError(*faults)


def _ends_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
