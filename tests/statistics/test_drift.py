"""Times on one level and contests: by hand, by least squares written out, and by simulation."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from autotune.statistics import drift
from autotune.statistics.drift import (
    NOISE,
    Contest,
    DriftFreeTimes,
    Pollution,
    contest,
    half_width,
    levels,
    ratio_error,
)
from autotune.statistics.launch_times import LaunchTime, interval

Rounds = Mapping[Hashable, LaunchTime]


def balanced(logs: Sequence[Sequence[float]]) -> dict[str, dict[Hashable, LaunchTime]]:
    """A candidate for each row of logarithms of times, a round for each column."""
    return {
        "abcdefgh"[i]: {j: LaunchTime(math.exp(log)) for j, log in enumerate(row)}
        for i, row in enumerate(logs)
    }


def drifting(
    times: Mapping[str, Sequence[int]], level: Mapping[str, float], drift: Sequence[float]
) -> dict[str, dict[int, LaunchTime]]:
    """Candidates that take part in some rounds, each ``drift`` times as slow."""
    return {name: {j: LaunchTime(level[name] * drift[j]) for j in js} for name, js in times.items()}


# --- levels -----------------------------------------------------------------------------------


def test_nothing_timed_has_no_levels_and_the_assumed_noise() -> None:
    empty = DriftFreeTimes(times={}, errors={}, drift={}, noise=NOISE)
    untimed: dict[str, Rounds] = {"a": {}, "b": {}}
    assert levels(untimed) == empty
    untimed.clear()
    assert levels(untimed) == empty


def test_a_candidate_without_times_is_left_out() -> None:
    rounds: dict[str, Rounds] = {"a": {0: LaunchTime(2.0)}, "b": {}}
    result = levels(rounds)
    assert result.times == {"a": pytest.approx(2.0)}
    assert result.errors.keys() == {"a"}


def test_where_all_take_part_in_all_rounds_the_level_is_the_geometric_mean() -> None:
    """The least squares of a balanced table of two ways are its means of rows."""
    logs = [[0.00, 0.02, 0.01], [0.52, 0.50, 0.51], [1.01, 1.00, 1.02]]
    result = levels(balanced(logs))
    for name, row in zip("abc", logs, strict=True):
        assert result.times[name] == pytest.approx(math.exp(np.mean(row)), rel=1e-9)
    assert sum(result.drift.values()) == pytest.approx(0, abs=1e-12)


def test_a_named_round_gives_its_level_and_its_drift_is_nothing() -> None:
    rounds = drifting({"a": range(4), "b": range(4)}, {"a": 1.0, "b": 3.0}, [1, 1.1, 1.2, 1.3])
    result = levels(rounds, at=[2])
    assert result.times["a"] == pytest.approx(1.2, rel=0.01)
    assert result.times["b"] == pytest.approx(3.6, rel=0.01)
    assert result.drift[2] == 0
    assert result.drift[0] == pytest.approx(-math.log(1.2), rel=0.06)


def test_rounds_named_in_which_nothing_was_timed_count_for_nothing() -> None:
    rounds = drifting({"a": [0, 1], "b": [0, 1]}, {"a": 1.0, "b": 2.0}, [1.0, 1.1])
    assert levels(rounds, at=[7, 8]) == levels(rounds)


def test_unequal_rounds_are_tied_together_by_what_they_share() -> None:
    """b ran in the slow rounds only: its raw time is above that of a, its level below it."""
    parts = {"a": [0, 1], "b": [2, 3], "c": [0, 1, 2, 3], "d": [0, 1, 2, 3]}
    level = {"a": 1.0, "b": 0.9, "c": 1.5, "d": 2.0}
    result = levels(drifting(parts, level, [1.0, 1.0, 1.4, 1.4]))
    for name, seconds in level.items():
        assert result.times[name] / result.times["c"] == pytest.approx(seconds / 1.5, rel=0.01)


def test_a_disturbed_launch_moves_a_level_by_less_than_the_mean_would() -> None:
    logs = [[0.0] * 8, [0.5] * 8, [1.0] * 8, [1.5] * 8]
    disturbed = [row.copy() for row in logs]
    disturbed[1][3] += 2.0
    apart = levels(balanced(disturbed)).times["b"] / levels(balanced(logs)).times["b"]
    assert 1 <= apart < math.exp(0.05), "the mean would move by exp(2 / 8) = 1.28"


@pytest.mark.parametrize(("candidates", "rounds"), [(6, 40), (40, 8)])
def test_the_fit_to_much_drift_is_that_of_least_squares_written_out(
    candidates: int, rounds: int
) -> None:
    """Small residuals have weight 1, and large drift is hardly pulled: |y - a_i - d_j|^2."""
    chance = np.random.default_rng(5)
    present = chance.random((candidates, rounds)) < 0.6
    present[:, 0] = present[0] = True
    level, drift = chance.normal(0, 0.5, candidates), chance.normal(0, 0.5, rounds)
    i, j = np.nonzero(present)
    y = level[i] + drift[j] + 0.003 * chance.choice([-1.0, 1.0], len(i))
    table: dict[str, dict[Hashable, LaunchTime]] = {}
    for name, key, log in zip(i.tolist(), j.tolist(), y.tolist(), strict=True):
        table.setdefault(f"{name:02}", {})[key] = LaunchTime(math.exp(log))
    result = levels(table)
    design = np.zeros((len(y), candidates + rounds))
    design[np.arange(len(y)), i] = design[np.arange(len(y)), candidates + j] = 1
    solution, *_ = np.linalg.lstsq(design, y, rcond=None)
    expected = np.exp(solution[:candidates] + solution[candidates:].mean())
    assert list(result.times.values()) == pytest.approx(expected, rel=2e-3)


def search(
    seed: int, drift: Callable[[int], float], steps: int = 40
) -> tuple[dict[str, dict[Hashable, LaunchTime]], dict[str, float]]:
    """The launches of a search that compares two new candidates at a time, in four rounds, with the
    fastest so far, and the true times of all candidates: equal but for some per cent.
    """
    chance = np.random.default_rng(seed)
    table: dict[str, dict[Hashable, LaunchTime]] = {}
    truth = {f"{k:03}": 1 + 0.02 * chance.random() for k in range(2 * steps + 1)}
    fastest, number = "000", 0
    for step in range(steps):
        together = {fastest, f"{2 * step + 1:03}", f"{2 * step + 2:03}"}
        for _ in range(4):
            for name in sorted(together):
                log = math.log(truth[name] * drift(number)) + 0.01 * chance.normal()
                table.setdefault(name, {})[number] = LaunchTime(math.exp(log))
            number += 1
        times = levels(table, at=range(4)).times
        fastest = min(times, key=lambda name: times[name])
    return table, truth


def test_luck_of_the_fastest_so_far_does_not_pass_for_drift() -> None:
    """Each fastest so far was lucky; with free drift the last ones would have 8 % less time."""
    table, truth = search(3, lambda _: 1.0)
    times = levels(table, at=range(4)).times
    assert min(times.values()) > 0.985
    assert max(abs(times[name] / truth[name] - 1) for name in times) < 0.03


def test_a_machine_that_becomes_slower_makes_no_candidate_slower() -> None:
    """The fastest so far, which takes part in all rounds, shows the step."""
    chance = np.random.default_rng(4)
    rounds: dict[str, dict[Hashable, LaunchTime]] = {}
    for number in range(80):
        for name in ("same", f"{number // 8:02}a", f"{number // 8:02}b"):
            log = (0.26 if number >= 40 else 0.0) + 0.01 * chance.normal()
            rounds.setdefault(name, {})[number] = LaunchTime(math.exp(log))
    result = levels(rounds, at=range(4))
    assert [math.log(time) for time in result.times.values()] == pytest.approx([0.0] * 21, abs=0.05)


def run_of(key: Hashable) -> Hashable:
    assert isinstance(key, tuple)
    return key[0]


def test_runs_are_tied_by_what_both_measured_however_steady_they_are() -> None:
    """The second run is a fifth slower; the candidates of one of the two alone are equal."""
    names = {"first": ["a", "b", "c"], "second": ["a", "b", "d"]}
    rounds: dict[str, dict[Hashable, LaunchTime]] = {}
    for run, slow in (("first", 1.0), ("second", 1.2)):
        for name in names[run]:
            rounds.setdefault(name, {}).update({(run, j): LaunchTime(slow) for j in range(30)})
    result = levels(rounds, run_of=run_of)
    assert result.times["c"] == pytest.approx(result.times["d"], rel=0.01)


def test_a_table_too_large_to_be_dense_gives_the_same_levels() -> None:
    chance = np.random.default_rng(8)
    level, drift = chance.normal(0, 0.5, 420), chance.normal(0, 0.1, 250)
    rounds: dict[str, dict[int, LaunchTime]] = {}
    for number in range(420):
        places = {0, *chance.integers(0, 250, 3).tolist()}
        rounds[f"{number:03}"] = {j: LaunchTime(math.exp(level[number] + drift[j])) for j in places}
    assert 420 * len({j for times in rounds.values() for j in times}) > 100_000
    result = levels(rounds, at=[0])
    truth = np.exp(level + drift[0])
    assert list(result.times.values()) == pytest.approx(truth, rel=0.005)


def test_a_candidate_that_scatters_ties_runs_less_than_a_steady_one() -> None:
    """The baseline took 7.0 or 7.9, by chance more often the former in the first run."""
    slow = {"first": (7.0, 7.0, 7.1, 7.1), "second": (7.9, 7.1, 7.9, 7.8, 7.9, 7.1)}
    rounds: dict[str, dict[Hashable, LaunchTime]] = {"baseline": {}, "fast": {}}
    for run, times in slow.items():
        rounds["baseline"].update({(run, j): LaunchTime(x) for j, x in enumerate(times)})
        rounds["fast"].update({(run, j): LaunchTime(1 + 0.004 * (j % 2)) for j in range(16)})
        rounds[f"other of the {run}"] = {(run, j): LaunchTime(1.0) for j in range(6, 16)}
    result = levels(rounds, at=[("second", j) for j in range(4)], run_of=run_of)
    assert result.times["other of the first"] == pytest.approx(1.0, abs=0.02)


@settings(max_examples=25)
@given(st.floats(1e-3, 1e3), st.permutations(range(4)), st.integers(0, 1000))
def test_levels_scale_with_the_unit_and_ignore_the_order(
    factor: float, order: list[int], seed: int
) -> None:
    chance = np.random.default_rng(seed)
    rounds = balanced(chance.normal(0, 0.1, (4, 3)).tolist())
    scaled = {
        "abcd"[k]: {j: LaunchTime(factor * time.seconds) for j, time in rounds["abcd"[k]].items()}
        for k in order
    }
    first, second = levels(rounds), levels(scaled)
    for name in "abcd":
        assert second.times[name] == pytest.approx(factor * first.times[name], rel=1e-6)
    assert second.noise == pytest.approx(first.noise, rel=1e-6)


# --- the noise, and errors ---------------------------------------------------------------------


def test_without_degrees_of_freedom_the_noise_is_the_assumed_one() -> None:
    """Two launches, two unknown levels and no repetition: nothing is seen of the noise."""
    assert levels({"a": {0: LaunchTime(1.0)}, "b": {0: LaunchTime(2.0)}}).noise == NOISE


@pytest.mark.parametrize("sigma", [0.01, 0.03, 0.1])
def test_the_noise_of_many_launches_is_what_they_show(sigma: float) -> None:
    chance = np.random.default_rng(4)
    table = chance.normal(0, 0.2, (8, 1)) + chance.normal(0, sigma, (8, 60))
    assert levels(balanced(table.tolist())).noise == pytest.approx(sigma, rel=0.15)


def test_noiseless_launches_weigh_four_assumed_ones() -> None:
    """(4 * 0.05^2 + free * 0) / (4 + free), free = 3 * 5 - 3 - 5 + 1 = 8 of them."""
    result = levels(balanced([[0.0] * 5, [1.0] * 5, [2.0] * 5]))
    assert result.noise == pytest.approx(NOISE * math.sqrt(4 / 12))


def test_the_noise_of_another_fit_forgets_the_assumption_as_launches_come() -> None:
    fit = levels(balanced([[0.0] * 5, [1.0] * 5, [2.0] * 5]))
    assert fit.freedom == 8
    assert fit.noise_of(8) == pytest.approx(fit.noise)
    assert fit.noise_of(0) == pytest.approx(NOISE)
    assert fit.noise_of(396) == pytest.approx(NOISE / 10)


def test_the_noise_of_another_fit_is_at_least_what_was_seen() -> None:
    """Ten degrees of freedom show 0.1 beside four launches of 3 %."""
    noise = math.sqrt((4 * NOISE**2 + 10 * 0.1**2) / 14)
    fit = DriftFreeTimes(times={}, errors={}, drift={}, noise=noise, freedom=10)
    assert [fit.noise_of(freedom) for freedom in (0, 1, 10**6)] == pytest.approx([0.1] * 3)


def test_without_degrees_of_freedom_another_fit_has_the_assumed_noise() -> None:
    fit = levels({"a": {0: LaunchTime(1.0)}, "b": {0: LaunchTime(2.0)}})
    assert fit.noise_of(0) == NOISE


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_the_error_of_two_in_the_same_rounds_is_that_of_their_difference(rounds: int) -> None:
    result = levels(balanced([[0.0] * rounds, [0.1] * rounds]))
    expected = result.noise * math.sqrt(2 / rounds)
    assert list(result.errors.values()) == pytest.approx([expected, expected])


def test_a_round_of_many_candidates_is_nearly_known() -> None:
    """Its own level takes 1/(n - 1) of a launch from each of n candidates."""
    result = levels(balanced([[0.1 * k] * 4 for k in range(8)]))
    expected = result.noise * math.sqrt(1 + 1 / 7) / 2
    assert list(result.errors.values()) == pytest.approx([expected] * 8)


def test_stated_errors_are_those_of_repeated_runs() -> None:
    """The level of a over that of b scatters, run after run, by what one run says of it."""
    chance = np.random.default_rng(12)
    apart, stated = [], []
    for _ in range(60):
        logs = 0.03 * chance.normal(size=(4, 6)) + 0.1 * chance.normal(size=6)
        result = levels(balanced(logs.tolist()))
        apart.append(math.log(result.times["a"] / result.times["b"]))
        stated.append(math.hypot(result.errors["a"], result.errors["b"]))
    assert 0.6 < np.std(apart) / np.mean(stated) < 1.1
    assert abs(np.mean(apart)) < 3 * np.std(apart) / math.sqrt(60)


# --- one candidate against another ------------------------------------------------------------


@pytest.mark.parametrize(
    ("rounds", "quantile", "share"),
    [  # Student's t of rounds + 2 degrees of freedom at 99.5 %, and the error of a mean or median
        (1, 5.8409, 1.0),
        (2, 4.6041, 1.0 / math.sqrt(2)),
        (3, 4.0321, 1.2533 / math.sqrt(3)),
        (8, 3.1693, 1.2533 / math.sqrt(8)),
    ],
)
def test_the_interval_of_steady_ratios_is_by_the_noise(
    rounds: int, quantile: float, share: float
) -> None:
    first: Rounds = {j: LaunchTime(1.2 * (1 + j)) for j in range(rounds)}
    second: Rounds = {j: LaunchTime(1.0 * (1 + j)) for j in range(rounds)}
    result = contest(first, second, noise=0.02)
    assert result is not None
    half = quantile * math.sqrt(2) * 0.02 * share
    assert result.rounds == rounds
    assert result.ratio == pytest.approx(1.2)
    assert math.log(result.high / result.ratio) == pytest.approx(half, rel=1e-4)
    assert math.log(result.ratio / result.low) == pytest.approx(half, rel=1e-4)
    assert result.width == pytest.approx(math.expm1(half), rel=1e-4)


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 10, 60])
@pytest.mark.parametrize("share", [0.9, 0.99])
def test_the_half_width_of_steady_ratios_is_that_of_their_contest(
    rounds: int, share: float
) -> None:
    first: Rounds = {j: LaunchTime(1.1) for j in range(rounds)}
    second: Rounds = {j: LaunchTime(1.0) for j in range(rounds)}
    result = contest(first, second, noise=0.02, share=share)
    assert result is not None
    assert math.log(result.high / result.ratio) == pytest.approx(half_width(rounds, 0.02, share))


def test_no_round_has_an_infinite_half_width() -> None:
    assert half_width(0, 0.02) == math.inf


@pytest.mark.parametrize("rounds", [2, 3, 9])
def test_the_error_of_a_ratio_is_about_its_scatter_over_many_contests(rounds: int) -> None:
    """That of a median over that of a mean is 1.2533 for many rounds, and less for few."""
    chance = np.random.default_rng(rounds)
    ratios = np.median(chance.normal(0, 0.02, (4000, rounds, 2)) @ [1, -1], axis=1)
    assert ratio_error(rounds, 0.02) == pytest.approx(float(ratios.std()), rel=0.12)


def test_ratios_that_scatter_by_more_than_the_noise_widen_the_interval() -> None:
    """Median absolute deviation 0.1 of five: 1.4826 * 0.1 / sqrt(5) * 1.2533, t(7) = 3.4995."""
    first: Rounds = {
        j: LaunchTime(math.exp(log)) for j, log in enumerate((-0.3, -0.1, 0.0, 0.1, 0.3))
    }
    second: Rounds = {key: LaunchTime(1.0) for key in range(5)}
    result = contest(first, second, noise=1e-6)
    assert result is not None
    assert result.ratio == pytest.approx(1)
    half = 3.4995 * 1.4826 * 0.1 / math.sqrt(5) * 1.2533
    assert math.log(result.high) == pytest.approx(half, rel=1e-4)


def test_three_ratios_say_nothing_of_their_scatter() -> None:
    first: Rounds = {0: LaunchTime(1.0), 1: LaunchTime(2.0), 2: LaunchTime(4.0)}
    result = contest(first, {key: LaunchTime(1.0) for key in range(3)}, noise=0.001)
    assert result is not None
    assert result.width < 0.01


def test_contests_need_a_common_round_with_times_of_both() -> None:
    assert contest({0: LaunchTime(1.0)}, {1: LaunchTime(1.0)}, NOISE) is None
    assert contest({}, {}, NOISE) is None


@pytest.mark.parametrize(
    ("low", "high", "slower", "faster"),
    [(1.01, 1.3, True, False), (0.9, 0.99, False, True), (0.9, 1.1, False, False)],
)
def test_slower_and_faster_are_clear_of_one(
    low: float, high: float, slower: bool, faster: bool
) -> None:
    result = Contest(math.sqrt(low * high), low, high, 3)
    assert (result.slower, result.faster) == (slower, faster)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), min_size=1, max_size=6),
    st.floats(0.001, 0.2),
)
def test_a_contest_turned_round_is_the_inverse(
    pairs: list[tuple[float, float]], noise: float
) -> None:
    first: Rounds = {j: LaunchTime(a) for j, (a, _) in enumerate(pairs)}
    second: Rounds = {j: LaunchTime(b) for j, (_, b) in enumerate(pairs)}
    there, back = contest(first, second, noise), contest(second, first, noise)
    assert there is not None
    assert back is not None
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert (back.low, back.high) == pytest.approx((1 / there.high, 1 / there.low))
    assert (back.slower, back.faster) == (there.faster, there.slower)


def launches(chance: np.random.Generator, log: float, rounds: int, sigma: float) -> Rounds:
    noise = sigma * chance.normal(size=rounds)
    return {j: LaunchTime(math.exp(log + part)) for j, part in enumerate(noise.tolist())}


@pytest.mark.parametrize("rounds", [1, 3, 8])
def test_the_interval_holds_the_true_ratio_in_99_of_100_runs(rounds: int) -> None:
    chance = np.random.default_rng(rounds)
    runs, held = 150, 0
    for _ in range(runs):
        first = launches(chance, 0.1, rounds, 0.03)
        result = contest(first, launches(chance, 0.0, rounds, 0.03), noise=0.03)
        assert result is not None
        held += result.low <= math.exp(0.1) <= result.high
    assert held >= 146


def test_equals_are_hardly_ever_told_apart_and_different_ones_nearly_always() -> None:
    chance = np.random.default_rng(77)
    verdicts = []
    for gap in (0.0, 0.15):
        contests = [
            contest(launches(chance, gap, 6, 0.03), launches(chance, 0.0, 6, 0.03), noise=0.03)
            for _ in range(70)
        ]
        verdicts.append(sum(result is not None and result.slower for result in contests))
    assert verdicts[0] <= 2
    assert verdicts[1] >= 67


# --- disturbed launches -------------------------------------------------------------------------


def test_what_disturbed_launches_lose_besides_is_found_and_taken_out() -> None:
    """They take 1.3 times as long for each factor e that they lost: a power of 0.26."""
    chance = np.random.default_rng(2)
    power = math.log(1.3)
    rounds: dict[str, dict[Hashable, LaunchTime]] = {}
    for k, name in enumerate("abcdef"):
        for j in range(8):
            lost = float(chance.uniform(0, 2))
            log = 0.1 * k + power * lost + 0.005 * chance.normal()
            rounds.setdefault(name, {})[j] = LaunchTime(math.exp(log), lost=lost)
    result = levels(rounds)
    assert result.pollution.power == pytest.approx(power, rel=0.2)
    assert result.pollution.error < 0.05
    assert result.times["f"] / result.times["a"] == pytest.approx(math.exp(0.5), rel=0.03)


def test_undisturbed_launches_say_nothing_of_what_disturbed_ones_lose() -> None:
    assert levels(balanced([[0.0, 0.1], [0.2, 0.3]])).pollution == Pollution()


def test_an_unsure_launch_counts_for_little() -> None:
    rounds: dict[str, dict[Hashable, LaunchTime]] = {
        "a": {j: LaunchTime(1.0) for j in range(4)},
        "b": {0: LaunchTime(9.0, error=1.0), **{j: LaunchTime(2.0) for j in range(1, 4)}},
    }
    assert levels(rounds).times["b"] == pytest.approx(2 * levels(rounds).times["a"], rel=0.02)


def test_a_contest_of_unsure_launches_is_open() -> None:
    sure = contest({0: LaunchTime(1.2)}, {0: LaunchTime(1.0)}, noise=0.01)
    unsure = contest({0: LaunchTime(1.2, error=0.3)}, {0: LaunchTime(1.0)}, noise=0.01)
    assert sure is not None
    assert unsure is not None
    assert sure.slower
    assert not unsure.slower


def test_a_contest_of_one_that_lost_more_is_less_sure() -> None:
    alike = contest({0: LaunchTime(1.2, lost=1.0)}, {0: LaunchTime(1.0, lost=1.0)}, noise=0.01)
    apart = contest({0: LaunchTime(1.2, lost=2.0)}, {0: LaunchTime(1.0)}, noise=0.01)
    assert alike is not None
    assert apart is not None
    assert alike.slower
    assert not apart.slower


def test_futile_contests_are_seldom_decided_by_twice_as_many_rounds() -> None:
    """A third of the contests go on and decide in a sixth of cases; futile ones hardly ever do."""
    chance = np.random.default_rng(3)
    decided: dict[bool, list[bool]] = {False: [], True: []}
    for _ in range(300):
        logs = chance.normal((0.0, 0.03), 0.03, (10, 2))
        first, second = (
            {n: LaunchTime(float(np.exp(log))) for n, log in enumerate(logs[:, side])}
            for side in (0, 1)
        )
        half = contest({n: first[n] for n in range(5)}, second, 0.03)
        whole = contest(first, second, 0.03)
        assert half is not None
        assert whole is not None
        if not (half.slower or half.faster):
            decided[half.futile(10)].append(whole.slower or whole.faster)
    assert len(decided[True]) > 150
    assert np.mean(decided[True]) < 0.05
    assert np.mean(decided[False]) > 0.08


@pytest.mark.parametrize("rounds", [3, 30])
def test_rounds_do_not_tell_how_the_losses_of_threads_overlap(rounds: int) -> None:
    """Two threads had 80 % of their time: the losses took 20 % or 40 % of the wall time."""
    time = LaunchTime(1.0, lost=0.3, error=0.14, bias=0.14)
    slower = LaunchTime(1.2, lost=0.3, error=0.14, bias=0.14)
    comparison = contest(
        dict.fromkeys(range(rounds), slower), dict.fromkeys(range(rounds), time), 0.01
    )
    assert comparison is not None
    assert not comparison.slower
    sure = LaunchTime(1.2), LaunchTime(1.0)
    comparison = contest(*(dict.fromkeys(range(rounds), x) for x in sure), 0.01)
    assert comparison is not None
    assert comparison.slower
    low, high = interval([time] * rounds) or (0.0, 0.0)
    assert low < 0.87
    assert high > 1.15


def _sizes(
    table: Mapping[str, Mapping[Hashable, LaunchTime]],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The launches of each candidate, and those in each round."""
    places = [int(str(key)) for times in table.values() for key in times]
    return np.array([len(times) for times in table.values()]), np.bincount(places)


