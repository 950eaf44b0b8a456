"""Printed times that hold what their program waited for a CPU, and such that do not."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.results import Measurement, Sample
from autotune.results.evaluate.comparable import comparable_measurements
from autotune.statistics.launch_times import (
    by_launch,
    candidate_time,
    interval,
    launch_time,
    time_of,
)
from autotune.statistics.waiting import (
    PART,
    SPREAD,
    Holds,
    holds_waiting,
    least_disturbed,
    losses,
)
from autotune.units import Seconds

CLOCKS = ["wall", "cpu"]


def made_run(
    printed: Sequence[float], *, cpu: float, waited: float, launch: int = 0, run: int = 0
) -> list[Sample]:
    """The samples of a run of one thread that never slept."""
    wall = cpu + waited
    busy = 1 - waited / wall
    return [
        Sample(
            seconds=Seconds(seconds), steps=1, busy=busy, undisturbed=busy >= 0.95,
            launch=launch, round=launch, taken=f"{launch} {run}",
            conditions={
                "threads": 1, PART: seconds / wall, "wall_s": wall, "cpu_s": cpu, "waited_s": waited
            },
        )
        for seconds in printed
    ]  # fmt: skip


def under_load(
    chance: np.random.Generator,
    clock: str,
    work: float,
    *,
    load: float = 2.0,
    outside: float = 0.3,
    count: int = 1,
    launches: int = 6,
    runs: int = 3,
) -> list[Sample]:
    """Samples of a program that works so many seconds for each of ``count`` times that it prints,
    and ``outside`` of that besides; ``load`` seconds are waited for each of work, in slices.
    """
    samples = []
    for launch in range(launches):
        for run in range(runs):
            parts = work * np.exp(0.01 * chance.normal(size=count))
            rest = outside * work * count * math.exp(0.01 * chance.normal())
            edges = np.cumsum([rest, *parts])
            slices = chance.poisson(load * edges[-1] / 0.004)
            at = chance.uniform(0, edges[-1], size=slices)
            waits = chance.exponential(0.004, size=slices)
            within = [waits[(at >= a) & (at < b)].sum() for a, b in itertools.pairwise(edges)]
            printed = parts + (np.array(within) if clock == "wall" else 0.0)
            samples += made_run(
                printed.tolist(), cpu=float(edges[-1]), waited=float(waits.sum()),
                launch=launch, run=run,
            )  # fmt: skip
    return samples


# --- whether they hold it -----------------------------------------------------------------------


@pytest.mark.parametrize("outside", [0.05, 0.3, 2.0])
@pytest.mark.parametrize(("clock", "wrong"), [("wall", "no"), ("cpu", "yes")])
def test_the_clock_of_a_program_is_told_by_its_runs(
    clock: str, wrong: Holds, outside: float
) -> None:
    """Mostly, and it is never taken for the other one. Of a program that does most of its work
    outside of what it prints, little of the waiting is in its times.
    """
    chance = np.random.default_rng(1)
    told = [
        holds_waiting(
            [under_load(chance, clock, work, outside=outside) for work in (0.01, 0.011, 0.012)]
        )
        for _ in range(40)
    ]
    assert told.count(wrong) == 0
    assert outside > 1 or told.count("unsure") <= 4


def test_times_beyond_the_cpu_time_hold_waiting() -> None:
    assert holds_waiting([made_run([2.0], cpu=1.1, waited=1.0)]) == "yes"


def test_one_disturbed_run_says_nothing_against_it() -> None:
    assert holds_waiting([made_run([1.0], cpu=1.1, waited=1.0)]) == "yes"


def test_few_runs_leave_it_open() -> None:
    both = [s for k in range(2) for s in made_run([1.0], cpu=1.1, waited=1.0 + k, run=k)]
    assert holds_waiting([both]) == "unsure"


def test_a_steady_wait_leaves_it_open_however_many_runs_there_are() -> None:
    """Times of each candidate agree as well with it as without."""
    runs = [s for k in range(50) for s in made_run([1.0], cpu=1.1, waited=2.0, run=k)]
    assert holds_waiting([runs, runs]) == "unsure"


def test_undisturbed_runs_need_no_answer() -> None:
    runs = [s for k in range(9) for s in made_run([1.0 + k / 9], cpu=2.1, waited=0.0, run=k)]
    assert holds_waiting([runs]) == holds_waiting([]) == "yes"


def test_times_that_no_program_printed_hold_it() -> None:
    runs = [s for k in range(9) for s in made_run([1.0], cpu=1.1, waited=1.0 + k, run=k)]
    assert holds_waiting([runs]) == "no"
    ours = [replace(s, conditions={"threads": 1}) for s in runs]
    assert holds_waiting([ours]) == "yes"
    warm_ups = [replace(s, warm_up=True) for s in runs]
    assert holds_waiting([warm_ups]) == "yes"


def test_what_disturbed_samples_lost_is_that_of_their_runs() -> None:
    lost = losses([*made_run([1.0], cpu=1.0, waited=1.0), *made_run([1.0], cpu=1.0, waited=0.01)])
    assert lost == pytest.approx([math.log(2), 0.0])


# --- what follows -------------------------------------------------------------------------------


def programs(seed: int, load: float, outside: float) -> list[Measurement]:
    """Three programs that print CPU time, by the seconds that they work."""
    chance = np.random.default_rng(seed)
    return [
        Measurement(
            candidate=str(work), run="r", status="ok",
            samples=tuple(under_load(chance, "cpu", work, load=load, outside=outside)),
        )
        for work in (0.010, 0.011, 0.012)
    ]  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.5, 6), st.floats(0.05, 2))
def test_cpu_times_are_reported_within_their_samples(
    seed: int, load: float, outside: float
) -> None:
    """And near what the programs work, whatever load there is."""
    measurements = programs(seed, load, outside)
    compared = comparable_measurements("r", measurements)
    assert compared is not None
    if holds_waiting([m.samples for m in measurements]) != "no":
        return  # few runs may leave it open
    for measurement in measurements:
        seconds = [sample.seconds for sample in measurement.samples]
        name = measurement.candidate
        assert min(seconds) <= compared.times[name] <= max(seconds)
        low, high = compared.intervals[name]
        # an interval of 90 % misses some, by a part of its width
        assert low - (high - low) / 2 <= float(name) <= high + (high - low) / 2


def test_intervals_of_cpu_times_hold_what_programs_work() -> None:
    held = []
    for seed in range(30):
        compared = comparable_measurements("r", programs(seed, 0.5 + seed / 6, 0.05 + seed / 16))
        assert compared is not None
        held += [low <= float(name) <= high for name, (low, high) in compared.intervals.items()]
    assert sum(held) >= 0.9 * len(held)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(CLOCKS), st.integers(0, 10_000), st.floats(0, 6), st.integers(1, 3))
def test_no_time_is_below_what_the_least_disturbed_samples_took_at_least(
    clock: str, seed: int, load: float, count: int
) -> None:
    """By more than the spread of samples, whatever is known of the clock."""
    samples = under_load(np.random.default_rng(seed), clock, 0.01, load=load, count=count)
    bounds = least_disturbed(samples)
    if bounds is None:
        return
    low, high = bounds
    assert low <= high <= min(s.seconds for s in samples) * (1 + 1e-9)
    for holds in ("yes", "no", "unsure"):
        launches = list(by_launch(samples, holds).values())
        span = interval(launches)
        assert span is not None
        assert candidate_time(launches) >= low * math.exp(-SPREAD) * (1 - 1e-9)
        assert span[1] >= low
        if holds == "unsure":
            assert span[1] >= min(s.seconds for s in samples)


@pytest.mark.parametrize("holds", ["yes", "no", "unsure"])
def test_undisturbed_launches_are_what_they_were(holds: Holds) -> None:
    """The lower quartile of each, whatever is said of the clock."""
    times = enumerate((1.3, 1.1, 1.0, 1.2))
    samples = [s for k, t in times for s in made_run([t], cpu=1.5, waited=0.02, run=k)]
    (launch,) = by_launch(samples, holds).values()
    assert launch == launch_time(samples)
    assert (launch.seconds, launch.lost, launch.error, launch.above) == (1.0, 0.0, 0.0, 0.0)


def test_where_the_clock_is_unknown_the_interval_holds_the_times_as_they_are() -> None:
    samples = [s for k in range(4) for s in made_run([1.0], cpu=1.1, waited=2.0, launch=k)]
    assert holds_waiting([samples]) == "unsure"
    span = interval(list(by_launch(samples).values()))
    assert span is not None
    assert time_of(samples) < 1.0
    assert span[1] >= 1.0


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_candidate_that_waited_more_is_as_fast(clock: str) -> None:
    """Both do the same work, and one waits three times as much."""
    chance = np.random.default_rng(7)
    ratios = []
    for _ in range(60):
        more, less = (under_load(chance, clock, 0.02, load=load) for load in (3.0, 1.0))
        holds = holds_waiting([more, less])
        times = [candidate_time(list(by_launch(s, holds).values())) for s in (more, less)]
        ratios.append(math.log(times[0] / times[1]))
    assert abs(float(np.mean(ratios))) < 0.03


def test_a_run_that_waited_little_tells_what_the_others_took() -> None:
    """That which waited half its time outside of what it printed is no faster for it."""
    calm = made_run([1.0], cpu=1.4, waited=0.08, launch=0)
    busy = made_run([1.0], cpu=1.4, waited=1.4, launch=1)
    low, high = least_disturbed([*calm, *busy]) or (0, 0)
    assert (low, high) == pytest.approx((0.92, 1.0))
    raised = by_launch([*calm, *busy], "yes")[1]
    assert raised.seconds == pytest.approx(0.92 * math.exp(-SPREAD))
    assert raised.error >= math.log(1 / 0.92) / 2


def test_what_waited_within_the_samples_because_there_was_no_time_outside() -> None:
    """A process that is timed from its start to its end waited all of it there."""
    assert least_disturbed(made_run([3.0], cpu=1.0, waited=2.0)) == pytest.approx((1.0, 1.0))


def test_of_several_threads_it_is_unknown_what_the_least_disturbed_took() -> None:
    (sample,) = made_run([1.0], cpu=1.1, waited=0.5)
    threaded = replace(sample, conditions={**sample.conditions, "threads": 2})
    assert least_disturbed([threaded]) is None
    assert least_disturbed([replace(sample, conditions={PART: 0.5})]) is None
