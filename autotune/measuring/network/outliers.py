"""Samples of a cost curve as arrays, and the detection of outliers among them."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autotune.measuring.network.piecewise_regression import Floats
from autotune.statistics.quantiles import MAD_TO_DEVIATION
from autotune.units import Bytes, Seconds

_FAR = 5.0
"""Number of robust standard deviations from the median of its size beyond which a sample is an
outlier."""
_LEAST_FAR = 0.2
_MOST = 0.1
"""Share of the samples of a size or launch above which deviating samples count as a mode, not as
outliers."""


@dataclass(frozen=True, slots=True)
class SamplePoints:
    """Samples as arrays: size, seconds, number of the repeat, moment."""

    x: Floats
    y: Floats
    repeat: npt.NDArray[np.intp]
    taken: Floats

    def only(self, where: npt.NDArray[np.bool_]) -> "SamplePoints":
        """The samples for which ``where`` is true."""
        return SamplePoints(self.x[where], self.y[where], self.repeat[where], self.taken[where])


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlier:
    """A sample that is far from the others of its size and left out of the fit."""

    bytes: Bytes
    seconds: Seconds
    ratio: float
    """Seconds divided by the median of its size."""
    repeat: int
    taken: float
    """Moment in seconds since the epoch; 0: not known."""


def far_off(points: SamplePoints) -> npt.NDArray[np.bool_]:
    """True for samples far from the median of their size; with one sample per size, far from its
    neighbours.

    The scale is robust: 1.4826 times the median absolute deviation of all logarithms. Where a size
    or a launch has many such samples (see ``_MOST``; a single one is always few), none of its
    samples is an outlier: then it is the behaviour of the system and no disturbance.
    """
    return _few(points, _far(points))


def _few(points: SamplePoints, far: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    result = far.copy()
    for group in (points.x, points.repeat):
        for value in np.unique(group[far]):
            members = group == value
            if far[members].sum() > max(1.0, _MOST * members.sum()):
                result[members] = False
    return result


def _far(points: SamplePoints) -> npt.NDArray[np.bool_]:
    level = np.zeros(len(points.x))
    counts = np.zeros(len(points.x), dtype=np.intp)
    logs = np.log(points.y)
    for x in np.unique(points.x):
        same = points.x == x
        level[same], counts[same] = np.median(logs[same]), same.sum()
    if counts.max() < 3:
        return _spikes(points)
    deviation = np.where(counts >= 3, np.abs(logs - level), 0.0)
    scale = MAD_TO_DEVIATION * float(np.median(deviation[counts >= 3]))
    result: npt.NDArray[np.bool_] = deviation > max(_FAR * scale, _LEAST_FAR)
    return result


def _spikes(points: SamplePoints) -> npt.NDArray[np.bool_]:
    """True for single samples off the line between their neighbours by a factor of two.

    They must lie outside the range of both neighbours: where the protocol changes, the cost jumps.
    They are removed one at a time, the worst first, slow ones before fast ones, since a disturbance
    costs time. The remaining samples must be smoother without the removed one; else a neighbour is
    the outlier.
    """
    keep = np.ones(len(points.x), dtype=np.bool_)
    x, y = np.log(np.maximum(points.x, 1.0)), np.log(points.y)
    while keep.sum() > 4:
        where = np.flatnonzero(keep)[np.argsort(points.x[keep], kind="stable")]
        if len(np.unique(x[where])) < len(where):
            break
        spike = _worst(x[where], y[where])
        if spike is None:
            break
        keep[where[spike]] = False
    result: npt.NDArray[np.bool_] = ~keep
    return result


def _worst(x: Floats, y: Floats) -> int | None:
    """The index of the next sample to leave out, None where there is none; ``y`` are logarithms,
    ``x`` ascends.
    """
    off = _distances_from_line(x, y)
    least = max(math.log(2), _FAR * MAD_TO_DEVIATION * float(np.median(off[1:-1])))
    above = np.zeros(len(y))
    below = np.zeros(len(y))
    above[1:-1] = y[1:-1] - np.maximum(y[:-2], y[2:])
    below[1:-1] = np.minimum(y[:-2], y[2:]) - y[1:-1]
    for beyond in (above, below):
        for k in np.argsort(-off, kind="stable"):
            if off[k] >= least and beyond[k] > _LEAST_FAR and _smooths_neighbours(x, y, int(k)):
                return int(k)
    return None


def _distances_from_line(x: Floats, y: Floats) -> Floats:
    """The distance of each sample from the line between its neighbours; 0 at the ends."""
    result = np.zeros(len(y))
    between = y[:-2] + (y[2:] - y[:-2]) * (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    result[1:-1] = np.abs(y[1:-1] - between)
    return result


def _smooths_neighbours(x: Floats, y: Floats, k: int) -> bool:
    """Whether leaving out sample ``k`` reduces the distances of its two neighbours from
    the line.
    """
    before, after = (
        _distances_from_line(x, y),
        _distances_from_line(np.delete(x, k), np.delete(y, k)),
    )
    return bool(after[k - 1] + after[k] < before[k - 1] + before[k + 1])


def outliers(points: SamplePoints, far: npt.NDArray[np.bool_]) -> tuple[Outlier, ...]:
    """The samples for which ``far`` is true, ordered by size."""
    result = []
    for k in np.flatnonzero(far):
        same = points.y[points.x == points.x[k]]
        level = float(np.median(same)) if len(same) > 2 else _between(points, far, int(k))
        result.append(
            Outlier(
                bytes=Bytes(int(points.x[k])),
                seconds=Seconds(float(points.y[k])),
                ratio=float(points.y[k]) / level,
                repeat=int(points.repeat[k]),
                taken=float(points.taken[k]),
            )
        )
    return tuple(sorted(result, key=lambda o: (o.bytes, o.seconds)))


def _between(points: SamplePoints, far: npt.NDArray[np.bool_], k: int) -> float:
    """The time at the size of sample ``k``, interpolated between the next sizes."""
    inliers = points.only(~far)
    order = np.argsort(inliers.x)
    return float(np.exp(np.interp(points.x[k], inliers.x[order], np.log(inliers.y[order]))))


def spread(points: SamplePoints) -> float | None:
    """The coefficient of variation between the medians of repeats; the median over all sizes."""
    values = []
    for x in np.unique(points.x):
        same = points.only(points.x == x)
        repeats = [np.median(same.y[same.repeat == r]) for r in np.unique(same.repeat)]
        if len(repeats) > 1:
            values.append(float(np.std(repeats, ddof=1) / np.mean(repeats)))
    return float(np.median(values)) if values else None
