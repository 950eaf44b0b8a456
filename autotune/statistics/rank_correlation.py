"""Measures of how well predictions order measured times: rank correlation and top-k loss.

Predictions and times are (n,), finite, smaller is better.
"""

import math

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def kendall(predicted: ArrayLike, measured: ArrayLike) -> float | None:
    """Kendall's rank correlation tau-b (ties counted); None for fewer than two, or all tied.

    >>> kendall([1, 2, 3], [10.0, 20.0, 30.0])
    1.0
    """
    a, b = pair(predicted, measured)
    if len(a) < 2:
        return None
    value = float(scipy.stats.kendalltau(a, b, variant="b").statistic)
    return None if math.isnan(value) else value


def top_loss(predicted: ArrayLike, measured: ArrayLike, k: int) -> float | None:
    """The loss of measuring the ``k`` candidates predicted best and taking the fastest of them, as
    a share.

    It is (best of the k - best of all) / best of all. Equal predictions keep their order. None
    without candidates. Raises ValueError for k below 1 and for times that are not positive.
    """
    a, b = pair(predicted, measured)
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    if len(a) == 0:
        return None
    best = float(b.min())
    if best <= 0:
        raise ValueError(f"times must be positive, not {best}")
    chosen = np.argsort(a, kind="stable")[:k]
    return (float(b[chosen].min()) - best) / best


def pair(predicted: ArrayLike, measured: ArrayLike) -> tuple[Floats, Floats]:
    """Predictions and measured times as arrays (n,); ValueError where their numbers differ or a
    value is not finite.
    """
    a, b = np.asarray(predicted, dtype=np.float64), np.asarray(measured, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"{a.size} predictions do not pair with {b.size} times")
    if not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        raise ValueError("predictions and times must be finite; leave out what has none")
    return a, b
