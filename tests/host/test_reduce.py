"""Planted figures are found again in samples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.host import plan, reduce
from autotune.host.detect import detect
from autotune.host.probe import EXTRAS, GROUP, PAGE, Sample

CLOCK = 3.0e9
KI, MI = 1024, 1024**2


def stream(cycles, *, size, extra=0, threads=1, busy=1.0):
    count = 1_000_000
    return Sample(
        kind="stream", threads=threads, extra=extra, bytes=size,
        seconds=cycles * count / CLOCK, count=count, busy=busy,
    )  # fmt: skip


def test_clock_is_that_of_the_fastest_chain():
    chains = [
        Sample(kind="clock", threads=2, extra=0, bytes=0, seconds=s, count=3_000_000, busy=1.0)
        for s in (1.0e-3, 1.02e-3, 1.5e-3)
    ]
    clock, spread = reduce.clock(chains)
    assert clock == pytest.approx(CLOCK)
    assert spread > 0


def test_contended_samples_do_not_count_beside_others():
    samples = [stream(2.0, size=64 * KI), stream(0.5, size=64 * KI, busy=0.5)]
    (curve,) = reduce.curves(samples, CLOCK)
    assert curve.bandwidth == (pytest.approx(GROUP / 2.0),)
    (alone,) = reduce.curves(samples[1:], CLOCK)
    assert alone.bandwidth == (pytest.approx(GROUP / 0.5),)


def test_curves_are_apart_by_threads_and_ascend():
    samples = [
        stream(cycles, size=size, threads=threads)
        for threads, factor in ((1, 1), (2, 2))
        for size, cycles in ((MI, 4.0 * factor), (16 * KI, 1.0 * factor))
    ]
    one, two = reduce.curves(samples, CLOCK)
    assert one.working_set == two.working_set == (16 * KI, MI)
    assert one.bandwidth == pytest.approx((64, 16))
    assert two.bandwidth == pytest.approx((32, 8))


def test_barrier_is_the_lower_quartile():
    samples = [
        Sample(kind="barrier", threads=2, extra=0, bytes=0, seconds=s, count=1000, busy=1.0)
        for s in (3e-4, 3e-4, 3e-4, 9e-4)
    ]
    assert reduce.barriers(samples) == {2: pytest.approx(3e-7)}


@given(
    share=st.floats(0, 1),
    beside=st.floats(1, 20),
    transfer=st.floats(1, 20),
    noise=st.floats(0.5, 2.0),
)
def test_a_planted_exposed_share_is_found(share, beside, transfer, noise):
    both = max(beside, transfer) + share * min(beside, transfer)
    rounds = [
        [
            stream(beside * f, size=PAGE, extra=8),
            stream(transfer * f, size=MI),
            stream(both * f, size=MI, extra=8),
        ]
        for f in (1.0, noise, 1.0)
    ]
    found = reduce.exposed(rounds, {"L2": (8, MI)}, PAGE)
    assert found == {"L2": pytest.approx(share, abs=1e-6)}


def test_the_exposed_share_stays_within_its_bounds():
    def of(both):
        samples = [
            stream(4.0, size=PAGE, extra=4),
            stream(4.0, size=MI),
            stream(both, size=MI, extra=4),
        ]
        return reduce.exposed([samples], {"L2": (4, MI)}, PAGE)["L2"]

    assert of(3.0) == 0.0
    assert of(9.0) == 1.0


def test_work_beside_a_stream_is_chosen_as_long_as_the_stream():
    samples = [stream((2 + extra) / 2, size=PAGE, extra=extra) for extra in EXTRAS]
    samples.append(stream(9.1, size=64 * MI))
    assert reduce.extra_loads(samples, 64 * MI, PAGE) == 16


def test_thread_counts():
    assert plan.thread_counts(1) == (1,)
    assert plan.thread_counts(4) == (1, 2, 3, 4)
    assert plan.thread_counts(24) == (1, 2, 3, 4, 8, 16, 24)
    assert plan.thread_counts(64) == (1, 2, 3, 4, 8, 16, 32, 64)


@pytest.mark.parametrize("name", ["zen3-epyc-guest", "haswell-xeon-2s", "cortex-a72-no-sizes"])
def test_a_plan_reaches_from_l1_into_memory(host, name):
    machine = detect(host(name))
    made = plan.make(machine, 45.0, None)
    assert {1, machine.cores} <= set(made.threads)
    for threads, sizes in made.sizes.items():
        assert sizes[0] < machine.caches[0].size
        last = machine.caches[-1]
        assert sizes[-1] * min(threads, last.cores) >= 4 * last.size
        assert all(size % PAGE == 0 for size in sizes)
        assert list(sizes) == sorted(set(sizes))
    assert made.sizes[1][-1] >= 64 * MI
    assert made.sample >= 0.01
    assert set(made.levels) == {c.name for c in machine.caches[1:]} | {"MEM"}


def test_a_plan_respects_little_memory_and_a_little_budget(host):
    machine = detect(host("zen3-epyc-guest"))
    small = plan.make(machine, 1.0, 64 * MI)
    assert max(threads * sizes[-1] for threads, sizes in small.sizes.items()) <= 16 * MI
    assert small.cost < plan.make(machine, 45.0, None).cost
