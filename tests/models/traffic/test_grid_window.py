"""Rows that a blocked sweep touches between two of its steps, counted step by step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.models.traffic.grid.grid_window import StepWindows, rows_touched, whole

Row = tuple[int, int]
Window = tuple[int, int, int, int, int]
"""Rows of a plane of the block, the step before the window (k0, j0), and its last step."""

STAR: tuple[Row, ...] = ((1, 0), (0, 1), (0, 0), (0, -1), (-1, 0))
LONG: tuple[Row, ...] = ((2, 0), (1, 0), (0, 2), (0, 1), (0, 0), (0, -1), (0, -2), (-1, 0), (-2, 0))
BOX: tuple[Row, ...] = tuple((k, j) for k in (1, 0, -1) for j in (1, 0, -1))


def windows(*every: Window) -> StepWindows:
    return StepWindows(*(np.array(column, dtype=np.int64) for column in zip(*every, strict=True)))


def steps(window: Window) -> list[Row]:
    """The steps behind (k0, j0) up to (k1, j1), in lexicographic order."""
    nj, k0, j0, k1, j1 = window
    return [(k, j) for k in range(k0, k1 + 1) for j in range(nj) if (k0, j0) < (k, j) <= (k1, j1)]


def visited(window: Window, rows: tuple[Row, ...]) -> int:
    return len({(k + dk, j + dj) for k, j in steps(window) for dk, dj in rows})


@pytest.mark.parametrize(
    ("window", "rows", "expected"),
    [
        ((4, 0, 0, 0, 2), ((0, 0),), 2),  # two steps, one row each
        ((4, 0, 0, 1, 0), ((0, 0),), 4),  # a whole round
        ((4, 0, 0, 0, 1), STAR, 5),  # one step of a star
        ((4, 0, 0, 0, 2), STAR, 8),  # its neighbour shares two rows
        ((4, 0, 0, 0, 0), STAR, 0),  # no step at all
        ((1, 0, 0, 3, 0), ((1, 0), (0, 0), (-1, 0)), 5),  # a plane of one row: 3 steps, planes 0-4
        ((4, 0, -1, 0, 3), STAR, 4 + 2 + 4 + 4),  # a plane with its halo rows, those before, behind
    ],
)
def test_a_window_touches_as_many_rows_as_its_picture_has(
    window: Window, rows: tuple[Row, ...], expected: int
) -> None:
    assert visited(window, rows) == expected
    assert rows_touched(windows(window), rows).tolist() == [expected]


@pytest.mark.parametrize("rows", [((0, 0),), ((3, -2),), STAR, LONG, BOX, ((5, 0), (-5, 0))])
@pytest.mark.parametrize(("nk", "nj"), [(1, 1), (1, 5), (4, 1), (4, 5), (3, 2)])
def test_every_window_of_a_block_agrees_with_counting(
    rows: tuple[Row, ...], nk: int, nj: int
) -> None:
    points = [(k, j) for k in range(nk) for j in range(nj)]
    every = [(nj, *p, *q) for a, p in enumerate(points) for q in points[a:]]
    touched = rows_touched(windows(*every), rows)
    assert touched.tolist() == [visited(window, rows) for window in every]


@settings(max_examples=40, derandomize=True)
@given(
    rows=st.lists(
        st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=7, unique=True
    ),
    nj=st.integers(1, 6),
    first=st.tuples(st.integers(0, 4), st.integers(0, 5)),
    length=st.integers(0, 20),
)
def test_windows_of_any_stencil_agree_with_counting(
    rows: list[Row], nj: int, first: Row, length: int
) -> None:
    start = first[0] * nj + min(first[1], nj - 1)
    window = (nj, *divmod(start, nj), *divmod(start + length, nj))
    order = tuple(sorted(rows, reverse=True))
    assert rows_touched(windows(window), order)[0] == visited(window, order)


def test_whole_blocks_are_windows_of_all_their_steps() -> None:
    nk, nj = np.array([1, 3, 4]), np.array([6, 2, 1])
    touched = rows_touched(whole(nk, nj), STAR)
    expected = [
        visited((int(j), 0, -1, int(k) - 1, int(j) - 1), STAR) for k, j in zip(nk, nj, strict=True)
    ]
    assert touched.tolist() == expected
    points = rows_touched(whole(nk, nj), ((0, 0),))
    assert points.tolist() == [6, 6, 4], "each step has one row of its own"


def test_a_window_further_along_the_block_touches_as_many_rows() -> None:
    """Only the planes between both ends count: k0 may be anything."""
    near, far = (windows((5, k0, 2, k0 + 2, 1)) for k0 in (0, 40))
    assert rows_touched(near, LONG).tolist() == rows_touched(far, LONG).tolist()


def test_a_longer_window_never_touches_fewer_rows() -> None:
    every = [(5, 0, 0, *divmod(end, 5)) for end in range(25)]
    touched = rows_touched(windows(*every), BOX)
    assert (np.diff(touched) >= 0).all()
    assert touched[-1] <= 24 * len(BOX)


def test_no_windows_touch_nothing() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert rows_touched(StepWindows(none, none, none, none, none), STAR).tolist() == []


def test_equal_windows_are_counted_once_and_put_back_in_their_order() -> None:
    every = windows((4, 0, 1, 2, 2), (3, 0, 0, 1, 1), (4, 5, 1, 7, 2), (3, 2, 0, 3, 1))
    small, place = every.distinct()
    assert len(small.nj) == 2
    assert small.k0.tolist() == [0, 0]
    for name in ("nj", "j0", "j1"):
        assert getattr(small, name)[place].tolist() == getattr(every, name).tolist()
    assert (small.k1 - small.k0)[place].tolist() == [2, 1, 2, 1]
