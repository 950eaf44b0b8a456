"""Noise floors, ratios and constant rules against brute force; intervals by simulation."""

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.statistics.estimators import (
    constant_losses,
    constant_rule,
    deviation,
    location,
    noise_floor,
    ordered_pairs,
    ratio,
    skill,
)
from autotune.statistics.launch_times import LaunchTime, candidate_time, interval

TIME = st.sampled_from([1.0, 1.2, 1.5, 2.0, 3.0])
TABLE = st.fixed_dictionaries(
    {problem: st.fixed_dictionaries(dict.fromkeys("abcd", TIME)) for problem in "pqr"}
)

# --- locations ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "expected"),
    [([2.0], 2.0), ([1.0, 2.0], 1.25), ([4.0, 1.0, 2.0, 3.0, 5.0], 2.0), ([1.0, 2.0, 3.0], 1.5)],
)
def test_the_location_is_the_lower_quartile(times: list[float], expected: float) -> None:
    assert location(times) == pytest.approx(expected)


# --- intervals ----------------------------------------------------------------------------------


def test_the_interval_of_equal_launches_is_their_time() -> None:
    assert interval([LaunchTime(1.5)] * 4) == pytest.approx((1.5, 1.5))


@settings(max_examples=20)
@given(st.integers(0, 100), st.floats(0.01, 100))
def test_intervals_scale_and_those_of_a_larger_share_hold_the_others(
    seed: int, factor: float
) -> None:
    times = np.random.default_rng(seed).uniform(1, 2, 6).tolist()
    launches = [LaunchTime(time) for time in times]
    narrow, wide = (interval(launches, share) for share in (0.5, 0.95))
    scaled = interval([LaunchTime(factor * time) for time in times], 0.5)
    assert narrow is not None
    assert wide is not None
    assert wide[0] < narrow[0] <= candidate_time(launches) <= narrow[1] < wide[1]
    assert scaled == pytest.approx((factor * narrow[0], factor * narrow[1]))


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("launches", [3, 40])
def test_intervals_hold_the_truth_as_often_as_they_say(share: float, launches: int) -> None:
    chance = np.random.default_rng(41)
    runs, held = 400, 0
    for _ in range(runs):
        times = [LaunchTime(math.exp(x)) for x in 0.1 * chance.normal(size=launches)]
        low, high = interval(times, share) or (0, 0)
        held += low <= 1 <= high
    least, most = (float(scipy.stats.binom.ppf(q, runs, share)) for q in (0.001, 0.999))
    assert least <= held <= most


# --- ratios and floors --------------------------------------------------------------------------


LAUNCHES = st.dictionaries(st.integers(0, 5), TIME.map(LaunchTime))


@settings(max_examples=40)
@given(LAUNCHES, LAUNCHES)
def test_the_ratio_is_the_median_over_common_rounds(
    first: dict[int, LaunchTime], second: dict[int, LaunchTime]
) -> None:
    ratios = [first[k].seconds / second[k].seconds for k in first.keys() & second.keys()]
    value, back = ratio(first, second), ratio(second, first)
    if not ratios:
        assert value is back is None
    else:
        assert value == pytest.approx(float(np.median(ratios)))


Rounds = Mapping[str, Mapping[int, LaunchTime]]


def floor_by_hand(rounds: Rounds, numbers: list[int]) -> list[float]:
    """The losses of choosing in one half of an even number of rounds, scored in the other."""
    half = len(numbers) // 2
    losses = []
    for choose, score in ((numbers[:half], numbers[half:]), (numbers[half:], numbers[:half])):
        times = [
            {n: math.prod(rounds[n][k].seconds for k in part) ** (1 / half) for n in rounds}
            for part in (choose, score)
        ]
        chosen = min(sorted(rounds), key=lambda name: times[0][name])
        losses.append(times[1][chosen] / min(times[1].values()) - 1)
    return losses


@settings(max_examples=30)
@given(st.integers(0, 1000))
def test_the_noise_floor_is_the_loss_of_choosing_in_the_other_half(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rounds = {n: {k: LaunchTime(chance.uniform(1, 2)) for k in range(4)} for n in "abc"}
    floor, losses = noise_floor(rounds), floor_by_hand(rounds, [0, 1, 2, 3])
    assert floor is not None
    assert floor.mean == pytest.approx(np.mean(losses))
    assert floor.maximum == pytest.approx(max(losses))


# --- constant rules -----------------------------------------------------------------------------


@settings(max_examples=40)
@given(TABLE, st.integers(1, 3))
def test_the_constant_rule_has_the_least_mean_loss_of_all_lists(
    table: dict[str, dict[str, float]], k: int
) -> None:
    def mean_loss(names: Sequence[str]) -> float:
        return float(
            np.mean([min(row[n] for n in names) / min(row.values()) - 1 for row in table.values()])
        )

    rule = constant_rule(table, k)
    assert len(rule) == k
    least = min(mean_loss(names) for names in itertools.combinations("abcd", k))
    assert mean_loss(rule) == pytest.approx(least)


@settings(max_examples=40)
@given(TABLE, st.integers(1, 3))
def test_its_losses_are_on_problems_it_was_not_chosen_on(
    table: dict[str, dict[str, float]], k: int
) -> None:
    losses = constant_losses(table, k)
    assert set(losses) == set(table)
    for problem, row in table.items():
        others = {name: times for name, times in table.items() if name != problem}
        rule = constant_rule(others, k)
        assert losses[problem] == pytest.approx(min(row[n] for n in rule) / min(row.values()) - 1)


def test_a_list_of_all_variants_never_loses() -> None:
    table = {"p": {"a": 1.0, "b": 2.0}, "q": {"a": 2.0, "b": 1.0}}
    assert constant_losses(table, 2) == {"p": 0.0, "q": 0.0}
    assert skill([0.0, 0.0], [0.0, 0.0]) == 0.0


# --- predictions --------------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.lists(st.tuples(TIME, TIME), min_size=2, max_size=7), st.sampled_from([0.0, 0.05, 0.3]))
def test_ordered_pairs_are_counted_over_pairs_that_are_apart(
    pairs: list[tuple[float, float]], apart: float
) -> None:
    points = []
    for (a, b), (c, d) in itertools.combinations(pairs, 2):
        if max(b, d) > (1 + apart) * min(b, d):
            points.append(0.5 if a == c else float((a < c) == (b < d)))
    value = ordered_pairs([a for a, _ in pairs], [b for _, b in pairs], apart)
    assert value == (pytest.approx(np.mean(points)) if points else None)


def test_deviations_are_relative_to_what_was_measured() -> None:
    assert deviation(1.5, 1.0) == pytest.approx(0.5)
    assert deviation(1.0, 2.0) == pytest.approx(-0.5)
