"""The search as a sampler of Optuna, through real studies."""

import numpy as np
import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState
from searcher_conformance import NAMES, ROWS, seconds, space

from autotune.tuning.search.base import SearchForecast, SearchResult, Suggestion
from autotune.tuning.search.model_search import ModelSearch
from autotune.tuning.search.optuna_sampler import CandidateSampler
from autotune.tuning.search.optuna_trials import domains
from autotune.tuning.search.points import Points
from autotune.tuning.search.policy import Policy

optuna.logging.set_verbosity(optuna.logging.ERROR)
COLUMNS = (*NAMES, "size")


def sampler(candidates: Points, seed: int = 1, **settings) -> CandidateSampler:
    return CandidateSampler(ModelSearch(candidates, Policy(**settings), seed=seed), candidates)


def row_of(trial) -> int:
    return ROWS.index(tuple(trial.params[name] for name in NAMES))


def objective(trial: optuna.Trial) -> float:
    known = domains([(*row, 100) for row in ROWS], COLUMNS)
    for name, domain in known.items():
        trial.suggest_categorical(name, domain.choices)
    row = row_of(trial)
    if ROWS[row][1] == "c":
        raise RuntimeError("does not run")
    return seconds(row)


def test_optimize_measures_candidates_once_and_stops_by_itself() -> None:
    study = optuna.create_study(sampler=sampler(space(predicted=True), first=5))
    study.optimize(objective, n_trials=100, catch=(RuntimeError,))
    rows = [row_of(trial) for trial in study.trials]
    assert len(rows) == len(set(rows)) < len(ROWS)
    assert study.best_value == pytest.approx(min(seconds(r) for r in range(len(ROWS))), rel=0.02)


def test_a_study_on_file_goes_on_where_it_was(tmp_path) -> None:
    """What the first process measured the second knows, failures and what died included."""

    def study(seed: int) -> optuna.Study:
        storage = JournalStorage(JournalFileBackend(str(tmp_path / "journal.log")))
        return optuna.create_study(
            storage=storage,
            study_name="s",
            sampler=sampler(space(), seed, patience=50),
            load_if_exists=True,
        )

    first = study(1)
    first.optimize(objective, n_trials=10, catch=(RuntimeError,))
    dead = row_of(first.ask(dict(first.sampler.domains)))
    second = study(1)
    second.optimize(objective, n_trials=len(ROWS) - 12, catch=(RuntimeError,))
    rows = [row_of(trial) for trial in second.trials]
    assert len(rows) == len(set(rows)) == len(ROWS) - 1
    assert rows.count(dead) == 1
    assert {t.state for t in second.trials} == {
        TrialState.COMPLETE,
        TrialState.FAIL,
        TrialState.RUNNING,
    }
    later = second.sampler.suggestions[second.trials[12].number]
    assert later.expected_improvement > 0  # the posterior of the first ten, at once


def test_two_workers_on_one_study_do_not_measure_twice(tmp_path) -> None:
    path = str(tmp_path / "journal.log")
    workers = [
        optuna.create_study(
            storage=JournalStorage(JournalFileBackend(path)),
            study_name="s",
            sampler=sampler(space(), seed),
            load_if_exists=True,
        )
        for seed in (1, 2)
    ]
    for _ in range(8):
        trials = [worker.ask(dict(worker.sampler.domains)) for worker in workers]
        for worker, trial in zip(workers, trials, strict=True):
            worker.tell(trial, seconds(row_of(trial)))
    rows = [row_of(trial) for trial in workers[0].trials]
    assert len(rows) == len(set(rows)) == 16


def test_a_pruned_candidate_is_no_failure_and_not_asked_for_again() -> None:
    study = optuna.create_study(sampler=sampler(space()))
    pruned = study.ask(dict(study.sampler.domains))
    study.tell(pruned, state=TrialState.PRUNED)
    study.sampler = sampler(space(), 2)  # as another worker, who reads it
    rows = [row_of(pruned)]
    for _ in ROWS[1:]:
        trial = study.ask(dict(study.sampler.domains))
        study.tell(trial, seconds(row_of(trial)))
        rows.append(row_of(trial))
    assert sorted(rows) == list(range(len(ROWS)))


def test_enqueued_candidates_keep_their_values() -> None:
    study = optuna.create_study(sampler=sampler(space()))
    wanted = dict(zip(COLUMNS, (*ROWS[7], 100), strict=True))
    study.enqueue_trial(wanted)
    study.optimize(objective, n_trials=6, catch=(RuntimeError,))
    rows = [row_of(trial) for trial in study.trials]
    assert rows[0] == 7
    assert len(set(rows)) == 6


