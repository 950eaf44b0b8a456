"""Weighted least squares: planted lines, textbook identities, what cannot be told apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.errors import InputError
from autotune.learning.scaling import weighted_regression

NAMES = ("1", "log2(P)", "log2(SIZE)")


def design(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([np.ones(n), rng.uniform(4, 10, n), rng.uniform(8, 12, n)])


def noisy(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    x = design(n, seed)
    noise = np.random.default_rng(seed + 1).normal(0, 0.1, n)
    return x, x @ np.array([-13.0, -0.9, 2.8]) + noise


def test_a_planted_plane_is_recovered():
    x = design(30, 1)
    found = weighted_regression.fit(x, x @ np.array([-13.0, -0.9, 2.8]), NAMES)
    assert found.coefficients == pytest.approx([-13.0, -0.9, 2.8])
    assert found.rmse == pytest.approx(0.0, abs=1e-10)
    assert found.r2 == pytest.approx(1.0)
    assert found.freedom == 27


def test_equal_weights_are_no_weights():
    x, y = noisy(20, 3)
    plain, equal = (
        weighted_regression.fit(x, y, NAMES),
        weighted_regression.fit(x, y, NAMES, np.full(20, 0.3)),
    )
    assert equal.coefficients == pytest.approx(plain.coefficients)
    assert equal.rmse == pytest.approx(plain.rmse)
    assert equal.freedom == pytest.approx(17)
    assert equal.spread == pytest.approx(plain.spread)


def test_a_weight_of_almost_nothing_leaves_a_row_out():
    x, y = noisy(20, 5)
    y[0] += 5.0
    weights = np.ones(20)
    weights[0] = 1e-9
    without = weighted_regression.fit(x[1:], y[1:], NAMES)
    found = weighted_regression.fit(x, y, NAMES, weights)
    assert found.coefficients == pytest.approx(without.coefficients, abs=1e-5)
    assert found.rmse == pytest.approx(without.rmse, rel=1e-5)
    assert found.freedom == pytest.approx(without.freedom, abs=1e-5)


def test_the_spread_under_weights_is_that_of_repeated_noise():
    """Sandwich: the variance of the coefficients over draws of equally precise rows."""
    x = design(25, 7)
    weights = np.random.default_rng(8).uniform(0.05, 1.0, 25)
    rng = np.random.default_rng(9)
    drawn = [weighted_regression.fit(x, rng.normal(0, 0.2, 25), NAMES, weights) for _ in range(600)]
    measured = np.cov(np.array([one.coefficients for one in drawn]).T)
    expected = 0.04 * drawn[0].spread
    assert np.diag(measured) == pytest.approx(np.diag(expected), rel=0.25)
    assert np.mean([one.rmse**2 for one in drawn]) == pytest.approx(0.04, rel=0.06)


def test_cooks_distance_is_the_shift_of_the_fit_without_the_row():
    x, y = noisy(15, 11)
    found = weighted_regression.fit(x, y, NAMES)
    for i in (0, 7, 14):
        rest = np.arange(15) != i
        without = weighted_regression.fit(x[rest], y[rest], NAMES)
        shift = found.at(x) - without.at(x)
        assert found.cook[i] == pytest.approx(shift @ shift / (3 * found.rmse**2))


def test_an_exact_fit_has_no_spread():
    x, y = noisy(3, 13)
    found = weighted_regression.fit(x, y, NAMES)
    assert (found.freedom, np.isnan(found.rmse)) == (0.0, True)
    assert not weighted_regression.influential(found).any()


def test_too_few_rows_are_refused():
    with pytest.raises(InputError, match="2 runs for 3 coefficients"):
        weighted_regression.fit(design(2, 1), np.ones(2), NAMES)


def test_weak_scaling_alone_is_refused_by_name():
    x = design(20, 1)
    x[:, 2] = x[:, 1] + 6.0  # the size grows with the processors
    with pytest.raises(InputError) as caught:
        weighted_regression.fit(x, np.ones(20), NAMES)
    fault = caught.value.faults[0]
    assert "log2(P) and log2(SIZE)" in fault.found
    assert "vary the size at a fixed number" in fault.hint


@given(st.integers(4, 40), st.integers(0, 1000), st.floats(-5, 5))
@settings(max_examples=20, deadline=None)
def test_a_shift_of_the_response_moves_only_the_intercept(n, seed, shift):
    x, y = noisy(n, seed)
    before, after = (
        weighted_regression.fit(x, y, NAMES),
        weighted_regression.fit(x, y + shift, NAMES),
    )
    assert after.coefficients[1:] == pytest.approx(before.coefficients[1:], abs=1e-7)
    assert after.coefficients[0] - before.coefficients[0] == pytest.approx(shift, abs=1e-6)
    assert after.rmse == pytest.approx(before.rmse, abs=1e-7)


def test_deleted_rows_that_are_no_outliers_count_in_the_spread():
    spreads, plain = [], []
    for seed in range(60):
        x, y = noisy(21, 100 + seed)
        first = weighted_regression.fit(x, y, NAMES)
        gone = weighted_regression.influential(first)
        rest = weighted_regression.fit(x[~gone], y[~gone], NAMES)
        weights = np.ones(int(gone.sum()))
        spreads.append(weighted_regression.recounted(rest, x[gone], y[gone], weights).rmse)
        plain.append(rest.rmse)
    assert np.mean(plain) < 0.095
    assert np.mean(spreads) == pytest.approx(0.1, rel=0.05)


def test_a_deleted_outlier_does_not_count():
    x, y = noisy(21, 7)
    found = weighted_regression.fit(x[1:], y[1:], NAMES)
    again = weighted_regression.recounted(found, x[:1], y[:1] + 9.0, np.ones(1))
    assert (again.rmse, again.freedom) == (found.rmse, found.freedom)
