"""Stretches of positions, against positions one by one."""

import numpy as np
import pytest

from autotune.models.traffic.grid.front_shape import computed
from autotune.models.traffic.grid.grid_shape import GridShape, accesses
from autotune.models.traffic.grid.stretches import stretches


@pytest.mark.parametrize(
    ("begin", "end", "period"), [(-2, 40, 8), (0, 7, 8), (3, 100, 5), (-1, 17, 4)]
)
def test_patterns_have_their_middle_position_and_number(begin: int, end: int, period: int) -> None:
    """A pattern of the place in the period, another one outside [0, end - 3)."""

    def pattern(position: np.ndarray) -> np.ndarray:
        inside = (position >= 0) & (position < end - 3)
        return np.where(inside, position % period >= 3, 7)

    along = stretches(
        ends=(begin, end),
        alike=(max(0, begin), end - 3),
        period=period,
        edges=np.array([0, 3]),
        borders=np.array([0, end - 3]),
    )
    found, many = along.representatives(pattern(along.first)[:, None])
    positions = np.arange(begin, end)
    kinds = pattern(positions)
    for middle, count, kind in zip(found, many, np.unique(kinds), strict=True):
        members = positions[kinds == kind]
        assert (middle, count) == (members[len(members) // 2], len(members))


@pytest.mark.parametrize("within", [(0, 37), (-3, 37), (-3, 40)])
@pytest.mark.parametrize("around", [0, 2, 3, 11])
@pytest.mark.parametrize("block", [1, 4, 36, 37])
def test_points_of_all_blocks_are_those_of_each(
    block: int, around: int, within: tuple[int, int]
) -> None:
    low, high = within
    expected = sum(
        min(min(first + block, 37) + around, high) - max(first - around, low)
        for first in range(0, 37, block)
    )
    assert computed(37, block, around, within) == expected


@pytest.mark.parametrize("width", [5, 40, 333])
@pytest.mark.parametrize("block", [1, 3, 8, 20, 333])
@pytest.mark.parametrize("radius", [1, 4])
def test_lines_of_one_block_only_are_those_of_each(radius: int, block: int, width: int) -> None:
    block = min(block, width)
    reads = accesses({"u": ((0, 0, 0),)}, "v")
    grid = GridShape((1, 1, width), (1, 1, block), radius, reads, planar=True)
    owners: dict[int, set[int]] = {}
    for point in range(-8, width + 8):
        owner = point // block if 0 <= point < width else -1
        owners.setdefault((radius + point) // 8, set()).add(owner)
    whole = sum(len(blocks) == 1 and -1 not in blocks for blocks in owners.values())
    assert grid.whole_lines(8) == (whole, (radius + width - 1) // 8 - radius // 8 + 1)
