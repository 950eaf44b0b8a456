"""A way to run the command line."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def environment(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Data of this test alone, builds shared by the session."""
    cache = tmp_path_factory.getbasetemp() / "autotune-home" / "cache"
    return {**os.environ, "AUTOTUNE_DATA": str(tmp_path / "data"), "AUTOTUNE_CACHE": str(cache)}


@pytest.fixture
def autotune(environment: dict[str, str], tmp_path: Path) -> Callable[..., Ran]:
    """Run ``autotune`` as a user would, in ``tmp_path``."""

    def run(*arguments: str, code: int | None = 0) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "autotune", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert "Traceback" not in done.stderr, done.stderr
        if code is not None:
            assert done.returncode == code, done.stderr + done.stdout
        return Ran(done.returncode, done.stdout, done.stderr)

    return run
