"""The pool as what explains residuals: the same search, with what the models learned."""

import itertools
import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from searcher_conformance import ROWS, SearcherConformance, space

from autotune.domain.setup import Searching
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.learning.models.pool import Pool
from autotune.learning.models.ridge import Ridge
from autotune.tuning.search import pool_residual as learned
from autotune.tuning.search.base import Searcher, SearchResult
from autotune.tuning.search.gaussian_process import Observations
from autotune.tuning.search.model_search import ModelSearch
from autotune.tuning.search.points import Points, points
from autotune.tuning.search.policy import Policy
from autotune.tuning.search.pool_residual import Candidates, PoolResidual, forecast, plain
from autotune.tuning.search.search_choice import searcher


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool of one member, which is quick."""
    monkeypatch.setattr(learned, "Pool", partial(Pool, members=(Ridge(),)))


@pytest.mark.usefixtures("small")
class TestPoolSearch(SearcherConformance):
    def search(self, candidates: Points, seed: int = 1) -> Searcher:
        return searcher(candidates, Searching(first=3, residual="pool"), seed)


TRUTH = list(itertools.product((1, 2, 4, 8, 16), ("a", "b", "c"), (False, True)))


def planted(seed: int = 1) -> tuple[Points, np.ndarray]:
    """Predictions that miss a factor of 2 for order b, and one of tile."""
    chance = np.random.default_rng(seed)
    predicted = 1e-3 * np.exp(0.3 * chance.normal(size=len(TRUTH)))
    wrong = np.array([0.5 if order == "b" else 1.0 for _, order, _ in TRUTH])
    times = predicted * wrong * np.array([tile**0.1 for tile, _, _ in TRUTH])
    noise = np.exp(0.05 * chance.normal(size=len(TRUTH)))
    return points(("tile", "order", "fuse"), tuple(TRUTH), predicted=predicted), times * noise


def observed(rows: np.ndarray, values: np.ndarray, foreign: np.ndarray | None = None):
    away = np.zeros(len(rows)) if foreign is None else foreign
    return Observations(rows=rows, noise=np.zeros(len(rows)), foreign=away, values=values)


def test_the_pool_learns_where_the_predictions_are_wrong() -> None:
    candidates, times = planted()
    base = np.log(candidates.predicted)
    told = np.random.default_rng(2).permutation(len(TRUTH))[:18]
    left = np.log(times) - base
    residual = PoolResidual(Candidates.of(candidates, base), np.arange(len(TRUTH)), seed=1)
    residual.fit(observed(told, left[told]), 8)
    rest = np.setdiff1d(np.arange(len(TRUTH)), told)
    mean, sd = residual.mean(left[told]), residual.sd(np.empty(0, dtype=np.intp))
    assert mean[told] == pytest.approx(left[told], abs=0.08)
    assert np.abs(mean[rest] - left[rest]).mean() < 0.4 * np.abs(left[rest]).mean()
    assert sd[told].max() < sd[rest].min() < 0.5
    running = residual.sd(rest[:1])
    assert running[rest[0]] < sd[rest[0]]
    assert running[rest[1]] == sd[rest[1]]


@pytest.mark.usefixtures("small")
def test_what_is_told_since_counts_at_its_own_candidate() -> None:
    candidates, times = planted()
    base = np.log(candidates.predicted)
    left = np.log(times) - base
    residual = PoolResidual(Candidates.of(candidates, base), np.arange(len(TRUTH)), seed=1)
    residual.fit(observed(np.arange(10), left[:10]), 8)
    before = residual.mean(left[:10])
    assert residual.append(observed(np.arange(11), np.append(left[:10], 2.0)))
    after = residual.mean(np.append(left[:10], 2.0))
    assert after[10] == pytest.approx(2.0, abs=0.2)
    assert np.delete(after, 10) == pytest.approx(np.delete(before, 10))


def test_few_observations_or_none_that_differ_say_nothing() -> None:
    one = points(("a", "b"), ((1, "x"), (2, "x"), (1, None)))
    residual = PoolResidual(Candidates.of(one, np.zeros(3)), np.arange(3), seed=1)
    nothing = np.empty(0, dtype=np.intp)
    assert residual.mean(np.empty(0)).tolist() == [0.0, 0.0, 0.0]
    residual.fit(observed(np.array([0, 1]), np.array([0.1, 0.2])), 8)
    assert residual.mean(np.array([0.1, 0.2]))[2] == 0.0
    assert residual.sd(nothing)[2] == pytest.approx(0.5)


@pytest.mark.usefixtures("small")
def test_times_of_elsewhere_teach_with_a_factor_of_their_own() -> None:
    candidates, times = planted()
    base = np.log(candidates.predicted)
    left = np.log(times) - base
    residual = PoolResidual(Candidates.of(candidates, base), np.arange(len(TRUTH)), seed=1)
    rows = np.concatenate([np.arange(len(TRUTH)), np.arange(6)])
    foreign = np.array([1.0] * len(TRUTH) + [0.0] * 6)
    values = np.concatenate([left + 0.2, left[:6]])
    residual.fit(observed(rows, values, foreign), 8)
    mean = residual.mean(values)
    assert np.corrcoef(mean, left)[0, 1] > 0.9
    assert mean[:6] == pytest.approx(left[:6], abs=0.1)


@pytest.mark.usefixtures("small")
def test_the_search_with_the_pool_finds_what_predictions_hide() -> None:
    candidates, times = planted(4)
    search = ModelSearch(candidates, Policy(first=6, residual="pool"))
    told: list[int] = []
    for _ in range(14):
        row = search.ask(0)[0].index
        told.append(row)
        search.tell(SearchResult(index=row, seconds=float(times[row]), sigma=0.01))
    assert min(times[told]) == pytest.approx(times.min(), rel=0.05)
    forecast = search.forecast(0)
    assert np.isfinite(forecast.mean).all()
    assert (forecast.sd > 0).all()


@pytest.mark.usefixtures("small")
def test_hints_failures_and_running_candidates_go_with_the_pool() -> None:
    candidates = space(groups=2)
    search = ModelSearch(candidates, Policy(start=3, residual="pool"))
    for row in range(0, len(ROWS), 4):
        search.tell(SearchResult(index=row, seconds=1.0 + row, prior=True))
    for _ in range(4):
        first, second = search.ask(0, 2)
        search.tell(SearchResult(index=first.index, seconds=1.0 + first.index))
        search.tell(SearchResult(index=second.index, seconds=None))
    assert all(math.isfinite(x) for x in search.forecast(1).mean)


def test_the_residual_model_is_for_our_own_sampler() -> None:
    with pytest.raises(ValueError, match="residual is for sampler model"):
        Searching(sampler="tpe", residual="pool")
    with pytest.raises(ValueError, match="residual must be one of process, pool"):
        Searching(residual="forest")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="residual must be one of"):
        Policy(residual="forest")  # type: ignore[arg-type]


def test_before_anything_was_learned_a_candidate_is_between_its_time_and_its_prediction() -> None:
    """Variance 0.25 of nothing learned, of a time its own and 0.0004: s = 0.25 / (0.25 + v)."""
    residual = PoolResidual(Candidates.of(planted()[0], np.zeros(30)), np.arange(20), seed=1)
    rows, noise = np.array([3, 25, 4]), np.array([0.0996, 0.1, 0.0])
    residual.rebuild(Observations(rows=rows, noise=noise, foreign=np.zeros(3), values=rows * 1.0))
    expected = np.zeros(20)
    expected[3], expected[4] = 0.25 / 0.35 * 0.7, 0.25 / 0.2504 * -0.2
    assert residual.mean(np.array([0.7, 5.0, -0.2])) == pytest.approx(expected)
    spread = np.full(20, 0.5)
    spread[3], spread[4] = math.sqrt(0.25 * 0.1 / 0.35), math.sqrt(0.25 * 0.0004 / 0.2504)
    assert residual.sd(np.empty(0, dtype=np.intp)) == pytest.approx(spread)
    spread[7] = 0.02
    assert residual.sd(np.array([7, 4])) == pytest.approx(spread)


def test_times_of_elsewhere_are_no_times_of_a_candidate() -> None:
    residual = PoolResidual(Candidates.of(planted()[0], np.zeros(30)), np.arange(30), seed=1)
    assert residual.append(observed(np.array([3, 4]), np.array([0.5, 0.5]), np.array([1.0, 0.0])))
    mean = residual.mean(np.array([0.5, 0.5]))
    assert mean[3] == 0.0
    assert mean[4] > 0.4


def test_values_of_candidates_as_tables_hold_them() -> None:
    one = points(
        ("n", "x", "flag", "order", "pad", "same"),
        ((1, 0.5, True, "a", None, 7), (2.0, 1.0, False, "b", 8, 7)),
    )
    candidates = Candidates.of(one, np.zeros(2), np.log([1.0, 4.0]))
    assert [parameter.name for parameter in candidates.parameters] == [
        "n", "x", "flag", "order", "pad", "prior",
    ]  # fmt: skip
    assert [p.numeric for p in candidates.parameters] == [True, True, True, False, False, True]
    assert candidates.rows[0] == pytest.approx((1, 0.5, 1, "a", "none", 1))
    assert candidates.rows[1][:5] == (2, 1, 0, "b", "8")
    assert float(candidates.rows[1][5]) == pytest.approx(4.0)
    assert isinstance(candidates.rows[1][0], int)


def test_candidates_that_differ_in_nothing_have_rows_of_nothing() -> None:
    candidates = Candidates.of(points(("n",), ((1,),)), np.zeros(1))
    assert (candidates.parameters, candidates.rows) == ((), ((),))


def test_a_text_among_numbers_is_refused() -> None:
    parameter = Candidates.of(points(("n",), ((1,), (2,))), np.zeros(2)).parameters[0]
    assert plain(3, parameter) == 3
    with pytest.raises(ValueError, match="n is a number, not 'x'"):
        plain("x", parameter)


@pytest.mark.usefixtures("small")
def test_the_pool_learns_again_when_observations_have_grown_by_a_quarter() -> None:
    candidates, times = planted()
    base = np.log(candidates.predicted)
    left = np.log(times) - base
    residual = PoolResidual(Candidates.of(candidates, base), np.arange(30), seed=1)
    said = []
    for count in (4, 5, 6, 7):
        residual.fit(observed(np.arange(count), left[:count]), 8)
        residual.rebuild(observed(np.arange(0), left[:0]))
        said.append(residual.mean(np.empty(0)))
    assert said[0].tolist() == [0.0] * 30  # fewer than five say nothing
    assert said[1].tolist() != said[0].tolist()
    assert said[2].tolist() == said[1].tolist()  # 6 are fewer than 6.25
    assert said[3].tolist() != said[2].tolist()


@pytest.mark.usefixtures("small")
def test_no_more_than_a_factor_of_e_cubed_is_believed() -> None:
    candidates, _ = planted()
    base = np.log(candidates.predicted)
    residual = PoolResidual(Candidates.of(candidates, base), np.arange(30), seed=1)
    residual.fit(observed(np.arange(30), np.full(30, 8.0)), 8)
    residual.rebuild(observed(np.arange(0), np.empty(0)))
    assert residual.mean(np.empty(0)) == pytest.approx(np.full(30, 3.0), abs=0.5)
    assert residual.mean(np.empty(0)).max() <= 3.0


@dataclass(frozen=True, slots=True)
class Same:
    """Predicts the same time of every row."""

    seconds: float

    def predict(self, inputs: ParameterRows) -> np.ndarray:
        return np.full(len(inputs), self.seconds)


@pytest.mark.usefixtures("small")
def test_members_above_a_hundredth_of_the_weight_add_their_variance() -> None:
    """The weight of a member is its error to the power of -4."""
    inputs = tuple((n,) for n in range(1, 31))
    candidates = Candidates.of(points(("n",), inputs), np.zeros(30))
    table = MeasurementTable(
        name="t",
        inputs=candidates.inputs(np.arange(30), None),
        response=np.linspace(1.0, 2.0, 30) ** 2,
        unit="s",
        source="",
        statistic="as given",
    )
    fitted = learned.Pool().fit(table, 1)
    (ridge,) = fitted.predictor.members

    def variance(*members: tuple[float, float]) -> np.ndarray:
        pool = tuple(
            replace(ridge, name=f"m{k}", predictor=Same(math.exp(log)), error=weight**-0.25)
            for k, (weight, log) in enumerate(members)
        )
        predictor = replace(fitted.predictor, members=pool)
        return forecast(replace(fitted, predictor=predictor), table.inputs)[1]

    weights, logs = np.array([0.009, 0.011, 0.98]), np.array([-0.3, 0.4, 0.0])
    off = logs - weights @ logs
    spread = variance(*zip(weights, logs, strict=True)) - variance((1.0, 0.0))
    assert spread == pytest.approx(np.full(30, weights[1:] @ off[1:] ** 2))
