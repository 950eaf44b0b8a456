"""Coefficients of least squares: planted ones, units of columns, columns without effect."""

import numpy as np
import pytest

from autotune.statistics.least_squares import least_squares

CHANCE = np.random.default_rng(5)
COLUMNS = CHANCE.uniform(1.0, 2.0, (20, 3))
PLANTED = np.array([2.0, -3.0, 0.5])


def test_planted_coefficients_are_found() -> None:
    assert least_squares(COLUMNS, COLUMNS @ PLANTED) == pytest.approx(PLANTED)


def test_the_unit_of_a_column_divides_its_coefficient() -> None:
    units = np.array([1.0, 1e12, 1e-12])
    values = COLUMNS @ PLANTED + CHANCE.normal(0.0, 0.1, 20)
    assert least_squares(COLUMNS * units, values) * units == pytest.approx(
        least_squares(COLUMNS, values)
    )


def test_the_residuals_have_nothing_in_common_with_the_columns() -> None:
    values = CHANCE.uniform(0.0, 1.0, 20)
    left = values - COLUMNS @ least_squares(COLUMNS, values)
    assert COLUMNS.T @ left == pytest.approx(np.zeros(3), abs=1e-12)


def test_a_column_of_zeros_has_no_coefficient() -> None:
    matrix = np.column_stack([COLUMNS[:, 0], np.zeros(20)])
    assert least_squares(matrix, 4.0 * COLUMNS[:, 0]) == pytest.approx([4.0, 0.0])
