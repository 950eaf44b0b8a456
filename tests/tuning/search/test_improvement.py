"""Expected improvement by hand and by quadrature, scalars of several objectives, Pareto columns."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.tuning.search.improvement import expected, expected_scalar, scalar


def test_at_the_best_it_is_the_mean_of_half_a_normal() -> None:
    sd = np.array([0.5, 2.0])
    assert expected(np.full(2, 1.3), sd, 1.3) == pytest.approx(sd / math.sqrt(2 * math.pi))


@given(st.floats(-2, 2), st.floats(0.1, 2), st.floats(-2, 2))
def test_it_is_the_mean_of_what_a_normal_time_is_below_the_best(
    mean: float, sd: float, best: float
) -> None:
    away = np.linspace(-9, 9, 20_001)
    density = np.exp(-(away**2) / 2) / math.sqrt(2 * math.pi)
    gain = np.maximum(best - (mean + sd * away), 0.0) * density
    total = float(gain.sum() * (away[1] - away[0]))
    assert expected(np.array([mean]), np.array([sd]), best)[0] == pytest.approx(total, abs=1e-5)


def test_a_scalar_is_the_largest_weighted_objective_and_a_twentieth_of_their_sum() -> None:
    """Weighted: (0.5, 1.0) of the first objective, (1.5, 0.5) of the second."""
    values = np.array([[1.0, 2.0], [3.0, 1.0]])
    assert scalar(values, np.array([0.5, 0.5])) == pytest.approx([1.5 + 0.1, 1.0 + 0.075])
    assert scalar(values[:, 0], np.array([0.5, 0.5])) == pytest.approx(1.6)
    assert scalar(values[:, :, None], np.array([1.0, 0.0])) == pytest.approx(
        np.array([[1.05], [2.1]])
    )


def test_without_spread_the_improvement_is_that_of_the_means() -> None:
    mean = np.array([[1.0, 2.0], [3.0, 1.0]])
    weights = np.array([0.5, 0.5])
    gain = expected_scalar(mean, np.zeros((2, 2)), 1.3, weights, np.random.default_rng(1))
    assert gain == pytest.approx([0.0, 1.3 - 1.075])


def test_with_spread_it_is_nearly_that_of_one_objective() -> None:
    """The scalar of a single objective of weight 1 is 1.05 times it; 48 draws are few."""
    mean, sd = np.array([[0.0, 0.5]]), np.array([[1.0, 1.0]])
    runs = [
        expected_scalar(mean, sd, 0.0, np.ones(1), np.random.default_rng(seed))
        for seed in range(40)
    ]
    truth = expected(1.05 * mean[0], 1.05 * sd[0], 0.0)
    assert np.mean(runs, axis=0) == pytest.approx(truth, rel=0.1)
