"""The network: the cost of communication, as curves over the size of a message.

    seconds = latency + bytes / bandwidth        per segment of sizes (Hockney 1994)

The size is what *one rank contributes to one operation*: its block in an Allgather, the halo that
it sends to each neighbour, all that it sends in a sparse exchange, the message of a ping-pong; a
barrier has none.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from autotune.domain.annotations import Bounds, Count, FileKey, Signed, Text
from autotune.domain.misfit import Misfit, refuse
from autotune.units import Bytes, BytesPerSecond, Seconds

Operation = Literal["barrier", "allgather", "neighbour", "sparse", "pingpong"]
OPERATIONS: tuple[Operation, ...] = ("barrier", "allgather", "neighbour", "sparse", "pingpong")

Interval = tuple[float, float]

_RINGS = ("imb", "b_eff")
"""Benchmarks whose neighbours close a ring: each rank has two, also of two ranks."""


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
    (figures of a paper). Times of different kinds of benchmark do not compare."""
    nodes: Count
    ranks: Count
    """On all nodes together."""
    segments: Annotated[tuple[Segment, ...], Bounds(least=1)]
    measured: tuple[Annotated[Bytes, Bounds(least=0)], Annotated[Bytes, Bounds(least=0)]]
    """Smallest and largest size that the curve was fitted to."""
    residual: Interval = (1.0, 1.0)
    """Measured over fitted: 5 % and 95 % quantiles of the samples, or what the source allows."""
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

    @property
    def key(self) -> tuple[Operation, int, int]:
        """Operation, nodes and ranks; a network holds at most one curve for each key."""
        return self.operation, self.nodes, self.ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of one operation, with its interval and its sources."""

    seconds: Seconds
    interval: Interval
    """Seconds; holds ``seconds``."""
    extrapolated: bool = False
    """Outside the measured sizes, another number of ranks or nodes, or derived."""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.interval[0] <= self.seconds <= self.interval[1]:
            raise ValueError(f"the interval {self.interval} does not hold {self.seconds} s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The cost curves of a machine, from its file or from measurements."""

    title: str = ""
    curves: Annotated[tuple[CostCurve, ...], FileKey(required=True)] = ()

    def __post_init__(self) -> None:
        refuse(self._doubled())

    def _doubled(self) -> Iterator[Misfit]:
        """Every curve of an operation, ranks and nodes that have one already."""
        seen: dict[tuple[Operation, int, int], int] = {}
        for i, curve in enumerate(self.curves):
            if seen.setdefault(curve.key, i) < i:
                ranks = f"{curve.ranks} ranks on {curve.nodes} nodes"
                found = f"a second curve for {curve.operation} of {ranks}"
                first = ("curves", seen[curve.key])
                yield Misfit(("curves", i), found, "one", first=first)

    @property
    def keys(self) -> frozenset[tuple[Operation, int, int]]:
        """The keys of all curves: operation, nodes and ranks."""
        return frozenset(curve.key for curve in self.curves)

    def curve(self, operation: Operation, nodes: int, ranks: int) -> CostCurve | None:
        """The curve of an operation whose nodes and ranks are nearest, by their ratios.

        A curve within a node never stands for one between nodes, nor the other way round.
        """
        curves = [
            c for c in self.curves if c.operation == operation and (c.nodes > 1) == (nodes > 1)
        ]

        def distance(curve: CostCurve) -> tuple[float, int, int]:
            apart = abs(math.log(curve.ranks / ranks)) + abs(math.log(curve.nodes / nodes))
            return apart, curve.nodes, curve.ranks

        return min(curves, key=distance, default=None)

    def cost(self, operation: Operation, size: float, nodes: int, ranks: int) -> Cost | None:
        """The cost of one operation of ``ranks`` ranks on ``nodes`` nodes; None without any curve.

        It comes from the nearest curve of the operation. A curve of another number of ranks is
        scaled like the operation's textbook formula (see ``steps``). If there is only a ping-pong,
        or only a ring of neighbours, the formula itself is used. Both cases count as extrapolated,
        and a note says so.
        """
        if ranks == 1:
            return Cost(seconds=Seconds(0.0), interval=(0.0, 0.0))
        measured = self.curve(operation, nodes, ranks)
        if measured is not None:
            return _measured(measured, size, nodes, ranks)
        pair = self.curve("pingpong", nodes, ranks)
        if pair is not None:
            return _derived(pair, operation, size, nodes, ranks)
        ring = self.curve("neighbour", nodes, ranks)
        if ring is not None and operation != "pingpong":
            return _of_ring(ring, operation, size, nodes, ranks)
        return None

    def updated(self, curves: tuple[CostCurve, ...]) -> "Network":
        """The network with added curves; each replaces one of the same operation, nodes and
        ranks.
        """
        kept = {curve.key: curve for curve in (*self.curves, *curves)}
        order = sorted(kept, key=lambda k: (OPERATIONS.index(k[0]), k[1], k[2]))
        return replace(self, curves=tuple(kept[key] for key in order))


