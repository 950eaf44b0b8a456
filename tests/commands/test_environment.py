"""A wrong environment: exit code 2 with what to set, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autotune import paths
from autotune.errors import InputError


@pytest.mark.parametrize("variable", ["AUTOTUNE_CACHE", "AUTOTUNE_DATA"])
def test_a_folder_that_cannot_be_written(config: Path, tmp_path: Path, variable: str) -> None:
    environment = {
        **os.environ,
        "AUTOTUNE_CACHE": str(tmp_path / "cache"),
        "AUTOTUNE_DATA": str(tmp_path / "data"),
        variable: "/dev/null/x",
    }
    command = "tune" if variable == "AUTOTUNE_CACHE" else "machine"
    arguments = [str(config)] if command == "tune" else ["calibrate", "--budget-seconds", "8"]
    done = subprocess.run(
        [sys.executable, "-m", "autotune", command, *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "/dev/null/x" in done.stderr
    assert variable in done.stderr


def test_no_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("no home")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("AUTOTUNE_CACHE", "")
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(InputError, match="AUTOTUNE_CACHE"):
        paths.cache_dir()
