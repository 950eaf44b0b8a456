"""The order in which a blocked sweep touches lines, against a walk over all its steps."""

from collections import Counter, defaultdict
from itertools import pairwise, product

import numpy as np
import pytest

from autotune.models.traffic.grid.grid_events import (
    LineTouches,
    RowVisits,
    counts,
    events,
    lines_of_blocks,
)
from autotune.models.traffic.grid.grid_shape import GridAccess, GridShape, accesses

PER_LINE = 8
Offsets = tuple[tuple[int, int, int], ...]
Visit = tuple[int, int, int, int, int]
"""Block (kb, jb, ib) and step (k, j) of a visit."""

POINT: Offsets = ((0, 0, 0),)
STAR: Offsets = (
    *((0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0)),
    *((0, -1, 0), (0, 0, 1), (0, 0, -1)),
)
AHEAD: Offsets = ((0, 0, 0), (0, 0, 3), (2, 0, 0), (0, 1, -2))
BOX: Offsets = tuple(product((-1, 0, 1), repeat=3))
SHAPES = [
    ((1, 1, 150), (1, 1, 3)),
    ((9, 1, 66), (2, 1, 12)),
    ((2, 11, 9), (2, 3, 9)),
    ((4, 5, 20), (4, 5, 20)),
    ((4, 5, 20), (2, 5, 20)),
    ((4, 5, 20), (4, 2, 20)),
    ((4, 5, 20), (4, 5, 8)),
    ((4, 5, 20), (3, 2, 6)),
    ((5, 1, 33), (5, 1, 16)),
    ((3, 4, 7), (1, 1, 3)),
]


def shape(extents: tuple[int, int, int], blocks: tuple[int, int, int], reads: Offsets) -> GridShape:
    radius = max(abs(step) for offset in reads for step in offset) or 1
    return GridShape(extents, blocks, radius, accesses({"u": reads}, "v"), extents[1] == 1)


