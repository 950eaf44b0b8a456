"""The order in which a blocked sweep touches each cache line of an array.

A line of a grid array lies in a row (xk, xj). It is touched at the steps (xk - dk, xj - dj) of the
blocks that reach it, one event for each row offset (dk, dj). Blocks of the unit-stride dimension
that meet in a line touch it in turn. Most lines see the same pattern of blocks around them, so a
line of each pattern stands for all:

    k:  border | first block | border of blocks | inside | ...       pattern: valid steps, and
    j:  the same                                                     which block each belongs to
    i:  lines of one block | lines that two blocks share
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autotune.models.traffic.grid.grid_shape import GridAccess, GridShape

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

DOUBLE = 8
_NOWHERE = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class RowVisits:
    """Visits of rows by a blocked sweep: the block (kb, jb, ib), and the plane and row
    in the grid.
    """

    kb: Whole
    jb: Whole
    ib: Whole
    k: Whole
    j: Whole

    def at(self, where: Whole | Flags) -> "RowVisits":
        """The visits selected by ``where``."""
        return RowVisits(
            self.kb[where], self.jb[where], self.ib[where], self.k[where], self.j[where]
        )


@dataclass(frozen=True, slots=True)
class LineTouches:
    """The touches of the lines of one array within one sweep."""

    first: float
    """Number of lines of the array that the sweep touches at all."""
    beyond: tuple[float, float]
    """Number of those in planes before and behind the thread's own."""
    before: RowVisits
    """The visit before each repeated touch."""
    again: RowVisits
    """The visit of each repeated touch."""
    lines: npt.NDArray[np.float64]
    """Number of lines that each repeated touch stands for."""


def counts(shape: GridShape) -> tuple[int, int, int]:
    """The numbers of blocks in k, j and i."""
    k, j, i = (-(-n // b) for n, b in zip(shape.extents, shape.blocks, strict=True))
    return k, j, i


def events(shape: GridShape, access: GridAccess, per_line: int) -> LineTouches:
    """The touches of one array; a cache line has ``per_line`` doubles."""
    (K, J, _), (bk, bj, _) = shape.extents, shape.blocks
    rows = np.array(access.rows, dtype=np.int64)
    xk, many_k = _classes(K, bk, rows[:, 0])
    xj, many_j = _classes(J, bj, rows[:, 1])
    first_i, last_i, many_i = _line_classes(shape, access, per_line)
    k, j = xk[:, None] - rows[:, 0], xj[:, None] - rows[:, 1]
    kb, jb = k // bk, j // bj
    ahead = np.arange(max(1, int((last_i - first_i).max()) + 1))
    ib = first_i[:, :, None] + ahead
    within = (ib <= last_i[:, :, None])[None, None]
    step_ok = ((k >= 0) & (k < K))[:, None, None, :, None]
    row_ok = ((j >= 0) & (j < J))[None, :, None, :, None]
    valid = within & step_ok & row_ok
    lead = valid.shape[:3]
    k, kb = (a[:, None, None, :, None] for a in (k, kb))
    j, jb = (a[None, :, None, :, None] for a in (j, jb))
    _, NJ, NI = counts(shape)
    time = (((kb * NJ + jb) * NI + ib[None, None]) * K + k) * J + j
    time = np.where(valid, time, _NOWHERE).reshape(*lead, -1)
    time.sort(axis=3)
    visited = time != _NOWHERE
    stands = np.broadcast_to(
        (many_k[:, None, None] * many_j[None, :, None] * many_i).astype(np.float64), lead
    )
    touched = stands * visited[..., 0]
    repeated = visited[..., 1:]
    return LineTouches(
        first=float(touched.sum()),
        beyond=(float(touched[xk < 0].sum()), float(touched[xk >= K].sum())),
        before=_decoded(time[..., :-1][repeated], shape),
        again=_decoded(time[..., 1:][repeated], shape),
        lines=np.broadcast_to(stands[..., None], repeated.shape)[repeated],
    )


def _decoded(time: Whole, shape: GridShape) -> RowVisits:
    K, J, _ = shape.extents
    _, NJ, NI = counts(shape)
    rest, j = np.divmod(time, J)
    rest, k = np.divmod(rest, K)
    rest, ib = np.divmod(rest, NI)
    kb, jb = np.divmod(rest, NJ)
    return RowVisits(kb, jb, ib, k, j)


def _classes(extent: int, block: int, offsets: Whole) -> tuple[Whole, Whole]:
    """One position for each pattern of steps that touch it, and the number of positions with this
    pattern.
    """
    distinct = np.unique(offsets)
    positions = np.arange(distinct[0], extent + distinct[-1])
    step = positions[:, None] - distinct
    block_number = np.clip(positions, 0, extent - 1) // block
    valid = (step >= 0) & (step < extent)
    pattern = np.where(valid, step // block - block_number[:, None], extent)
    # Blocks cut short by the border of the grid are a class of their own.
    pattern = np.column_stack([pattern, block_number == extent // block])
    return _representatives(positions, pattern)


def _representatives(positions: Whole, pattern: Whole) -> tuple[Whole, Whole]:
    """The middle position of each pattern, and the number of positions with this pattern."""
    _, group, many = np.unique(pattern, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    middle = np.cumsum(many) - many + many // 2
    return positions[order[middle]], many.astype(np.int64)


def _line_classes(
    shape: GridShape, access: GridAccess, per_line: int
) -> tuple[Whole, Whole, Whole]:
    """(classes, rows): the first and last block along i that touch a line; (classes,): lines."""
    extent, block = shape.extents[2], shape.blocks[2]
    low, high = (np.array(side, dtype=np.int64) for side in zip(*access.spans, strict=True))
    start, stop = access.widest
    lines = np.arange(
        (shape.radius + start) // per_line, (shape.radius + extent - 1 + stop) // per_line + 1
    )
    left = lines[:, None] * per_line - shape.radius
    first = np.maximum(left - high, 0)
    last = np.minimum(left + per_line - 1 - low, extent - 1)
    touched = first <= last
    first_block = np.where(touched, first // block, 1)
    last_block = np.where(touched, last // block, 0)
    base = first_block.min(axis=1, where=touched, initial=extent)[:, None]
    pattern = np.concatenate(
        [np.where(touched, b - base, extent) for b in (first_block, last_block)], axis=1
    )
    index, many = _representatives(np.arange(len(lines)), pattern)
    return first_block[index], last_block[index], many


def lines_of_blocks(
    shape: GridShape, access: GridAccess, per_line: int, first: Whole, end: Whole
) -> Whole:
    """Lines of one row that blocks [first, end) of the unit-stride dimension touch; 0 if none."""
    extent, block = shape.extents[2], shape.blocks[2]
    low, high = access.widest
    left = (shape.radius + first * block + low) // per_line
    right = (shape.radius + np.minimum(end * block, extent) - 1 + high) // per_line
    return np.where(end > first, right - left + 1, 0)
