"""Fedorov's exchange: known optima, brute force over all choices and all single exchanges."""

from itertools import combinations, product

import numpy as np
import pytest

from autotune.domain.tables.table import Floats
from autotune.learning.designs.d_optimal import efficiency
from autotune.learning.designs.exchange import exchanged


def determinant(matrix: Floats, rows: list[int]) -> float:
    chosen = matrix[rows]
    return float(np.linalg.det(chosen.T @ chosen))


def ignored(step: int) -> None:
    """Nobody is told of an exchange."""


def polynomial(order: int, points: int) -> Floats:
    return np.vander(np.linspace(-1, 1, points), order + 1, increasing=True)


def cube(factors: int) -> Floats:
    """The constant and the main effects at the corners of a cube."""
    return np.array([(1.0, *corner) for corner in product((-1.0, 1.0), repeat=factors)])


@pytest.mark.parametrize(
    ("order", "support"),
    [  # the roots of (1 - x^2) P'_order(x): Guest 1958, "The spacing of observations ..."
        (1, [-1.0, 1.0]),
        (2, [-1.0, 0.0, 1.0]),
        (3, [-1.0, -np.sqrt(1 / 5), np.sqrt(1 / 5), 1.0]),
    ],
)
def test_the_d_optimal_points_of_a_polynomial_are_those_of_guest(
    order: int, support: list[float]
) -> None:
    matrix = polynomial(order, 201)
    rows = exchanged(matrix, np.arange(order + 1), ignored)
    assert matrix[rows, 1] == pytest.approx(support, abs=0.01)


def test_a_half_fraction_of_a_cube_is_orthogonal() -> None:
    """4 of 8 corners for 4 terms: det(X'X) = 4^4, the bound of Hadamard."""
    matrix = cube(3)
    rows = exchanged(matrix, np.array([0, 1, 2, 3]), ignored)
    assert determinant(matrix, rows) == pytest.approx(256)
    assert efficiency(matrix[rows]) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(6))
def test_no_single_exchange_raises_the_determinant_further(seed: int) -> None:
    chance = np.random.default_rng(seed)
    matrix = chance.normal(size=(25, 4))
    start = np.sort(chance.permutation(25)[:7])
    rows = exchanged(matrix, start, ignored)
    reached = determinant(matrix, rows)
    assert reached >= determinant(matrix, start.tolist())
    assert len(set(rows)) == 7
    for place, other in product(range(7), set(range(25)) - set(rows)):
        neighbour = [*rows[:place], other, *rows[place + 1 :]]
        assert determinant(matrix, neighbour) <= reached * (1 + 1e-4)


def test_the_best_of_several_starts_is_the_best_of_all_choices() -> None:
    chance = np.random.default_rng(5)
    matrix = chance.normal(size=(12, 3))
    best = max(determinant(matrix, list(rows)) for rows in combinations(range(12), 5))
    starts = [np.sort(chance.permutation(12)[:5]) for _ in range(4)]
    reached = max(determinant(matrix, exchanged(matrix, start, ignored)) for start in starts)
    assert reached == pytest.approx(best)


def test_a_start_that_determines_nothing_is_left() -> None:
    """Rows of a plane only: their determinant is 0."""
    matrix = np.vstack([np.tile([1.0, 0.0, 0.0], (4, 1)), np.eye(3)])
    rows = exchanged(matrix, np.array([0, 1, 2]), ignored)
    assert determinant(matrix, rows) == pytest.approx(1)


def test_many_exchanges_do_not_drift_from_the_determinants_they_state() -> None:
    """Rounding errors of the updates are swept out: the result is a local optimum here too."""
    chance = np.random.default_rng(11)
    matrix = np.column_stack([np.ones(400), chance.uniform(-1, 1, (400, 5))])
    steps: list[int] = []
    rows = exchanged(matrix, np.arange(60), steps.append)
    assert steps == list(range(len(steps)))
    assert len(steps) > 50
    swapped = exchanged(matrix, np.array(rows), ignored)
    assert determinant(matrix, swapped) == pytest.approx(determinant(matrix, rows), rel=1e-3)


def test_what_cannot_be_bettered_stays() -> None:
    matrix = cube(2)
    assert exchanged(matrix, np.arange(4), ignored) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (cube(2), 1.0),
        (np.array([[1.0, -1], [1, 0], [1, 1]]), np.sqrt(6) / 3),
        (np.array([[1.0, 2], [2, 4]]), 0.0),
        (np.array([[1.0, 1]]), 0.0),
    ],
)
def test_the_efficiency_is_the_root_of_the_determinant_by_row(
    matrix: Floats, expected: float
) -> None:
    assert efficiency(matrix) == pytest.approx(expected, abs=1e-6)
