"""What is said before the host is calibrated."""

from dataclasses import replace

import fabricated as made
import pytest

from autotune.commands.rank import host_machine
from autotune.domain.calibration import Calibration
from autotune.domain.machine import Machine
from autotune.errors import Fault, InputError
from autotune.files import config


@pytest.mark.parametrize("last", [None, replace(made.calibration(), probe="0123456789ab")])
def test_a_calibration_is_announced_with_its_time_before_it_begins(
    monkeypatch: pytest.MonkeyPatch, last: Calibration | None
) -> None:
    machine = config.machine("generic-x86-64")
    happened: list[str] = []

    def calibrated(budget: float, progress: object, of: Machine) -> Machine:
        happened.append(f"calibrated in {budget:g} s")
        return of

    monkeypatch.setattr(host_machine.detect, "detect", lambda: machine)
    monkeypatch.setattr(host_machine.stored_calibrations, "stored", lambda _: last)
    monkeypatch.setattr(host_machine.stored_calibrations, "check_writable", lambda _: None)
    monkeypatch.setattr(host_machine, "calibrate_host", calibrated)
    assert host_machine.host(lambda stage, *_: happened.append(stage)) is machine
    announced, done = happened
    assert announced.endswith("about 45 s, once, not taken out of any budget)")
    assert ("another version" in announced) == (last is not None)
    assert done == "calibrated in 45 s"


def test_a_calibration_of_this_version_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, kept = config.machine("generic-x86-64"), made.calibration()
    monkeypatch.setattr(host_machine.detect, "detect", lambda: machine)
    monkeypatch.setattr(host_machine.stored_calibrations, "stored", lambda _: kept)
    assert host_machine.host(lambda *_: None).calibration is kept


def test_one_of_another_version_is_used_where_no_other_can_be_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(_: Machine) -> None:
        raise InputError(Fault(where="calibrations", found="cannot be written"))

    machine, kept = config.machine("generic-x86-64"), replace(made.calibration(), probe="")
    monkeypatch.setattr(host_machine.detect, "detect", lambda: machine)
    monkeypatch.setattr(host_machine.stored_calibrations, "stored", lambda _: kept)
    monkeypatch.setattr(host_machine.stored_calibrations, "check_writable", refused)
    assert host_machine.host(lambda *_: None).calibration is kept
