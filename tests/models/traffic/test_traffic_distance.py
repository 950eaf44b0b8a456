"""Reuse distances against a brute-force LRU stack that walks over every line."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autotune.codegen.tree.loop_tree import (
    Assign,
    Node,
    NodeBlock,
    Repeat,
    StepProgram,
    StoredRow,
    Swap,
    Sweep,
    SweepStretch,
    Sync,
    Tiles,
)
from autotune.domain.machine import CacheLevel, InCore, Machine, Memory
from autotune.domain.problem import ButcherTableau, Ivp, Problem, Region
from autotune.language.expression import Expr, Num, Sym, number, parse
from autotune.models.traffic import analyse
from autotune.models.traffic.passes import blocks
from autotune.models.traffic.sweep_shape import shape

LINE = 64
PER_LINE = LINE // 8
ROWS = 4
MACHINE = Machine(
    name="tiny",
    architecture="x86_64",
    clock=1e9,
    cores=4,
    caches=(CacheLevel(name="L1", size=4096, line=LINE, ways=8, cores=1),),
    memory=Memory(),
    in_core=InCore(),
)
EULER = ButcherTableau(
    name="euler", title="", order=1, A=((1.0,),), b=(1.0,), c=(1.0,), source="Euler"
)
IVP = Ivp(
    name="decay",
    title="",
    source="",
    dimension=Sym("N"),
    constants={},
    access_distance=Num(0),
    limited=True,
    regions=(Region(lower=Num(0), upper=Sym("n"), body=parse("-y[j]")),),
    initial=(Region(lower=Num(0), upper=Sym("n"), body=Num(1)),),
    stability=Num(1),
)


def problem(n: int) -> Problem:
    return Problem(ivp=IVP, method=EULER, correctors=1, size=n)


def sweep(
    target: tuple[str, Expr | None],
    *reads: tuple[str, Expr | None, tuple[int, ...]],
    add: bool = False,
    lower: str = "0",
    upper: str = "n",
) -> Sweep:
    """A sweep that assigns the sum of shifted rows to a row."""
    rows = [("out", StoredRow(*target))]
    terms = []
    for place, (array, index, offsets) in enumerate(reads):
        rows.append((f"in{place}", StoredRow(array, index)))
        terms += [f"in{place}[j + {offset}]" for offset in offsets]
    statement = Assign("out", parse(" + ".join(terms) or "1"), add=add)
    return Sweep(
        name=f"{target}{reads}{add}{lower}{upper}",
        kernel="K",
        rows=tuple(rows),
        scalars=(),
        stretches=(SweepStretch(parse(lower), parse(upper), (statement,)),),
    )


def program(*nodes: Node) -> StepProgram:
    return StepProgram(body=NodeBlock(nodes), arrays=(("F", 2), ("Y", 2)), pad_lines=5, stages=2)


class Brute:
    """Every line access of one thread in program order; LRU stack distances by counting."""

    def __init__(self, made: StepProgram, n: int, threads: int = 1, thread: int = 0) -> None:
        self.values: Mapping[str, int] = {"n": n, "N": n}
        self.first, self.end = blocks(n, made.granule, threads)[thread]
        self.places = {name: name for name, _ in made.arrays}
        self.made = made
        self.known: dict[tuple[str, int, int], int] = {}
        self.last = np.zeros(ROWS * (n // PER_LINE + 200), dtype=np.int64)
        self.time = 0

    def steady(self) -> list[tuple[str, tuple[str, int], bool, float]]:
        """(sweep, row, first touch of the line in the sweep, bytes since) in the steady state."""
        for _ in range(2):
            list(self.block(self.made.body, {}, self.first, self.end))
        return list(self.block(self.made.body, {}, self.first, self.end))

    def block(
        self, block: NodeBlock, loop: Mapping[str, int], first: int, end: int
    ) -> Iterator[tuple[str, tuple[str, int], bool, float]]:
        for node in block.nodes:
            if isinstance(node, Sweep):
                yield from self.sweep(node, loop, first, end)
            elif isinstance(node, Repeat):
                for value in range(node.first, node.end):
                    yield from self.block(node.body, {**loop, node.variable: value}, first, end)
            elif isinstance(node, Tiles):
                for start in range(first, end, node.size):
                    yield from self.block(node.body, loop, start, min(end, start + node.size))
            elif isinstance(node, Swap):
                places = self.places
                places[node.first], places[node.second] = places[node.second], places[node.first]

    def sweep(
        self, node: Sweep, loop: Mapping[str, int], first: int, end: int
    ) -> Iterator[tuple[str, tuple[str, int], bool, float]]:
        found = shape(node, self.values)
        rows = {
            name: (self.places[row.array], int(number(row.index, loop)) if row.index else 0)
            for name, row in node.rows
        }
        fresh = set()
        for j in range(max(first, found.lower), min(end, found.upper), PER_LINE):
            for access in found.accesses:
                for offset in access.offsets:
                    row = rows[access.parameter]
                    line = (*row, (j + offset) // PER_LINE)
                    yield node.name, row, line not in fresh, self.touch(line)
                    fresh.add(line)

    def touch(self, line: tuple[str, int, int]) -> float:
        """Bytes of the distinct lines since the last touch, this one included."""
        place = self.known.setdefault(line, len(self.known))
        last = self.last[place]
        self.time += 1
        self.last[place] = self.time
        if not last:
            return float("inf")
        return float(np.count_nonzero(self.last >= last) * LINE)


def leading(
    made: StepProgram, n: int, threads: int = 1, thread: int = 0
) -> tuple[list[float], list[float]]:
    """Mean distances by brute force and by analysis, of the same sweeps and rows."""
    counted: dict[tuple[str, tuple[str, int]], list[float]] = defaultdict(list)
    for name, row, first, distance in Brute(made, n, threads, thread).steady():
        if first:
            counted[name, row].append(distance)
    if not counted:  # the thread is idle
        return [], []
    traffic = analyse(made, problem(n), threads, MACHINE)
    data = traffic.threads[thread]
    step = traffic.schedule.steps[-1]
    executions = traffic.executions.sum(axis=0)
    places = {f"{a}[{i}]": (a, i) for a, size in made.arrays for i in range(size)}
    found: dict[tuple[str, tuple[str, int]], list[tuple[float, float]]] = defaultdict(list)
    for k, owner in enumerate(data.owner):
        item = data.passes[owner]
        name = traffic.schedule.sweeps[step.calls[item.call].sweep].name
        row = places[traffic.schedule.rows[int(data.row[k])]]
        weight = item.iterations * executions[item.call]
        found[name, row].append((float(data.history.distance[k].mean()), weight))
    keys = sorted(found)
    assert keys == sorted(counted)
    return (
        [float(np.mean(counted[key])) for key in keys],
        [sum(d * w for d, w in found[key]) / sum(w for _, w in found[key]) for key in keys],
    )


def misses(made: StepProgram, n: int, capacity: float) -> tuple[float, float]:
    """Lines per step that a cache of ``capacity`` bytes misses, counted and by analysis."""
    counted = sum(d > capacity for _, _, _, d in Brute(made, n).steady())
    traffic = analyse(made, problem(n), 1, MACHINE)
    data = traffic.threads[0]
    weights = np.array([item.iterations for item in data.passes])
    weights *= traffic.executions.sum(axis=0)[[item.call for item in data.passes]]
    share = (data.history.distance > capacity).mean(axis=1)
    return counted, float((share * data.lines * weights[data.owner]).sum())


CELL = st.tuples(st.sampled_from(["F", "Y"]), st.integers(0, 1))


@st.composite
def plain_sweeps(draw: st.DrawFn) -> Sweep:
    target = draw(CELL)
    reads = [cell for cell in draw(st.lists(CELL, max_size=3, unique=True)) if cell != target]
    lower, upper = draw(st.sampled_from([("0", "n"), ("0", "n"), ("0", "n/2"), ("n/2", "n")]))
    return sweep(
        (target[0], Num(target[1])),
        *((array, Num(index), (0,)) for array, index in reads),
        add=draw(st.booleans()),
        lower=lower,
        upper=upper,
    )


@st.composite
def programs(draw: st.DrawFn) -> StepProgram:
    """Sweeps in order, some of them in corrector loops, some in tile loops."""
    nodes: list[Node] = []
    for _ in range(draw(st.integers(1, 3))):
        body = NodeBlock(tuple(draw(st.lists(plain_sweeps(), min_size=1, max_size=3))))
        kind = draw(st.sampled_from(["plain", "repeat", "tiles"]))
        if kind == "plain":
            nodes += body.nodes
        elif kind == "repeat":
            nodes.append(Repeat("k", 0, draw(st.integers(1, 4)), body))
        else:
            nodes.append(Tiles(draw(st.sampled_from([16, 32, 64, 128, 256])), body))
        nodes.append(Sync())
    return program(*nodes)


def _cut_short(made: StepProgram, n: int) -> float:
    """Bytes by which tiles in the upper half are shorter than the model takes them, on average.

    The model begins with a whole tile at the half; a tile that crosses it leaves a piece there, and
    the last one ends with the block.
    """
    half = n // 2
    differences = [0.0]
    for node in made.body.nodes:
        if isinstance(node, Tiles):
            edges = sorted({half, n, *(k for k in range(0, n, node.size) if k > half)})
            mean = sum((end - begin) ** 2 for begin, end in pairwise(edges)) / half
            differences.append(min(node.size, half) - mean)
    return 8 * max(differences)


CROSSED = program(
    Tiles(
        256,
        NodeBlock((
            sweep(("F", Num(0))),
            sweep(("F", Num(0)), ("F", Num(1), (0,)), ("Y", Num(0), (0,)), lower="n/2"),
        )),
    ),
    Sync(),
    sweep(("F", Num(0))),
    Sync(),
)  # fmt: skip
"""A tile of two thirds of the block, which crosses its half."""


@settings(max_examples=50, deadline=None)
@example(made=CROSSED, lines=48, threads=1)
@given(made=programs(), lines=st.sampled_from([32, 48]), threads=st.sampled_from([1, 2]))
def test_distances_agree_with_a_brute_force_stack(
    made: StepProgram, lines: int, threads: int
) -> None:
    """Mean distance per sweep and row.

    Tolerance: the model is continuous in the position where the stack counts whole lines, which
    makes up to one line per row at each end of a pass; it takes eight positions, a sixteenth of a
    block off the ends of tiles; and halves that a tile crosses are cut.
    """
    n = lines * PER_LINE
    counted, found = leading(made, n, threads)
    halves = any("n/2" in name.name for name in _sweeps(made.body))
    tiled = any(isinstance(node, Tiles) for node in made.body.nodes)
    cut = max(n * 8 / 16, _cut_short(made, n)) if tiled and halves else 0.0
    tolerance = ROWS * 2 * LINE + ROWS * cut
    assert found == pytest.approx(counted, abs=tolerance)


def _sweeps(block: NodeBlock) -> Iterator[Sweep]:
    for node in block.nodes:
        if isinstance(node, Sweep):
            yield node
        elif isinstance(node, Repeat | Tiles):
            yield from _sweeps(node.body)


ZERO, ONE = Num(0), Num(1)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_swapped_buffers_are_followed(count: int) -> None:
    body = NodeBlock(
        (
            sweep(("F", ZERO), ("Y", Sym("l"), (0,))),
            sweep(("Y", ONE), ("F", ZERO, (0,)), ("F", ONE, (0,))),
            Swap("F", "Y"),
        )
    )
    made = program(
        Repeat("k", 0, count, NodeBlock((Repeat("l", 0, 2, body),))),
        sweep(("Y", ZERO), ("F", ONE, (0,)), add=True),
    )
    counted, found = leading(made, 384)
    assert found == pytest.approx(counted, abs=ROWS * 2 * LINE)


@pytest.mark.parametrize("capacity", [512, 1024, 2048, 3500, 6000])
def test_layer_conditions_agree_with_a_brute_force_stack(capacity: int) -> None:
    """Misses of a five-point stencil of 16 x 24 lines, then a sweep that uses its result."""
    width = 16 * PER_LINE
    made = program(
        sweep(("F", ZERO), ("Y", ZERO, (width, 0, -width))),
        sweep(("Y", ONE), ("F", ZERO, (0,)), add=True),
    )
    counted, found = misses(made, 24 * width, capacity)
    assert found == pytest.approx(counted, rel=0.1)


@pytest.mark.parametrize("capacity", [1024, 4000, 9000, 40000])
@pytest.mark.parametrize("tile", [64, 256])
def test_gaps_wider_than_a_tile_reach_back_over_tiles(tile: int, capacity: int) -> None:
    """Misses where stencil and update run tile by tile; a tile is half or twice the gap."""
    width = 16 * PER_LINE
    made = program(
        Tiles(
            tile,
            NodeBlock(
                (
                    sweep(("F", ZERO), ("Y", ZERO, (width, 0, -width))),
                    sweep(("Y", ONE), ("F", ZERO, (0,)), ("F", ONE, (0,)), add=True),
                )
            ),
        )
    )
    counted, found = misses(made, 24 * width, capacity)
    assert found == pytest.approx(counted, rel=0.12)


def test_rows_read_far_away_are_streams_of_their_own() -> None:
    """Each half of n components reads the other half, as coupled equations do."""
    n, half = 512, 256
    made = program(
        sweep(("F", ZERO), ("Y", ZERO, (half, 0)), upper="n/2"),
        sweep(("F", ZERO), ("Y", ZERO, (0, -half)), lower="n/2"),
        sweep(("Y", ZERO), ("F", ZERO, (0,)), add=True),
    )
    for capacity in (1500, 3000, 5000, 7000, 10000):
        counted, found = misses(made, n, capacity)
        assert found == pytest.approx(counted, abs=0.1 * 6 * n / PER_LINE)
    traffic = analyse(made, problem(n), 2, MACHINE)
    assert [sum(streams.history.remote) for streams in traffic.threads] == [1, 1]
