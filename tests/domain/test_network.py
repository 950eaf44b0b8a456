"""Cost curves, and what a network says of layouts that were not measured."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.calibration import Z80
from autotune.domain.communication_cost import steps
from autotune.domain.cost_curve import OPERATIONS, Z90, CostCurve, Segment
from autotune.domain.curve_reach import DRIFT, WALK
from autotune.domain.network import Network

ALPHA, BETA = 2e-6, 1e-9


def curve(operation="pingpong", nodes=2, ranks=2, **change):
    stated = {
        "benchmark": "autotune",
        "segments": (Segment(lower=0, latency=ALPHA, bandwidth=1 / BETA),),
        "measured": (8, 1 << 20),
        "residual": (0.9, 1.2),
    }
    return CostCurve(operation=operation, nodes=nodes, ranks=ranks, **(stated | change))


PAIR = Network(curves=(curve(),))


LEVEL = (math.log(1.2 / 0.9) / (2 * Z90)) ** 2
"""What the level of the helper's curve is unsure of, where another layout is derived from it."""


def within(least, most, nodes=0.0, ranks=0.0, level=0.0):
    """The interval of a cost between two formulas, so many octaves from the helper's curve."""
    walked = DRIFT**2 * (nodes**2 + ranks**2) + WALK**2 * (nodes + ranks) + level
    low, high = (math.hypot(math.log(r) / Z90, math.sqrt(walked)) for r in (0.9, 1.2))
    return least * math.exp(-Z80 * low), most * math.exp(Z80 * high)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"operation": "bcast"}, "is not one of"),
        ({"ranks": 3}, "cannot be spread evenly"),
        ({"segments": ()}, "from 0 B on"),
        ({"segments": (Segment(lower=8, latency=1.0),)}, "from 0 B on"),
        ({"segments": (Segment(lower=0, latency=1.0),) * 2}, "must ascend"),
        ({"measured": (9, 8)}, "not a range"),
        ({"residual": (1.1, 1.2)}, "does not hold 1"),
        ({"residual": (0.5, math.inf)}, "does not hold 1"),
        ({"segments": (Segment(lower=0, latency=-1e-9, bandwidth=1e9),)}, "zero or below"),
        (
            {
                "segments": (
                    Segment(lower=0, latency=1e-6),
                    Segment(lower=1024, latency=-1e-5, bandwidth=1e9),
                )
            },
            "zero or below",
        ),
        ({"points": ((8, 1e-6), (8, 1e-6))}, "must ascend"),
        ({"points": ((8, 0.0),)}, "positive times"),
        ({"cores": -1}, "no number of cores"),
    ],
)
def test_what_no_curve_can_be(change, words):
    with pytest.raises(ValueError, match=words):
        curve(**change)


@pytest.mark.parametrize("bandwidth", [0.0, -1e9, math.inf, math.nan])
def test_a_larger_message_never_costs_less(bandwidth):
    with pytest.raises(ValueError, match="never costs less"):
        Segment(lower=0, latency=1e-6, bandwidth=bandwidth)


def test_a_line_through_the_origin_is_one():
    anchor = curve(
        segments=(Segment(lower=0, latency=0.0, bandwidth=705e6),), measured=(35_800_000,) * 2
    )
    assert anchor.at(35_800_000) == pytest.approx(0.0508, rel=0.01)
    assert anchor.extrapolated(35_000_000)


def test_segments_change_at_their_lower_end():
    two = curve(
        segments=(Segment(lower=0, latency=1.0), Segment(lower=100, latency=5.0, bandwidth=10.0))
    )
    assert [two.at(99), two.at(100), two.at(200)] == [1.0, 15.0, 25.0]


def test_a_curve_of_the_very_layout():
    cost = PAIR.cost("pingpong", 1000, 2, 2)
    assert cost.seconds == pytest.approx(ALPHA + 1000 * BETA)
    assert cost.interval == pytest.approx(within(cost.seconds, cost.seconds))
    assert not cost.extrapolated
    assert cost.notes == ()


def test_outside_the_measured_sizes():
    cost = PAIR.cost("pingpong", 1 << 24, 2, 2)
    assert cost.extrapolated
    assert "extrapolated" in cost.notes[0]


