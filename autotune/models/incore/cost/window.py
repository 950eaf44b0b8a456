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
class _Port:
    """A port, cycle by cycle."""

    taken: dict[int, int] = field(default_factory=dict)
    """By cycle: the parts of it that are taken."""
    bound: list[tuple[int, int]] = field(default_factory=list)
    """When work starts that is bound to it, and its parts of cycles."""
    waiting: int = 0
    """The sum of these parts."""
    count: int = 0
    """The pieces of work so far; ports with as much waiting work take turns."""

    def forget(self, now: float) -> None:
        """Drop what has started by ``now``."""
        bound = self.bound
        while bound and bound[0][0] <= now:
            self.waiting -= heapq.heappop(bound)[1]

    def free(self, cycle: int) -> int:
        """The first cycle from ``cycle`` on in which the port is free."""
        taken = self.taken
        while taken.get(cycle, 0) >= _PARTS:
            cycle += 1
        return cycle

    def take(self, cycle: int, size: int) -> None:
        """Take so many parts of cycles from a cycle on."""
        heapq.heappush(self.bound, (cycle, size))
        self.waiting += size
        taken, used = self.taken, self.taken.get(cycle, 0)
        if used + size <= _PARTS:
            taken[cycle] = used + size
            return
        while size > 0:
            used = taken.get(cycle, 0)
            part = min(_PARTS - used, size)
            taken[cycle] = used + part
            size -= part
            cycle += 1


@dataclass(slots=True)
class _Ports:
    """All ports by name."""

    named: dict[str, _Port] = field(default_factory=lambda: defaultdict(_Port))
    third: set[int] = field(default_factory=set)
    """Cycles in which a third operand comes."""

    def start(
        self, ready: float, size: int, ports: Sequence[_Port], beside: _Port | None, now: float
    ) -> int:
        """The cycle in which work starts that enters the window ``now``."""
        port = ports[0]
        if len(ports) > 1:
            for other in ports:
                if other.bound and other.bound[0][0] <= now:
                    other.forget(now)
                if other.waiting < port.waiting or (
                    other.waiting == port.waiting and other.count < port.count
                ):
                    port = other
        port.count += 1
        at = port.free(math.ceil(ready))
        if beside is not None:
            while at not in self.third and beside.taken.get(at, 0):
                at = port.free(at + 1)
            if at not in self.third:
                self.third.add(at)
                beside.take(at, _PARTS)
        port.take(at, size)
        return at


@dataclass(frozen=True, slots=True)
class _Entering:
    """An instruction as it enters the window; registers are numbers."""

    uops: tuple[tuple[int, tuple[_Port, ...], _Port | None], ...]
    """Parts of cycles, ports, and the port of a third operand."""
    waits: int
    front: float
    """Cycles of the front end, and:"""
    taken: float
    """Those of vector operations."""
    pointers: tuple[int, ...]
    sources: tuple[int, ...]
    targets: tuple[int, ...]
    load: float
    latency: float
    stored: int | None
    """The store of the same pass that it reads."""


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
    ports = _Ports()
    numbers: dict[str, int] = defaultdict(lambda: len(numbers))
    stored = {f.load: f.store for f in forwards}
    entering = [
        _Entering(
            uops=_bound_to(ports, _parts(uops, how), how.beside),
            waits=how.operations if _vector(step) and uops else 0,
            front=how.instructions / issue.instructions,
            taken=how.operations / issue.vectors,
            pointers=tuple(numbers[r] for r in step.addressing),
            sources=tuple(numbers[r] for r in step.reads),
            targets=tuple(numbers[r] for r in step.writes),
            load=step.load if step.loads else 0.0,
            latency=step.latency,
            stored=stored.get(number),
        )
        for number, (step, uops, how) in enumerate(zip(steps, work, taking, strict=True))
    ]
    waits = sum(e.waits for e in entering)
    passes = max(_FEWEST, min(_MOST, -(-_WINDOWS * window // max(1, waits))))
    ends = _ends(entering, ports, len(numbers), 2 * passes, window, forward)
    return (ends[-1] - ends[passes - 1]) / passes


def _ends(
    entering: Sequence[_Entering],
    ports: _Ports,
    registers: int,
    passes: int,
    window: int,
    forward: float,
) -> list[float]:
    """The cycles at whose end so many passes are done."""
    ready = [0.0] * registers
    starts = [0.0] * len(entering)
    waiting: list[float] = []
    ends: list[float] = []
    entered = delivered = taken = stalled = last = 0.0
    for _ in range(passes):
        for number, e in enumerate(entering):
            delivered, taken = max(delivered, stalled) + e.front, max(taken, stalled) + e.taken
            entered = max(entered, delivered, taken)
            while len(waiting) > window - e.waits:
                entered = stalled = max(entered, heapq.heappop(waiting))
            begin = entered
            for register in e.pointers:
                if ready[register] > begin:
                    begin = ready[register]
            begin += e.load
            if e.stored is not None:
                begin = max(begin, starts[e.stored] + forward)
            for register in e.sources:
                if ready[register] > begin:
                    begin = ready[register]
            start = begin
            for size, named, beside in e.uops:
                at = ports.start(begin, size, named, beside, entered)
                if at > start:
                    start = at
            starts[number] = start
            for _ in range(e.waits):
                heapq.heappush(waiting, start)
            end = start + e.latency
            for register in e.targets:
                ready[register] = end
            last = max(last, end)
        ends.append(last)
    return ends


def _bound_to(
    ports: _Ports, parts: Sequence[tuple[int, list[str]]], beside: str
) -> tuple[tuple[int, tuple[_Port, ...], _Port | None], ...]:
    """Micro-operations with their ports; a third operand comes with those like the first."""
    return tuple(
        (
            size,
            tuple(ports.named[name] for name in names),
            ports.named[beside] if beside and names == parts[0][1] else None,
        )
        for size, names in parts
    )


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
