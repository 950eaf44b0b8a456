"""The time of a launch from samples that other processes may have disturbed."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.results import Sample
from autotune.statistics.launch_times import (
    MUST_AGREE,
    POLLUTION,
    LaunchTime,
    by_launch,
    by_round,
    candidate_time,
    interval,
    launch_time,
    time_of,
    weighted_quantile,
)
from autotune.statistics.waiting import PART, without_losses
from autotune.units import Seconds


def sample(seconds: float, busy: float = 1.0, *, threads: int = 1, **changes: object) -> Sample:
    settings: dict[str, object] = {
        "launch": 0,
        "round": 0,
        "warm_up": False,
        "taken": "t",
        **changes,
    }
    conditions = {"threads": threads, **settings.pop("conditions", {})}  # type: ignore[dict-item]
    return Sample(
        seconds=Seconds(seconds), steps=1, busy=busy, undisturbed=busy >= 0.95,
        conditions=conditions, **settings,  # type: ignore[arg-type]
    )  # fmt: skip


# --- one launch -------------------------------------------------------------------------------


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=9))
def test_undisturbed_samples_give_their_lower_quartile(seconds: list[float]) -> None:
    launch = launch_time([sample(value) for value in seconds])
    assert launch.seconds == sorted(seconds)[math.ceil(len(seconds) / 4) - 1]
    assert (launch.lost, launch.error) == (0, 0)


def test_one_thread_that_waited_half_the_time_took_half_as_long() -> None:
    launch = launch_time([sample(2.0, 0.5)])
    assert launch.seconds == pytest.approx(1.0)
    assert launch.lost == pytest.approx(math.log(2))
    assert launch.error == 0, "one thread waits or does not"


def test_waits_of_two_threads_overlap_or_not() -> None:
    """They lost a quarter of their time: the sample took 3/4 or 1/2 of its time without that."""
    times, errors = without_losses(np.array([1.0]), np.array([0.75]), 2)
    assert times == pytest.approx([math.sqrt(0.75 * 0.5)])
    assert errors == pytest.approx([math.log(0.75 / 0.5) / 2])


@given(st.floats(0.01, 1), st.integers(1, 64))
def test_no_sample_would_have_taken_longer_undisturbed(busy: float, threads: int) -> None:
    times, errors = without_losses(np.array([1.0]), np.array([busy]), threads)
    assert 0 < times[0] <= 1
    assert errors[0] >= 0


def test_more_cpu_time_than_possible_is_a_full_share() -> None:
    times, _ = without_losses(np.array([1.0]), np.array([1.02]), 2)
    assert times[0] == 1


def test_one_undisturbed_sample_outweighs_many_disturbed_ones_of_two_threads() -> None:
    launch = launch_time([sample(1.0, threads=2), *[sample(9.0, 0.4, threads=2)] * 8])
    assert launch.seconds == pytest.approx(1.0, rel=0.15)
    assert launch.error < 0.1


def test_a_launch_of_disturbed_samples_says_how_unsure_it_is() -> None:
    launch = launch_time([sample(9.0, 0.4, threads=2)] * 8)
    assert launch.error > 0.2


def test_a_sample_that_lost_next_to_nothing_counts_as_it_is() -> None:
    launch = launch_time([sample(1.0, 0.97, threads=2)])
    assert (launch.seconds, launch.lost) == (1.0, 0.0)
    assert 0 < launch.error < 0.03


def part(seconds: float, busy: float, of_run: float = 0.1, **changes: object) -> Sample:
    return sample(seconds, busy, conditions={PART: of_run}, **changes)


def test_parts_of_a_disturbed_run_fall_between_the_disturbances() -> None:
    """They are half of the run, and took 1.56 on average without what they lost."""
    launch = launch_time([part(t, 0.3) for t in (1.0, 9.0, 1.002, 7.0, 8.0)])
    assert (launch.seconds, launch.error) == (1.0, 0.01)


def test_the_smallest_part_is_the_less_sure_the_further_it_is_above_the_mean() -> None:
    """The mean of 2.0 without the losses is 1.8, and 15 % unsure."""
    launch = launch_time([part(2.0, 0.9, of_run) for of_run in (0.3, 0.36)])
    assert launch.seconds == 2.0
    assert launch.error == pytest.approx(math.log(2 / 1.8) / 2)


def test_where_all_parts_were_disturbed_their_mean_without_the_losses_counts() -> None:
    """Slices of the scheduler are alike: that the parts agree does not say that they ran alone."""
    launch = launch_time([part(t, 0.3, 0.2) for t in (3.01, 3.0, 3.0, 3.0, 3.02)])
    assert launch.seconds == pytest.approx(0.3 * 3.006)
    assert launch.lost == pytest.approx(-math.log(0.3))
    assert launch.error == 0.03, "the parts are the whole run, so that its share is theirs"


@given(st.floats(0.05, 0.94), st.integers(1, 9), st.floats(0.01, 0.15))
def test_no_part_would_have_taken_longer_undisturbed(busy: float, n: int, of_run: float) -> None:
    launch = launch_time([part(1.0 + k / 9, busy, of_run / n) for k in range(n)])
    assert busy * (1 - 1e-9) <= launch.seconds <= 1.0


def test_the_less_of_a_run_its_parts_are_the_less_is_known() -> None:
    errors = [launch_time([part(2.0, 0.3, p)]).error for p in (0.79, 0.6, 0.4)]
    assert errors == pytest.approx([0.3 * 0.21 / 0.79, 0.3 * 0.4 / 0.6, 0.3 * 0.6 / 0.4])


def test_next_to_nothing_of_a_run_says_next_to_nothing_of_its_share() -> None:
    launch = launch_time([part(2.0, 0.3, 0.01), part(7.0, 0.3, 0.01)])
    assert launch.seconds == 2.0
    assert launch.error == pytest.approx(math.log(2.0 / (0.3 * 4.5)) / 2)


def test_of_parts_of_several_runs_those_of_undisturbed_runs_decide() -> None:
    calm = [part(t, 1.0, taken="late") for t in (1.0, 1.1, 1.2, 1.3)]
    launch = launch_time([*(part(t, 0.3) for t in (0.99, 3.0)), *calm])
    assert (launch.seconds, launch.error) == (1.0, 0.0)


def test_parts_of_two_runs_are_held_against_both() -> None:
    both = [part(3.0, 0.3, 0.6, taken=run) for run in ("first", "second")]
    assert launch_time(both).error == pytest.approx(0.3 * 0.4 / 0.6)


def test_of_values_that_are_no_times_the_smallest_counts_and_the_next_says_how_sure() -> None:
    launch = launch_time([part(t, 0.3, 0.0) for t in (2.0, 4.0, 9.0)])
    assert launch.seconds == 2.0
    assert launch.error == pytest.approx(math.log(2) / 2)
    assert launch_time([part(2.0, 0.3, 0.0)]).error == pytest.approx(math.log(1 / 0.3))


def test_parts_of_an_undisturbed_run_give_the_lower_quartile() -> None:
    launch = launch_time([part(t, 1.0) for t in (1.3, 1.1, 1.0, 1.2)])
    assert (launch.seconds, launch.error) == (1.0, 0.0)


# --- launches and rounds ------------------------------------------------------------------------


def test_samples_are_grouped_by_launch_and_by_round_without_warm_ups() -> None:
    taken = [
        sample(9.0, warm_up=True),
        sample(1.0),
        sample(2.0, launch=1, round=3),
        sample(7.0, launch=2, round=4, warm_up=True),
    ]
    assert {k: x.seconds for k, x in by_launch(taken).items()} == pytest.approx({0: 1.0, 1: 2.0})
    assert {k: x.seconds for k, x in by_round(taken).items()} == pytest.approx({0: 1.0, 3: 2.0})


@pytest.mark.parametrize("name", MUST_AGREE)
def test_samples_of_different_conditions_do_not_compare(name: str) -> None:
    mixed = [sample(1.0, conditions={name: 1}), sample(1.0, conditions={name: 2})]
    with pytest.raises(ValueError, match=f"taken with different {name} do not compare: 1 and 2"):
        by_launch(mixed)


def test_the_time_of_a_candidate_is_the_geometric_mean_of_its_launches() -> None:
    assert time_of([sample(1.0), sample(4.0, launch=1)]) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="no launches"):
        candidate_time([])


def test_sure_launches_count_more() -> None:
    assert candidate_time([LaunchTime(1.0), LaunchTime(9.0, error=1.0)]) < 1.01


# --- intervals --------------------------------------------------------------------------------


def test_an_interval_needs_three_launches() -> None:
    assert interval([LaunchTime(1.0), LaunchTime(2.0)]) is None


def test_an_interval_is_students_of_the_mean_logarithm() -> None:
    """Logarithms 0, 0.1, 0.2: mean 0.1, standard deviation 0.1, t(2) = 2.920 at 90 %."""
    bounds = interval([LaunchTime(math.exp(log)) for log in (0.0, 0.1, 0.2)])
    half = 2.920 * 0.1 / math.sqrt(3)
    assert bounds == pytest.approx((math.exp(0.1 - half), math.exp(0.1 + half)), rel=1e-3)


def test_an_interval_counts_what_disturbed_launches_lose_besides() -> None:
    low, high = interval([LaunchTime(1.0, lost=1.0)] * 5) or (0, 0)
    assert math.log(high) == pytest.approx(2.132 * POLLUTION, rel=1e-3)
    assert low * high == pytest.approx(1)


def truth_held(generator: np.random.Generator, launches: int) -> bool:
    logs = generator.normal(0, 0.05, size=launches)
    low, high = interval([LaunchTime(math.exp(log)) for log in logs]) or (0, 0)
    return low <= 1 <= high


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    generator = np.random.default_rng(3)
    held = sum(truth_held(generator, 5) for _ in range(400))
    assert 0.86 <= held / 400 <= 0.94


# --- weighted quantiles -------------------------------------------------------------------------


@given(
    st.lists(st.floats(-100, 100), min_size=1, max_size=9),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)
def test_equal_weights_give_the_usual_quantile(values: Sequence[float], share: float) -> None:
    result = weighted_quantile(np.array(values), np.full(len(values), 3.0), share)
    assert result == pytest.approx(float(np.quantile(values, share)), abs=1e-9)


def test_a_heavy_value_is_the_quantile() -> None:
    values, weights = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1e6, 1.0])
    assert weighted_quantile(values, weights, 0.4) == pytest.approx(2.0, abs=0.5)