def test_one_rank_exchanges_nothing():
    assert PAIR.cost("allgather", 1000, 1, 1).seconds == 0


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 8, 16, 33])
def test_textbook_formulas_where_there_is_only_a_ping_pong(ranks):
    """Barrier: ceil(log2 p) alpha, that of a byte; ring Allgather: (p - 1)(alpha + m beta).

    Exchanges: a message to each neighbour, of which two ranks have one; m bytes in all, sparse.
    """
    m = 4096
    one, alpha = ALPHA + m * BETA, ALPHA + BETA
    network = Network(curves=(curve(measured=(0, 1 << 20)),))
    expected = {
        "barrier": math.ceil(math.log2(ranks)) * alpha,
        "allgather": (ranks - 1) * one,
        "neighbour": (1 if ranks == 2 else 2) * one,
        "sparse": one + (0 if ranks == 2 else alpha),
    }
    for operation, seconds in expected.items():
        cost = network.cost(operation, m, ranks, ranks)
        assert cost.seconds == pytest.approx(seconds)
        assert cost.interval[0] <= cost.seconds <= cost.interval[1]
        if operation in ("neighbour", "sparse"):
            expected_interval = within(one, 2 * seconds, nodes=math.log2(ranks / 2))
            assert cost.interval == pytest.approx(expected_interval)
        assert cost.extrapolated
        assert "derived from the ping-pong" in cost.notes[0]


def test_a_barrier_from_large_messages_only_is_as_unsure_as_a_small_message():
    network = Network(curves=(curve(measured=(1 << 16, 1 << 20)),))
    barrier = network.cost("barrier", 0, 2, 2)
    small = network.cost("pingpong", 1, 2, 2)
    assert barrier.seconds == pytest.approx(small.seconds)
    assert barrier.interval[1] / barrier.interval[0] > 10
    assert any("1 B is extrapolated" in note for note in barrier.notes)


def test_a_ring_of_neighbours_stands_in_where_there_is_no_ping_pong():
    """As b_eff measures it: every message under load."""
    ring = curve("neighbour", 2, 8, benchmark="b_eff", measured=(0, 1 << 20))
    network = Network(curves=(ring,))
    one = ALPHA + 4096 * BETA
    assert network.cost("allgather", 4096, 2, 8).seconds == pytest.approx(7 * one)
    assert network.cost("barrier", 0, 2, 8).seconds == pytest.approx(3 * (ALPHA + BETA))
    assert network.cost("sparse", 4096, 2, 8).seconds == pytest.approx(one)
    assert network.cost("neighbour", 4096, 2, 8).notes == ()
    assert network.cost("pingpong", 4096, 2, 8) is None
    assert "exchange with neighbours" in network.cost("allgather", 4096, 2, 8).notes[0]


def test_a_chain_of_two_is_half_a_step_of_a_longer_one():
    """Its ranks have one neighbour; an inner rank of a longer one has two."""
    m = 4096
    one = ALPHA + m * BETA
    two = Network(curves=(curve("neighbour", 1, 2),))
    for ranks in (3, 4, 8):
        cost = two.cost("neighbour", m, 1, ranks)
        assert cost.seconds == pytest.approx(2 * one)
        assert cost.interval == pytest.approx(
            within(one, 2 * one, ranks=math.log2(ranks / 2), level=LEVEL)
        )
        assert "times 2 (messages in a row)" in cost.notes[0]
    four = Network(curves=(curve("neighbour", 1, 4),))
    assert four.cost("neighbour", m, 1, 8).seconds == pytest.approx(one)
    half = four.cost("neighbour", m, 1, 2)
    assert half.seconds == pytest.approx(one / 2)
    assert half.interval == pytest.approx(within(one / 2, one, ranks=1, level=LEVEL))
    assert half.extrapolated
    assert two.cost("neighbour", m, 1, 2).notes == ()
    allgather = two.cost("allgather", m, 1, 4)
    assert allgather.interval == pytest.approx(within(3 * one, 3 * one, ranks=1))


@pytest.mark.parametrize("benchmark", ["imb", "b_eff"])
def test_a_ring_of_two_sends_both_ways(benchmark):
    """The programs' ranks are a chain, so two of them send half as much."""
    one = ALPHA + 4096 * BETA
    ring = Network(curves=(curve("neighbour", 1, 2, benchmark=benchmark),))
    cost = ring.cost("neighbour", 4096, 1, 2)
    assert cost.seconds == pytest.approx(one / 2)
    assert "times 0.5" in cost.notes[0]
    assert ring.cost("neighbour", 4096, 1, 4).seconds == pytest.approx(one)


def test_a_sparse_exchange_is_not_scaled_its_size_is_that_of_all_messages():
    network = Network(curves=(curve("sparse", 1, 2),))
    cost = network.cost("sparse", 4096, 1, 8)
    assert cost.seconds == pytest.approx(ALPHA + 4096 * BETA)
    assert cost.extrapolated


