"""The expected regret against draws, and its limits."""

import numpy as np
import pytest

from autotune.statistics.expected_regret import expected_regrets


def test_it_is_the_mean_over_draws():
    times, errors = {"a": 1.0, "b": 1.02, "c": 1.1}, {"a": 0.05, "b": 0.02, "c": 0.08}
    chance = np.random.default_rng(1)
    drawn = np.exp(
        np.log([*times.values()]) + chance.normal(size=(200_000, 3)) * [*errors.values()]
    )
    expected = drawn.mean(axis=0) / drawn.min(axis=1).mean() - 1
    assert [*expected_regrets(times, errors).values()] == pytest.approx(expected, abs=5e-4)


def test_without_errors_it_is_how_much_slower_a_candidate_is():
    regrets = expected_regrets({"a": 2.0, "b": 3.0}, {"a": 0.0, "b": 0.0})
    assert regrets == pytest.approx({"a": 0.0, "b": 0.5})


def test_one_alone_has_none():
    assert expected_regrets({"a": 2.0}, {"a": 0.1})["a"] == pytest.approx(0.0, abs=1e-6)


def test_of_equal_times_the_one_that_is_known_better_has_less():
    regrets = expected_regrets({"a": 1.0, "b": 1.0}, {"a": 0.01, "b": 0.2})
    assert regrets["a"] < regrets["b"]