def steps(operation: Operation, ranks: int) -> int:
    """The number of consecutive messages that an operation of ``ranks`` ranks takes.

    Barrier: ceil(log2 p), dissemination (Hensgen, Finkel and Manber 1988). Allgather: p - 1, ring
    (Thakur, Rabenseifner and Gropp 2005, section 4.1: (p - 1)(alpha + m beta), m what one rank
    contributes). Exchanges with neighbours: 1 of two ranks, else 2, for an inner rank of a chain
    has two neighbours; messages that meet are one. Sparse ones are taken to be alike. Ping-pong: 1.

    >>> [steps("barrier", 5), steps("allgather", 5), steps("neighbour", 5), steps("neighbour", 2)]
    [3, 4, 2, 1]
    """
    if ranks < 2:
        return 0
    if operation == "barrier":
        return (ranks - 1).bit_length()
    if operation == "allgather":
        return ranks - 1
    return 1 if operation == "pingpong" else min(2, ranks - 1)


def _steps_of(curve: CostCurve) -> int:
    """The number of consecutive messages in the operation that a curve was measured with."""
    if curve.operation == "neighbour" and curve.benchmark in _RINGS:
        return 2
    return max(1, steps(curve.operation, curve.ranks))


def _measured(curve: CostCurve, size: float, nodes: int, ranks: int) -> Cost:
    """The cost from a curve of the same operation, scaled by the number of consecutive messages.

    A sparse exchange is not scaled, because its size is that of all its messages. Two messages to
    two neighbours may also travel at once; therefore the interval contains the unscaled curve.
    """
    notes = []
    scale = 1.0
    if curve.operation != "sparse":
        scale = steps(curve.operation, ranks) / _steps_of(curve)
    if (curve.nodes, curve.ranks) != (nodes, ranks) or scale != 1:
        by = f", times {scale:.3g} (messages in a row)" if scale != 1 else ""
        notes.append(
            f"{curve.operation} of {_layout(nodes, ranks)} from the curve of"
            f" {_layout(curve.nodes, curve.ranks)}{by}"
        )
    outside = _outside(curve, size)
    seconds = scale * curve.at(size)
    low, high = curve.residual
    if curve.operation == "neighbour":
        low, high = low * min(1.0, 1 / scale), high * max(1.0, 1 / scale)
    return Cost(
        seconds=Seconds(seconds),
        interval=(low * seconds, high * seconds),
        extrapolated=bool(notes or outside),
        notes=(*notes, *outside),
    )


def _derived(basis: CostCurve, operation: Operation, size: float, nodes: int, ranks: int) -> Cost:
    """The cost of an operation from a ping-pong curve; other textbook algorithms set the interval.

    Barrier: up to twice as long (a tree up and down). Allgather: down to ceil(log2 p) latencies,
    recursive doubling (Thakur et al. 2005, section 4.1). Exchanges: a message to each neighbour;
    down to one if they travel at once, up to twice as many if opposite messages do not overlap. The
    size of a sparse exchange is that of all its messages: a second message adds a latency.
    """
    count = steps(operation, ranks)
    alpha = basis.at(0)
    step = alpha if operation == "barrier" else basis.at(size)
    seconds = count * step if operation != "sparse" else step + (count - 1) * alpha
    least, most = {
        "barrier": (seconds, 2 * seconds),
        "allgather": (min(seconds, seconds - (count - steps("barrier", ranks)) * alpha), seconds),
    }.get(operation, (step, 2 * seconds))
    low, high = basis.residual
    ours = _layout(nodes, ranks)
    theirs = _layout(basis.nodes, basis.ranks)
    formula = {
        "barrier": "ceil(log2 p) latencies",
        "allgather": "p - 1 messages (ring)",
        "neighbour": "one message" if count == 1 else "two messages, one to each neighbour",
        "sparse": "one message" if count == 1 else "one message and a latency",
    }
    note = f"{operation} of {ours} derived from the ping-pong of {theirs}: {formula[operation]}"
    return Cost(
        seconds=Seconds(seconds),
        interval=(low * max(0.0, least), high * most),
        extrapolated=True,
        notes=(note, *(() if operation == "barrier" else _outside(basis, size))),
    )


def _of_ring(basis: CostCurve, operation: Operation, size: float, nodes: int, ranks: int) -> Cost:
    """The cost of an operation from exchanges with neighbours, in which all ranks send at once.

    A step of a ring takes half of such an exchange if the two messages of the exchange follow one
    another, and all of it if they share the link; these are the ends of the interval. With two
    ranks in a chain, the exchange is such a step itself.
    """
    step = basis.at(0 if operation == "barrier" else size)
    count = 1 if operation == "sparse" else steps(operation, ranks)
    low, high = basis.residual
    least = 1.0 if operation == "sparse" else 1 / _steps_of(basis)
    note = (
        f"{operation} of {_layout(nodes, ranks)} derived from the exchange with neighbours of"
        f" {_layout(basis.nodes, basis.ranks)}: {count} in a row"
    )
    return Cost(
        seconds=Seconds(count * step),
        interval=(low * count * step * least, high * count * step),
        extrapolated=True,
        notes=(note, *(() if operation == "barrier" else _outside(basis, size))),
    )


def _outside(curve: CostCurve, size: float) -> tuple[str, ...]:
    if curve.operation == "barrier" or not curve.extrapolated(size):
        return ()
    low, high = curve.measured
    return (
        f"{curve.operation} of {size:.0f} B is extrapolated: the curve was measured from {low} to"
        f" {high} B",
    )


def _layout(nodes: int, ranks: int) -> str:
    where = "1 node" if nodes == 1 else f"{nodes} nodes"
    return f"{ranks} ranks on {where}"
