"""One of Optuna's samplers over enumerated candidates: order, proposals, results, what is left."""

import math

import numpy as np
import optuna
import pytest
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState

from autotune.tuning.search import optuna_search
from autotune.tuning.search.base import SearchResult
from autotune.tuning.search.optuna_search import OptunaSearch
from autotune.tuning.search.points import Points, points
from autotune.tuning.search.policy import Policy

NAMES = ("tile", "order")
GRID = tuple((tile, order) for tile in (1, 2, 4, 8) for order in ("a", "b", "c"))


def grid(predicted: bool = False, problems: int = 1) -> Points:
    rows = tuple((*row, problem) for problem in range(problems) for row in GRID)
    times = np.array([float(1 + (7 * n) % len(rows)) for n in range(len(rows))])
    return points(
        (*NAMES, "size"),
        rows,
        predicted=times if predicted else None,
        group=np.repeat(np.arange(problems), len(GRID)),
    )


def search(candidates: Points, first: tuple[int, ...] = (), seed: int = 1) -> OptunaSearch:
    return OptunaSearch(candidates, "random", Policy(), first=first, seed=seed)


def asked(made: OptunaSearch, count: int, group: int = 0) -> list[int]:
    return [suggestion.index for suggestion in made.ask(group, count)]


def test_at_random_only_those_that_come_first_come_first() -> None:
    made = search(grid(predicted=True), first=(5, 2, 5))
    suggestions = made.ask(0, 3)
    assert [suggestion.index for suggestion in suggestions[:2]] == [5, 2]
    assert suggestions[0].why == "the baseline or predicted to be fast"
    assert suggestions[2].why == "proposed by RandomSampler"


def test_a_sampler_that_learns_begins_with_the_best_by_prediction() -> None:
    candidates = grid(predicted=True)
    best = np.argsort(candidates.predicted, kind="stable").tolist()
    made = OptunaSearch(candidates, "tpe", Policy(first=3), first=(best[1], 11))
    assert asked(made, 4) == [best[1], 11, best[0], best[2]]


def test_first_candidates_are_those_of_the_problem() -> None:
    made = search(grid(problems=2), first=(14, 3))
    assert asked(made, 1) == [3]
    assert asked(made, 1, group=1) == [14]


def test_all_come_once_and_then_none() -> None:
    made = search(grid())
    assert sorted(asked(made, 5) + asked(made, 99)) == list(range(12))
    assert asked(made, 1) == []
    assert made.finished(0) == "every candidate was measured"


def test_a_search_is_not_over_while_one_is_left() -> None:
    made = search(grid(problems=2))
    asked(made, 11)
    assert made.finished(0) is None
    assert made.finished(1) is None


def test_proposals_follow_the_seed_and_differ_between_problems() -> None:
    orders = [asked(search(grid(problems=2), seed=seed), 12, group) for seed, group in (
        (1, 0), (1, 0), (2, 0), (1, 1),
    )]  # fmt: skip
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]
    assert orders[3] != [row + 12 for row in orders[0]]


def test_what_others_claim_or_told_of_is_not_asked_for() -> None:
    made = search(grid())
    made.claim(0)
    made.tell(SearchResult(index=1, seconds=2.0))
    made.tell(SearchResult(index=2, seconds=None))
    assert sorted(asked(made, 99)) == list(range(3, 12))


def test_what_another_machine_measured_is_passed_over() -> None:
    made = search(grid())
    made.tell(SearchResult(index=1, seconds=2.0, prior=True))
    assert np.isnan(made.forecast(0).mean).all()
    assert sorted(asked(made, 99)) == list(range(12))


def test_a_forecast_is_what_was_measured_and_nothing_else() -> None:
    made = search(grid(problems=2))
    made.tell(SearchResult(index=13, seconds=2.0))
    made.tell(SearchResult(index=14, seconds=None))
    made.tell(SearchResult(index=13, seconds=4.0))
    forecast = made.forecast(1)
    assert forecast.index.tolist() == list(range(12, 24))
    assert forecast.mean[1] == pytest.approx(math.log(4.0))
    assert forecast.sd[1] == 0.0
    assert np.isnan(np.delete(forecast.mean, 1)).all()
    assert np.isnan(np.delete(forecast.sd, 1)).all()
    assert np.isnan(made.forecast(0).mean).all()


def test_where_few_combinations_are_legal_the_nearest_to_a_proposal_is_taken() -> None:
    """Of 900 combinations the 30 on the diagonal are candidates."""
    diagonal = points(("a", "b"), tuple((n, n) for n in range(30)))
    suggestions = search(diagonal).ask(0, 30)
    assert sorted(suggestion.index for suggestion in suggestions) == list(range(30))
    assert {suggestion.why for suggestion in suggestions} == {
        "proposed by RandomSampler",
        "nearest to a proposal of RandomSampler",
    }


