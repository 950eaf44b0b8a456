"""Set conflicts of sweeps over grids, against sets that are filled line by line."""

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from autotune.domain.machine import CacheLevel
from autotune.domain.stencil import strides
from autotune.models.traffic.grid.grid_conflict import GridConflicts
from autotune.models.traffic.grid.grid_shape import GridShape, accesses
from autotune.models.traffic.set_conflicts import SetConflict

PER_LINE = 8
L1 = CacheLevel(name="L1", size=32 * 1024, line=64, ways=8, cores=1)
L2 = CacheLevel(name="L2", size=256 * 1024, line=64, ways=8, cores=1)
L3 = CacheLevel(name="L3", size=1 << 21, line=64, ways=16, cores=4)
FAR = np.array([1e9])
"""Distances beyond every cache: nothing can be lost over the steps."""


def star(radius: int) -> tuple[tuple[int, int, int], ...]:
    steps = [step for step in range(-radius, radius + 1) if step]
    return ((0, 0, 0), *((s, 0, 0) for s in steps), *((0, s, 0) for s in steps))


def layout(
    width: int, pad: int = 0, radius: int = 4, *, planes: int = 16, block: int = 0
) -> GridConflicts:
    extents = (planes, 16, width)
    blocks = (planes, 16, block or width)
    shape = GridShape(extents, blocks, radius, accesses({"u": star(radius)}, "v"), planar=False)
    return GridConflicts(shape, {"u": 0, "v": 1}, extents, pad)


def crowd(conflicts: list[SetConflict], level: str) -> SetConflict | None:
    return next((item for item in conflicts if item.level == level), None)


