"""The numbers of the figures, before anything is drawn."""

import dataclasses

import fabricated as fake
import pytest

from autotune.domain.results import Part, Prediction
from autotune.files.store import Store
from autotune.results.evaluate.study_evaluation import evaluate
from autotune.results.report import figure_records


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("store") / "x.sqlite") as store:
        fake.fill(store, sizes=(256,))
        return evaluate(store.load_study("quick")).problems[0]


def test_contributions_add_up_to_the_prediction(result):
    figure = figure_records.stack(result, top=3)
    by_label = {row.candidate.variant: row for row in result.rows}
    assert len(figure.bars) >= 3
    for bar in figure.bars:
        predicted = by_label[bar.shown.label].predicted
        assert bar.total == pytest.approx(predicted, rel=0.02)
        assert {segment.name for segment in bar.segments} <= set(figure.names)
    assert {"winner", "baseline"} <= {bar.shown.role for bar in figure.bars}


def test_a_sweep_with_an_extrapolated_part_is_marked(result):
    segments = figure_records.contributions(fake.prediction())
    assert [s.name for s in segments if s.extrapolated] == ["lc"]
    assert [s.name for s in segments] == ["rhs_first", "rhs", "lc", "approx", "update", "barrier"]


def test_equal_contributions_are_joined():
    parts = (Part(sweep="a", kind="sweep", seconds=1.0), Part(sweep="a", kind="sweep", seconds=2.0))
    made = Prediction(seconds=3.0, interval=None, parts=parts, engine="x", reason="")
    assert [(s.name, s.seconds) for s in figure_records.contributions(made)] == [("a", 3.0)]


def test_the_parts_of_a_loop_go_from_the_core_outwards():
    parts = tuple(
        Part(sweep="lc", kind=kind, seconds=1.0, kernel="lc_first+rhs")
        for kind in ("MEM", "entry", "L2", "T_nOL", "L3", "T_OL", "sweep")
    )
    assert {figure_records.loop(part) for part in parts} == {"LC+RHS"}
    (times,) = figure_records.loops_of(
        dataclasses.replace(fake.prediction(1.0), parts=parts),
        figure_records.ShownCandidate("a", "winner"),
    )
    assert [kind for kind, _ in times.rest] == ["T_nOL", "L2", "L3", "MEM", "entry"]
    assert (times.core, times.seconds) == (1.0, 1.0)


def test_scatter_holds_what_was_compared(result):
    points = figure_records.scatter(result).points
    assert len(points) == result.compared
    assert sum(point.shown.role == "winner" for point in points) == 1
    for point in points:
        assert point.interval[0] <= point.measured <= point.interval[1]


def test_samples_are_all_there_without_warm_ups(result):
    strips = figure_records.samples(result).strips
    assert [strip.location for strip in strips] == sorted(strip.location for strip in strips)
    assert all(len(strip.undisturbed) == 15 and not strip.disturbed for strip in strips)


def test_bandwidths_in_bytes_per_second():
    figure = figure_records.bandwidths(fake.machine())
    assert [curve.threads for curve in figure.curves] == [1, 2]
    assert figure.curves[0].bandwidth[0] * figure.clock == pytest.approx(60 * 3.65e9)
    assert figure.caches[0] == ("L1", 32768.0)
    assert figure_records.bandwidths(fake.machine(calibrated=False)).curves == ()


def test_measured_facts_win_and_say_so():
    facts = {fact.name: fact for fact in figure_records.facts(fake.machine())}
    assert (facts["clock"].value, facts["clock"].source) == (3.65e9, "measured")
    assert facts["L2 exposed share"].value == 0.4
    assert facts["barrier, 2 threads"].source == "measured"
    assert facts["L1 size"].source == "sysfs"
    facts = {fact.name: fact for fact in figure_records.facts(fake.machine(calibrated=False))}
    assert (facts["clock"].value, facts["clock"].source) == (3.7e9, "cpufreq")
