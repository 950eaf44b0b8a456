"""Passes of a thread over its block: segments, objects, tiles, neighbours, trailing offsets."""

import math
from collections.abc import Sequence

import pytest

from autotune.models.traffic.passes import ThreadPasses, Touch, Trail, clusters, thread_passes
from autotune.models.traffic.reuse_distance import streams
from autotune.models.traffic.schedule import CallPhase, Schedule, SweepCall, TimeStep
from autotune.models.traffic.sweep_shape import RowAccess, SweepShape


def reads(
    *offsets: int, lower: int = 0, upper: int = 1000, share: float = 1.0, written: bool = False
) -> SweepShape:
    """A sweep that reads row ``a`` at offsets, descending."""
    return SweepShape(
        lower=lower, upper=upper, share=share,
        accesses=(RowAccess("a", offsets, True, written),), streams=(("a", 0),),
    )  # fmt: skip


def schedule(*phases: CallPhase, calls: int = 1, rows: int = 1) -> Schedule:
    """Each call is a sweep of its own, of row 0."""
    step = TimeStep(
        calls=tuple(SweepCall(k, (("a", min(k, rows - 1)),)) for k in range(calls)),
        phases=phases,
        regions=(tuple((k, 1) for k in range(calls)),),
        barriers=1,
    )
    return Schedule(sweeps=(), steps=(step,), rows=tuple(f"R[{k}]" for k in range(rows)))


def passes(
    shapes: Sequence[SweepShape], *phases: CallPhase, n: int = 1000, threads: int = 1, rows: int = 1
) -> list[ThreadPasses]:
    calls = len(shapes)
    every = phases or tuple(CallPhase((k,), None) for k in range(calls))
    return thread_passes(schedule(*every, calls=calls, rows=rows), shapes, n, 1, threads, 64)


def touches(made: ThreadPasses) -> list[list[Touch]]:
    return [list(item.touches) for group in made.steps[-1] for item in group.passes]


def test_a_sweep_over_all_is_one_pass_of_one_object() -> None:
    (made,) = passes([reads(0)])
    ((group,),) = made.steps
    (only,) = group.passes
    assert (group.tile, group.tile_components) == (1.0, 1000.0)
    assert (only.call, only.iterations, only.whole) == (0, 1000.0, True)
    assert (only.run, only.rows) == (math.inf, 0)
    assert only.touches == (Touch(0, 0, True, False, False, ()),)
    assert (made.sizes, made.alike) == ((8000.0,), 1)


def test_a_block_is_cut_where_the_range_of_a_sweep_begins_or_ends() -> None:
    (made,) = passes([reads(0), reads(0, lower=400, upper=900)])
    assert made.sizes == (3200.0, 4000.0, 800.0)
    groups = made.steps[-1]
    assert [(g.passes[0].call, g.passes[0].touches[0].object) for g in groups] == [
        (0, 0), (0, 1), (0, 2), (1, 1),
    ]  # fmt: skip
    assert [g.passes[0].iterations for g in groups] == [400.0, 500.0, 100.0, 500.0]
    assert [g.tile_components for g in groups] == [400.0, 500.0, 100.0, 500.0]


def test_boundary_rows_cut_nothing() -> None:
    """Below a 64th of the block, 15 components, a range is a short pass of one segment."""
    (made,) = passes([reads(0, upper=14), reads(0, lower=14), reads(0, lower=990)])
    assert made.sizes == (8000.0,)
    flat = [group.passes[0] for group in made.steps[-1]]
    assert [(p.iterations, p.whole) for p in flat] == [(14.0, False), (986.0, True), (10.0, False)]
    (cut,) = passes([reads(0, upper=15), reads(0, lower=15)])
    assert cut.sizes == (120.0, 7880.0)


def test_iterations_are_the_share_that_columns_leave() -> None:
    (made,) = passes([reads(0, share=0.5), reads(0, lower=400)])
    iterations = [group.passes[0].iterations for group in made.steps[-1]]
    assert iterations == [200.0, 300.0, 600.0]


