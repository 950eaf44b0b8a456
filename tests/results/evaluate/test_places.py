"""Places by prediction come from the store: most candidates of a space are never stored."""

from pathlib import Path

import fabricated as fake
import pytest

from autotune.domain.ranking import Ranked
from autotune.files.store import Store, StoredChoice, StudyOrigin
from autotune.files.store.records import ProblemSpace
from autotune.results.documents.study_document import problem_row
from autotune.results.evaluate.study_evaluation import ProblemEvaluation, TopLoss, evaluate
from autotune.results.report import study_table, words

PLACES = {1: 1.0, 3: 1.1, 7: 2.0, 123_456: 4.0}
"""Place by prediction of those that were proposed, and what each takes; the last one is the
baseline."""


def candidate(place: int) -> fake.Candidate:
    return fake.candidate(pad=place)


def studied(
    folder: Path, places: dict[int, float], legal: int, *, exact: bool = True
) -> ProblemEvaluation:
    """A study that proposed and measured the candidates at these places of many."""
    safe = candidate(max(places))
    entries = [Ranked(k, candidate(k), fake.prediction(1 + 1e-6 * k)) for k in places]
    space = ProblemSpace(
        problem=safe.problem.key,
        candidates=legal,
        predicted=legal,
        exact=exact,
        layouts=(safe.layout, fake.candidate(threads=1).layout),
        builds=(safe.build,),
        parameters={"pad": tuple(range(9))},
    )
    with Store.open(folder / "results.sqlite") as store:
        store.begin_study("study", StudyOrigin(config="c", setup_text=""))
        store.add_space("study", [space], [e for e in entries if e.candidate == safe])
        run = store.begin_run("study", fake.facts())
        choices = [
            StoredChoice(candidate=e.candidate.identity, place=k, reason="x")
            for k, e in enumerate(entries)
        ]
        store.add_proposals(run, entries, choices)
        for place, seconds in places.items():
            for launch in range(4):
                sample = fake.sample(seconds, launch=launch, round=launch)
                store.add_sample(run, candidate(place).identity, 0, sample)
            store.add_outcome(run, candidate(place).identity, "ok")
        (problem,) = evaluate(store.load_study("study")).problems
    return problem


def test_places_are_those_among_all_candidates_of_the_space(tmp_path: Path) -> None:
    problem = studied(tmp_path, PLACES, 10**6)
    assert [row.rank for row in problem.rows] == list(PLACES)
    assert problem.baseline is not None
    assert problem.baseline.rank == 123_456
    assert (problem.layouts, problem.builds) == (2, 1)


def test_where_the_first_is_the_best_of_all_the_others_change_no_loss(tmp_path: Path) -> None:
    problem = studied(tmp_path, PLACES, 10**6)
    assert [(top.k, top.loss) for top in problem.losses] == [(1, 0.0), (3, 0.0), (5, 0.0)]


def test_a_predicted_best_that_was_never_proposed_leaves_a_bound_of_the_loss(
    tmp_path: Path,
) -> None:
    """Of the first five the third and the fifth are missing; the best of all was a guess."""
    problem = studied(tmp_path, {1: 1.5, 2: 1.25, 4: 2.0, 777: 1.0}, 10**6)
    assert problem.losses == (
        TopLoss(1, pytest.approx(0.5)),
        TopLoss(3, None, at_most=pytest.approx(0.25)),
        TopLoss(5, None, at_most=pytest.approx(0.25)),
    )
    assert words.losses(problem).startswith(
        "too few were measured to judge them; top 1 50.0 %, top 3 at most 25.0 %, top 5 at most"
        " 25.0 % (measured: 4 of 1000000;"
        " at most: not all of them were measured; "
    )


def test_without_any_of_the_top_there_is_no_bound(tmp_path: Path) -> None:
    problem = studied(tmp_path, {2: 1.25, 777: 1.0}, 10**6)
    assert problem.losses[0] == TopLoss(1, None)
    said = words.losses(problem)
    assert said.startswith("too few were measured to judge them; top 1 -, top 3 at most 25.0 %")
    assert "; -: none of them could be compared" in said


def test_a_space_smaller_than_the_top_is_the_whole_top(tmp_path: Path) -> None:
    problem = studied(tmp_path, {1: 1.5, 2: 1.0, 3: 3.0}, 3)
    losses = {top.k: top.loss for top in problem.losses}
    assert losses == {1: pytest.approx(0.5), 3: 0.0, 5: 0.0}


def test_what_is_shown_says_how_many_legal_candidates_there_are(tmp_path: Path) -> None:
    problem = studied(tmp_path, PLACES, 10**6)
    assert "of 4 of 1000000 candidates" in study_table.problem(problem)
    document = problem_row(problem)
    assert (document.candidates, document.tried) == (10**6, 4)
    assert document.measured == "4 of 1000000"


def test_a_number_that_was_not_counted_is_said_to_be_the_least(tmp_path: Path) -> None:
    problem = studied(tmp_path, PLACES, 10**9, exact=False)
    assert words.convergence(problem) == ("4 of more than 1e+09 candidates were tried, 0 failed.")
