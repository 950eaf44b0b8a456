"""Loads, stores and arithmetic of executed instructions, by valgrind's lackey.

A cross-check of what a program asserts: these are instructions of the compiled program, whole runs
only, not source operators and not blocks of it; a move between registers may count as arithmetic.
The run is about a hundred times slower.
"""

import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import Fault, MissingTool, WorkFailed
from autotune.toolchain import child_process
from autotune.toolchain.child_process import ChildLimits

COUNTER = "lackey"
_ROW = re.compile(r"^==\d+==\s+(\w+)\s+([\d,]+)\s+([\d,]+)\s+([\d,]+)\s*$", re.M)
_DIED = re.compile(r"Process terminating with default action of signal \d+ \((\w+)\)")
_LIMITS = ChildLimits(output=1 << 26)
_OPTIONS = ("--tool=lackey", "--basic-counts=no", "--detailed-counts=yes", "--trace-children=yes")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedCounts:
    """Operations by type of valgrind: ``I64``, ``F64``, ``V128``, ..."""

    loads: Mapping[str, int]
    stores: Mapping[str, int]
    arithmetic: Mapping[str, int]
    counter: str = COUNTER
    processes: int = 1
    """Number of processes that were counted together."""

    @property
    def bytes_loaded(self) -> int:
        """Bytes of all loads."""
        return _size(self.loads)

    @property
    def bytes_stored(self) -> int:
        """Bytes of all stores."""
        return _size(self.stores)


def check() -> None:
    """MissingTool where valgrind is not installed."""
    if shutil.which("valgrind") is None:
        raise MissingTool(
            Fault(
                where="lackey",
                found="valgrind is not on PATH",
                hint="apt install valgrind, or dnf install valgrind",
            )
        )


def count_executed(
    command: Sequence[str], timeout: float, programs: Sequence[int] = (0,)
) -> ExecutedCounts:
    """The counts of a program, or of all its processes, that run to their end with exit code 0.

    ``programs`` are the words of the command that are programs to count, ascending: the word after
    the options of a launcher of ranks. Its standard input is empty. Raises MissingTool without
    valgrind, WorkFailed where the program fails: valgrind prints counts even of a program that died
    of an instruction it does not know (AVX-512), up to there.
    """
    check()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = list(command)
        for place in reversed(programs):
            words[place:place] = ["valgrind", *_OPTIONS, f"--log-file={folder}/%p.log"]
        outcome = child_process.run(
            words,
            timeout=timeout,
            # line counts of this run would be added to those of another one
            environment={**os.environ, "GCOV_PREFIX": f"{folder}/gcov"},
            limits=_LIMITS,
        )
        logs = [path.read_text(errors="replace") for path in sorted(folder.glob("*.log"))]
    died = sorted({signal for log in logs for signal in _DIED.findall(log)})
    tables = [rows for log in logs if (rows := _ROW.findall(log))]
    if not outcome.ok or died or not tables:
        signals = f"a process died of {', '.join(died)}; " if died else ""
        raise WorkFailed(
            str(
                Fault(
                    where=f"valgrind --tool=lackey {command[programs[0]]}",
                    found=signals + outcome.describe(),
                    expected="a run to its end with exit code 0, and counts of valgrind",
                    hint="compile for an older CPU, such as -march=x86-64-v2, where it died of"
                    " SIGILL: valgrind does not know all instructions",
                )
            )
        )
    return _summed(tables)


def _summed(tables: Sequence[Sequence[Sequence[str]]]) -> ExecutedCounts:
    """The counts of several processes together."""
    sums: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
    for rows in tables:
        for kind, *counts in rows:
            for column, count in zip(sums, counts, strict=True):
                column[kind] += int(count.replace(",", ""))
    loads, stores, arithmetic = sums
    return ExecutedCounts(loads=loads, stores=stores, arithmetic=arithmetic, processes=len(tables))


def _size(counts: Mapping[str, int]) -> int:
    """Bytes of operations of types that are named by their bits."""
    return sum(number * -(-int(kind[1:]) // 8) for kind, number in counts.items())
