"""Reuse distances within a blocked sweep: bytes between two touches of a line.

    same block        the rows of the steps in between (layer conditions along j and k)
    other blocks      what is left of the first block, whole blocks, what is done of the second:

        kb, jb0   [ ..x#####|########|########]     x  first touch, here in the first block
            jb    [#########|########|########]
            jb1   [#########|##x     |        ]     x  touched again: a halo row or a shared line

Blocks side by side are taken together, so rows that they share count once. All arrays of the sweep
count. (LRU stack distance, Mattson et al. 1970; layer conditions: Rivera, Tseng 2000; Stengel,
Treibig, Hager, Wellein 2015.)
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autotune.models.traffic.grid.grid_events import (
    LineTouches,
    RowVisits,
    counts,
    events,
    lines_of_blocks,
)
from autotune.models.traffic.grid.grid_shape import GridShape
from autotune.models.traffic.grid.grid_window import StepWindows, Whole, rows_touched, whole

Floats = npt.NDArray[np.float64]

_BINS = 16
"""Bins of distances per factor of two; the touches of a bin are one stream."""
_FEW = 0.004
"""Share of the lines of an array below which they get no stream of their own."""


@dataclass(frozen=True, slots=True)
class GridReuse:
    """The touches of one array in one sweep, with the reuse distances of the repeated touches."""

    parameter: str
    events: LineTouches
    distance: Floats
    """Bytes, one per repeated touch."""

    def merged(self) -> list[tuple[float, float]]:
        """The lines and the mean distance of repeated touches at similar distances.

        Distances with few lines are merged with the next larger ones.
        """
        lines, distance = self.events.lines, self.distance
        if not len(lines):
            return []
        bins = np.round(_BINS * np.log2(np.maximum(distance, 1.0)))
        _, group = np.unique(bins, return_inverse=True)
        together = np.bincount(group, lines)
        ends = together >= _FEW * self.events.first
        ends[-1] = True
        stream: Whole = (np.cumsum(ends) - ends)[group]
        many = np.bincount(stream, lines)
        mean = np.bincount(stream, lines * distance) / many
        return list(zip(many.tolist(), mean.tolist(), strict=True))


def reuses(shape: GridShape, line: int) -> list[GridReuse]:
    """The reuse of every array of a sweep; ``line`` is the size of a cache line in bytes."""
    touches = [events(shape, access, line // 8) for access in shape.accesses]
    field = _Field(shape, line)
    total = sum(item.first for item in touches) * line
    return [
        GridReuse(
            access.parameter, item, np.minimum(field.distance(item.before, item.again), total)
        )
        for access, item in zip(shape.accesses, touches, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Field:
    shape: GridShape
    line: int

    def distance(self, before: RowVisits, again: RowVisits) -> Floats:
        """Bytes touched between the two visits of each pair, within one sweep."""
        same = (before.kb == again.kb) & (before.jb == again.jb) & (before.ib == again.ib)
        result = np.empty(len(same))
        result[same] = self._within(before.at(same), again.at(same))
        result[~same] = self._across(before.at(~same), again.at(~same))
        return result

    def _within(self, before: RowVisits, again: RowVisits) -> Floats:
        """Bytes touched between two visits in the same block."""
        k0, j0 = self._inside(before)
        k1, j1 = self._inside(again)
        return self._steps(StepWindows(self._nj(again.jb), k0, j0, k1, j1), again.ib)

    def _across(self, before: RowVisits, again: RowVisits) -> Floats:
        """Bytes touched between two visits in different blocks."""
        if not len(before.k):
            return np.zeros(0)
        k0, j0 = self._inside(before)
        k1, j1 = self._inside(again)
        zero = np.zeros_like(k0)
        nk0, nj0, nj1 = self._nk(before.kb), self._nj(before.jb), self._nj(again.jb)
        left = self._steps(StepWindows(nj0, k0, j0, nk0 - 1, nj0 - 1), before.ib)
        done = self._steps(StepWindows(nj1, zero, zero - 1, k1, j1), again.ib)
        return left + done + self._between(before, again)

    def _between(self, before: RowVisits, again: RowVisits) -> Floats:
        """Bytes of the whole blocks that lie between two blocks."""
        J, (bk, bj, _) = self.shape.extents[1], self.shape.blocks
        NI = counts(self.shape)[2]
        zero, end = np.zeros_like(before.k), np.full_like(before.k, NI)
        layer, strip = before.kb == again.kb, before.jb == again.jb
        row = layer & strip
        nk0, nk1 = self._nk(before.kb), self._nk(again.kb)
        nj0, nj1 = self._nj(before.jb), self._nj(again.jb)
        next_j, next_k = (before.jb + 1) * bj, (before.kb + 1) * bk
        to_j = np.where(layer, again.jb * bj, J)
        planes = np.where(layer, 0, again.kb * bk - next_k)
        pieces = [
            (nk0, nj0, before.ib + 1, np.where(row, again.ib, end)),
            (nk0, np.where(row, 0, to_j - next_j), zero, end),
            (planes, np.full_like(zero, J), zero, end),
            (nk1, np.where(layer, 0, again.jb * bj), zero, end),
            (nk1, np.where(row, 0, nj1), zero, again.ib),
        ]
        return sum((self._blocks(*piece) for piece in pieces), np.zeros(len(before.k)))

    def _blocks(self, nk: Whole, nj: Whole, first: Whole, end: Whole) -> Floats:
        """Bytes of nk x nj rows in the blocks [first, end) along i."""
        some = (nk > 0) & (nj > 0) & (end > first)
        result = np.zeros(len(nk))
        if some.any():
            windows = whole(nk[some], nj[some])
            result[some] = self._bytes(windows, first[some], end[some])
        return result

    def _steps(self, windows: StepWindows, ib: Whole) -> Floats:
        """Bytes touched in windows of steps within blocks."""
        return self._bytes(windows, ib, ib + 1)

    def _bytes(self, windows: StepWindows, first: Whole, end: Whole) -> Floats:
        total = np.zeros(len(first))
        totals: dict[tuple[tuple[int, int], ...], Floats] = {}
        for access in self.shape.accesses:
            if access.rows not in totals:
                totals[access.rows] = rows_touched(windows, access.rows)
            lines = lines_of_blocks(self.shape, access, self.line // 8, first, end)
            total += totals[access.rows] * lines * self.line
        return total

    def _inside(self, steps: RowVisits) -> tuple[Whole, Whole]:
        bk, bj, _ = self.shape.blocks
        return steps.k - steps.kb * bk, steps.j - steps.jb * bj

    def _nk(self, kb: Whole) -> Whole:
        K, bk = self.shape.extents[0], self.shape.blocks[0]
        return np.minimum(bk, K - kb * bk)

    def _nj(self, jb: Whole) -> Whole:
        J, bj = self.shape.extents[1], self.shape.blocks[1]
        return np.minimum(bj, J - jb * bj)
