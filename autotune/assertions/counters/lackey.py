"""Loads, stores and arithmetic of executed instructions, by valgrind's lackey.

A cross-check of what a program asserts: these are instructions of the compiled program, whole runs
only, not source operators and not blocks of it; a move between registers may count as arithmetic.
The run is about a hundred times slower.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.errors import Fault, WorkFailed
from autotune.toolchain import child_process, compiler

COUNTER = "lackey"
_ROW = re.compile(r"^==\d+==\s+(\w+)\s+([\d,]+)\s+([\d,]+)\s+([\d,]+)\s*$", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedCounts:
    """Operations by type of valgrind: ``I64``, ``F64``, ``V128``, ..."""

    loads: Mapping[str, int]
    stores: Mapping[str, int]
    arithmetic: Mapping[str, int]
    counter: str = COUNTER

    @property
    def bytes_loaded(self) -> int:
        """Bytes of all loads."""
        return _size(self.loads)

    @property
    def bytes_stored(self) -> int:
        """Bytes of all stores."""
        return _size(self.stores)


def count_executed(command: Sequence[str], timeout: float) -> ExecutedCounts:
    """The counts of a program that runs to its end with exit code 0.

    Raises MissingTool without valgrind, WorkFailed where the program fails: valgrind prints counts
    even of a program that died of an instruction it does not know (AVX-512), up to there.
    """
    outcome = child_process.run(
        ["valgrind", "--tool=lackey", "--basic-counts=no", "--detailed-counts=yes", *command],
        timeout=timeout,
        environment=compiler.environment(),
    )
    rows = _ROW.findall(outcome.err)
    if not outcome.ok or not rows:
        raise WorkFailed(
            str(
                Fault(
                    where=f"valgrind --tool=lackey {command[0]}",
                    found=outcome.describe(),
                    expected="a run to its end with exit code 0",
                    hint="compile for an older CPU, such as -march=x86-64-v2, where it died of"
                    " SIGILL: valgrind does not know all instructions",
                )
            )
        )
    numbers = [(kind, [int(n.replace(",", "")) for n in counts]) for kind, *counts in rows]
    loads, stores, arithmetic = (
        {kind: counts[column] for kind, counts in numbers} for column in range(3)
    )
    return ExecutedCounts(loads=loads, stores=stores, arithmetic=arithmetic)


def _size(counts: Mapping[str, int]) -> int:
    """Bytes of operations of types that are named by their bits."""
    return sum(number * -(-int(kind[1:]) // 8) for kind, number in counts.items())
