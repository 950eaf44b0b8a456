"""The cycles of a loop whose instructions wait for one another within a limited window.

A processor looks ahead over a limited number of instructions. Where a pass has a long chain of
dependent operations, and so many operations that few passes fit into the window, the ports idle
however little work they have. The instructions are followed in program order. An operation on
vectors, or the store of one, enters the window when fewer than ``window`` older ones still wait
there. It is then bound to that of its ports with the least waiting work, and starts when its
operands are ready and the port is free, before older ones that still wait. Processors of Intel
choose ports in this way (Abel and Reineke, uiCA, 2022); of others it is an assumption.
"""

import heapq
from collections import defaultdict
from collections.abc import Sequence

from autotune.models.incore.cost.dependency_chain import ChainInstruction
from autotune.models.incore.cost.memory_corrections import ForwardedLoad
from autotune.models.incore.cost.port_pressure import Uop

_WINDOWS = 5
"""Windows of operations that pass before the passes are timed, and while they are."""
_FEWEST, _MOST = 4, 48
"""Passes that are timed."""
_PARTS = 16
"""Work is counted in such parts of a cycle."""

Slots = dict[str, dict[int, int]]
"""By port and cycle: the parts of the cycle that are taken."""


def cycles(
    steps: Sequence[ChainInstruction],
    work: Sequence[Sequence[Uop]],
    window: int,
    forwards: Sequence[ForwardedLoad] = (),
    forward: float = 0.0,
) -> float:
    """Cycles per pass of a loop in the long run, with all its data in the innermost cache.

    ``work``: the micro-operations of each instruction. ``window``: the number of vector operations
    that can wait. ``forwards``: loads of what the same pass has stored, ``forward`` cycles after
    the store.
    """
    stored = {f.load: f.store for f in forwards}
    starts = [0.0] * len(steps)
    waits = [_vector(step) and bool(uops) for step, uops in zip(steps, work, strict=True)]
    passes = max(_FEWEST, min(_MOST, -(-_WINDOWS * window // max(1, sum(waits)))))
    parts = [[(max(1, round(_PARTS * c)), sorted(p)) for c, p in uops if p] for uops in work]
    ready: dict[str, float] = defaultdict(float)
    slots: Slots = defaultdict(dict)
    waiting: list[float] = []
    bound: dict[str, list[tuple[float, int]]] = defaultdict(list)
    ends: list[float] = []
    entered = last = 0.0
    for _ in range(2 * passes):
        for number, (step, uops, waits_here) in enumerate(zip(steps, parts, waits, strict=True)):
            if waits_here and len(waiting) == window:
                entered = max(entered, waiting[0])
            begin = max([entered, *(ready[r] for r in step.addressing)])
            if step.loads:
                begin += step.load
            if number in stored:
                begin = max(begin, starts[stored[number]] + forward)
            begin = start = max([begin, *(ready[r] for r in step.reads)])
            for size, ports in uops:
                port = min(ports, key=lambda p: _pending(bound[p], entered))
                at = _take(slots[port], begin, size)
                heapq.heappush(bound[port], (at, size))
                start = max(start, at)
            starts[number] = start
            if waits_here:
                put = heapq.heappush if len(waiting) < window else heapq.heappushpop
                put(waiting, start)
            for register in step.writes:
                ready[register] = start + step.latency
            last = max(last, start + step.latency)
        ends.append(last)
    return (ends[-1] - ends[passes - 1]) / passes


def _vector(step: ChainInstruction) -> bool:
    """Whether an instruction works on vectors or stores one, and is no load alone."""
    wide = any(name.startswith("v") for name in step.reads | step.writes)
    return wide and (step.latency > 0 or not step.loads)


def _pending(bound: list[tuple[float, int]], now: float) -> int:
    """The parts of work that wait for a port; what has started by ``now`` is dropped."""
    while bound and bound[0][0] <= now:
        heapq.heappop(bound)
    return sum(size for _, size in bound)


def _take(used: dict[int, int], ready: float, size: int) -> float:
    """The first cycle from ``ready`` on in which a port is free; takes so many parts of cycles from
    it on.
    """
    cycle = -int(-ready // 1)
    while used.get(cycle, 0) >= _PARTS:
        cycle += 1
    first = cycle
    while size > 0:
        free = _PARTS - used.get(cycle, 0)
        used[cycle] = used.get(cycle, 0) + min(free, size)
        size -= free
        cycle += 1
    return float(first)
