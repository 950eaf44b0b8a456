"""How often lines and branches of a program ran, from gcov.

A program that was compiled with ``--coverage`` writes a data file (``.gcda``) for every source file
when it ends; beside the object file lies its notes file (``.gcno``).
"""

import json
import shutil
import struct
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune.assertions.counters.ssa_dump import SourceLine
from autotune.assertions.library.library_build import HEADER
from autotune.errors import Fault, InputError, MissingTool
from autotune.toolchain import child_process, compiler
from autotune.units import Bytes

_LIMIT = 120.0
_SUMMARY = 0xA1000000
"""The tag of the record of a data file that holds the number of runs (gcc's gcov-io.h)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCounts:
    """Counts of the functions of one object file."""

    folder: Path
    """Where the compiler ran: file names are relative to it."""
    notes: Path
    """The notes file."""
    runs: int
    """The number of processes that added to these counts."""
    calls: Mapping[str, int]
    """How often functions were entered, by name as the assembler knows it."""
    reach: Mapping[str, tuple[str, int, int]]
    """The file and the first and last line of functions."""
    lines: Mapping[tuple[str, SourceLine], int]
    """How often lines ran, by function and line."""
    branches: Mapping[tuple[str, SourceLine], tuple[tuple[int, bool], ...]]
    """How often the branches on a line were taken, in order; True: it falls through to the block
    that comes next."""


def data_files(folder: Path) -> tuple[Path, ...]:
    """The data files below a folder."""
    return tuple(sorted(folder.rglob("*.gcda")))


def read_counts(data: Path, notes: Path) -> LineCounts:
    """The counts of a data file.

    Raises InputError where the notes file is absent, of another compilation or another compiler,
    or where a source has changed since; MissingTool where there is no gcov of this compiler.
    """
    if not notes.exists():
        raise InputError(
            Fault(
                where=str(notes),
                found="no such file",
                expected="the notes file that the compiler wrote beside the object file",
                hint="count where the program was compiled, with its object files in place",
            )
        )
    with tempfile.TemporaryDirectory(prefix="autotune-gcov-") as scratch:
        shutil.copy(data, Path(scratch, "counts.gcda"))
        shutil.copy(notes, Path(scratch, "counts.gcno"))
        outcome = child_process.run(
            [_gcov(notes), "--json-format", "--stdout", "-b", "-c", "counts.gcda"],
            timeout=_LIMIT,
            folder=Path(scratch),
            environment=compiler.environment(),
            limits=child_process.ChildLimits(output=Bytes(1 << 28)),
        )
    if not outcome.ok or "mismatch" in outcome.err or "version" in outcome.err:
        reason = (outcome.err.strip() or outcome.describe()).replace("counts.gcda", str(data))
        raise InputError(
            Fault(
                where=str(data),
                found=f"gcov does not read it: {reason}",
                expected=f"counts of the compilation that wrote {notes}",
                hint="compile, remove old .gcda files and run again",
            )
        )
    counts = _counts(json.loads(outcome.out.splitlines()[0]), notes, _runs(data))
    _check_sources(counts)
    return counts


def _counts(document: Mapping[str, Any], notes: Path, runs: int) -> LineCounts:
    calls: dict[str, int] = {}
    reach: dict[str, tuple[str, int, int]] = {}
    lines: dict[tuple[str, SourceLine], int] = {}
    branches: dict[tuple[str, SourceLine], tuple[tuple[int, bool], ...]] = {}
    for source in document["files"]:
        for function in source["functions"]:
            name = function["name"]
            calls[name] = function["execution_count"]
            reach[name] = (source["file"], function["start_line"], function["end_line"])
        for line in source["lines"]:
            place = (line.get("function_name", ""), SourceLine(source["file"], line["line_number"]))
            lines[place] = lines.get(place, 0) + line["count"]
            taken = tuple((arc["count"], arc["fallthrough"]) for arc in line["branches"])
            branches[place] = branches.get(place, ()) + taken
    folder = Path(document["current_working_directory"])
    return LineCounts(
        folder=folder,
        notes=notes,
        runs=runs,
        calls=calls,
        reach=reach,
        lines=lines,
        branches=branches,
    )


def _check_sources(counts: LineCounts) -> None:
    """Refuses sources that are newer than the notes; the header of the statements, which a new
    version brings along, counts nothing.
    """
    compiled = counts.notes.stat().st_mtime
    for file in sorted({file for file, _, _ in counts.reach.values()}):
        source = counts.folder / file
        if source.name != HEADER and source.exists() and source.stat().st_mtime > compiled:
            raise InputError(
                Fault(
                    where=str(source),
                    found=f"it has changed since {counts.notes} was written",
                    expected="the source that was compiled",
                    hint="compile, remove old .gcda files and run again",
                )
            )


# --- gcc's files ----------------------------------------------------------------------------


def _gcov(notes: Path) -> str:
    """The gcov of the compiler that wrote a notes file."""
    release = _release(notes)
    for name in (f"gcov-{release}", "gcov"):
        path = shutil.which(name)
        if path and (name != "gcov" or _first_number(path) == release):
            return path
    raise MissingTool(
        Fault(
            where=str(notes),
            found=f"it was written by gcc {release}, and there is no gcov {release} on PATH",
            expected=f"gcov-{release}, or a gcov of this version",
            hint=f"apt install gcc-{release}",
        )
    )


def _first_number(path: str) -> int:
    outcome = child_process.run(
        [path, "--version"], timeout=_LIMIT, environment=compiler.environment()
    )
    words = [word for word in outcome.out.split() if word[:1].isdigit() and "." in word]
    return int(words[0].split(".")[0]) if words else 0


def _release(notes: Path) -> int:
    """The main version of the gcc that wrote a notes file: ``B22*`` is 12.2."""
    head = notes.read_bytes()[:8]
    if head[:4] != b"oncg" or len(head) < 8:
        raise InputError(
            Fault(
                where=str(notes),
                found="it does not begin as a notes file of gcc on this machine does",
                expected="a file that gcc --coverage wrote",
            )
        )
    letter, digit = head[7], head[6]
    return (letter - ord("A")) * 10 + digit - ord("0")


def _runs(data: Path) -> int:
    """The number of runs that a data file is the sum of; 0: the file does not say."""
    head = data.read_bytes()[:32]
    words = struct.unpack(f"<{len(head) // 4}I", head[: len(head) // 4 * 4])
    for at in (3, 4):  # behind magic, version, stamp and, since gcc 12, a checksum
        if len(words) > at + 2 and words[at] == _SUMMARY:
            return int(words[at + 2])
    return 0
