"""What the files of /proc say of processes that run and wait, and what is said without them."""

import os
from pathlib import Path

import pytest

from autotune.measuring.conditions import cpu_contention
from autotune.measuring.conditions.cpu_contention import (
    CpuCounters,
    CpuPressure,
    PressureWatch,
    cpu_counters,
    cpu_pressure,
)

PRESSURE = """\
some avg10=12.50 avg60=4.00 avg300=1.00 total=2500000
full avg10=99.00 avg60=0.00 avg300=0.00 total=9000000
"""
STAT = """\
cpu  2598798 184990 344898 302573 12977 0 4283 300 0 0
cpu0 1282614 96503 169054 171392 4480 0 1295 999 0 0
ctxt 12
procs_running 9
procs_blocked 1
"""


def written(folder: Path, pressure: str | None = None, stat: str | None = None) -> Path:
    (folder / "pressure").mkdir()
    if pressure is not None:
        (folder / "pressure" / "cpu").write_text(pressure)
    if stat is not None:
        (folder / "stat").write_text(stat)
    return folder


def test_pressure_is_that_of_some_process_as_a_share_and_in_seconds(tmp_path: Path) -> None:
    assert cpu_pressure(written(tmp_path, PRESSURE)) == CpuPressure(recent=0.125, total=2.5)


@pytest.mark.parametrize("text", [None, "", "some nothing\n", PRESSURE.replace("some", "none")])
def test_without_a_record_there_is_no_pressure(tmp_path: Path, text: str | None) -> None:
    assert cpu_pressure(written(tmp_path, text)) is None
    assert PressureWatch(tmp_path).share() is None


def test_counters_are_those_of_all_cpus(tmp_path: Path) -> None:
    expected = CpuCounters(stolen=300 / os.sysconf("SC_CLK_TCK"), running=9)
    assert cpu_counters(written(tmp_path, stat=STAT)) == expected


@pytest.mark.parametrize("text", [None, "", "cpu  1 2 3\nprocs_running many\n"])
def test_without_counters_nothing_was_stolen_and_nobody_knows_who_runs(
    tmp_path: Path, text: str | None
) -> None:
    assert cpu_counters(written(tmp_path, stat=text)) == CpuCounters(stolen=0.0, running=None)


def test_a_share_needs_time_to_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_contention.time, "monotonic", lambda: 5.0)
    assert PressureWatch(written(tmp_path, PRESSURE)).share() is None


def test_a_counter_that_went_back_is_no_negative_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = iter([5.0, 6.0])
    monkeypatch.setattr(cpu_contention.time, "monotonic", lambda: next(moments))
    watch = PressureWatch(written(tmp_path, PRESSURE))
    (tmp_path / "pressure" / "cpu").write_text(PRESSURE.replace("total=2", "total=1"))
    assert watch.share() == 0.0
