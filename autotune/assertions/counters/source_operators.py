"""Floating-point operations of source lines: how often they ran times the operators on them.

The program is compiled by gcc (C, C++, Fortran) with ``FLAGS`` beside its usual ones; no source is
changed. Every process that ends adds its counts to data files; a record knows the folder of its
rank's. Library functions (``matmul``, ``exp``, BLAS) are not counted, for they have no lines.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autotune.assertions.counters import block_counts, line_counts, ssa_dump
from autotune.assertions.counters.line_counts import LineCounts
from autotune.assertions.counters.ssa_dump import DumpedFunction
from autotune.errors import Fault, InputError

COUNTER = "source-operators"
FLAGS = ("-O0", "--coverage", "-fdump-tree-ssa-lineno")
"""What gcc, g++ and gfortran need behind the flags of the program, compiling and linking. A program
with threads needs ``-fprofile-update=atomic`` too. With optimization, a line of several blocks
counts less exactly, and one whose value the compiler computes does not count."""

_DUMP = re.compile(r"(\.[^.]+)?\.\d+t\.ssa")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCounts:
    """Floating-point operations by file and line."""

    runs: int
    """The number of processes that did them together; 0: not known."""
    lines: Mapping[Path, Mapping[int, int]]
    """Operations by absolute path of the source file and by line."""
    names: Mapping[str, frozenset[Path]] = field(default_factory=dict)
    """The files by the name that the compiler was called with."""

    def between(self, file: str, first: int, last: int) -> int | None:
        """The operations on lines ``first`` to ``last`` of a file, named as the compiler was called
        with it or by its path; None where it has no counts.
        """
        paths = self.names.get(file, frozenset({Path(file)}))
        counted = [path for path in paths if path in self.lines]
        if len(counted) != 1:
            return None
        return sum(n for line, n in self.lines[counted[0]].items() if first <= line <= last)


def count_operations(folder: Path) -> OperationCounts:
    """The operations that the data files below a folder tell of.

    ``folder`` is where gcc's run-time library wrote to (``GCOV_PREFIX``): a data file lies there
    under the absolute path that it would have had; or the folder of the object files itself.
    Raises InputError where there is no data file, or what it needs is absent or out of date.
    """
    data = line_counts.data_files(folder)
    if not data:
        raise InputError(
            Fault(
                where=str(folder),
                found="no .gcda file: the program did not count its lines",
                expected="the counts of a program that was compiled for it and came to its end",
                hint=f"compile and link with {' '.join(FLAGS)}",
            )
        )
    runs: set[int] = set()
    lines: dict[Path, dict[int, int]] = {}
    names: dict[str, set[Path]] = {}
    for path in data:
        notes = _notes(folder, path)
        counts = line_counts.read_counts(path, notes)
        runs.add(counts.runs)
        for function in _functions(counts):
            for place, number in block_counts.operations_by_line(function, counts).items():
                source = (counts.folder / place.file).resolve()
                names.setdefault(place.file, set()).add(source)
                by_line = lines.setdefault(source, {})
                by_line[place.line] = by_line.get(place.line, 0) + number
    if len(runs) > 1:
        raise InputError(
            Fault(
                where=str(folder),
                found=f"its .gcda files are of {' and '.join(map(str, sorted(runs)))} runs",
                expected="files of the same runs",
                hint="remove them all and run again",
            )
        )
    return OperationCounts(
        runs=runs.pop(),
        lines=lines,
        names={name: frozenset(paths) for name, paths in names.items()},
    )


def _notes(folder: Path, data: Path) -> Path:
    """The notes file of a data file."""
    beside = data.with_suffix(".gcno")
    return beside if beside.exists() else Path("/", data.relative_to(folder)).with_suffix(".gcno")


def _functions(counts: LineCounts) -> Sequence[DumpedFunction]:
    """The functions of an object file with their operators.

    Raises InputError where there is not one dump of the same compilation.
    """
    stem = counts.notes.stem
    dumps = [
        path
        for path in counts.notes.parent.glob("*.ssa")
        if path.name.startswith(stem) and _DUMP.fullmatch(path.name.removeprefix(stem))
    ]
    if len(dumps) != 1:
        names = ", ".join(sorted(path.name for path in dumps)) or "none"
        raise InputError(
            Fault(
                where=str(counts.notes),
                found=f"dumps of the operators beside it: {names}",
                expected=f"one {stem}.*.ssa",
                hint=f"compile with {FLAGS[-1]}, one program a folder",
            )
        )
    functions = ssa_dump.read_dump(dumps[0].read_text(errors="replace"))
    if not _agree(functions, counts):
        raise InputError(
            Fault(
                where=str(dumps[0]),
                found=f"it is not of the compilation that wrote {counts.notes}",
                expected="a dump of the same functions",
                hint=f"compile with {' '.join(FLAGS)}, remove old .gcda files and run again",
            )
        )
    return functions


def _agree(functions: Sequence[DumpedFunction], counts: LineCounts) -> bool:
    """Whether functions are those that were counted: the same names, and operators within the
    lines of their function.
    """
    if not {*counts.calls} <= {function.name for function in functions}:
        return False
    for function in functions:
        file, first, last = counts.reach.get(function.name, ("", 0, 0))
        for block in function.blocks:
            for place, _ in block.operators:
                if place.file == file and not first <= place.line <= last:
                    return False
    return True
