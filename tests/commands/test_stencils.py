"""Stencils from the command line: the commands of IVPs, on a grid."""

import json
import os
import subprocess

import pytest
from typer.testing import CliRunner

from autotune.commands.app import app

STUDY = """\
schema: autotune.config/1
title: a stencil small enough for a test
machine: generic-x86-64
space: {space}
problems:
  - {{stencil: {stencil}, grid: {{i: 60, j: 20{k}}}}}
builds: [{{compiler: gcc, flags: [-O2]}}]
{layout}
selection: {{top: 1, random: 1, seed: 3}}
measuring: {{rounds: 3, samples: 2, min_sample: 1 ms, busy: 0, verify_steps: 2}}
"""

SPACE = """\
schema: autotune.space/1
skeleton: jacobi
title: two dimensions to block, two unrollings
parameters: {bk: [none, 4], bj: [none, 8, 32], u: [1, 4]}
rules:
  - {block: {kernel: sweep, dimension: k, size: $bk}, when: {bk: 4}}
  - {block: {kernel: sweep, dimension: j, size: $bj}, when: {bj: [8, 32]}}
  - {unroll: {kernel: sweep, dimension: i, factor: $u}, when: {u: 4}}
baseline: {bk: none, bj: none, u: 1}
"""


@pytest.fixture
def study(tmp_path):
    def write(stencil="star3d-7pt", layout="threads: [1]"):
        (tmp_path / "blocks.yaml").write_text(SPACE, encoding="utf-8")
        path = tmp_path / "grid.yaml"
        k = ", k: 9" if "3d" in stencil else ""
        text = STUDY.format(space="blocks.yaml", stencil=stencil, k=k, layout=layout)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """Commands that start no program, run in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return run


def test_illegal_ones_have_their_reasons(inside, study):
    both = "layouts: [{ranks: 1, threads: 1}, {ranks: 2, threads: 1}]\ncommunication: [allgather]"
    told = json.loads(inside("variants", study("star2d-5pt", both), "--illegal", "--json"))
    assert len(told["variants"]) == 4
    reasons = {row["reason"] for row in told["illegal"]}
    assert any("dimensions j, i, not k" in reason for reason in reasons), reasons
    assert any(reason.startswith("same program as") for reason in reasons)
    assert any("exchange planes with their neighbours" in reason for reason in reasons)


def test_the_source_of_one_can_be_built_and_run(inside, study, tmp_path):
    inside("variants", study(), "--emit", "bj8-u4@star3d-7pt-K9-J20-I60-T1", "-o", "source")
    program = tmp_path / "program"
    sources = sorted(str(p) for p in (tmp_path / "source").rglob("*.c"))
    command = ["gcc", "-O1", "-fopenmp", *sources, "-o", str(program), "-lm"]
    subprocess.run(command, check=True, capture_output=True)
    size = ["--size", "9x20x60", "--n", "10800", "--threads", "1", "--steps", "2"]
    run = [str(program), "verify", *size, "--out", str(tmp_path / "state")]
    subprocess.run(run, check=True, capture_output=True)
    assert (tmp_path / "state").stat().st_size == 10800 * 8


def test_it_is_ranked_by_all_engines_that_can(inside, study):
    rows = json.loads(inside("rank", study(), "--engine", "both", "--json"))["ranking"]
    assert {row["engine"] for row in rows} == {"reuse", "planes", "kerncraft"}
    assert all(row["predicted_s"] > 0 for row in rows if row["engine"] == "reuse")


def test_it_is_tuned_compared_and_reported(autotune, study, tmp_path):
    budget = ("--budget-evaluations", "3")
    told = autotune("tune", study(), "--store", "s.sqlite", *budget, "--json").json()
    (problem,) = told["problems"]
    assert problem["problem"] == "star3d-7pt-K9-J20-I60"
    assert [row["status"] for row in problem["evaluated"]] == ["ok"] * 3
    assert all(row["verified_error"] <= 1e-12 for row in problem["evaluated"])
    again = autotune("compare", "--store", "s.sqlite", "--json").json()
    assert again["problems"][0]["evaluated"] == problem["evaluated"]
    autotune("report", "--store", "s.sqlite", "-o", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "K x J x I = 9 x 20 x 60 = 10800 points. Times are for one time step, a sweep" in page
    library = tmp_path / "star"
    shown = autotune("export", "--store", "s.sqlite", "--format", "library", "-o", "star")
    assert "sh star/build.sh && star/self_test" in shown.out
    subprocess.run(["sh", "build.sh"], cwd=library, check=True, capture_output=True, timeout=120)
    done = subprocess.run([library / "self_test"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


def test_a_job_comes_back(autotune, study, tmp_path):
    path = study()
    told = autotune("tune", path, "--emit-job", "job", "--json").json()
    assert len(told["candidates"]) == 3
    environment = {**os.environ, "CC": "gcc"}
    subprocess.run(["sh", "job/job.sh"], cwd=tmp_path, env=environment, check=True, timeout=120,
                   capture_output=True)  # fmt: skip
    result = autotune("tune", path, "--collect", "job/results.jsonl", "--store", "j", "--json")
    (problem,) = result.json()["problems"]
    assert [row["status"] for row in problem["evaluated"]] == ["ok"] * 3
    described = json.loads((tmp_path / "job" / "job.json").read_text(encoding="utf-8"))
    assert all(t["candidate"]["extents"] == [9, 20, 60] for t in described["tasks"].values())


def test_one_is_measured_with_its_phases(autotune, study):
    name = "u4@star3d-7pt-K9-J20-I60-T1"
    run = autotune("measure", study(), "--candidate", name, "--phases", "--json")
    told = run.json()
    assert (told["status"], told["verified_error"] <= 1e-12) == ("ok", True)
    assert "sweep" in told["phases_s"]
