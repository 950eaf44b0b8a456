"""How often the basic blocks of a function ran, from the counts of its branches and lines.

A line count alone is not enough: a loop and its body on one line share it, and gfortran counts the
exit of a loop on the last line of its body. Where gcov gives the branches of a condition, the
counts of blocks follow from the flow: what enters a block leaves it. Blocks that these do not
determine (after a ``switch``) count as their lines do. So do all blocks of a function whose
branches and lines contradict one another, for it was optimized.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from autotune.assertions.counters.line_counts import LineCounts
from autotune.assertions.counters.ssa_dump import DumpedBlock, DumpedFunction, SourceLine

_Edge = tuple[int, int]


def operations_by_line(function: DumpedFunction, counts: LineCounts) -> dict[SourceLine, int]:
    """The floating-point operations that every line of a function did."""
    blocks = block_counts(function, counts)
    operations: dict[SourceLine, int] = {}
    for block in function.blocks:
        for place, number in block.operators:
            ran = counts.lines.get((function.name, place), 0)
            if block.number in blocks:
                ran = blocks[block.number]
            operations[place] = operations.get(place, 0) + number * ran
    return operations


def block_counts(function: DumpedFunction, counts: LineCounts) -> dict[int, int]:
    """How often blocks ran, by number; without those that the branches do not determine."""
    entering: dict[int, list[_Edge]] = {block.number: [] for block in function.blocks}
    leaving: dict[int, list[_Edge]] = {block.number: [] for block in function.blocks}
    for block in function.blocks:
        for successor in dict.fromkeys(block.successors):
            if successor in entering:  # a last block that calls exit() has no successor
                leaving[block.number].append((block.number, successor))
                entering[successor].append((block.number, successor))
    sides = [
        (number, edges) for ways in (entering, leaving) for number, edges in ways.items() if edges
    ]
    edges = _branch_edges(function, counts)
    first = function.blocks[0].number
    blocks = {first: counts.calls[function.name]} if function.name in counts.calls else {}
    growing = True
    while growing:
        growing = False
        for number, side in sides:
            growing |= _balance(number, side, blocks, edges)
    flows = all(
        sum(edges.get(edge, 0) for edge in side) == blocks[number]
        for number, side in sides
        if number in blocks and all(edge in edges for edge in side)
    )
    return blocks if flows and _lines_agree(function, counts, blocks, edges) else {}


def _balance(
    number: int, side: list[_Edge], blocks: dict[int, int], edges: dict[_Edge, int]
) -> bool:
    """Whether one more count follows from the edges on one side of a block."""
    unknown = [edge for edge in side if edge not in edges]
    total = sum(edges.get(edge, 0) for edge in side)
    if not unknown and number not in blocks:
        blocks[number] = total
        return True
    if len(unknown) == 1 and number in blocks:
        edges[unknown[0]] = blocks[number] - total
        return True
    return False


def _lines_agree(
    function: DumpedFunction,
    counts: LineCounts,
    blocks: Mapping[int, int],
    edges: Mapping[_Edge, int],
) -> bool:
    """Whether lines ran as often as their only block, or once more for every exit of a loop, or
    several times as often: a call on a further line of a statement returns to its first one. A
    line with a condition on it may have run more often.
    """
    branching = {block.condition for block in function.blocks}
    homes: dict[SourceLine, list[int]] = {}
    for block in function.blocks:
        for place, _ in block.operators:
            homes.setdefault(place, []).append(block.number)
    loops = [
        range(successor, block.number + 1)
        for block in function.blocks
        for successor in block.successors
        if successor <= block.number
    ]
    for place, numbers in homes.items():
        solved = [blocks[number] for number in numbers if number in blocks]
        excess = counts.lines.get((function.name, place), 0) - max(solved, default=0)
        exits = {
            count
            for loop in loops
            if numbers[0] in loop
            for (start, end), count in edges.items()
            if start in loop and end not in loop
        }
        single = len(numbers) == len(solved) == 1 and place not in branching
        if excess < 0 or (single and not _returns(excess, solved[0], {0, *exits})):
            return False
    return True


def _returns(excess: int, ran: int, exits: Iterable[int]) -> bool:
    """Whether a line ran so many times too often by exits of loops and whole returns to it."""
    return any(
        excess == left or (ran > 0 and excess > left and (excess - left) % ran == 0)
        for left in exits
    )


def _branch_edges(function: DumpedFunction, counts: LineCounts) -> dict[_Edge, int]:
    """The counts of edges out of conditions, of lines on which gcov lists all of these."""
    order = {a.number: b.number for a, b in pairwise(function.blocks)}
    edges: dict[_Edge, int] = {}
    for place, blocks in _conditions(function.blocks).items():
        arcs = counts.branches.get((function.name, place), ())
        if len(arcs) != 2 * len(blocks):
            continue
        for block, pair in zip(blocks, zip(arcs[::2], arcs[1::2], strict=True), strict=True):
            following = order.get(block.number)
            if following not in block.successors or len({falls for _, falls in pair}) != 2:
                continue
            for count, falls in pair:
                target = next(s for s in block.successors if (s == following) == falls)
                edges[block.number, target] = count
    return edges


def _conditions(blocks: Iterable[DumpedBlock]) -> Mapping[SourceLine, list[DumpedBlock]]:
    """The blocks that end by a condition, by its place; without those of one successor."""
    places: dict[SourceLine, list[DumpedBlock]] = {}
    for block in blocks:
        if block.condition is not None and len(set(block.successors)) == 2:
            places.setdefault(block.condition, []).append(block)
    return places
