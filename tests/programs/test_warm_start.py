"""What other studies found out about a program counts as long as nothing changed around it."""

from pathlib import Path

import own_programs as own
import pytest

from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow as tune_flow
from autotune.commands.tune.flow import StudyOptions, TunedStudy
from autotune.workloads.program.measuring import command_line

PROGRAM = """\
schema: autotune.program/1
title: Parts that are there or not
sources: [part-1]
build: [cp, "{source folder}/part-{part}", "{output}"]
run: ["{python}", "{output}"]
parameters: {part: [1, 2]}
time: {pattern: "time (\\\\S+) s"}
check: {pattern: "sum (\\\\S+)"}
"""
PART = """\
import time
print("time", 1e-3 + 1e-12 * (time.perf_counter_ns() % 1000), "s")
print("sum 41")
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    settings = own.CONFIG.replace("builds: [{compiler: gcc, flags: [-O1]}]\n", "")
    return own.put(tmp_path, PROGRAM, settings.replace("{n: 500}", "{}"), {"part-1": PART})


def tuned(config: Path, said: list[str]) -> TunedStudy:
    def progress(stage: str, done: int, total: int, detail: str = "") -> None:
        said.append(stage)

    store = str(config.with_name("store.sqlite"))
    return tune_flow.tune(load(config), StudyOptions(budget_evaluations=2), store, progress)


def statuses(result: TunedStudy) -> dict[object, str]:
    (run,) = result.record.runs
    parts = {c.identity: c.parameters["part"] for c in result.record.candidates}
    return {parts[m.candidate]: m.status for m in run.measurements if m.candidate in run.finished}


def test_times_count_until_the_tools_change_and_failed_builds_are_tried_again(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tuned(config, [])
    assert statuses(first) == {1: "ok", 2: "build-failed"}

    config.with_name("part-2").write_text(PART, encoding="utf-8")
    said: list[str] = []
    assert statuses(tuned(config, said))[2] == "ok"
    assert "used without measuring again: 1 result of study study" in said

    monkeypatch.setattr(command_line, "_python", lambda program: {"python": "4.0"})
    said = []
    assert statuses(tuned(config, said)) == {1: "ok", 2: "ok"}
    assert any(line.startswith("2 times of other machines") for line in said)
