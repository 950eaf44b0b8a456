"""The loop-carried dependency: the cycles by which a pass must wait for the previous one.

Dependencies go through registers, and through memory where a load reads an earlier store. A value
that the loop carries (a register read before it is written, a place that is stored and read in a
later pass) is both an input and an output of a pass. The longest paths between them make a matrix,
and the passes follow one another at its largest cycle mean (Karp 1978). Unlike a search for cycles
within one pass, this sees values that rotate through several registers.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.models.incore.cost.memory_corrections import ForwardedLoad

_NEVER = float("-inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainInstruction:
    """The dependencies of one instruction; registers have the names of the machine."""

    reads: frozenset[str]
    """Registers of its arithmetic."""
    addressing: frozenset[str]
    """Registers of its address, which its load waits for."""
    writes: frozenset[str]
    latency: float
    load: float
    loads: bool


@dataclass(frozen=True, slots=True)
class DependencyChain:
    """The longest loop-carried dependency of a pass: its cycles and its instructions."""

    cycles: float
    forwards: float
    """Number of paths through memory on it, per pass: a store and the load that reads it."""
    lines: frozenset[int] = frozenset()
    """The numbers of its instructions."""


def chain(
    steps: Sequence[ChainInstruction], forwards: Sequence[ForwardedLoad], forward: float
) -> DependencyChain:
    """The longest loop-carried dependency; ``forward``: cycles of store forwarding."""
    inputs = _carried(steps, forwards)
    if not inputs:
        return DependencyChain(0.0, 0.0)
    ways = {name: _outputs(name, steps, forwards, forward, inputs) for name in inputs}
    names = sorted(inputs)
    matrix = [[ways[a].get(b, (_NEVER, frozenset()))[0] for b in names] for a in names]
    cycle, mean = _best_cycle(matrix)
    if mean <= 0:
        return DependencyChain(0.0, 0.0)
    hops = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    lines = frozenset[int]().union(*(ways[names[a]][names[b]][1] for a, b in hops))
    through = sum(f.store in lines and f.load in lines for f in forwards if not _same(f, steps))
    return DependencyChain(mean, through / len(cycle), lines)


def _same(forward: ForwardedLoad, steps: Sequence[ChainInstruction]) -> bool:
    return not steps[forward.load].loads


def _carried(steps: Sequence[ChainInstruction], forwards: Sequence[ForwardedLoad]) -> set[str]:
    """The registers and memory places whose value a pass takes over from the previous pass."""
    written: set[str] = set()
    early: set[str] = set()
    for step in steps:
        early |= (step.reads | step.addressing) - written
        written |= step.writes
    places = {_place(f, back) for f in forwards for back in range(f.passes)}
    return (early & written) | places


def _place(forward: ForwardedLoad, back: int) -> str:
    """The name of the value of a store, ``back`` passes before the last store preceding
    the load.
    """
    return f"memory:{forward.store}:{forward.load}:{back}"


def _outputs(
    name: str,
    steps: Sequence[ChainInstruction],
    forwards: Sequence[ForwardedLoad],
    forward: float,
    inputs: set[str],
) -> dict[str, tuple[float, frozenset[int]]]:
    """The longest path from one carried value to each carried value of the next pass, with the
    instructions on it.
    """
    when: dict[str, float] = {name: 0.0}
    via: dict[str, int] = {}
    stored: dict[int, float] = {}
    before: dict[int, int | None] = {}
    waiting: Mapping[int, list[ForwardedLoad]] = _by_load(forwards)
    done: dict[int, float] = {}
    for number, step in enumerate(steps):
        loaded, source = _latest(when, via, step.addressing)
        for meeting in waiting.get(number, []):
            at = stored.get(meeting.store, _NEVER) if meeting.passes == 0 else _NEVER
            origin: int | None = meeting.store
            if meeting.passes and when.get(_place(meeting, meeting.passes - 1)) is not None:
                at, origin = when[_place(meeting, meeting.passes - 1)], None
            if at > _NEVER and at + forward > loaded:
                loaded, source = at + forward, origin
        ready, origin = _latest(when, via, step.reads)
        if step.loads and loaded > _NEVER and loaded + step.load >= ready:
            ready, origin = loaded + step.load, source
        elif not step.loads and loaded > ready:
            ready, origin = loaded, source
        if ready > _NEVER:
            done[number] = ready + step.latency
            stored[number], before[number] = done[number], origin
        for register in step.writes:
            if ready > _NEVER:
                when[register], via[register] = done[number], number
            else:
                when.pop(register, None)
                via.pop(register, None)
    return {
        output: (cycles, _lines(last, before))
        for output in inputs
        if (end := _end(output, name, when, via, stored)) is not None
        for cycles, last in [end]
    }


def _end(
    output: str,
    name: str,
    when: Mapping[str, float],
    via: Mapping[str, int],
    stored: Mapping[int, float],
) -> tuple[float, int | None] | None:
    """The cycle at which a carried value is ready for the next pass, and the instruction that makes
    it; None if none does.
    """
    if not output.startswith("memory:"):
        if output not in when or (output != name and output not in via):
            return None
        return when[output], via.get(output)
    _, store, load, back = output.split(":")
    if back == "0":
        number = int(store)
        return (stored[number], number) if number in stored else None
    older = f"memory:{store}:{load}:{int(back) - 1}"
    return (0.0, None) if older == name else None


def _by_load(forwards: Sequence[ForwardedLoad]) -> dict[int, list[ForwardedLoad]]:
    by_load: dict[int, list[ForwardedLoad]] = defaultdict(list)
    for forward in forwards:
        by_load[forward.load].append(forward)
    return by_load


def _latest(
    when: Mapping[str, float], via: Mapping[str, int], registers: frozenset[str]
) -> tuple[float, int | None]:
    """The cycle at which the last of some registers is ready, and the instruction that wrote it."""
    return max(
        ((when[r], via.get(r)) for r in registers if r in when),
        key=lambda ready: ready[0],
        default=(_NEVER, None),
    )


def _lines(last: int | None, before: Mapping[int, int | None]) -> frozenset[int]:
    lines: list[int] = []
    current: int | None = last
    while isinstance(current, int) and current not in lines:
        lines.append(current)
        current = before.get(current)
    return frozenset(lines)


def _best_cycle(matrix: Sequence[Sequence[float]]) -> tuple[list[int], float]:
    """The cycle with the largest mean weight, and that mean (Karp 1978)."""
    size = len(matrix)
    best: tuple[list[int], float] = ([], 0.0)
    for root in range(size):
        # longest walks of k steps from the root back to it, over later nodes only
        reach: list[dict[int, tuple[float, int]]] = [{root: (0.0, -1)}]
        for k in range(1, size - root + 1):
            row: dict[int, tuple[float, int]] = {}
            for a, (cycles, _) in reach[-1].items():
                for b in range(root, size):
                    weight = matrix[a][b]
                    if weight > _NEVER and cycles + weight > row.get(b, (_NEVER, -1))[0]:
                        row[b] = (cycles + weight, a)
            reach.append(row)
            if root in row and row[root][0] / k > best[1] + 1e-9:
                best = (_walk(reach, root), row[root][0] / k)
    return best


def _walk(reach: Sequence[Mapping[int, tuple[float, int]]], root: int) -> list[int]:
    """The nodes of a closed walk, starting at its root."""
    nodes, node = list[int](), root
    for row in reversed(reach[1:]):
        node = row[node][1]
        nodes.append(node)
    return nodes[::-1]
