"""What residuals are over: levels, trends and scales by hand."""

import math

import numpy as np
import pytest

from autotune.tuning.search.residual_basis import basis

NAN = math.nan
ONE = np.zeros(3, dtype=np.intp)


def test_without_predictions_there_is_no_level_and_all_are_alike() -> None:
    found = basis(np.full(3, NAN), np.full(3, 0.2), ONE)
    assert (found.modelled, found.typical, found.prior_offset) == (False, None, None)
    assert found.level.tolist() == [0.0, 0.0, 0.0]
    assert found.trend.tolist() == [0.0, 0.0, 0.0]
    assert found.scale.tolist() == [1.0, 1.0, 1.0]


def test_levels_are_predictions_and_trends_are_centred_on_each_problem() -> None:
    predicted = np.array([1.0, 2.0, 6.0, 10.0, 14.0])
    group = np.array([0, 0, 0, 1, 1], dtype=np.intp)
    found = basis(predicted, np.full(5, NAN), group)
    assert found.modelled
    assert found.level.tolist() == predicted.tolist()
    assert found.trend.tolist() == [-2.0, -1.0, 3.0, -2.0, 2.0]
    assert found.typical is None
    assert found.scale.tolist() == [1.0] * 5


def test_a_candidate_without_a_prediction_is_on_the_median_of_its_problem() -> None:
    """It is less sure: beside 1, by the spread of the predictions over the usual error, 0.3."""
    predicted = np.array([1.0, 2.0, 6.0, NAN, NAN, NAN])
    group = np.array([0, 0, 0, 0, 1, 1], dtype=np.intp)
    found = basis(predicted, np.full(6, NAN), group)
    assert found.level.tolist() == [1.0, 2.0, 6.0, 2.0, 2.0, 2.0]
    assert found.trend[3:].tolist() == [0.0, 0.0, 0.0]
    assert found.scale[3] == pytest.approx(math.hypot(1.0, 1.5 / 0.3))  # the spread is 2.16
    assert found.scale[4:].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("predicted", "spread"), [([0.0, 0.1], 0.2), ([0.0, 1.0], 0.5), ([0.0, 9.0], 1.5)]
)
def test_the_spread_of_predictions_counts_from_a_fifth_to_one_and_a_half(
    predicted: list[float], spread: float
) -> None:
    found = basis(np.array([*predicted, NAN]), np.full(3, NAN), ONE)
    assert found.scale.tolist() == pytest.approx([1.0, 1.0, math.hypot(1.0, spread / 0.3)])


@pytest.mark.parametrize(
    ("stated", "typical", "scale"),
    [
        ([0.2, 0.3, 0.5], 0.3, [2 / 3, 1.0, 5 / 3]),
        ([0.1, 0.3, 0.9], 0.3, [0.5, 1.0, 2.0]),
        ([0.01, 0.02, 0.03], 0.1, [0.5, 0.5, 0.5]),
        ([0.9, 0.9, 1.5], 0.6, [1.5, 1.5, 2.0]),
        ([NAN, 0.2, 0.4], 0.3, [1.0, 2 / 3, 4 / 3]),
    ],
)
def test_stated_errors_count_relative_to_their_median(
    stated: list[float], typical: float, scale: list[float]
) -> None:
    found = basis(np.array([1.0, 2.0, 3.0]), np.array(stated), ONE)
    assert found.typical == pytest.approx(typical)
    assert found.scale == pytest.approx(scale)


def test_an_error_that_is_stated_without_a_prediction_says_nothing() -> None:
    found = basis(np.array([1.0, 3.0, NAN]), np.array([NAN, NAN, 0.5]), ONE)
    assert found.typical is None
    assert found.scale.tolist() == pytest.approx([1.0, 1.0, math.hypot(1.0, 1.0 / 0.3)])


def test_seven_tenths_of_a_prior_are_believed_before_anything_was_measured() -> None:
    prior = np.array([1.0, 4.0, NAN])
    found = basis(np.array([1.0, 2.0, 3.0]), np.full(3, NAN), ONE, prior)
    assert found.prior_offset is not None
    assert found.prior_offset.tolist() == [-1.0, 1.0, 0.0]
    assert found.level == pytest.approx([1.0 - 0.7, 2.0 + 0.7, 3.0])
    alone = basis(np.full(3, NAN), np.full(3, NAN), ONE, prior)
    assert alone.prior_offset is not None
    assert alone.prior_offset.tolist() == [-1.5, 1.5, 0.0]
    assert alone.level == pytest.approx([-1.05, 1.05, 0.0])
    assert not alone.modelled
