"""The README's first command and its Python example work as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


LESS = {
    "top: 5, random: 2": "top: 1, random: 1",
    "budget: 12": "budget: 3",
    "20 ms": "2 ms",
    "size: 1024": "size: 320",
}
"""What a study of seconds has in place of the words of the shipped one."""
START = """\
from autotune.commands import main
from autotune.commands.rank import host_machine

assert host_machine.DEFAULT_BUDGET <= 60  # README: under a minute
host_machine.DEFAULT_BUDGET = 5.0
main()
"""
"""The command with a shorter calibration of a host that has none."""


@pytest.mark.long
def test_the_first_command_ends_with_a_winner_and_a_page(tmp_path: Path) -> None:
    """All but the set-up lines, in a folder of its own; the set-up made this environment.

    The shipped study has fewer candidates, a smaller grid and shorter samples here.
    """
    block = re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S)[0]
    lines = [line for line in block.splitlines() if "venv .venv" not in line and "pip" not in line]
    assert lines
    assert all(line.startswith(".venv/bin/autotune tune configs/") for line in lines)
    assert "once, under a minute" in TEXT
    study = (ROOT / "configs" / "quickstart.yaml").read_text(encoding="utf-8")
    for shipped, less in LESS.items():
        assert study.count(shipped) == 1
        study = study.replace(shipped, less)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "quickstart.yaml").write_text(study, encoding="utf-8")
    folders = {"AUTOTUNE_CACHE": str(tmp_path / "cache"), "AUTOTUNE_DATA": str(tmp_path / "data")}
    for line in lines:
        words = [sys.executable, "-c", START, *line.split()[1:]]
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env={**os.environ, **folders},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert "calibrate the host" in done.stderr
        assert "Speed-up over the baseline" in done.stdout
        assert "noise floor" in done.stdout
    assert "</svg>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "autotune-results.sqlite").exists()


def test_the_python_example(tmp_path: Path) -> None:
    example = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)[0]
    text = (ROOT / "configs" / "quickstart.yaml").read_text(encoding="utf-8")
    (tmp_path / "configs").mkdir()
    text = text.replace("machine: host", "machine: generic-x86-64")
    (tmp_path / "configs" / "quickstart.yaml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "predicted_s" in done.stdout


def test_the_study_of_the_readme_is_valid(tmp_path: Path) -> None:
    from autotune.files import config

    block = re.findall(r"^```yaml\n(.*?)^```", TEXT, re.M | re.S)[0]
    path = tmp_path / "study.yaml"
    path.write_text(block, encoding="utf-8")
    assert config.load(path).problems[0].ivp.name == "inverterchain"


def test_every_command_of_the_table_exists() -> None:
    from autotune.commands.app import app, comm_app, machine_app

    known = {c.name or c.callback.__name__ for c in app.registered_commands if c.callback}
    known |= {group.name for group in app.registered_groups}
    named = set(re.findall(r"`autotune (\w+)", TEXT))
    assert named <= known
    assert {"bench", "fit", "show", "import", "merge"} == {
        c.name for c in comm_app.registered_commands
    }
    assert {"list", "show", "check", "detect", "calibrate", "refine"} == {
        c.name for c in machine_app.registered_commands
    }