def rows_by_set(made: GridConflicts, cache: CacheLevel) -> list[int]:
    """The row streams of a point of ``u`` in each set, without the array that is written."""
    plane, line, _ = strides(made.extents, made.shape.radius, made.pad_lines)
    sets = [0] * cache.sets
    for dk, dj, _ in star(made.shape.radius):
        first = made.shape.radius * (plane + line + 1) + dk * plane + dj * line
        sets[first // PER_LINE % cache.sets] += 1
    return sets


def test_rows_that_are_pages_apart_crowd_one_set() -> None:
    """504 points and eight ghosts are 4 KiB a row: all 17 rows of u begin in one set of L1.

    v begins ``_SHIFT_LINES`` later in its page, in a set of its own. Seventeen lines are loaded
    again per line of eight points.
    """
    made = layout(504)
    assert strides(made.extents, 4)[1] * 8 == 4096
    assert max(rows_by_set(made, L1)) == 17
    conflict = crowd(made.find([L1], 504, FAR, np.array([1.0])), "L1")
    assert conflict == SetConflict("L1", 17, 8, pytest.approx(17 / 8), certain=True)


def test_short_loops_load_each_line_once_per_pass() -> None:
    """Loops of four points take half a line: every line is entered, and lost, twice."""
    conflict = crowd(layout(504).find([L1], 4, FAR, np.array([1.0])), "L1")
    assert conflict is not None
    assert conflict.lines == pytest.approx(2 * 17 / 8)


@pytest.mark.parametrize("pad", [0, 1, 2, 3, 5, 8, 16, 32, 64])
@pytest.mark.parametrize("cache", [L1, L2])
def test_padding_leaves_as_many_rows_in_a_set_as_counting_says(pad: int, cache: CacheLevel) -> None:
    made = layout(504, pad)
    most = max(rows_by_set(made, cache))
    conflict = crowd(made.find([cache], 504, FAR, np.array([1.0])), cache.name)
    if most <= cache.ways:
        assert conflict is None
    else:
        assert conflict is not None
        assert conflict.streams == most
        assert conflict.certain == (cache is L1)


def test_shared_caches_have_no_sets_that_are_known() -> None:
    assert layout(504).find([L3], 504, FAR, np.array([1.0])) == []


def test_a_star_of_radius_one_fits_the_ways() -> None:
    assert layout(510, radius=1).find([L1, L2], 510, FAR, np.array([1.0])) == []


# --- over the steps until a line is touched again -----------------------------------------------


def filled(made: GridConflicts, rows: int, width: int, cache: CacheLevel = L1) -> list[int]:
    """Lines in each set of a cache of ``rows`` neighbouring rows of both arrays, line by line."""
    plane, line, _ = strides(made.extents, 1, made.pad_lines)
    size = -(-plane * (made.extents[0] + 2) // 512) * 512 + 24 * PER_LINE
    lines = set()
    for array, offsets in ((0, star(1)), (1, ((0, 0, 0),))):
        for (dk, dj, _), row in product(offsets, range(rows)):
            first = array * size + dk * plane + (dj + row) * line + plane + line + 1
            lines |= {first // PER_LINE + step for step in range(width)}
    sets = [0] * cache.sets
    for number in lines:
        sets[number % cache.sets] += 1
    return sets


def share_lost(sets: npt.NDArray[np.float64], filled: npt.NDArray[np.float64]) -> float:
    """Of all lines: all of sets in which ten lines come between, none of those with up to eight."""
    return float((sets * np.interp(filled, [8, 10], [0, 1])).sum() / sets.sum())


@pytest.mark.parametrize("planes", [5, 8, 16])
def test_the_second_array_begins_in_a_page_of_its_own_behind_the_first(planes: int) -> None:
    """Planes of 504 points by 18 rows and ghost planes; they do not end with a page."""
    cache, lines = L1, 300.0
    made = layout(500, radius=1, planes=planes, block=64)
    plane = strides(made.extents, 1)[0]
    assert plane * (planes + 2) % 512
    sets = np.array(filled(made, 16, 9, cache), dtype=float)
    scaled = sets * lines / sets.sum()
    lost = 0.25 * share_lost(sets, scaled)
    assert 0 < lost < 0.25
    conflict = crowd(made.find([cache], 500, np.array([lines * 64]), np.array([0.25])), cache.name)
    assert conflict is not None
    assert conflict.lines == pytest.approx(lost)
    assert conflict.streams == round(scaled.max())


@pytest.mark.parametrize("planes", [16, 4])
def test_narrow_blocks_pile_up_in_few_sets(planes: int) -> None:
    """Blocks of 64 points of rows 4 KiB apart: 16 rows of five are touched before a plane ends.

    They are scaled to the lines that lie between the touches; sets of ten and more lose theirs.
    """
    made = layout(510, radius=1, planes=planes, block=64)
    sets = np.array(filled(made, 16, 64 // PER_LINE + 1), dtype=float)
    lines, moved = 150.0, 0.25
    scaled = sets * lines / sets.sum()
    lost = moved * share_lost(sets, scaled)
    assert 0 < lost < moved
    conflict = crowd(made.find([L1], 510, np.array([lines * 64]), np.array([moved])), "L1")
    assert conflict is not None
    assert conflict.lines == pytest.approx(lost)
    assert conflict.streams == round(scaled.max())


def test_a_reuse_along_j_fills_the_sets_with_one_step_only() -> None:
    """A step touches six rows of nine lines, at most five of them in a set.

    A reuse over at most one and a half times as many lines is one from row to row.
    """
    made = layout(510, radius=1, block=64)
    step = np.array(filled(made, 1, 9), dtype=float)
    assert step.max() <= 8
    near = step.sum() * 64.0
    assert made.find([L1], 510, np.array([near]), np.array([0.25])) == []


def test_what_lies_beyond_the_cache_is_lost_without_conflicts() -> None:
    made = layout(510, radius=1, block=64)
    beyond = L1.sets * L1.ways * 64.0 + 64
    assert made.find([L1], 510, np.array([beyond]), np.array([0.25])) == []


def test_lost_lines_of_several_streams_add_up() -> None:
    made = layout(510, radius=1, block=64)

    def lost(*lines: float) -> float:
        conflict = made.find([L1], 510, np.full(len(lines), 25_600.0), np.array(lines))
        return conflict[0].lines

    assert lost(0.25, 0.5) == pytest.approx(lost(0.25) + lost(0.5))
    assert lost(0.5) == pytest.approx(2 * lost(0.25))


def test_blocks_as_wide_as_all_sets_spread_evenly() -> None:
    """512 points and a line more cover every set: no set has more than its share."""
    made = layout(4096, radius=1, block=512)
    assert made.find([L1], 4096, np.array([25_600.0]), np.array([0.25])) == []


@pytest.mark.parametrize(("width", "block", "cache"), [(60, 16, L1), (56, 16, L1), (504, 40, L1)])
def test_the_sets_of_many_rows_are_those_of_each_row(
    width: int, block: int, cache: CacheLevel
) -> None:
    """Rows of a long block, counted by their period, against a count of every line."""
    extents, reads = (4, 3000, width), accesses({"u": star(2)}, "v")
    shape = GridShape(extents, (4, 3000, block), 2, reads, planar=False)
    made = GridConflicts(shape, {"u": 0, "v": 1}, extents, 0)
    lines = block // PER_LINE + 1
    first = made._starts(range(3000)) // PER_LINE
    every = np.unique(first[:, None] + np.arange(lines)) % cache.sets
    expected = np.bincount(every, minlength=cache.sets)
    assert made._sets_of_rows(cache, 3000, lines).tolist() == expected.tolist()


@pytest.mark.parametrize(("rows", "width"), [(60, 60), (200, 40), (12, 200)])
def test_a_plane_that_a_cache_holds_loses_no_lines_from_one_sweep_to_the_next(
    rows: int, width: int
) -> None:
    """Its rows lie one behind the other in all sets, not in those of a few rows."""
    reads = accesses({"u": ((1, 0, 0), (0, 0, 1), (0, 0, 0), (-1, 0, 0))}, "v")
    shape = GridShape((rows, 1, width), (rows, 1, width), 1, reads, planar=True)
    made = GridConflicts(shape, {"u": 0, "v": 1}, (rows, width), 0)
    held = np.array([2.0 * rows * (width + 2) * 8])
    assert held[0] < L2.size
    assert made.find([L2], 1, held, np.array([0.125])) == []


def test_planes_of_a_narrow_block_pile_up() -> None:
    """Rows of 4 KiB without padding: eight planes of a block of 16 points meet in few sets."""
    made = layout(510, radius=1, planes=64, block=16)
    assert strides(made.extents, 1)[1] * 8 == 4096
    lines = 16 * 8 * 2 * 3.0
    sets = made._sets(L2, made._starts(range(16), range(8)), 3)
    filled = sets * (lines / sets.sum())
    lost = 0.25 * sets[filled > 8].sum() / sets.sum()
    assert lost > 0
    conflict = crowd(made.find([L2], 500, np.array([lines * 64]), np.array([0.25])), "L2")
    assert conflict is not None
    assert conflict.lines == pytest.approx(lost)
