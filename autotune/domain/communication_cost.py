"""The cost of an operation for any layout, from the curves of measured ones.

The law of an operation is its textbook algorithm (``steps``). How far it is trusted beyond the
measured layouts and sizes is in ``curve_reach``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.domain.cost_curve import Z90, CostCurve, Interval, Operation
from autotune.domain.curve_reach import LayoutDeviation, LogEstimate, at_layout
from autotune.units import Seconds, counted

_RINGS = ("imb", "b_eff")
"""Benchmarks whose neighbours close a ring: each rank has two, also of two ranks."""
_SMALLEST = 1.0
"""Bytes of the smallest message: what an empty one takes."""
_FAR = 2.0
"""Octaves of ranks from every curve beyond which a note says what to measure."""


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


def measured_cost(curves: Sequence[CostCurve], size: float, nodes: int, ranks: int) -> Cost:
    """The cost from curves of the same operation, the nearest first.

    A curve of another layout is scaled by the number of consecutive messages. A sparse exchange is
    not scaled, because its size is that of all its messages. Two messages to two neighbours may
    also travel at once; therefore the interval contains the unscaled curve.
    """
    near = curves[0]
    operation = near.operation
    scale = 1.0 if operation == "sparse" else steps(operation, ranks) / _steps_of(near)
    notes = _elsewhere(curves, scale, nodes, ranks)
    if (near.nodes, near.ranks) == (nodes, ranks):
        curves = curves[:1]
        level = near.estimate(size)
        level = LogEstimate(level.value + math.log(scale), level.variance + near.launch_variance)
    else:
        level = _of_layouts(curves, size, nodes, ranks)
    seconds = math.exp(level.value)
    low, high = near.spread(seconds, level.variance)
    if operation == "neighbour":
        low, high = low * min(1.0, 1 / scale), high * max(1.0, 1 / scale)
    outside = _outside(near, size)
    return Cost(
        seconds=Seconds(seconds),
        interval=(low, high),
        extrapolated=bool(notes or outside),
        notes=(*notes, *outside, *_turns(curves)),
    )


def _of_layouts(curves: Sequence[CostCurve], size: float, nodes: int, ranks: int) -> LogEstimate:
    """The logarithm of the seconds of a layout, from the curves of other layouts.

    Beside curves of single benchmarks, the level of a curve of several is as unsure as its scatter,
    which spans them all: repeats do not reduce how benchmarks differ.
    """
    scaled = curves[0].operation != "sparse"
    mixed = len({curve.benchmark for curve in curves}) > 1
    points = []
    for curve in curves:
        level = curve.estimate(size)
        law = math.log(_steps_of(curve)) if scaled else 0.0
        scatter = math.log(curve.residual[1] / curve.residual[0]) / (2 * Z90)
        repeats = 1 if mixed and len(curve.tools) > 1 else max(1, curve.repeats)
        variance = level.variance + curve.launch_variance + scatter**2 / repeats
        deviation = LogEstimate(level.value - law, variance)
        points.append(LayoutDeviation(curve.nodes, curve.ranks, deviation))
    there = at_layout(points, nodes, ranks)
    law = math.log(steps(curves[0].operation, ranks)) if scaled else 0.0
    return LogEstimate(there.value + law, there.variance)


def _elsewhere(
    curves: Sequence[CostCurve], scale: float, nodes: int, ranks: int
) -> tuple[str, ...]:
    """What the cost of a layout was taken from, where no curve is of this layout."""
    near = curves[0]
    if (near.nodes, near.ranks) == (nodes, ranks) and scale == 1:
        return ()
    by = f", times {scale:.3g} (messages in a row)" if scale != 1 else ""
    others = len(curves) - 1 if (near.nodes, near.ranks) != (nodes, ranks) else 0
    trend = f", and the trend of {counted(others, 'other curve')}" if others else ""
    note = (
        f"{near.operation} of {_layout(nodes, ranks)} from the curve of"
        f" {_layout(near.nodes, near.ranks)}{by}{trend}"
    )
    return (note, *_to_measure(near, nodes, ranks))


def _to_measure(near: CostCurve, nodes: int, ranks: int) -> tuple[str, ...]:
    """What to measure where the nearest curve is far from a layout."""
    place = LayoutDeviation(near.nodes, near.ranks, LogEstimate(0.0, 0.0))
    if sum(map(abs, place.octaves_from(nodes, ranks))) <= _FAR:
        return ()
    between = max(2, 2 ** round(math.log2(near.nodes * nodes) / 2)) if nodes > 1 else 1
    count = max(2, between * max(1, ranks // nodes))
    return (
        f"{_layout(nodes, ranks)} are far from every curve, and the interval is wide: what narrows"
        f" it is autotune comm bench --nodes {nodes} --ranks {ranks}, or on the way there"
        f" --nodes {between} --ranks {count}",
    )


def derived_cost(
    basis: CostCurve, operation: Operation, size: float, nodes: int, ranks: int
) -> Cost:
    """The cost of an operation from a ping-pong curve; other textbook algorithms set the interval.

    Barrier: up to twice as long (a tree up and down). Allgather: down to ceil(log2 p) latencies,
    recursive doubling (Thakur et al. 2005, section 4.1). Exchanges: a message to each neighbour;
    down to one if they travel at once, up to twice as many if opposite messages do not overlap. The
    size of a sparse exchange is that of all its messages: a second message adds a latency.
    """
    count = steps(operation, ranks)
    alpha = math.exp(basis.estimate(_SMALLEST).value)
    step, variance = _message(basis, operation, size)
    seconds = count * step if operation != "sparse" else step + (count - 1) * alpha
    least, most = {
        "barrier": (seconds, 2 * seconds),
        "allgather": (min(seconds, seconds - (count - steps("barrier", ranks)) * alpha), seconds),
    }.get(operation, (step, 2 * seconds))
    low, high = _derived_spread(basis, variance, nodes, ranks)
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
        notes=(
            note,
            *_to_measure(basis, nodes, ranks),
            *_outside(basis, _SMALLEST if operation == "barrier" else size),
            *_turns([basis]),
        ),
    )


def _message(basis: CostCurve, operation: Operation, size: float) -> tuple[Seconds, float]:
    """The seconds of one message of an operation, and the variance of their logarithm; those of a
    barrier are as small as they can be.
    """
    level = basis.estimate(_SMALLEST if operation == "barrier" else size)
    return Seconds(math.exp(level.value)), level.variance


def _derived_spread(basis: CostCurve, variance: float, nodes: int, ranks: int) -> Interval:
    """The 80 % interval of a cost over the cost derived from the curve of another operation."""
    deviation = LogEstimate(0.0, variance + basis.launch_variance)
    there = at_layout([LayoutDeviation(basis.nodes, basis.ranks, deviation)], nodes, ranks)
    return basis.spread(1.0, there.variance)


def ring_cost(basis: CostCurve, operation: Operation, size: float, nodes: int, ranks: int) -> Cost:
    """The cost of an operation from exchanges with neighbours, in which all ranks send at once.

    A step of a ring takes half of such an exchange if the two messages of the exchange follow one
    another, and all of it if they share the link; these are the ends of the interval. With two
    ranks in a chain, the exchange is such a step itself.
    """
    step, variance = _message(basis, operation, size)
    count = 1 if operation == "sparse" else steps(operation, ranks)
    low, high = _derived_spread(basis, variance, nodes, ranks)
    least = 1.0 if operation == "sparse" else 1 / _steps_of(basis)
    note = (
        f"{operation} of {_layout(nodes, ranks)} derived from the exchange with neighbours of"
        f" {_layout(basis.nodes, basis.ranks)}: {count} in a row"
    )
    return Cost(
        seconds=Seconds(count * step),
        interval=(low * count * step * least, high * count * step),
        extrapolated=True,
        notes=(
            note,
            *_to_measure(basis, nodes, ranks),
            *_outside(basis, _SMALLEST if operation == "barrier" else size),
            *_turns([basis]),
        ),
    )


def _outside(curve: CostCurve, size: float) -> tuple[str, ...]:
    if curve.operation == "barrier" or not curve.extrapolated(size):
        return ()
    low, high = curve.measured
    return (
        f"{curve.operation} of {size:.0f} B is extrapolated: the curve was measured from {low} to"
        f" {high} B",
    )


def _turns(curves: Sequence[CostCurve]) -> tuple[str, ...]:
    """Which of the curves that a cost is taken from were measured with more ranks than cores."""
    return tuple(
        f"the {curve.operation} curve of {_layout(curve.nodes, curve.ranks)} was measured on"
        f" {counted(curve.cores, 'core')} a node: its ranks took turns, as those of a layout with"
        " enough cores do not"
        for curve in curves
        if curve.oversubscribed
    )


def _layout(nodes: int, ranks: int) -> str:
    where = "1 node" if nodes == 1 else f"{nodes} nodes"
    return f"{ranks} ranks on {where}"
