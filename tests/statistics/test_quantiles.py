"""Quantiles of samples, against numpy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.statistics.distributions import NORMAL_QUARTILE
from autotune.statistics.quantiles import (
    MAD_TO_DEVIATION,
    RANGE_TO_DEVIATION,
    cuts,
    quantile,
    quartile,
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


def test_scales_are_those_of_normal_values() -> None:
    assert pytest.approx(0.6745, abs=1e-4) == NORMAL_QUARTILE
    assert pytest.approx(1 / NORMAL_QUARTILE, abs=1e-4) == MAD_TO_DEVIATION
    assert pytest.approx(2 * NORMAL_QUARTILE, abs=1e-4) == RANGE_TO_DEVIATION
