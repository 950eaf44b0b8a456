"""Races on a made-up host: as many launches of each candidate as it takes to tell."""

import time

import pytest
from fake_host import Host, Notebook, bench, candidate

from autotune.domain.setup import Measuring
from autotune.statistics.drift import Contest
from autotune.tuning.base import TuningPlan
from autotune.tuning.race import Race, RaceStanding
from autotune.tuning.rounds import MeasuredGroup, Shown


def identity(number: int) -> str:
    return candidate(number).identity


class Course:
    """A race over a host, and all that it tells."""

    def __init__(self, host: Host, rounds: int = 4, kept: tuple[int, ...] = ()) -> None:
        self.host, self.journal = host, Notebook()
        self.standings: list[RaceStanding] = []
        self.rival: str | None = None
        self.shown: list[tuple[int, int]] = []
        plan = TuningPlan(measuring=Measuring(rounds=rounds, samples=3))
        self.group = MeasuredGroup(bench=bench(host, self.journal), plan=plan)
        self.kept = frozenset(map(identity, kept))
        for number in host.times:
            self.group.enter(host.prepare(candidate(number)), 1.0)

    def _show(self, number: int, count: int) -> Shown:
        self.shown.append((number, count))
        return lambda done, label: None

    def run(
        self, *numbers: int, rival: int | None = None, deadline: float = float("inf")
    ) -> dict[int, RaceStanding]:
        """The last standing of each entrant."""
        race = Race(
            group=self.group,
            stage="search",
            rival=None if rival is None else identity(rival),
            kept=self.kept,
            deadline=deadline,
            show=self._show,
            tell=self.standings.append,
        )
        self.rival = race.run([identity(number) for number in numbers])
        last = {standing.identity: standing for standing in self.standings}
        return {n: last[identity(n)] for n in numbers if identity(n) in last}


def test_the_clearly_slower_are_dropped_early_and_the_fastest_goes_on() -> None:
    course = Course(Host({0: 1.0, 1: 3.0, 2: 1.5}, noise=0.005))
    last = course.run(0, 1, 2)
    assert [last[n].verdict for n in range(3)] == ["best", "slower", "slower"]
    assert course.host.count(1) <= 2
    assert course.host.count(0) == 4
    assert last[1].contest is not None
    assert last[1].contest.low > 1


def test_those_that_may_be_told_apart_are_launched_twice_as_often() -> None:
    course = Course(Host({0: 1.0, 1: 1.02}, noise=0.03))
    last = course.run(0, 1)
    assert {n: standing.verdict for n, standing in last.items()} == {0: "best", 1: "close"}
    assert course.host.count(1) == 8


def test_those_that_more_launches_would_not_tell_apart_get_no_more() -> None:
    """A hundredth apart under three hundredths of noise: neither is dropped."""
    course = Course(Host({0: 1.0, 1: 1.01}, noise=0.03))
    last = course.run(0, 1)
    assert {n: standing.verdict for n, standing in last.items()} == {0: "best", 1: "close"}
    assert 4 <= course.host.count(1) < 8


def test_at_most_ten_rounds_are_added() -> None:
    group = Course(Host({0: 1.0}), rounds=40).group
    race = Race(
        group=group, stage="first", rival=None, kept=frozenset(), deadline=0.0,
        show=lambda number, count: lambda done, label: None, tell=lambda standing: None,
    )  # fmt: skip
    assert (race.usual, race.most) == (40, 50)
    few = Course(Host({0: 1.0}), rounds=4).group
    assert Race(
        group=few, stage="first", rival=None, kept=frozenset(), deadline=0.0,
        show=race.show, tell=race.tell,
    ).most == 8  # fmt: skip


def test_the_baseline_is_never_dropped_and_not_launched_more_than_usual() -> None:
    course = Course(Host({0: 1.0, 1: 3.0}, noise=0.005), kept=(1,))
    last = course.run(0, 1)
    assert last[1].verdict == "slower"
    assert course.host.count(1) == 4


def test_the_rival_runs_in_every_round_without_being_judged() -> None:
    course = Course(Host({0: 1.0, 1: 3.0, 2: 2.0}, noise=0.005))
    course.run(0)
    before = course.host.count(0)
    last = course.run(1, 2, rival=0)
    assert {last[n].verdict for n in (1, 2)} == {"slower"}
    rounds = {round_ for number, round_ in course.host.launched if number in (1, 2)}
    together = {round_ for number, round_ in course.host.launched if number == 0}
    assert rounds <= together
    assert course.host.count(0) == before + len(rounds)


