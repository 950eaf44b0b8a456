"""How threads are bound and waited for, and what other processes do meanwhile."""

import os
from pathlib import Path

import pytest

from autotune.measuring.conditions import cpu_contention, quiet
from autotune.measuring.conditions.cpu_contention import CpuCounters
from autotune.measuring.conditions.quiet import (
    OtherProcesses,
    QuietWatch,
    openmp,
)


@pytest.fixture
def four_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "cpus", lambda: 4)


@pytest.mark.usefixtures("four_cpus")
@pytest.mark.parametrize(
    ("threads", "timed", "wait", "bind"),
    [
        (1, True, "active", "close"),
        (4, True, "active", "close"),
        (5, True, "passive", "false"),
        (2, False, "passive", "false"),
    ],
)
def test_threads_wait_actively_where_each_has_a_cpu_and_the_program_is_timed(
    threads: int, timed: bool, wait: str, bind: str
) -> None:
    assert openmp(threads, timed=timed) == {
        "OMP_NUM_THREADS": str(threads),
        "OMP_PLACES": "cores",
        "OMP_PROC_BIND": bind,
        "OMP_WAIT_POLICY": wait,
        "OMP_DYNAMIC": "false",
    }


@pytest.mark.usefixtures("four_cpus")
def test_threads_are_spread_where_they_are_placed_so() -> None:
    assert openmp(2, placement="scatter")["OMP_PROC_BIND"] == "spread"
    assert openmp(2, placement="compact")["OMP_PROC_BIND"] == "close"


@pytest.mark.parametrize(
    ("used", "names", "note"),
    [
        (0.0, (), ""),
        (0.049, ("cc1",), ""),
        (0.05, (), "other processes use 0.05 of 8 CPUs"),
        (1.537, ("cc1", "ld"), "other processes use 1.5 of 8 CPUs (cc1, ld)"),
    ],
)
def test_other_processes_are_noted_where_they_take_a_twentieth_of_a_cpu(
    used: float, names: tuple[str, ...], note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert OtherProcesses(cpus=used, names=names).note == note


def test_stolen_time_is_that_since_the_last_look(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counters = iter(CpuCounters(stolen) for stolen in (10.0, 10.5, 10.5, 12.25))
    monkeypatch.setattr(quiet, "cpu_counters", lambda proc: next(counters))
    monkeypatch.setattr(os, "getloadavg", lambda: (0.75, 9.0, 9.0))
    watch = QuietWatch(tmp_path)
    assert [watch.conditions() for _ in range(3)] == [
        {"load": 0.75, "stolen_s": 0.5},
        {"load": 0.75, "stolen_s": 0.0},
        {"load": 0.75, "stolen_s": 1.75},
    ]


def test_pressure_and_running_threads_are_recorded_where_the_kernel_has_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From 10 s to 14 s something waited for 1 s; then for 3 s of 2 s, which is cut to all."""
    moments = iter([10.0, 14.0, 16.0])
    monkeypatch.setattr(cpu_contention.time, "monotonic", lambda: next(moments))
    pressure = tmp_path / "pressure" / "cpu"
    pressure.parent.mkdir()
    (tmp_path / "stat").write_text("cpu  1 2 3 4 5 6 7 0 9 0\nctxt 7\nprocs_running 5\n")

    def waited(total: int) -> None:
        line = f"some avg10=1.00 avg60=1.00 avg300=1.00 total={total}"
        pressure.write_text(f"{line}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")

    waited(7_000_000)
    watch = QuietWatch(tmp_path)
    waited(8_000_000)
    conditions = watch.conditions()
    assert (conditions["pressure"], conditions["running"]) == (0.25, 5)
    waited(11_000_000)
    assert watch.conditions()["pressure"] == 1.0


def test_this_host_has_a_load_and_what_its_kernel_records() -> None:
    conditions = QuietWatch().conditions()
    assert {"load", "stolen_s", "running"} <= conditions.keys()
    assert int(conditions["running"]) >= 1
    assert 0 <= float(conditions.get("pressure", 0)) <= 1
