"""In-core time from a table of documented throughputs, for machines that OSACA does not know.

The work of a loop is counted per component, from its assembly (of any machine: what counts is
what is loaded, stored and computed) or, without a compiler, from its C text, and divided by what
the machine does per cycle with vectors of its own width.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from autotune.analysis.incore_isa import DOUBLE
from autotune.analysis.loops import HotLoop
from autotune.machine import PortTable
from autotune.units import Bytes, Cycles


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Work per component: doubles moved and operations on doubles."""

    loads: float
    stores: float
    adds: float = 0.0
    multiplies: float = 0.0
    fused: float = 0.0
    divides: float = 0.0
    other: float = 0.0
    """Doubles that are shuffled or compared: work of vectors only."""
    overhead: float = 0.0
    """Other instructions per vector: counters, branches."""

    def without_fused(self) -> "Counts":
        """The same work on a machine without fused multiply-add."""
        return Counts(
            loads=self.loads,
            stores=self.stores,
            adds=self.adds + self.fused,
            multiplies=self.multiplies + self.fused,
            divides=self.divides,
            other=self.other,
            overhead=self.overhead,
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """Cycles per component, and what takes longest."""

    T_OL: Cycles
    T_nOL: Cycles
    bottleneck: str


def generic(vector: int) -> PortTable:
    """A core of common width, for a machine whose own table is not known."""
    return PortTable(
        vector=Bytes(vector), loads=2, stores=1, memory_operations=3, adds=2, multiplies=2,
        fused=2, floating=2, divide=8, issue=4,
    )  # fmt: skip


def estimate(counts: Counts, table: PortTable) -> Estimate:
    """T_OL and T_nOL of the counted work, each the largest of its limits.

    T_OL: adds, multiplies, fused, all floating-point work, divides, issue. T_nOL: loads, stores,
    and both together.
    """
    if table.fused == 0:
        counts = counts.without_fused()
    lanes = max(table.vector // DOUBLE, 1)
    other = counts.other if lanes > 1 else 0.0
    arithmetic = counts.adds + counts.multiplies + counts.fused
    moved = counts.loads + counts.stores
    vectors = {
        "adds": counts.adds / table.adds,
        "multiplies": counts.multiplies / table.multiplies,
        "fused multiply-adds": counts.fused / table.fused if table.fused else 0.0,
        "floating-point units": (arithmetic + other) / table.floating,
        "divider": counts.divides * table.divide,
        "issue": (arithmetic + other + counts.divides + moved + counts.overhead) / table.issue,
    }
    data = {
        "loads": counts.loads / table.loads,
        "stores": counts.stores / table.stores,
        "loads and stores": moved / table.memory_operations,
    }
    both = vectors | data
    return Estimate(
        T_OL=Cycles(max(vectors.values()) / lanes),
        T_nOL=Cycles(max(data.values()) / lanes),
        bottleneck=max(both, key=lambda name: both[name]),
    )


def count_loop(loop: HotLoop) -> Counts:
    """The work of a compiled loop per component."""
    work = dict.fromkeys(("add", "multiply", "fused", "divide", "other"), 0.0)
    loads = stores = 0.0
    overhead = 0
    for instruction in loop.instructions:
        loads += instruction.loads / DOUBLE
        stores += instruction.stores / DOUBLE
        if instruction.work != "none":
            work[instruction.work] += instruction.lanes
        elif not instruction.moves:
            overhead += 1
    per = loop.iterations
    return Counts(
        loads=loads / per,
        stores=stores / per,
        adds=work["add"] / per,
        multiplies=work["multiply"] / per,
        fused=work["fused"] / per,
        divides=work["divide"] / per,
        other=work["other"] / per,
        overhead=overhead * loop.lanes / per,
    )


# --- from the C text ---------------------------------------------------------------------------

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_FOR = re.compile(r"\bfor\s*\(")
_REFERENCE = re.compile(r"\b([A-Za-z_]\w*)\s*\[([^\]]*)\]")
_STEP = re.compile(r"\w+\s*\+=\s*(\d+)\s*$")
_ASSIGNMENT = re.compile(r"(?<![=<>!])(\+|-|\*)?=(?!=)")
_OVERHEAD = 3
"""Increment, compare, branch."""


def count_source(text: str) -> Counts:
    """The work per component of the innermost loop with the most work in a C text.

    Each element is loaded and stored once per pass, as a compiler keeps it in a register; a
    multiplication whose result is added is fused. Without a loop, the whole text is one pass.
    """
    text = _COMMENT.sub(" ", text)
    found = [_count_body(*loop) for loop in _inner_loops(text)] or [_count_body("", text)]
    return max(found, key=lambda c: c.adds + c.multiplies + 2 * c.fused + c.loads + c.stores)


def _inner_loops(text: str) -> Iterator[tuple[str, str]]:
    """Head and body of each ``for`` without another one inside."""
    for match in _FOR.finditer(text):
        end = _closing(text, match.end() - 1)
        head, rest = text[match.end() : end], text[end + 1 :]
        stripped = rest.lstrip()
        if stripped.startswith("{"):
            body = stripped[1 : _closing(stripped, 0)]
        else:
            body = stripped[: stripped.find(";") + 1]
        if not _FOR.search(body):
            yield head, body


def _closing(text: str, start: int) -> int:
    """Where the bracket that opens at ``start`` is closed."""
    pairs, depth = {"(": 1, "{": 1, ")": -1, "}": -1}, 0
    for position in range(start, len(text)):
        depth += pairs.get(text[position], 0)
        if depth == 0:
            return position
    return len(text)


def _count_body(head: str, body: str) -> Counts:
    step = _STEP.search(head.strip())
    per = float(step[1]) if step else 1.0
    read, written = set[str](), set[str]()
    adds = multiplies = divides = fused = 0
    for statement in re.split(r"[;{}]", body):
        match = _ASSIGNMENT.search(statement)
        if match is None:
            continue
        target, value = statement[: match.start()], statement[match.end() :]
        read |= _places(value + (target if match[1] else "")) - written
        written |= _places(target)
        bare = re.sub(r"\d\.?[eE][-+]?\d+", "1", _REFERENCE.sub("x", value))
        plus = len(re.findall(r"(?<=[\w)\s])[-+](?=[\s\w(.])", bare)) + (match[1] in ("+", "-"))
        times = bare.count("*") + (match[1] == "*")
        both = min(plus, times)
        adds, multiplies, fused = adds + plus - both, multiplies + times - both, fused + both
        divides += bare.count("/") + len(re.findall(r"\bsqrt\s*\(", bare))
    return Counts(
        loads=len(read) / per, stores=len(written) / per, adds=adds / per,
        multiplies=multiplies / per, fused=fused / per, divides=divides / per,
        overhead=_OVERHEAD / per,
    )  # fmt: skip


def _places(text: str) -> set[str]:
    """The array elements in a piece of C."""
    return {f"{name}[{''.join(index.split())}]" for name, index in _REFERENCE.findall(text)}
