"""Finds the hot loops of a compiled sweep, and the other loops that belong to them.

Compilers make several loops of one: peeled, vectorised, unrolled, remainder. Some are entered in
the middle (predictive commoning), some are split into several that run one after the other. Loops
are found in the control flow. The hot loop is chosen among the innermost loops, with short loops of
constant length written out. It is the one with the widest vectors, then the most components per
pass, then the deepest nest; among the loops that run before and after it, the one with the most
components per pass. Loops over the same components for other rows are hot as well. Loops
over the components that the hot loop leaves are its remainder.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from autotune.models.incore.assembly import control_flow, loop_passes, register_values
from autotune.models.incore.assembly.aarch64 import AArch64
from autotune.models.incore.assembly.control_flow import Items
from autotune.models.incore.assembly.instructions import DOUBLE, Instruction, InstructionSet
from autotune.models.incore.assembly.loop_passes import (
    CompiledFunction,
    HotLoop,
    called,
    is_row,
    pointers,
    slots,
)
from autotune.models.incore.assembly.x86 import X86

COPIES = ("memcpy", "memmove", "memset")
"""Library functions by which compilers replace a loop."""


class NoLoop(ValueError):
    """An assembly text has no loop that can be analysed; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HotLoops:
    """The loops in which a sweep spends its time."""

    main: tuple[HotLoop, ...]
    """The hot loop, then those that run before or after it over the same components."""
    rest: tuple[HotLoop, ...] = ()
    """The loops for the remainder of the hot loop, most components per pass first."""
    straight: HotLoop | None = None
    """The remainder without a loop, as one pass over its components; None where there is none."""
    head: HotLoop | None = None
    """The loop over single components before the hot loop, of the same rows."""
    leaves: bool = False
    """Whether the hot loop never takes the last components, as where its vectors would read beyond
    the end of a row: its remainder loop runs after it in any case."""
    entry: int = 0
    """Instructions per entry into the hot loop: those around it, within the next outer loop."""


def detect(assembly: str, vector: int = 16) -> InstructionSet:
    """The instruction set of an assembly text; ``vector`` is the width of SVE in bytes."""
    if re.search(r"%(?:[re](?:ax|bp|sp|di|si)|[xyz]mm\d)", assembly):
        return X86()
    if re.search(r"^\s+(?:ldr|str|ldp|cmp|add|mov|ret|bl?)\b[^%\n]*$", assembly, re.MULTILINE):
        return AArch64(vector)
    raise NoLoop("the assembly is neither x86-64 in AT&T syntax nor AArch64")


def hot_loop(assembly: str, function: str, vector: int = 16) -> HotLoop:
    """The main hot loop alone; see ``hot_loops``."""
    return hot_loops(assembly, function, vector).main[0]


def hot_loops(assembly: str, function: str, vector: int = 16) -> HotLoops:
    """The hot loops of a function, or of the whole text where the function is not in it.

    A call of ``memcpy`` or ``memset`` in the place of the loop counts as a plain copy loop. A
    function without any loop (a boundary of one component) counts as one pass. Raises NoLoop with a
    reason where nothing is stored.
    """
    isa = detect(assembly, vector)
    parts = dict(control_flow.functions(assembly, isa))
    bodies = [items for name, items in parts.items() if re.split(r"[.$]", name)[0] == function]
    items = bodies or list(parts.values())
    candidates = [loop for part in items for loop in _candidates(part, isa)]
    working = [loop for loop in candidates if not _copies(loop.loop)] or candidates
    copy = next((name for name in COPIES if name in _called(items, isa)), None)
    if copy and (not working or _copies(working[0].loop)):
        text = isa.copy_loop(copy != "memset")
        loop = hot_loop(text, "copy", vector)
        return HotLoops(main=(_noted(loop, f"the compiler calls {copy}: taken as a vector loop"),))
    if working:
        return _chosen(working)
    for part in items:
        for loop in _straight(part, isa):
            return HotLoops(main=(loop,))
    raise NoLoop(f"no loop and no store in the assembly of {function}")


