"""A small study that runs in seconds on any host, and a way to run the command line."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

SMALL = """\
schema: autotune.config/1
title: a study small enough for a test
machine: {machine}
skeleton: pirk
space: pirk-orders
problems:
  - {{ivp: heat2d, method: radau-iia-5, correctors: 4, size: 40}}
builds: [{{compiler: gcc, flags: [-O2]}}]
threads: [1]
selection: {{top: 2, random: 1, seed: 3}}
measuring: {{rounds: 3, samples: 2, min_sample: 1 ms, busy: 0, verify_steps: 2}}
"""


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str

    def json(self) -> dict[str, object]:
        document = json.loads(self.out)
        assert isinstance(document, dict)
        return document


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Caches shared by the tests of a session, apart from the user's."""
    base = tmp_path_factory.getbasetemp() / "autotune-home"
    base.mkdir(exist_ok=True)
    return base


@pytest.fixture
def autotune(home: Path, tmp_path: Path) -> Callable[..., Run]:
    """Run ``autotune`` as a user would, in ``tmp_path``."""

    def run(*arguments: str, check: int | None = 0) -> Run:
        environment = {
            **os.environ,
            "AUTOTUNE_CACHE": str(home / "cache"),
            "AUTOTUNE_DATA": str(home / "data"),
        }
        done = subprocess.run(
            [sys.executable, "-m", "autotune", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if check is not None:
            assert done.returncode == check, done.stderr[-3000:]
        assert "Traceback" not in done.stderr
        return Run(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The small study on a machine file, so that no host is calibrated."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL.format(machine="generic-x86-64"), encoding="utf-8")
    return path
