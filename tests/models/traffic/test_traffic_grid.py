"""Streams of sweeps over grids against a brute-force LRU stack that walks over every line."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from autotune.codegen.tree.loop_tree import (
    GridStorage,
    GridSweep,
    Node,
    NodeBlock,
    StepProgram,
    StoredRow,
    Swap,
    Sync,
    Tiles,
)
from autotune.domain.machine import CacheLevel, InCore, Machine, Memory
from autotune.domain.problem import StencilProblem
from autotune.domain.stencil import Stencil
from autotune.language.expression import Bin, Expr, Num, Ref, Sym, parse
from autotune.models.engines.reuse import flatten
from autotune.models.traffic import StepTraffic, TrafficAnalyser
from autotune.models.traffic.grid.grid_distance import reuses
from autotune.models.traffic.grid.grid_shape import GridShape, accesses

LINE = 64
PER_LINE = LINE // 8
Offsets = tuple[tuple[int, ...], ...]


def star(radius: int, dimensions: int = 3) -> Offsets:
    steps = [s for d in range(1, radius + 1) for s in (-d, d)]
    axes = range(dimensions)
    arms = [tuple(s if axis == at else 0 for axis in axes) for at in axes for s in steps]
    return ((0,) * dimensions, *arms)


BOX: Offsets = tuple(product((-1, 0, 1), repeat=3))
POINT: Offsets = ((0, 0, 0),)
CASES: dict[str, tuple[int, dict[str, Offsets]]] = {
    "star": (1, {"u": star(1)}),
    "variable": (1, {"u": star(1), "C": POINT}),
    "box": (1, {"u": BOX}),
    "long": (4, {"u": star(4)}),
    "apart": (4, {"u": ((4, 0, 0), (-4, 0, 0))}),
}


class Stack:
    """Every row visit of a blocked sweep, line by line; distances by counting lines."""

    def __init__(self, shape: GridShape) -> None:
        self.shape = shape
        self.place = {access.parameter: access.parameter for access in shape.accesses}
        self.known: dict[tuple[str, int, int, int], int] = {}
        self.last = np.zeros(20_000, dtype=np.int64)
        self.time = 0

    def steady(self) -> dict[str, tuple[int, list[float]]]:
        """Array to the lines touched at all and the bytes since of repeated touches, in a step."""
        for _ in range(2):
            list(self.step())
        begin, first = self.time, defaultdict(int)
        again: dict[str, list[float]] = defaultdict(list)
        for name, last, distance in self.step():
            if last <= begin:
                first[name] += 1
            else:
                again[name].append(distance)
        return {name: (count, again[name]) for name, count in first.items()}

    def step(self) -> Iterator[tuple[str, int, float]]:
        (K, J, width), (bk, bj, bi), r = self.shape.extents, self.shape.blocks, self.shape.radius
        for kb, jb, ib in product(range(0, K, bk), range(0, J, bj), range(0, width, bi)):
            end = min(width, ib + bi)
            for k, j in product(range(kb, min(K, kb + bk)), range(jb, min(J, jb + bj))):
                visit = [
                    (line, a.parameter, -dk, -dj)
                    for a in self.shape.accesses
                    for (dk, dj), (low, high) in zip(a.rows, a.spans, strict=True)
                    for line in range((r + ib + low) // PER_LINE, (r + end - 1 + high) // 8 + 1)
                ]
                for line, name, dk, dj in sorted(visit):
                    yield name, *self.touch((self.place[name], k - dk, j - dj, line))
        self.place["u"], self.place["v"] = self.place["v"], self.place["u"]

    def touch(self, line: tuple[str, int, int, int]) -> tuple[int, float]:
        """Time of the last touch, and bytes of the distinct lines since, this one included."""
        place = self.known.setdefault(line, len(self.known))
        last = int(self.last[place])
        self.time += 1
        self.last[place] = self.time
        return last, float(np.count_nonzero(self.last[: len(self.known)] >= last) * LINE)


@pytest.mark.parametrize(
    ("case", "extents", "blocks"),
    [
        ("star", (8, 14, 40), (8, 14, 40)),
        ("star", (8, 14, 40), (8, 4, 40)),
        ("star", (8, 14, 40), (8, 14, 16)),
        ("star", (8, 14, 40), (4, 5, 16)),
        ("star", (8, 14, 40), (3, 4, 40)),
        ("star", (24, 1, 200), (24, 1, 48)),
        ("variable", (8, 14, 40), (8, 8, 24)),
        ("box", (6, 12, 40), (6, 4, 16)),
        ("long", (10, 14, 24), (10, 14, 24)),
        ("long", (10, 14, 40), (10, 8, 16)),
        ("apart", (12, 8, 24), (2, 4, 24)),
    ],
)
def test_touches_within_a_sweep_agree_with_a_brute_force_stack(
    case: str, extents: tuple[int, int, int], blocks: tuple[int, int, int]
) -> None:
    """Lines exactly; distances: the misses of every cache, its size within an eighth, 4 % apart."""
    radius, reads = CASES[case]
    if extents[1] == 1:
        reads = {"u": tuple((k, 0, i) for k, i in star(1, 2))}
    shape = GridShape(extents, blocks, radius, accesses(reads, "v"), extents[1] == 1)
    counted = Stack(shape).steady()
    for found in reuses(shape, LINE):
        first, again = counted[found.parameter]
        assert found.events.first == first
        assert found.events.lines.sum() == len(again)
        if not again:
            continue
        distances = np.array(again)
        mean = (found.events.lines * found.distance).sum() / len(again)
        assert mean == pytest.approx(distances.mean(), rel=0.15)
        for capacity in np.quantile(distances, np.linspace(0.05, 0.95, 7)) * 1.05:
            missed = found.events.lines[found.distance > capacity].sum()
            fewest, most = (np.sum(distances > capacity * f) for f in (1.125, 1 / 1.125))
            slack = 0.04 * (first + len(again))
            assert fewest - slack <= missed <= most + slack


# --- whole programs -------------------------------------------------------------------------


def cache(name: str, size: int, ways: int = 8, cores: int = 1) -> CacheLevel:
    return CacheLevel(name=name, size=size, line=LINE, ways=ways, cores=cores)


MACHINE = Machine(
    name="tiny",
    architecture="x86_64",
    clock=1e9,
    cores=4,
    caches=(cache("L1", 32768), cache("L2", 262144), cache("L3", 1 << 22, 16, 4)),
    memory=Memory(),
    in_core=InCore(),
)
KJI = ("k", "j", "i")


def problem(*extents: int) -> StencilProblem:
    text = "0.5*u[k][j][i] + 0.1*(" + " + ".join(
        f"u[k+{k}][j+{j}][i+{i}]" for k, j, i in star(1)[1:]
    )
    stencil = Stencil(
        name="star", title="", source="", dimensions=KJI, body=parse(text + ")"), initial=Num(1)
    )
    return StencilProblem(stencil=stencil, extents=extents)


def program(pad: int = 1, **blocks: int) -> StepProgram:
    value: Expr = Num(0)
    for offsets in star(1):
        indices = tuple(Bin("+", Sym(d), Num(o)) for d, o in zip(KJI, offsets, strict=True))
        value = Bin("+", value, Ref("u", indices))
    node: Node = GridSweep(
        name="star",
        kernel="sweep",
        rows=(("v", StoredRow("v")), ("u", StoredRow("u"))),
        dimensions=KJI,
        value=value,
        target="v",
        radius=1,
    )
    for dimension in reversed([d for d in KJI if d in blocks]):
        node = Tiles(blocks[dimension], NodeBlock((node,)), dimension)
    return StepProgram(
        body=NodeBlock((node, Sync(), Swap("u", "v"))),
        arrays=(("u", 1), ("v", 1)),
        pad_lines=pad,
        stages=1,
        grid=GridStorage(KJI, 1),
    )


def lines(traffic: StepTraffic, capacity: float, thread: int = 0) -> float:
    """Lines per point from beyond a cache."""
    data = traffic.threads[thread]
    return float(data.lines[data.history.distance[:, 0] > capacity].sum())


def test_layer_conditions_appear_one_after_the_other() -> None:
    """Per line of v: u comes in as 5, 3, 1 rows as the cache holds a row, a plane, three planes.

    Rows of 256 points begin behind a ghost, so they lie in 33 lines.
    """
    traffic = TrafficAnalyser(MACHINE).analyse(program(), problem(64, 256, 256), 1)
    assert traffic.line == LINE
    row = 258 * 8.0
    for capacity, rows in ((row, 6), (12 * row, 4), (1000 * row, 4), (1200 * row, 2), (1e12, 0)):
        expected = rows * 33 / 32
        assert lines(traffic, capacity) * PER_LINE == pytest.approx(expected, rel=0.03)
    assert [item.iterations for item in traffic.threads[0].passes] == [64 * 256 * 256]
    kinds = {(s.row, s.kind, s.level) for record in traffic.records() for s in record.streams}
    assert {("u", "load", "L1"), ("u", "load", "MEM"), ("v", "store", "MEM")} <= kinds


def test_blocks_load_their_halos_again() -> None:
    """bj = 16: two of 18 rows belong to neighbours; bi = 64: nine lines where eight would do."""
    analyser = TrafficAnalyser(MACHINE)
    grid = problem(64, 256, 256)
    planes = 66 / 64
    strip = analyser.analyse(program(j=16), grid, 1)
    assert lines(strip, 200_000) * PER_LINE == pytest.approx(
        33 / 32 * (1 + 18 / 16 * planes), rel=0.01
    )
    assert strip.threads[0].passes[0].run == 16 * 256
    block = analyser.analyse(program(j=16, i=64), grid, 1)
    assert lines(block, 100_000) * PER_LINE == pytest.approx(
        9 / 8 * (1 + 18 / 16 * planes), rel=0.01
    )
    assert (block.threads[0].passes[0].run, block.threads[0].passes[0].rows) == (64, 6)
    assert (block.shapes[0].run, block.shapes[0].starts[:2]) == (64, (1, 65))
    crowd = flatten.flows([block], 8).crowd
    assert set(crowd.tolist()) == {6}, "rows walked side by side, not touches at each distance"


def test_threads_read_the_planes_of_their_neighbours() -> None:
    traffic = TrafficAnalyser(MACHINE).analyse(program(), problem(20, 32, 32), 4)
    assert sum(data.alike for data in traffic.threads) == 4
    remote = [float(data.lines[data.history.remote].sum()) for data in traffic.threads]
    plane = 1 / 5 * 5 / 4 / PER_LINE  # one of five planes; five lines for the four of a row
    assert remote == pytest.approx([plane, 2 * plane, plane])


def test_only_a_slowest_block_is_no_block() -> None:
    analyser = TrafficAnalyser(MACHINE)
    free, blocked = (analyser.analyse(p, problem(24, 40, 40), 1) for p in (program(), program(k=4)))
    assert blocked.threads[0].history.distance.tolist() == free.threads[0].history.distance.tolist()


def test_narrow_blocks_of_rows_4_kib_apart_lose_their_lines() -> None:
    """64 points of rows 512 points apart: 9 of 64 sets; nine lines of padding spread them."""
    grid = problem(16, 128, 510)
    found = {}
    for pad in (0, 9):
        traffic = TrafficAnalyser(MACHINE).analyse(program(pad, j=8, i=64), grid, 1)
        found[pad] = {c.level: c for c in traffic.conflicts(0, pad, MACHINE, 8)}
    assert "L1" in found[0]
    assert found[0]["L1"].certain
    assert found[0]["L1"].streams > 8
    assert 1 / PER_LINE < found[0]["L1"].lines < 6 / PER_LINE
    assert "L1" not in found[9]


def test_several_sweeps_within_a_block_are_refused() -> None:
    made = program(j=8)
    tiles = made.body.nodes[0]
    assert isinstance(tiles, Tiles)
    twice = Tiles(8, NodeBlock(tiles.body.nodes * 2), "j")
    broken = StepProgram(
        body=NodeBlock((twice,)), arrays=made.arrays, pad_lines=0, stages=1, grid=made.grid
    )
    with pytest.raises(ValueError, match="several sweeps"):
        TrafficAnalyser(MACHINE).analyse(broken, problem(8, 16, 16), 1)