def test_another_number_of_ranks_is_scaled_as_the_formula_is():
    network = Network(curves=(curve("allgather", 8, 8), curve("barrier", 8, 8)))
    m = 4096
    four = network.cost("allgather", m, 4, 4)
    assert four.seconds == pytest.approx(3 / 7 * (ALPHA + m * BETA))
    assert four.extrapolated
    assert "from the curve of 8 ranks on 8 nodes" in four.notes[0]
    assert network.cost("barrier", 0, 4, 4).seconds == pytest.approx(2 / 3 * ALPHA)


def test_curves_of_ranks_that_took_turns_at_cores_are_named():
    fair = curve("allgather", 1, 2, cores=2)
    shared = curve("allgather", 1, 8, cores=2)
    assert [c.oversubscribed for c in (fair, shared, curve("allgather", 1, 8))] == [0, 1, 0]
    words = "the allgather curve of 8 ranks on 1 node was measured on 2 cores a node"
    network = Network(curves=(fair, shared))
    assert network.cost("allgather", 4096, 1, 2).notes == ()
    for ranks in (4, 8):
        assert words in network.cost("allgather", 4096, 1, ranks).notes[-1]
    for basis in (curve("neighbour", 1, 8, cores=2), curve("pingpong", 1, 8, cores=2)):
        derived = Network(curves=(basis,)).cost("allgather", 4096, 1, 8)
        assert "took turns" in derived.notes[-1]


def test_the_nearest_layout_wins_and_nodes_are_never_crossed():
    near, far = curve(nodes=4, ranks=4), curve(nodes=32, ranks=32)
    within = curve(nodes=1, ranks=2)
    network = Network(curves=(far, near, within))
    assert network.curve("pingpong", 6, 6) is near
    assert network.curve("pingpong", 32, 64) is far
    assert network.curve("pingpong", 1, 8) is within
    assert Network(curves=(within,)).cost("pingpong", 8, 2, 2) is None
    assert PAIR.cost("allgather", 8, 1, 2) is None


def allgather(ranks, benchmark, level=1.0, **change):
    line = Segment(lower=0, latency=level * (ranks - 1) * ALPHA, bandwidth=None)
    return curve("allgather", 1, ranks, benchmark=benchmark, segments=(line,), **change)


def test_a_curve_of_two_benchmarks_joins_the_trend_of_either():
    joint, osu, ours = allgather(4, "imb+osu"), allgather(8, "osu", 2.0), allgather(32, "autotune")
    for ranks in (2, 16):
        both = Network(curves=(joint, osu, ours)).cost("allgather", 64, 1, ranks)
        assert "and the trend of 1 other curve" in both.notes[0]
    alone = Network(curves=(osu, ours)).cost("allgather", 64, 1, 16)
    assert "trend" not in alone.notes[0]
    assert both.seconds > alone.seconds
    assert both.interval[1] / both.interval[0] < alone.interval[1] / alone.interval[0]


def test_repeats_do_not_make_up_for_the_difference_between_benchmarks():
    """Thirty repeats of a curve of two benchmarks: it weighs less beside single ones."""

    def seconds(benchmark):
        first = allgather(4, benchmark, residual=(0.5, 2.0), repeats=30)
        network = Network(curves=(first, allgather(8, "osu", 2.0)))
        return network.cost("allgather", 64, 1, 16).seconds

    assert 15 * 2 * ALPHA < seconds("imb+osu") < seconds("osu")


def test_one_curve_of_each():
    with pytest.raises(ValueError, match="a second curve for pingpong of 2 ranks on 2 nodes"):
        Network(curves=(curve(), curve()))


def test_an_update_replaces_and_keeps():
    other = curve("barrier")
    newer = curve(source="newer")
    updated = Network(title="t", curves=(curve(), other)).updated((newer,))
    assert updated == Network(title="t", curves=(other, newer))


@given(
    st.sampled_from(OPERATIONS),
    st.integers(0, 1 << 26),
    st.integers(2, 64),
    st.floats(0, 1e-3),
    st.floats(1e6, 1e12),
)
def test_costs_are_finite_within_their_interval_and_grow_with_the_message(
    operation, size, ranks, latency, bandwidth
):
    line = Segment(lower=0, latency=latency, bandwidth=bandwidth)
    network = Network(curves=(dataclasses.replace(curve(), segments=(line,)),))
    cost = network.cost(operation, size, ranks, ranks)
    more = network.cost(operation, 2 * size, ranks, ranks)
    assert 0 <= cost.interval[0] <= cost.seconds <= cost.interval[1] < math.inf
    assert more.seconds >= cost.seconds


def test_messages_in_a_row():
    assert [steps("barrier", p) for p in (1, 2, 3, 4, 5, 8, 9)] == [0, 1, 2, 2, 3, 3, 4]
    assert [steps("neighbour", p) for p in (1, 2, 3, 8)] == [0, 1, 2, 2]
