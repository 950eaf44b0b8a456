"""A study stores what it proposes and a summary of what it chooses from, not the whole space."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import fabricated as fake
import own_programs as own

from autotune.commands.rank.ranked_space import load, rank_space
from autotune.commands.tune import flow as tune_flow
from autotune.commands.tune.flow import StudyOptions, TunedStudy
from autotune.commands.tune.initial_candidates import evaluations, unfinished_choices
from autotune.commands.tune.provenance import study_origin
from autotune.domain.ranking import Ranked
from autotune.domain.results import Measurement
from autotune.results.evaluate.study_evaluation import evaluate
from autotune.results.report import words
from autotune.tuning import Chosen, EarlierResult

PROGRAM = """\
schema: autotune.program/1
title: A time of two parameters
sources: [tiny.py]
run: ["{python}", "{source folder}/tiny.py", "{a}", "{b}"]
parameters: {a: {from: 1, to: 20, step: 1}, b: {from: 1, to: 30, step: 1}}
baseline: {a: 1, b: 1}
time: {pattern: "time (\\\\S+) s"}
model: {formula: "1e-5 * (1 + (a - 7) ** 2 + (b - 9) ** 2 / 100)", accuracy: 5 %}
"""
TINY = """\
import sys, time
a, b = map(int, sys.argv[1:])
took = 1e-5 * (1 + (a - 7) ** 2 + (b - 9) ** 2 / 100)
print("time", took + 1e-14 * (time.perf_counter_ns() % 1000), "s")
"""
SMALL = PROGRAM.replace("to: 20", "to: 2").replace("to: 30", "to: 3")


def silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Progress that nobody reads."""


def configured(folder: Path, program: str) -> Path:
    settings = own.CONFIG.replace("builds: [{compiler: gcc, flags: [-O1]}]\n", "")
    return own.put(folder, program, settings.replace("{n: 500}", "{}"), {"tiny.py": TINY})


def tuned(config: Path, options: StudyOptions) -> TunedStudy:
    return tune_flow.tune(load(config), options, str(config.with_name("r.sqlite")), silent)


def chosen(result: TunedStudy) -> set[str]:
    return {choice.candidate for run in result.record.runs for choice in run.choices}


def test_a_search_stores_what_it_proposed_with_its_place(tmp_path: Path) -> None:
    config = configured(tmp_path, PROGRAM)
    result = tuned(config, StudyOptions(budget_evaluations=4))
    record = result.record
    (space,) = record.spaces
    assert (space.candidates, space.predicted, space.exact) == (600, 600, True)
    assert (len(space.layouts), len(space.builds)) == (1, 1)
    assert sorted(space.parameters["a"]) == list(range(1, 21))
    baselines = {c.identity for c in record.candidates if c.baseline}
    assert len(baselines) == 1
    assert {c.identity for c in record.candidates} == chosen(result) | baselines
    (ranking,) = rank_space(load(config), silent).rankings
    ranks = {entry.candidate.identity: entry.rank for entry in ranking.entries}
    assert record.predictions
    assert all(stored.rank == ranks[stored.candidate] for stored in record.predictions)
    assert result.evaluation.problems[0].rows[0].rank == 1


def test_the_best_so_far_is_measured_again_whoever_proposed_it(tmp_path: Path) -> None:
    """Also where it is none of the first candidates, and where a later run did not reach it."""
    config = configured(tmp_path, SMALL)
    (ranking,) = rank_space(load(config), silent).rankings
    entries = {
        e.candidate.variant.parameters["b"]: e
        for e in ranking.entries
        if e.candidate.variant.parameters["a"] == 1
    }
    safe, searched, left = (entries[b] for b in (1, 3, 2))

    def earlier(entry: Ranked, run: str, seconds: float) -> EarlierResult:
        samples = tuple(fake.sample(seconds, launch=i, round=i) for i in range(3))
        taken = Measurement(
            candidate=entry.candidate.identity, run=run, status="ok", samples=samples
        )
        return EarlierResult(candidate=entry.candidate, measurement=taken)

    results = [earlier(safe, "1", 2.0), earlier(searched, "1", 1.0), earlier(safe, "2", 3.0)]
    first = unfinished_choices(
        ranking, [Chosen.of(left, "predicted")], results, safe.candidate.identity
    )
    assert {c.candidate.identity for c in first[:2]} == {
        safe.candidate.identity,
        searched.candidate.identity,
    }
    assert first[2].candidate == left.candidate
    assert not unfinished_choices(ranking, [], results, safe.candidate.identity)


