"""Set conflicts of sweeps over grids: rows and planes whose lines fall into the same sets.

Rows lie a line stride apart, planes a plane stride. Where both are multiples of a power of two,
rows of a narrow block pile up in few sets, and less of the cache is there than its size says:

    sets      0   1   2   3   4   5 ...
    row j     x   x                          4 KiB from row to row: the lines of a block of
    row j+1   x   x                          two lines per row fill two sets only
    row j+2   x   x

Two ways to lose lines: more rows side by side in one set than it has ways; and, over the steps
until a line is touched again, more lines in a set than ways although the cache would hold them.
The steps until then span rows of a block, some of its planes, or planes of the whole grid.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autotune.domain.machine import CacheLevel
from autotune.domain.stencil import LINE, strides
from autotune.models.traffic.grid.grid_events import DOUBLE
from autotune.models.traffic.grid.grid_shape import GridShape
from autotune.models.traffic.set_conflicts import PAGE, SetConflict, crowded

Floats = npt.NDArray[np.float64]

_NEAR = 1.5
"""A reuse over at most this many times the lines of one step is one along j, not along k."""
_OVERFULL = 1.25
"""A set loses all of its lines where so many more come between than it has ways, as is estimated
from whole rows and planes; fewer where fewer come."""
_SHIFT_LINES = 24
"""Lines by which each array begins later in its page than the previous one (runtime/grid.h)."""


@dataclass(frozen=True, slots=True)
class GridConflicts:
    """Finds set conflicts between the rows of one sweep over a grid."""

    shape: GridShape
    places: Mapping[str, int]
    """Parameter to the position of its array in the storage."""
    extents: tuple[int, ...]
    """Interior points of the whole grid, slowest first."""
    pad_lines: int

    def find(
        self, caches: Sequence[CacheLevel], iterations: float, distance: Floats, lines: Floats
    ) -> list[SetConflict]:
        """The set conflicts in private caches, for loops of ``iterations`` points per pass.

        ``distance`` and ``lines`` per point are those of the streams of the sweep. Shared outer
        caches are left out: their set index is a hash of the address.
        """
        starts = self._starts([0])
        conflicts = []
        for cache in caches:
            if cache.cores > 1:
                continue
            side = crowded(starts.tolist(), cache, iterations)
            piled = self._piled(cache, distance, lines)
            if side or piled:
                conflicts.append(
                    SetConflict(
                        cache.name,
                        max(side[0] if side else 0, piled[0] if piled else 0),
                        cache.ways,
                        max(side[1] if side else 0.0, piled[1] if piled else 0.0),
                        cache.sets * cache.line <= PAGE,
                    )
                )
        return conflicts

    def _starts(
        self, rows: Sequence[int], planes: Sequence[int] = range(1)
    ) -> npt.NDArray[np.int64]:
        """The first elements of the row streams of a point, for rows j in some planes."""
        *outer, _ = strides(self.extents, self.shape.radius, self.pad_lines)
        plane, line = (outer[0], 0) if self.shape.planar else (outer[0], outer[1])
        page = PAGE // DOUBLE
        size = -(-plane * (self.extents[0] + 2 * self.shape.radius) // page) * page
        size += _SHIFT_LINES * LINE
        return np.unique(
            [
                self.places[access.parameter] * size + (dk + k) * plane + (dj + row) * line
                for access in self.shape.accesses
                for dk, dj in access.rows
                for k in planes
                for row in rows
            ]
        ) + self.shape.radius * (plane + line + 1)

    def _piled(
        self, cache: CacheLevel, distance: Floats, lines: Floats
    ) -> tuple[int, float] | None:
        """The most lines in a set, and the lost lines per point; None if none are lost."""
        lines_between = distance / cache.line
        reused = lines_between <= cache.sets * cache.ways
        if not reused.any():
            return None
        lost, most = 0.0, 0.0
        for count, moved in zip(lines_between[reused], lines[reused], strict=True):
            sets = self._filled(cache, float(count))
            if sets is None:
                continue
            filled = sets * (count / sets.sum())
            crowd = np.clip((filled / cache.ways - 1) / (_OVERFULL - 1), 0, 1)
            lost += float(moved * (sets * crowd).sum() / sets.sum())
            most = max(most, float(filled.max(initial=0.0, where=crowd > 0)))
        return (round(most), lost) if lost else None

    def _filled(self, cache: CacheLevel, count: float) -> Floats | None:
        """The number of lines in each set of those among which ``count`` lines lie: of a row of a
        block, of its rows in a plane, of planes of a block, or of planes of the grid; None where
        rows are so long that they fill all sets alike.
        """
        _, rows, width = self.shape.blocks
        along = width // (cache.line // DOUBLE) + 1
        if along >= cache.sets:
            return None
        for some in (1, rows):
            sets = self._sets_of_rows(cache, some, along)
            if count <= _NEAR * sets.sum():
                return sets
        for depth, rows, width in (self.shape.blocks, self.shape.extents):
            along = width // (cache.line // DOUBLE) + 1
            planes = math.ceil(count / (len(self.shape.accesses) * rows * along))
            if planes <= depth:
                break
        if along >= cache.sets:
            return None
        if planes == 1:
            return self._sets_of_rows(cache, rows, along)
        return self._sets(cache, self._starts(range(rows), range(min(planes, depth))), along)

    def _sets_of_rows(self, cache: CacheLevel, rows: int, width: int) -> Floats:
        """The number of lines in each set, for so many rows of a block.

        Rows fall into the same sets after a period of rows; each further period adds the same.
        """
        line = strides(self.extents, self.shape.radius, self.pad_lines)[-2]
        around = cache.sets * cache.line // DOUBLE
        period = around // math.gcd(line, around)
        period *= -(-(2 * self.shape.radius + 1) // period)
        rounds, rest = divmod(rows, period)
        once = self._sets(cache, self._starts(range(min(rows, period + rest))), width)
        if rounds < 2:
            return once
        twice = self._sets(cache, self._starts(range(2 * period + rest)), width)
        every: Floats = once + (rounds - 1) * (twice - once)
        return every

    def _sets(self, cache: CacheLevel, starts: npt.NDArray[np.int64], width: int) -> Floats:
        """The number of lines in each set, for rows that begin at the given elements."""
        first = np.unique(starts // (cache.line // DOUBLE))
        length = np.minimum(np.diff(first, append=first[-1] + width), width)
        change = np.zeros(2 * cache.sets, dtype=np.int64)
        np.add.at(change, first % cache.sets, 1)
        np.add.at(change, first % cache.sets + length, -1)
        filled = np.cumsum(change).reshape(2, cache.sets).sum(axis=0)
        return np.asarray(filled, dtype=np.float64)