def test_a_candidate_that_was_released_is_not_asked_for_again() -> None:
    made = search(grid())
    (row,) = asked(made, 1)
    made.release(row)
    made.release(row)
    assert row not in asked(made, 99)


def test_a_sampler_follows_what_was_measured_and_avoids_what_failed() -> None:
    """Everything but order b fails or is a hundred times as slow."""
    wide = points(NAMES, tuple((tile, order) for tile in range(40) for order in "abc"))
    made = OptunaSearch(wide, "tpe", Policy(first=1), seed=1)
    orders = []
    for _ in range(40):
        (row,) = asked(made, 1)
        order = wide.rows[row][1]
        orders.append(order)
        seconds = {"a": None, "b": 0.01, "c": 1.0}[str(order)]
        made.tell(SearchResult(index=row, seconds=seconds))
    assert orders[20:].count("b") > 12


# --- what the sampler is told of proposals that are not measured --------------------------------


class ScriptedSampler(BaseSampler):
    """Proposes the places of its script in order, the last one for ever; keeps what it is told."""

    def __init__(self, *script: tuple[int, ...]) -> None:
        self.script = script
        self.proposed: list[int] = []
        """Numbers of the trials that this sampler proposed."""
        self.answers: list[list[float] | None] = []

    def infer_relative_search_space(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
    ) -> dict[str, BaseDistribution]:
        return {}

    def sample_relative(self, study, trial, search_space):
        return {}

    def sample_independent(self, study, trial, param_name, param_distribution):
        if trial.number not in self.proposed:
            self.proposed.append(trial.number)
        place = min(self.proposed.index(trial.number), len(self.script) - 1)
        return self.script[place][int(param_name[1:])]

    def after_trial(self, study, trial, state, values):
        assert (state == TrialState.COMPLETE) == (values is not None)
        self.answers.append(None if values is None else [round(math.exp(v), 9) for v in values])


DIAGONAL = tuple((n, n, problem) for problem in (0, 1) for n in range(4))
"""Two problems with four candidates each: (n, n)."""


def scripted(monkeypatch: pytest.MonkeyPatch, *script: tuple[int, ...]) -> tuple:
    """A search over both problems, and the sampler of the second, which follows the script."""
    samplers = [ScriptedSampler((0, 0, 0)), ScriptedSampler(*script)]
    monkeypatch.setattr(optuna_search, "sampler", lambda _, seed: samplers[seed - 1])
    candidates = points(("a", "b", "p"), DIAGONAL, group=np.repeat([0, 1], 4))
    return OptunaSearch(candidates, "scripted", Policy(first=1), seed=1), samplers[1]


def test_a_proposal_that_is_no_candidate_is_as_bad_as_the_worst_of_its_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, sampler = scripted(monkeypatch, (0, 1, 1), (2, 2, 1))
    for row, seconds in ((0, 50.0), (4, 2.0), (5, 7.0), (1, 0.5)):
        made.tell(SearchResult(index=row, seconds=seconds))
    assert asked(made, 1, group=1) == [6]
    assert sampler.answers == [[7.0]]


def test_a_proposal_that_is_no_candidate_says_nothing_while_nothing_was_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, sampler = scripted(monkeypatch, (0, 1, 1), (2, 2, 1))
    made.tell(SearchResult(index=0, seconds=50.0))
    assert asked(made, 1, group=1) == [6]
    assert sampler.answers == [None]


def test_a_proposal_that_was_measured_has_the_value_that_was_told_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, sampler = scripted(monkeypatch, (0, 0, 1), (2, 2, 1))
    for row, seconds in ((4, 2.0), (5, 7.0), (4, 3.0)):
        made.tell(SearchResult(index=row, seconds=seconds))
    assert asked(made, 1, group=1) == [6]
    assert sampler.answers == [[3.0]]


def test_a_proposal_that_is_being_measured_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made, sampler = scripted(monkeypatch, (0, 0, 1), (2, 2, 1))
    made.tell(SearchResult(index=5, seconds=7.0))
    made.claim(4)
    assert asked(made, 1, group=1) == [6]
    assert sampler.answers == [None]


def test_a_candidate_that_failed_is_as_bad_as_the_worst_of_its_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, sampler = scripted(monkeypatch, (2, 2, 1), (3, 3, 1))
    for row, seconds in ((0, 50.0), (4, 2.0), (5, 7.0)):
        made.tell(SearchResult(index=row, seconds=seconds))
    (row,) = asked(made, 1, group=1)
    made.tell(SearchResult(index=row, seconds=None))
    assert sampler.answers == [[7.0]]
