"""Machines and calibrations: what is refused, and what is read off them."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.calibration import BandwidthCurve, Calibration
from autotune.domain.machine import CacheLevel, InCore, Machine, Memory, PortTable

L1 = CacheLevel(name="L1", size=32768, line=64, ways=8, cores=1)
L2 = CacheLevel(name="L2", size=262144, line=64, ways=8, cores=1, inbound=32.0, exposed=0.5)
PORTS = PortTable(
    vector=32,
    loads=2,
    stores=1,
    memory_operations=3,
    adds=1,
    multiplies=2,
    fused=2,
    floating=2,
    divide=28,
    issue=4,
)
CURVE = BandwidthCurve(
    threads=1, working_set=(1024, 65536), bandwidth=(64.0, 16.0), spread=(0.0, 0.1)
)
MACHINE = Machine(
    name="m",
    architecture="x86_64",
    clock=2e9,
    cores=4,
    threads_per_core=2,
    caches=(L1, L2),
    memory=Memory(saturated=5e10, cores=4, exposed=0.25),
    in_core=InCore(ports=PORTS),
)
CALIBRATION = Calibration(
    identity="x",
    taken="2026-01-01T00:00:00+00:00",
    seconds=10.0,
    clock=3e9,
    clock_spread=0.01,
    curves=(CURVE, dataclasses.replace(CURVE, threads=4)),
    barriers={2: 1e-6, 8: 4e-6},
    exposed={"L2": 0.125, "MEM": 0.75},
    contended=False,
    priority="nice",
    compiler="gcc 12",
)


def test_derived_figures():
    assert L1.sets == 64
    assert MACHINE.line == 64
    assert MACHINE.frequency == 2e9
    assert MACHINE.exposed("L2") == 0.5
    assert MACHINE.exposed("MEM") == 0.25


def test_measured_figures_win():
    machine = dataclasses.replace(MACHINE, calibration=CALIBRATION)
    assert machine.frequency == 3e9
    assert machine.exposed("L2") == 0.125
    assert machine.exposed("MEM") == 0.75
    assert machine.exposed("L1") == 1.0


@pytest.mark.parametrize(
    ("whole", "change", "message"),
    [
        (L1, {"size": 32}, "below one line"),
        (L1, {"size": 32704}, "is not sets x 8 ways"),
        (L1, {"ways": 0}, "is not sets"),
        (L1, {"cores": 0}, "at least one core"),
        (L1, {"exposed": 1.5}, "not in"),
        (L1, {"inbound": 0.0}, "not positive"),
        (MACHINE.memory, {"saturated": -1.0}, "not positive"),
        (MACHINE.memory, {"exposed": -0.1}, "not in"),
        (MACHINE.memory, {"cores": 0}, "at least one core"),
        (PORTS, {"loads": 0}, "loads must be positive"),
        (PORTS, {"fused": -1}, "fused must be positive"),
        (MACHINE, {"clock": 0.0}, "clock must be positive"),
        (MACHINE, {"clock": float("nan")}, "clock must be positive"),
        (MACHINE, {"cores": 0}, "cores must be at least 1"),
        (MACHINE, {"threads_per_core": 0}, "threads_per_core must be at least 1"),
        (MACHINE, {"caches": ()}, "at least one cache level"),
        (MACHINE, {"caches": (L2, L1)}, "L1 is smaller than L2"),
        (CURVE, {"working_set": (), "bandwidth": (), "spread": ()}, "at least one point"),
        (CURVE, {"spread": (0.0,)}, "equal length"),
        (CURVE, {"working_set": (5, 5)}, "ascend"),
        (CURVE, {"bandwidth": (1.0, 0.0)}, "must be positive"),
    ],
)
def test_wrong_figures_are_refused(whole, change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(whole, **change)


def test_no_fused_multiply_add_is_a_machine_too():
    assert dataclasses.replace(PORTS, fused=0).fused == 0


def test_bandwidth_is_interpolated_on_logarithmic_axes():
    assert CURVE.at(8192) == pytest.approx(32.0)
    assert CURVE.at(1) == 64.0
    assert CURVE.at(1 << 30) == 16.0


@given(st.floats(min_value=1, max_value=1e9))
def test_interpolated_bandwidth_stays_between_the_measured(working_set):
    assert 16.0 * (1 - 1e-12) <= CURVE.at(working_set) <= 64.0 * (1 + 1e-12)


def test_the_curve_of_the_nearest_thread_count():
    assert CALIBRATION.curve(1).threads == 1
    assert CALIBRATION.curve(3).threads == 4
    assert CALIBRATION.curve(100).threads == 4
    with pytest.raises(ValueError, match="no bandwidth curve"):
        dataclasses.replace(CALIBRATION, curves=()).curve(1)


@pytest.mark.parametrize(
    ("threads", "seconds"), [(1, 0.0), (2, 1e-6), (5, 2.5e-6), (8, 4e-6), (16, 8e-6)]
)
def test_barriers_between_and_beyond_the_measured(threads, seconds):
    assert CALIBRATION.barrier(threads) == pytest.approx(seconds)


@given(st.integers(min_value=1, max_value=100))
def test_barriers_never_get_cheaper_with_more_threads(threads):
    assert CALIBRATION.barrier(threads + 1) >= CALIBRATION.barrier(threads)


def test_no_measured_barrier_costs_nothing():
    assert dataclasses.replace(CALIBRATION, barriers={}).barrier(4) == 0
