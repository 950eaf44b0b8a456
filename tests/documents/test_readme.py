"""The README's first command works as it stands there; what it names exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 80
"""One screen and a half of a browser."""
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
host_machine.DEFAULT_BUDGET = 3.0
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


def test_the_second_block_is_what_the_checks_run() -> None:
    """`.ci/run` takes it by its place. The types are checked while the tests run."""
    block = re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S)[1]
    *_, types, tests, last = block.splitlines()
    assert types == ".venv/bin/mypy &"
    assert tests.startswith(".venv/bin/pytest")
    assert last == "wait $!"  # ends with the exit code of mypy


def test_the_readme_is_one_screen_and_its_links_lead_somewhere() -> None:
    assert TEXT.count("\n") <= MOST_LINES
    links = [link for link in re.findall(r"\]\(([^)#]+)", TEXT) if "://" not in link]
    assert len(links) > 10
    assert not [link for link in links if not (ROOT / link).exists()]


def test_the_python_package_index_is_named_right() -> None:
    """`autotune` there is another project."""
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("**/*.md")]:
        assert not re.search(r"pip install (-\S+ )*autotune\b(?!-ecm)", page.read_text())
