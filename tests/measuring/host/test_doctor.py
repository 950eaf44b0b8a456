"""What doctor finds of this host, with and without a calibration."""

from pathlib import Path

import pytest

from autotune.commands.doctor import text
from autotune.measuring.conditions.host_load import HostLoad
from autotune.measuring.conditions.quiet import OtherProcesses
from autotune.measuring.host import doctor
from autotune.measuring.host.detect import detect
from autotune.measuring.host.stored_calibrations import identity, location

IDLE = HostLoad(cores=2, others=OtherProcesses(cpus=0.0, names=()), load=0.1, pressure=0.01)


def test_the_load_has_its_words_and_what_it_means() -> None:
    (found,) = (f for f in doctor.examine(IDLE) if f.name == "load")
    assert (found.state, found.found, found.needed_for) == ("ok", str(IDLE), IDLE.meaning)


def test_a_missing_calibration_names_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path))
    (found,) = (f for f in doctor.examine(IDLE) if f.name == "calibration")
    assert (found.state, found.install) == ("optional", "autotune machine calibrate")
    assert "optional, calibration: autotune machine calibrate" in text.doctor([found])


def test_a_broken_calibration_is_told_not_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path))
    path = location(identity(detect()))
    path.parent.mkdir(parents=True)
    path.write_text("schema: autotune.machine/1\n", encoding="utf-8")
    (found,) = (f for f in doctor.examine(IDLE) if f.name == "calibration")
    assert found.state == "optional"
    assert "autotune.calibration/1" in found.found
