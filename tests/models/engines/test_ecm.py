"""The arithmetic of the ECM model: Eq. 5 to 11 and its properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.models.engines.ecm_arithmetic import (
    combine,
    kernel_cycles,
    path_cycles,
    step_seconds,
)

CYCLES = st.floats(0, 1e6, allow_nan=False)
SHARE = st.floats(0, 1)


def one(T_OL: float, T_nOL: float, data: float, share: float) -> float:
    arrays = [np.array([value]) for value in (T_OL, T_nOL, data, share * data)]
    return float(combine(*arrays)[0])


@given(T_OL=CYCLES, T_nOL=CYCLES, data=CYCLES)
def test_exposed_transfers_give_equation_7_and_hidden_ones_the_maximum(
    T_OL: float, T_nOL: float, data: float
) -> None:
    assert one(T_OL, T_nOL, data, 1) == pytest.approx(max(T_OL, T_nOL + data))
    assert one(T_OL, T_nOL, data, 0) == max(T_OL, T_nOL, data)


@given(T_OL=CYCLES, T_nOL=CYCLES, data=CYCLES, share=SHARE)
def test_the_time_lies_between_the_largest_part_and_the_sum(
    T_OL: float, T_nOL: float, data: float, share: float
) -> None:
    time = one(T_OL, T_nOL, data, share)
    assert max(T_OL, T_nOL, data) <= time <= (T_OL + T_nOL + data) * (1 + 1e-12)


@given(T_OL=CYCLES, T_nOL=CYCLES, data=CYCLES, exposed=CYCLES, more=CYCLES, more_share=SHARE)
def test_the_time_never_falls_when_traffic_grows(
    T_OL: float, T_nOL: float, data: float, exposed: float, more: float, more_share: float
) -> None:
    """Also when the added traffic overlaps better than what is there."""
    exposed = min(exposed, data)
    before = combine(*(np.array([v]) for v in (T_OL, T_nOL, data, exposed)))[0]
    grown = (T_OL, T_nOL, data + more, exposed + more * more_share)
    after = combine(*(np.array([v]) for v in grown))[0]
    assert after >= before * (1 - 1e-12)


@given(T_OL=CYCLES, T_nOL=CYCLES, data=CYCLES, share=SHARE, scale=st.floats(1e-3, 1e3))
def test_the_time_scales_with_its_parts(
    T_OL: float, T_nOL: float, data: float, share: float, scale: float
) -> None:
    scaled = one(T_OL * scale, T_nOL * scale, data * scale, share)
    assert scaled == pytest.approx(one(T_OL, T_nOL, data, share) * scale, rel=1e-9, abs=1e-12)


def test_links_add_where_exposed_and_hide_where_not() -> None:
    links = np.array([2.0, 4.0, 10.0])
    assert path_cycles(links, np.ones(3)).tolist() == [2, 6, 16]
    assert path_cycles(links, np.zeros(3)).tolist() == [2, 4, 10]
    assert path_cycles(np.array([5.0, 2.0]), np.array([1.0, 0.0])).tolist() == [5, 5]
    broken = path_cycles(np.array([2.0, np.nan, 1.0]), np.ones(3))
    assert np.isnan(broken).tolist() == [False, True, True]


def test_equations_8_and_10_by_hand() -> None:
    """alpha 20 cy per line of 8 components, 2^20 components each, 2 GHz, a barrier of 1 us."""
    cycles = kernel_cycles(np.array([20.0]), np.array([2.0**20]), 8)
    assert cycles[0] == 20 * 2**17
    theta = step_seconds(cycles / 2e9, 3, 1e-6)
    assert theta == pytest.approx(20 * 2**17 / 2e9 + 3e-6)
