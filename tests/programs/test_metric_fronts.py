"""A Pareto front over the objective of a program and other metrics."""

from pathlib import Path

import own_programs as own
import pytest

from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow as tune_flow
from autotune.files import config
from autotune.results.documents.study_document import problem_row
from autotune.results.report.study_table import study as table_of

PROGRAM = """\
schema: autotune.program/1
title: Rates and ratios of levels
sources: [tiny.py]
run: ["{python}", "{source folder}/tiny.py", "{level}"]
parameters: {level: [1, 2, 3, 4]}
metrics:
  rate: {json: rate, unit: MB/s, better: more}
  ratio: {json: ratio, better: more}
objective: rate
"""
SCRIPT = """\
import json, sys
rates, ratios = (400, 200, 50, 100), (2.0, 3.0, 3.5, 4.0)
level = int(sys.argv[1])
print(json.dumps({"rate": rates[level - 1], "ratio": ratios[level - 1]}))
"""
CONFIG = own.CONFIG.replace("builds: [{compiler: gcc, flags: [-O1]}]\n", "").replace(
    "{n: 500}", "{}"
)


def test_levels_that_no_other_beats_in_both_are_the_front(tmp_path: Path) -> None:
    """Level 3 is slower than 4 and compresses less."""
    settings = CONFIG + "search: {objectives: [ratio, rate]}\n"
    path = own.put(tmp_path, PROGRAM, settings, {"tiny.py": SCRIPT})
    made = tune_flow.tune(
        load(path),
        tune_flow.StudyOptions(exhaustive=True),
        str(tmp_path / "store.sqlite"),
        own.quiet,
    )
    (problem,) = made.evaluation.problems
    assert [row.candidate.parameters["level"] for row in problem.front] == [1, 2, 4]
    text = table_of(made.evaluation)
    assert (
        "Pareto front of rate and ratio: level1 with 400 MB/s, 2; level2 with 200 MB/s, 3;" in text
    )
    rows = problem_row(problem).front
    assert rows[0].objectives == pytest.approx({"rate": 400.0, "ratio": 2.0})
    page = tune_flow.write_report(made, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Pareto front of rate and ratio" in page
    assert "rate [MB/s]" in page


@pytest.mark.parametrize(
    ("objectives", "words"),
    [
        ("[rate, ration]", "'ration' is not an objective"),
        ("[rate, ration]", "study.yaml:7:10: "),
        ("[rate, ration]", "expected one of rate, energy, memory, ratio"),
        (
            "[ratio]",
            "objectives: rate, which tiny is judged by, is missing; expected [rate, ",
        ),
        ("[rate, rate]", "each is named once"),
        ("[rate, 1]", "is not the name of an objective"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, objectives: str, words: str) -> None:
    settings = CONFIG + f"search: {{objectives: {objectives}}}\n"
    path = own.put(tmp_path, PROGRAM, settings, {"tiny.py": SCRIPT})
    assert words in "\n".join(own.faults(path))


@pytest.mark.parametrize("problems", ["", "problems:\n", "problems: [{}]\n"])
def test_without_problems_or_arguments_a_program_has_one_problem(
    tmp_path: Path, problems: str
) -> None:
    settings = CONFIG.replace("problems: [{arguments: {}}]\n", problems)
    assert settings != CONFIG
    stated = config.load(own.put(tmp_path, PROGRAM, CONFIG, {"tiny.py": SCRIPT})).problems
    (problem,) = config.load(own.put(tmp_path, PROGRAM, settings, {"tiny.py": SCRIPT})).problems
    assert problem == stated[0]
    assert problem.label == "tiny"


def test_what_is_generated_needs_problems(tmp_path: Path) -> None:
    path = own.put(tmp_path, settings="schema: autotune.config/1\nmachine: host\nspace: pirk\n")
    (fault,) = own.faults(path)
    assert "the key 'problems' is missing; expected a list of what is computed" in fault
