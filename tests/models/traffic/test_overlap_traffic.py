"""The traffic of sweeps on overlapped tiles, against an LRU cache of rows and hand counts."""

from collections import OrderedDict
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from autotune.codegen.tree import loop_tree, variant_program
from autotune.domain.problem import StencilProblem
from autotune.domain.stencil import offsets
from autotune.domain.variant import Block, OverlappedTiles, Transformation, Variant
from autotune.files import config
from autotune.language.expression import references
from autotune.models.traffic.stream_records import StepTraffic
from autotune.models.traffic.traffic_analyser import analyse

MACHINE = config.machine("generic-x86-64")
SKELETON = config.skeleton("jacobi")
KIB = 1024
Extents = tuple[int, int, int]


def made(
    name: str, extents: Extents, *transformations: Transformation, threads: int = 1
) -> tuple[loop_tree.StepProgram, StepTraffic]:
    at = StencilProblem(stencil=config.stencil(name), extents=extents)
    variant = Variant(skeleton="jacobi", transformations=transformations, parameters={})
    program = variant_program.program(variant, SKELETON, at)
    return program, analyse(program, at, threads, MACHINE)


def loaded(traffic: StepTraffic, capacity: float) -> float:
    """Lines that a time step loads into a cache of so many bytes."""
    total = 0.0
    for thread in traffic.threads:
        far = (thread.history.distance > capacity).mean(axis=1)
        iterations = np.array([thread.passes[k].iterations for k in thread.owner.tolist()])
        total += thread.alike * float((iterations * thread.lines * far).sum())
    return total


def rows_touched(
    program: loop_tree.StepProgram, extents: Extents, source: str, target: str
) -> Iterator[tuple[object, ...]]:
    """The rows that one pass touches, in order, as the generated loops do."""
    placed = loop_tree.several_sweeps(program.body)
    assert placed is not None
    tile, around = placed
    K, J, _ = extents
    r, t, blocks = tile.sweep.radius, tile.sweeps, dict(around)
    bk, bj = blocks.get("k", K), blocks.get("j", J)
    steps: dict[str, set[tuple[int, int]]] = {}
    for ref in references(tile.sweep.value):
        dk, dj, _ = offsets(ref, tile.sweep.dimensions)
        steps.setdefault(ref.array, set()).add((dk, dj))
    for k0, j0 in product(range(0, K, bk), range(0, J, bj)):
        for s in range(1, t + 1):
            beyond = r * (t - s)
            planes = range(max(0, k0 - beyond), min(K, k0 + bk + beyond))
            rows = range(max(0, j0 - beyond), min(J, j0 + bj + beyond))
            for k, j in product(planes, rows):
                for array, places in steps.items():
                    for dk, dj in sorted(places):
                        at = k + dk, j + dj
                        if array != "u" or s == 1:
                            yield source if array == "u" else array, *at
                        else:
                            yield (s - 1) % 2, at[0] - k0, at[1] - j0
                yield (target, k, j) if s == t else (s % 2, k - k0, j - j0)


def simulated(program: loop_tree.StepProgram, extents: Extents, rows: int) -> int:
    """Rows that the third of three passes loads into an LRU cache of so many rows."""
    cache: OrderedDict[tuple[object, ...], None] = OrderedDict()
    misses = 0
    for number in range(3):
        misses = 0
        for row in rows_touched(program, extents, "ab"[number % 2], "ba"[number % 2]):
            if row in cache:
                cache.move_to_end(row)
                continue
            misses += 1
            cache[row] = None
            if len(cache) > rows:
                cache.popitem(last=False)
    return misses


def blocks(**sizes: int) -> tuple[Block, ...]:
    return tuple(Block("sweep", dimension, size) for dimension, size in sizes.items())


@pytest.mark.parametrize(
    ("name", "extents", "transformations", "capacities"),
    [
        (
            "star3d-7pt",
            (24, 40, 46),
            (*blocks(k=8, j=10), OverlappedTiles("sweep", 4)),
            (8, 40, 600),
        ),
        (
            "star3d-7pt",
            (24, 20, 46),
            (*blocks(k=6), OverlappedTiles("sweep", 3)),
            (8, 40, 200, 300),
        ),
        (
            "box3d-27pt",
            (24, 20, 46),
            (*blocks(j=5), OverlappedTiles("sweep", 2)),
            (4, 40, 160, 300),
        ),
        ("star3d-r4", (24, 24, 40), (*blocks(k=8, j=8), OverlappedTiles("sweep", 2)), (4, 12, 500)),
    ],
)
def test_lines_are_those_that_a_cache_loads(
    name: str,
    extents: Extents,
    transformations: tuple[Transformation, ...],
    capacities: tuple[int, ...],
) -> None:
    program, traffic = made(name, extents, *transformations)
    placed = loop_tree.several_sweeps(program.body)
    assert placed is not None
    per_row = -(-(extents[-1] + 2 * placed[0].sweep.radius) // 8)
    for capacity in capacities:
        rows = capacity * KIB // 64 // per_row
        lines = simulated(program, extents, rows) * per_row / placed[0].sweeps
        assert loaded(traffic, capacity * KIB) == pytest.approx(lines, rel=0.12), capacity


def test_a_pass_reads_the_grid_once_and_writes_it_once() -> None:
    """By hand: 64^3 points of 8 lines a row, and ghosts, over four sweeps."""
    tiles = (*blocks(k=16, j=16), OverlappedTiles("sweep", 4))
    _, traffic = made("star3d-7pt", (64, 64, 62), *tiles)
    cache = 3000 * KIB  # more than a row of tiles, less than the grid
    assert loaded(traffic, cache) == pytest.approx((66 * 66 + 64 * 64) * 8 / 4, rel=0.2)
    assert traffic.schedule.steps[-1].barriers == 0.25


def test_tiles_and_threads_compute_more() -> None:
    """By hand: of 4 sweeps of radius 1 the first computes 3 points more on each inner side."""
    tiles = (*blocks(k=16), OverlappedTiles("sweep", 4))
    _, traffic = made("star3d-7pt", (64, 64, 62), *tiles)
    planes = [64 + 6 * around for around in (3, 2, 1, 0)]  # three inner borders with two sides
    points = sum(p.iterations for thread in traffic.threads for p in thread.passes)
    assert points == pytest.approx(sum(planes) * 64 * 62 / 4)
    _, two = made("star3d-7pt", (64, 64, 62), *tiles, threads=2)
    points = sum(p.iterations * t.alike for t in two.threads for p in t.passes)
    assert points == pytest.approx(sum(planes) * 64 * 62 / 4)
