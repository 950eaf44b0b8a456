"""The baseline is built, verified and launched before all others; a study without one stops."""

import math
import threading
import time
from itertools import pairwise

import pytest
from fake_host import PROBLEM, Host, InOrder, Notebook, bench, candidate, first_of, ranking

from autotune.domain.results import Prepared
from autotune.domain.setup import Measuring
from autotune.domain.variant import Candidate
from autotune.errors import WorkFailed
from autotune.tuning.base import TuningPlan
from autotune.tuning.building import prepare
from autotune.tuning.fixed_list import tune_problem
from autotune.tuning.problem_search import Task
from autotune.tuning.study_problems import tune_problems

OTHER = PROBLEM.at(64)
RANKINGS = [ranking([1.0, 2.0, 3.0, 4.0, 5.0], problem) for problem in (PROBLEM, OTHER)]
TIMES = {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0, 4: 5.0}


def tuned(host: Host, journal: Notebook, baseline: int = 3, **settings) -> None:
    tasks = [
        Task(
            ranking=ranked,
            first=first_of(ranked, 0, 1, 2, 3, 4),
            baseline=candidate(baseline, ranked.problem).identity,
        )
        for ranked in RANKINGS
    ]
    plan = TuningPlan(measuring=Measuring(rounds=3, samples=3), batch=1, **settings)
    tune_problems(tasks, InOrder(RANKINGS, stop_after=0), bench(host, journal), plan)


def test_each_problem_begins_with_its_baseline_and_one_comparison() -> None:
    host = Host(TIMES, noise=0.001)
    tuned(host, Notebook())
    assert host.built[:4] == [3, 0, 3, 0], "the baseline, then the best predicted, of each problem"
    assert host.launched[0][0] == 3
    assert {number for number, _ in host.launched[1:3]} == {0, 3}
    assert sorted(host.built[4:]) == [1, 1, 2, 2, 4, 4], "each is built once"


def test_problems_take_turns_with_their_first_candidates() -> None:
    host = Host(TIMES, noise=0.001)
    journal = Notebook()
    tuned(host, journal)
    order = [choice.candidate for choice in journal.choices]
    turns = [here.problem != after.problem for here, after in pairwise(order)]
    assert sum(turns) == 5, "the first comparison, then two batches"


@pytest.mark.parametrize("fate", ["build-failed", "wrong-result", "crashed", "timed-out"])
def test_a_baseline_that_fails_stops_the_study_before_anything_else_is_built(fate) -> None:
    host, journal = Host(TIMES, fates={3: fate}), Notebook()
    said = "it did" if fate in ("crashed", "timed-out") else ""
    with pytest.raises(
        WorkFailed, match=f"the baseline of {PROBLEM.label}, .*, has the status {fate}: {said}$"
    ):
        tuned(host, journal)
    assert host.built == [3]
    (outcome,) = journal.outcomes.values()
    assert outcome.status == fate, "it is a result"


def test_a_disturbed_baseline_has_not_failed() -> None:
    host = Host(TIMES, disturbed=lambda launch: launch < 2)
    tuned(host, Notebook())
    assert set(host.built) == set(TIMES)


def test_another_candidate_that_fails_stops_nothing() -> None:
    host, journal = Host(TIMES, fates={0: "crashed", 1: "build-failed"}), Notebook()
    tuned(host, journal)
    statuses = {o.status for o in journal.outcomes.values()}
    assert statuses == {"ok", "crashed", "build-failed"}


def test_without_time_a_baseline_has_not_failed() -> None:
    host, journal = Host(TIMES), Notebook()
    tuned(host, journal, deadline=time.monotonic() - 1)
    assert (host.built, host.launched, journal.outcomes) == ([], [], {})


def test_in_a_fixed_list_the_baseline_comes_first_and_results_keep_their_order() -> None:
    host, journal = Host(TIMES), Notebook()
    chosen = first_of(RANKINGS[0], 0, 1, 2)
    plan = TuningPlan(measuring=Measuring(rounds=3, samples=3))
    safe = candidate(2).identity
    measured = tune_problem(chosen, bench(host, journal), plan, safe)
    assert host.built[0] == 2
    assert host.launched[0][0] == 2
    assert [m.candidate for m in measured] == [choice.candidate.identity for choice in chosen]
    failing = Host(TIMES, fates={2: "build-failed"})
    with pytest.raises(WorkFailed, match="has the status build-failed"):
        tune_problem(chosen, bench(failing, Notebook()), plan, safe)
    assert failing.built == [2]


class SlowBuilds(Host):
    """The compilers of candidates from 1 on run until they are ended."""

    def __init__(self) -> None:
        super().__init__(TIMES)
        self.ended = threading.Event()

    def prepare(self, one: Candidate) -> Prepared:
        if one.variant.parameters["pad"] == 0:
            return super().prepare(one)
        assert self.ended.wait(60), "somebody ends the compiler"
        return Prepared(candidate=one, status="build-failed", detail="ended by SIGKILL")

    def interrupt(self) -> None:
        self.ended.set()


def test_builds_are_ended_at_the_deadline_and_are_no_results() -> None:
    host, journal = SlowBuilds(), Notebook()
    candidates = [candidate(number) for number in (0, 1, 2)]
    built = prepare(candidates, bench(host, journal), time.monotonic() + 0.2)
    assert host.ended.is_set()
    assert [p.candidate for p in built] in ([], candidates[:1])
    assert {p.status for p in journal.prepared_.values()} <= {"ok"}


def test_without_a_deadline_builds_end_by_themselves() -> None:
    built = prepare([candidate(0)], bench(Host(TIMES), Notebook()), math.inf)
    assert [p.status for p in built] == ["ok"]
