"""Quantiles of samples and of distributions, and robust scales derived from them."""

import math
import statistics
from collections.abc import Sequence

from scipy.special import ndtri, stdtrit

MAD_TO_DEVIATION = 1.4826
"""Standard deviation of normal values over their median absolute deviation."""
RANGE_TO_DEVIATION = 1.349
"""Interquartile range of normal values over their standard deviation."""
NORMAL_QUARTILE = float(ndtri(0.75))
"""Upper quartile of the standard normal distribution: 0.6745, which Garren 2010 rounds to 0.675."""


def quantile(ordered: Sequence[float], share: float) -> float:
    """The quantile of ascending values, linear between neighbours.

    Infinite values are allowed: between a finite and an infinite value it is infinite, never nan.

    >>> quantile([1.0, 2.0, 4.0, math.inf], 0.5), quantile([1.0, 2.0, 4.0, math.inf], 0.75)
    (3.0, inf)
    """
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    part = place - below
    if part == 0 or ordered[below] == ordered[above]:
        return ordered[below]
    return ordered[below] + part * (ordered[above] - ordered[below])


def cuts(values: Sequence[float], parts: int) -> list[float]:
    """The quantiles that divide two or more values, in any order, into ``parts`` equal parts."""
    return statistics.quantiles(values, n=parts, method="inclusive")


def quartile(values: Sequence[float], which: int) -> float:
    """The lower (1), middle (2) or upper (3) quartile of one value or more, in any order.

    >>> quartile([5.0, 1.0, 3.0], 1)
    2.0
    """
    return values[0] if len(values) == 1 else cuts(values, 4)[which - 1]


def student(freedom: float, level: float) -> float:
    """The two-sided quantile t of Student's distribution: a share ``level`` lies between -t and t.

    Infinite without degrees of freedom. ValueError for a level outside (0, 1).

    >>> round(student(10.0, 0.95), 3)
    2.228
    """
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, not {level}")
    return student_below(freedom, (1 + level) / 2) if freedom > 0 else math.inf


def student_below(freedom: float, share: float) -> float:
    """The one-sided quantile t of Student's distribution: a share ``share`` lies below t."""
    return float(stdtrit(freedom, share))
