"""Traffic of programs over grids: threads, nodes, blocks, and results that are shared."""

import math

import numpy as np
import pytest

from autotune.codegen.tree.loop_tree import (
    GridStorage,
    GridSweep,
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
from autotune.domain.problem import StencilProblem
from autotune.domain.stencil import Stencil
from autotune.language.expression import Num, parse
from autotune.models.traffic.grid.grid_traffic import GridAnalyser, GridTraffic
from autotune.models.traffic.reuse_distance import ThreadStreams

LINE, PER_LINE = 64, 8
JI = ("j", "i")
BODY = "u[j-1][i] + u[j+1][i] + u[j][i-1] + u[j][i+1]"
MACHINE = Machine(
    name="tiny",
    architecture="x86_64",
    clock=1e9,
    cores=4,
    caches=(
        CacheLevel(name="L1", size=32768, line=LINE, ways=8, cores=1),
        CacheLevel(name="L2", size=262144, line=LINE, ways=8, cores=1),
        CacheLevel(name="L3", size=1 << 22, line=LINE, ways=16, cores=4),
    ),
    memory=Memory(),
    in_core=InCore(),
)


def problem(*extents: int) -> StencilProblem:
    stencil = Stencil(
        name="star2d", title="", source="", dimensions=JI, body=parse(BODY), initial=Num(1)
    )
    return StencilProblem(stencil=stencil, extents=extents)


def sweep(target: str = "v", source: str = "u") -> GridSweep:
    return GridSweep(
        name="star2d",
        kernel="sweep",
        rows=(("v", StoredRow(target)), ("u", StoredRow(source))),
        dimensions=JI,
        value=parse(BODY),
        target="v",
        radius=1,
    )


def program(*nodes: Node, pad: int = 0) -> StepProgram:
    return StepProgram(
        body=NodeBlock((*nodes, Sync(), Swap("u", "v"))),
        arrays=(("u", 1), ("v", 1)),
        pad_lines=pad,
        stages=1,
        grid=GridStorage(JI, 1),
    )


def analyse(made: StepProgram, grid: StencilProblem, threads: int = 1) -> GridTraffic:
    traffic = GridAnalyser(MACHINE).analyse(made, grid, threads)
    assert isinstance(traffic, GridTraffic)
    return traffic


def moved(thread: ThreadStreams, row: int) -> float:
    """Lines of one array per point from anywhere beyond what the sweep itself just touched."""
    chosen = (thread.row == row) & (thread.history.distance[:, 0] > 64 * 1024)
    return float(thread.lines[chosen].sum())


def test_each_line_of_both_arrays_comes_once_per_sweep() -> None:
    """100 x 126 points: rows of 128 with their ghosts are 16 lines; u has two planes more.

    v has lines of 126 points behind one ghost: 16 too.
    """
    traffic = analyse(program(sweep()), problem(100, 126))
    (thread,) = traffic.threads
    assert traffic.schedule.rows == ("u", "v")
    last = traffic.schedule.steps[-1].calls[0]
    source, target = dict(last.rows)["u"], dict(last.rows)["v"]
    points = 100 * 126
    assert moved(thread, source) * points == pytest.approx(102 * 16)
    assert moved(thread, target) * points == pytest.approx(100 * 16)
    assert [item.iterations for item in thread.passes] == [points]


def test_rows_are_loaded_again_where_the_cache_holds_less_than_three() -> None:
    """u[j-1], u[j], u[j+1] touch each line of u three times: twice at a distance of a row."""
    traffic = analyse(program(sweep()), problem(100, 1022))
    (thread,) = traffic.threads
    row = 128 * LINE  # a row of u comes in with one of v
    again = thread.lines[
        (thread.history.distance[:, 0] > row) & (thread.history.distance[:, 0] < 5 * row)
    ].sum()
    assert again * PER_LINE == pytest.approx(2, rel=0.03)


def test_blocks_of_rows_are_walked_in_strips() -> None:
    traffic = analyse(program(Tiles(32, NodeBlock((sweep(),)), "i")), problem(64, 256))
    assert [item.run for item in traffic.threads[0].passes] == [32]
    assert traffic.grids[0].blocks == (64, 1, 32)
    assert traffic.shapes[0].run == 32
    assert traffic.extents == (64, 256)


@pytest.mark.parametrize(
    ("planes", "threads", "alike"),
    [
        (100, 1, [1]),
        (100, 2, [1, 1]),  # one borders on a thread behind, one on a thread before
        (100, 4, [1, 2, 1]),
        (10, 4, [1, 1, 1, 1]),  # parts of 2, 3, 2 and 3 planes
        (3, 4, [1, 1, 1]),  # a thread without a plane does nothing
    ],
)
def test_threads_own_parts_of_the_slowest_dimension(
    planes: int, threads: int, alike: list[int]
) -> None:
    traffic = analyse(program(sweep()), problem(planes, 40), threads)
    assert [thread.alike for thread in traffic.threads] == alike
    done = sum(
        thread.alike * item.iterations for thread in traffic.threads for item in thread.passes
    )
    assert done == planes * 40
    widest = math.ceil(planes / threads)
    assert traffic.grids[0].extents == (widest, 1, 40)


def test_planes_of_neighbours_were_written_by_others() -> None:
    """A thread in the middle reads a plane of each neighbour; those at the ends read one."""
    traffic = analyse(program(sweep()), problem(40, 62), 4)
    lines = 8  # rows of 64 with ghosts
    remote = [float(t.lines[t.history.remote].sum()) * 10 * 62 for t in traffic.threads]
    assert remote == pytest.approx([lines, 2 * lines, lines])
    for thread in traffic.threads:
        assert not (thread.history.remote & thread.history.stores).any()
        assert np.isnan(thread.outward[thread.history.remote]).all()


def test_threads_divide_shared_caches_on_their_node() -> None:
    analyser = GridAnalyser(MACHINE)
    made, grid = program(sweep()), problem(40, 62)
    sizes = {
        (threads, nodes): dict(analyser.analyse(made, grid, threads, nodes).levels)["L3"]
        for threads, nodes in ((1, 1), (4, 1), (4, 2))
    }
    assert sizes == {(1, 1): 1 << 22, (4, 1): 1 << 20, (4, 2): 1 << 21}


def test_padding_moves_rows_not_traffic() -> None:
    analyser = GridAnalyser(MACHINE)
    grid = problem(40, 62)
    first = analyser.analyse(program(sweep(), pad=0), grid, 2)
    assert analyser.analyse(program(sweep(), pad=9), grid, 2) is first
    assert analyser.analyse(program(sweep()), problem(40, 63), 2) is not first


def test_a_loop_around_a_sweep_is_more_of_the_same() -> None:
    """Two sweeps with the arrays exchanged in between: each pass moves what one pass moves."""
    twice = program(Repeat("s", 0, 2, NodeBlock((sweep(), Swap("u", "v")))))
    (both,) = analyse(twice, problem(100, 126)).threads
    (alone,) = analyse(program(sweep()), problem(100, 126)).threads
    assert len(both.passes) == 2
    far = [float(x.lines[x.history.distance[:, 0] > 64 * 1024].sum()) for x in (both, alone)]
    assert far[0] == pytest.approx(2 * far[1])


def test_threads_without_planes_share_no_cache() -> None:
    """Two planes keep two of four threads busy: both have half of L3, not a quarter."""
    sizes = [dict(analyse(program(sweep()), problem(2, 126), n).levels) for n in (2, 4)]
    assert sizes[0] == sizes[1]
    assert sizes[0]["L3"] == (1 << 22) / 2


# --- what is refused ------------------------------------------------------------------------------


def test_blocks_go_from_the_slowest_dimension_inwards() -> None:
    made = program(Tiles(8, NodeBlock((Tiles(8, NodeBlock((sweep(),)), "j"),)), "i"))
    with pytest.raises(ValueError, match="blocks of i, j are not in the dimensions' order"):
        analyse(made, problem(64, 64))


def test_a_sweep_over_rows_is_not_over_the_grid() -> None:
    row = Sweep(
        name="axpy",
        kernel="UPDATE",
        rows=(("y", StoredRow("u")),),
        scalars=(),
        stretches=(SweepStretch(Num(0), Num(8), ()),),
    )
    with pytest.raises(ValueError, match="sweep axpy is not over the grid"):
        analyse(program(row), problem(64, 64))
