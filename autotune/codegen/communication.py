"""What ranks exchange: blocks, index ranges and messages, derived from program and right-hand side.

The components are cut into one block per rank. Before a right-hand side is evaluated the ranks
fetch the remote parts of its argument, one row after another (an operation each):

    allgather   every component, MPI_Allgatherv in place
    neighbour   the access distance on both sides of the block, from both neighbours
    sparse      exactly the components that the regions read, from whoever owns them (where regions
                name rows of planes: as if all rows between the first and the last were theirs)

The measuring program finds the same ranges by itself, for any N and number of ranks.

The planes of a grid are cut into one slab per rank. Before a pass over the grid, of one sweep or
several, neighbours fetch whole planes from each other: the radius times the sweeps on each side.
"""

import functools
import itertools
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from autotune.codegen.tree import loop_tree, regions
from autotune.codegen.tree.races import races
from autotune.domain.cost_curve import Operation
from autotune.domain.problem import AnyProblem, Ivp, StencilProblem, generated
from autotune.domain.variant import Candidate, Communication
from autotune.language.expression import Bin, Expr, Num, number, substitute
from autotune.units import Bytes

Range = tuple[int, int]
"""Range of components (first, end); the end is excluded."""

_DOUBLE = 8
_LINE = 8
"""Doubles of a cache line, in which rows of a grid are counted."""
_ROW = loop_tree.StoredRow("y")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunicationPhase:
    """The communication of one array in one time step.

    There are ``times`` operations, each of which exchanges one row. ``bytes`` is what the busiest
    rank contributes to one operation: its block (allgather), what it sends to one neighbour
    (neighbour), or all that it sends (sparse).
    """

    array: str
    operation: Operation
    times: float
    """Operations in a time step: rows x communications of the array; below 1 where time steps share
    one.
    """
    rows: int
    bytes: Bytes
    messages: int
    """Messages of the busiest rank in one operation; 1 where it is collective."""
    sent: tuple[tuple[int, Bytes], ...]
    """(messages, bytes) of each rank in one operation; a block of an Allgather is one message."""


