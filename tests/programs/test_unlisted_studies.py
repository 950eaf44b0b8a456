"""Studies of programs with more candidates than can be listed, from the config to the store."""

import math
import re
import time
from pathlib import Path

import pytest
import yaml
from threadpoolctl import threadpool_info

from autotune.commands.map.flow import make
from autotune.commands.map.map_request import MapRequest
from autotune.commands.measure.measure_one import measure
from autotune.commands.rank.emit_source import emit_sources
from autotune.commands.rank.host_machine import uncalibrated_machine
from autotune.commands.rank.ranked_space import load
from autotune.commands.rank.recalled_candidates import with_stored
from autotune.commands.reduce.flow import reduce_winner
from autotune.commands.reduce.reduction_request import ReductionRequest
from autotune.commands.tune import flow
from autotune.errors import InputError
from autotune.progress import silent
from autotune.results.report import study_table
from autotune.workloads.capacity import candidates_on
from autotune.workloads.program.program_workload import ProgramWorkload

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


def test_candidates_that_a_study_measured_have_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = configured(tmp_path, name="named")
    study = tuned(path, budget_evaluations=3)
    store, workload = str(tmp_path / "x.sqlite"), load(path)
    enumerated = candidates_on(workload, uncalibrated_machine(workload.setup))
    drawn = {candidate.identity for candidate in enumerated.legal}
    measured = {m.candidate for m in study.record.runs[0].measurements}
    record = next(c for c in study.record.candidates if c.identity in measured - drawn)
    for name in (record.id, record.identity, record.label, record.variant):
        named = with_stored(enumerated, [name], store)
        assert record.identity in {candidate.identity for candidate in named.legal}
    assert measure(workload, record.id, phases=False, progress=silent, store=store).ranked
    emit_sources(workload, with_stored(enumerated, [record.id], store), record.id, tmp_path)
    last = (tmp_path / "build-and-run.sh").read_text().splitlines()[-1]
    assert last.split()[1:] == [str(value) for value in record.parameters.values()]
    reduced = reduce_winner(
        ReductionRequest(study="named", candidate=record.identity, rounds=3), store, silent
    )
    assert reduced.study == "named"


def test_a_name_that_no_store_has_is_refused_with_a_way_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    workload = load(configured(tmp_path))
    with pytest.raises(InputError, match="those that a study measured, if --store names its file"):
        measure(workload, "a1-b2-c3@wide-T1", phases=False, progress=silent)


def test_the_end_of_a_study_has_the_commands_of_the_winner(tmp_path):
    study = tuned(configured(tmp_path), budget_evaluations=2)
    (lines,) = study.commands.values()
    best = study.evaluation.problems[0].best.candidate
    values = " ".join(str(value) for value in best.parameters.values())
    assert lines[-1].endswith(f"true {values}")


def test_a_budget_counts_from_the_start_and_leaves_half_of_it_to_measure():
    now = time.monotonic()
    assert flow.measuring_deadline(None, now) == math.inf
    assert flow.measuring_deadline(600.0, now - 20.0) == now + 580.0 - 3.0
    assert flow.measuring_deadline(600.0, now - 610.0) >= now + 300.0


def test_the_time_of_a_study_counts_from_the_start_of_the_command(tmp_path):
    options, store = flow.StudyOptions(budget_evaluations=1), str(tmp_path / "x.sqlite")
    began = time.monotonic() - 61.0
    study = flow.tune(load(configured(tmp_path)), options, store, silent, began=began)
    assert study.record.runs[0].timings["wall"] > 61.0


def test_an_exhaustive_study_lists_its_candidates_once(tmp_path, monkeypatch):
    path = configured(tmp_path)
    few = PROGRAM.replace("to: 100", "to: 2")
    tmp_path.joinpath("wide.yaml").write_text(few)
    calls = []
    listing = ProgramWorkload.candidates

    def counted(self, cores):
        calls.append(cores)
        return listing(self, cores)

    monkeypatch.setattr(ProgramWorkload, "candidates", counted)
    study = tuned(path, exhaustive=True)
    assert len(study.record.candidates) == 8
    assert len(calls) == 1


def test_a_long_table_is_cut_and_says_so(tmp_path):
    study = tuned(configured(tmp_path), budget_evaluations=8)
    (problem,) = study.evaluation.problems
    text = study_table.problem(problem, top=3)
    left_out = re.search(
        r"  (\d+) more are left out, slower or failed: autotune compare --top 0 has all", text
    )
    shown = [line for line in text.splitlines() if "@wide" in line and "  ok  " in line]
    assert int(left_out[1]) == len(problem.evaluated) - len(shown)
    assert 3 <= len(shown) <= 4
    assert any("the baseline" in line for line in shown)
    assert "left out" not in study_table.problem(problem)


@pytest.mark.parametrize("name", ["random", "tpe"])
def test_a_sampler_of_optuna_searches_all_legal_candidates(tmp_path, name):
    path = configured(tmp_path)
    study = tuned(path, budget_evaluations=6, sampler=name)
    workload = load(path)
    enumerated = candidates_on(workload, uncalibrated_machine(workload.setup))
    drawn = {candidate.identity for candidate in enumerated.legal}
    reasons = {c.candidate: c.reason for c in study.record.runs[0].choices}
    of_sampler = {i for i, why in reasons.items() if "from all" in why or "TPESampler" in why}
    assert of_sampler - drawn
    assert any("TPESampler" in why for why in reasons.values()) == (name == "tpe")


def test_a_map_has_what_studies_measured_at_another_size(tmp_path):
    path = configured(tmp_path, name="mapped")
    sized = f"{PROGRAM}arguments: {{n: 4}}\nsize: n\n".replace('"{c}"', '"{c}", "{n}"')
    tmp_path.joinpath("wide.yaml").write_text(sized)
    study = tuned(path, budget_evaluations=4)
    measured = {c.variant for c in study.record.candidates}
    request = MapRequest(sizes="4,8", budget_evaluations=4)
    (chart,) = make(load(path), request, str(tmp_path / "x.sqlite"), silent).maps
    assert measured <= {contender.variant for contender in chart.contenders}
    assert len(chart.cells) == 2