def test_a_study_that_is_continued_goes_on_from_what_it_proposed(tmp_path: Path) -> None:
    config = configured(tmp_path, PROGRAM)
    first = tuned(config, StudyOptions(budget_evaluations=4))
    second = tuned(config, StudyOptions(budget_evaluations=6, resume=True))
    before = {c.identity for c in first.record.candidates}
    after = [c.identity for c in second.record.candidates]
    assert len(after) == len(set(after))
    assert set(after) == before | chosen(second)
    finished = [i for run in second.record.runs for i in run.finished]
    assert len(set(finished)) == 6


def test_an_exhaustive_study_proposes_all_and_stores_all(tmp_path: Path) -> None:
    result = tuned(configured(tmp_path, SMALL), StudyOptions(exhaustive=True))
    assert len(result.record.candidates) == result.record.spaces[0].candidates == 6
    assert len(result.evaluation.problems[0].rows) == 6
    assert all(top.loss is not None for top in result.evaluation.problems[0].losses)


def _listed_otherwise(config: Path, program: str) -> None:
    """Leave a study as if another version had begun it, which listed other candidates."""
    config.with_name("tiny.yaml").write_text(program)
    text = study_origin(load(config)).setup_text
    with closing(sqlite3.connect(config.with_name("r.sqlite"))) as store, store:
        store.execute("update studies set setup_text = ?", [text])


def test_candidates_that_a_space_has_lost_are_told_and_not_counted(tmp_path: Path) -> None:
    """Of the six that were tried, two are legal when the study is continued."""
    config = configured(tmp_path, SMALL)
    before = tuned(config, StudyOptions(exhaustive=True)).evaluation.problems[0]
    _listed_otherwise(config, SMALL.replace("b: {from: 1, to: 3", "b: {from: 1, to: 1"))
    after = tuned(config, StudyOptions(exhaustive=True, resume=True)).evaluation.problems[0]
    assert after.space.candidates == 2
    assert len(after.evaluated) == 2
    assert len(after.lost) == 4
    assert {row.note for row in after.lost} == {"no longer legal"}
    assert {row.rank for row in after.lost} == {None}
    assert max(row.rank or 0 for row in after.rows) == 2
    assert before.best is not None
    assert before.best.candidate.identity in {row.candidate.identity for row in after.lost}
    assert after.best is not None
    assert after.best in after.evaluated
    assert words.convergence(after).startswith("2 of 2 candidates were tried, 0 failed.")
    said = "Of the candidates that were tried, 4 are no longer legal"
    assert any(said in line for line in words.sentences_of(after))
    _listed_otherwise(config, SMALL)
    again = tuned(config, StudyOptions(exhaustive=True, resume=True)).evaluation.problems[0]
    assert (len(again.evaluated), again.lost) == (6, ())


def test_a_winner_at_the_end_of_its_values_is_said_to_be_there(tmp_path: Path) -> None:
    """Of a from 2 to 5 the largest is the fastest, of b from 5 to 15 one within."""
    program = PROGRAM.replace("from: 1, to: 20", "from: 2, to: 5")
    program = program.replace("from: 1, to: 30", "from: 5, to: 15")
    program = program.replace("{a: 1, b: 1}", "{a: 2, b: 5}")
    result = tuned(configured(tmp_path, program), StudyOptions(budget_evaluations=8))
    (problem,) = evaluate(result.record).problems
    assert problem.best is not None
    assert problem.best.candidate.parameters["a"] == 5
    said = words.at_the_end(problem)
    assert said == "a = 5 is the largest of its values: values beyond may be better still"
    assert f"  {said}." in words.sentences_of(problem)
    assert words.at_the_end(replace(problem, baseline=problem.best)) == ""


def test_a_budget_on_the_command_line_replaces_that_of_the_config(tmp_path: Path) -> None:
    config = configured(tmp_path, PROGRAM)
    config.write_text(config.read_text() + "search: {budget: 3}\n")
    ranked = rank_space(load(config), silent)
    assert evaluations(ranked, StudyOptions()) == 3
    assert evaluations(ranked, StudyOptions(budget_evaluations=5)) == 5
    assert evaluations(ranked, StudyOptions(budget_seconds=60.0)) is None