def blocks(n: int, granule: int, ranks: int) -> list[Range]:
    """The components of each rank: whole granules, divided as equally as possible.

    >>> blocks(70, 8, 4)
    [(0, 16), (16, 32), (32, 48), (48, 70)]
    """
    count = -(-n // granule)
    cuts = [min(n, granule * (count * rank // ranks)) for rank in range(ranks + 1)]
    return list(itertools.pairwise(cuts))


def legal(
    ivp: Ivp, size: int, granule: int, ranks: int, communication: Communication, stages: int = 1
) -> str | None:
    """The reason why the ranks of an IVP cannot communicate in this way; None where they can.

    ``stages``: of the program's pipeline, see ``remote_distance``.
    """
    if communication == "sparse" and stages > 1:
        return (
            "a pipeline computes the borders of a rank from all components around it, so sparse"
            " communication is not enough"
        )
    if communication == "sparse" and ivp.reads_anywhere:
        what = "an index array" if ivp.indices else "a sum"
        return (
            f"{what} of {ivp.name} reads elements of y wherever the component is: each rank needs"
            " them all, so only allgather communication is enough"
        )
    if communication != "neighbour":
        return None
    values = ivp.values(size)
    n, distance = int(values["n"]), remote_distance(ivp, size, granule, stages)
    if not ivp.limited:
        return (
            f"neighbour communication needs a limited access distance; that of {ivp.name} is"
            f" {distance} of {n} components"
        )
    if ivp.periodic:
        return (
            f"neighbour communication reaches to the next block, not around the ends of y;"
            f" {ivp.name} is periodic"
        )
    parts = blocks(n, granule, ranks)
    for rank, (first, last) in enumerate(parts):
        if first == last:
            return f"rank {rank} of {ranks} has no components: neighbours cannot exchange"
        left = parts[rank - 1][0] if rank else 0
        right = parts[rank + 1][1] if rank + 1 < ranks else n
        if max(0, first - distance) < left or min(n, last + distance) > right:
            what = "the access distance" if stages == 1 else "what a pipeline computes around it"
            return (
                f"{what}, {distance}, reaches beyond the neighbours of rank {rank}:"
                f" {n} components are too few for {ranks} ranks"
            )
    return None


def remote_distance(ivp: Ivp, size: int, granule: int, stages: int) -> int:
    """How far around its block a rank needs the components of others.

    The access distance; in a pipeline of several stages so many lags, which a rank reads to compute
    the borders of its block for the later stages itself.
    """
    distance = ivp.distance(size)
    return distance if stages == 1 else stages * -(-distance // granule) * granule


def halo(program: loop_tree.StepProgram) -> int:
    """How many planes of its neighbours on a side a rank of a grid reads; 0 without a grid."""
    return program.grid.radius * loop_tree.stages(program.body) if program.grid else 0


def grid_legal(
    problem: StencilProblem, ranks: int, communication: Communication, stages: int = 1
) -> str | None:
    """The reason why the ranks of a grid cannot exchange planes in this way; None where they can.

    Ranks have slabs of the slowest dimension. ``stages``: sweeps of a pass over the grid.
    """
    stencil, planes = problem.stencil, problem.extents[0]
    slowest, depth = stencil.dimensions[0], stencil.radius * stages
    if communication != "neighbour":
        return (
            f"ranks of a grid exchange planes with their neighbours, so {communication}"
            " communication is not for them: neighbour is"
        )
    if stencil.order == "lexicographic":
        return (
            "points are updated in lexicographic order, each from those before it: only one rank"
            " keeps that order"
        )
    thinnest = planes // ranks
    if thinnest == 0:
        return f"{ranks} ranks are more than the {planes} planes along {slowest}"
    if thinnest < depth:
        return (
            f"a rank has {thinnest} planes along {slowest}, fewer than the {depth} that"
            f" {'a sweep' if stages == 1 else f'{stages} sweeps'} of radius {stencil.radius}"
            f" read{'s' if stages == 1 else ''} of each neighbour"
        )
    return None


def refusal(program: loop_tree.StepProgram) -> str | None:
    """The reason why a program cannot run on several ranks (missing Comm and Sync nodes); None
    where it can.
    """
    if any(
        isinstance(node, loop_tree.Comm) for tiles in _tiles(program.body) for node in _nodes(tiles)
    ):
        return "a communication lies within a loop over tiles"
    unknown = _communications(program.body).keys() - dict(program.arrays).keys()
    if unknown:
        return f"{sorted(unknown)[0]} is communicated, but not stored"
    if any(loop_tree.waits(program.body)):
        return "threads that wait for their neighbours do not wait for the one that communicates"
    conflicts = races(program, distributed=True)
    return str(conflicts[0]) if conflicts else None


def communicated(program: loop_tree.StepProgram) -> frozenset[str]:
    """The arrays whose rows ranks exchange in a time step."""
    return frozenset(_communications(program.body))


def phases(
    program: loop_tree.StepProgram, problem: AnyProblem, candidate: Candidate
) -> list[CommunicationPhase]:
    """The communication of one time step, one entry per array, in order; empty for one rank.

    The sweeps of a pass over a grid share one exchange, so a time step has a part of it.
    """
    way = candidate.communication
    if way == "none":
        return []
    problem = generated(problem)
    if isinstance(problem, StencilProblem):
        return _grid_phases(program, problem, candidate.ranks)
    rows = dict(program.arrays)
    stages = loop_tree.stages(program.body)
    sent = _sent(
        _Case(
            definition=problem.definition,
            size=problem.size,
            distance=remote_distance(problem.ivp, problem.size, program.granule, stages),
            granule=program.granule,
            ranks=candidate.ranks,
            way=way,
            ivp=problem.ivp,
        )
    )
    return [
        CommunicationPhase(
            array=array,
            operation=way,
            times=count * rows[array],
            rows=rows[array],
            bytes=Bytes(_DOUBLE * sent.most),
            messages=max(messages for messages, _ in sent.ranks),
            sent=tuple((messages, Bytes(_DOUBLE * count)) for messages, count in sent.ranks),
        )
        for array, count in _communications(program.body).items()
    ]


def _grid_phases(
    program: loop_tree.StepProgram, problem: StencilProblem, ranks: int
) -> list[CommunicationPhase]:
    """The exchanges of whole planes with ghosts and padding, whose copies are contiguous."""
    *outer, last = (extent + 2 * problem.stencil.radius for extent in problem.extents[1:])
    line = _LINE * (-(-last // _LINE) + program.pad_lines)
    size = Bytes(_DOUBLE * halo(program) * math.prod(outer) * line)
    sides = [(rank > 0) + (rank + 1 < ranks) for rank in range(ranks)]
    return [
        CommunicationPhase(
            array=array,
            operation="neighbour",
            times=count / loop_tree.stages(program.body),
            rows=1,
            bytes=size,
            messages=max(sides),
            sent=tuple((count, Bytes(count * size)) for count in sides),
        )
        for array, count in _communications(program.body).items()
    ]


def without(block: loop_tree.NodeBlock) -> loop_tree.NodeBlock:
    """The block with all communication removed, for a program of one rank."""
    nodes = [node for node in block.nodes if not isinstance(node, loop_tree.Comm)]
    return loop_tree.NodeBlock(
        tuple(
            replace(node, body=without(node.body)) if isinstance(node, loop_tree.LoopNode) else node
            for node in nodes
        )
    )


def _communications(block: loop_tree.NodeBlock) -> Counter[str]:
    """How often each array is communicated in a time step."""
    counts: Counter[str] = Counter()
    for node in block.nodes:
        match node:
            case loop_tree.Comm(array=array):
                counts[array] += 1
            case loop_tree.Repeat(first=first, end=end, body=body):
                for array, count in _communications(body).items():
                    counts[array] += (end - first) * count
            case loop_tree.Tiles(body=body):
                counts += _communications(body)
    return counts


def _nodes(block: loop_tree.NodeBlock) -> Iterator[loop_tree.Node]:
    for node in block.nodes:
        yield node
        if isinstance(node, loop_tree.LoopNode):
            yield from _nodes(node.body)


def _tiles(block: loop_tree.NodeBlock) -> Iterator[loop_tree.NodeBlock]:
    return (node.body for node in _nodes(block) if isinstance(node, loop_tree.Tiles))


# --- what is read ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShiftedRead:
    """The components j of a stretch of a right-hand side that read ``y[j + shift]``; bounds are
    expressions of N.

    The stretch is [lower, upper); within rows of ``row`` components it is only [begin, end) of
    each.
    """

    lower: Expr
    upper: Expr
    shift: Expr
    row: Expr
    """0: no rows."""
    begin: Expr
    end: Expr


def readings(ivp: Ivp) -> list[ShiftedRead]:
    """The elements other than ``y[j]`` that the regions of a right-hand side read, each listed
    once.
    """
    reads: dict[ShiftedRead, None] = {}
    for sweep in regions.evaluation(ivp, "rhs", loop_tree.StoredRow("F"), _ROW, Num(0)):
        for stretch in sweep.stretches:
            begin, end = stretch.columns or (Num(0), Num(0))
            lower, upper = _extent(stretch)
            for statement in stretch.statements:
                for ref in loop_tree.near(statement):
                    shift = substitute(ref.indices[-1], {"j": Num(0)})
                    if ref.array == "y" and shift != Num(0):
                        row = stretch.row or Num(0)
                        reads[ShiftedRead(lower, upper, shift, row, begin, end)] = None
    return list(reads)


def _extent(stretch: loop_tree.SweepStretch) -> tuple[Expr, Expr]:
    """The begin of the first row of a stretch and the end of its last row."""
    if stretch.planes is None or stretch.row is None:
        return stretch.lower, stretch.upper
    above = Bin("*", stretch.planes.first, stretch.row)
    below = Bin("-", stretch.planes.size, Bin("*", stretch.planes.end, stretch.row))
    return Bin("+", stretch.lower, above), Bin("-", stretch.upper, below)


def wanted(ivp: Ivp, size: int, block: Range, communication: Communication) -> list[Range]:
    """The remote components that a rank with the block ``block`` fetches, in ascending order,
    merged.
    """
    values = ivp.values(size)
    return _wanted(_numbers(ivp, size), int(values["n"]), ivp.distance(size), block, communication)


_Numbers = tuple[int, int, int, int, int, int]


def _numbers(ivp: Ivp, size: int) -> list[_Numbers]:
    """The elements that a right-hand side reads, as whole numbers at one size."""
    values = ivp.values(size)

    def at(expr: Expr) -> int:
        return int(number(expr, values))

    return [
        (at(r.lower), at(r.upper), at(r.shift), at(r.row), at(r.begin), at(r.end))
        for r in readings(ivp)
    ]


def _wanted(
    reads: Sequence[_Numbers], n: int, distance: int, block: Range, way: Communication
) -> list[Range]:
    first, last = block
    if first == last:
        return []
    if way == "allgather":
        return _merged([(0, first), (last, n)])
    if way == "neighbour":
        return _merged([(max(0, first - distance), first), (last, min(n, last + distance))])
    return _merged([part for read in reads for part in _outside(read, first, last)])


def _outside(read: _Numbers, first: int, last: int) -> Iterator[Range]:
    """The index ranges outside the block [first, last) that a reading touches."""
    lower, upper, shift, row, begin, end = read
    a = max(lower, first if shift < 0 else max(first, last - shift))
    b = min(upper, last if shift > 0 else min(last, first - shift))
    if row == 0:
        yield a + shift, b + shift
        return
    for start in range(a // row * row, b, row):
        yield max(a, start + begin) + shift, min(b, start + end) + shift


def _merged(ranges: Sequence[Range]) -> list[Range]:
    """The ranges in ascending order; overlapping ones are merged, empty ones left out."""
    merged: list[Range] = []
    for first, last in sorted(r for r in ranges if r[0] < r[1]):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


# --- who sends what -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """Everything that the messages of one operation depend on."""

    definition: str
    size: int
    distance: int
    granule: int
    ranks: int
    way: Operation
    ivp: Ivp = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Sent:
    """(messages, components) that each rank sends in one operation, and the size at which a cost
    curve is read.
    """

    ranks: tuple[tuple[int, int], ...]
    most: int


@functools.lru_cache(maxsize=4096)
def _sent(case: _Case) -> _Sent:
    n = int(case.ivp.values(case.size)["n"])
    parts = blocks(n, case.granule, case.ranks)
    if case.way == "allgather":
        return _Sent(
            tuple((1, last - first) for first, last in parts), max(b - a for a, b in parts)
        )
    assert case.way in ("neighbour", "sparse")
    way: Communication = "neighbour" if case.way == "neighbour" else "sparse"
    reads = _numbers(case.ivp, case.size)
    starts = [first for first, _ in parts]
    to: list[Counter[int]] = [Counter() for _ in parts]  # of each owner: components per receiver
    for receiver, block in enumerate(parts):
        for first, last in _wanted(reads, n, case.distance, block, way):
            while first < last:
                owner = bisect_right(starts, first) - 1
                end = min(last, parts[owner][1])
                to[owner][receiver] += end - first
                first = end
    ranks = tuple((len(sent), sent.total()) for sent in to)
    if way == "neighbour":
        return _Sent(ranks, max((count for sent in to for count in sent.values()), default=0))
    return _Sent(ranks, max(count for _, count in ranks))
