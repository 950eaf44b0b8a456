"""Piecewise linear regression by least squares of the relative error, on plain arrays.

    minimise  sum over samples ((a + b x) / y - 1)^2        per piece, b >= 0, cost positive

Times span five decades, so an absolute error would only see the largest messages. The borders
between pieces are optimal, by dynamic programming over the observed sizes (Bellman 1961).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LEAST = 3
"""Smallest number of different sizes in a piece where there are several pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearPiece:
    """seconds = intercept + slope * bytes, for the observed sizes ``first`` to ``last``."""

    first: float
    last: float
    intercept: float
    slope: float
    free_slope: float
    """The slope without the bound b >= 0; negative where larger messages were faster."""

    def at(self, x: float) -> float:
        """The seconds of a message of size ``x``."""
        return self.intercept + self.slope * x


def pieces(x: Floats, y: Floats, most: int) -> list[tuple[LinearPiece, ...]]:
    """The best fits with 1, 2, ... at most ``most`` pieces to times ``y`` (seconds) at sizes ``x``.

    There are fewer fits where there are too few sizes. Raises ValueError for fewer than two
    different sizes.
    """
    sizes, where = np.unique(x, return_inverse=True)
    if len(sizes) < 2:
        raise ValueError("a line needs at least two different sizes")
    table = _Table.of(sizes, where, y)
    n = len(sizes)
    allowed = np.arange(n)[None, :] - np.arange(n)[:, None] >= LEAST - 1
    error = np.where(allowed, table.error, np.inf)
    fits: list[tuple[LinearPiece, ...]] = [(table.piece(0, n - 1),)]
    best = error[0]
    begins: list[npt.NDArray[np.intp]] = []
    for _ in range(1, most):
        # the last piece begins at i, the others end at i - 1
        total = np.concatenate([[np.inf], best[:-1]])[:, None] + error
        begin = np.argmin(total, axis=0)
        best = total[begin, np.arange(n)]
        begins.append(begin)
        if not np.isfinite(best[-1]):
            break
        fits.append(_traced(table, begins))
    return fits


def _traced(table: "_Table", begins: Sequence[npt.NDArray[np.intp]]) -> tuple[LinearPiece, ...]:
    pieces: list[LinearPiece] = []
    end = len(table.sizes) - 1
    for begin in reversed(begins):
        start = int(begin[end])
        pieces.append(table.piece(start, end))
        end = start - 1
    pieces.append(table.piece(0, end))
    return tuple(reversed(pieces))


@dataclass(frozen=True, slots=True)
class _Table:
    """The best line over sizes i to j, for all i <= j: its value at size i, slope, and squared
    error.
    """

    sizes: Floats
    value: Floats
    slope: Floats
    free: Floats
    error: Floats

    @classmethod
    def of(cls, sizes: Floats, where: npt.NDArray[np.intp], y: Floats) -> "_Table":
        n = len(sizes)
        count, u, u2 = (_summed(where, y**power, n) for power in (0, -1, -2))
        z = np.maximum(sizes[None, :] - sizes[:, None], 0.0)  # from the first size of the piece
        upper = np.triu(np.ones((n, n)))

        def summed(values: Floats) -> Floats:
            return np.cumsum(upper * values, axis=1)

        S0, S1, S2 = summed(u2), summed(z * u2), summed(z * z * u2)
        T0, T1, N = summed(u), summed(z * u), summed(count)
        with np.errstate(divide="ignore", invalid="ignore"):
            determinant = S0 * S2 - S1 * S1
            flat = T0 / S0
            single = determinant <= 1e-12 * S0 * S2
            free = np.where(single, 0.0, (S0 * T1 - S1 * T0) / determinant)
            value = np.where(single, flat, (S2 * T0 - S1 * T1) / determinant)
        level = (free < 0) | (value <= 0)
        slope, value = np.where(level, 0.0, free), np.where(level, flat, value)
        _through_origin(sizes, u, u2, value, slope)
        with np.errstate(invalid="ignore"):
            error = (
                value * value * S0 + 2 * value * slope * S1 + slope * slope * S2
                - 2 * value * T0 - 2 * slope * T1 + N
            )  # fmt: skip
        return cls(sizes, value, slope, free, np.maximum(error, 0.0))

    def piece(self, i: int, j: int) -> LinearPiece:
        slope = float(self.slope[i, j])
        return LinearPiece(
            first=float(self.sizes[i]),
            last=float(self.sizes[j]),
            intercept=float(self.value[i, j]) - slope * float(self.sizes[i]),
            slope=slope,
            free_slope=float(self.free[i, j]),
        )


def _summed(where: npt.NDArray[np.intp], values: Floats, n: int) -> Floats:
    result = np.zeros(n)
    np.add.at(result, where, values)
    return result


def _through_origin(sizes: Floats, u: Floats, u2: Floats, value: Floats, slope: Floats) -> None:
    """Force the first piece through the origin where it would be negative at size 0."""
    below = value[0] < slope[0] * sizes[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        steep = np.cumsum(sizes * u) / np.cumsum(sizes * sizes * u2)
    slope[0] = np.where(below, steep, slope[0])
    value[0] = np.where(below, steep * sizes[0], value[0])


def joints(pieces: Sequence[LinearPiece]) -> list[float]:
    """The size from which each piece is valid: 0 for the first, then a size between those that two
    pieces observed.

    It is the intersection of two lines where they meet between these sizes; else the geometric mean
    of the sizes, or the first observed size where the later line would not be positive.
    """
    result = [0.0]
    for left, right in pairwise(pieces):
        meet = float("nan")
        if left.slope != right.slope:
            meet = (right.intercept - left.intercept) / (left.slope - right.slope)
        if not left.last < meet <= right.first:
            meet = float(np.sqrt(max(left.last, 1.0) * right.first))
        meet = min(float(np.ceil(meet)), right.first)
        result.append(meet if right.at(meet) > 0 else right.first)
    return result


def evaluate(pieces: Sequence[LinearPiece], x: Floats) -> Floats:
    """Seconds of the piecewise line at sizes ``x``."""
    which = np.searchsorted(joints(pieces), x, side="right") - 1
    intercept = np.array([piece.intercept for piece in pieces])
    slope = np.array([piece.slope for piece in pieces])
    result: Floats = intercept[which] + slope[which] * x
    return result


def plain_line(x: Floats, y: Floats) -> tuple[float, float]:
    """Intercept and slope of ordinary least squares, for comparison with the relative fit."""
    slope, intercept = np.polyfit(x, y, 1)
    return float(intercept), float(slope)
