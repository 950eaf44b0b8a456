"""What the store holds of the candidates of a study: a summary of all, and those proposed."""

import fabricated as fake
import pytest

from autotune.domain.ranking import Ranked
from autotune.errors import StoreError
from autotune.files.store import Store, StoredChoice, StudyOrigin
from autotune.files.store.records import ProblemSpace

A, B, C = (fake.candidate(order) for order in ("jli", "jil", "ijl"))


@pytest.fixture
def store(new_location: str):
    with Store.open(new_location) as opened:
        opened.begin_study("study", StudyOrigin(config="c", setup_text=""))
        yield opened


def space(candidates: int = 10**9, **fields: object) -> ProblemSpace:
    values = {
        "problem": A.problem.key,
        "candidates": candidates,
        "predicted": candidates,
        "layouts": (A.layout,),
        "builds": (A.build,),
        "parameters": {"order": ("ijl", "jli"), "pad": (1, 5)},
    }
    return ProblemSpace(**(values | fields))


def test_a_study_begins_with_a_summary_and_its_baselines(store):
    entry = Ranked(7, A, fake.prediction(2e-3))
    for _ in range(2):
        store.add_space("study", [space(exact=False)], [entry])
    study = store.load_study("study")
    assert study.spaces == (space(exact=False),)
    assert study.space(A.problem.key) == space(exact=False)
    ((record, prediction),) = zip(study.candidates, study.predictions, strict=True)
    assert (record.identity, record.baseline) == (A.identity, True)
    assert (prediction.rank, prediction.prediction) == (7, fake.prediction(2e-3))


def test_a_study_that_is_continued_may_have_another_summary_and_baseline(store):
    store.add_space("study", [space()], [Ranked(7, A, fake.prediction(2e-3))])
    store.add_space("study", [space(12)], [Ranked(3, B, fake.prediction(1e-3))])
    study = store.load_study("study")
    assert study.spaces == (space(12),)
    assert [c.identity for c in study.candidates if c.baseline] == [B.identity]


def test_a_study_without_a_summary_consists_of_its_stored_candidates(store):
    store.add_candidates("study", [A, B, C])
    store.add_predictions("study", fake.ranked([(A, fake.prediction()), (C, fake.prediction())]))
    derived = store.load_study("study").space(A.problem.key)
    assert (derived.candidates, derived.predicted, derived.exact) == (3, 2, True)
    assert derived.layouts == (A.layout,)
    assert set(derived.parameters["order"]) == {c.variant.parameters["order"] for c in (A, B, C)}


def test_what_is_proposed_is_stored_with_its_place_and_its_reason(store):
    store.add_space("study", [space()], [Ranked(7, A, fake.prediction(2e-3))])
    run = store.begin_run("study", fake.facts())
    entries = [Ranked(123456, B, fake.prediction(3e-3)), Ranked(None, C, fake.prediction(None))]
    choices = [
        StoredChoice(candidate=entry.candidate.identity, place=k, reason="step 1")
        for k, entry in enumerate(entries)
    ]
    for _ in range(2):
        store.add_proposals(run, entries, choices)
    study = store.load_study("study")
    assert [c.identity for c in study.candidates] == [c.identity for c in (A, B, C)]
    assert [c.baseline for c in study.candidates] == [True, False, False]
    ranks = {p.candidate: p.rank for p in study.predictions}
    assert ranks == {A.identity: 7, B.identity: 123456, C.identity: None}
    assert study.runs[0].choices == tuple(choices)


def test_proposals_are_entered_wholly_or_not_at_all(store):
    store.add_candidates("study", [A])
    run = store.begin_run("study", fake.facts())
    entries = [Ranked(1, B, fake.prediction(3e-3))]
    unknown = [StoredChoice(candidate=C.identity, place=0, reason="C is no candidate yet")]
    with pytest.raises(StoreError, match=r"(?i)foreign key"):
        store.add_proposals(run, entries, unknown)
    study = store.load_study("study")
    assert [c.identity for c in study.candidates] == [A.identity]
    assert study.predictions == ()


def test_a_summary_counts_more_than_fits_into_a_database(new_location: str) -> None:
    """SQLite holds 15 digits of it; other databases the largest number of their column."""
    many = int(3.6e60)
    with Store.open(new_location) as opened:
        opened.begin_study("study", StudyOrigin(config="c", setup_text=""))
        opened.add_space("study", [space(many, predicted=1)], [])
        study = opened.load_study("study")
    sqlite = "postgres" not in new_location
    assert study.spaces[0].candidates == (many if sqlite else 2**31 - 1)
