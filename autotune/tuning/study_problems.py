"""Tuning several problems together: what is learned of one helps the search of the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autotune.tuning.base import Bench, Earlier, Plan, Search
from autotune.tuning.events import Event, unwatched
from autotune.tuning.problem_search import Course, News, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the search of a problem ended."""

    problem: str
    """Label."""
    why: str
    cut: bool
    """A budget ended it: there may be something faster that a longer search would find."""
    steps: int
    measured: int
    """Candidates, failures among them."""


def tune_problems(
    tasks: Sequence[Task],
    search: Search,
    bench: Bench,
    plan: Plan,
    news: Callable[[], Sequence[Earlier]] = tuple,
) -> list[Ended]:
    """Measure the first candidates of each problem, search by turns, re-measure the finalists.

    Every sample goes to the journal when it is taken, every candidate that needs no more launches
    at once; a failing candidate is a result. ``news`` is asked before each step what other tuners
    finished meanwhile: that is not measured again. Starts no build and no launch after the
    deadline, and ends the search in time for the finals.
    """
    watch = _Watch(bench)
    for number, task in enumerate(tasks):
        course = Course(
            number=number,
            task=task,
            bench=bench,
            plan=plan,
            publish=watch.publish,
            together=watch.courses,
        )
        watch.courses.append(course)
    for course in watch.courses:
        course.begin(search)
    while running := [course for course in watch.courses if not course.finished]:
        for course in running:
            _learn(watch.courses, search, news())
            course.advance(search)
    for course in watch.courses:
        course.finals()
        watch.publish(course, News(kind="finished", why=course.finished))
    return [
        Ended(
            problem=course.label,
            why=course.finished,
            cut=course.cut,
            steps=course.step,
            measured=len(course.order),
        )
        for course in watch.courses
    ]


def _learn(courses: Sequence[Course], search: Search, found: Sequence[Earlier]) -> None:
    for course in courses:
        key = course.task.ranking.problem.key
        mine = [known for known in found if known.candidate.problem.key == key]
        course.tell(search, course.learn(mine))


class _Watch:
    """Turns what a course says into events."""

    def __init__(self, bench: Bench) -> None:
        self.courses: list[Course] = []
        self._watcher = bench.watcher

    def publish(self, course: Course, news: News) -> None:
        """Tell the watcher, with the standings of all problems; nothing where nobody watches."""
        if self._watcher is unwatched:
            return
        standings = [each.standing() for each in self.courses]
        standing = standings[self.courses.index(course)]
        lap = news.lap
        contest = lap.contest if lap else None
        measurement = None
        if news.candidate is not None and lap is not None:
            measurement = course.group.measurement(news.candidate.identity)
        self._watcher(
            Event(
                kind=news.kind,
                standing=standing,
                standings=standings,
                candidate=news.candidate,
                why=news.why,
                predicted=news.predicted,
                measured=lap.seconds if lap else None,
                ratio=(contest.ratio, contest.low, contest.high) if contest else None,
                rounds=lap.rounds if lap else 0,
                verdict=lap.verdict if lap else "open",
                status=measurement.status if measurement else None,
                detail=measurement.detail if measurement else "",
            )
        )
