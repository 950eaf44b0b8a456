"""What curves say beyond the layouts and sizes that they were measured on, and how surely."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.cost_curve import CostCurve, CurvePoint, Segment
from autotune.domain.curve_reach import (
    DRIFT,
    LAUNCH,
    WALK,
    CurveEnd,
    LayoutDeviation,
    LogEstimate,
    at_layout,
)
from autotune.domain.network import Network
from autotune.units import Bytes, BytesPerSecond, Seconds

RING = ((2, 580e-9), (3, 620e-9), (4, 700e-9), (5, 760e-9), (6, 800e-9), (7, 810e-9))


def point(nodes: int, deviation: float, variance: float = 0.0) -> LayoutDeviation:
    return LayoutDeviation(nodes, nodes, LogEstimate(deviation, variance))


def curve(nodes: int, latency: float, **change: object) -> CostCurve:
    stated: dict[str, object] = {
        "segments": (
            Segment(
                lower=Bytes(0), latency=Seconds(latency), bandwidth=BytesPerSecond(1e9 / nodes)
            ),
        ),
        "measured": (Bytes(8), Bytes(1 << 20)),
    }
    stated |= {"benchmark": "autotune"} | change
    return CostCurve(operation="neighbour", nodes=nodes, ranks=nodes, **stated)  # type: ignore[arg-type]


def width(network: Network, size: float, nodes: int) -> float:
    cost = network.cost("neighbour", size, nodes, nodes)
    assert cost is not None
    return cost.interval[1] / cost.interval[0]


def test_one_layout_leaves_the_drift_open() -> None:
    """Four octaves away: the variance of the drift grows with the square, that of the walk not."""
    there = at_layout([point(4, 0.7)], 64, 64)
    assert there.value == pytest.approx(0.7)
    assert there.variance == pytest.approx(16 * DRIFT**2 + 4 * WALK**2)


def test_a_measured_layout_is_reproduced() -> None:
    there = at_layout([point(2, 0.1), point(4, 0.5), point(8, 0.4)], 4, 4)
    assert there.value == pytest.approx(0.5)
    assert there.variance == pytest.approx(0.0, abs=1e-12)


def test_several_layouts_tell_the_drift() -> None:
    """On a straight line, the estimate follows it part of the way, and the variance falls."""
    line = [point(2**k, 0.3 * k) for k in range(1, 5)]
    there = at_layout(line, 64, 64)
    alone = at_layout(line[-1:], 64, 64)
    assert 1.2 < there.value < 1.8
    assert there.variance < alone.variance


def test_nodes_and_ranks_of_a_node_are_axes_of_their_own() -> None:
    alike = [LayoutDeviation(4, 16, LogEstimate(0.0, 0.0))]
    assert at_layout(alike, 4, 32).variance == pytest.approx(DRIFT**2 + WALK**2)
    assert at_layout(alike, 8, 64).variance == pytest.approx(2 * (DRIFT**2 + WALK**2))  # both


@given(
    st.lists(st.integers(1, 64), min_size=1, max_size=8, unique=True),
    st.integers(1, 4096),
    st.data(),
)
def test_estimates_are_finite_and_more_curves_are_never_less_sure(
    nodes: list[int], target: int, data: st.DataObject
) -> None:
    values = data.draw(st.lists(st.floats(-3, 3), min_size=len(nodes), max_size=len(nodes)))
    points = [point(n, v, 0.01) for n, v in zip(nodes, values, strict=True)]
    whole = at_layout(points, target, target)
    assert math.isfinite(whole.value)
    assert (
        -1e-9 <= whole.variance <= at_layout(points[:-1] or points, target, target).variance + 1e-9
    )


def test_intervals_widen_from_seven_nodes_to_4096() -> None:
    ring = Network(curves=tuple(curve(n, t) for n, t in RING))
    widths = [width(ring, 4096, nodes) for nodes in (7, 8, 64, 512, 4096)]
    assert widths == sorted(widths)
    assert widths[0] < 1.6
    assert widths[-1] > 10
    cost = ring.cost("neighbour", 4096, 4096, 4096)
    assert cost is not None
    assert "and the trend of 5 other curves" in cost.notes[0]
    assert "autotune comm bench --nodes 4096 --ranks 4096" in cost.notes[1]


def test_one_repeat_is_not_certain_and_ten_are_surer() -> None:
    once, often = (Network(curves=(curve(4, 1e-6, repeats=n),)) for n in (1, 10))
    assert width(once, 4096, 4) == pytest.approx(math.exp(2 * 1.2816 * math.sqrt(2) * LAUNCH))
    assert 1 < width(often, 4096, 4) < width(once, 4096, 4)


def test_what_a_source_states_is_not_widened_within_its_sizes() -> None:
    stated = Network(curves=(curve(4, 1e-6, residual=(0.5, 2.0)),))
    ratio = 2 * math.log(2) * 1.2816 / 1.6449
    assert width(stated, 4096, 4) == pytest.approx(math.exp(ratio))


def test_sizes_beyond_the_measured_ones_widen_the_interval() -> None:
    network = Network(curves=(curve(4, 1e-6),))
    widths = [width(network, size, 4) for size in (1 << 20, 1 << 22, 1 << 26, 1 << 30)]
    assert widths == sorted(widths)
    assert widths[-1] > 1.5 * widths[0]


def anchor(size: float) -> CostCurve:
    """One figure of a paper: 2 ms at 48 kB, drawn as a constant."""
    line = Segment(lower=Bytes(0), latency=Seconds(2e-3), bandwidth=BytesPerSecond(2e9))
    large = Bytes(int(size))
    return curve(8, 1e-6, segments=(line,), measured=(large, Bytes(35_900_000)), benchmark="anchor")


def test_a_time_of_large_messages_is_not_charged_to_small_ones_as_a_constant() -> None:
    network = Network(curves=(anchor(47_800),))
    small = network.cost("neighbour", 8, 8, 8)
    assert small is not None
    assert small.seconds < 0.1 * 2e-3
    assert small.interval[0] < 1e-5
    assert 1e-4 < small.interval[1] < 2e-3
    near = network.cost("neighbour", 40_000, 8, 8)
    assert near is not None
    assert near.seconds == pytest.approx(2e-3, rel=0.05)


def test_a_measured_latency_stays_one() -> None:
    points = tuple(CurvePoint(Bytes(8 << k), Seconds(1e-6)) for k in range(4))
    flat = curve(4, 1e-6, points=points)
    assert math.exp(flat.estimate(1).value) == pytest.approx(1e-6, rel=0.05)
    assert flat.estimate(1).variance < 0.1


@given(st.floats(1, 1e9), st.floats(1, 1e9), st.one_of(st.none(), st.floats(0, 1)))
def test_beyond_an_end_the_time_lies_between_constant_and_proportional(
    size: float, other: float, exponent: float | None
) -> None:
    if size == other:
        return
    end = CurveEnd(size=size, seconds=1e-3, exponent=exponent)
    claimed = 1e-3 * (other / size) ** 0.5
    there = end.beyond(other, claimed)
    ratio = math.exp(there.value) / 1e-3
    bounds = sorted((1.0, other / size))
    assert bounds[0] * (1 - 1e-9) <= ratio <= bounds[1] * (1 + 1e-9)
    assert there.variance >= 0
