"""Pareto fronts: nobody on one is beaten, everybody else is; what a study's front is over."""

import dataclasses

import fabricated as fake
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.files.store import Store
from autotune.results.documents import study_document
from autotune.results.evaluate.study_evaluation import SEARCHED, evaluate
from autotune.results.report import study_page, study_table, words
from autotune.statistics import pareto

POINTS = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.fixed_dictionaries({"t": st.integers(1, 6), "m": st.integers(1, 6)}),
    min_size=1,
    max_size=12,
)


def at_least_as_good(one: dict[str, int], other: dict[str, int]) -> bool:
    return all(one[kind] <= other[kind] for kind in other)


@given(POINTS)
def test_a_front_covers_all_and_nobody_on_it_covers_another(points: dict[str, dict[str, int]]):
    front = pareto.front(points, ("t", "m"))
    for name, found in points.items():
        assert any(at_least_as_good(points[other], found) for other in front)
        if name in front:
            others = (points[other] for other in front if other != name)
            assert not any(at_least_as_good(other, found) for other in others)
    assert [points[name]["t"] for name in front] == sorted(points[name]["t"] for name in front)


def test_a_page_more_or_less_is_no_difference_but_time_is():
    found = {"a": {"t": 1.0, "m": 1000.0}, "b": {"t": 1.001, "m": 999.9}, "c": {"t": 2.0}}
    assert pareto.front(found, ("t", "m")) == ("a",)
    assert pareto.front(found, ("t",)) == ("a",)
    with pytest.raises(ValueError, match="positive"):
        pareto.front({"a": {"t": 1.0, "m": 0.0}}, ("t", "m"))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("store") / "x.sqlite") as store:
        fake.fill(store, sizes=(256,))
        return store.load_study("quick")


def asked(study, objectives: str):
    (run,) = study.runs
    run = dataclasses.replace(run, conditions={**run.conditions, SEARCHED: objectives})
    return evaluate(dataclasses.replace(study, runs=(run,)))


def test_what_was_read_is_shown_and_what_was_asked_for_is_said(study):
    """Memory is in all samples; a search for time alone says nothing of it on the terminal."""
    (plain,) = evaluate(study).problems
    assert (plain.searched, plain.objectives) == ((), ("time", "memory"))
    assert len(plain.front) == 2
    assert "Pareto" not in study_table.study(evaluate(study))
    searched = asked(study, "time, memory")
    (found,) = searched.problems
    assert found.front == plain.front
    fastest, smallest = found.front
    assert fastest is found.best
    assert smallest.memory < fastest.memory
    told = study_table.study(searched)
    assert f"Pareto front of time and memory: {words.name(fastest.candidate, found)} with" in told
    row = study_document.study(searched, "autotune.tune/1", "").problems[0].front[1]
    assert row.candidate == smallest.candidate.id
    assert row.objectives == {"time": smallest.measured, "memory": smallest.memory}
    assert "Pareto front of time and memory" in study_page.render(searched)


def test_an_objective_that_no_sample_has_leaves_an_empty_front(study):
    searched = asked(study, "time, energy")
    assert searched.problems[0].front == ()
    assert "No candidate has all of time and energy" in study_table.study(searched)
    assert "No candidate has all of them" in study_page.render(searched)
