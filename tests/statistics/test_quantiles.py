"""Quantiles of samples and Student's t, against textbooks and numpy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.statistics.quantiles import (
    MAD_TO_DEVIATION,
    NORMAL_QUARTILE,
    RANGE_TO_DEVIATION,
    cuts,
    quantile,
    quartile,
    student,
    student_below,
)

FINITE = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)


@given(FINITE, st.floats(0, 1))
def test_quantiles_are_numpys(values: list[float], share: float) -> None:
    assert quantile(sorted(values), share) == pytest.approx(np.quantile(values, share), abs=1e-6)


@given(FINITE, st.sampled_from([1, 2, 3]))
def test_quartiles_are_numpys_in_any_order(values: list[float], which: int) -> None:
    assert quartile(values, which) == pytest.approx(np.quantile(values, which / 4), abs=1e-6)


def test_infinite_values_stay_infinite() -> None:
    assert quantile([1.0, math.inf], 0.5) == math.inf
    assert quantile([math.inf, math.inf], 0.5) == math.inf
    assert quantile([1.0, 2.0, math.inf], 0.5) == 2.0


def test_cuts_are_one_fewer_than_parts() -> None:
    assert cuts([0.0, 10.0], 10) == pytest.approx(range(1, 10))


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


def test_scales_are_those_of_normal_values() -> None:
    assert pytest.approx(0.6745, abs=1e-4) == NORMAL_QUARTILE
    assert pytest.approx(1 / NORMAL_QUARTILE, abs=1e-4) == MAD_TO_DEVIATION
    assert pytest.approx(2 * NORMAL_QUARTILE, abs=1e-4) == RANGE_TO_DEVIATION
