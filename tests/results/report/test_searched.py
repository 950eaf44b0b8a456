"""The numbers behind convergence, places, residuals and noise; compact figures; large studies."""

import dataclasses
import re

import fabricated as fake
import pytest

from autotune.files.store import Store
from autotune.results.evaluate.study_evaluation import evaluate
from autotune.results.report import noise_figures, search_records, study_page, words
from autotune.results.report.svg_minify import compact


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("store") / "x.sqlite") as store:
        fake.fill(store, sizes=(256,))
        return store.load_study("quick")


@pytest.fixture(scope="module")
def result(study):
    return evaluate(study).problems[0]


def test_convergence_never_rises_and_ends_at_the_best(study, result):
    found = search_records.convergence(result, study)
    assert [step.evaluation for step in found.steps] == list(range(1, 11))
    bests = [step.best for step in found.steps if step.best is not None]
    assert bests == sorted(bests, reverse=True)
    assert bests[-1] == result.best.measured == found.predicted[-1]
    assert sum(step.measured is None for step in found.steps) == len(result.failures) == 2
    assert found.baseline == result.baseline.measured
    moments = [step.seconds for step in found.steps]
    assert moments == sorted(moments)


def test_residuals_are_factors_of_measured_over_predicted(result):
    found = search_records.residuals(result)
    assert {words.value_of(share) for share in found.shares} >= {"pad 0", "pad 5", "order jli"}
    for share in found.shares:
        assert 0.5 < share.factor < 2
        assert share.interval is None or share.interval[0] <= share.factor <= share.interval[1]
    assert 0.7 < found.overall < 1.3


def test_noise_counts_every_sample(study, result):
    found = noise_figures.noise(result, study)
    assert (found.undisturbed, found.disturbed) == (8 * 15, 0)
    assert all(0 < spread.within < 0.1 and spread.launches == 5 for spread in found.spreads)
    winner = next(one for one in found.drifts if one.shown.role == "winner")
    assert len(winner.ratio) == 5
    assert winner.seconds == tuple(sorted(winner.seconds))


def test_failures_are_counted_by_what_they_say(result):
    found = {one.status: one for one in search_records.failed(result)}
    assert found["timed-out"].reasons == (("ended after 60 s", 1),)
    assert "error" in found["build-failed"].reasons[0][0]


def test_a_compact_picture_keeps_what_it_refers_to():
    text = (
        '<g id="a"><defs><path id="m1" d="M 0 0.12345 \nL 1 -0.0001" style="fill: #222"/></defs>'
        '<g id="b"><use xlink:href="#m1" x="1.23456"/></g>'
        '<g clip-path="url(#c9)"><text style="font-family: \'A\', B; fill: red">1.23456 </text></g>'
        '<clipPath id="c9"><rect/></clipPath></g>'
    )
    short = compact(text, "f-")
    assert re.findall(r'id="([^"]*)"', short) == ["f-0", "f-1"]
    assert 'href="#f-0"' in short
    assert "url(#f-1)" in short
    assert 'd="M 0 0.12 L 1 0" style="fill:#222"' in short
    assert 'x="1.23"' in short
    assert ">1.23456 </text>" in short  # what is read stays
    assert "font-family" not in short


def test_a_page_of_a_thousand_candidates_stays_light(study):
    """All rows are there; drawings hold as much as can be read."""
    (run,) = study.runs
    candidates, predictions, measurements = [], [], []
    old = {m.candidate: m for m in run.measurements}
    known = {s.candidate: s for s in study.predictions}
    for copy in range(100):
        for one in study.candidates:
            identity = f"{copy:04d}{one.identity[4:]}"
            baseline = one.baseline and copy == 0
            candidates.append(dataclasses.replace(one, identity=identity, baseline=baseline))
            place = known[one.identity].rank
            rank = place and copy * len(study.candidates) + place
            predictions.append(
                dataclasses.replace(known[one.identity], candidate=identity, rank=rank)
            )
            if one.identity in old:
                detail = "x.c:1: error: " + "y" * 50_000
                found = dataclasses.replace(old[one.identity], candidate=identity)
                failed = found.status == "build-failed"
                measurements.append(
                    dataclasses.replace(found, detail=detail if failed else found.detail)
                )
    run = dataclasses.replace(run, measurements=tuple(measurements), choices=())
    large = dataclasses.replace(
        study, candidates=tuple(candidates), predictions=tuple(predictions), runs=(run,)
    )
    result = evaluate(large)
    assert (result.problems[0].compared, len(result.problems[0].failures)) == (800, 200)
    text = study_page.render(result)
    assert len(text) < 1_000_000
    assert text.count('<tr id="row-') == 1200
    assert "And 188 more" in text
