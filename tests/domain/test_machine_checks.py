"""Figures of a machine that cannot be true together: which figure, what it is, what it may be."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune import paths
from autotune.domain.calibration import BandwidthCurve, Calibration
from autotune.domain.cost_curve import CostCurve, Segment
from autotune.domain.machine import CacheLevel, InCore, Machine, Memory, Streaming
from autotune.domain.machine_checks import contradictions, impossible_figures
from autotune.domain.misfit import Misfit
from autotune.domain.network import Network
from autotune.files import config
from autotune.files.config.machines import check_physics
from autotune.files.config.session import Session


def cache(name, size, **change):
    return CacheLevel(name=name, size=size, line=64, ways=8, **change)


L1 = cache("L1", 32 << 10)
L2 = cache("L2", 256 << 10, inbound=32.0)
L3 = cache("L3", 4 << 20, cores=4, inbound=16.0)
SOUND = Machine(
    name="m",
    architecture="x86_64",
    clock=2e9,
    cores=8,
    sockets=2,
    caches=(L1, L2, L3),
    memory=Memory(saturated=50e9, single=20e9, cores=4, peak=60e9),
    in_core=InCore(osaca="HSW"),
    barrier=1e-6,
)
CALIBRATION = Calibration(
    identity="x",
    taken="now",
    seconds=1.0,
    clock=2e9,
    clock_spread=0.0,
    curves=(BandwidthCurve(threads=1, working_set=(1024,), bandwidth=(8.0,), spread=(0.0,)),),
    barriers={2: 1e-6},
    exposed={},
    contended=False,
    priority="none",
    compiler="gcc",
)


def memory(**change):
    return {"memory": replace(SOUND.memory, **change)}


def curve(latency):
    return CostCurve(
        operation="pingpong", benchmark="osu", nodes=2, ranks=2, measured=(8, 8),
        segments=(Segment(lower=0, latency=latency, bandwidth=1e9),),
    )  # fmt: skip


def test_a_memory_no_larger_than_the_last_cache_is_none():
    (misfit,) = contradictions(replace(SOUND, **memory(capacity=4 << 20)))
    assert misfit.keys == ("memory", "capacity")
    assert "a memory of 4 MiB, no more than L3, 4 MiB" in misfit.found
    assert list(contradictions(replace(SOUND, **memory(capacity=32 << 30)))) == []


def test_a_machine_that_can_be_has_no_contradiction():
    assert list(contradictions(SOUND)) == []


@pytest.mark.parametrize(
    ("change", "contradiction"),
    [
        (
            {"clock": 9e7} | memory(single=None),
            Misfit(("clock",), "a clock of 90 MHz", "0.1 GHz to 10 GHz"),
        ),
        (
            {"clock": 2e10},
            Misfit(("clock",), "a clock of 20 GHz", "0.1 GHz to 10 GHz"),
        ),
        (
            {"sockets": 3},
            Misfit(("sockets",), "8 cores cannot be spread over 3 sockets", "a divisor of cores"),
        ),
        (
            memory(cores=3),
            Misfit(
                ("memory", "cores"),
                "8 cores are no whole number of NUMA domains of 3",
                "a divisor of cores",
            ),
        ),
        (
            {"caches": (L1, L2, replace(L3, cores=9))},
            Misfit(("caches", 2, "cores"), "L3 is shared by 9 cores of 8", "at most 8"),
        ),
        (
            {"caches": (L1, cache("L2", 256 << 10, cores=8, inbound=32.0), L3)},
            Misfit(
                ("caches", 2, "cores"), "L3 is shared by fewer cores than L2", "as many or more"
            ),
        ),
        (
            {"caches": (L1, L2, replace(L3, inbound=33.0))},
            Misfit(
                ("caches", 2, "inbound"),
                "L3 delivers 33 B/cy, L2 inside it 32 B/cy",
                "bandwidths that do not rise outwards",
            ),
        ),
        (
            memory(single=51e9, saturated=50e9, peak=None) | {"clock": 4e9},
            Misfit(
                ("memory", "single"),
                "one core reaches 51 GB/s, all together 50 GB/s",
                "at most the saturated bandwidth",
            ),
        ),
        (
            memory(single=40e9),
            Misfit(
                ("memory", "single"),
                "one core loads 40 GB/s from memory, but 32 GB/s from L3",
                "bandwidths that do not rise outwards",
            ),
        ),
        (
            memory(saturated=61e9),
            Misfit(
                ("memory", "saturated"),
                "61 GB/s are more than the channels carry, 60 GB/s",
                "at most memory.peak",
            ),
        ),
        (
            memory(benchmarks={"copy": Streaming(saturated=70e9)}),
            Misfit(
                ("memory", "benchmarks", "copy", "saturated"),
                "70 GB/s are more than the channels carry, 60 GB/s",
                "at most memory.peak",
            ),
        ),
        (
            {"barrier": 1.5},
            Misfit(("barrier",), "a barrier of 1.5 s", "less than a second"),
        ),
        (
            {"network": Network(curves=(curve(1e-6), replace(curve(2.0), ranks=4)))},
            Misfit(
                ("network", "curves", 1), "a latency of pingpong above a second", "microseconds"
            ),
        ),
    ],
)
def test_each_contradiction_says_where_and_what_can_be(change, contradiction):
    assert list(contradictions(replace(SOUND, **change))) == [contradiction]


@pytest.mark.parametrize("clock", [0.99e8, 1.01e10])
def test_a_calibrated_clock_is_that_of_a_processor(clock):
    machine = replace(SOUND, calibration=replace(CALIBRATION, clock=clock), **memory(single=None))
    (misfit,) = contradictions(machine)
    assert misfit.keys == ("calibration", "clock")
    for possible in (1.01e8, 0.99e10):  # whatever a guest, or an idle host, reports
        assert not list(impossible_figures(replace(CALIBRATION, clock=possible)))


def test_an_outer_cache_may_be_smaller_only_where_fewer_cores_share_it():
    small = replace(SOUND, caches=(replace(L1, cores=4), cache("L2", 16 << 10, cores=1)))
    found = [contradiction.found for contradiction in contradictions(small)]
    assert found == [
        "L2 has 16 KiB, L1 inside it 32 KiB",
        "L2 is shared by fewer cores than L1",
    ]


def test_figures_may_be_rounded_in_the_fourth_digit():
    assert not list(contradictions(replace(SOUND, **memory(saturated=60.05e9))))
    assert list(contradictions(replace(SOUND, **memory(saturated=60.1e9))))


def test_what_is_not_stated_contradicts_nothing():
    bare = replace(SOUND, memory=Memory(cores=4), caches=(L1, replace(L2, inbound=None), L3))
    assert list(contradictions(replace(bare, barrier=None))) == []


def test_every_contradiction_of_a_machine_is_named_at_once():
    wrong = replace(SOUND, clock=1.0, sockets=5, barrier=2.0)
    keys = [contradiction.keys for contradiction in contradictions(wrong)]
    assert keys == [("clock",), ("sockets",), ("memory", "single"), ("barrier",)]


def test_contradictions_of_a_file_without_places_name_the_file():
    session = Session()
    check_physics(session, Path("/nowhere/m.yml"), None, replace(SOUND, clock=1e12))
    assert [str(fault) for fault in session.faults] == [
        "/nowhere/m.yml: a clock of 1000 GHz; expected 0.1 GHz to 10 GHz"
    ]


@pytest.mark.parametrize("name", paths.names("machines"))
def test_no_shipped_machine_contradicts_itself(name):
    assert list(contradictions(config.machine(name))) == []


@given(st.integers(0, 6), st.integers(0, 6))
def test_a_machine_of_powers_of_two_can_always_be(cores, sockets):
    machine = replace(
        SOUND, cores=1 << max(cores, sockets, 2), sockets=1 << min(cores, sockets)
    )  # fmt: skip
    assert list(contradictions(machine)) == []