def test_rows_are_objects_one_after_the_other_with_a_segment_each() -> None:
    (made,) = passes([reads(0), reads(0, lower=400)], rows=2)
    assert made.sizes == (3200.0, 4800.0) * 2
    assert [touch.object for item in touches(made) for touch in item] == [0, 1, 3]
    assert [touch.row for item in touches(made) for touch in item] == [0, 0, 1]


@pytest.mark.parametrize(("tile", "share"), [(250, 0.25), (300, 0.3)])
def test_tiles_run_their_calls_together(tile: int, share: float) -> None:
    (made,) = passes([reads(0), reads(0)], CallPhase((0, 1), tile))
    (group,) = made.steps[-1]
    assert [item.call for item in group.passes] == [0, 1]
    assert (group.tile, group.tile_components) == (share, float(tile))


@pytest.mark.parametrize("tile", [1000, 5000])
def test_a_tile_as_long_as_the_block_is_none(tile: int) -> None:
    (made,) = passes([reads(0), reads(0)], CallPhase((0, 1), tile))
    assert [len(group.passes) for group in made.steps[-1]] == [1, 1]


def test_in_a_segment_shorter_than_the_tile_all_is_one_tile() -> None:
    (made,) = passes([reads(0), reads(0, lower=900)], CallPhase((0, 1), 400))
    first, second = made.steps[-1]
    assert (first.tile, first.tile_components) == (400 / 900, 400.0)
    assert (second.tile, second.tile_components) == (1.0, 100.0)
    assert [len(first.passes), len(second.passes)] == [1, 2]


def test_boundary_rows_of_a_tile_loop_come_after_it() -> None:
    (made,) = passes([reads(0, upper=5), reads(0, lower=5)], CallPhase((0, 1), 100))
    assert [(g.passes[0].call, g.tile) for g in made.steps[-1]] == [(1, 0.1), (0, 1.0)]


def test_trailing_offsets_of_another_line_are_trails() -> None:
    """While the sweep goes on by a gap of 100, three offsets touch 100 and twice their gap."""
    (made,) = passes([reads(100, 0, -4)])
    ((touch,),) = touches(made)
    touched = (100 + 100 + 4) * 8 + 1 * (64 - 8)
    assert touch.trails == (Trail(100, touched),)
    (near,) = passes([reads(8, 0)])
    ((touch,),) = touches(near)
    assert touch.trails == (Trail(8, (8 + 8) * 8 + 56),)


def test_offsets_bring_in_what_lies_beside_the_range_of_a_sweep() -> None:
    """[100, 900) read at j - 100 and j + 100 touches 1000 components, 200 more than it computes."""
    (made,) = passes([reads(100, 0, -100, lower=100, upper=900)])
    (*_, (touch,)) = [found for found in touches(made) if found]
    assert touch.beyond == pytest.approx(200 / 800)
    found = streams(made, 64)
    (computed,) = {item.iterations for item in found.passes}
    assert computed * found.lines[0] == pytest.approx(1000 / 8)


@pytest.mark.parametrize(("threads", "handed"), [(1, None), (2, 2 / 500), (4, (3 + 2) / 250)])
def test_components_beyond_the_border_of_a_block_are_read_from_other_threads(
    threads: int, handed: float | None
) -> None:
    """One thread stands for all that are alike: one between two others, or of two the second."""
    made = passes([reads(3, 0, -2)], threads=threads)[0]
    ((own, *others),) = touches(made)
    assert not own.remote
    assert [(t.object, t.remote, 1 + t.beyond) for t in others] == (
        [] if handed is None else [(0, True, pytest.approx(handed))]
    )


def test_a_row_that_a_sweep_changes_itself_has_no_border() -> None:
    made = passes([reads(3, 0, -2, written=True)], threads=2)[0]
    assert [touch.remote for touch in touches(made)[0]] == [False]


@pytest.mark.parametrize(("threads", "remote"), [(1, False), (2, True)])
def test_a_row_read_more_than_half_a_segment_away_is_another_object(
    threads: int, remote: bool
) -> None:
    """Beyond the end of the block it belongs to another thread, where there is one."""
    n = 1000 * threads
    first, *_ = passes([reads(600, 0, upper=n, written=True)], n=n, threads=threads)
    assert touches(first) == [
        [Touch(0, 1, True, False, remote, ()), Touch(0, 0, True, True, False, ())]
    ]
    assert first.sizes == (8000.0, 8000.0)


