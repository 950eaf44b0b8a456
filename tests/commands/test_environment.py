"""A wrong environment: exit code 2 with what to set, never a traceback."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

from autotune import commands, paths
from autotune.errors import InputError


@pytest.mark.parametrize("variable", ["AUTOTUNE_CACHE", "AUTOTUNE_DATA"])
def test_a_folder_that_cannot_be_written(
    command_line: CommandLine, config: Path, tmp_path: Path, variable: str
) -> None:
    environment = {
        **os.environ,
        "AUTOTUNE_CACHE": str(tmp_path / "cache"),
        "AUTOTUNE_DATA": str(tmp_path / "data"),
        variable: "/dev/null/x",
    }
    command = "tune" if variable == "AUTOTUNE_CACHE" else "machine"
    arguments = [str(config)] if command == "tune" else ["calibrate", "--budget-seconds", "8"]
    done = command_line.run([command, *arguments], folder=tmp_path, environment=environment)
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    assert "/dev/null/x" in done.err
    assert variable in done.err
    assert "measuring" not in done.err  # refused before the work, not after it


def test_no_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("no home")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("AUTOTUNE_CACHE", "")
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(InputError, match="AUTOTUNE_CACHE"):
        paths.cache_dir()


def test_too_little_address_space() -> None:
    words = f"ulimit -v 200000; exec {sys.executable} -m autotune --version"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "(ulimit -v) is 195 MiB; expected at least 400 MiB" in done.stderr


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.EAGAIN, "ulimit -u"),
        (errno.EMFILE, "ulimit -n"),
        (errno.EFBIG, "ulimit -f"),
        (errno.EACCES, "AUTOTUNE_CACHE"),
    ],
)
def test_a_refusal_of_the_system_says_what_to_look_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int, hint: str
) -> None:
    def refused(**_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(commands, "app", refused)
    monkeypatch.setattr(commands, "_let_go_of_output", lambda: None)
    assert commands._answered() == 2
    assert hint in capsys.readouterr().err
