"""Whole studies on this host: the budget's share of the search, resume, and what others found."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from autotune.commands.rank import ranked_space
from autotune.commands.tune import flow as tune_flow
from autotune.commands.tune.flow import StudyOptions, TunedStudy
from autotune.domain.setup import Selection
from autotune.files.store.records import RunRecord
from autotune.tuning.first_candidates import within

CONFIG = """\
schema: autotune.config/1
machine: generic-x86-64
skeleton: pirk
space: pirk-orders
problems:
  - {ivp: heat2d, method: radau-iia-5, correctors: 2, size: 20}
builds:
  - {compiler: gcc, flags: [FLAGS]}
threads: [1]
selection: {top: 2, random: 1, seed: 3}
search: {first: 2}
measuring: {rounds: 3, samples: 1, min_sample: 1 ms, busy: 0, verify_steps: 1}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path / "data"))
    return tmp_path


def tune(folder: Path, options: StudyOptions, flags: str = "-O0") -> tuple[TunedStudy, list[str]]:
    path = folder / "small.yaml"
    path.write_text(CONFIG.replace("FLAGS", flags), encoding="utf-8")
    said: list[str] = []

    def progress(stage: str, done: int, total: int, detail: str = "") -> None:
        said.append(stage)

    return tune_flow.tune(
        ranked_space.load(path), options, str(folder / "store.sqlite"), progress
    ), said


def searched(run: RunRecord) -> list[str]:
    return [choice.candidate for choice in run.choices if choice.reason.startswith("step ")]


@pytest.mark.long
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_study_is_searched_resumed_and_used_by_others(folder: Path) -> None:
    result, _ = tune(folder, StudyOptions(budget_evaluations=3))
    (run,) = result.record.runs
    assert run.state == "budget"
    assert len(run.finished) == 3
    assert searched(run), "what is left after predicted top and baseline"
    reasons = [row.chosen for row in result.evaluation.problems[0].evaluated]
    assert any(reason.startswith("step 1: ") for reason in reasons)

    result, _ = tune(folder, StudyOptions(budget_evaluations=4, resume=True))
    _, again = result.record.runs
    assert len(searched(again)) == 1
    assert not set(searched(again)) & run.finished
    known = run.finished | again.finished

    result, said = tune(folder, StudyOptions(budget_evaluations=1))
    assert result.record.name == "small-2"
    (other,) = result.record.runs
    told = f"used without measuring again: {len(run.finished) + len(again.finished)} results"
    assert any(line.startswith(told) for line in said)
    assert str(other.conditions["warm_start"]).startswith(told)
    assert len(other.finished - known) == 1
    assert not set(searched(other)) & known

    result, said = tune(folder, StudyOptions(budget_evaluations=1), "-O1")
    (changed,) = result.record.runs
    hints = f"{len(known | other.finished)} times of other machines, compilers, flags"
    assert any(line.startswith(hints) for line in said)
    assert len(changed.finished) == 1, "a hint is no result"


def test_a_budget_cuts_chance_first_and_leaves_the_rest_to_the_search() -> None:
    usual = Selection(top=5, random=4)

    def split(budget: int) -> tuple[int, int, bool]:
        made = within(budget, usual)
        return made.top, made.random, made.baseline

    assert split(1000) == (5, 4, True)
    assert split(12) == (5, 3, True)
    assert split(7) == (5, 0, True)
    assert split(3) == (2, 0, True)
    assert split(1) == (1, 0, False)
    assert within(9, replace(usual, baseline=False)) == replace(usual, random=2, baseline=False)
