"""Dissections: kept and read back, as a table, as a document, in the page."""

import dataclasses

import fabricated as fake
import pytest
from documented import documented

from autotune.domain.dissection import Dissection, KernelTime, SweepTerms, Term
from autotune.files import codec
from autotune.files.store import Store, kept_dissections
from autotune.results.evaluate.study_evaluation import evaluate
from autotune.results.report import study_page, terms_text


def term(kind, level, predicted, measured, **more):
    return Term(
        kind=kind,
        level=level,
        working_set=16384,
        length=256,
        lines=0.0,
        predicted=predicted,
        measured=measured,
        **more,
    )


SWEEP = SweepTerms(
    sweep="f_heat2d_1",
    kernel="rhs",
    calls=28,
    share=0.5,
    bottleneck="data port 11 12",
    route="osaca:ZEN3",
    vector=32,
    terms=(
        term("T_OL", "L1", 0.375, None, reason="it calls sin"),
        term("T_nOL", "L1", 0.625, 1.0, interval=(0.9, 1.1), samples=6),
        term("core", "L1", 0.625, 1.05, samples=6),
        term("level", "L2", 1.2, 1.25, transfer=0.5, samples=6),
        term("level loads", "L2", None, 0.9, samples=6),
    ),
)
FOUND = Dissection(
    candidate="0123456789ab",
    id="jil@heat2d-N256-T1:0123456789ab",
    machine="host/1",
    threads=1,
    clock=3.2e9,
    taken="2026-01-02T03:04:05+00:00",
    rounds=3,
    wanted=5,
    sweeps=(SWEEP,),
    kernels=(KernelTime(kernel="rhs", predicted=1e-3, measured=2e-3),),
    notes=("interrupted <after> 3 of 5 rounds",),
)


def test_what_is_kept_is_read_back(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path))
    assert kept_dissections.kept(FOUND.machine, FOUND.candidate) is None
    path = kept_dissections.keep(FOUND)
    assert kept_dissections.kept(FOUND.machine, FOUND.candidate) == FOUND
    path.write_text(path.read_text(encoding="utf-8").replace("dissect/1", "dissect/9"))
    assert kept_dissections.kept(FOUND.machine, FOUND.candidate) is None


def test_the_deviation_is_of_the_measured_time():
    assert SWEEP.term("T_nOL").deviation == pytest.approx(-0.375)
    assert SWEEP.term("T_OL").deviation is None
    assert SWEEP.term("L2 loads").deviation is None


def test_the_term_that_is_wrong_is_named():
    assert terms_text.furthest(SWEEP).startswith("furthest off: core is predicted 40 % too fast")
    right = tuple(dataclasses.replace(t, predicted=t.measured) for t in SWEEP.terms)
    assert terms_text.furthest(dataclasses.replace(SWEEP, terms=right)) == ""


def test_the_table_has_every_term_and_every_reason():
    text = terms_text.text(FOUND)
    for words in ("T_OL", "it calls sin", "0.900 to 1.10", "-38 %", "0.500 / 0.200", "L2 loads",
                  "28 calls a step", "-50 %", "interrupted",
                  "measured time, shared out as in an instrumented run"):  # fmt: skip
        assert words in text


def test_the_document_says_the_same():
    document = codec.fields(FOUND)
    documented(document, Dissection, "dissection")
    row = document["sweeps"][0]["terms"][1]
    assert (row["kind"], row["measured"], row["interval"]) == ("T_nOL", 1.0, [0.9, 1.1])


def test_the_page_has_them_where_there_are_some(tmp_path):
    with Store.open(tmp_path / "x.sqlite") as store:
        fake.fill(store, sizes=(256,), rounds=1)
        result = evaluate(store.load_study("quick"))
    with_terms = study_page.render(result, [FOUND])
    assert 'id="terms"' in with_terms
    assert "f_heat2d_1: 28 calls a step" in with_terms
    assert "interrupted &lt;after&gt; 3" in with_terms
    assert 'id="terms"' not in study_page.render(result)
