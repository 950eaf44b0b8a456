"""Which of very many candidates a search looks at."""

import numpy as np
import pytest

from autotune.tuning.search.looked_at import columns
from autotune.tuning.search.points import Floats, Points, points
from autotune.tuning.search.policy import Policy

POLICY = Policy(most=20, beyond=0.25)
NOTHING = np.empty(0)


def space(predicted: Floats | None, count: int = 100, groups: int = 1) -> Points:
    """So many candidates, dealt to the problems in turn."""
    return points(
        ("n",),
        tuple((number,) for number in range(count)),
        predicted=predicted,
        group=np.arange(count) % groups,
    )


def falling(count: int = 100) -> Floats:
    """The last is the fastest by prediction."""
    return np.arange(count + 1, 1, -1, dtype=np.float64)


def test_where_there_are_few_all_are_looked_at() -> None:
    assert columns(space(falling(20), 20), POLICY, (), 1).tolist() == list(range(20))
    assert len(columns(space(None, 0), POLICY, (), 1)) == 0


def test_of_many_the_best_by_prediction_and_some_of_the_rest() -> None:
    looked = columns(space(falling()), POLICY, (), 1)
    assert looked.tolist() == sorted(set(looked.tolist()))
    assert set(range(80, 100)) <= set(looked.tolist())
    assert len(looked) == 20 + 5


def test_what_is_always_in_is_in() -> None:
    looked = columns(space(falling()), POLICY, (3, 7), 1).tolist()
    assert {3, 7} <= set(looked)
    assert len(looked) <= 20 + 5 + 2


def test_best_is_relative_to_the_best_of_the_same_problem() -> None:
    """The candidates of the second problem take a thousand times as long."""
    predicted = falling()
    predicted[1::2] *= 1000
    looked = columns(space(predicted, groups=2), Policy(most=20, beyond=0.0), (), 1)
    by_problem = np.bincount(looked % 2).tolist()
    assert sum(by_problem) == 20
    assert min(by_problem) >= 6


def test_of_every_problem_there_is_one_at_least() -> None:
    """Of problems without predictions too, and of more problems than are looked at."""
    predicted = np.full(100, np.nan)
    predicted[::40] = 1.0
    looked = columns(space(predicted, groups=40), Policy(most=10, beyond=0.0), (), 1)
    assert set(looked % 40) == set(range(40))


def test_those_without_a_prediction_come_after_those_with_one() -> None:
    predicted = falling()
    predicted[50:] = np.nan
    looked = columns(space(predicted), Policy(most=50, beyond=0.0), (), 1)
    assert looked.tolist() == list(range(50))


def test_without_predictions_they_are_drawn_at_random_the_same_for_the_same_seed() -> None:
    draws = [columns(space(None), POLICY, (), seed).tolist() for seed in (1, 1, 2)]
    assert draws[0] == draws[1]
    assert draws[0] != draws[2]
    assert [len(draw) for draw in draws] == [pytest.approx(25, abs=1)] * 3


def test_every_candidate_is_drawn_about_as_often() -> None:
    often = np.zeros(100)
    for seed in range(200):
        often[columns(space(None), Policy(most=20, beyond=0.0), (), seed)] += 1
    rest = often[1:]
    assert often[0] == 200, "one of the problem is always in"
    assert abs(rest.mean() - 40) < 1
    assert rest.std() < 1.5 * np.sqrt(200 * 0.2 * 0.8)
