"""Tuning several problems together: results of one problem help the search of the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autotune.tuning.base import Bench, EarlierResult, Search, TuningPlan
from autotune.tuning.events import Event, ProblemNotice, unwatched
from autotune.tuning.problem_search import ProblemSearch, Task
from autotune.tuning.race import RaceStanding


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedSearch:
    """The end of the search of a problem: the reason, the steps, the candidates measured."""

    problem: str
    """Label."""
    key: str
    """Of the problem."""
    why: str
    cut: bool
    """A budget ended it: there may be something faster that a longer search would find."""
    steps: int
    measured: int
    """Candidates, failures among them."""
    promise: float | None = None
    """The greatest expected improvement of the candidates that were left when the search named one
    last, relative to the best; None where no model says."""


def tune_problems(
    tasks: Sequence[Task],
    search: Search,
    bench: Bench,
    plan: TuningPlan,
    new_results: Callable[[], Sequence[EarlierResult]] = tuple,
) -> list[EndedSearch]:
    """Measure first candidates, search on, re-measure the finalists; problems take turns.

    The baseline of a problem comes before its other candidates: WorkFailed, with what the compiler
    or the program said, if it fails. Every sample goes to the journal when it is taken, and
    every candidate that needs no more launches at once. Any other failing candidate is a result.
    ``new_results`` is called before each step for the results of other tuners; these are not
    measured again. No build and no launch starts after the deadline, and the search ends in time
    for the finals.
    """
    watch = _Watch(bench)
    for number, task in enumerate(tasks):
        problem_search = ProblemSearch(
            number=number,
            task=task,
            bench=bench,
            plan=plan,
            publish=watch.publish,
            together=watch.searches,
        )
        watch.searches.append(problem_search)
    for problem_search in watch.searches:
        problem_search.begin(search)
    while running := [
        problem_search for problem_search in watch.searches if not problem_search.finished
    ]:
        for problem_search in running:
            _learn(watch.searches, search, new_results())
            problem_search.advance(search)
    for done, problem_search in enumerate(watch.searches):
        problem_search.finals(len(watch.searches) - done)
        notice = ProblemNotice(kind="finished", why=problem_search.finished)
        watch.publish(problem_search, notice, None)
    return [
        EndedSearch(
            problem=problem_search.label,
            key=problem_search.task.ranking.problem.key,
            why=problem_search.finished,
            cut=problem_search.cut,
            steps=problem_search.step,
            measured=len(problem_search.order),
            promise=problem_search.promise,
        )
        for problem_search in watch.searches
    ]


def _learn(
    searches: Sequence[ProblemSearch], search: Search, results: Sequence[EarlierResult]
) -> None:
    for problem_search in searches:
        key = problem_search.task.ranking.problem.key
        mine = [result for result in results if result.candidate.problem.key == key]
        problem_search.tell(search, problem_search.learn(mine))


class _Watch:
    """Converts the notices of problems to events of the study."""

    def __init__(self, bench: Bench) -> None:
        self.searches: list[ProblemSearch] = []
        self._watcher = bench.watcher

    def publish(
        self, problem_search: ProblemSearch, notice: ProblemNotice, race: RaceStanding | None
    ) -> None:
        """Send an event with the state of all problems to the watcher, if there is one."""
        if self._watcher is unwatched:
            return
        # before the name of the best, which must be another one
        name = problem_search.names.name(notice.candidate) if notice.candidate else ""
        standings = [other.standing() for other in self.searches]
        standing = standings[self.searches.index(problem_search)]
        contest = race.contest if race else None
        measurement = None
        if notice.candidate is not None and race is not None:
            measurement = problem_search.group.measurement(notice.candidate.identity)
        self._watcher(
            Event(
                notice=notice,
                standing=standing,
                standings=standings,
                name=name,
                measured=race.seconds if race else None,
                ratio=(contest.ratio, contest.low, contest.high) if contest else None,
                rounds=race.rounds if race else 0,
                verdict=race.verdict if race else "open",
                status=measurement.status if measurement else None,
                detail=measurement.detail if measurement else "",
            )
        )