def hot_loops_among(
    functions: Sequence[Items], isa: InstructionSet, counted: Callable[[HotLoop], HotLoop | None]
) -> HotLoops | None:
    """The hot loops among those loops that ``counted`` accepts.

    ``counted`` maps a loop to the loop with its passes counted, or to None to reject it.
    """
    candidates = []
    for items in functions:
        for candidate in _candidates(items, isa):
            loop = counted(candidate.loop)
            if loop is not None:
                candidates.append(replace(candidate, loop=loop))
    return _chosen(candidates) if candidates else None


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A loop that may be the hot one, with its function."""

    loop: HotLoop
    function: CompiledFunction
    head: int

    @property
    def rank(self) -> tuple[float, ...]:
        loop = self.loop
        return (loop.lanes, loop.iterations, loop.depth, len(loop.instructions))


def _candidates(items: Items, isa: InstructionSet) -> Iterator[_Candidate]:
    """The loops that may be hot: those with no inner loop but short loops of constant length."""
    blocks = control_flow.split(items, isa)
    if not blocks:
        return
    successors = control_flow.block_successors(blocks, isa)
    loops = control_flow.natural_loops(successors)
    registers = register_values.register_values_of(blocks, successors, loops, isa)
    function = CompiledFunction(isa, blocks, successors, loops, registers)
    written_out = {
        head
        for head in loops
        if function.parent(head) is not None and loop_passes.short(function, head)
    }
    for head in loops:
        if head not in written_out and set(function.children(head)) <= written_out:
            yield _Candidate(loop_passes.measured(function, head), function, head)


def _chosen(candidates: Sequence[_Candidate]) -> HotLoops:
    strong = _strong(candidates)
    best = _main(max(strong, key=lambda c: c.rank), strong)
    level = [
        c
        for c in candidates
        if c.function is best.function and _level(c) == _level(best) and c.head != best.head
    ]
    main, rest = [best], list[_Candidate]()
    for other in sorted(level, key=lambda c: c.rank, reverse=True):
        after, before = _reaches(best, other), _reaches(other, best)
        if not (after or before):
            continue  # another version of the same loop
        if _covers_same_components(other, main):
            main.append(other)
        elif after and (other.loop.rows & best.loop.rows or _obscure(other, best)):
            rest.append(other)
    return HotLoops(
        main=tuple(c.loop for c in main),
        rest=_remainder_loops(best.loop, [c.loop for c in rest]),
        straight=_straight_remainder(best) if best.loop.iterations > 1 else None,
        head=next((c.loop for c in level if _heads(c, best)), None),
        leaves=_leaves(best, rest),
        entry=_entry(best),
    )


def _strong(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The candidates without loops that are as deep as the first by rank and compute less than half
    of what another one does for a component: those of a boundary, where little is to do.
    """
    depth = max(candidates, key=lambda c: c.rank).loop.depth
    most = max(_computed(c.loop) for c in candidates if c.loop.depth == depth)
    return [c for c in candidates if c.loop.depth != depth or 2 * _computed(c.loop) >= most]


def _computed(loop: HotLoop) -> float:
    """The operations of floating point for a component; an instruction on a vector is one for each
    of its elements.
    """
    operations = sum(i.lanes for i in loop.instructions if i.work not in ("none", "other"))
    return operations / loop.iterations


def _main(widest: _Candidate, candidates: Sequence[_Candidate]) -> _Candidate:
    """The loop of the most components per pass among those that run before or after the widest one
    over the same rows: a head or a remainder takes fewer, with whatever vectors.
    """
    sequence = [
        c
        for c in candidates
        if c.function is widest.function
        and _level(c) == _level(widest)
        and _reaches(c, widest) != _reaches(widest, c)
        and (c.loop.rows & widest.loop.rows or _obscure(c, widest))
    ]
    return max([widest, *sequence], key=lambda c: (c.loop.iterations, c.rank))


def _leaves(best: _Candidate, rest: Sequence[_Candidate]) -> bool:
    """Whether every way out of the hot loop leads through its remainder, a loop or not."""
    function, around = best.function, _level(best)
    body, rows = function.loops[best.head], best.loop.rows
    remainder = {c.head for c in rest}
    waiting = [after for b in body for after in function.successors[b] if after not in body]
    seen = set(waiting)
    while waiting:
        block = waiting.pop()
        if block in remainder or loop_passes.stores_to(function, block) & rows:
            continue
        if block == around or not function.successors[block]:
            return False
        fresh = function.successors[block] - seen
        seen |= fresh
        waiting += fresh
    return best.loop.iterations > 1


def _heads(other: _Candidate, best: _Candidate) -> bool:
    """Whether a loop takes single components of the rows of the hot loop, and runs before it."""
    alike = bool(other.loop.rows & best.loop.rows) or _obscure(other, best)
    before = _reaches(other, best) and not _reaches(best, other)
    return before and alike and other.loop.iterations == 1 < best.loop.iterations


def _level(candidate: _Candidate) -> int | None:
    return candidate.function.parent(candidate.head)


def _covers_same_components(other: _Candidate, main: Sequence[_Candidate]) -> bool:
    """Whether a loop passes over the same components as the main loop, for other rows or a second
    time.
    """
    rows = frozenset[str]().union(*(c.loop.rows for c in main))
    if _obscure(other, *main):
        return False
    if not other.loop.rows & rows:
        return True
    starts = {a for c in main for a in _stored(c.loop)}
    return bool(starts & _stored(other.loop)) and other.loop.iterations > 1


def _obscure(*candidates: _Candidate) -> bool:
    """Whether it is unknown for some loop which rows it accesses."""
    return any(not c.loop.rows or any("#" in n for n in c.loop.rows) for c in candidates)


def _stored(loop: HotLoop) -> set[register_values.LinearForm]:
    """The addresses at which the stores of a loop begin."""
    every = zip(loop.instructions, loop.strides, loop.addresses, strict=True)
    return {a for i, stride, a in every if i.stores and stride and a is not None and pointers(a)}


