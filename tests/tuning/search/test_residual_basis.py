"""What residuals are over: levels, trends and scales by hand."""

import math

import numpy as np
import pytest

from autotune.tuning.search.residual_basis import basis

NAN = math.nan
ONE = np.zeros(3, dtype=np.intp)


def test_without_predictions_there_is_no_level_and_all_are_alike() -> None:
    found = basis(np.full(3, NAN), np.full(3, 0.2), ONE)
    assert found.hints.shape == (0, 3)
    assert found.level.tolist() == [0.0, 0.0, 0.0]
    assert found.scale.tolist() == [1.0, 1.0, 1.0]


def test_levels_are_medians_and_hints_are_centred_on_each_problem() -> None:
    """Of the second problem the slower one is 2 above the median, and counts as less."""
    predicted = np.array([1.0, 2.0, 2.0, 10.0, 14.0])
    group = np.array([0, 0, 0, 1, 1], dtype=np.intp)
    found = basis(predicted, np.full(5, NAN), group)
    assert found.level.tolist() == [2.0, 2.0, 2.0, 12.0, 12.0]
    assert found.hints[0, :3] == pytest.approx([-2 / 3, 1 / 3, 1 / 3])
    far = 0.3 * math.log(1 + 2 / 0.3)
    assert found.hints[0, 3:] == pytest.approx([-1 - far / 2, 1 + far / 2])
    assert found.scale.tolist() == [1.0] * 5


def test_a_candidate_without_a_prediction_is_in_the_middle_and_less_sure() -> None:
    predicted = np.array([1.0, 2.0, 6.0, NAN, NAN, NAN])
    group = np.array([0, 0, 0, 0, 1, 1], dtype=np.intp)
    found = basis(predicted, np.full(6, NAN), group)
    assert found.level.tolist() == [2.0] * 6
    assert found.hints[0, 3:].tolist() == [0.0, 0.0, 0.0]
    assert found.scale[3] == pytest.approx(math.hypot(1.0, 1.5))  # the spread is 2.16
    assert found.scale[4:].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("predicted", "spread"), [([0.0, 0.1], 0.2), ([0.0, 1.0], 0.5), ([0.0, 9.0], 1.5)]
)
def test_the_spread_of_predictions_counts_from_a_fifth_to_one_and_a_half(
    predicted: list[float], spread: float
) -> None:
    found = basis(np.array([*predicted, NAN]), np.full(3, NAN), ONE)
    assert found.scale.tolist() == pytest.approx([1.0, 1.0, math.hypot(1.0, spread)])


@pytest.mark.parametrize(
    ("stated", "scale"),
    [
        ([0.2, 0.3, 0.5], [2 / 3, 1.0, 5 / 3]),
        ([0.1, 0.3, 0.9], [0.5, 1.0, 2.0]),
        ([0.01, 0.02, 0.03], [0.5, 0.5, 0.5]),
        ([0.9, 0.9, 1.5], [1.5, 1.5, 2.0]),
        ([NAN, 0.2, 0.4], [1.0, 2 / 3, 4 / 3]),
    ],
)
def test_stated_errors_count_relative_to_their_median(
    stated: list[float], scale: list[float]
) -> None:
    found = basis(np.array([1.0, 2.0, 3.0]), np.array(stated), ONE)
    assert found.scale == pytest.approx(scale)


def test_an_error_that_is_stated_without_a_prediction_says_nothing() -> None:
    found = basis(np.array([1.0, 3.0, NAN]), np.array([NAN, NAN, 0.5]), ONE)
    assert found.scale.tolist() == pytest.approx([1.0, 1.0, math.hypot(1.0, 1.0)])


def test_a_prior_is_a_further_hint() -> None:
    prior = np.array([1.0, 1.0, NAN])
    found = basis(np.array([1.0, 2.0, 3.0]), np.full(3, NAN), ONE, prior + np.array([-1.0, 0, 0]))
    assert found.hints.shape == (2, 3)
    assert found.hints[1, 2] == 0.0
    alone = basis(np.full(3, NAN), np.full(3, NAN), ONE, prior)
    assert alone.hints.tolist() == [[0.0, 0.0, 0.0]]
    assert alone.level.tolist() == [0.0, 0.0, 0.0]
