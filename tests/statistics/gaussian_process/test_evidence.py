"""The likelihood of hyperparameters against scipy's normal density; priors in closed form."""

import math

import numpy as np
import pytest
import scipy.stats

from autotune.statistics.gaussian_process.evidence import (
    Evidence,
    LogNormalPriors,
    Loss,
    log_posterior,
)
from autotune.statistics.gaussian_process.kernels import (
    Fixed,
    Floats,
    LinearTrend,
    Matern52,
    White,
    matern52,
)

CHANCE = np.random.default_rng(21)
POINTS = CHANCE.normal(size=(7, 3))
VALUES = CHANCE.normal(size=7)
UPPER = np.triu_indices(7, 1)
SQUARES = np.array([(POINTS[UPPER[0], k] - POINTS[UPPER[1], k]) ** 2 for k in range(3)])
TREND = LinearTrend((POINTS @ POINTS.T)[UPPER], (POINTS**2).sum(axis=1))
THETA = np.log([0.8, 1.1, 2.0, 0.9, 0.3, 0.4])
"""Logarithms of: white noise, three lengths, their deviation, the deviation of the trend."""
EVIDENCE = Evidence([White(1e-4), Matern52(SQUARES), TREND, Fixed(0.2, 0.2)], VALUES)


def dense(theta: Floats) -> Floats:
    """The same covariance, written out with matrices."""
    noise, *lengths, deviation, slope = np.exp(theta)
    scaled = POINTS / np.array(lengths)
    apart = np.linalg.norm(scaled[:, None] - scaled[None], axis=2)
    smooth = matern52(math.sqrt(5) * apart, deviation**2)
    return np.asarray(smooth + slope**2 * POINTS @ POINTS.T + 0.2 + (noise**2 + 1e-4) * np.eye(7))


def test_the_loss_is_the_negative_log_density_without_its_constant() -> None:
    density = scipy.stats.multivariate_normal(np.zeros(7), dense(THETA)).logpdf(VALUES)
    value, _ = EVIDENCE.loss(THETA)
    assert value == pytest.approx(-density - 7 / 2 * math.log(2 * math.pi), rel=1e-9)


def test_the_loss_of_one_value_is_worked_out_by_hand() -> None:
    """Variance 4 and value 6: 36 / 4 / 2 + log(4) / 2; by log of the deviation 1 - 36 / 4."""
    value, slopes = Evidence([White()], np.array([6.0])).loss(np.array([math.log(2)]))
    assert value == pytest.approx(4.5 + math.log(2))
    assert slopes == pytest.approx([1 - 9])


def test_its_gradient_is_that_of_finite_differences() -> None:
    step = 1e-5
    expected = [
        (EVIDENCE.loss(THETA + step * unit)[0] - EVIDENCE.loss(THETA - step * unit)[0]) / (2 * step)
        for unit in np.eye(6)
    ]
    assert EVIDENCE.loss(THETA)[1] == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_the_order_of_terms_is_that_of_the_hyperparameters_only() -> None:
    turned = Evidence([TREND, Fixed(0.2, 0.2), Matern52(SQUARES), White(1e-4)], VALUES)
    value, slopes = turned.loss(THETA[[5, 1, 2, 3, 4, 0]])
    assert value == pytest.approx(EVIDENCE.loss(THETA)[0], rel=1e-12)
    assert slopes == pytest.approx(EVIDENCE.loss(THETA)[1][[5, 1, 2, 3, 4, 0]], rel=1e-9)


def test_what_is_no_covariance_costs_more_than_anything_and_leads_nowhere() -> None:
    value, slopes = Evidence([Fixed(2.0, 1.0), White()], np.array([1.0, 1.0])).loss(np.array([-9]))
    assert value == 1e10
    assert slopes.tolist() == [0.0]


def test_the_true_deviation_of_many_values_is_the_most_likely_one() -> None:
    """Of white noise alone the likelihood is greatest at the root of the mean square."""
    values = np.random.default_rng(3).normal(0, 0.7, 40)
    likelihood = Evidence([White()], values).loss
    best = math.log(math.sqrt(np.mean(values**2)))
    value, slopes = likelihood(np.array([best]))
    assert slopes == pytest.approx([0], abs=1e-9)
    assert value < min(likelihood(np.array([best + off]))[0] for off in (-0.1, 0.1))


# --- priors -----------------------------------------------------------------------------------


def quadratic(at: float, spread: float) -> Loss:
    """The loss of a normal likelihood of each hyperparameter."""

    def loss(theta: Floats) -> tuple[float, Floats]:
        off = (theta - at) / spread
        return 0.5 * float(off @ off), off / spread

    return loss


def test_a_prior_adds_half_the_square_of_standard_deviations_off() -> None:
    prior = LogNormalPriors(centre=np.array([0.0, 1.0]), spread=np.array([1.0, 0.5]))
    value, slopes = prior.added_to(quadratic(0.0, 1.0))(np.array([2.0, 2.0]))
    assert value == pytest.approx(0.5 * (4 + 4) + 0.5 * (4 + 4))
    assert slopes == pytest.approx([2 + 2, 2 + 1 / 0.25])


def test_a_prior_is_the_log_normal_density_up_to_a_constant() -> None:
    prior = LogNormalPriors(centre=np.array([0.4]), spread=np.array([0.3]))
    loss = prior.added_to(lambda theta: (0.0, np.zeros_like(theta)))
    by_density = [-scipy.stats.norm(0.4, 0.3).logpdf(theta) for theta in (0.1, 0.9)]
    losses = [loss(np.array([theta]))[0] for theta in (0.1, 0.9)]
    assert losses[1] - losses[0] == pytest.approx(by_density[1] - by_density[0])


def test_the_fit_of_normal_densities_is_their_precision_weighted_mean() -> None:
    prior = LogNormalPriors(centre=np.array([0.0, 1.0]), spread=np.array([1.0, 0.5]))
    fitted = prior.fitted(quadratic(3.0, 0.5), np.array([0.0, 0.0]), 50)
    assert fitted == pytest.approx([(0 / 1 + 3 / 0.25) / (1 + 4), (1 / 0.25 + 3 / 0.25) / 8])


def test_a_fit_stays_within_five_deviations_of_its_prior() -> None:
    prior = LogNormalPriors(centre=np.array([1.0]), spread=np.array([0.1]))
    for sign in (-1.0, 1.0):
        steep = quadratic(sign * 1e3, 0.01)
        assert prior.fitted(steep, np.array([1.0]), 50) == pytest.approx([1 + sign * 0.5])


def test_a_fit_without_a_likelihood_is_the_median_of_the_prior() -> None:
    prior = LogNormalPriors(centre=np.array([0.3, -0.7]), spread=np.array([0.2, 2.0]))
    nothing = prior.fitted(
        lambda theta: (0.0, np.zeros_like(theta)), prior.centre + np.array([0.5, -1.0]), 50
    )
    assert nothing == pytest.approx(prior.centre, abs=1e-5)


# --- densities of given covariances -----------------------------------------------------------


def test_the_log_posterior_is_the_density_plus_the_prior() -> None:
    gram = dense(THETA)
    density = scipy.stats.multivariate_normal(np.zeros(7), gram).logpdf(VALUES)
    expected = density + 7 / 2 * math.log(2 * math.pi) - 1.25
    assert log_posterior(gram.copy(), VALUES, -1.25) == pytest.approx(expected, rel=1e-9)


def test_the_log_posterior_of_no_covariance_is_minus_infinity() -> None:
    gram = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert log_posterior(gram, np.ones(2), 0.0) == -math.inf