def test_a_row_read_less_than_half_a_segment_away_is_the_same_object() -> None:
    (made,) = passes([reads(499, 0)])
    ((touch,),) = touches(made)
    assert (touch.object, [trail.gap for trail in touch.trails]) == (0, [499])
    (apart,) = passes([reads(500, 0)])
    assert [touch.trails for touch in touches(apart)[0]] == [(), ()]


def test_segments_that_are_read_from_one_another_are_the_same_objects() -> None:
    """Of two segments of 500 each reads the other half of the row, 500 away."""
    (made,) = passes([reads(500, 0, upper=500), reads(0, -500, lower=500)])
    assert made.sizes == (4000.0, 4000.0)
    objects = [[touch.object for touch in item] for item in touches(made)]
    assert objects == [[1, 0], [1, 0]]
    assert not any(touch.remote for item in touches(made) for touch in item)


def test_an_overlap_of_half_a_segment_is_the_segment() -> None:
    """700 ahead of [0, 600) is [700, 1300): the last 300 of the block are half of it."""
    (made,) = passes([reads(700, 0, upper=600), reads(0, lower=600)])
    first, *_ = touches(made)
    assert [touch.object for touch in first] == [1, 0]
    (beyond,) = passes([reads(701, 0, upper=600), reads(0, lower=600)])
    first, *_ = touches(beyond)
    assert [touch.object for touch in first] == [2, 0]
    assert beyond.sizes == (4800.0, 3200.0, 4800.0)


def test_threads_that_do_the_same_are_counted() -> None:
    """The first and the last have a boundary of 10 of their 250 components."""
    made = passes([reads(0), reads(0, lower=10, upper=990)], threads=4)
    assert [(thread.alike, thread.sizes) for thread in made] == [
        (1, (80.0, 1920.0)), (2, (2000.0,)), (1, (1920.0, 80.0)),
    ]  # fmt: skip
    short = passes([reads(0), reads(0, lower=2, upper=998)], threads=4)
    assert [(thread.alike, thread.sizes) for thread in short] == [(4, (2000.0,))]


@pytest.mark.parametrize(("upper", "alike"), [(2, [4]), (3, [1, 3])])
def test_a_range_as_long_as_the_shortest_segment_makes_its_thread_another(
    upper: int, alike: list[int]
) -> None:
    """The shortest segment of 250 components is a 64th: three."""
    made = passes([reads(0), reads(0, upper=upper)], threads=4)
    assert [thread.alike for thread in made] == alike


def test_threads_that_differ_are_apart_and_idle_ones_are_left_out() -> None:
    made = passes([reads(0, upper=500)], threads=4)
    assert [thread.alike for thread in made] == [2]
    with pytest.raises(ValueError, match="the program computes nothing"):
        passes([reads(0, lower=5, upper=5)])


def test_what_a_sum_reads_is_read_again_after_all_that_sums_read() -> None:
    summed = SweepShape(
        lower=0, upper=1000, share=1.0, streams=(("a", 0),),
        accesses=(
            RowAccess("a", (0, -1), True, False, 700), RowAccess("a", (0,), True, False, 300),
        ),
    )  # fmt: skip
    first, second = clusters(summed.accesses, 500.0, 64)
    assert first.trails == (Trail(0, 8000.0, 700.0),)
    assert second.trails == (Trail(0, 8000.0, 300.0),)


@pytest.mark.parametrize(
    ("offsets", "again"),
    [
        ((1, 0, -1), True),
        ((0,), False),
        ((100, 1, 0, -1), False),  # the leading row of a grid reads a line once when it comes
        ((101, 100, 0), True),
        ((7, 0), True),
        ((8, 0), False),  # a line apart
    ],
)
def test_loads_read_a_line_on_its_way_where_the_leading_offsets_share_it(offsets, again) -> None:
    assert [c.again for c in clusters(reads(*offsets).accesses, 500.0, 64)] == [again]
    made = streams(passes([reads(*offsets)])[0], 64)
    assert made.history.again.tolist()[0] == again
    assert not made.history.again[1:].any(), "those behind it find the line"
