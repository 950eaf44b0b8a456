"""In-core time from a table of documented throughputs, for machines unknown to OSACA.

The work of a loop per component is counted in its assembly, or in its C text where there is no
compiler. The assembly may be of any machine, since only loads, stores and operations are counted.
The work is divided by the throughput of the machine with vectors of its width.
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autotune.domain.machine import PortTable
from autotune.models.incore.assembly.instructions import DOUBLE, Instruction
from autotune.models.incore.assembly.loop_passes import HotLoop
from autotune.models.incore.base import InCoreResult
from autotune.models.incore.cost.library_calls import PRICED
from autotune.units import Bytes, Cycles


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentWork:
    """Work per component: doubles moved and operations on doubles."""

    loads: float
    stores: float
    adds: float = 0.0
    multiplies: float = 0.0
    fused: float = 0.0
    divides: float = 0.0
    other: float = 0.0
    """Number of doubles that are shuffled or compared, in vector code only."""
    overhead: float = 0.0
    """Number of other instructions per vector: counters, branches."""
    body: float = 1.0
    """Number of vectors in one pass of the loop."""
    chain: float = 0.0
    """Operations per component that wait for the previous one: sums carried by the loop."""

    def without_fused(self) -> "ComponentWork":
        """The same work on a machine without fused multiply-add."""
        return ComponentWork(
            loads=self.loads,
            stores=self.stores,
            adds=self.adds + self.fused,
            multiplies=self.multiplies + self.fused,
            divides=self.divides,
            other=self.other,
            overhead=self.overhead,
            body=self.body,
            chain=self.chain,
        )


def generic(vector: int) -> PortTable:
    """A port table with common throughputs, for a machine without a table of its own."""
    return PortTable(
        vector=Bytes(vector), loads=2, stores=1, memory_operations=3, adds=2, multiplies=2,
        fused=2, floating=2, divide=8, issue=4,
    )  # fmt: skip


def estimate(counts: ComponentWork, table: PortTable) -> InCoreResult:
    """T_OL and T_nOL of the counted work of a component, each the largest of its limits.

    Limits of T_OL: adds, multiplies, fused operations, all floating-point work, divides, issue,
    dispatch groups, the loop-carried chain. Limits of T_nOL: loads, stores, and both together.
    """
    if table.fused == 0:
        counts = counts.without_fused()
    lanes = max(table.vector // DOUBLE, 1)
    floating, front = _computing(counts, table, lanes), _front(counts, table, lanes)
    moved = counts.loads + counts.stores
    data = {
        "loads": counts.loads / table.loads,
        "stores": counts.stores / table.stores,
        "loads and stores": moved / table.memory_operations,
    }
    chain = {"chain": counts.chain * table.latency * lanes}
    computing = floating | front | chain
    both = computing | data
    crowded = [
        *_crowded(floating, "floating", table),
        *_crowded(front, "issue", table),
        *chain.values(),
    ]
    return InCoreResult(
        T_OL=Cycles(max(computing.values()) / lanes),
        T_nOL=Cycles(max(data.values()) / lanes),
        bottleneck=max(both, key=lambda name: both[name]),
        crowded=Cycles(max(crowded) / lanes),
        chain=Cycles(0.0),
        iterations=1.0,
        route="ports",
        approximate=True,
    )


def _crowded(limits: dict[str, float], unit: str, table: PortTable) -> list[float]:
    """The limits of a unit that several cores share, while all of them are busy."""
    cores = table.shared_by if unit in table.shared else 1
    return [cycles * cores for cycles in limits.values()]


def _computing(counts: ComponentWork, table: PortTable, lanes: int) -> dict[str, float]:
    """The cycles per vector of each kind of arithmetic."""
    other = counts.other if lanes > 1 else 0.0
    arithmetic = counts.adds + counts.multiplies + counts.fused
    passing = counts.stores if table.stores_compute else 0.0
    return {
        "adds": counts.adds / table.adds,
        "multiplies": counts.multiplies / table.multiplies,
        "fused multiply-adds": counts.fused / table.fused if table.fused else 0.0,
        "floating-point units": (arithmetic + other + passing) / table.floating,
        "divider": counts.divides * table.divide,
    }


def _front(counts: ComponentWork, table: PortTable, lanes: int) -> dict[str, float]:
    """The cycles per vector to issue the instructions, and to dispatch them in groups."""
    other = counts.other if lanes > 1 else 0.0
    arithmetic = counts.adds + counts.multiplies + counts.fused
    slots = arithmetic + other + counts.divides + counts.loads + counts.stores + counts.overhead
    if table.folds:
        slots -= min(counts.loads, arithmetic)
    limits = {"issue": slots / table.issue}
    if table.dispatch:
        groups = math.ceil(counts.body * slots / table.dispatch - 1e-9)
        limits["dispatch groups"] = groups / counts.body
    return limits


def count_loop(loop: HotLoop) -> ComponentWork:
    """The work of a compiled loop per component."""
    return count(loop.instructions, loop.iterations, loop.lanes)


def count(instructions: Iterable[Instruction], per: float, lanes: int) -> ComponentWork:
    """The work of instructions, divided by ``per``; ``lanes``: doubles in a vector."""
    work = dict.fromkeys(("add", "multiply", "fused", "divide", "other"), 0.0)
    loads = stores = 0.0
    overhead = 0
    for instruction in instructions:
        loads += instruction.loads / DOUBLE
        stores += instruction.stores / DOUBLE
        if instruction.work != "none":
            work[instruction.work] += instruction.lanes
        elif not instruction.moves:
            overhead += 1
    return ComponentWork(
        loads=loads / per,
        stores=stores / per,
        adds=work["add"] / per,
        multiplies=work["multiply"] / per,
        fused=work["fused"] / per,
        divides=work["divide"] / per,
        other=work["other"] / per,
        overhead=overhead * lanes / per,
        body=max(1.0, per / lanes),
    )


# --- from the C text ---------------------------------------------------------------------------

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_FOR = re.compile(r"\bfor\s*\(")
_REFERENCE = re.compile(r"\b([A-Za-z_]\w*)\s*\[([^\]]*)\]")
_ELEMENT = "x"
"""Stands for an element of an array in an expression whose operations are counted."""
_NAME = re.compile(r"[A-Za-z_]\w*")
_STEP = re.compile(r"\w+\s*\+=\s*(\d+)\s*$")
_ASSIGNMENT = re.compile(r"(?<![=<>!])(\+|-|\*)?=(?!=)")
_SHIFTED = re.compile(r"(\w+\[[A-Za-z_]\w*(?:[-+][A-Za-z_]\w*)*)([-+]\d+)?\]")
_OVERHEAD = 3
"""Increment, compare, branch; three increments where the branch has a slot of its own."""
_REMEMBERED = 4
"""Number of passes over which a compiler keeps a loaded vector in a register."""


def count_source(text: str, lanes: int = 0, unroll: int = 1) -> ComponentWork:
    """The work per component of the innermost loop with the most work in a C text.

    Each element is loaded and stored once per pass, as a compiler keeps it in a register. With
    ``lanes``, the doubles in a vector, elements that an earlier pass loaded are not loaded again
    (predictive commoning). A multiplication whose result is added is fused. What is the same in
    every pass, such as a quotient of constants, is computed before the loop. ``unroll``: vectors
    per pass. A text without a loop is one pass.
    """
    text = _COMMENT.sub(" ", text)
    loops = [*_inner_loops(text)] or [("", text)]
    counts = [_count_body(head, body, lanes, unroll) for head, body in loops]
    return max(counts, key=lambda c: c.adds + c.multiplies + 2 * c.fused + c.loads + c.stores)


_INLINE = frozenset({"sqrt", "fmax", "fmin", "floor", "ceil"})


def called_in_source(text: str) -> tuple[str, ...]:
    """The library functions called in a pass of the innermost loop with most calls, in a C text.

    Functions that compilers turn into instructions are left out.

    >>> called_in_source("for (j = 0; j < n; ++j) { a[j] = sin(b[j]) + exp(b[j]); }")
    ('sin', 'exp')
    """
    text = _COMMENT.sub(" ", text)
    bodies = [body for _, body in _inner_loops(text)]
    calls = [re.findall(r"\b([a-z]\w*)\s*\(", body) for body in bodies]
    called = [tuple(n for n in names if n in PRICED and n not in _INLINE) for names in calls]
    return max(called, key=len, default=())


def _inner_loops(text: str) -> Iterator[tuple[str, str]]:
    """Head and body of each ``for`` loop that contains no other."""
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
    """Position of the bracket that closes the one at ``start``."""
    pairs, depth = {"(": 1, "{": 1, ")": -1, "}": -1}, 0
    for position in range(start, len(text)):
        depth += pairs.get(text[position], 0)
        if depth == 0:
            return position
    return len(text)


def _count_body(head: str, body: str, lanes: int, unroll: int) -> ComponentWork:
    step = _STEP.search(head.strip())
    per = float(step[1]) if step else 1.0
    read, written = set[str](), set[str]()
    statements = re.split(r"[;{}]", body)
    assigned = [(s, match) for s in statements if (match := _ASSIGNMENT.search(s))]
    changed = " ".join([head, *(s[: match.start()] for s, match in assigned)])
    work = _Work(varying=frozenset({_ELEMENT, *_NAME.findall(changed)}))
    carried: Counter[str] = Counter()
    for statement, match in assigned:
        target, value = statement[: match.start()], statement[match.end() :]
        read |= _places(value + (target if match[1] else "")) - written
        written |= _places(target)
        work.add(f"{_ELEMENT} {match[1]} ({value})" if match[1] else value)
        name = target.strip()
        if name.isidentifier() and (match[1] or re.search(rf"\b{name}\b", value)):
            carried[name] += 1
    declared = {name for name in carried if re.search(rf"\bdouble\s+{name}\b", body)}
    remembered = _kept(read, written, lanes) if lanes and per == 1 else 0
    chain = max((count for name, count in carried.items() if name not in declared), default=0) / per
    return ComponentWork(
        loads=(len(read) - remembered) / per, stores=len(written) / per, adds=work.adds / per,
        multiplies=work.multiplies / per, fused=work.fused / per, divides=work.divides / per,
        overhead=_OVERHEAD / (per * unroll), body=float(unroll),
        chain=chain,
    )  # fmt: skip


@dataclass(slots=True)
class _Work:
    """Floating-point operations of C expressions."""

    varying: frozenset[str]
    """Names whose values differ from pass to pass."""
    adds: int = 0
    multiplies: int = 0
    fused: int = 0
    divides: int = 0

    def add(self, text: str) -> None:
        """Count an expression; text that is no plain arithmetic is counted by its operators."""
        bare = _REFERENCE.sub(_ELEMENT, " ".join(text.split()))
        try:
            self.visit(ast.parse(bare.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError):
            self.guess(re.sub(r"\d\.?[eE][-+]?\d+", "1", bare))

    def visit(self, node: ast.AST) -> None:
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        if not names & self.varying:
            return
        match node:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                product = _product(right) or _product(left)
                if product is None:
                    self.adds += 1
                else:
                    self.fused += 1
                    self.multiplies -= 1
            case ast.BinOp(op=ast.Mult()):
                self.multiplies += 1
            case ast.BinOp(op=ast.Div()) | ast.Call(func=ast.Name(id="sqrt")):
                self.divides += 1
        for child in ast.iter_child_nodes(node):
            self.visit(child)

    def guess(self, bare: str) -> None:
        plus = len(re.findall(r"(?<=[\w)\s])[-+](?=[\s\w(.])", bare))
        times = bare.count("*")
        both = min(plus, times)
        self.adds += plus - both
        self.multiplies += times - both
        self.fused += both
        self.divides += bare.count("/") + len(re.findall(r"\bsqrt\s*\(", bare))


def _product(node: ast.expr) -> ast.BinOp | None:
    """The multiplication in a term, whatever its sign; None if there is none."""
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return node
    return None


def _places(text: str) -> set[str]:
    """The array elements that occur in a piece of C."""
    return {f"{name}[{''.join(index.split())}]" for name, index in _REFERENCE.findall(text)}


def _kept(read: set[str], written: set[str], lanes: int) -> int:
    """The number of elements whose vector a previous pass has loaded: ``y[j-1]`` was ``y[j+1]``."""
    rows: dict[str, set[int]] = {}
    changed = {place.partition("[")[0] for place in written}
    for place in read:
        match = _SHIFTED.fullmatch(place)
        if match and match[1].partition("[")[0] not in changed:
            rows.setdefault(match[1], set()).add(int(match[2] or 0))
    return sum(
        any(offset + lanes * back in offsets for back in range(1, _REMEMBERED + 1))
        for offsets in rows.values()
        for offset in offsets
    )
