"""The adaptive tuner on a made-up host: launches where they matter, drift, budgets, interrupts."""

import statistics
import time

import pytest
from fake_host import PROBLEM, Host, InOrder, Notebook, bench, candidate, first_of, ranking

from autotune.domain.results import Measurement
from autotune.domain.setup import Measuring
from autotune.statistics.estimators import location
from autotune.tuning import EarlierResult, Event, Task, TuningPlan, tune_problems

MEASURING = Measuring(rounds=4, samples=3)


def plan(**fields) -> TuningPlan:
    return TuningPlan(measuring=MEASURING, **fields)


def tuned(host, ranked, first, search=None, **fields):
    journal = fields.pop("journal", None) or Notebook()
    task = Task(
        ranking=ranked,
        first=first_of(ranked, *first),
        baseline=candidate(0).identity,
        earlier=fields.pop("earlier", ()),
    )
    watcher = fields.pop("watcher", lambda _: None)
    search = search or InOrder([ranked])
    ended = tune_problems([task], search, bench(host, journal, watcher=watcher), plan(**fields))
    return journal, ended[0]


class Slow(Host):
    """A launch takes a second of its own clock."""

    now = 0.0

    def launch(self, prepared, **told):
        self.now += 1.0
        return super().launch(prepared, **told)


def final_rounds(journal, number: int) -> set[int]:
    identity = candidate(number).identity
    return {
        s.round for (i, _, _), s in journal.samples.items() if i == identity and s.stage == "final"
    }


def seconds(measurement: Measurement) -> float:
    return location([sample.seconds for sample in measurement.timed])


def test_clearly_slow_candidates_take_fewer_launches_than_close_ones() -> None:
    times = {0: 1.0, 1: 2.0, 2: 1.01, 3: 1.3, 4: 3.0, 5: 1.02, 6: 1.005}
    ranked = ranking([1.0 + 0.01 * number for number in range(7)])
    slow, close = [], []
    for seed in range(3):
        host = Host(times, seed=seed)
        journal, _ = tuned(host, ranked, (0, 1, 2))
        searched = [
            (s.conditions["stage"], i, s.launch) for (i, _, _), s in journal.samples.items()
        ]
        for number in times:
            identity = candidate(number).identity
            count = len({n for stage, i, n in searched if i == identity and stage != "final"})
            if number in (1, 3, 4):
                slow.append(count)
            elif number in (5, 6):
                close.append(count)
    assert max(slow) <= 3
    assert statistics.mean(slow) < 2.2
    assert min(close) >= 4


def test_drift_does_not_change_the_choice() -> None:
    """Within the run the machine becomes 60 % slower: the late ones look slower than they are."""
    times = {0: 1.0, 1: 0.97, 2: 0.94, 3: 0.91, 4: 0.88, 5: 0.85}
    ranked = ranking([1.0] * 6)
    for seed in range(3):
        host = Host(times, noise=0.01, seed=seed, drift=lambda k: 1 + 0.6 * min(k, 60) / 60)
        search = InOrder([ranked])
        journal, _ = tuned(host, ranked, (0, 1), search)
        finals = {
            number: [
                s.seconds
                for (i, _, _), s in journal.samples.items()
                if i == candidate(number).identity and s.stage == "final"
            ]
            for number in times
        }
        locations = {n: statistics.median(found) for n, found in finals.items() if found}
        assert min(locations, key=locations.__getitem__) == 5
        told = {n: search.told[candidate(n).identity] for n in times}
        for number, (measurement, sigma) in told.items():
            ratio = seconds(measurement) / seconds(told[0][0])
            assert ratio == pytest.approx(times[number] / times[0], rel=0.08)
            assert 0 < sigma < 0.05