def test_who_becomes_the_fastest_is_the_new_rival() -> None:
    course = Course(Host({0: 2.0, 1: 1.0, 2: 3.0}, noise=0.005))
    course.run(0)
    last = course.run(1, 2, rival=0)
    assert last[1].verdict == "best"
    assert last[2].contest is not None
    assert last[2].contest.ratio > 1.4


def test_one_that_may_only_be_lucky_does_not_replace_the_rival() -> None:
    """Of twins, one is faster by chance; what it is compared with next runs beside the same."""
    for seed in range(5):
        course = Course(Host({0: 1.0, 1: 1.0, 2: 1.0}, noise=0.02, seed=seed))
        course.run(0)
        course.run(1, 2, rival=0)
        assert course.rival == identity(0)
        others = {round_ for number, round_ in course.host.launched if number in (1, 2)}
        assert others <= {round_ for number, round_ in course.host.launched if number == 0}


def test_one_that_is_clearly_faster_is_what_the_next_are_compared_with() -> None:
    course = Course(Host({0: 2.0, 1: 1.0}, noise=0.005))
    course.run(0)
    course.run(1, rival=0)
    assert course.rival == identity(1)


def test_a_single_round_does_not_make_the_rival() -> None:
    """The newcomer is faster in its first round, and still compared with the one before it."""
    course = Course(Host({0: 1.0, 1: 0.9}, noise=0.001))
    course.run(0)
    course.standings.clear()
    course.run(1, rival=0)
    first = next(s for s in course.standings if s.identity == identity(1) and s.rounds == 1)
    assert first.contest is not None
    assert first.contest.ratio < 0.95


def test_failures_are_told_at_once_and_the_race_goes_on() -> None:
    host = Host({0: 1.0, 1: 1.0, 2: 1.0}, fates={1: "crashed", 2: "build-failed"})
    course = Course(host)
    last = course.run(0, 1, 2)
    assert [last[n].verdict for n in range(3)] == ["best", "failed", "failed"]
    assert course.standings[0].identity == identity(2), "it was never launched"
    statuses = [course.journal.outcomes[identity(n)].status for n in range(3)]
    assert statuses == ["ok", "crashed", "build-failed"]


def test_a_candidate_that_never_prints_a_time_is_given_up() -> None:
    course = Course(Host({0: 1.0}, starved=lambda _: True))
    last = course.run(0)
    assert last[0].verdict == "failed"
    assert (last[0].seconds, last[0].rounds) == (None, 0)
    assert course.host.count(0) == 8 + 2
    assert course.journal.outcomes[identity(0)].status == "contended"


def test_disturbed_launches_are_judged_by_what_they_would_have_taken() -> None:
    """Every second launch takes twice as long, because its thread had its core half the time."""
    host = Host({0: 1.0, 1: 3.0}, noise=0.005, disturbed=lambda launch: launch % 2 == 1)
    last = Course(host).run(0, 1)
    assert [last[n].verdict for n in (0, 1)] == ["best", "slower"]
    assert last[0].seconds == pytest.approx(1.0, rel=0.1)
    assert host.count(0) == 4, "no launch is repeated"


def test_after_the_deadline_nobody_is_launched_or_settled() -> None:
    course = Course(Host({0: 1.0, 1: 2.0}))
    assert course.run(0, 1, deadline=time.monotonic() - 1) == {}
    assert course.host.launched == []
    assert course.journal.outcomes == {}


def test_a_race_of_nobody_is_over() -> None:
    course = Course(Host({0: 1.0}))
    assert course.run() == {}
    assert course.shown == []


def test_standings_say_how_it_goes_after_every_round() -> None:
    course = Course(Host({0: 1.0, 1: 1.02}, noise=0.001))
    course.run(0, 1)
    mine = [s for s in course.standings if s.identity == identity(1)]
    assert [s.verdict for s in mine[:-1]] == ["open"] * (len(mine) - 1)
    assert [s.rounds for s in mine] == list(range(1, len(mine) + 1))
    assert all(isinstance(s.contest, Contest) for s in mine[1:])
    assert [number for number, _ in course.shown] == list(range(len(course.shown)))


def test_launches_of_an_earlier_race_do_not_count_towards_the_limit() -> None:
    host = Host({0: 1.0, 1: 1.0}, starved=lambda launch: launch >= 8)
    course = Course(host)
    course.run(0)
    assert host.count(0) == 4
    course.run(1, rival=0)
    assert host.count(1) >= 4
