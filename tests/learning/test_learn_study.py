"""A study is a table: what its candidates differ in, what was predicted, what was measured."""

from dataclasses import replace
from pathlib import Path

import fabricated
import numpy as np
import pytest

from autotune.commands.learn.study_tables import read_study, study_table
from autotune.errors import InputError
from autotune.files.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("store") / "results.sqlite"
    with Store.open(path) as results:
        fabricated.fill(results, rounds=1)
    return str(path)


def test_the_measured_candidates_of_a_study_are_rows(store: str) -> None:
    found = read_study("", store)
    table = found.table
    assert table.unit == "s"
    assert table.statistic == "as given"
    assert len(table) == len(found.candidates) == len(found.random)
    assert table.inputs.analytical is not None
    for i, candidate in enumerate(found.candidates):
        values = table.inputs.values(i)
        assert values.get("order", candidate.parameters["order"]) == candidate.parameters["order"]
        assert values.get("N", candidate.problem.size) == candidate.problem.size
    assert all(np.isfinite(table.response))
    assert min(map(len, table.repetitions)) >= 1


def test_rows_that_were_measured_by_chance_are_marked(store: str) -> None:
    with Store.open(store, create=False) as results:
        record = results.load_study("quick")
    run = record.runs[-1]
    lucky = run.measurements[2].candidate
    choices = tuple(
        replace(choice, reason="drawn at random from the other 9")
        if choice.candidate == lucky
        else choice
        for choice in run.choices
    )
    found = study_table(replace(record, runs=(replace(run, choices=choices),)))
    drawn = [c.identity for c, chance in zip(found.candidates, found.random, strict=True) if chance]
    assert drawn == [lucky]
    assert not study_table(record).random.any()


def test_a_study_by_engine_and_problem(store: str) -> None:
    with Store.open(store, create=False) as results:
        record = results.load_study("quick")
    whole = study_table(record).table
    labels = {candidate.problem.label for candidate in record.candidates}
    parts = [study_table(record, problem=label).table for label in sorted(labels)[:1]]
    assert all(len(part) <= len(whole) for part in parts)
    with pytest.raises(InputError, match=r"unknown engine 'reus'.*did you mean reuse"):
        study_table(record, engine="reus")
    with pytest.raises(InputError, match="unknown problem 'heat'"):
        study_table(record, problem="heat")


def test_a_study_without_times_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_study("", str(tmp_path / "none.sqlite"))
