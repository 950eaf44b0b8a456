import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_conformance import planted

from autotune.errors import InputError
from autotune.learning.models.conformal import Conformal, HeldOut, folds, reach
from autotune.learning.models.ridge import Ridge


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.floats(0.05, 0.95))
def test_the_reach_is_infinite_for_fewer_rows_than_one_over_alpha(n: int, level: float) -> None:
    errors = np.random.default_rng(n).random(n)
    alpha = 1 - level
    if abs(n - (1 / alpha - 1)) > 1e-6:
        assert math.isinf(reach(errors, level)) == (n < 1 / alpha - 1)


@settings(max_examples=25, deadline=None)
@given(st.integers(20, 200))
def test_at_least_the_level_of_errors_are_within_reach(n: int) -> None:
    errors = np.random.default_rng(n).random(n)
    assert (errors <= reach(errors, 0.9)).mean() >= 0.9


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(0, 5))
def test_folds_are_even_and_the_same_for_a_seed(n: int, seed: int) -> None:
    fold = folds(n, seed)
    sizes = np.bincount(fold)
    assert sizes.max() - sizes.min() <= 1
    assert len(sizes) == min(n, 5)
    assert fold.tolist() == folds(n, seed).tolist()


def test_nothing_said_is_an_infinite_error() -> None:
    held = HeldOut(median=np.array([1.0, np.nan, -2.0]), outside=np.zeros(3, bool))
    assert held.errors(np.array([1.0, 1.0, 1.0])).tolist() == [0.0, math.inf, math.inf]


def test_intervals_cover_about_what_they_promise() -> None:
    covered = []
    for seed in range(20):
        fitted = Conformal(regressor=Ridge()).fit(planted(40, seed), seed)
        fresh = planted(60, seed + 1000)
        forecast = fitted.predict(fresh.inputs, 0.8)
        covered.append(
            ((forecast.low <= fresh.response) & (fresh.response <= forecast.high)).mean()
        )
    assert 0.75 < np.mean(covered) < 0.9


def test_a_single_row_says_nothing_of_errors() -> None:
    table = planted(2)
    fitted = Conformal(regressor=Ridge()).fit(table)
    assert np.isinf(fitted.predict(table.inputs).high).all()
    with pytest.raises(InputError, match="at least 2"):
        Conformal(regressor=Ridge()).fit(planted(1))
