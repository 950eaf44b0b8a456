"""The traffic of several sweeps in one pass, against an LRU cache of rows and hand counts."""

from collections import OrderedDict
from collections.abc import Iterator

import numpy as np
import pytest

from autotune.codegen.tree import loop_tree, variant_program
from autotune.domain.problem import StencilProblem
from autotune.domain.stencil import offsets
from autotune.domain.variant import Block, Transformation, Variant, Wavefront
from autotune.files import config
from autotune.language.expression import references
from autotune.models.traffic.grid.wavefront_traffic import FrontTraffic
from autotune.models.traffic.traffic_analyser import analyse

MACHINE = config.machine("generic-x86-64")
SKELETON = config.skeleton("jacobi")
KIB = 1024


def made(
    name: str, extents: tuple[int, ...], *transformations: Transformation, threads: int = 1
) -> tuple[loop_tree.StepProgram, FrontTraffic]:
    at = StencilProblem(stencil=config.stencil(name), extents=extents)
    variant = Variant(skeleton="jacobi", transformations=transformations, parameters={})
    program = variant_program.program(variant, SKELETON, at)
    traffic = analyse(program, at, threads, MACHINE)
    assert isinstance(traffic, FrontTraffic)
    return program, traffic


def loaded(traffic: FrontTraffic, capacity: float, row: str = "") -> float:
    """Lines that a time step loads into a cache of so many bytes; of one row, if it is named."""
    total = 0.0
    for thread in traffic.threads:
        far = (thread.history.distance > capacity).mean(axis=1)
        iterations = np.array([thread.passes[k].iterations for k in thread.owner.tolist()])
        chosen = [not row or traffic.schedule.rows[k] == row for k in thread.row.tolist()]
        total += thread.alike * float((iterations * thread.lines * far)[chosen].sum())
    return total


# --- a cache of rows --------------------------------------------------------------------------


def rows_touched(
    program: loop_tree.StepProgram, extents: tuple[int, ...], source: str, target: str
) -> Iterator[tuple[object, ...]]:
    """The rows that one pass touches, in order, as the generated loops do."""
    found = loop_tree.several_sweeps(program.body)
    assert found is not None
    front, around = found
    K, J, _ = extents
    r, t, block = front.sweep.radius, front.sweeps, dict(around).get("j", J)
    steps: dict[str, set[tuple[int, int]]] = {}
    for ref in references(front.sweep.value):
        dk, dj, _ = offsets(ref, front.sweep.dimensions)
        steps.setdefault(ref.array, set()).add((dk, dj))
    for begin in range(0, J, block):
        for f in range(-r * t, K + r * t):
            for s in range(1, t + 1):
                k, beyond = f - r * (s - 1), r * (t - s)
                if not 0 <= k < K:
                    continue
                for j in range(max(0, begin - beyond), min(J, begin + block + beyond)):
                    for array, places in steps.items():
                        for dk, dj in sorted(places):
                            at = k + dk
                            if array != "u":
                                yield array, at, j + dj
                            elif s == 1 or not 0 <= at < K:
                                yield source, at, j + dj
                            else:
                                yield s - 1, at % (2 * r + 1), j + dj - begin
                    yield (target, k, j) if s == t else (s, k % (2 * r + 1), j - begin)


def simulated(program: loop_tree.StepProgram, extents: tuple[int, ...], rows: int) -> int:
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


@pytest.mark.parametrize(
    ("name", "extents", "transformations", "capacities"),
    [
        (
            "star3d-7pt",
            (24, 40, 46),
            (Block("sweep", "j", 10), Wavefront("sweep", 4)),
            (8, 40, 160),
        ),
        ("star3d-7pt", (24, 20, 46), (Wavefront("sweep", 3),), (8, 40, 160)),
        ("box3d-27pt", (24, 20, 46), (Wavefront("sweep", 2),), (3, 12, 140)),
        ("star3d-r4", (24, 24, 40), (Wavefront("sweep", 2),), (4, 12, 320)),
    ],
)
def test_lines_are_those_that_a_cache_loads(
    name: str,
    extents: tuple[int, ...],
    transformations: tuple[Transformation, ...],
    capacities: tuple[int, ...],
) -> None:
    program, traffic = made(name, extents, *transformations)
    found = loop_tree.several_sweeps(program.body)
    assert found is not None
    per_row = -(-(extents[-1] + 2 * found[0].sweep.radius) // 8)
    for capacity in capacities:
        rows = capacity * KIB // 64 // per_row
        lines = simulated(program, extents, rows) * per_row / found[0].sweeps
        assert loaded(traffic, capacity * KIB) == pytest.approx(lines, rel=0.12), capacity


def test_each_pass_reads_the_grid_once_and_writes_it_once() -> None:
    """By hand: 64^3 points of 8 lines a row, and ghosts, over four sweeps."""
    _, traffic = made("star3d-7pt", (64, 64, 62), Wavefront("sweep", 4))
    cache = 1500 * KIB  # more than rings, less than the grid
    assert loaded(traffic, cache, "u") == pytest.approx(66 * 66 * 8 / 4, rel=0.01)
    assert loaded(traffic, cache, "v") == pytest.approx(64 * 64 * 8 / 4, rel=0.01)
    assert loaded(traffic, cache, "rings") == 0
    assert loaded(traffic, 1e9) == 0


def test_blocks_and_threads_compute_and_read_more() -> None:
    """By hand: with blocks of 16 rows the first of 3 sweeps computes 2 more on inner sides."""
    extents = (64, 64, 62)
    _, traffic = made("star3d-7pt", extents, Block("sweep", "j", 16), Wavefront("sweep", 3))
    (thread,) = traffic.threads
    rows = [64 + 2 * 3 * beyond for beyond in (2, 1, 0)]
    assert [p.iterations for p in thread.passes] == [64 * n * 62 / 3 for n in rows]
    assert loaded(traffic, 700 * KIB, "u") == pytest.approx(66 * (64 + 24) * 8 / 3, rel=0.06)
    _, several = made("star3d-7pt", extents, Wavefront("sweep", 3), threads=4)
    middle = next(t for t in several.threads if t.alike == 2)
    assert [p.iterations for p in middle.passes] == [n * 64 * 62 / 3 for n in (20, 18, 16)]
    assert middle.history.remote.any()
    assert several.schedule.steps[-1].barriers == pytest.approx(1 / 3)


def test_a_plane_of_two_dimensions_is_a_row() -> None:
    _, traffic = made("star2d-5pt", (400, 1000), Wavefront("sweep", 4))
    assert loaded(traffic, 400 * KIB, "u") == pytest.approx(402 * 126 / 4, rel=0.02)
    assert loaded(traffic, 400 * KIB, "rings") == 0
    assert loaded(traffic, 60 * KIB, "rings") > 0
    blocked = made("star2d-5pt", (400, 1000), Block("sweep", "i", 100), Wavefront("sweep", 4))[1]
    assert loaded(blocked, 60 * KIB, "rings") == 0


def test_rows_of_rings_that_crowd_a_set_are_set_conflicts() -> None:
    _, traffic = made("star3d-r4", (64, 64, 504), Wavefront("sweep", 2))  # rows of 4 KiB
    conflicts = {c.level: c for c in traffic.conflicts(0, 0, MACHINE, 8.0)}
    assert conflicts["L1"].streams >= 9
    padded = {c.level: c for c in traffic.conflicts(0, 1, MACHINE, 8.0)}
    assert "L1" not in padded or padded["L1"].streams < conflicts["L1"].streams