def test_the_finalists_and_the_baseline_are_measured_again_interleaved() -> None:
    times = {0: 2.0, 1: 1.0, 2: 1.1, 3: 1.2, 4: 1.3, 5: 1.5}
    ranked = ranking([2.0, 1.4, 1.1, 1.2, 1.3, 1.5])
    host = Host(times, noise=0.005)
    journal, ended = tuned(host, ranked, (0, 2))
    rounds = [final_rounds(journal, number) for number in range(6)]
    assert rounds[1] == rounds[2] == rounds[3] == rounds[0]
    assert len(rounds[0]) == 4
    assert not rounds[4]
    assert not rounds[5]
    last = host.launched[-16:]
    for k in range(0, 16, 4):
        assert {number for number, _ in last[k : k + 4]} == {0, 1, 2, 3}
    assert len({tuple(n for n, _ in last[k : k + 4]) for k in range(0, 16, 4)}) > 1, "shuffled"
    assert ended.why == "nothing is left to be measured"
    assert not ended.cut


def test_each_candidate_is_built_once_and_later_ones_are_limited_by_the_fastest() -> None:
    host = Host({0: 1.0, 1: 2.0, 2: 3.0, 3: 0.5}, noise=0.01)
    ranked = ranking([7.0, 8.0, 9.0, 10.0])
    tuned(host, ranked, (0, 1))
    assert sorted(host.built) == [0, 1, 2, 3]
    assert host.limits[0][0] == 7.0
    assert host.limits[2][0] == pytest.approx(1.0, rel=0.1)


def test_the_budget_of_evaluations_is_honoured() -> None:
    host = Host({number: 1.0 + number / 10 for number in range(9)})
    ranked = ranking([1.0 + number for number in range(9)])
    journal, ended = tuned(host, ranked, (0, 1, 2), evaluations=5)
    assert len(journal.outcomes) == 5
    assert ended.cut
    assert "5 evaluations" in ended.why
    host = Host({number: 1.0 + number / 10 for number in range(9)})
    journal, _ = tuned(host, ranked, (0, 1, 2), evaluations=2)
    assert len(journal.outcomes) == 2


def test_the_search_ends_when_it_says_so() -> None:
    host = Host({number: 1.0 + number / 10 for number in range(9)})
    ranked = ranking([1.0 + number for number in range(9)])
    journal, ended = tuned(host, ranked, (0, 1, 2), InOrder([ranked], stop_after=5))
    assert ended.why == "enough"
    assert len(journal.outcomes) == 5
    assert ended.steps == 1


def test_after_the_deadline_nothing_starts() -> None:
    host = Host({0: 1.0, 1: 1.0, 2: 1.0})
    journal, ended = tuned(host, ranking([1.0] * 3), (0, 1), deadline=time.monotonic() - 1)
    assert not host.built
    assert not journal.outcomes
    assert ended.cut


@pytest.mark.parametrize("status", ["build-failed", "crashed", "timed-out", "wrong-result"])
def test_failures_are_results_and_the_search_is_told(status) -> None:
    host = Host({number: 1.0 + number / 10 for number in range(5)}, fates={1: status, 3: status})
    ranked = ranking([1.0 + number for number in range(5)])
    search = InOrder([ranked])
    journal, _ = tuned(host, ranked, (0, 1), search)
    assert {journal.outcomes[candidate(n).identity].status for n in (1, 3)} == {status}
    assert search.told[candidate(3).identity][0].status == status
    assert host.count(1) <= 1
    assert {journal.outcomes[candidate(n).identity].status for n in (0, 2, 4)} == {"ok"}


def test_another_checksum_than_the_majority_is_a_wrong_result() -> None:
    host = Host({0: 1.0, 1: 1.1, 2: 1.2, 3: 0.1}, checksums={3: (2.0, 2.0)})
    journal, _ = tuned(host, ranking([1.0, 1.1, 1.2, 1.3]), (0, 1, 2))
    wrong = journal.outcomes[candidate(3).identity]
    assert wrong.status == "wrong-result"
    assert not wrong.verified
    assert not final_rounds(journal, 3)


