"""Surfaces with and without predictions: what decides between them, and what follows."""

import itertools

import numpy as np
import pytest

from autotune.statistics.gaussian_process.kernels import Floats
from autotune.tuning.search.improvement import expected
from autotune.tuning.search.parameter_levels import levels
from autotune.tuning.search.points import points
from autotune.tuning.search.surface import Bend, Observation, Posterior, Surface
from autotune.tuning.search.surface_mixture import SurfaceMixture, mixed, share

ROWS = tuple(itertools.product(range(6), range(5), "ab"))
COUNT = len(ROWS)
NOBODY = np.empty(0, dtype=np.intp)
TRUTH = np.array([0.03 * (a - 3) ** 2 + 0.06 * b + 0.3 * (c == "a") for a, b, c in ROWS])
"""Logarithms of times."""
ORDER = np.random.default_rng(4).permutation(COUNT)[:24].tolist()


def surface(predicted: Floats | None = None) -> Surface:
    unknown = np.full(COUNT, np.nan)
    return Surface(
        levels=levels(ROWS),
        group=np.zeros(COUNT, dtype=np.intp),
        columns=np.arange(COUNT),
        predicted=unknown if predicted is None else predicted,
        sigma=unknown,
        seed=1,
    )


def learned(predicted: Floats | None, truth: Floats = TRUTH) -> SurfaceMixture:
    made = SurfaceMixture(surface(predicted))
    for count, row in enumerate(ORDER, 1):
        made.learn(Observation(row=row, value=float(truth[row]), noise=1e-6))
        if count % 4 == 0:
            made.posterior(NOBODY)
    return made


# --- shares -------------------------------------------------------------------------------------


def test_models_that_say_the_same_keep_their_shares() -> None:
    """At first the mean of w^4, (4 + 1) / (4 + 2)."""
    densities = np.array([-1.0, 2.0, 0.5])
    assert share(densities, densities) == pytest.approx(5 / 6, abs=1e-3)
    assert share(np.empty(0), np.empty(0)) == pytest.approx(5 / 6, abs=1e-3)


def test_the_share_of_a_better_model_grows_with_the_observations() -> None:
    """With odds of e^9 everywhere the likelihood is w^n or (1 - w)^n."""
    better = [share(np.full(n, 9.0), np.zeros(n)) for n in (1, 5, 20)]
    assert better == pytest.approx([6 / 7, 10 / 11, 25 / 26], abs=0.01)
    worse = [share(np.zeros(n), np.full(n, 9.0)) for n in (1, 5, 20)]
    assert worse == pytest.approx([5 / 7, 5 / 11, 5 / 26], abs=0.01)


def test_an_observation_that_a_model_holds_for_impossible_does_not_decide() -> None:
    first = np.array([0.5] * 20 + [-1000.0])
    assert share(first, np.zeros(21)) > 0.5


# --- what is mixed ------------------------------------------------------------------------------


def test_without_predictions_there_is_one_surface() -> None:
    alone, made = surface(), learned(None)
    for count, row in enumerate(ORDER, 1):
        alone.learn(Observation(row=row, value=float(TRUTH[row]), noise=1e-6))
        if count % 4 == 0:
            alone.posterior(NOBODY)
    assert made.weights == [1.0]
    assert not made.trusts_predictions
    assert made.posterior(NOBODY).mean.tolist() == alone.posterior(NOBODY).mean.tolist()


def test_the_pool_is_not_mixed_because_it_learns_how_far_to_follow() -> None:
    seconds = np.exp(TRUTH)
    candidates = points(("a", "b", "c"), ROWS, predicted=seconds)
    pooled = Surface(
        levels=levels(ROWS),
        group=candidates.group,
        columns=np.arange(COUNT),
        predicted=TRUTH,
        sigma=candidates.sigma,
        seed=1,
        learner=candidates,
    )
    assert SurfaceMixture(pooled).weights == [1.0]


def test_before_anything_is_measured_the_predictions_are_followed() -> None:
    made = SurfaceMixture(surface(TRUTH))
    assert made.weights == [1.0, 0.0]
    assert made.posterior(NOBODY).mean == pytest.approx(TRUTH)


def test_right_predictions_of_what_nothing_else_tells_are_followed() -> None:
    chance = np.random.default_rng(6)
    truth = 0.5 * chance.normal(size=COUNT)
    made = learned(truth + 0.03 * chance.normal(size=COUNT), truth)
    assert made.weights == [1.0, 0.0]
    assert made.trusts_predictions
    assert np.corrcoef(made.posterior(NOBODY).mean, truth)[0, 1] > 0.95


def test_wrong_predictions_lose_their_share() -> None:
    """The linear term of the process can take them off again, so that it is not all of it."""
    predicted = 0.5 * np.random.default_rng(6).normal(size=COUNT)
    assert learned(predicted).weights[0] < 0.75


def test_what_failed_is_forgotten_by_both() -> None:
    made = learned(TRUTH)
    made.forget(ORDER[0])
    assert made.count == len(ORDER) - 1
    made.posterior(NOBODY)


# --- the mixture --------------------------------------------------------------------------------


def test_the_moments_of_a_mixture_and_its_expected_improvement() -> None:
    group = np.zeros(3, dtype=np.intp)
    first = Posterior(
        mean=np.array([0.0, 1.0, 2.0]), sd=np.array([0.1, 0.2, 0.3]), bends={0: Bend()}
    )
    second = Posterior(
        mean=np.array([0.5, 0.0, 2.0]), sd=np.array([0.3, 0.1, 0.3]), bends={0: Bend(knee=9.0)}
    )
    both = mixed([(0.25, first), (0.75, second)], group)
    assert both.mean == pytest.approx([0.375, 0.25, 2.0])
    variance = 0.25 * 0.01 + 0.75 * 0.09 + 0.25 * 0.75 * 0.5**2
    assert both.sd[[0, 2]] == pytest.approx([np.sqrt(variance), 0.3])
    assert both.bends[0].knee == 9.0
    places = np.arange(3)
    assert both.improvement(places, 0, doubt=2.0) == pytest.approx(
        0.25 * expected(first.mean, 2 * first.sd, 0.0)
        + 0.75 * expected(second.mean, 2 * second.sd, 0.5)
    )


def test_a_mixture_is_on_the_scale_of_the_compressed_surface() -> None:
    bend = Bend(knee=1.0)
    plain = Posterior(mean=np.array([0.5, 1.9]), sd=np.array([0.1, 0.1]), bends={0: Bend()})
    bent = Posterior(mean=bend.down(plain.mean), sd=np.array([0.1, 0.1]), bends={0: bend})
    both = mixed([(0.5, plain), (0.5, bent)], np.zeros(2, dtype=np.intp))
    assert both.bends[0].up(both.mean) == pytest.approx(plain.mean)
    assert both.sd[0] == pytest.approx(0.1)
    assert both.sd[1] < 0.1