def test_times_of_many_serial_candidates_are_those_of_a_dense_solution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each candidate beside the first one and the last two; two runs; some launches lost time."""
    random = np.random.default_rng(5)
    table: dict[str, dict[Hashable, LaunchTime]] = {f"c{k:04d}": {} for k in range(400)}
    for k in range(400):
        for beside in {0, max(0, k - 2), max(0, k - 1), k}:
            seconds = float(np.exp(0.001 * beside + 0.05 * np.sin(k) + random.normal(0, 0.02)))
            lost = 0.01 * (k % 7 == 0)
            table[f"c{beside:04d}"][k] = LaunchTime(seconds, lost=lost, error=lost / 2)
    assert not drift._candidates_first(*_sizes(table))  # all rounds are tied by the first one
    sparse = levels(table, at=range(3), run_of=lambda key: int(str(key)) // 200)
    monkeypatch.setattr(drift, "_SPARSE", 10**6)
    assert drift._candidates_first(*_sizes(table))
    dense = levels(table, at=range(3), run_of=lambda key: int(str(key)) // 200)
    assert sparse.times == pytest.approx(dense.times, rel=1e-9)
    assert sparse.errors == pytest.approx(dense.errors, rel=1e-9)
    assert sparse.drift == pytest.approx(dense.drift, abs=1e-9)
    assert (sparse.noise, sparse.pollution.power) == pytest.approx(
        (dense.noise, dense.pollution.power), rel=1e-9
    )
