"""What ``rank`` and ``tune`` say of a calibration that other processes disturbed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import fabricated as made
import pytest
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.rank import ranked_space
from autotune.commands.tune import flow
from autotune.commands.tune.tune_options import StudyOptions
from autotune.files import config

STUDY = """\
schema: autotune.config/1
machine: haswell-e5-2630v3
skeleton: jacobi
space: stencil-small
engine: planes
problems:
  - {stencil: star3d-7pt, size: 24}
builds: [{compiler: gcc, flags: [-O1]}]
threads: [1]
measuring: {rounds: 2, samples: 2, min_sample: 1 ms, busy: 0}
"""
DISTURBED = "was calibrated while other processes ran"

Calibrated = Callable[[bool], Path]


@pytest.fixture
def calibrated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Calibrated:
    """A study on a machine whose calibration was disturbed or not; its file."""
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    monkeypatch.setenv("AUTOTUNE_STORE", str(tmp_path / "results.sqlite"))

    def on_machine(contended: bool) -> Path:
        calibration = replace(made.calibration(), contended=contended)
        machine = replace(config.machine("haswell-e5-2630v3"), calibration=calibration)
        monkeypatch.setattr(ranked_space, "resolve_machine", lambda *_: machine)
        return path

    return on_machine


@pytest.mark.parametrize("contended", [True, False])
def test_rank_says_that_the_calibration_was_disturbed_and_what_to_do(
    calibrated: Calibrated, contended: bool
) -> None:
    done = CliRunner().invoke(app, ["rank", str(calibrated(contended)), "--json"])
    assert done.exit_code == 0, done.output
    said = [line for line in done.stderr.splitlines() if DISTURBED in line]
    assert len(said) == contended
    assert all("autotune machine calibrate --budget" in line for line in said)
    assert all("--usual-load" in line for line in said)
    assert DISTURBED not in done.stdout


def test_rank_says_that_another_version_calibrated_the_machine(
    monkeypatch: pytest.MonkeyPatch, calibrated: Calibrated
) -> None:
    path = calibrated(False)
    older = replace(made.calibration(), probe="0123456789ab")
    machine = replace(config.machine("haswell-e5-2630v3"), calibration=older)
    monkeypatch.setattr(ranked_space, "resolve_machine", lambda *_: machine)
    done = CliRunner().invoke(app, ["rank", str(path), "--json"])
    assert done.exit_code == 0, done.output
    (said,) = (line for line in done.stderr.splitlines() if "another version" in line)
    assert "autotune machine calibrate" in said


def test_tune_says_it_too(calibrated: Calibrated, tmp_path: Path) -> None:
    said: list[str] = []
    flow.tune(
        ranked_space.load(calibrated(True)),
        StudyOptions(budget_evaluations=1),
        str(tmp_path / "results.sqlite"),
        lambda stage, *_: said.append(stage),
    )
    assert sum(DISTURBED in stage for stage in said) == 1
