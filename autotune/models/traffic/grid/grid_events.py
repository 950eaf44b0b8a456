"""The order in which a blocked sweep touches each cache line of an array.

A line of a grid array lies in a row (xk, xj). It is touched at the steps (xk - dk, xj - dj) of the
blocks that reach it, one event for each row offset (dk, dj). Blocks of the unit-stride dimension
that meet in a line touch it in turn. Most lines see the same pattern of blocks around them, so a
line of each pattern stands for all:

    k:  border | first block | border of blocks | inside | ...       pattern: valid steps, and
    j:  the same                                                     which block each belongs to
    i:  lines of one block | lines that two blocks share
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autotune.models.traffic.grid.grid_shape import GridAccess, GridShape
from autotune.models.traffic.grid.stretches import Stretches, stretches

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
    ahead = np.arange(max(1, int((last_i - first_i).max()) + 1))
    ib = first_i[:, :, None] + ahead
    within = (ib <= last_i[:, :, None])[None, None]
    step_ok = ((k >= 0) & (k < K))[:, None, None, :, None]
    row_ok = ((j >= 0) & (j < J))[None, :, None, :, None]
    valid = within & step_ok & row_ok
    visits = _Order.of(shape, k[:, None, None, :, None], j[None, :, None, :, None], ib[None, None])
    time = np.where(valid, visits.time, _NOWHERE).reshape(*valid.shape[:3], -1)
    time.sort(axis=3)
    visited = time != _NOWHERE
    stands = many_k.astype(np.float64)[:, None, None] * many_j[None, :, None] * many_i
    touched = stands * visited[..., 0]
    repeated = visited[..., 1:]
    return LineTouches(
        first=float(touched.sum()),
        beyond=(float(touched[xk < 0].sum()), float(touched[xk >= K].sum())),
        before=visits.decoded(time[..., :-1], repeated),
        again=visits.decoded(time[..., 1:], repeated),
        lines=np.broadcast_to(stands[..., None], repeated.shape)[repeated],
    )


@dataclass(frozen=True, slots=True)
class _Order:
    """The visits of lines as numbers in the order of time.

    Axes: classes of planes, of rows and of lines; rows of the access; blocks along i. Numbers count
    from the first block and step that touches a line, so that they are small in grids of any size.
    """

    time: Whole
    spans: tuple[int, ...]
    """The numbers of different jb, ib, k and j around a line."""
    origin: tuple[Whole, ...]
    """The least kb, jb, ib, k and j of each class."""

    @classmethod
    def of(cls, shape: GridShape, k: Whole, j: Whole, ib: Whole) -> "_Order":
        """The visits at planes k, rows j and blocks ib along i."""
        bk, bj, _ = shape.blocks
        parts = (k // bk, j // bj, ib, k, j)
        origin = tuple(part.min(axis=(3, 4), keepdims=True) for part in parts)
        past = [part - least for part, least in zip(parts, origin, strict=True)]
        spans = tuple(int(part.max()) + 1 for part in past[1:])
        time = past[0]
        for part, span in zip(past[1:], spans, strict=True):
            time = time * span + part
        return cls(time, spans, tuple(least[..., 0] for least in origin))

    def decoded(self, time: Whole, chosen: Flags) -> RowVisits:
        """The chosen visits among those of each line, one after another on the last axis."""
        rest, parts = time[chosen], []
        for span in reversed(self.spans):
            rest, part = np.divmod(rest, span)
            parts.append(part)
        parts.append(rest)
        origin = (np.broadcast_to(least, time.shape)[chosen] for least in self.origin)
        kb, jb, ib, k, j = (p + o for p, o in zip(reversed(parts), origin, strict=True))
        return RowVisits(kb, jb, ib, k, j)


def _classes(extent: int, block: int, offsets: Whole) -> tuple[Whole, Whole]:
    """One position for each pattern of steps that touch it, and the number of positions with this
    pattern.
    """
    distinct = np.unique(offsets)
    low, high = int(distinct[0]), int(distinct[-1])
    along = stretches(
        ends=(low, extent + high),
        alike=(max(high, 0), extent + min(low, 0)),
        period=block,
        edges=np.append(distinct, 0),
        borders=np.concatenate([distinct, extent + distinct, [0, extent]]),
    )
    step = along.first[:, None] - distinct
    block_number = np.clip(along.first, 0, extent - 1) // block
    valid = (step >= 0) & (step < extent)
    pattern = np.where(valid, step // block - block_number[:, None], extent)
    # Blocks cut short by the border of the grid are a class of their own.
    pattern = np.column_stack([pattern, block_number == extent // block])
    return along.representatives(pattern)


def _line_classes(
    shape: GridShape, access: GridAccess, per_line: int
) -> tuple[Whole, Whole, Whole]:
    """(classes, rows): the first and last block along i that touch a line; (classes,): lines."""
    extent = shape.extents[2]
    along = _lines_along(shape, access, per_line)
    first, last = _blocks_of_lines(shape, access, along.first, per_line)
    touched = first <= last
    base = first.min(axis=1, where=touched, initial=extent)[:, None]
    pattern = np.concatenate([np.where(touched, b - base, extent) for b in (first, last)], axis=1)
    lines, many = along.representatives(pattern)
    return *_blocks_of_lines(shape, access, lines, per_line), many


def _blocks_of_lines(
    shape: GridShape, access: GridAccess, lines: Whole, per_line: int
) -> tuple[Whole, Whole]:
    """(lines, rows): the first and the last block along i that touch each line; 1 and 0 where none
    does.
    """
    extent, block = shape.extents[2], shape.blocks[2]
    low, high = (np.array(side, dtype=np.int64) for side in zip(*access.spans, strict=True))
    left = lines[:, None] * per_line - shape.radius
    first = np.maximum(left - high, 0)
    last = np.minimum(left + per_line - 1 - low, extent - 1)
    touched = first <= last
    return np.where(touched, first // block, 1), np.where(touched, last // block, 0)


def _lines_along(shape: GridShape, access: GridAccess, per_line: int) -> Stretches:
    """The lines of a row, as stretches within which the blocks that touch a line are the same.

    A line is the first one that a block touches where the block's first point, with the offset of
    an access, lies in it; so many blocks as begin at different places of a line are a period.
    """
    extent, block, radius = shape.extents[2], shape.blocks[2], shape.radius
    low, high = (np.array(side, dtype=np.int64) for side in zip(*access.spans, strict=True))
    start, stop = access.widest
    reached = np.concatenate([radius + high, radius + low - per_line + 1])
    together = per_line // math.gcd(block, per_line)
    begins = np.arange(together)[:, None] * block
    return stretches(
        ends=((radius + start) // per_line, (radius + extent - 1 + stop) // per_line + 1),
        alike=(
            -(-(radius + stop) // per_line),
            (extent + radius + start - per_line + 1) // per_line,
        ),
        period=together * block // per_line,
        edges=(-(-(begins + reached) // per_line)).ravel(),
        borders=-(-np.concatenate([reached, extent + reached]) // per_line),
    )


def lines_of_blocks(
    shape: GridShape, access: GridAccess, per_line: int, first: Whole, end: Whole
) -> Whole:
    """Lines of one row that blocks [first, end) of the unit-stride dimension touch; 0 if none."""
    extent, block = shape.extents[2], shape.blocks[2]
    low, high = access.widest
    left = (shape.radius + first * block + low) // per_line
    right = (shape.radius + np.minimum(end * block, extent) - 1 + high) // per_line
    return np.where(end > first, right - left + 1, 0)