def test_a_majority_that_is_found_later_corrects_the_outcomes() -> None:
    """The first two contradict each other; those that follow tell who is right."""
    host = Host({0: 1.0, 1: 1.1, 2: 1.2, 3: 1.3}, checksums={1: (2.0, 2.0)})
    journal, _ = tuned(host, ranking([1.0, 1.1, 1.2, 1.3]), (0, 1))
    statuses = [journal.outcomes[candidate(n).identity].status for n in range(4)]
    assert statuses == ["ok", "wrong-result", "ok", "ok"]


def test_disturbed_candidates_have_times_and_the_search_learns_them() -> None:
    host = Host({0: 1.0, 1: 1.0}, disturbed=lambda _: True)
    ranked = ranking([1.0, 1.1])
    search = InOrder([ranked])
    journal, _ = tuned(host, ranked, (0, 1), search)
    assert {m.status for m in journal.outcomes.values()} == {"ok"}
    assert search.told
    host = Host({0: 1.0, 1: 1.0, 2: 1.2}, disturbed=lambda k: k % 5 == 0)
    journal, _ = tuned(host, ranking([1.0, 1.1, 1.2]), (0, 1))
    assert {m.status for m in journal.outcomes.values()} == {"ok"}


def earlier(journal: Notebook, run: str = "r0") -> tuple[EarlierResult, ...]:
    """What a resumed study knows of a run: the finished candidates with all their samples."""
    found = []
    for identity, outcome in journal.outcomes.items():
        samples = tuple(s for (i, _, _), s in sorted(journal.samples.items()) if i == identity)
        one = journal.prepared_[identity].candidate
        measurement = Measurement(
            candidate=identity, run=run, status=outcome.status, samples=samples
        )
        found.append(EarlierResult(candidate=one, measurement=measurement, checksum=(1.0, 1.0)))
    return tuple(found)


def test_ctrl_c_at_any_event_loses_nothing_and_a_resumed_run_measures_nothing_twice() -> None:
    times = {number: 1.0 + 0.3 * number for number in range(6)}
    ranked = ranking([1.0 + number for number in range(6)])
    whole = Host(times)
    tuned(whole, ranked, (0, 1, 2))
    for event in range(1, whole.events, 7):
        host, journal = Host(times, interrupt_at=event), Notebook()
        with pytest.raises(KeyboardInterrupt):
            tuned(host, ranked, (0, 1, 2), journal=journal)
        assert event - len(host.launched) - 1 <= len(journal.samples), "every sample is kept"
        finished = {candidate(n).identity: n for n in range(6)}
        done = {n for i, n in finished.items() if i in journal.outcomes}
        again = Host(times, seed=2)
        # as a resumed study chooses: what is left of the first, the best so far, the baseline
        left = [n for n in (0, 1, 2) if n not in done or n == 0]
        second, _ = tuned(again, ranked, left, earlier=earlier(journal))
        assert journal.outcomes.keys() | second.outcomes.keys() == finished.keys()
        for number in done - {0}:
            identity = candidate(number).identity
            searched = [
                s for (i, _, _), s in second.samples.items() if i == identity and s.stage == "first"
            ]
            assert not searched


def test_known_results_tie_in_by_what_is_measured_again() -> None:
    """The earlier run was on a machine twice as slow: levels, not raw times, are told."""
    ranked = ranking([1.0 + number for number in range(5)])
    times = {number: 1.0 + number / 10 for number in range(5)}
    journal, _ = tuned(Host(times, drift=lambda _: 2.0, noise=0.005), ranked, (0, 1, 2))
    search = InOrder([ranked])
    host = Host(times, noise=0.005, seed=3)
    tuned(host, ranked, (0,), search, earlier=earlier(journal))
    for number in range(5):
        told, _ = search.told[candidate(number).identity]
        assert seconds(told) == pytest.approx(times[number], rel=0.06)
    assert host.count(4) == 0


