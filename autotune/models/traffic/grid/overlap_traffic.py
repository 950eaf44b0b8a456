"""The traffic of several sweeps on overlapped tiles: streams with reuse distances.

    sweep      1              2              3 = t         of a tile, then those of the next one
    reads      the grid       buffer 1       buffer 0
    writes     buffer 1       buffer 0       the grid

A line of a buffer is touched again one sweep later, when the rest of the sweep before and the part
of this one up to it have passed: about what one sweep touches. The first sweep reads the grid, with
points around the tile that neighbouring tiles read too. (Overlapped tiles: Krishnamoorthy et al.,
PLDI 2007; LRU stack distance: Mattson et al. 1970.) Points computed for others count as iterations;
everything is divided by the number of sweeps, since a time step is one sweep.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from autotune.codegen.tree.loop_tree import OverlappedTile
from autotune.domain.stencil import LINE
from autotune.models.traffic.grid.front_shape import PassShape, computed
from autotune.models.traffic.grid.grid_distance import GridReuse, reuses
from autotune.models.traffic.grid.grid_shape import GridShape, Triple, as_sweep, shape
from autotune.models.traffic.grid.wavefront_traffic import (
    RowStream,
    pass_schedule,
    representatives,
    thread_streams_of,
)
from autotune.models.traffic.passes import DOUBLE, Pass
from autotune.models.traffic.reuse_distance import ThreadStreams
from autotune.models.traffic.schedule import Schedule
from autotune.models.traffic.sweep_shape import SweepShape

_BUFFERS = ("buffer[0]", "buffer[1]")
"""The names of the rows that stand for the buffers."""


class TileShape(PassShape):
    """The part of a thread in a pass of several sweeps over tiles of a grid."""

    @property
    def counts(self) -> Triple:
        """The numbers of tiles in k, j and i."""
        k, j, i = (
            -(-extent // block)
            for extent, block in zip(self.part.extents, self.part.blocks, strict=True)
        )
        return k, j, i

    def along(self, axis: int, sweep: int) -> int:
        """The points in a dimension that a sweep computes, in all tiles together."""
        if axis == 1 and self.part.planar:
            return 1
        extent, block = self.part.extents[axis], self.part.blocks[axis]
        around, others = self.around(sweep), self.neighbours if axis == 0 else 0
        low, high = (-around if others > 0 else 0), extent + (around if others > 1 else 0)
        return computed(extent, block, around, (low, high))

    def points(self, sweep: int) -> int:
        """The number of points that the thread computes in a sweep."""
        return math.prod(self.along(axis, sweep) for axis in range(3))

    def box(self, sweep: int) -> GridShape:
        """What a sweep computes for a tile of full size, as a shape of its own."""
        sides = [tiles - 1 for tiles in self.counts]
        sides[0] += self.neighbours
        width = [
            min(block + min(beside, 2) * self.around(sweep), extent + 2 * self.around(sweep))
            for block, beside, extent in zip(
                self.part.blocks, sides, self.part.extents, strict=True
            )
        ]
        bk, bj, bi = width
        cut = (bk, 1 if self.part.planar else bj, bi)
        return replace(self.part, extents=cut, blocks=cut)

    @property
    def kept(self) -> float:
        """Bytes of the lines of the buffers."""
        planes, rows, width = self.box(1).extents
        return min(2, self.sweeps - 1) * planes * rows * self.lines(width) * self.line

    def fresh(self, axis: int) -> float:
        """The share of what the first sweep reads in a dimension that no tile before has read."""
        tiles, ghosts = self.counts[axis], 2 * self.part.radius
        if tiles == 1:
            return 1.0
        others = self.neighbours * self.around(1) if axis == 0 else 0
        read = self.along(axis, 1) + ghosts * tiles
        return (self.part.extents[axis] + others + ghosts) / read


def tile_shape(
    tile: OverlappedTile,
    blocks: Mapping[str, int],
    extents: tuple[int, ...],
    part: tuple[int, int],
    line: int,
) -> TileShape:
    """The shape of a pass over a grid; ``part``: planes of the thread, and its neighbours."""
    planes, neighbours = part
    whole = shape(tile.sweep, blocks, extents, planes)
    slowest = min(blocks.get(tile.sweep.dimensions[0], planes), planes)
    cut = replace(whole, blocks=(slowest, *whole.blocks[1:]))
    return TileShape(cut, neighbours, tile.sweeps, tile.sweep.target, line)


def tile_schedule(tile: OverlappedTile) -> Schedule:
    """The calls of one time step: the first, the middle (if any) and the last sweep of a pass."""
    return pass_schedule(tile, tile.sweep, _BUFFERS)


def box_sweep(shape: TileShape, extents: tuple[int, ...]) -> SweepShape:
    """The sweep of a tile of full size as a sweep over components."""
    middle = representatives(shape.sweeps)[-2]
    whole = as_sweep(shape.box(middle), extents)
    if shape.counts[2] == 1:
        return whole
    first = range(0, shape.part.extents[2], shape.part.blocks[2])
    starts = tuple(shape.part.radius + max(0, at - shape.around(middle)) for at in first[:LINE])
    return replace(whole, starts=starts)


def tile_streams(
    shape: TileShape, plan: Schedule, alike: int, cache: dict[object, list[GridReuse]]
) -> ThreadStreams:
    """The streams of a thread; ``cache`` keeps what boxes of equal shape share."""
    passes, entries = [], []
    walked = sum(len(access.rows) for access in shape.part.accesses)
    calls = representatives(shape.sweeps)
    for sweep in calls:
        box = shape.box(sweep)
        if box not in cache:
            cache[box] = reuses(box, shape.line)
    tile = _Tile(shape, {sweep: tuple(cache[shape.box(sweep)]) for sweep in calls})
    for call, sweep in enumerate(calls):
        alone = call in (0, len(calls) - 1)
        computed = [sweep] if alone else range(2, shape.sweeps)
        points = sum(shape.points(s) for s in computed) / shape.sweeps
        box = shape.box(sweep)
        _, rows, width = box.extents
        run = float(rows * width if shape.counts[2] == 1 else width)
        passes.append(Pass(call, points, (), True, run, walked))
        names = {p: plan.rows[row] for p, row in plan.steps[-1].calls[call].rows}
        for stream in tile.streams(sweep, names):
            entries.append((call, stream._replace(lines=stream.lines / box.points)))
    return thread_streams_of(entries, plan, tuple(passes), alike)


@dataclass(frozen=True, slots=True)
class _Tile:
    """What the sweeps of a tile of full size touch."""

    shape: TileShape
    touches: Mapping[int, tuple[GridReuse, ...]]
    """By sweep and array the lines touched, and the touches of lines again by the same sweep."""

    def streams(self, sweep: int, rows: Mapping[str, str]) -> Iterator[RowStream]:
        """The streams of a sweep; lines are those of a tile. ``rows``: parameter to row."""
        for reuse in self.touches[sweep]:
            row, lines = rows[reuse.parameter], reuse.events.first
            if reuse.parameter == self.shape.target:
                yield from self._write(sweep, row, lines)
            elif sweep == 1:
                yield from self._from_grid(row, lines)
            else:
                yield RowStream(row, lines, self._read(sweep) + self._written(sweep))
            for again, distance in reuse.merged():
                yield RowStream(row, again, distance)

    def _read(self, sweep: int) -> float:
        """Bytes that a sweep reads."""
        chosen = [r for r in self.touches[sweep] if r.parameter != self.shape.target]
        return sum(reuse.events.first for reuse in chosen) * self.shape.line

    def _written(self, sweep: int) -> float:
        """Bytes that a sweep writes."""
        chosen = [r for r in self.touches[sweep] if r.parameter == self.shape.target]
        return sum(reuse.events.first for reuse in chosen) * self.shape.line

    def _write(self, sweep: int, row: str, lines: float) -> Iterator[RowStream]:
        """The lines that a sweep writes: of the grid, or of a buffer.

        The buffer has been read by the sweep before or, where the tile begins, by the last sweep or
        the last but one of the tile before.
        """
        if sweep == self.shape.sweeps:
            across = self._across()
            yield RowStream(row, lines, across, stores=True, outward=across)
            return
        grid, buffer = self._read(1), self._written(1)
        result, odd = self._written(self.shape.sweeps), self.shape.sweeps % 2
        later = self._read(sweep) + self._written(sweep)
        if sweep == 1:
            again = 2 * buffer + result + grid / 2 if odd else buffer + (result + grid) / 2
            yield RowStream(row, lines, again, stores=True, outward=later)
            return
        second = 1 / (self.shape.sweeps - 2)
        again = 2 * buffer + grid + (result / 2 if odd else result)
        yield RowStream(row, lines * second, again, stores=True, outward=later)
        if second < 1:
            yield RowStream(row, lines * (1 - second), later, stores=True, outward=later)

    def _across(self, spanned: int = 3) -> float:
        """Bytes that the tiles touch that lie side by side in so many dimensions, the fastest
        first: arrays of the grid, and the buffers.
        """
        shape = self.shape
        widths = list(shape.box(1).extents), list(shape.part.blocks)
        for axis in range(3 - spanned, 3):
            others = shape.neighbours * shape.around(1) if axis == 0 else 0
            widths[0][axis] = shape.part.extents[axis] + others
            widths[1][axis] = shape.part.extents[axis]
        ghosts = 2 * shape.part.radius
        buffers = min(2, shape.sweeps - 1) * self._written(1)
        arrays = len(self.touches[1]) - 1
        return arrays * self._bytes(widths[0], ghosts) + self._bytes(widths[1], 0) + buffers

    def _bytes(self, widths: Sequence[int], ghosts: int) -> float:
        """Bytes of the lines of a box, and of ghosts around it."""
        planes, rows, width = widths
        rows += 0 if self.shape.part.planar else ghosts
        lines = (width + ghosts) * DOUBLE / self.shape.line
        if width < self.shape.part.extents[2]:
            lines += (self.shape.line - DOUBLE) / self.shape.line
        return (planes + ghosts) * rows * math.ceil(lines) * self.shape.line

    def _from_grid(self, row: str, lines: float) -> Iterator[RowStream]:
        """Lines that a pass has not touched before, that another thread wrote, or that another tile
        has read.
        """
        shape = self.shape
        others = shape.neighbours * shape.around(0)
        remote = others / (shape.part.extents[0] + others)
        fresh_k, fresh_j, fresh_i = (shape.fresh(axis) for axis in range(3))
        fresh, across = fresh_k * fresh_j * fresh_i, self._across()
        if remote:
            yield RowStream(row, lines * fresh * remote, across, remote=True)
        yield RowStream(row, lines * fresh * (1 - remote), across)
        shares = fresh_k * fresh_j * (1 - fresh_i), fresh_k * (1 - fresh_j), 1 - fresh_k
        for spanned, share in enumerate(shares):
            if share > 0:
                yield RowStream(row, lines * share, self._across(spanned))
