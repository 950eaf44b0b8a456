"""When the host is calibrated, what is said before, and which calibration stays."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import fabricated as made
import pytest

from autotune.commands.rank import host_machine
from autotune.domain.calibration import Calibration
from autotune.domain.machine import Machine
from autotune.errors import Fault, InputError
from autotune.files import config
from autotune.measuring.conditions import host_lock
from autotune.measuring.conditions.host_lock import HostLock
from autotune.measuring.host import calibrate, stored_calibrations


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


def test_who_waited_for_another_calibration_uses_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine, happened = config.machine("generic-x86-64"), list[str]()
    stored: list[Calibration | None] = [None]
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    monkeypatch.setattr(host_lock, "_PATIENCE", 0.0)
    monkeypatch.setattr(host_machine.detect, "detect", lambda: machine)
    monkeypatch.setattr(host_machine.stored_calibrations, "stored", lambda _: stored[-1])
    other = HostLock(lambda *_: None).calibrating()

    def told(stage: str, *_: object) -> None:
        """The other calibration ends while this process waits."""
        happened.append(stage)
        stored.append(made.calibration())
        other.__exit__(None, None, None)

    other.__enter__()
    assert host_machine.host(told).calibration is stored[-1]
    assert happened == ["wait for another calibration of this host"]


UNDISTURBED = made.calibration()
CONTENDED = replace(UNDISTURBED, taken="2026-11-22T02:00:00+00:00", contended=True)


@pytest.fixture
def calibrated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[Calibration | None, str]]:
    """What is in use, and what is said, after a new calibration in the place of another one."""
    key, machine = UNDISTURBED.identity, config.machine("generic-x86-64")
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path))
    monkeypatch.setattr(host_machine.stored_calibrations, "identity", lambda _: key)
    monkeypatch.setattr(host_machine.detect, "detect", lambda: machine)

    def run(
        before: Calibration, new: Calibration, *, requested: bool
    ) -> tuple[Calibration | None, str]:
        said: list[str] = []
        stored_calibrations.save(before)
        monkeypatch.setattr(calibrate, "calibrate", lambda *_, **__: new)
        done = host_machine.calibrate_host(
            1.0, lambda stage, *_: said.append(stage), requested=requested
        )
        assert stored_calibrations.stored(machine) == done.calibration
        return done.calibration, " ".join(said)

    return run


def test_a_contended_calibration_that_nobody_asked_for_replaces_no_undisturbed_one(
    calibrated: Callable[..., tuple[Calibration | None, str]],
) -> None:
    calibration, said = calibrated(UNDISTURBED, CONTENDED, requested=False)
    assert calibration == UNDISTURBED
    assert said.startswith("the calibration of 2026-11-21T02:00:00+00:00 is kept: other processes")


@pytest.mark.parametrize(
    ("before", "new"),
    [
        (UNDISTURBED, replace(CONTENDED, contended=False)),
        (CONTENDED, replace(CONTENDED, clock=3e9)),
        (replace(UNDISTURBED, probe="0123456789ab"), CONTENDED),
    ],
    ids=["by-an-undisturbed-one", "disturbed-itself", "of-another-version"],
)
def test_other_calibrations_are_replaced(
    calibrated: Callable[..., tuple[Calibration | None, str]], before: Calibration, new: Calibration
) -> None:
    assert calibrated(before, new, requested=False) == (new, "")
    assert calibrated(before, new, requested=True) == (new, "")
    assert not stored_calibrations.kept_location(new.identity).exists()


def test_a_contended_calibration_that_was_asked_for_keeps_the_other_file_beside_it(
    calibrated: Callable[..., tuple[Calibration | None, str]],
) -> None:
    assert calibrated(UNDISTURBED, CONTENDED, requested=True) == (CONTENDED, "")
    kept = stored_calibrations.kept_location(CONTENDED.identity)
    assert config.read_calibration(kept) == UNDISTURBED
    kept.replace(stored_calibrations.location(CONTENDED.identity))
    assert host_machine.stored_calibration() == UNDISTURBED
