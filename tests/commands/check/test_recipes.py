"""The recipes for CI servers and ReFrame, as they stand in examples/ci and docs/ci.md."""

import os
import re
import shlex
import shutil
import string
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import revised_program
import yaml
from command_line import Finished

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples" / "ci"
DOCUMENT = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
RECIPES = ("github-actions.yml", "gitlab-ci.yml")


def commands(name: str) -> list[str]:
    """The commands of a recipe that call autotune."""
    recipe = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    if "jobs" in recipe:
        texts = [step.get("run", "") for job in recipe["jobs"].values() for step in job["steps"]]
    else:
        texts = [text for job in recipe.values() for text in job.get("script", ())]
    return [text for text in texts if text.startswith("autotune ")]


@pytest.mark.parametrize("name", RECIPES)
def test_the_document_shows_the_recipe_as_it_is(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8").rstrip()
    blocks = re.findall(r"^```yaml\n(.*?)^```", DOCUMENT, re.M | re.S)
    assert text in [block.rstrip() for block in blocks]


def test_recipes_have_what_their_servers_ask_for() -> None:
    github = yaml.safe_load((FOLDER / RECIPES[0]).read_text(encoding="utf-8"))
    assert True in github  # YAML 1.1 reads the key ``on`` as true
    (job,) = github["jobs"].values()
    assert job["runs-on"]
    checkout = job["steps"][0]
    assert checkout["with"]["fetch-depth"] == 0
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    gitlab = yaml.safe_load((FOLDER / RECIPES[1]).read_text(encoding="utf-8"))
    (job,) = gitlab.values()
    assert job["variables"]["GIT_DEPTH"] == "0"
    assert job["artifacts"]["reports"]["junit"] == "run-time.xml"


@pytest.mark.parametrize("name", RECIPES)
def test_the_command_of_a_recipe_finds_the_regression(
    name: str, autotune: Callable[..., Finished], tmp_path: Path
) -> None:
    revised_program.repository(tmp_path, "solver-tune.yaml")
    old = revised_program.git(tmp_path, "rev-parse", "first").strip()
    revised_program.git(tmp_path, "update-ref", "refs/remotes/origin/main", old)
    revised_program.write(tmp_path, 400)
    variables = {"GITHUB_BASE_REF": "main", "CI_MERGE_REQUEST_DIFF_BASE_SHA": old}
    (command,) = commands(name)
    words = shlex.split(string.Template(command).substitute(variables))
    done = autotune(*words[1:], check=1)
    assert "regression: slower by more than 3 %" in done.out
    assert (tmp_path / "run-time.xml").is_file()


def test_reframe_runs_the_test_and_sees_the_regression(tmp_path: Path) -> None:
    reframe = shutil.which("reframe")
    if reframe is None:
        pytest.skip("optional: ReFrame is not installed (pip install reframe-hpc)")
    config = revised_program.repository(tmp_path)
    script = tmp_path / "bin" / "autotune"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m autotune "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    search_path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    for revision, code in (("first", 1), ("twice", 0)):
        options = ["-S", f"config={config}", "-S", f"revision={revision}", "--prefix", "rfm"]
        done = subprocess.run(
            [reframe, "-c", str(FOLDER / "reframe_check.py"), "-r", *options],
            cwd=tmp_path,
            env={**os.environ, "PATH": search_path, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout[-3000:]
