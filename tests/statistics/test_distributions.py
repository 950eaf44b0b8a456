"""Quantiles of the normal and of Student's distribution, against tables and scipy."""

import math

import pytest
import scipy.special

from autotune.statistics.distributions import NORMAL_QUARTILE, student, student_below


def test_the_normal_quartile_is_scipys() -> None:
    assert float(scipy.special.ndtri(0.75)) == NORMAL_QUARTILE


@pytest.mark.parametrize(
    ("freedom", "level", "expected"), [(1, 0.95, 12.706), (10, 0.95, 2.228), (30, 0.9, 1.697)]
)
def test_students_t_is_that_of_tables(freedom: float, level: float, expected: float) -> None:
    assert student(freedom, level) == pytest.approx(expected, abs=5e-4)
    assert student_below(freedom, (1 + level) / 2) == student(freedom, level)


def test_student_without_freedom_is_infinite_and_levels_are_shares() -> None:
    assert student(0, 0.9) == math.inf
    for level in (0.0, 1.0, -1.0, 2.0):
        with pytest.raises(ValueError, match="a level lies between 0 and 1"):
            student(3, level)
