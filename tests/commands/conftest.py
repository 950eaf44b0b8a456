"""A small study that runs in seconds on any host, and a way to run the command line."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine, Finished

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


@pytest.fixture
def autotune(command_line: CommandLine, tmp_path: Path) -> Callable[..., Finished]:
    """Run ``autotune`` as a user would, in ``tmp_path``."""

    def run(*arguments: str, check: int | None = 0) -> Finished:
        done = command_line.run(arguments, folder=tmp_path, environment=os.environ)
        if check is not None:
            assert done.code == check, done.err[-3000:]
        assert "Traceback" not in done.err
        return done

    return run


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The small study on a machine file, so that no host is calibrated."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL.format(machine="generic-x86-64"), encoding="utf-8")
    return path
