"""Studies of programs with more candidates than can be listed, from the config to the store."""

from pathlib import Path

import pytest
import yaml
from threadpoolctl import threadpool_info

from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow
from autotune.errors import InputError
from autotune.progress import silent

PROGRAM = """\
schema: autotune.program/1
title: Nothing is done
sources: [none.c]
run: ["true", "{a}", "{b}", "{c}"]
threads: one
parameters:
  a: {from: 1, to: 100, step: 1}
  b: {from: 1, to: 100, step: 1}
  c: {from: 1, to: 100, step: 1}
"""


def configured(folder: Path, **more: object) -> Path:
    folder.joinpath("none.c").write_text("")
    folder.joinpath("wide.yaml").write_text(PROGRAM)
    content = {
        "schema": "autotune.config/1",
        "title": "A wide space",
        "machine": "generic-x86-64",
        "program": "wide.yaml",
        "problems": [{}],
        "measuring": {"rounds": 2, "samples": 1},
        **more,
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def tuned(path: Path, **options: object) -> flow.TunedStudy:
    return flow.tune(
        load(path), flow.StudyOptions(**options), str(path.parent / "x.sqlite"), silent
    )


@pytest.mark.parametrize("option", [{"exhaustive": True}, {"mirror": Path("m.log")}])
def test_what_needs_a_list_is_refused_before_anything_is_written(tmp_path, option):
    said = []
    with pytest.raises(InputError, match="has 1,000,000 legal candidates"):
        flow.tune(
            load(configured(tmp_path)),
            flow.StudyOptions(**option),
            str(tmp_path / "x.sqlite"),
            lambda line, *_: said.append(line),
        )
    assert not said
    assert not (tmp_path / "x.sqlite").exists()


def test_the_store_has_all_values_and_later_studies_know_what_was_measured(tmp_path):
    first = tuned(configured(tmp_path, name="first"), budget_evaluations=4)
    (space,) = first.record.spaces
    assert space.parameters["a"] == tuple(range(1, 101))
    assert space.candidates == 10**6
    measured = {m.candidate for run in first.record.runs for m in run.measurements}
    path = configured(tmp_path, name="second", selection={"seed": 5})
    second = tuned(path, budget_evaluations=2)
    note = second.record.runs[0].conditions["warm_start"]
    assert f"{len(measured)} results of study first" in note


def test_linear_algebra_takes_one_thread_while_something_is_timed(tmp_path):
    threads = set()

    def look(*_: object) -> None:
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        threads.update(pool["num_threads"] for pool in pools)

    path = configured(tmp_path)
    options = flow.StudyOptions(budget_evaluations=2)
    flow.tune(load(path), options, str(tmp_path / "x.sqlite"), silent, look)
    assert threads == {1}
