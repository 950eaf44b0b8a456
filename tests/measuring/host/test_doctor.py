"""What doctor finds of this host, with and without a calibration."""

from pathlib import Path

import pytest

from autotune.commands.doctor import text
from autotune.measuring.host import doctor
from autotune.measuring.host.detect import detect
from autotune.measuring.host.stored_calibrations import identity, location


def test_a_missing_calibration_names_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path))
    (found,) = (f for f in doctor.examine() if f.name == "calibration")
    assert (found.state, found.install) == ("optional", "autotune machine calibrate")
    assert "optional, calibration: autotune machine calibrate" in text.doctor([found])


def test_a_broken_calibration_is_told_not_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path))
    path = location(identity(detect()))
    path.parent.mkdir(parents=True)
    path.write_text("schema: autotune.machine/1\n", encoding="utf-8")
    (found,) = (f for f in doctor.examine() if f.name == "calibration")
    assert found.state == "optional"
    assert "autotune.calibration/1" in found.found
