"""What doctor finds of this host, with and without a calibration."""

import errno
import io
from dataclasses import replace
from pathlib import Path
from typing import IO

import fabricated as made
import pytest

from autotune.commands.doctor import text
from autotune.measuring.conditions.host_load import HostLoad
from autotune.measuring.conditions.quiet import OtherProcesses
from autotune.measuring.host import doctor
from autotune.measuring.host.detect import detect
from autotune.measuring.host.doctor import Prerequisite
from autotune.measuring.host.stored_calibrations import identity, location, save

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


def test_a_calibration_of_another_version_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path))
    save(replace(made.calibration(), identity=identity(detect()), probe="0123456789ab"))
    (found,) = (f for f in doctor.examine(IDLE) if f.name == "calibration")
    assert found.state == "optional"
    assert found.found.endswith("by another version")
    assert found.install == "autotune machine calibrate"


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


def folders() -> list[Prerequisite]:
    return list(doctor._folders())


@pytest.mark.parametrize("variable", ["AUTOTUNE_CACHE", "AUTOTUNE_DATA"])
@pytest.mark.parametrize("place", ["file", "file/below", "/dev/null/x", "/proc/none"])
def test_a_folder_that_cannot_be_one_is_told_with_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, place: str
) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    (tmp_path / "good").mkdir()
    for name in ("AUTOTUNE_CACHE", "AUTOTUNE_DATA"):
        monkeypatch.setenv(name, str(tmp_path / (place if name == variable else "good")))
    found = {finding.state: finding for finding in folders()}
    assert found["ok"].found == str(tmp_path / "good")
    assert ": " in found["missing"].found
    assert variable in found["missing"].install


def test_folders_that_are_there_or_can_be_made_are_ok_and_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "new" / "cache"))
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path))
    assert [finding.state for finding in folders()] == ["ok", "ok"]
    assert not list(tmp_path.iterdir())


def test_a_folder_of_another_user_within_the_cache_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written(**place: Path) -> IO[bytes]:
        if place["dir"].name == "build":
            raise PermissionError(errno.EACCES, "Permission denied")
        return io.BytesIO()

    (tmp_path / "build").mkdir()
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", written)
    assert folders()[0].found == f"{tmp_path / 'build'}: Permission denied"
