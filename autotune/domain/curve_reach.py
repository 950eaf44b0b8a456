"""How far a cost curve can be trusted beyond the layouts and the sizes that it was measured on.

All quantities are natural logarithms of times; variances are of those. Layouts are compared on two
axes: the logarithm (base 2, octaves) of the number of nodes, and of the ranks of each node.

Beyond the measured layouts, the law of an operation (``communication_cost.steps``) need not hold:
an implementation changes its algorithm with the number of ranks, and links are shared. The
deviation from the law, d(x), is therefore a random function of the layout x:

    d(x) = constant + drift . x + walk(x)

The constant is free; the drift, an unknown power of the number of ranks, is normal with standard
deviation ``DRIFT`` on each axis; the walk is Brownian, of variance ``WALK``^2 per octave. Kriging
(Matheron 1963; Cressie 1993, section 3.2) gives its value and variance at a layout from those of
the measured curves: several curves tell the drift, one curve leaves it open, and the interval grows
with the distance from all of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# DRIFT and WALK: 80 % intervals cover about 80 % of the hidden layouts of half of the recorded
# tables (benchmarks/comm_intervals.py). SHAPE and SIZE_WALK are engineering choices.
DRIFT = 0.25
"""Per octave of ranks: standard deviation of the slope of the deviation from the law."""
WALK = 0.30
"""Per square root of an octave of ranks: standard deviation of the walk of that deviation."""
SHAPE = 3.0
"""Octaves of size over which half of what a curve says about its own slope is forgotten."""
SIZE_WALK = 0.10
"""Per square root of an octave of size: standard deviation beyond the measured sizes."""
LAUNCH = 0.11
"""Standard deviation between launches of one benchmark, where a curve has too few repeats to tell:
the median of three complete repeats on one host."""


@dataclass(frozen=True, slots=True)
class LogEstimate:
    """The logarithm of a time or of a ratio, and the variance of what it may be instead."""

    value: float
    variance: float


@dataclass(frozen=True, slots=True)
class LayoutDeviation:
    """How the measured time of one layout deviates from the law of its operation."""

    nodes: int
    ranks: int
    """On all nodes together."""
    deviation: LogEstimate
    """Logarithm of seconds over what the law counts."""

    def octaves_from(self, nodes: int, ranks: int) -> tuple[float, float]:
        """Signed distance from another layout: in nodes, and in ranks of each node."""
        per_node = (self.ranks / self.nodes) / (ranks / nodes)
        return math.log2(self.nodes / nodes), math.log2(per_node)


def at_layout(measured: Sequence[LayoutDeviation], nodes: int, ranks: int) -> LogEstimate:
    """The deviation from the law at a layout, from those of at least one measured layout."""
    import numpy as np  # noqa: PLC0415 - heavy, and networks are read without it

    places = [point.octaves_from(nodes, ranks) for point in measured]
    to_target = [_covariance(place, (0.0, 0.0)) for place in places]
    matrix = [[_covariance(a, b) for b in places] + [1.0] for a in places]
    for i, point in enumerate(measured):
        matrix[i][i] += point.deviation.variance
    matrix.append([1.0] * len(places) + [0.0])
    *weights, multiplier = np.linalg.solve(matrix, [*to_target, 1.0]).tolist()
    value = sum(w * point.deviation.value for w, point in zip(weights, measured, strict=True))
    explained = sum(w * c for w, c in zip(weights, to_target, strict=True))
    return LogEstimate(value, max(0.0, -explained - multiplier))


def _covariance(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The generalised covariance of the deviations at two places, relative to the target."""
    return sum(DRIFT**2 * x * y - WALK**2 * abs(x - y) / 2 for x, y in zip(a, b, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveEnd:
    """The smallest or the largest measured size of a cost curve, for sizes beyond it."""

    size: float
    """Bytes, at least 1."""
    seconds: float
    exponent: float | None
    """Power of the size that the time follows there; None where fewer than two sizes near the end
    were measured, as for the figures of a paper."""

    def beyond(self, size: float, seconds: float) -> LogEstimate:
        """The logarithm of the time of a size beyond the end, where the curve says ``seconds``.

        A larger message costs no less, and no more per byte, so the time follows a power of the
        size between 0 and 1: between 0 and that of the end where that was measured and the message
        is smaller, between that of the end and 1 where it is larger. Towards smaller messages, what
        the curve claims is forgotten with the distance, unless the power was measured: a time of
        large messages does not tell how much of it is latency.
        """
        distance = math.log(size / self.size)
        octaves = abs(distance) / math.log(2)
        least = self.exponent or 0.0 if distance > 0 else 0.0
        most = 1.0 if distance > 0 or self.exponent is None else self.exponent
        claimed = min(max(math.log(seconds / self.seconds) / distance, least), most)
        forgotten = octaves / (octaves + SHAPE)
        power = claimed
        if self.exponent is None and distance < 0:
            power += forgotten * ((least + most) / 2 - claimed)
        doubt = forgotten * (most - least) / math.sqrt(12) * distance
        value = math.log(self.seconds) + power * distance
        return LogEstimate(value, doubt**2 + SIZE_WALK**2 * octaves)
