"""Covariance functions against Bessel functions; terms against covariances written out."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.statistics.gaussian_process.kernels import (
    ROOT5,
    Fixed,
    Floats,
    KernelTerm,
    LinearTrend,
    Matern52,
    White,
    matern32_exponential,
    matern52,
    matern52_in_place,
    matern52_with_slope,
)

DISTANCES = np.array([1e-3, 0.1, 0.5, 1.0, 2.0, 7.0])


def matern(order: float, distance: Floats) -> Floats:
    """Matern's function of any order: Rasmussen and Williams 2006, eq. 4.14, with length 1."""
    away = math.sqrt(2 * order) * distance
    scale = 2 ** (1 - order) / scipy.special.gamma(order)
    return np.asarray(scale * away**order * scipy.special.kv(order, away))


def test_matern_52_is_the_one_of_bessel_functions() -> None:
    assert matern52(ROOT5 * DISTANCES) == pytest.approx(matern(2.5, DISTANCES), rel=1e-9)
    assert matern52(ROOT5 * DISTANCES, 4.0) == pytest.approx(4 * matern(2.5, DISTANCES), rel=1e-9)


def test_matern_32_times_exponential_is_the_product_of_orders_32_and_12() -> None:
    apart = DISTANCES[::-1]
    product = matern32_exponential(math.sqrt(3) * DISTANCES, apart)
    assert product == pytest.approx(matern(1.5, DISTANCES) * matern(0.5, apart), rel=1e-9)


def test_covariances_without_distance_are_the_variance() -> None:
    nothing = np.zeros(2)
    assert matern52(nothing, 2.5).tolist() == [2.5, 2.5]
    assert matern32_exponential(nothing, nothing).tolist() == [1.0, 1.0]


def test_the_slope_is_twice_that_by_the_squared_distance_turned_round() -> None:
    step = 1e-6
    squares = DISTANCES[1:] ** 2
    after, before = (matern52(ROOT5 * np.sqrt(squares + sign * step), 3.0) for sign in (1, -1))
    value, slope = matern52_with_slope(ROOT5 * np.sqrt(squares), 3.0)
    assert slope == pytest.approx(-2 * (after - before) / (2 * step), rel=1e-6)
    assert value.tolist() == matern52(ROOT5 * np.sqrt(squares), 3.0).tolist()


def test_the_slope_where_points_coincide_is_finite() -> None:
    """5/3 of the variance: the derivative of the square of a distance of 0, not of a distance."""
    assert matern52_with_slope(np.zeros(1), 3.0)[1] == pytest.approx(5.0)


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=6), st.floats(0.01, 100))
def test_the_form_without_further_memory_gives_the_same(
    squares: list[float], variance: float
) -> None:
    expected = matern52(ROOT5 * np.sqrt(squares), variance)
    given_memory = np.array(squares)
    matern52_in_place(given_memory, variance)
    assert given_memory == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_squares_that_rounding_made_negative_are_no_distance() -> None:
    squares = np.array([-1e-17, 0.0])
    matern52_in_place(squares, 2.0)
    assert squares.tolist() == [2.0, 2.0]


@settings(max_examples=30)
@given(st.lists(st.floats(0, 50), min_size=2, max_size=8))
def test_covariances_fall_with_distance(distances: list[float]) -> None:
    values = matern52(np.sort(distances))
    assert np.all(np.diff(values) <= 0)
    assert np.all(values >= 0)


# --- terms ------------------------------------------------------------------------------------

POINTS = np.array([[0.0, 1.0], [0.5, -1.0], [2.0, 0.3], [-1.0, 0.0], [0.1, 0.9]])
UPPER = np.triu_indices(len(POINTS), 1)


def squares() -> Floats:
    """(2, m) squared distances by each of the two columns."""
    return np.array([(POINTS[UPPER[0], k] - POINTS[UPPER[1], k]) ** 2 for k in (0, 1)])


TERMS: list[tuple[KernelTerm, tuple[float, ...]]] = [
    (Matern52(squares()), (0.7, 1.9, 1.3)),
    (LinearTrend((POINTS @ POINTS.T)[UPPER], (POINTS**2).sum(axis=1)), (0.8,)),
    (Fixed(0.3, 0.5), ()),
    (White(1e-3), (0.2,)),
]
NAMES = ["matern", "trend", "fixed", "white"]


def full(term: KernelTerm, values: Sequence[float]) -> Floats:
    """The covariance matrix of a term."""
    part = term.at(np.array(values))
    gram = np.zeros((len(POINTS), len(POINTS)))
    gram[UPPER] = part.upper
    gram += gram.T
    gram[np.diag_indices(len(POINTS))] = part.diagonal
    return gram


def test_matern_has_a_length_for_each_group_and_a_deviation() -> None:
    lengths = np.array([0.7, 1.9])
    scaled = POINTS / lengths
    apart = np.linalg.norm(scaled[:, None] - scaled[None], axis=2)
    expected = 1.3**2 * np.where(apart > 0, matern(2.5, np.maximum(apart, 1e-9)), 1.0)
    assert full(*TERMS[0]) == pytest.approx(expected, rel=1e-7)


def test_a_linear_trend_is_the_scalar_product() -> None:
    assert full(*TERMS[1]) == pytest.approx(0.8**2 * POINTS @ POINTS.T)


def test_white_noise_is_on_the_diagonal_with_its_jitter() -> None:
    assert full(*TERMS[3]) == pytest.approx((0.2**2 + 1e-3) * np.eye(5))


def test_a_fixed_part_has_no_hyperparameters() -> None:
    assert full(*TERMS[2]) == pytest.approx(0.3 + 0.2 * np.eye(5))


@pytest.mark.parametrize(("term", "values"), TERMS, ids=NAMES)
def test_a_term_has_as_many_hyperparameters_as_it_says(
    term: KernelTerm, values: tuple[float, ...]
) -> None:
    assert term.count == len(values)
    slopes = term.at(np.array(values)).gradient(np.zeros(10), np.zeros(5))
    assert slopes == [0.0] * term.count


@pytest.mark.parametrize(("term", "values"), TERMS, ids=NAMES)
def test_every_term_is_a_covariance(term: KernelTerm, values: tuple[float, ...]) -> None:
    assert np.linalg.eigvalsh(full(term, values)).min() > -1e-12


@pytest.mark.parametrize(("term", "values"), TERMS, ids=NAMES)
def test_gradients_are_those_of_finite_differences(
    term: KernelTerm, values: tuple[float, ...]
) -> None:
    """Of the loss sum of ``by_upper`` K_ij above the diagonal and half of ``by_diagonal`` K_ii."""
    chance = np.random.default_rng(2)
    by_upper, by_diagonal = chance.normal(size=10), chance.normal(size=5)

    def loss(logs: Floats) -> float:
        gram = full(term, np.exp(logs).tolist())
        return float(by_upper @ gram[UPPER] + 0.5 * by_diagonal @ np.diag(gram))

    at, step = np.log(np.array(values)), 1e-5
    expected = [
        (loss(at + step * unit) - loss(at - step * unit)) / (2 * step) for unit in np.eye(len(at))
    ]
    assert term.at(np.array(values)).gradient(by_upper, by_diagonal) == pytest.approx(
        expected, rel=1e-7, abs=1e-9
    )
