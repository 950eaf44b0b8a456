"""What the default search does with predictions, failures, noise, other problems and machines."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searcher_conformance import ROWS, seconds, space

from autotune.statistics.pareto import not_dominated
from autotune.tuning.search.base import SearchResult
from autotune.tuning.search.failures import Failures
from autotune.tuning.search.improvement import expected
from autotune.tuning.search.model_search import ModelSearch
from autotune.tuning.search.parameter_levels import levels
from autotune.tuning.search.points import points
from autotune.tuning.search.policy import Policy


def test_the_baseline_and_the_predicted_fastest_come_first() -> None:
    candidates = space(predicted=True)
    search = ModelSearch(candidates, Policy(first=6), first=[40])
    asked = search.ask(0, 6)
    fastest = [row for row in np.argsort(candidates.predicted).tolist() if row != 40]
    assert [suggestion.index for suggestion in asked] == [40, *fastest[:5]]
    assert asked[0].why == "the baseline"
    assert asked[1].why == f"predicted place 1 of {len(ROWS)}"
    assert asked[1].predicted == pytest.approx(candidates.predicted[fastest[0]])
    assert math.isnan(asked[1].expected_improvement)


def test_after_the_predicted_fastest_some_are_drawn_at_random() -> None:
    candidates = space(predicted=True)
    search = ModelSearch(candidates, Policy(first=3, start=5))
    said = []
    for _ in range(6):
        (suggestion,) = search.ask(0)
        said.append(suggestion.why.split(",")[0])
        search.tell(SearchResult(index=suggestion.index, seconds=seconds(suggestion.index)))
    assert said[:3] == [f"predicted place {n} of {len(ROWS)}" for n in (1, 2, 3)]
    assert said[3:5] == ["drawn at random"] * 2
    assert said[5] == "doubted surface"


def evaluations(predicted: np.ndarray | None, seed: int) -> int:
    """Until within 1 % of the best."""
    rows = tuple(itertools.product(range(12), range(12)))
    true = np.array([math.exp(0.03 * (a - 7) ** 2 + 0.05 * (b - 4) ** 2) for a, b in rows])
    search = ModelSearch(points(("a", "b"), rows, predicted=predicted), seed=seed)
    for count in range(1, len(rows) + 1):
        row = search.ask(0)[0].index
        search.tell(SearchResult(index=row, seconds=float(true[row])))
        if true[row] < 1.01 * true.min():
            return count
    raise AssertionError("never")


def test_wrong_predictions_cost_few_evaluations_and_right_ones_save_them() -> None:
    rows = itertools.product(range(12), range(12))
    true = np.array([math.exp(0.03 * (a - 7) ** 2 + 0.05 * (b - 4) ** 2) for a, b in rows])
    cold = sum(evaluations(None, seed) for seed in range(4))
    assert sum(evaluations(true**0.5, seed) for seed in range(4)) == 4 < cold
    assert sum(evaluations(1 / true, seed) for seed in range(4)) <= cold + 4 * 5
    shuffled = np.random.default_rng(1).permutation(true)
    assert sum(evaluations(shuffled, seed) for seed in range(4)) <= cold + 4 * 5


def test_every_third_step_is_a_neighbour_of_the_best() -> None:
    candidates = space()
    search = ModelSearch(candidates, Policy(start=3))
    known = levels(candidates.rows)
    told: dict[int, float] = {}
    kinds = []
    for _ in range(24):
        suggestion = search.ask(0)[0]
        row = suggestion.index
        if not math.isnan(suggestion.expected_improvement):
            kinds.append(suggestion.why.startswith("neighbour"))
            assert suggestion.promise >= suggestion.expected_improvement
            plain = suggestion.why.startswith("expected improvement")
            assert suggestion.promise == suggestion.expected_improvement or not plain
        if suggestion.why.startswith("neighbour"):
            leaders = [r for r in told if told[r] < 1.05 * min(told.values())]
            assert any(known.changes(leader, np.array([row]))[0] == 1 for leader in leaders)
        told[row] = seconds(row)
        search.tell(SearchResult(index=row, seconds=told[row]))
    assert not any(kinds[0::3])
    assert not any(kinds[1::3])
    assert sum(kinds[2::3]) > len(kinds) / 6


def unsure_at_the_next(doubt: float) -> float:
    """The standard deviation where the next candidate is taken, far and near ones being free."""
    candidates = points(("a", "b"), tuple(itertools.product(range(12), range(12))))
    search = ModelSearch(candidates, Policy(explore_doubt=doubt))
    for row, (a, b) in enumerate(candidates.rows):
        if (row * 7) % 5 == 0 and int(a or 0) < 6:
            search.tell(SearchResult(index=row, seconds=1 + 0.5 * int(a or 0) + 0.02 * int(b or 0)))
    sd = search.forecast(0).sd
    return float(sd[search.ask(0)[0].index])


def test_the_first_of_three_steps_doubts_the_surface() -> None:
    """With standard deviations taken for larger, less is known and more is looked at."""
    candidates = space()
    search = ModelSearch(candidates, Policy(start=3))
    kinds = []
    for _ in range(15):
        suggestion = search.ask(0)[0]
        if not math.isnan(suggestion.expected_improvement):
            kinds.append(suggestion.why.split()[0])
        search.tell(SearchResult(index=suggestion.index, seconds=seconds(suggestion.index)))
    assert kinds[0::3] == ["doubted"] * len(kinds[0::3])
    assert "doubted" not in kinds[1::3] + kinds[2::3]
    assert unsure_at_the_next(50.0) > unsure_at_the_next(1.0)


def test_a_systematic_error_of_the_model_is_learned() -> None:
    """Everything with one value of a parameter is twice as slow as predicted."""
    rows = tuple(itertools.product(range(6), range(6), "ab"))
    true = np.array([1 + 0.1 * a + 0.05 * b + (2.0 if c == "a" else 0.2) for a, b, c in rows])
    told = np.array([1 + 0.1 * a + 0.05 * b + (0.0 if c == "a" else 0.2) for a, b, c in rows])
    search = ModelSearch(points(("a", "b", "c"), rows, predicted=told), Policy(first=5))
    asked = []
    for _ in range(12):
        asked += [suggestion.index for suggestion in search.ask(0)]
        search.tell(SearchResult(index=asked[-1], seconds=float(true[asked[-1]])))
    assert all(rows[row][2] == "a" for row in asked[:5])
    assert int(np.argmin(true)) in asked


def test_candidates_without_a_prediction_are_neither_first_nor_forgotten() -> None:
    candidates = space(predicted=True)
    some = candidates.predicted.copy()
    best = min(range(len(ROWS)), key=seconds)
    some[[row for row in range(len(ROWS)) if ROWS[row][1] == ROWS[best][1]]] = np.nan
    search = ModelSearch(points(candidates.names, candidates.rows, predicted=some), Policy(first=5))
    asked = []
    for _ in range(30):
        asked += [suggestion.index for suggestion in search.ask(0)]
        search.tell(SearchResult(index=asked[-1], seconds=seconds(asked[-1])))
    assert not np.isnan(some[asked[:5]]).any()
    assert best in asked


@given(st.lists(st.integers(0, len(ROWS) - 1), min_size=3, max_size=10, unique=True))
@settings(max_examples=20, deadline=None)
def test_failures_lower_their_neighbours_most(failed: list[int]) -> None:
    known = levels(ROWS)
    every = np.arange(len(ROWS))
    failures = Failures(known, np.zeros_like(every), every, 1)
    for row in failed[1:]:
        failures.learn(row, failed=False)
    assert failures.success() == 1.0
    failures.learn(failed[0], failed=True)
    success = np.asarray(failures.success())
    assert success[failed[0]] < 0.5
    assert success[failed[0]] < success[failed[1:]].min()
    changes = known.changes(failed[0], np.arange(len(ROWS)))
    away = np.setdiff1d(np.arange(len(ROWS)), failed)
    near, far = away[changes[away] == 1], away[changes[away] >= 3]
    if len(near) and len(far):
        assert success[near].mean() < success[far].mean()
    failures.learn(failed[0], failed=False)
    assert failures.success() == 1.0


def test_a_region_that_fails_is_left() -> None:
    candidates = space(predicted=True)
    search = ModelSearch(candidates, Policy(first=10))
    bad = ROWS[int(np.argmin(candidates.predicted))][1]
    tried: list[bool] = []
    while not search.finished(0):
        row = search.ask(0)[0].index
        tried.append(ROWS[row][1] == bad)
        search.tell(SearchResult(index=row, seconds=None if tried[-1] else seconds(row)))
    good = [seconds(row) for row in range(len(ROWS)) if ROWS[row][1] != bad]
    assert tried[0]
    assert sum(tried[10:-5]) <= 2  # without those of the last steps, when nothing is expected
    assert math.exp(search.forecast(0).mean.min()) == pytest.approx(min(good), rel=0.05)


def test_a_lucky_sample_does_not_make_the_incumbent() -> None:
    """The improvement is over the posterior mean: noise is not taken for speed."""
    mean, sd = np.array([0.0, -0.05]), np.array([0.1, 0.1])
    assert expected(mean, sd, -0.2)[0] < expected(mean, sd, 0.0)[0]
    candidates = space()
    sure, unsure = (
        ModelSearch(candidates, Policy(start=4)),
        ModelSearch(candidates, Policy(start=4)),
    )
    for row in range(0, 40, 4):
        for search, sigma in ((sure, 0.0), (unsure, 0.5)):
            lucky = 0.2 if row == 20 else seconds(row)
            search.tell(SearchResult(index=row, seconds=lucky, sigma=sigma if row == 20 else 0.0))
    assert sure.forecast(0).mean[20] == pytest.approx(math.log(0.2), abs=0.15)
    assert unsure.forecast(0).mean[20] > math.log(0.2) + 0.5


def test_the_search_ends_when_nothing_more_is_expected() -> None:
    rows = tuple(itertools.product(range(20), range(20)))
    candidates = points(("a", "b"), rows)
    search = ModelSearch(candidates, Policy(patience=5, stop_below=0.01))
    steps = 0
    while not (why := search.finished(0)):
        suggestion = search.ask(0)[0]
        a, b = rows[suggestion.index]
        time = math.exp(0.01 * ((a - 7) ** 2 + (b - 12) ** 2))
        search.tell(SearchResult(index=suggestion.index, seconds=time))
        steps += 1
    assert why == "expected improvement stayed below 1 % for 5 steps"
    assert steps < 60
    assert rows[int(np.argmin(search.forecast(0).mean))] == (7, 12)


def test_the_end_is_decided_with_doubt_in_the_posterior() -> None:
    """Who doubts the posterior more searches on where who trusts it stops."""
    rows = tuple(itertools.product(range(12), range(12)))
    ends = []
    for doubt in (1.0, 3.0):
        search = ModelSearch(points(("a", "b"), rows), Policy(patience=3, doubt=doubt), seed=4)
        steps = 0
        while not search.finished(0):
            a, b = rows[search.ask(0)[0].index]
            row = rows.index((a, b))
            time = math.exp(0.02 * ((a - 7) ** 2 + (b - 5) ** 2) + 0.1 * (a % 3 == b % 3))
            search.tell(SearchResult(index=row, seconds=time))
            steps += 1
        ends.append(steps)
    assert ends[0] < ends[1] <= len(rows)
    with pytest.raises(ValueError, match="doubt"):
        Policy(doubt=0.5)


def test_what_is_known_is_used_and_not_measured_again() -> None:
    candidates = space()
    cold, warm = ModelSearch(candidates), ModelSearch(candidates)
    for row in range(0, len(ROWS), 2):
        warm.tell(SearchResult(index=row, seconds=seconds(row)))
    first = warm.ask(0)[0]
    assert first.index % 2 == 1
    assert not math.isnan(first.expected_improvement)
    assert math.isnan(cold.ask(0)[0].expected_improvement)


def test_problems_share_what_is_learned() -> None:
    candidates = space(groups=2)
    search = ModelSearch(candidates, Policy(start=5))
    for _ in range(30):
        row = search.ask(0)[0].index
        search.tell(SearchResult(index=row, seconds=10 * seconds(row)))
    times = []
    for _ in range(4):
        row = search.ask(1)[0].index
        search.tell(SearchResult(index=row, seconds=seconds(row)))
        times.append(seconds(row))
    ranked = sorted(seconds(row) for row in range(len(ROWS)))
    assert min(times) <= ranked[3]


def test_another_machine_is_a_hint_and_no_result() -> None:
    candidates = space()
    search = ModelSearch(candidates)
    for row in range(len(ROWS)):
        search.tell(SearchResult(index=row, seconds=7 * seconds(row), sigma=0.05, prior=True))
    first = search.ask(0)[0]
    ranked = sorted(seconds(row) for row in range(len(ROWS)))
    assert seconds(first.index) <= ranked[3]
    search.tell(SearchResult(index=first.index, seconds=seconds(first.index)))
    forecast = search.forecast(0)
    assert forecast.mean[first.index] == pytest.approx(math.log(seconds(first.index)), abs=0.1)
    assert np.corrcoef(forecast.mean, [seconds(row) for row in range(len(ROWS))])[0, 1] > 0.8


def test_two_objectives_find_their_front() -> None:
    rows = tuple(itertools.product(range(12), range(12)))
    time = np.array([math.exp(0.2 * a + 0.1 * abs(b - 4)) for a, b in rows])
    memory = np.array([math.exp(0.2 * (11 - a) + 0.1 * abs(b - 8)) for a, b in rows])
    search = ModelSearch(points(("a", "b"), rows), Policy(objectives=("time", "memory")), seed=3)
    asked = []
    for _ in range(36):
        asked += [suggestion.index for suggestion in search.ask(0)]
        row = asked[-1]
        search.tell(
            SearchResult(index=row, seconds=time[row], objectives={"memory": float(memory[row])})
        )
    on_front = set(not_dominated(np.stack([time, memory]).T.tolist()))
    found = len(on_front & set(asked)) / len(on_front)
    assert found > 1.3 * 36 / len(rows)


def test_very_many_candidates_are_the_predicted_best_and_a_few_others() -> None:
    rows = tuple(itertools.product(range(50), range(40)))
    candidates = points(("a", "b"), rows, predicted=np.arange(2000, 0, -1.0))
    search = ModelSearch(candidates, Policy(most=200, beyond=0.1), first=[3])
    asked = [suggestion.index for suggestion in search.ask(0, 300)]
    assert asked[0] == 3
    assert set(range(1800, 2000)) <= set(asked)
    assert len(asked) == 221
    assert len(search.forecast(0).mean) == 2000


def test_wrong_results_are_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        SearchResult(index=0, seconds=0.0)
    with pytest.raises(ValueError, match="negative"):
        SearchResult(index=0, seconds=1.0, sigma=-1.0)
    with pytest.raises(ValueError, match="none with number 500"):
        ModelSearch(space()).tell(SearchResult(index=500, seconds=1.0))
    with pytest.raises(ValueError, match="patience"):
        Policy(patience=0)


def test_where_all_of_a_problem_failed_others_give_no_incumbent() -> None:
    search = ModelSearch(space(groups=2), Policy(start=3))
    for row in range(0, len(ROWS), 4):
        search.tell(SearchResult(index=row, seconds=seconds(row)))
    for row in range(len(ROWS), len(ROWS) + 5):
        search.tell(SearchResult(index=row, seconds=None))
    (suggestion,) = search.ask(1)
    assert suggestion.why == "expected to be fast from what was measured elsewhere"
    assert math.isnan(suggestion.expected_improvement)


def test_the_incumbent_is_the_best_of_its_problem() -> None:
    """Every other problem is a thousand times as fast: nothing would be expected beside it."""
    search = ModelSearch(space(groups=2), Policy(start=3))
    for row in range(0, len(ROWS), 3):
        search.tell(SearchResult(index=row, seconds=1e-3 * seconds(row)))
    for row in range(1, 9):
        search.tell(SearchResult(index=len(ROWS) + row, seconds=seconds(row)))
    (suggestion,) = search.ask(1)
    assert suggestion.expected_improvement > 1e-3


def test_what_was_measured_of_a_candidate_that_is_not_considered_is_no_incumbent() -> None:
    candidates = space(predicted=True)
    order = np.argsort(candidates.predicted)
    search = ModelSearch(candidates, Policy(first=2, start=2, most=20, beyond=0.0))
    search.tell(SearchResult(index=int(order[-1]), seconds=1e-3))
    for row in order[:4].tolist():
        search.tell(SearchResult(index=row, seconds=seconds(row)))
    (suggestion,) = search.ask(0)
    assert suggestion.index in order[4:20]
    assert not math.isnan(suggestion.expected_improvement)