def test_what_another_tuner_finishes_meanwhile_is_not_measured_again() -> None:
    ranked = ranking([1.0 + number for number in range(6)])
    times = {number: 1.0 + number / 3 for number in range(6)}
    other, _ = tuned(Host(times), ranked, (0, 1, 2))
    host, journal, search = Host(times, seed=5), Notebook(), InOrder([ranked])
    task = Task(ranking=ranked, first=first_of(ranked, 0, 1), baseline=candidate(0).identity)
    tune_problems([task], search, bench(host, journal), plan(), lambda: earlier(other))
    assert {number for number, _ in host.launched} == {0, 1, 2}, "only the finalists"


def test_problems_take_turns_and_share_a_search() -> None:
    other = PROBLEM.at(64)
    rankings = [ranking([1.0 + n for n in range(5)]), ranking([1.0 + n for n in range(5)], other)]
    search, journal = InOrder(rankings), Notebook()
    host = Host({n: 1.0 + n / 10 for n in range(5)})
    tasks = [
        Task(ranking=r, first=first_of(r, 0), baseline=candidate(0, r.problem).identity)
        for r in rankings
    ]
    seen: list[Event] = []
    ended = tune_problems(tasks, search, bench(host, journal, watcher=seen.append), plan(batch=1))
    steps = [e.standing.problem for e in seen if e.notice.kind == "proposed"]
    assert steps == [e.problem for _ in range(4) for e in ended]
    assert len(journal.outcomes) == 10
    assert all(len(event.standings) == 2 for event in seen)


def test_the_search_leaves_time_for_the_finals_of_all_problems(monkeypatch) -> None:
    problems = [PROBLEM, PROBLEM.at(48), PROBLEM.at(64)]
    rankings = [ranking([1.0 + n for n in range(200)], problem) for problem in problems]
    tasks = [
        Task(ranking=r, first=first_of(r, 0), baseline=candidate(0, r.problem).identity)
        for r in rankings
    ]
    host, journal = Slow({n: 1.0 + n / 100 for n in range(200)}), Notebook()
    monkeypatch.setattr(time, "monotonic", lambda: host.now)
    limit = plan(deadline=120.0)
    ended = tune_problems(tasks, InOrder(rankings), bench(host, journal), limit)
    assert all(one.cut for one in ended)
    for problem in problems:
        mine = {candidate(n, problem).identity for n in range(200)}
        stages = {s.stage for (i, _, _), s in journal.samples.items() if i in mine}
        assert stages == {"first", "search", "final"}


def test_events_tell_what_happens() -> None:
    seen: list[Event] = []
    host = Host({0: 2.0, 1: 1.0, 2: 3.0, 3: 1.5}, noise=0.005, fates={3: "crashed"})
    ranked = ranking([1.0, 2.0, 3.0, 4.0])
    tuned(host, ranked, (0, 1), watcher=seen.append, evaluations=4)
    kinds = [event.notice.kind for event in seen]
    assert kinds[0] == "begun"
    assert kinds[-1] == "finished"
    assert kinds.index("finals") > kinds.index("proposed") > kinds.index("timed")
    last = seen[-1].standing
    assert last.best.candidate == candidate(1)
    assert last.best.evaluation == 2
    assert last.best.predicted == 2.0
    assert last.best.seconds == pytest.approx(1.0, rel=0.05)
    assert last.baseline == pytest.approx(2.0, rel=0.05)
    assert (last.failed, last.open, last.evaluations_left) == (1, 0, 0)
    slower = next(e for e in seen if e.verdict == "slower" and e.notice.candidate == candidate(2))
    assert slower.ratio[1] > 1
    assert slower.ratio[0] == pytest.approx(3.0, rel=0.1)
    assert next(e for e in seen if e.status == "crashed").detail == "it did"