def _reaches(start: _Candidate, goal: _Candidate) -> bool:
    """Whether one loop may run after another in the same pass of the loop around both."""
    function, parent = start.function, _level(start)
    seen, waiting = {start.head}, [start.head]
    while waiting:
        for after in function.successors[waiting.pop()]:
            if after == goal.head:
                return True
            if after not in seen and after != parent:
                seen.add(after)
                waiting.append(after)
    return False


def _remainder_loops(best: HotLoop, rest: Sequence[HotLoop]) -> tuple[HotLoop, ...]:
    """The remainder loops, one for each number of components per pass, in descending order."""
    loops: dict[float, HotLoop] = {}
    for loop in rest:
        if loop.iterations < best.iterations:
            loops.setdefault(loop.iterations, loop)
    return tuple(loops[count] for count in sorted(loops, reverse=True))


def _straight_remainder(best: _Candidate) -> HotLoop | None:
    """The blocks after the hot loop, within the next outer loop, that store to its rows."""
    function, inside = best.function, _looping(best)
    around = _level(best)
    within = function.loops[around] if around is not None else set(range(len(function.blocks)))
    seen, waiting, remainders = {best.head}, [best.head], list[Instruction]()
    while waiting:
        block = waiting.pop()
        if block not in inside:
            body = function.blocks[block].instructions
            stores = any(i.stores and is_row(i) and i.moves for i in body)
            if stores and loop_passes.stores_to(function, block) & best.loop.rows:
                remainders += body
        fresh = (function.successors[block] & within) - seen - {around}
        seen |= fresh
        waiting += fresh
    if not remainders:
        return None
    stored = sum(i.stores for i in remainders if is_row(i) and i.moves)
    components = stored / DOUBLE / len(best.loop.rows)
    return _once(remainders, function.isa, components, best.loop.rows)


def _looping(best: _Candidate) -> frozenset[int]:
    """The blocks that are in loops at the level of the hot loop or deeper."""
    around = _level(best)
    loops = best.function.loops
    return frozenset[int]().union(
        *(b for h, b in loops.items() if around is None or (h != around and b < loops[around]))
    )


def _entry(best: _Candidate) -> int:
    """The instructions on the shortest path from the outer loop (or the start) to the hot loop and
    back.
    """
    function, around = best.function, _level(best)
    start = 0 if around is None else around
    body = function.loops[best.head]
    isa, blocks = function.isa, function.blocks
    cost = [slots(b.instructions, isa) for b in blocks]

    def shortest(begin: set[int], ends: set[int]) -> int | None:
        counts = dict.fromkeys(begin, 0)
        waiting = list(begin)
        while waiting:
            block = min(waiting, key=lambda b: counts[b])
            waiting.remove(block)
            if block in ends:
                return counts[block]
            for after in function.successors[block]:
                price = counts[block] + cost[block]
                if after not in counts or price < counts[after]:
                    counts[after] = price
                    waiting.append(after)
        return None

    to = shortest({start}, {best.head}) or 0
    outside = {after for b in body for after in function.successors[b]} - body
    ends = {n for n, after in enumerate(function.successors) if not after}
    back = shortest(outside, {around} if around is not None else ends) or 0
    return to + back


# --- what is no loop ---------------------------------------------------------------------------


def _straight(items: Items, isa: InstructionSet) -> Iterator[HotLoop]:
    """A function without loops, treated as one pass over the elements that it stores."""
    instructions = tuple(i for i in items if isinstance(i, Instruction))
    stored = sum(i.stores for i in instructions if is_row(i) and not _saves(i))
    if stored:
        once = _once(instructions, isa, stored / DOUBLE)
        yield _noted(once, "no loop: the whole function is taken as one pass")


def _once(
    instructions: Sequence[Instruction],
    isa: InstructionSet,
    components: float,
    rows: frozenset[str] = frozenset(),
) -> HotLoop:
    """Instructions without a loop as one pass over the components that they store."""
    nothing = (None,) * len(instructions)
    return HotLoop(
        label=".L0",
        isa=isa,
        instructions=tuple(instructions),
        iterations=components,
        depth=0,
        strides=nothing,
        addresses=nothing,
        places=nothing,
        rows=rows,
        calls=tuple(name for i in instructions if (name := called(i, isa))),
    )


def _noted(loop: HotLoop, note: str) -> HotLoop:
    return replace(loop, approximate=True, notes=(*loop.notes, note))


def _called(items: Sequence[Items], isa: InstructionSet) -> set[str]:
    instructions = (i for part in items for i in part if isinstance(i, Instruction))
    return {name for i in instructions if (name := called(i, isa))}


def _copies(loop: HotLoop) -> bool:
    """Whether the loop does its work by calling a copying function once per row."""
    return any(name in COPIES for name in loop.calls)


def _saves(instruction: Instruction) -> bool:
    return instruction.mnemonic.startswith("push")
