"""Planted figures are found again in samples."""

import pytest

from autotune.measuring.host import calibration_plan, estimates, host_probe
from autotune.measuring.host.detect import detect
from autotune.measuring.host.host_probe import GROUP, PAGE, ProbeItem, ProbeSample

CLOCK = 3.0e9
KI, MI = 1024, 1024**2


def sample(item, cycles, *, threads=1, busy=1.0):
    """One that took ``cycles`` of processor time for each."""
    count = 1_000_000
    return ProbeSample(
        item=item, threads=threads, seconds=cycles * count / CLOCK / busy, count=count, busy=busy
    )


def stream(cycles, *, size, threads=1, busy=1.0, streams=1):
    return sample(host_probe.load(size, streams=streams), cycles, threads=threads, busy=busy)


def test_clock_is_the_upper_quartile_of_the_chains_of_most_threads():
    chains = [
        sample(ProbeItem(kind="clock"), cycles, threads=2) for cycles in (0.9, 1.0, 1.0, 1.02, 1.5)
    ]
    alone = [sample(ProbeItem(kind="clock"), 0.5, threads=1)] * 9
    clock, spread = estimates.clock([*alone, *chains])
    assert clock == pytest.approx(CLOCK)
    assert spread > 0


def test_contended_samples_do_not_count_beside_others():
    samples = [stream(2.0, size=64 * KI), stream(0.5, size=64 * KI, busy=0.5)]
    (curve,) = estimates.curves(samples, CLOCK)
    assert curve.bandwidth == (pytest.approx(GROUP / 2.0),)
    (alone,) = estimates.curves(samples[1:], CLOCK)
    assert alone.bandwidth == (pytest.approx(GROUP / 0.5),)


def test_an_interruption_does_not_count_where_no_thread_waits_for_another():
    assert sample(ProbeItem(kind="load"), 2.0, busy=0.25).per_operation == pytest.approx(
        2.0 / CLOCK
    )
    waiting = sample(ProbeItem(kind="barrier"), 2.0, busy=0.25)
    assert waiting.per_operation == pytest.approx(8.0 / CLOCK)


def test_curves_are_apart_by_threads_and_ascend():
    samples = [
        stream(cycles, size=size, threads=threads)
        for threads, factor in ((1, 1), (2, 2))
        for size, cycles in ((MI, 4.0 * factor), (16 * KI, 1.0 * factor))
    ]
    one, two = estimates.curves(samples, CLOCK)
    assert one.working_set == two.working_set == (16 * KI, MI)
    assert one.bandwidth == pytest.approx((64, 16))
    assert two.bandwidth == pytest.approx((32, 8))


def test_curves_are_apart_by_streams_and_those_of_one_come_first():
    samples = [stream(n, size=MI, streams=n, threads=t) for n in (4, 1) for t in (2, 1)]
    found = [(curve.streams, curve.threads) for curve in estimates.curves(samples, CLOCK)]
    assert found == [(1, 1), (1, 2), (4, 1), (4, 2)]


def test_a_level_that_seems_faster_than_the_one_before_it_lends_it_its_speed():
    samples = [stream(2.0, size=64 * KI), stream(4.0, size=MI), stream(3.0, size=4 * MI)]
    (curve,) = estimates.curves(samples, CLOCK)
    assert curve.bandwidth == pytest.approx((32, 64 / 3, 64 / 3))
    assert curve.spread == (0.0, pytest.approx(1 / 3), 0.0)


def test_a_point_that_something_else_held_up_is_left_out():
    samples = [stream(2.0, size=64 * KI), stream(90.0, size=MI), stream(3.0, size=4 * MI)]
    (curve,) = estimates.curves(samples, CLOCK)
    assert curve.working_set == (64 * KI, 4 * MI)


def test_work_beside_a_stream_is_chosen_as_long_as_the_stream():
    samples = [
        sample(item, (2 + item.extra) / 2) for item in calibration_plan.overlap_candidates("divide")
    ]
    samples.append(stream(9.1, size=64 * MI))
    samples.append(stream(16.5, size=64 * MI, threads=2))
    assert estimates.balanced_work(samples, "divide", 64 * MI, 1) == 16
    assert estimates.balanced_work(samples, "divide", 64 * MI, 2) == 32
    assert estimates.balanced_work(samples, "load", 64 * MI, 1) == host_probe.EXTRAS[-1]


def test_thread_counts():
    assert calibration_plan.thread_counts(1) == (1,)
    assert calibration_plan.thread_counts(4) == (1, 2, 3, 4)
    assert calibration_plan.thread_counts(24) == (1, 2, 3, 4, 8, 16, 24)
    assert calibration_plan.thread_counts(64) == (1, 2, 3, 4, 8, 16, 32, 64)


@pytest.mark.parametrize("name", ["zen3-epyc-guest", "haswell-xeon-2s", "cortex-a72-no-sizes"])
def test_a_plan_reaches_from_l1_into_memory(host, name):
    machine = detect(host(name))
    made = calibration_plan.make(machine, 45.0, None)
    assert {1, machine.cores} <= set(made.threads)
    for threads, sizes in made.sizes.items():
        assert sizes[0] < machine.caches[0].size
        last = machine.caches[-1]
        assert sizes[-1] * min(threads, last.cores) >= 4 * last.size
        assert all(size % PAGE == 0 for size in sizes)
        assert list(sizes) == sorted(set(sizes))
    assert made.sizes[1][-1] >= 64 * MI
    assert made.sample >= 0.01
    assert set(made.levels[1]) == {c.name for c in machine.caches[1:]} | {"MEM"}


def test_a_plan_respects_little_memory_and_a_little_budget(host):
    machine = detect(host("zen3-epyc-guest"))
    small = calibration_plan.make(machine, 1.0, 64 * MI)
    assert max(threads * sizes[-1] for threads, sizes in small.sizes.items()) <= 16 * MI
    assert small.cost < calibration_plan.make(machine, 45.0, None).cost
