"""kill -9 at any moment: the store opens, what was acknowledged is there, resume finishes."""

import random
import signal
import sqlite3
import subprocess
import sys
import time
import typing
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., typing.Any]


def _left_over(mark: str) -> list[int]:
    """Processes whose command line mentions ``mark``."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            line = (entry / "cmdline").read_bytes().decode(errors="replace")
            state = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if mark in line and state != "Z":
            found.append(int(entry.name))
    return found


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_killed_run_loses_nothing_and_resumes(
    autotune: Cli, config: Path, tmp_path: Path, home: Path, seed: int
) -> None:
    autotune("rank", "small.yaml")  # analysed, so that the kill falls into building or measuring
    child = subprocess.Popen(
        [sys.executable, "-m", "autotune", "tune", "small.yaml"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    for line in child.stderr:
        if line.startswith("build"):
            break
    time.sleep(random.Random(seed).uniform(0.0, 2.5))
    child.send_signal(signal.SIGKILL)
    child.communicate()
    time.sleep(1.0)
    assert not _left_over(str(home / "cache" / "build")), (
        "the measuring program outlived its parent"
    )
    store = tmp_path / "autotune-results.sqlite"

    def samples() -> list[tuple[object, ...]]:
        with sqlite3.connect(store) as connection:
            query = "select run, candidate, launch, number, seconds from samples"
            return sorted(connection.execute(query).fetchall())

    before = samples()
    result = autotune("tune", "small.yaml", "--resume", "--json").json()
    after = samples()
    assert set(before) <= set(after)
    assert len({row[:4] for row in after}) == len(after)
    assert {row["status"] for row in result["problems"][0]["evaluated"]} == {"ok"}
