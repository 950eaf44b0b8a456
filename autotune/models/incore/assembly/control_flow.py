"""The control flow of an assembly text: functions, basic blocks, natural loops.

Loops are found by dominators. So rotated loops, loops entered by a jump into their middle and
blocks moved out of line are all recognised.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autotune.models.incore.assembly.instructions import Instruction, InstructionSet

Items = Sequence[str | Instruction]
"""Content of a function: labels as text, instructions."""

_LABEL = re.compile(r'"?([\w.$]+)"?:')


def functions(assembly: str, isa: InstructionSet) -> Iterator[tuple[str, list[str | Instruction]]]:
    """The name and the content of each function: labels as text, and instructions."""
    name, items = "", list[str | Instruction]()
    for raw in assembly.splitlines():
        line = raw.split(isa.comment, 1)[0].strip()
        match = _LABEL.match(line)
        if match:
            label, line = match[1], line[match.end() :].strip()
            if not label.startswith("."):
                if items:
                    yield name, items
                name, items = label, []
            else:
                items.append(label)
        if line and not line.startswith("."):
            items.append(isa.parse(line))
    if items:
        yield name, items


@dataclass(frozen=True, slots=True)
class BasicBlock:
    """A basic block: control enters at its first and leaves at its last instruction."""

    label: str
    instructions: tuple[Instruction, ...]


def split(items: Items, isa: InstructionSet) -> list[BasicBlock]:
    """The basic blocks of a function, in the order of the text."""
    blocks, label, body = [], "", list[Instruction]()
    for item in items:
        if isinstance(item, str):
            if body:
                blocks.append(BasicBlock(label, tuple(body)))
                label, body = "", []
            elif label:
                blocks.append(BasicBlock(label, ()))
            label = item
            continue
        body.append(item)
        if isa.jump_target(item) or isa.ends_block(item):
            blocks.append(BasicBlock(label, tuple(body)))
            label, body = "", []
    if body or label:
        blocks.append(BasicBlock(label, tuple(body)))
    return blocks


def block_successors(blocks: Sequence[BasicBlock], isa: InstructionSet) -> list[set[int]]:
    """For each block, the blocks that may run next."""
    places = {block.label: n for n, block in enumerate(blocks) if block.label}
    successors = []
    for number, block in enumerate(blocks):
        after: set[int] = set()
        last = block.instructions[-1] if block.instructions else None
        target = isa.jump_target(last) if last else None
        if target in places:
            after.add(places[target])
        if (last is None or not isa.ends_block(last)) and number + 1 < len(blocks):
            after.add(number + 1)
        successors.append(after)
    return successors


def _dominators(successors: Sequence[set[int]]) -> list[set[int]]:
    """For each block, the blocks on every path to it (Aho et al., Compilers, 9.6)."""
    count = len(successors)
    before = [{p for p in range(count) if n in successors[p]} for n in range(count)]
    everything = set(range(count))
    dominators = [{0}, *(set(everything) for _ in range(count - 1))]
    changed = True
    while changed:
        changed = False
        for number in range(1, count):
            ways = [dominators[p] for p in before[number]]
            new = {number} | (set.intersection(*ways) if ways else set())
            if new != dominators[number]:
                dominators[number], changed = new, True
    return dominators


def natural_loops(successors: Sequence[set[int]]) -> dict[int, frozenset[int]]:
    """The natural loops: number of the head block to the blocks of the loop."""
    dominators = _dominators(successors)
    loops: dict[int, set[int]] = {}
    for tail, after in enumerate(successors):
        for head in after & dominators[tail]:
            body, waiting = loops.setdefault(head, {head}), [tail]
            while waiting:
                block = waiting.pop()
                if block not in body:
                    body.add(block)
                    waiting += [p for p, s in enumerate(successors) if block in s]
    return {head: frozenset(body) for head, body in loops.items()}


def longest_way(
    head: int, body: frozenset[int], blocks: Sequence[BasicBlock], successors: Sequence[set[int]]
) -> list[int]:
    """The blocks of the pass with most instructions, from a loop's head back to it."""
    best: dict[int, tuple[int, list[int]]] = {}

    def way(block: int, above: frozenset[int]) -> tuple[int, list[int]]:
        """The length in instructions and the blocks of the longest path to the end of the pass; a
        negative length if there is none.
        """
        if block in best:
            return best[block]
        length = len(blocks[block].instructions)
        rest = [(0, list[int]())] if head in successors[block] else []
        for after in successors[block] & body - above - {head}:
            rest.append(way(after, above | {block}))
        rest = [r for r in rest if r[0] >= 0]
        count, tail = max(rest, key=lambda r: r[0], default=(-length - 1, list[int]()))
        best[block] = (length + count, [block, *tail])
        return best[block]

    return way(head, frozenset())[1]
