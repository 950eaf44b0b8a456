"""The cycles of a loop whose instructions wait for one another within a limited window.

A processor looks ahead over a limited number of instructions. Where a pass has a long chain of
dependent operations, and so many operations that few passes fit into the window, the ports idle
however little work they have. The instructions are followed in program order. An operation on
vectors, or the store of one, enters the window when fewer than ``window`` older ones still wait
there. It is then bound to that of its ports with the least waiting work, and starts when its
operands are ready and the port is free, before older ones that still wait. Processors of Intel
choose ports in this way (Abel and Reineke, uiCA, 2022); of others it is an assumption.

Instructions without vector registers take no port here: they run ahead of the waiting ones, their
ports count in the sum of all work, and pointers that a pass loads again have a measured price.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from autotune.models.incore.cost.dependency_chain import ChainInstruction
from autotune.models.incore.cost.memory_corrections import ForwardedLoad
from autotune.models.incore.cost.port_pressure import Uop

_WINDOWS = 5
"""Windows of operations that pass before the passes are timed, and while they are."""
_FEWEST, _MOST = 4, 48
"""Passes that are timed."""
_PARTS = 16
"""Work is counted in such parts of a cycle."""


@dataclass(frozen=True, slots=True)
class Taking:
    """How the operations of an instruction are taken up and read their operands."""

    operations: int = 1
    """Vector operations that it is; none of an instruction without vector registers."""
    instructions: int = 1
    """0: the front end counts it with the instruction before it."""
    beside: str = ""
    """The port over which a third operand comes, in the cycle in which the operation starts: once
    for all operations that start then; none: no such port."""


@dataclass(frozen=True, slots=True)
class Issue:
    """What enters the window per cycle, in program order; infinite: without a limit."""

    instructions: float = math.inf
    vectors: float = math.inf


@dataclass(slots=True)
class _Ports:
    """The ports, cycle by cycle."""

    slots: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    """By port and cycle: the parts of the cycle that are taken."""
    bound: dict[str, list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))
    """By port: when work starts that is bound to it, and its parts of cycles."""
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """By port: the pieces of work so far; ports with as much waiting work take turns."""
    third: set[float] = field(default_factory=set)
    """Cycles in which a third operand comes."""

    def start(
        self, ready: float, size: int, ports: Sequence[str], beside: str, now: float
    ) -> float:
        """The cycle in which work starts that enters the window ``now``."""
        port = min(ports, key=lambda p: (_pending(self.bound[p], now), self.counts[p]))
        self.counts[port] += 1
        at = _free(self.slots[port], ready)
        while beside and at not in self.third and self.slots[beside].get(int(at), 0):
            at = _free(self.slots[port], at + 1)
        if beside and at not in self.third:
            self.third.add(at)
            _take(self.slots[beside], at, _PARTS)
            heapq.heappush(self.bound[beside], (at, _PARTS))
        _take(self.slots[port], at, size)
        heapq.heappush(self.bound[port], (at, size))
        return at


def cycles(
    steps: Sequence[ChainInstruction],
    work: Sequence[Sequence[Uop]],
    window: int,
    forwards: Sequence[ForwardedLoad] = (),
    forward: float = 0.0,
    taking: Sequence[Taking] = (),
    issue: Issue = Issue(),
) -> float:
    """Cycles per pass of a loop in the long run, with all its data in the innermost cache.

    ``work``: the micro-operations of each instruction. ``window``: the number of vector operations
    that can wait. ``forwards``: loads of what the same pass has stored, ``forward`` cycles after
    the store. ``taking``: of each instruction; without it, each is one operation.
    """
    taking = [
        how if _registers(step) else replace(how, operations=0)
        for step, how in zip(steps, taking or [Taking()] * len(steps), strict=True)
    ]
    stored = {f.load: f.store for f in forwards}
    starts = [0.0] * len(steps)
    waits = [
        how.operations if _vector(step) and uops else 0
        for step, uops, how in zip(steps, work, taking, strict=True)
    ]
    passes = max(_FEWEST, min(_MOST, -(-_WINDOWS * window // max(1, sum(waits)))))
    parts = [_parts(uops, how) for uops, how in zip(work, taking, strict=True)]
    enters = [
        (how.instructions / issue.instructions, how.operations / issue.vectors) for how in taking
    ]
    ready: dict[str, float] = defaultdict(float)
    ports = _Ports()
    waiting: list[float] = []
    ends: list[float] = []
    entered = delivered = taken = stalled = last = 0.0
    every = list(zip(steps, parts, waits, taking, enters, strict=True))
    for _ in range(2 * passes):
        for number, (step, uops, waits_here, how, enter) in enumerate(every):
            delivered, taken = max(delivered, stalled) + enter[0], max(taken, stalled) + enter[1]
            entered = max(entered, delivered, taken)
            while len(waiting) > window - waits_here:
                entered = stalled = max(entered, heapq.heappop(waiting))
            begin = max([entered, *(ready[r] for r in step.addressing)])
            if step.loads:
                begin += step.load
            if number in stored:
                begin = max(begin, starts[stored[number]] + forward)
            begin = start = max([begin, *(ready[r] for r in step.reads)])
            for size, named in uops:
                beside = how.beside if how.beside and named == uops[0][1] else ""
                start = max(start, ports.start(begin, size, named, beside, entered))
            starts[number] = start
            for _ in range(waits_here):
                heapq.heappush(waiting, start)
            for register in step.writes:
                ready[register] = start + step.latency
            last = max(last, start + step.latency)
        ends.append(last)
    return (ends[-1] - ends[passes - 1]) / passes


def _parts(uops: Sequence[Uop], how: Taking) -> list[tuple[int, list[str]]]:
    """The parts of cycles of each micro-operation, and its ports: as many micro-operations as
    the instruction is vector operations.
    """
    return [
        (max(1, round(_PARTS * cycles / how.operations)), sorted(ports))
        for cycles, ports in uops
        if ports
        for _ in range(how.operations)
    ]


def _registers(step: ChainInstruction) -> bool:
    """Whether an instruction reads or writes a vector register."""
    return any(name.startswith("v") for name in step.reads | step.writes)


def _vector(step: ChainInstruction) -> bool:
    """Whether an instruction works on vectors or stores one, and is no load alone."""
    return _registers(step) and (step.latency > 0 or not step.loads)


def _pending(bound: list[tuple[float, int]], now: float) -> int:
    """The parts of work that wait for a port; what has started by ``now`` is dropped."""
    while bound and bound[0][0] <= now:
        heapq.heappop(bound)
    return sum(size for _, size in bound)


def _free(used: dict[int, int], ready: float) -> float:
    """The first cycle from ``ready`` on in which a port is free."""
    cycle = -int(-ready // 1)
    while used.get(cycle, 0) >= _PARTS:
        cycle += 1
    return float(cycle)


def _take(used: dict[int, int], start: float, size: int) -> None:
    """Take so many parts of cycles of a port from a cycle on."""
    cycle = int(start)
    while size > 0:
        free = _PARTS - used.get(cycle, 0)
        used[cycle] = used.get(cycle, 0) + min(free, size)
        size -= free
        cycle += 1
