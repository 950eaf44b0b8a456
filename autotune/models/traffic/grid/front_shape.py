"""The shape of several sweeps over a grid that follow one another plane by plane.

Sweep s of t computes, for a block, radius*(t - s) points more on every side that lies inside the
grid, and as many planes more on every side where another thread continues:

    s = 1   |<--- 2r --->|        block        |<--- 2r --->|       t = 3, radius r
    s = 2         |< r ->|        block        |< r ->|
    s = 3                |        block        |
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from autotune.codegen.tree.loop_tree import PlaneFront
from autotune.domain.stencil import SOURCE
from autotune.models.traffic.grid.grid_shape import GridAccess, GridShape, shape

DOUBLE = 8


def computed(extent: int, block: int, around: int, within: tuple[int, int]) -> int:
    """The points that all blocks of a dimension compute, each with ``around`` more on either side
    as far as they lie within [low, high).
    """
    low, high = within
    count = -(-extent // block)
    below = min(count, max(0, -(-(low + around) // block)))
    starts = below * low - (count - below) * around
    starts += block * (count * (count - 1) - below * (below - 1)) // 2
    inside = min(count - 1, max(0, (high - around) // block))
    ends = inside * around + block * inside * (inside + 1) // 2
    ends += (count - 1 - inside) * high + min(extent + around, high)
    return ends - starts


@dataclass(frozen=True)
class PassShape(ABC):
    """The part of a thread in one pass of several sweeps over a grid."""

    part: GridShape
    """The points that the thread owns, and its blocks or tiles; a plane of a 2-D grid is a row."""
    neighbours: int
    """Threads that own planes before or behind: 0, 1 or 2."""
    sweeps: int
    target: str
    """The array that is written."""
    line: int
    """Bytes of a cache line."""

    def around(self, sweep: int) -> int:
        """Points on a side that a sweep computes for those after it; 0 for the last sweep."""
        return self.part.radius * (self.sweeps - sweep)

    @abstractmethod
    def points(self, sweep: int) -> int:
        """The number of points that the thread computes in a sweep."""

    @property
    @abstractmethod
    def kept(self) -> float:
        """Bytes of the lines between the first and the last sweep: of rings or buffers."""

    @property
    def redundant(self) -> float:
        """The points that are computed once more, as a share of the points of the thread."""
        computed = sum(self.points(sweep) for sweep in range(1, self.sweeps + 1))
        return computed / (self.sweeps * self.part.points) - 1

    def lines(self, width: int, low: int = 0, high: int = 0) -> float:
        """The cache lines of points of a row, and of those up to ``low`` before (below 0) and
        ``high`` after them.

        Whole rows begin ``radius`` points after the start of a line, parts of rows anywhere.
        """
        per_line = self.line // DOUBLE
        if self.part.blocks[2] < self.part.extents[2]:
            return (width + high - low + per_line - 1) / per_line
        first, last = self.part.radius + low, self.part.radius + width - 1 + high
        return last // per_line - first // per_line + 1


class FrontShape(PassShape):
    """The part of a thread in a pass of sweeps that follow one another plane by plane."""

    @property
    def planes(self) -> int:
        """The number of planes that the thread owns."""
        return self.part.extents[0]

    @property
    def radius(self) -> int:
        """The distance by which a sweep follows the one before."""
        return self.part.radius

    @property
    def depth(self) -> int:
        """The number of planes in a ring."""
        return 2 * self.radius + 1

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of blocks in j and i."""
        _, *inner = zip(self.part.extents, self.part.blocks, strict=True)
        j, i = (-(-extent // block) for extent, block in inner)
        return j, i

    def planes_of(self, sweep: int) -> int:
        """The number of planes that the thread computes in a sweep."""
        return self.planes + self.neighbours * self.around(sweep)

    def rows_of(self, sweep: int) -> int:
        """The rows of a plane that a sweep computes, in all blocks together."""
        return self._along(1, 0 if self.part.planar else self.around(sweep))

    def width_of(self, sweep: int) -> int:
        """The points of a row that a sweep computes, in all blocks together."""
        return self._along(2, self.around(sweep))

    def _along(self, axis: int, around: int) -> int:
        extent, block = self.part.extents[axis], self.part.blocks[axis]
        return computed(extent, block, around, (0, extent))

    def points(self, sweep: int) -> int:
        """The number of points that the thread computes in a sweep."""
        return self.planes_of(sweep) * self.rows_of(sweep) * self.width_of(sweep)

    def block_of(self, sweep: int) -> tuple[int, int]:
        """The rows, and the points of a row, that a sweep computes in a block of full size.

        Most points lie in such blocks; smaller ones at the end of the grid count as parts of them.
        """
        rows = 1 if self.part.planar else self._widest(1, self.around(sweep))
        return rows, self._widest(2, self.around(sweep))

    def _widest(self, axis: int, around: int) -> int:
        extent, block = self.part.extents[axis], self.part.blocks[axis]
        sides = min(self.counts[axis - 1] - 1, 2)
        return min(extent, block + sides * around)

    def written(self, sweep: int) -> float:
        """Bytes of the part of a plane that a sweep writes in a block."""
        rows, width = self.block_of(sweep)
        return rows * self.lines(width) * self.line

    @property
    def kept(self) -> float:
        """Bytes of the rings."""
        return sum(self.depth * self.written(sweep) for sweep in range(1, self.sweeps))

    def plane(self, sweep: int) -> GridShape:
        """The sweep of one plane of a full block, as a shape of its own."""
        rows, width = self.block_of(sweep)
        cut = (1, rows, width)
        return replace(self.part, extents=cut, blocks=cut)

    @cached_property
    def source(self) -> GridAccess:
        """How the state is read."""
        return next(a for a in self.part.accesses if a.parameter == SOURCE)


def front_shape(
    front: PlaneFront,
    blocks: Mapping[str, int],
    extents: tuple[int, ...],
    part: tuple[int, int],
    line: int,
) -> FrontShape:
    """The shape of a pass over a grid; ``part``: planes of the thread, and its neighbours."""
    planes, neighbours = part
    whole = shape(front.sweep, blocks, extents, planes)
    return FrontShape(whole, neighbours, front.sweeps, front.sweep.target, line)
