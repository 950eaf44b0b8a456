"""What is said before the host is calibrated."""

import pytest

from autotune.commands.rank import host_machine
from autotune.domain.machine import Machine
from autotune.files import config


def test_a_calibration_is_announced_with_its_time_before_it_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = config.machine("generic-x86-64")
    happened: list[str] = []

    def calibrated(budget: float, progress: object, of: Machine) -> Machine:
        happened.append(f"calibrated in {budget:g} s")
        return of

    monkeypatch.setattr(host_machine.detect, "detect", lambda: machine)
    monkeypatch.setattr(host_machine.stored_calibrations, "stored", lambda _: None)
    monkeypatch.setattr(host_machine, "calibrate_host", calibrated)
    assert host_machine.host(lambda stage, *_: happened.append(stage)) is machine
    announced, done = happened
    assert announced.endswith("(about 45 s, once, not taken out of any budget)")
    assert done == "calibrated in 45 s"
