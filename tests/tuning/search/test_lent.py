"""What a prior lends to a search: a hint whose weight is learned, and some first candidates."""

import itertools

import numpy as np
import pytest

from autotune.domain.setup import Learner
from autotune.tuning.search.base import SearchResult
from autotune.tuning.search.model_search import ModelSearch
from autotune.tuning.search.points import Points, points
from autotune.tuning.search.policy import Policy
from autotune.tuning.search.residual_basis import basis

ROWS = tuple(itertools.product((1, 2, 4, 8, 16, 32), ("a", "b", "c", "d"), (False, True)))


def times(seed: int = 1) -> np.ndarray:
    """Effects of each value, and a little that belongs to no parameter."""
    chance = np.random.default_rng(seed)
    tile = dict(zip((1, 2, 4, 8, 16, 32), chance.normal(scale=0.5, size=6), strict=True))
    order = dict(zip("abcd", chance.normal(scale=0.4, size=4), strict=True))
    left = 0.05 * chance.normal(size=len(ROWS))
    return np.exp([tile[t] + order[o] + 0.2 * f for t, o, f in ROWS] + left)


def evaluations(given: Points, truth: np.ndarray, residual: Learner = "process") -> int:
    """Until within 5 % of the best."""
    search = ModelSearch(given, Policy(residual=residual), seed=3)
    for count in range(1, len(ROWS) + 1):
        row = search.ask(0)[0].index
        search.tell(SearchResult(index=row, seconds=float(truth[row])))
        if truth[row] <= 1.05 * truth.min():
            return count
    raise AssertionError("never")


NAMES = ("tile", "order", "fuse")


def test_only_ratios_within_a_problem_count() -> None:
    group = np.array([0, 0, 0, 1, 1, 1], dtype=np.intp)
    predicted = np.log([1.0, 2.0, 3.0, 10.0, 10.0, 10.0])
    prior = np.log([1.0, 4.0, np.nan, 5.0, 20.0, 5.0])
    one = basis(predicted, np.full(6, np.nan), group, prior)
    scaled = prior + np.array([1.0, 1.0, 1.0, -2.0, -2.0, -2.0])
    other = basis(predicted, np.full(6, np.nan), group, scaled)
    assert one.hints == pytest.approx(other.hints)
    assert one.level == pytest.approx(other.level)
    assert one.hints[1, 2] == 0.0  # nothing is said of it
    assert one.hints[1, :2].sum() == pytest.approx(0.0)
    assert one.hints[1, 3:].sum() == pytest.approx(0.0)


@pytest.mark.parametrize("prior", [None, np.full(3, np.nan)])
def test_a_prior_that_says_nothing_is_none(prior: np.ndarray | None) -> None:
    found = basis(np.zeros(3), np.full(3, np.nan), np.zeros(3, dtype=np.intp), prior)
    assert len(found.hints) == 1
    assert found.level.tolist() == [0.0, 0.0, 0.0]


def test_a_good_prior_is_tried_first_and_a_wrong_one_costs_few() -> None:
    truth = times()
    alone, good, wrong = (
        evaluations(points(NAMES, ROWS, prior=prior), truth) for prior in (None, truth, 1 / truth)
    )
    assert good == 1 < alone
    assert wrong <= alone + 4


def test_beside_predictions_the_same() -> None:
    truth = times(2)
    missed = np.array([1.5 if order == "b" else 1.0 for _, order, _ in ROWS])
    alone, good, wrong = (
        evaluations(points(NAMES, ROWS, predicted=truth * missed, prior=prior), truth)
        for prior in (None, truth, 1 / truth)
    )
    assert good <= alone
    assert wrong <= alone + 4


def test_the_first_candidates_are_the_priors_and_the_predictions_in_turn() -> None:
    truth = times()
    given = points(NAMES, ROWS, predicted=1 / truth, prior=truth)
    search = ModelSearch(given, seed=1)
    said = []
    for _ in range(6):
        asked = search.ask(0)[0]
        said.append(asked.why)
        search.tell(SearchResult(index=asked.index, seconds=float(truth[asked.index])))
    assert said[0] == said[2] == "expected to be fast by the prior"
    assert said[1] == "predicted place 1 of 48"
    assert all("expected improvement" in why for why in said[3:])


def test_what_is_measured_decides_how_far_a_prior_is_believed() -> None:
    truth = times()
    told = np.random.default_rng(5).permutation(len(ROWS))[:12]

    def slope(prior: np.ndarray) -> float:
        """How the forecast of the others goes with the prior's order."""
        search = ModelSearch(points(NAMES, ROWS, prior=prior), seed=1)
        for row in told.tolist():
            search.tell(SearchResult(index=row, seconds=float(truth[row])))
        rest = np.setdiff1d(np.arange(len(ROWS)), told)
        said = search.forecast(0).mean[rest]
        return float(np.polyfit(np.log(prior[rest]), said, 1)[0])

    assert slope(truth) == pytest.approx(1.0, abs=0.2)
    assert slope(1 / truth) < -0.4  # what it holds for slow is compressed
    unrelated = np.exp(0.5 * np.random.default_rng(7).normal(size=len(ROWS)))
    assert abs(slope(unrelated)) < 0.7


def test_the_pool_has_it_as_one_parameter_more() -> None:
    truth = times()
    assert evaluations(points(NAMES, ROWS, prior=truth), truth, "pool") == 1


def test_a_prior_is_positive_and_has_a_time_for_each_candidate() -> None:
    with pytest.raises(ValueError, match="prior has shape"):
        points(NAMES, ROWS, prior=np.ones(3))
    with pytest.raises(ValueError, match="a prior's times must be positive"):
        points(NAMES, ROWS, prior=np.zeros(len(ROWS)))
