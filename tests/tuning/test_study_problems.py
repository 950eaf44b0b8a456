"""Several problems tuned together: turns, what is shared, events, how each ended."""

from collections.abc import Sequence

from fake_host import PROBLEM, Host, InOrder, Notebook, bench, candidate, first_of, ranking

from autotune.domain.results import Measurement
from autotune.domain.setup import Measuring
from autotune.tuning.base import EarlierResult, TuningPlan
from autotune.tuning.events import Event
from autotune.tuning.problem_search import Task
from autotune.tuning.study_problems import EndedSearch, tune_problems

OTHER = PROBLEM.at(64)
RANKINGS = [ranking([1.0, 2.0, 3.0, 4.0], problem) for problem in (PROBLEM, OTHER)]
TIMES = {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}


def tasks(*first: int) -> list[Task]:
    return [
        Task(
            ranking=ranked,
            first=first_of(ranked, *first),
            baseline=candidate(0, ranked.problem).identity,
        )
        for ranked in RANKINGS
    ]


def plan(**settings) -> TuningPlan:
    return TuningPlan(measuring=Measuring(rounds=3, samples=3), **settings)


def tuned(
    search: InOrder | None = None, **settings
) -> tuple[list[EndedSearch], Notebook, list[Event], Host]:
    host, journal = Host(TIMES, noise=0.001), Notebook()
    events: list[Event] = []
    news = settings.pop("news", tuple)
    ended = tune_problems(
        tasks(0),
        search or InOrder(RANKINGS),
        bench(host, journal, watcher=events.append),
        plan(batch=1, **settings),
        news,
    )
    return ended, journal, events, host


def test_how_each_search_ended_is_answered_in_the_order_of_the_problems() -> None:
    ended, journal, _, _ = tuned()
    assert ended == [
        EndedSearch(
            problem=ranked.problem.label,
            key=ranked.problem.key,
            promise=0.2,
            why="nothing is left to be measured",
            cut=False,
            steps=3,
            measured=4,
        )
        for ranked in RANKINGS
    ]
    assert len(journal.outcomes) == 8


def test_a_budget_is_that_of_each_problem() -> None:
    ended, journal, _, _ = tuned(evaluations=2)
    assert [(e.measured, e.cut) for e in ended] == [(2, True), (2, True)]
    assert len(journal.outcomes) == 4


def test_problems_take_turns_and_a_finished_one_has_none() -> None:
    """Of the first problem the search has enough after two, of the second it never has."""

    class Choosy(InOrder):
        def finished(self, problem: int) -> str | None:
            mine = {e.candidate.identity for e in self.rankings[problem].entries}
            return "enough" if problem == 0 and len(mine & self.told.keys()) >= 2 else None

    ended, _, events, _ = tuned(Choosy(RANKINGS))
    proposed = [event.standing.problem for event in events if event.notice.kind == "proposed"]
    first, second = (ranked.problem.label for ranked in RANKINGS)
    assert proposed == [first, second, second, second]
    assert [e.why for e in ended] == ["enough", "nothing is left to be measured"]


def test_every_event_has_the_standings_of_all_problems_in_order() -> None:
    _, _, events, _ = tuned()
    labels = [ranked.problem.label for ranked in RANKINGS]
    assert all([s.problem for s in event.standings] == labels for event in events)
    assert all(event.standing in event.standings for event in events)
    kinds = [event.notice.kind for event in events]
    assert kinds.count("begun") == kinds.count("finished") == kinds.count("finals") == 2
    assert {event.notice.why for event in events if event.notice.kind == "finished"} == {
        "nothing is left to be measured"
    }


def test_events_of_launches_say_time_verdict_and_ratio() -> None:
    _, _, events, _ = tuned()
    slower = [
        e for e in events if e.verdict == "slower" and e.notice.candidate == candidate(3, PROBLEM)
    ]
    (event,) = slower
    assert (event.notice.kind, event.notice.predicted, event.status) == ("timed", 4.0, "ok")
    assert event.measured is not None
    assert event.ratio is not None
    ratio, low, high = event.ratio
    assert 1 < low < ratio < high
    assert event.rounds >= 1


def test_where_nobody_watches_the_same_is_measured() -> None:
    _, watched, _, _ = tuned()
    journal, host = Notebook(), Host(TIMES, noise=0.001)
    tune_problems(tasks(0), InOrder(RANKINGS), bench(host, journal), plan(batch=1))
    assert journal.outcomes == watched.outcomes


def finished_elsewhere(number: int, journal: Notebook) -> EarlierResult:
    elsewhere = candidate(number, OTHER)
    samples = tuple(s for (i, _, _), s in journal.samples.items() if i == elsewhere.identity)
    measurement = Measurement(
        candidate=elsewhere.identity, run="other", status="ok", samples=samples
    )
    return EarlierResult(candidate=elsewhere, measurement=measurement)


def test_news_of_other_tuners_go_to_their_problem_and_are_asked_before_each_step() -> None:
    _, other, _, _ = tuned()
    asked = []

    def news() -> Sequence[EarlierResult]:
        asked.append(len(asked))
        return [finished_elsewhere(3, other), finished_elsewhere(2, other)] if asked == [0] else []

    search = InOrder(RANKINGS)
    ended, _, events, host = tuned(search, news=news)
    assert len(asked) == len([e for e in events if e.notice.kind == "proposed"]) + 2 + 2, (
        "first, end"
    )
    measured = {number for number, _ in host.launched}
    assert measured == {0, 1, 2, 3}, "of the first problem all are measured"
    assert [e.measured for e in ended] == [4, 2]
    assert candidate(3, OTHER).identity in search.told


def test_without_problems_there_is_nothing_to_do() -> None:
    assert tune_problems([], InOrder([]), bench(Host({}), Notebook()), plan()) == []