def walked(grid: GridShape, access: GridAccess) -> dict[tuple[int, int, int], list[Visit]]:
    """Line (plane, row, number in the row) to its visits in the order of the blocked loops."""
    (K, J, width), (bk, bj, bi) = grid.extents, grid.blocks
    visits: dict[tuple[int, int, int], list[Visit]] = defaultdict(list)
    for kb, jb, ib in product(*(range(count) for count in counts(grid))):
        end = min(width, (ib + 1) * bi)
        steps = product(
            range(kb * bk, min(K, (kb + 1) * bk)), range(jb * bj, min(J, (jb + 1) * bj))
        )
        for k, j in steps:
            for (dk, dj), (low, high) in zip(access.rows, access.spans, strict=True):
                elements = range(grid.radius + ib * bi + low, grid.radius + end + high)
                for line in sorted({element // PER_LINE for element in elements}):
                    visits[k + dk, j + dj, line].append((kb, jb, ib, k, j))
    return visits


def difference(before: Visit, again: Visit) -> Visit:
    kb, jb, ib, k, j = (b - a for a, b in zip(before, again, strict=True))
    return kb, jb, ib, k, j


def visits(item: RowVisits) -> list[Visit]:
    columns = (column.tolist() for column in (item.kb, item.jb, item.ib, item.k, item.j))
    return [(kb, jb, ib, k, j) for kb, jb, ib, k, j in zip(*columns, strict=True)]


def repeated(item: LineTouches) -> dict[Visit, float]:
    """Steps and blocks between two touches of a line, to the number of lines."""
    total: dict[Visit, float] = defaultdict(float)
    for before, again, lines in zip(
        visits(item.before), visits(item.again), item.lines.tolist(), strict=True
    ):
        total[difference(before, again)] += lines
    return dict(total)


@pytest.mark.parametrize("reads", [POINT, STAR, AHEAD, BOX], ids=["point", "star", "ahead", "box"])
@pytest.mark.parametrize(("extents", "blocks"), SHAPES)
def test_touches_agree_with_a_walk_over_all_steps(
    extents: tuple[int, int, int], blocks: tuple[int, int, int], reads: Offsets
) -> None:
    """Lines touched at all, lines of others' planes, and each repeat with its way in blocks."""
    grid = shape(extents, blocks, reads)
    for access in grid.accesses:
        touches = events(grid, access, PER_LINE)
        lines = walked(grid, access)
        assert touches.first == len(lines)
        before = sum(1 for plane, _, _ in lines if plane < 0)
        behind = sum(1 for plane, _, _ in lines if plane >= extents[0])
        assert touches.beyond == (before, behind)
        expected = Counter(difference(a, b) for visit in lines.values() for a, b in pairwise(visit))
        assert repeated(touches) == dict(expected)


def test_visits_are_decoded_to_steps_within_their_blocks() -> None:
    grid = shape((4, 5, 20), (3, 2, 6), BOX)
    for access in grid.accesses:
        touches = events(grid, access, PER_LINE)
        for item in (touches.before, touches.again):
            assert (item.k // 3).tolist() == item.kb.tolist()
            assert (item.j // 2).tolist() == item.jb.tolist()
            assert ((item.ib >= 0) & (item.ib < 4)).all()


@pytest.mark.parametrize("blocks", [(16, 16, 128), (10**9, 16, 128), (10**9, 4 * 10**9, 2000)])
def test_grids_of_any_size_have_the_lines_of_their_points(blocks: tuple[int, int, int]) -> None:
    """Blocks of whole lines of C share none; rows of u beyond the grid are its ghosts."""
    extents = (10**9, 4 * 10**9, 2000)
    grid = GridShape(extents, blocks, 8, accesses({"u": STAR, "C": POINT}, "v"), planar=False)
    star, point, _ = (events(grid, access, PER_LINE) for access in grid.accesses)
    rows, ghosts = extents[0] * extents[1], 2 * (extents[0] + extents[1])
    assert point.first == pytest.approx(rows * 2000 / PER_LINE)
    assert len(point.lines) == 0
    assert star.first == pytest.approx((rows + ghosts) * (2000 / PER_LINE + 2))
    assert len(star.lines) < 50_000


def test_an_array_read_at_the_point_alone_is_touched_once_where_blocks_are_whole_lines() -> None:
    grid = GridShape((3, 4, 32), (3, 4, 32), 0, accesses({"C": POINT}, "v"), planar=False)
    touches = events(grid, grid.accesses[0], PER_LINE)
    assert (touches.first, touches.beyond, len(touches.lines)) == (3 * 4 * 4, (0, 0), 0)


def test_blocks_that_meet_in_a_line_touch_it_in_turn() -> None:
    """Rows of 16 behind a ghost lie in three lines; blocks of eight meet in the middle one."""
    grid = GridShape((1, 1, 16), (1, 1, 8), 1, accesses({"C": POINT}, "v"), planar=True)
    touches = events(grid, grid.accesses[0], PER_LINE)
    assert (touches.first, touches.lines.tolist()) == (3, [1])
    assert repeated(touches) == {(0, 0, 1, 0, 0): 1}


def test_a_selection_of_visits_keeps_their_columns_together() -> None:
    column = np.arange(4)
    every = RowVisits(column, column + 10, column + 20, column + 30, column + 40)
    assert visits(every.at(np.array([2, 0]))) == [(2, 12, 22, 32, 42), (0, 10, 20, 30, 40)]
    assert visits(every.at(column > 2)) == [(3, 13, 23, 33, 43)]


@pytest.mark.parametrize(
    ("extents", "blocks", "expected"),
    [
        ((4, 5, 20), (4, 5, 20), (1, 1, 1)),
        ((4, 5, 20), (3, 2, 6), (2, 3, 4)),
        ((4, 5, 20), (1, 1, 1), (4, 5, 20)),
    ],
)
def test_blocks_are_counted_with_those_cut_short(
    extents: tuple[int, int, int],
    blocks: tuple[int, int, int],
    expected: tuple[int, int, int],
) -> None:
    assert counts(shape(extents, blocks, STAR)) == expected


@pytest.mark.parametrize("reads", [POINT, STAR, AHEAD])
@pytest.mark.parametrize("block", [3, 8, 16, 20])
def test_lines_of_neighbouring_blocks_are_those_of_their_elements(
    reads: Offsets, block: int
) -> None:
    grid = shape((4, 5, 20), (4, 5, block), reads)
    number = counts(grid)[2]
    pairs = [(a, b) for a in range(number) for b in range(a, number + 1)]
    first, end = (np.array(side) for side in zip(*pairs, strict=True))
    for access in grid.accesses:
        low, high = access.widest
        expected = []
        for a, b in pairs:
            points = range(a * block, min(b * block, 20))
            elements = range(points.start + low, points.stop + high) if a < b else range(0)
            expected.append(len({(grid.radius + e) // PER_LINE for e in elements}))
        assert lines_of_blocks(grid, access, PER_LINE, first, end).tolist() == expected
