"""The cost of one operation of MPI as a curve over the size of its messages.

    seconds = latency + bytes / bandwidth        per segment of sizes (Hockney 1994)

The size is what *one rank contributes to one operation*: its block in an Allgather, the halo that
it sends to each neighbour, all that it sends in a sparse exchange, the message of a ping-pong; a
barrier has none.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from autotune.domain.annotations import Bounds, Count, FileKey, Signed, Text
from autotune.domain.calibration import Z80
from autotune.domain.curve_reach import LAUNCH, CurveEnd, LogEstimate
from autotune.units import Bytes, BytesPerSecond, Seconds

Operation = Literal["barrier", "allgather", "neighbour", "sparse", "pingpong"]
OPERATIONS: tuple[Operation, ...] = ("barrier", "allgather", "neighbour", "sparse", "pingpong")

Interval = tuple[float, float]

Z90 = 1.6449
"""Half-width of a 90 % interval of the normal distribution in standard deviations."""
_NEAR = 16.0
"""The largest ratio of two sizes of which one tells the slope of a curve at the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One line of a cost curve: sizes from ``lower`` on, up to the next segment."""

    lower: Annotated[Bytes, Bounds(least=0), FileKey(name="from")]
    latency: Annotated[Seconds, Signed()]
    """The line at 0 B; below zero in a segment that begins at larger sizes."""
    bandwidth: BytesPerSecond | None = None
    """Bytes of one rank's contribution over seconds; None: the size does not matter."""

    def __post_init__(self) -> None:
        if self.lower < 0:
            raise ValueError(f"a segment cannot begin at {self.lower} B")
        if not math.isfinite(self.latency):
            raise ValueError(f"latency {self.latency} s is not a number")
        if self.bandwidth is not None and not (
            math.isfinite(self.bandwidth) and self.bandwidth > 0
        ):
            raise ValueError(
                f"bandwidth {self.bandwidth} B/s is not positive: a larger message never costs less"
            )

    def at(self, size: float) -> float:
        """Seconds of a message of ``size`` bytes."""
        return self.latency + (size / self.bandwidth if self.bandwidth else 0.0)


