"""A search in a journal of Optuna: trials of candidates, what they say, what ends the mirroring."""

from pathlib import Path

import numpy as np
import optuna
import pytest
from fabricated import candidate
from optuna.distributions import CategoricalDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from program_samples import candidates as programs
from program_samples import read, written

from autotune.tuning.optuna_mirror import OptunaMirror
from autotune.tuning.search.base import SearchResult, Suggestion
from autotune.tuning.search.points import points

ORDERS = ("ijl", "ilj", "jil")
CANDIDATES = [
    candidate(order, size, pad) for size in (256, 512) for order in ORDERS for pad in (0, 5)
]
PREDICTED = np.array([1e-3 * (1 + row) for row in range(len(CANDIDATES))])
PREDICTED[3] = np.nan


def mirror(path: Path, objectives: tuple[str, ...] = ("time",)) -> OptunaMirror:
    rows = tuple(
        (c.variant.parameters["order"], c.variant.parameters["pad"], c.problem.n)
        for c in CANDIDATES
    )
    space = points(
        ("order", "pad", "size"),
        rows,
        predicted=PREDICTED,
        group=np.repeat([0, 1], len(CANDIDATES) // 2),
    )
    return OptunaMirror(CANDIDATES, space, objectives, storage=str(path), name="quick")


def studies(path: Path) -> list[optuna.Study]:
    """What another process reads from the journal."""
    storage = JournalStorage(JournalFileBackend(str(path)))
    return [
        optuna.load_study(study_name=summary.study_name, storage=storage)
        for summary in optuna.get_all_study_summaries(storage)
    ]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "study.journal"


def test_a_rate_is_maximised_and_shown_in_its_unit(tmp_path: Path, journal: Path) -> None:
    rate = """\
metrics: {rate: {pattern: "rate (\\\\S+)", unit: MB/s, better: more}}
objective: rate
"""
    candidates = programs(read(written(tmp_path, rate)))[:2]
    space = points(
        ("which",), (("a",), ("b",)), predicted=np.full(2, np.nan), group=np.zeros(2, dtype=int)
    )
    made = OptunaMirror(candidates, space, ("time",), storage=str(journal), name="quick")
    made.propose(Suggestion(index=0, why="it is near", predicted=0.004))
    made.end(0, SearchResult(index=0, seconds=0.002), "ok")
    (study,) = studies(journal)
    assert (study.direction.name, study.metric_names) == ("MAXIMIZE", ["rate"])
    (trial,) = study.trials
    assert trial.value == pytest.approx(500.0)
    assert trial.user_attrs["expected_rate"] == pytest.approx(250.0)


def test_every_problem_has_a_study_of_its_name(journal: Path) -> None:
    made = mirror(journal)
    assert [study.study_name for study in made.studies] == [
        f"quick/{label}" for label in (CANDIDATES[0].problem.label, CANDIDATES[-1].problem.label)
    ]
    assert [study.study_name for study in studies(journal)] == [
        study.study_name for study in made.studies
    ]
    assert made.studies[0].user_attrs == {"objectives": ["time"]}
    assert made.fault == ""


def test_a_proposal_is_a_running_trial_with_the_parameters_of_its_candidate(journal: Path) -> None:
    mirror(journal).propose(
        Suggestion(index=7, why="a hunch", expected_improvement=0.25, predicted=0.5)
    )
    first, second = studies(journal)
    assert first.trials == []
    (trial,) = second.trials
    assert trial.state.name == "RUNNING"
    assert trial.params == {"order": "ijl", "pad": 5, "size": CANDIDATES[7].problem.n}
    assert trial.user_attrs == {
        "candidate": CANDIDATES[7].id,
        "predicted_s": PREDICTED[7],
        "why": "a hunch",
        "expected_improvement": 0.25,
        "expected_s": 0.5,
    }


def test_what_nobody_knows_is_not_said(journal: Path) -> None:
    mirror(journal).propose(Suggestion(index=3, why="at random"))
    (trial,) = studies(journal)[0].trials
    assert trial.user_attrs == {"candidate": CANDIDATES[3].id, "why": "at random"}


def test_parameters_are_the_categories_of_their_problem(journal: Path) -> None:
    mirror(journal).propose(Suggestion(index=0, why=""))
    (trial,) = studies(journal)[0].trials
    assert trial.distributions["pad"] == CategoricalDistribution((0, 5))
    assert trial.distributions["order"] == CategoricalDistribution(ORDERS)
    assert trial.distributions["size"] == CategoricalDistribution((CANDIDATES[0].problem.n,))


@pytest.mark.parametrize(
    ("seconds", "status", "state", "value"),
    [(2.5, "ok", "COMPLETE", 2.5), (None, "crashed", "FAIL", None)],
)
def test_the_end_of_a_proposal_ends_its_trial(
    journal: Path, seconds: float | None, status: str, state: str, value: float | None
) -> None:
    made = mirror(journal)
    made.propose(Suggestion(index=1, why="first"))
    made.end(1, SearchResult(index=1, seconds=seconds), status)
    (trial,) = studies(journal)[0].trials
    assert (trial.state.name, trial.value) == (state, value)
    assert trial.user_attrs["status"] == status


def test_a_candidate_without_a_result_has_a_failed_trial_that_says_why(journal: Path) -> None:
    made = mirror(journal)
    made.propose(Suggestion(index=1, why="first"))
    made.end(1, None, "contended")
    (trial,) = studies(journal)[0].trials
    assert (trial.state.name, trial.user_attrs["status"]) == ("FAIL", "contended")


def test_a_result_nobody_proposed_is_a_trial_too_and_its_first_end_is_kept(journal: Path) -> None:
    made = mirror(journal)
    made.end(2, SearchResult(index=2, seconds=4.0), "ok")
    made.end(2, SearchResult(index=2, seconds=3.0), "ok")
    mirror(journal).end(2, SearchResult(index=2, seconds=2.0), "ok")
    (trial,) = studies(journal)[0].trials
    assert (trial.value, trial.params["order"]) == (4.0, "ilj")


def test_trials_of_several_candidates_end_in_any_order(journal: Path) -> None:
    made = mirror(journal)
    for row in (0, 1, 6):
        made.propose(Suggestion(index=row, why=""))
    for row in (6, 1, 0):
        made.end(row, SearchResult(index=row, seconds=1.0 + row), "ok")
    first, second = studies(journal)
    assert [trial.value for trial in first.trials] == [1.0, 2.0]
    assert [trial.value for trial in second.trials] == [7.0]
    assert first.best_trial.user_attrs["candidate"] == CANDIDATES[0].id


def test_several_objectives_are_several_values_and_a_missing_one_is_a_failure(
    journal: Path,
) -> None:
    made = mirror(journal, ("time", "energy"))
    for row, others in ((0, {"energy": 9.0}), (1, {})):
        made.propose(Suggestion(index=row, why=""))
        made.end(row, SearchResult(index=row, seconds=2.0, objectives=others), "ok")
    study = studies(journal)[0]
    assert [(t.state.name, t.values) for t in study.trials] == [
        ("COMPLETE", [2.0, 9.0]), ("FAIL", None),
    ]  # fmt: skip
    assert study.metric_names == ["time", "energy"]


def test_a_journal_of_other_objectives_is_not_continued(journal: Path) -> None:
    mirror(journal)
    other = mirror(journal, ("time", "energy"))
    assert other.fault == (
        f"the Optuna journal {journal} is not kept:"
        f" study quick/{CANDIDATES[0].problem.label} there has 1 objectives"
    )
    other.propose(Suggestion(index=0, why="is not written"))
    other.end(0, None, "ok")
    assert studies(journal)[0].trials == []


def test_a_journal_that_cannot_be_written_ends_the_mirroring_only(tmp_path: Path) -> None:
    made = mirror(tmp_path / "nowhere" / "study.journal")
    assert made.fault.startswith(f"the Optuna journal {tmp_path}/nowhere/study.journal is not kept")
    assert made.studies == []
    made.propose(Suggestion(index=0, why=""))
    made.end(0, SearchResult(index=0, seconds=1.0), "ok")


def test_a_parameter_that_candidates_lack_cannot_be_sampled(journal: Path) -> None:
    made = mirror(journal)
    trial = made.studies[0].ask()
    with pytest.raises(ValueError, match="candidates have no parameter unroll with this domain"):
        trial.suggest_categorical("unroll", [1, 2])
