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
    interval,
    location,
    locations,
    locations_of,
    noise_floor,
    ordered_pairs,
    ratio,
    repeatability,
    skill,
)

TIME = st.sampled_from([1.0, 1.2, 1.5, 2.0, 3.0])
TABLE = st.fixed_dictionaries(
    {problem: st.fixed_dictionaries(dict.fromkeys("abcd", TIME)) for problem in "pqr"}
)

# --- locations ----------------------------------------------------------------------------------


@settings(max_examples=30)
@given(st.lists(st.lists(st.floats(0.1, 9), min_size=3, max_size=3), min_size=1, max_size=4))
def test_locations_of_rows_are_those_of_each(rows: list[list[float]]) -> None:
    assert locations_of(rows).tolist() == [location(row) for row in rows]


@pytest.mark.parametrize(
    ("times", "expected"),
    [([2.0], 2.0), ([1.0, 2.0], 1.25), ([4.0, 1.0, 2.0, 3.0, 5.0], 2.0), ([1.0, 2.0, 3.0], 1.5)],
)
def test_the_location_is_the_lower_quartile(times: list[float], expected: float) -> None:
    assert location(times) == pytest.approx(expected)


def test_candidates_are_compared_over_as_many_samples_as_all_have() -> None:
    times = {"a": [3.0, 2.0, 0.1], "b": [1.0, 1.5], "c": []}
    assert locations(times) == {"a": pytest.approx(2.25), "b": pytest.approx(1.125)}
    assert locations({}) == {}


def test_repeatability_is_the_deviation_of_logarithms() -> None:
    launches = [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]
    assert repeatability(launches) == {
        name: pytest.approx(math.log(2)) for name in ("minimum", "lower quartile", "median")
    }


# --- intervals ----------------------------------------------------------------------------------


def test_the_interval_of_equal_launches_is_their_location() -> None:
    launches = [[1.0, 2.0, 3.0]] * 4
    together = location([1.0, 2.0, 3.0] * 4)
    assert interval(launches) == (together, together)


def test_launches_of_unequal_numbers_of_samples_are_drawn_whole() -> None:
    low, high = interval([[1.0], [1.0, 1.0, 1.0], [2.0, 2.0], [1.0]], draws=300) or (0, 0)
    assert low == 1.0
    assert 1.0 < high <= 2.0


@settings(max_examples=20)
@given(st.integers(0, 100), st.floats(0.01, 100))
def test_intervals_scale_and_those_of_a_larger_share_hold_the_others(
    seed: int, factor: float
) -> None:
    launches = np.random.default_rng(seed).uniform(1, 2, (6, 3))
    narrow, wide = (interval(list(launches), share=share, draws=100) for share in (0.5, 0.95))
    scaled = interval(list(factor * launches), share=0.5, draws=100)
    assert narrow is not None
    assert wide is not None
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
    assert scaled == pytest.approx((factor * narrow[0], factor * narrow[1]))


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_intervals_of_many_launches_hold_the_truth_as_often_as_they_say(share: float) -> None:
    """One sample a launch: the location of very many is the lower quartile of the distribution."""
    chance = np.random.default_rng(41)
    truth = math.exp(0.1 * float(scipy.stats.norm.ppf(0.25)))
    runs, held = 100, 0
    for seed in range(runs):
        launches = np.exp(0.1 * chance.normal(size=(40, 1)))
        low, high = interval(list(launches), share=share, draws=150, seed=seed) or (0, 0)
        held += low <= truth <= high
    least, most = (float(scipy.stats.binom.ppf(q, runs, share)) for q in (0.001, 0.999))
    assert least - 4 <= held <= most + 4, "the bootstrap itself is off by a few per cent"


# --- ratios and floors --------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    st.dictionaries(st.integers(0, 5), st.lists(TIME, max_size=3)),
    st.dictionaries(st.integers(0, 5), st.lists(TIME, max_size=3)),
)
def test_the_ratio_is_the_median_over_common_rounds(
    first: dict[int, list[float]], second: dict[int, list[float]]
) -> None:
    ratios = []
    for number in first.keys() & second.keys():
        count = min(len(first[number]), len(second[number]))
        if count:
            ratios.append(location(first[number][:count]) / location(second[number][:count]))
    value, back = ratio(first, second), ratio(second, first)
    if not ratios:
        assert value is back is None
    else:
        assert value == pytest.approx(float(np.median(ratios)))


Rounds = Mapping[str, Mapping[int, Sequence[float]]]


def floor_by_hand(rounds: Rounds, numbers: list[int]) -> list[float]:
    """The losses of choosing in one half of an even number of rounds, scored in the other."""
    half = len(numbers) // 2
    losses = []
    for choose, score in ((numbers[:half], numbers[half:]), (numbers[half:], numbers[:half])):
        times = [
            {n: location([t for k in part for t in rounds[n][k]]) for n in rounds}
            for part in (choose, score)
        ]
        chosen = min(sorted(rounds), key=lambda name: times[0][name])
        losses.append(times[1][chosen] / min(times[1].values()) - 1)
    return losses


@settings(max_examples=30)
@given(st.integers(0, 1000))
def test_the_noise_floor_is_the_loss_of_choosing_in_the_other_half(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rounds = {n: {k: chance.uniform(1, 2, 2).tolist() for k in range(4)} for n in "abc"}
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