class CurvePoint(NamedTuple):
    """The median of the samples of one message size."""

    size: Annotated[Bytes, Bounds(least=0)]
    time: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class CostCurve:
    """Seconds of one operation over the size of its messages, for one number of ranks and nodes."""

    operation: Operation
    benchmark: Text
    """What was measured: ``autotune``, ``osu``, ``imb``, ``b_eff`` (a loaded ring), ``anchor``
    (figures of a paper). Times of different kinds of benchmark do not compare; a curve of two,
    ``imb+osu``, is at their common level and compares with those of either."""
    nodes: Count
    ranks: Count
    """On all nodes together."""
    segments: Annotated[tuple[Segment, ...], Bounds(least=1)]
    measured: tuple[Annotated[Bytes, Bounds(least=0)], Annotated[Bytes, Bounds(least=0)]]
    """Smallest and largest size that the curve was fitted to."""
    residual: Interval = (1.0, 1.0)
    """Measured over fitted: 5 % and 95 % quantiles of the samples, or what the source allows."""
    repeats: Annotated[int, Bounds(least=0)] = 0
    """Independent launches that the curve was fitted to; 0: not known, and a stated ``residual``
    covers what launches differ by."""
    cores: Annotated[int, Bounds(least=0)] = 0
    """Of a node on which the curve was measured; 0: not known."""
    points: tuple[CurvePoint, ...] = ()
    """In ascending order of size; empty where they are not known."""
    source: str = ""
    fitted_to: tuple[Text, ...] = ()
    """Rows of published tables that fed the curve: it must not be scored on them."""

    def __post_init__(self) -> None:
        if self.operation not in OPERATIONS:
            raise ValueError(f"{self.operation!r} is not one of {', '.join(OPERATIONS)}")
        try:
            self._check()
        except ValueError as error:
            raise ValueError(f"{self.operation}: {error}") from error

    def _check(self) -> None:
        if not 1 <= self.nodes <= self.ranks or self.ranks % self.nodes:
            raise ValueError(f"{self.ranks} ranks cannot be spread evenly over {self.nodes} nodes")
        if not self.segments or self.segments[0].lower != 0:
            raise ValueError("a curve needs a segment from 0 B on")
        if any(a.lower >= b.lower for a, b in pairwise(self.segments)):
            raise ValueError("the segments of a curve must ascend")
        if self.repeats < 0:
            raise ValueError(f"{self.repeats} repeats are no number of launches")
        if self.cores < 0:
            raise ValueError(f"{self.cores} is no number of cores")
        if not 0 <= self.measured[0] <= self.measured[1]:
            raise ValueError(f"the measured sizes {self.measured} are not a range")
        low, high = self.residual
        if not 0 < low <= 1 <= high < math.inf:
            raise ValueError(f"the residual interval {self.residual} does not hold 1")
        sizes = [size for size, _ in self.points]
        if sizes != sorted(set(sizes)) or any(seconds <= 0 for _, seconds in self.points):
            raise ValueError("the points of a curve must ascend in size and have positive times")
        # a line through the origin costs nothing at 0 B; wherever there is a message, it costs
        if self.segments[0].latency < 0 or any(
            self.segment(size).at(size) <= 0
            for size in [*(s.lower for s in self.segments[1:]), *self.measured]
        ):
            raise ValueError("the curve falls to zero or below within its range")

    def segment(self, size: float) -> Segment:
        """The segment that contains a size."""
        return self.segments[bisect_right([s.lower for s in self.segments], size) - 1]

    def at(self, size: float) -> Seconds:
        """Seconds of one operation with messages of ``size`` bytes; never negative."""
        return Seconds(max(self.segment(size).at(size), 0.0))

    def extrapolated(self, size: float) -> bool:
        """Whether a size lies outside the range that the curve was fitted to."""
        return not self.measured[0] <= size <= self.measured[1]

    def estimate(self, size: float) -> LogEstimate:
        """The logarithm of the seconds of a size above 0 B; its variance is 0 within the measured
        sizes and grows beyond them.
        """
        edge = min(max(size, self.measured[0]), self.measured[1])
        if edge in (size, 0) or self.operation == "barrier":
            return LogEstimate(math.log(self.at(size)), 0.0)
        end = CurveEnd(size=edge, seconds=self.at(edge), exponent=self._exponent(edge))
        return end.beyond(size, self.at(size))

    def _exponent(self, size: float) -> float | None:
        """The power of the size that the time follows at one; None where it was not measured."""
        near = [point for point in self.points if 1 / _NEAR <= point.size / size <= _NEAR]
        if len(near) < 2:
            return None
        bandwidth = self.segment(size).bandwidth
        return min(1.0, size / bandwidth / self.at(size)) if bandwidth else 0.0

    @property
    def oversubscribed(self) -> bool:
        """Whether the curve was measured with more ranks on a node than cores: its times include
        waiting for a core.
        """
        return 0 < self.cores < self.ranks // self.nodes

    @property
    def tools(self) -> frozenset[str]:
        """The kinds of benchmark that the curve was fitted to."""
        return frozenset(self.benchmark.split("+"))

    @property
    def launch_variance(self) -> float:
        """Variance of the curve's own level: launches differ, and it was fitted to few of them."""
        if self.repeats == 0 and self.residual != (1.0, 1.0):
            return 0.0
        return LAUNCH**2 / max(1, self.repeats)

    def spread(self, seconds: float, variance: float) -> Interval:
        """The 80 % interval of a time, where the curve's level has this variance.

        To it come the scatter of the samples, which the file states as a 90 % interval, and what a
        new launch adds to the scatter of few.
        """
        low, high = (abs(math.log(bound)) / Z90 for bound in self.residual)
        beside = variance + self.launch_variance
        return (
            seconds * math.exp(-Z80 * math.hypot(low, math.sqrt(beside))),
            seconds * math.exp(Z80 * math.hypot(high, math.sqrt(beside))),
        )

    @property
    def key(self) -> tuple[Operation, int, int]:
        """Operation, nodes and ranks; a network holds at most one curve for each key."""
        return self.operation, self.nodes, self.ranks
