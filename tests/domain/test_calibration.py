"""Calibrations: what is refused, and what is read off constants and curves of several streams."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.calibration import BandwidthCurve, Calibration, Constant, Refined

CONSTANT = Constant(value=2.0, low=1.5, high=2.5, unit="cy", source="", samples=5)
ONE = BandwidthCurve(
    threads=1, working_set=(1024, 65536), bandwidth=(64.0, 16.0), spread=(0.0, 0.1)
)
FOUR = BandwidthCurve(
    threads=1, streams=4, working_set=(1024, 65536), bandwidth=(64.0, 32.0), spread=(0.0, 0.0)
)
CALIBRATION = Calibration(
    identity="x",
    taken="2026-01-01T00:00:00+00:00",
    seconds=10.0,
    clock=3e9,
    clock_spread=0.01,
    curves=(ONE, dataclasses.replace(ONE, threads=4), FOUR),
    barriers={},
    exposed={},
    contended=False,
    priority="nice",
    compiler="gcc 12",
    constants={
        "outbound.L2": CONSTANT,
        "outbound.L2@4": dataclasses.replace(CONSTANT, value=2.25),
        "line_crossing": CONSTANT,
    },
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": math.nan}, "finite"),
        ({"high": math.inf}, "finite"),
        ({"value": 3.0}, "within its interval"),
        ({"low": -1.0}, "within its interval"),
        ({"samples": 0}, "at least one sample"),
    ],
)
def test_a_constant_lies_within_its_interval(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(CONSTANT, **change)


@pytest.mark.parametrize(("low", "high"), [(13.0, 14.0), (1.0, math.nan), (-1.0, 14.0)])
def test_a_refined_figure_lies_within_its_interval(low, high):
    with pytest.raises(ValueError, match=r"refined|within"):
        Refined(before=10.0, after=12.0, low=low, high=high, study="s")


def test_a_curve_needs_a_stream():
    with pytest.raises(ValueError, match="one stream"):
        dataclasses.replace(ONE, streams=0)


def test_the_curve_of_the_nearest_stream_count():
    assert CALIBRATION.curve(1).streams == 1
    assert CALIBRATION.curve(1, streams=3).streams == 4
    assert CALIBRATION.curve(1, streams=100).streams == 4
    assert CALIBRATION.curve(4, streams=4) == dataclasses.replace(ONE, threads=4)
    assert [curve.threads for curve in CALIBRATION.loads] == [1, 4]


def test_the_constant_of_the_nearest_thread_count():
    assert CALIBRATION.constant("outbound.L2").value == 2.0
    assert CALIBRATION.constant("outbound.L2", threads=3).value == 2.25
    assert CALIBRATION.constant("line_crossing", threads=4) == CONSTANT
    assert CALIBRATION.constant("outbound.L3") is None


def test_several_streams_over_one():
    assert CALIBRATION.stream_factor(1, 1, 65536) == 1
    assert CALIBRATION.stream_factor(1, 4, 65536) == pytest.approx(2)
    assert CALIBRATION.stream_factor(1, 2, 65536) == pytest.approx(math.sqrt(2))
    assert CALIBRATION.stream_factor(1, 16, 1024) == pytest.approx(1)
    assert CALIBRATION.stream_factor(4, 4, 65536) == 1


@given(st.floats(1, 64), st.floats(1, 1e9))
def test_the_factor_stays_between_the_measured(streams, working_set):
    assert 1 - 1e-12 <= CALIBRATION.stream_factor(1, streams, working_set) <= 2 + 1e-12
