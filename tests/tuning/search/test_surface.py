"""The posterior of one objective: compression, levels of problems, hints, what is forgotten."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.tuning.search.parameter_levels import levels
from autotune.tuning.search.points import Floats
from autotune.tuning.search.surface import Observation, Posterior, Surface
from autotune.tuning.search.time_compression import Bend

ROWS = tuple(itertools.product(range(6), "abc"))
COUNT = len(ROWS)
NOBODY = np.empty(0, dtype=np.intp)
TRUTH = np.array([0.02 * (n - 3) ** 2 + {"a": 0.0, "b": 0.3, "c": 0.1}[t] for n, t in ROWS])
"""Logarithms of times."""


def surface(predicted: Floats | None = None, problems: int = 1) -> Surface:
    unknown = np.full(problems * COUNT, np.nan)
    rows = [(*row, problem) for problem in range(problems) for row in ROWS]
    return Surface(
        levels=levels(rows),
        group=np.repeat(np.arange(problems), COUNT),
        columns=np.arange(problems * COUNT),
        predicted=unknown if predicted is None else predicted,
        sigma=unknown,
        seed=1,
    )


def learned(made: Surface, values: Floats, rows: range, noise: float = 1e-6) -> Surface:
    for row in rows:
        made.learn(Observation(row=row, value=float(values[row]), noise=noise))
    return made


def log_times(posterior: Posterior, group: int = 0) -> Floats:
    return posterior.bends[group].up(posterior.mean)


# --- compression --------------------------------------------------------------------------------


def test_below_the_knee_nothing_is_bent() -> None:
    bend = Bend(knee=1.0)
    values = np.array([-5.0, 0.0, 1.0])
    assert bend.down(values).tolist() == bend.up(values).tolist() == values.tolist()
    assert bend.steepness(values).tolist() == [1.0, 1.0, 1.0]


def test_twice_the_median_enters_as_less_than_one_and_a_half_times() -> None:
    """0.3 log(1 + log(2) / 0.3) = 0.359."""
    assert Bend(knee=0.0).down(np.array([math.log(2)])) == pytest.approx([0.3591], abs=1e-4)


def test_without_a_knee_nothing_is_compressed() -> None:
    values = np.array([-1.0, 100.0])
    assert Bend().down(values).tolist() == values.tolist()
    assert Bend().steepness(values).tolist() == [1.0, 1.0]


@settings(max_examples=50)
@given(st.floats(-3, 3), st.lists(st.floats(-5, 5), min_size=1, max_size=5))
def test_what_is_bent_is_bent_back_and_keeps_its_order(knee: float, values: list[float]) -> None:
    bend, ascending = Bend(knee=knee), np.sort(values)
    bent = bend.down(ascending)
    assert np.all(np.diff(bent) >= 0)
    assert np.all(bent <= ascending + 1e-12)
    assert bend.up(bent) == pytest.approx(ascending, abs=1e-9)


def test_the_steepness_is_the_slope_of_what_is_bent_back() -> None:
    bend, at, step = Bend(knee=0.5), np.array([0.0, 0.6, 1.0, 1.5]), 1e-6
    slope = (bend.up(at + step) - bend.up(at - step)) / (2 * step)
    assert bend.steepness(at) == pytest.approx(slope, rel=1e-5)


# --- without a model ----------------------------------------------------------------------------


def test_what_was_observed_is_expected_where_it_was() -> None:
    made = learned(surface(), TRUTH, range(0, COUNT, 2))
    posterior = made.posterior(NOBODY)
    times = log_times(posterior)
    assert times[::2] == pytest.approx(TRUTH[::2], abs=0.03)
    assert posterior.sd[::2].mean() < posterior.sd[1::2].mean()


def test_what_was_not_observed_is_expected_from_its_neighbours() -> None:
    made = learned(surface(), TRUTH, range(0, COUNT, 2))
    left_out = log_times(made.posterior(NOBODY))[1::2] - TRUTH[1::2]
    assert np.sqrt(np.mean(left_out**2)) < 0.5 * np.std(TRUTH)


def test_a_common_factor_of_all_times_shifts_the_expectation_only() -> None:
    first, second = (
        learned(surface(), TRUTH + shift, range(0, COUNT, 2)).posterior(NOBODY)
        for shift in (0.0, 7.0)
    )
    assert log_times(second) == pytest.approx(log_times(first) + 7.0, abs=1e-6)
    assert second.sd == pytest.approx(first.sd, rel=1e-6)


def test_what_runs_counts_as_measured_at_what_is_expected() -> None:
    made = learned(surface(), TRUTH, range(0, COUNT, 2))
    before, after = made.posterior(NOBODY), made.posterior(np.array([1]))
    assert after.mean.tolist() == before.mean.tolist()
    assert after.sd[1] < 0.5 * before.sd[1]
    assert np.all(after.sd <= before.sd + 1e-12)


# --- what is learned ----------------------------------------------------------------------------


def test_a_later_observation_of_a_candidate_replaces_the_earlier() -> None:
    made = learned(surface(), TRUTH, range(0, COUNT, 2))
    made.posterior(NOBODY)
    made.learn(Observation(row=4, value=3.0, noise=1e-6))
    fresh = learned(surface(), TRUTH, range(0, COUNT, 2))
    fresh.learn(Observation(row=4, value=3.0, noise=1e-6))
    assert made.count == fresh.count == COUNT // 2
    assert log_times(made.posterior(NOBODY))[4] > 1.5


def test_who_failed_is_forgotten() -> None:
    spoilt = TRUTH.copy()
    spoilt[4] = -5.0
    made = learned(surface(), spoilt, range(0, COUNT, 2))
    made.posterior(NOBODY)
    made.forget(4)
    made.forget(5)
    assert made.count == COUNT // 2 - 1
    assert log_times(made.posterior(NOBODY))[4] > -0.5


def test_growing_by_one_is_nearly_the_same_as_all_at_once() -> None:
    grown, whole = surface(), learned(surface(), TRUTH, range(9))
    learned(grown, TRUTH, range(8))
    grown.update()
    learned(grown, TRUTH, range(8, 9))
    assert log_times(grown.posterior(NOBODY)) == pytest.approx(
        log_times(whole.posterior(NOBODY)), abs=0.1
    )


def test_equal_observations_give_equal_posteriors() -> None:
    first, second = (
        learned(surface(), TRUTH, range(0, COUNT, 3)).posterior(NOBODY) for _ in range(2)
    )
    assert first.mean.tolist() == second.mean.tolist()
    assert first.sd.tolist() == second.sd.tolist()


# --- with a model -------------------------------------------------------------------------------


def test_before_anything_is_measured_predictions_say_the_level_only() -> None:
    """Their weight is learned, and the search takes the first of them without a surface."""
    assert log_times(surface(TRUTH).posterior(NOBODY)).std() == pytest.approx(0.0, abs=1e-9)
    assert surface(TRUTH).posterior(NOBODY).mean[0] == pytest.approx(np.median(TRUTH))


def test_a_model_that_is_wrong_by_a_factor_is_right_after_a_few() -> None:
    made = learned(surface(TRUTH), TRUTH + math.log(3), range(0, COUNT, 4))
    assert log_times(made.posterior(NOBODY)) == pytest.approx(TRUTH + math.log(3), abs=0.02)


def test_a_model_that_is_wrong_about_one_value_is_corrected_there() -> None:
    wrong = TRUTH + np.array([0.5 if text == "b" else 0.0 for _, text in ROWS])
    made = learned(surface(TRUTH), wrong, range(0, 12))
    off = log_times(made.posterior(NOBODY)) - wrong
    assert np.abs(off[12:]).max() < 0.2


# --- several problems, other machines -----------------------------------------------------------


def test_what_is_learned_of_one_problem_orders_the_other() -> None:
    """The second takes e times as long; two of its candidates were measured."""
    truth = np.concatenate([TRUTH, TRUTH + 1.0])
    made = learned(surface(problems=2), truth, range(COUNT))
    learned(made, truth, range(COUNT, COUNT + 2))
    posterior = made.posterior(NOBODY)
    second = log_times(posterior, 1)[COUNT:]
    assert np.corrcoef(second, TRUTH)[0, 1] > 0.9
    assert second[0] == pytest.approx(truth[COUNT], abs=0.1)


def test_times_of_another_machine_order_the_candidates_but_are_not_theirs() -> None:
    made = surface()
    for row in range(COUNT):
        made.learn(Observation(row=row, value=float(TRUTH[row]) + 2.0, noise=1e-6, foreign=True))
    learned(made, TRUTH, range(0, COUNT, 6))
    assert made.count == COUNT + 3
    times = log_times(made.posterior(NOBODY))
    assert np.corrcoef(times, TRUTH)[0, 1] > 0.8
    assert times[::6] == pytest.approx(TRUTH[::6], abs=0.05)


# --- six candidates in a row, by hand -----------------------------------------------------------


def line(predicted: Floats | None = None, group: list[int] | None = None) -> Surface:
    unknown = np.full(6, np.nan)
    return Surface(
        levels=levels([(n,) for n in range(6)]),
        group=np.array(group or [0] * 6, dtype=np.intp),
        columns=np.arange(6),
        predicted=unknown if predicted is None else predicted,
        sigma=unknown,
        seed=1,
    )


def observation(row: int, value: float, noise: float = 0.0, foreign: bool = False) -> Observation:
    return Observation(row=row, value=value, noise=noise, foreign=foreign)


def test_times_above_the_knee_are_compressed() -> None:
    """0.3 above the knee enters as 0.3 log 2; the knee and all below stay."""
    bend = Bend(knee=1.0)
    values = np.array([-3.0, 1.0, 1.3, 1.9])
    expected = [-3.0, 1.0, 1.0 + 0.3 * math.log(2), 1.0 + 0.3 * math.log(4)]
    assert bend.down(values) == pytest.approx(expected)
    assert bend.up(np.array(expected)) == pytest.approx(values)


def test_the_way_back_ends_at_five_compressions() -> None:
    """Nothing was seen so far up: e^5 stays the largest factor."""
    bend = Bend(knee=0.0)
    assert bend.up(np.array([1.5])) == pytest.approx(bend.up(np.array([99.0])))
    assert bend.steepness(np.array([99.0])) == pytest.approx(math.exp(5))


def test_one_observation_moves_the_level_of_its_problem_and_of_the_others() -> None:
    """The factor between measured and predicted is taken to be common."""
    predicted = np.log([2.0, 2.0, 2.0, 5.0, 5.0, 5.0])
    made = line(predicted, [0, 0, 0, 1, 1, 1])
    made.learn(observation(1, predicted[1] + 0.4))
    assert made.count == 1
    assert made.posterior(NOBODY).mean == pytest.approx(predicted + 0.4)


def test_problems_have_levels_of_their_own() -> None:
    made = line(np.zeros(6), [0, 0, 0, 1, 1, 1])
    for row, value in ((0, 0.5), (1, 0.5), (3, -0.2), (4, -0.2)):
        made.learn(observation(row, value))
    assert made.posterior(NOBODY).mean == pytest.approx([0.5] * 3 + [-0.2] * 3)


def test_four_observations_without_a_model_are_compressed_above_their_median() -> None:
    made = line()
    for row, value in enumerate((0.0, 1.0, 2.0)):
        made.learn(observation(row, value))
    assert made.posterior(NOBODY).bends[0].knee == math.inf
    made.learn(observation(3, 3.0))
    posterior = made.posterior(NOBODY)
    assert posterior.bends[0].knee == 1.5
    seen = posterior.bends[0].up(posterior.mean)[:4]
    assert seen == pytest.approx([0.0, 1.0, 2.0, 3.0], abs=0.2)
    assert posterior.mean[3] == pytest.approx(1.5 + 0.3 * math.log(6), abs=0.1)


def hinted(predicted: Floats) -> float:
    """Correlation of what is expected with the truth, where nothing was measured."""
    made = Surface(
        levels=levels([(n,) for n in range(200)]),
        group=np.zeros(200, dtype=np.intp),
        columns=np.arange(200),
        predicted=predicted,
        sigma=np.full(200, np.nan),
        seed=1,
    )
    for row in range(0, 200, 10):
        made.learn(observation(row, float(SCATTERED[row])))
    rest = np.arange(200) % 10 > 0
    return float(np.corrcoef(log_times(made.posterior(NOBODY))[rest], SCATTERED[rest])[0, 1])


SCATTERED = 0.4 * np.random.default_rng(8).normal(size=200)
"""Times that say nothing of their neighbours, so that only predictions can tell."""


def test_right_predictions_are_followed_and_reversed_ones_turned_round() -> None:
    wrong = np.random.default_rng(9).permutation(SCATTERED)
    assert hinted(SCATTERED) > 0.9
    assert hinted(2.0 - 0.5 * SCATTERED) > 0.8
    assert abs(hinted(wrong)) < 0.4


def test_a_later_observation_replaces_an_earlier_one_here_and_elsewhere_apart() -> None:
    made = line(np.zeros(6))
    made.learn(observation(1, 0.5))
    made.learn(observation(1, 0.7, foreign=True))
    assert made.count == 2
    made.learn(observation(1, 0.1))
    made.learn(observation(1, 0.2, foreign=True))
    assert made.count == 2
    assert [seen.value for seen in made.seen] == [0.1]
    assert [seen.value for seen in made.foreign] == [0.2]


def test_a_replaced_observation_counts_at_once() -> None:
    made = line(np.zeros(6))
    for row in range(3):
        made.learn(observation(row, 0.5))
    assert made.posterior(NOBODY).mean[5] == pytest.approx(0.5, abs=0.01)
    for row in range(3):
        made.learn(observation(row, -0.5))
    assert made.posterior(NOBODY).mean[5] == pytest.approx(-0.5, abs=0.01)


def test_an_observation_is_followed_as_far_as_it_is_precise() -> None:
    sure, unsure = line(np.zeros(6)), line(np.zeros(6))
    for fitted, noise in ((sure, 0.0), (unsure, 4.0)):
        for row, value in enumerate((0.0, 0.0, 0.0, 1.0)):
            fitted.learn(observation(row, value, noise if row == 3 else 0.0))
    precise, vague = sure.posterior(NOBODY), unsure.posterior(NOBODY)
    assert log_times(precise)[3] == pytest.approx(1.0, abs=0.1)
    assert log_times(vague)[3] < 0.5
    assert precise.sd[3] < vague.sd[3]


def test_of_very_many_observations_the_fastest_are_kept() -> None:
    """The process holds 300: 150 of elsewhere, the faster half of the others' room, some more."""
    count = 420
    made = Surface(
        levels=levels([(n % 7, n // 7) for n in range(count)]),
        group=np.zeros(count, dtype=np.intp),
        columns=np.arange(3),
        predicted=np.zeros(count),
        sigma=np.full(count, math.nan),
        seed=1,
    )
    for row in range(count):
        made.learn(observation(row, (row * 37 % count) / count))
    held = made.kept()
    assert len(held) == len({seen.row for seen in held}) == 300
    fastest = sorted(made.seen, key=lambda seen: seen.value)[:150]
    assert {seen.row for seen in fastest} <= {seen.row for seen in held}
    for row in range(200):
        made.learn(observation(row, 1.0, foreign=True))
    held = made.kept()
    assert len(held) == 300
    assert sum(seen.foreign for seen in held) == 150
    assert len({(seen.row, seen.foreign) for seen in held}) == 300
    assert {seen.row for seen in fastest[:75]} <= {s.row for s in held if not s.foreign}