def test_when_nothing_is_left_it_says_so() -> None:
    study = optuna.create_study(sampler=sampler(space()))
    for _ in ROWS:
        trial = study.ask(dict(study.sampler.domains))
        study.tell(trial, seconds(row_of(trial)))
    with pytest.raises(RuntimeError, match="none left"):
        study.ask(dict(study.sampler.domains))


def test_two_objectives_reach_the_search() -> None:
    candidates = space()
    search = ModelSearch(candidates, Policy(objectives=("time", "memory"), start=3))
    study = optuna.create_study(
        directions=["minimize"] * 2,
        sampler=CandidateSampler(search, candidates, objectives=("time", "memory")),
    )
    for _ in range(12):
        trial = study.ask(dict(study.sampler.domains))
        study.tell(trial, [seconds(row_of(trial)), float(trial.params["tile"])])
    assert len(study.best_trials) >= 1
    assert len({row_of(trial) for trial in study.trials}) == 12


# --- what a search is told of trials ------------------------------------------------------------


class InOrder:
    """A search that proposes rows in order and keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int] | SearchResult] = []

    def ask(self, group: int, count: int = 1) -> list[Suggestion]:
        taken = {
            entry.index if isinstance(entry, SearchResult) else entry[1] for entry in self.told
        }
        free = [row for row in range(len(ROWS)) if row not in taken]
        return [Suggestion(index=row, why="next") for row in free[:count]]

    def tell(self, result: SearchResult) -> None:
        self.told.append(result)

    def claim(self, index: int) -> None:
        self.told.append(("claim", index))

    def release(self, index: int) -> None:
        self.told.append(("release", index))

    def finished(self, group: int) -> str | None:
        return None

    def forecast(self, group: int) -> SearchForecast:
        empty = np.empty(0)
        return SearchForecast(index=empty.astype(np.intp), mean=empty, sd=empty)


def told(
    state: TrialState,
    values: list[float] | None = None,
    row: tuple[object, ...] = (*ROWS[3], 100),
    **attributes: object,
) -> list[tuple[str, int] | SearchResult]:
    """What a search is told of a study with one such trial, read twice."""
    search = InOrder()
    objectives = ("time", "memory")[: len(values or [1.0])]
    sampler = CandidateSampler(search, space(), objectives=objectives)
    choices = {name: {*domain.choices} for name, domain in sampler.domains.items()}
    known = dict(zip(COLUMNS, row, strict=True))
    trial = optuna.trial.create_trial(
        state=state, values=values, params=known, user_attrs=attributes,
        distributions={
            name: optuna.distributions.CategoricalDistribution([*choices[name] | {value}])
            for name, value in known.items()
        },
    )  # fmt: skip
    study = optuna.create_study(directions=["minimize"] * len(objectives))
    study.add_trial(trial)
    sampler.read(study)
    sampler.read(study)
    return search.told


def test_a_complete_trial_is_a_time_with_its_noise() -> None:
    assert told(TrialState.COMPLETE, [0.5]) == [SearchResult(index=3, seconds=0.5)]
    assert told(TrialState.COMPLETE, [0.5, 9.0], sigma=0.1) == [
        SearchResult(index=3, seconds=0.5, sigma=0.1, objectives={"memory": 9.0})
    ]


def test_a_failed_trial_is_a_failure_unless_it_was_not_run() -> None:
    assert told(TrialState.FAIL) == [SearchResult(index=3, seconds=None)]
    assert told(TrialState.FAIL, status="crashed") == [SearchResult(index=3, seconds=None)]
    for status in ("not run", "contended"):
        assert told(TrialState.FAIL, status=status) == [("claim", 3), ("release", 3)]


def test_a_pruned_trial_has_no_result_and_a_running_one_has_none_yet() -> None:
    assert told(TrialState.PRUNED) == [("claim", 3), ("release", 3)]
    assert told(TrialState.RUNNING) == [("claim", 3)]


def test_a_trial_of_no_candidate_says_nothing() -> None:
    assert told(TrialState.COMPLETE, [0.5], row=(*ROWS[3], 7)) == []
    assert told(TrialState.FAIL, row=("none", *ROWS[3][1:], 100)) == []


def test_truth_and_one_are_different_values() -> None:
    """The tile of the first row is 1."""
    assert ROWS[0][0] == 1
    assert told(TrialState.COMPLETE, [0.5], row=(*ROWS[0], 100)) != []
    assert told(TrialState.COMPLETE, [0.5], row=(True, *ROWS[0][1:], 100)) == []


def test_a_parameter_that_candidates_do_not_have_is_refused() -> None:
    study = optuna.create_study(sampler=sampler(space()))
    trial = study.ask(dict(study.sampler.domains))
    with pytest.raises(ValueError, match="candidates have no parameter unroll with this domain"):
        trial.suggest_int("unroll", 1, 4)
