"""A way to run the command line."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine, Finished


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Data of this test alone, builds shared by the session."""
    return {**os.environ, "AUTOTUNE_DATA": str(tmp_path / "data")}


@pytest.fixture
def autotune(
    command_line: CommandLine, environment: dict[str, str], tmp_path: Path
) -> Callable[..., Finished]:
    """Run ``autotune`` as a user would, in ``tmp_path``."""

    def run(*arguments: str, code: int | None = 0) -> Finished:
        done = command_line.run(arguments, folder=tmp_path, environment=environment, timeout=120)
        assert "Traceback" not in done.err, done.err
        if code is not None:
            assert done.code == code, done.err + done.out
        return done

    return run
