"""Reuse distances of several sweeps over a grid that follow one another plane by plane.

A plane is touched in turn by the sweep that writes it, by the next sweep at its plane offsets, one
front after the other, and in a ring by the write that replaces it:

    front     f          f + r - dk         ...         f + 2r + 1
    plane     written    read at dk         read        replaced by the write of another plane

Between two touches lie whole fronts of all sweeps. A front touches the planes around the first
sweep, every plane of the rings, and one plane of the target. (LRU stack distance, Mattson et al.
1970.)
"""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.models.traffic.grid.front_shape import DOUBLE, FrontShape
from autotune.models.traffic.grid.grid_shape import GridAccess


@dataclass(frozen=True)
class FrontDistances:
    """The bytes that a thread touches between two touches of a plane."""

    shape: FrontShape

    def read(self, sweep: int, access: GridAccess, offset: int) -> float:
        """Lines of a plane at an offset that a sweep reads in a block."""
        rows, width = self.shape.block_of(sweep)
        steps = [dj for dk, dj in access.rows if dk == offset]
        spans = [s for (dk, _), s in zip(access.rows, access.spans, strict=True) if dk == offset]
        low, high = min(s[0] for s in spans), max(s[1] for s in spans)
        return (rows + max(steps) - min(steps)) * self.shape.lines(width, low, high)

    def call(self, sweep: int) -> float:
        """Bytes that one sweep touches in one front."""
        read = sum(
            self.read(sweep, access, offset)
            for access in self.shape.part.accesses
            if access.read
            for offset in plane_offsets(access)
        )
        return read * self.shape.line + self.shape.written(sweep)

    def fronts(self, count: int) -> float:
        """Bytes that so many fronts in a row touch."""
        shape = self.shape
        total = _union(plane_offsets(shape.source), range(count)) * self._widest(shape.source)
        total += shape.kept + count * shape.written(shape.sweeps)
        for access in self.coefficients:
            lags = [q - shape.radius * s for q in range(count) for s in range(shape.sweeps)]
            total += _union(plane_offsets(access), lags) * self._widest(access)
        return total

    @property
    def coefficients(self) -> list[GridAccess]:
        """The arrays that are only read, the state left out."""
        shape = self.shape
        return [
            a
            for a in shape.part.accesses
            if a.parameter not in (shape.source.parameter, shape.target)
        ]

    def block(self) -> float:
        """Bytes that a block touches from its first front to its last."""
        shape = self.shape
        planes = self._widest(shape.source) + shape.written(shape.sweeps)
        planes += sum(self._widest(access) for access in self.coefficients)
        return shape.planes_of(1) * planes + shape.kept

    def grid(self) -> float:
        """Bytes that a pass over all blocks touches."""
        shape = self.shape
        _, rows, width = shape.part.extents
        ghosts = 2 * shape.radius
        plane = (rows + (0 if shape.part.planar else ghosts)) * shape.line
        plane *= -(-(width + ghosts) * DOUBLE // shape.line)
        arrays = 1 + len(self.coefficients)
        return plane * (arrays * (shape.planes_of(0) + ghosts) + shape.planes) + shape.kept

    def _widest(self, access: GridAccess) -> float:
        """Bytes of a plane of a block that the first sweep reads."""
        most = max(self.read(1, access, offset) for offset in plane_offsets(access))
        return most * self.shape.line


def plane_offsets(access: GridAccess) -> list[int]:
    """The plane offsets of an array, in descending order: the first touches a plane first."""
    return sorted({dk for dk, _ in access.rows}, reverse=True)


def _union(offsets: Sequence[int], shifts: Sequence[int] | range) -> int:
    """The number of distinct planes at ``offsets`` around each of ``shifts``."""
    return len({offset + shift for offset in offsets for shift in shifts})
