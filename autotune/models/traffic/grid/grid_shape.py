"""The shape of one sweep over a grid: its blocks, and for each array the rows accessed around a
point.

Arrays of a grid are stored row by row along the dimension with unit stride. Two dimensions are
treated as three, the middle one with a single row:

        k            extents (K, J, I), interior points of one thread
        |  j         blocks (bk, bj, bi), loops over blocks outside, over points inside
        | /          row (dk, dj) of an array: all points (k + dk, j + dj, *) that a sweep
        |/____ i     reads at (k, j, *), from ``spans`` left to right
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from autotune.codegen.tree.loop_tree import GridSweep
from autotune.domain.stencil import LINE, offsets, strides
from autotune.language.expression import Expr, references
from autotune.models.traffic.sweep_shape import RowAccess, SweepShape

Triple = tuple[int, int, int]


class GridAccess(NamedTuple):
    """The rows of one array that a sweep accesses around a point, in descending order."""

    parameter: str
    rows: tuple[tuple[int, int], ...]
    """(dk, dj), each once."""
    spans: tuple[tuple[int, int], ...]
    """Smallest and largest offset along each row."""
    points: tuple[tuple[int, int, int], ...]
    """(dk, dj, di) of all elements around a point, in descending order."""
    read: bool
    written: bool

    @property
    def again(self) -> bool:
        """Whether several points read a line when it comes, with the first row."""
        return self.read and self.spans[0][0] < self.spans[0][1]

    @property
    def widest(self) -> tuple[int, int]:
        """The smallest and the largest offset along any row."""
        return min(low for low, _ in self.spans), max(high for _, high in self.spans)


@dataclass(frozen=True, slots=True)
class GridShape:
    """One sweep over the part of a grid that a thread owns, block by block."""

    extents: Triple
    """Interior points of the thread in k, j, i."""
    blocks: Triple
    radius: int
    accesses: tuple[GridAccess, ...]
    planar: bool
    """True: the grid has two dimensions, and j is the added middle one."""

    @property
    def points(self) -> int:
        """The number of points that the thread computes."""
        return math.prod(self.extents)

    def whole_lines(self, per_line: int) -> tuple[int, int]:
        """The cache lines of a row that hold points of one block only, and all lines of the row;
        a cache line has ``per_line`` doubles.
        """
        width, block = self.extents[2], self.blocks[2]
        full, begin = (width - 1) // block, self.radius
        # Blocks begin at the same places of a line after so many blocks.
        together = per_line // math.gcd(block, per_line)
        firsts = [begin + number * block for number in range(together)]
        inside = [max((first + block) // per_line - -(-first // per_line), 0) for first in firsts]
        rounds, rest = divmod(full, together)
        last = max((begin + width) // per_line - -(-(begin + full * block) // per_line), 0)
        whole = rounds * sum(inside) + sum(inside[:rest]) + last
        return whole, (begin + width - 1) // per_line - begin // per_line + 1

    @property
    def run(self) -> float:
        """The number of points computed one after another before the sweep jumps to another part of
        memory.
        """
        _, J, width = self.extents
        _, bj, bi = self.blocks
        return float(bi if bi < width else width * bj if bj < J else self.points)


def accesses(reads: Mapping[str, Sequence[tuple[int, ...]]], target: str) -> tuple[GridAccess, ...]:
    """The accesses of a sweep that reads at ``reads``, offsets with the slowest dimension first,
    and writes a point.
    """
    offsets: dict[str, dict[tuple[int, int], list[int]]] = {}
    for name, steps in {**reads, target: (*reads.get(target, ()), (0, 0, 0))}.items():
        for step in steps:
            row = (step[0], step[1] if len(step) > 2 else 0)
            offsets.setdefault(name, {}).setdefault(row, []).append(step[-1])
    return tuple(
        GridAccess(
            name,
            tuple(sorted(rows, reverse=True)),
            tuple(_span(rows[row]) for row in sorted(rows, reverse=True)),
            _points(rows),
            name in reads,
            name == target,
        )
        for name, rows in offsets.items()
    )


@lru_cache(maxsize=64)
def _accesses(value: Expr, dimensions: tuple[str, ...], target: str) -> tuple[GridAccess, ...]:
    """The accesses of sweeps that assign a value to a target."""
    by_array: dict[str, list[tuple[int, ...]]] = {}
    for ref in references(value):
        by_array.setdefault(ref.array, []).append(offsets(ref, dimensions))
    return accesses(by_array, target)


def as_sweep(grid: GridShape, extents: tuple[int, ...]) -> SweepShape:
    """The sweep as a sweep over components: unpadded memory offsets, loops over rows.

    ``extents``: interior points of the whole grid, slowest first.
    """
    *outer, _ = strides(extents, grid.radius)
    plane, line = (outer[0], 0) if grid.planar else (outer[0], outer[1])
    rows = tuple(
        RowAccess(
            access.parameter,
            tuple(dk * plane + dj * line + di for dk, dj, di in access.points),
            access.read,
            access.written,
        )
        for access in grid.accesses
    )
    width, bi = grid.extents[2], grid.blocks[2]
    return SweepShape(
        lower=0,
        upper=grid.points,
        share=1.0,
        accesses=rows,
        streams=tuple(
            (access.parameter, dk * plane + dj * line)
            for access in grid.accesses
            for dk, dj in access.rows
        ),
        starts=tuple(grid.radius + first for first in range(0, min(width, LINE * bi), bi)),
        run=float(bi),
    )


def _points(rows: Mapping[tuple[int, int], Sequence[int]]) -> tuple[tuple[int, int, int], ...]:
    points = {(dk, dj, di) for (dk, dj), along in rows.items() for di in along}
    return tuple(sorted(points, reverse=True))


def _span(along: list[int]) -> tuple[int, int]:
    return min(along), max(along)


def shape(
    sweep: GridSweep, tiles: Mapping[str, int], extents: tuple[int, ...], planes: int
) -> GridShape:
    """The shape of a sweep on ``planes`` planes of the slowest dimension.

    ``tiles``: the blocked dimensions with their sizes. ``extents``: all interior points, slowest
    dimension first. A block of the slowest dimension without blocking inside it is ignored.
    """
    if not 2 <= len(sweep.dimensions) <= 3:
        raise ValueError(f"a grid of {len(sweep.dimensions)} dimensions: two and three are known")
    planar = len(extents) == 2
    whole = (planes, *extents[1:])
    cut = [min(tiles.get(d, e), e) for d, e in zip(sweep.dimensions, whole, strict=True)]
    part = (planes, 1 if planar else extents[1], extents[-1])
    bk, bj, bi = cut[0], 1 if planar else cut[1], cut[-1]
    if (bj, bi) == part[1:]:
        bk = planes
    uses = _accesses(sweep.value, sweep.dimensions, sweep.target)
    return GridShape(part, (bk, bj, bi), sweep.radius, uses, planar)
