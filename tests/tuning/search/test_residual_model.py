"""What every explanation of wrong predictions keeps to: Gaussian process and pool alike."""

import itertools
from functools import partial

import numpy as np
import pytest

from autotune.learning.models.pool import Pool
from autotune.learning.models.ridge import Ridge
from autotune.tuning.search import pool_residual
from autotune.tuning.search.candidate_covariance import Inputs
from autotune.tuning.search.gaussian_process import Observations, Process, SearchPrior
from autotune.tuning.search.parameter_levels import levels
from autotune.tuning.search.points import Floats, points
from autotune.tuning.search.pool_residual import Candidates, PoolResidual
from autotune.tuning.search.residual_model import ResidualExplainer

ROWS = tuple(itertools.product((1, 2, 4, 8), "abc", (False, True)))
COUNT = len(ROWS)
EVERY = np.arange(COUNT)
TRUTH = np.array([0.2 * np.log2(n) - (0.5 if text == "b" else 0.0) for n, text, _ in ROWS])
NOBODY = np.empty(0, dtype=np.intp)


def observed(rows: list[int]) -> Observations:
    values = TRUTH[rows] - TRUTH[rows].mean() if rows else np.empty(0)
    return Observations(
        rows=np.array(rows, dtype=np.intp),
        noise=np.full(len(rows), 1e-4),
        foreign=np.zeros(len(rows)),
        values=values,
    )


def process() -> ResidualExplainer:
    inputs = Inputs(
        levels=levels(ROWS),
        scale=np.ones(COUNT),
        hints=np.empty((0, COUNT)),
        group=np.zeros(COUNT, dtype=np.intp),
        constant=0.5,
        weight=0.0,
    )
    return Process(inputs, EVERY, SearchPrior(amplitude=0.4), 1.0)


def pool() -> ResidualExplainer:
    candidates = points(("n", "t", "f"), ROWS, predicted=np.ones(COUNT))
    return PoolResidual(Candidates.of(candidates, np.zeros(COUNT)), EVERY, seed=1)


@pytest.fixture(params=[process, pool])
def explainer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ResidualExplainer:
    """Of the pool one member, which is quick."""
    monkeypatch.setattr(pool_residual, "Pool", partial(Pool, members=(Ridge(),)))
    made: ResidualExplainer = request.param()
    return made


SOME = list(range(0, COUNT, 2))


def centred(rows: list[int]) -> Floats:
    truth: Floats = TRUTH - TRUTH[rows].mean()
    return truth


def test_before_anything_is_known_nothing_is_expected(explainer: ResidualExplainer) -> None:
    explainer.rebuild(observed([]))
    assert explainer.mean(np.empty(0)).tolist() == [0.0] * COUNT
    assert np.all(explainer.sd(NOBODY) > 0)


def test_what_was_observed_is_expected_where_it_was(explainer: ResidualExplainer) -> None:
    explainer.fit(observed(SOME), 8)
    mean = explainer.mean(observed(SOME).values)
    assert mean.shape == (COUNT,)
    assert mean[SOME] == pytest.approx(centred(SOME)[SOME], abs=0.05)


def test_a_planted_effect_is_expected_where_nothing_was_observed(
    explainer: ResidualExplainer,
) -> None:
    explainer.fit(observed(SOME), 8)
    rest = [row for row in range(COUNT) if row not in SOME]
    assert explainer.mean(observed(SOME).values)[rest] == pytest.approx(
        centred(SOME)[rest], abs=0.15
    )


def test_it_is_surer_of_what_was_observed(explainer: ResidualExplainer) -> None:
    explainer.fit(observed(SOME), 8)
    sd = explainer.sd(NOBODY)
    assert sd.shape == (COUNT,)
    assert np.all(sd > 0)
    assert sd[SOME].mean() < np.delete(sd, SOME).mean()


def test_what_runs_is_surer_and_its_mean_stays(explainer: ResidualExplainer) -> None:
    explainer.fit(observed(SOME), 8)
    values = observed(SOME).values
    mean, sd = explainer.mean(values), explainer.sd(NOBODY)
    running = explainer.sd(np.array([1], dtype=np.intp))
    assert running[1] < sd[1]
    assert np.all(running <= sd + 1e-12)
    assert explainer.mean(values).tolist() == mean.tolist()


def test_one_more_observation_is_appended_or_asks_for_a_rebuild(
    explainer: ResidualExplainer,
) -> None:
    explainer.fit(observed(SOME), 8)
    before = explainer.sd(NOBODY)[1]
    more = observed([*SOME, 1])
    if not explainer.append(more):
        explainer.rebuild(more)
    assert explainer.sd(NOBODY)[1] < before
    assert explainer.mean(more.values)[1] == pytest.approx(centred([*SOME, 1])[1], abs=0.05)


def test_equal_observations_are_explained_alike(explainer: ResidualExplainer) -> None:
    answers = []
    for _ in range(2):
        explainer.rebuild(observed(SOME))
        answers.append(explainer.mean(observed(SOME).values).tolist())
    assert answers[0] == answers[1]
