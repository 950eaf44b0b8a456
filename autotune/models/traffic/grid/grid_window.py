"""Rows that a blocked sweep touches between two of its steps.

A block has ``nk`` planes of ``nj`` rows; its steps (k, j) run in lexicographic order. Steps from
behind (k0, j0) up to (k1, j1) visit, in column j, the planes lo(j) to hi(j):

    k1       . x x x                lo(j) = k0, one more where j <= j0
             x x x x                hi(j) = k1, one less where j > j1
    k0       x x . .
             j -->                  An array read at offsets (dk, dj) is touched in the union of
                                    [lo(j - dj) + dk, hi(j - dj) + dk] over its offsets.

The union changes only near j0, j1 and the borders of the block, so few columns tell all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StepWindows:
    """Windows of steps as arrays, one element per window; steps are counted within a block."""

    nj: Whole
    k0: Whole
    j0: Whole
    k1: Whole
    j1: Whole

    def distinct(self) -> tuple["StepWindows", Whole]:
        """The distinct windows, and for each window its position among them."""
        fields = np.stack([self.nj, self.k1 - self.k0, self.j0, self.j1])
        order = np.lexsort(fields)
        ordered = fields[:, order]
        new = np.concatenate([[True], (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)])
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.cumsum(new) - 1
        nj, deep, j0, j1 = ordered[:, new]
        return StepWindows(nj, np.zeros_like(deep), j0, deep, j1), place


def whole(nk: Whole, nj: Whole) -> StepWindows:
    """The windows of all steps of whole blocks."""
    zero = np.zeros_like(nk)
    return StepWindows(nj, zero, zero - 1, nk - 1, nj - 1)


def rows_touched(windows: StepWindows, rows: Sequence[tuple[int, int]]) -> npt.NDArray[np.float64]:
    """The number of distinct rows of an array, read at offsets ``rows``, in each window."""
    if not len(windows.nj):
        return np.zeros(0)
    if len(rows) == 1:
        steps = (windows.k1 - windows.k0) * windows.nj + windows.j1 - windows.j0
        return np.asarray(np.maximum(steps, 0), dtype=np.float64)
    small, place = windows.distinct()
    touched = _union(small, np.array(rows, dtype=np.int64))
    return np.asarray(touched[place], dtype=np.float64)


def _union(windows: StepWindows, rows: Whole) -> npt.NDArray[np.float64]:
    nj, k0, j0, k1, j1 = (
        field[:, None] for field in (windows.nj, windows.k0, windows.j0, windows.k1, windows.j1)
    )
    shifts = np.unique(rows[:, 1])
    edges = np.concatenate([0 * nj, nj, j0 + 1, j1 + 1], axis=1)
    columns = np.sort((edges[:, :, None] + shifts).reshape(len(nj), -1), axis=1)
    widths = np.diff(columns, axis=1)
    column = columns[:, :-1, None] - rows[:, 1]
    inside = (column >= 0) & (column < nj[:, :, None])
    first = k0[:, :, None] + (column <= j0[:, :, None]) + rows[:, 0]
    end = k1[:, :, None] - (column > j1[:, :, None]) + rows[:, 0] + 1
    end = np.where(inside & (end > first), end, first)
    order = np.argsort(first, axis=2)
    first = np.take_along_axis(first, order, axis=2)
    end = np.take_along_axis(end, order, axis=2)
    reached = np.maximum.accumulate(end, axis=2)
    before = np.concatenate([first[:, :, :1], reached[:, :, :-1]], axis=2)
    planes = np.maximum(end - np.maximum(first, before), 0).sum(axis=2)
    return np.asarray((planes * widths).sum(axis=1), dtype=np.float64)
