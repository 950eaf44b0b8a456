"""Quantiles of samples, and robust scales derived from them."""

import statistics
from collections.abc import Sequence

MAD_TO_DEVIATION = 1.4826
"""Standard deviation of normal values over their median absolute deviation."""
RANGE_TO_DEVIATION = 1.349
"""Interquartile range of normal values over their standard deviation."""


def quantile(ordered: Sequence[float], share: float) -> float:
    """The quantile of ascending values, linear between neighbours.

    Infinite values are allowed: between a finite and an infinite value it is infinite, never nan.

    >>> quantile([1.0, 2.0, 4.0, float("inf")], 0.5), quantile([1.0, 4.0, float("inf")], 0.75)
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
