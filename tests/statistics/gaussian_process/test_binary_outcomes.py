"""Expectation propagation against what can be calculated, drawn, or differentiated."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from autotune.statistics.gaussian_process.binary_outcomes import BinaryEvidence, binary_posterior
from autotune.statistics.gaussian_process.kernels import Fixed, Matern52, White

UPPER = np.triu_indices(12, 1)


def alike(count: int, seed: int) -> np.ndarray:
    places = np.random.default_rng(seed).uniform(size=(count, 3))
    away = ((places[:, None] - places[None]) ** 2).sum(axis=-1)
    return np.asarray(4 * np.exp(-away / 0.3) + 1e-6 * np.eye(count))


def test_one_outcome_is_exact() -> None:
    """Its evidence is Phi(m / sqrt(1 + v)); the same again has half of the normal on both sides."""
    posterior = binary_posterior(np.array([[3.0]]), np.array([True]), 0.7)
    assert posterior.evidence == pytest.approx(math.log(ndtr(0.7 / 2)), rel=1e-6)
    draws = 0.7 + math.sqrt(3.0) * np.random.default_rng(1).standard_normal(400_000)
    again = float((ndtr(draws) ** 2).mean() / ndtr(draws).mean())
    said = posterior.probability(np.array([[3.0]]), np.array([3.0]))
    assert said == pytest.approx(np.array([again]), abs=0.01)


def test_probabilities_are_those_of_the_drawn_posterior() -> None:
    covariance = alike(11, 2)
    observed, last = covariance[:10, :10], covariance[:10, 10:]
    positive = np.arange(10) % 3 > 0
    posterior = binary_posterior(observed, positive, 0.5)
    factor = np.linalg.cholesky(covariance)
    latent = 0.5 + factor @ np.random.default_rng(3).standard_normal((11, 200_000))
    likely = ndtr(np.where(positive, 1.0, -1.0)[:, None] * latent[:10]).prod(axis=0)
    said = posterior.probability(last, np.array([covariance[10, 10]]))
    assert float(said[0]) == pytest.approx(likely @ ndtr(latent[10]) / likely.sum(), abs=0.03)
    assert posterior.evidence == pytest.approx(math.log(likely.mean()), abs=0.1)


def test_far_from_all_outcomes_the_prior_holds() -> None:
    posterior = binary_posterior(alike(6, 4), np.array([False] * 6), 1.2)
    said = posterior.probability(np.zeros((6, 1)), np.array([4.0]))
    assert said == pytest.approx(ndtr(np.array([1.2 / math.sqrt(5)])))


@given(st.lists(st.booleans(), min_size=1, max_size=20), st.floats(-3, 3), st.floats(0.01, 100))
@settings(max_examples=40, deadline=None)
def test_outcomes_draw_probabilities_to_their_side(
    outcomes: list[bool], mean: float, scale: float
) -> None:
    covariance = scale * alike(len(outcomes), 5)
    posterior = binary_posterior(covariance, np.array(outcomes), mean)
    said = posterior.probability(covariance, np.diag(covariance))
    assert np.isfinite(posterior.evidence)
    assert ((said >= 0) & (said <= 1)).all()
    turned = binary_posterior(covariance, ~np.array(outcomes), -mean)
    assert turned.evidence == pytest.approx(posterior.evidence, abs=1e-3)
    assert turned.probability(covariance, np.diag(covariance)) == pytest.approx(1 - said, abs=1e-3)


def test_the_slopes_of_the_evidence_are_those_of_its_differences() -> None:
    chance = np.random.default_rng(1)
    places = chance.uniform(size=(12, 3))
    squares = np.array([((places[:, None, k] - places[None, :, k]) ** 2)[UPPER] for k in range(3)])
    fixed = Fixed(np.full(len(UPPER[0]), 0.5), np.full(12, 0.5))
    positive = places[:, 0] + 0.3 * chance.normal(size=12) > 0.4
    likelihood = BinaryEvidence([Matern52(squares), White(), fixed], positive, 0.8)
    theta = np.array([-0.5, 0.0, 0.3, 0.7, -1.0])
    _, slopes = likelihood.loss(theta)
    step = 1e-4 * np.eye(len(theta))
    differences = [likelihood.loss(theta + s)[0] - likelihood.loss(theta - s)[0] for s in step]
    assert slopes == pytest.approx(np.array(differences) / 2e-4, abs=2e-3)
