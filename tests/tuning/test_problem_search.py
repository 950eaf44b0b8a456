"""The search of one problem, step by step: budgets, the fastest so far, finals, what is told."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from fake_host import (
    Host,
    InOrder,
    Notebook,
    bench,
    candidate,
    first_of,
    prediction,
    ranking,
)

from autotune.domain.ranking import Ranking, rank
from autotune.domain.results import Measurement, Sample, Uncertainty
from autotune.domain.setup import Measuring
from autotune.statistics.drift import DriftFreeTimes
from autotune.statistics.launch_times import time_of
from autotune.tuning.base import EarlierResult, TuningPlan
from autotune.tuning.problem_search import ProblemNotice, ProblemSearch, Task

PREDICTED = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)


def identity(number: int) -> str:
    return candidate(number).identity


class Tried:
    """A search over a host, with all that it publishes."""

    def __init__(
        self, host: Host, first: Sequence[int] = (0, 1), baseline: int = 0, **settings
    ) -> None:
        self.host, self.journal = host, Notebook()
        self.ranking: Ranking = settings.pop("ranked", ranking(PREDICTED))
        self.algorithm = InOrder([self.ranking], stop_after=settings.pop("stop_after", 10**6))
        self.notices: list[ProblemNotice] = []
        task = Task(
            ranking=self.ranking,
            first=first_of(self.ranking, *first),
            baseline=identity(baseline),
            earlier=settings.pop("earlier", ()),
            counted=settings.pop("counted", 0),
            complete=settings.pop("complete", ""),
        )
        together: list[ProblemSearch] = []
        self.search = ProblemSearch(
            number=0,
            task=task,
            bench=bench(host, self.journal),
            plan=TuningPlan(measuring=Measuring(rounds=4, samples=3), **settings),
            publish=lambda search, notice, race: self.notices.append(notice),
            together=together,
        )
        together.append(self.search)

    def begin(self) -> "Tried":
        """The first candidates are measured, and no other."""
        self.search.begin(self.algorithm)
        while self.search.first and not self.search.finished:
            self.search.advance(self.algorithm)
        return self

    def run(self) -> "Tried":
        self.begin()
        while not self.search.finished:
            self.search.advance(self.algorithm)
        return self

    @property
    def why(self) -> list[str]:
        return [notice.why for notice in self.notices if notice.kind in ("begun", "finals")]


def steady(*times: float, **settings) -> Host:
    """A host without noise."""
    return Host(dict(enumerate(times)), noise=0.0, **settings)


SEVEN = (1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 3.4)


def results(journal: Notebook, *numbers: int, run: str = "before") -> tuple[EarlierResult, ...]:
    found = []
    for number in numbers:
        samples = tuple(s for (i, _, _), s in journal.samples.items() if i == identity(number))
        measurement = Measurement(candidate=identity(number), run=run, status="ok", samples=samples)
        found.append(EarlierResult(candidate=candidate(number), measurement=measurement))
    return tuple(found)


# --- the first candidates -----------------------------------------------------------------------


def test_the_first_candidates_are_measured_and_told_in_order() -> None:
    tried = Tried(steady(*SEVEN), first=(0, 2)).begin()
    assert tried.search.order == {identity(0): 1, identity(2): 2}
    assert set(tried.algorithm.told) == {identity(0), identity(2)}
    assert tried.why == ["2 are measured first"]
    assert [choice.why for choice in tried.journal.choices] == ["first", "first"]


def test_predictions_in_a_wrong_order_are_not_followed_any_longer() -> None:
    backwards = SEVEN[::-1]
    tried = Tried(steady(*backwards), first=(0, 5, 1, 6, 2, 3, 4)).begin()
    assert set(tried.search.order) == {identity(number) for number in (0, 5, 1, 6)}
    assert tried.why[1:] == ["the predictions order wrongly: 3 of them are left to the search"]
    followed = Tried(steady(*SEVEN), first=(0, 5, 1, 6, 2, 3, 4)).begin()
    assert len(followed.search.order) == 7
    whole = Tried(steady(*backwards), first=(0, 5, 1, 6, 2, 3, 4), complete="enough").begin()
    assert len(whole.search.order) == 7, "where nothing is searched, all that was asked for"


def unsure_ranking(predicted: Sequence[float], spread: float) -> Ranking:
    """A ranking whose predictions state an uncertainty of each alone."""
    uncertainty = Uncertainty(shared={}, independent=spread)
    told = [replace(prediction(seconds), uncertainty=uncertainty) for seconds in predicted]
    return rank([candidate(number) for number in range(len(predicted))], told)[0]


@pytest.mark.parametrize(("spread", "followed"), [(0.1, True), (0.0001, False)])
def test_candidates_that_predictions_do_not_tell_apart_prove_no_wrong_order(
    spread: float, followed: bool
) -> None:
    """Three are predicted within 1 % of one another and measured the other way round."""
    host = steady(1.2, 1.1, 1.0, 2.0, 1.3, 1.3, 1.3)
    ranked = unsure_ranking((1.0, 1.005, 1.01, 2.0, 2.1, 2.2, 2.3), spread)
    tried = Tried(host, first=(0, 3, 1, 2, 4, 5, 6), ranked=ranked).begin()
    assert (len(tried.search.order) == 7) is followed


def test_candidates_that_times_do_not_tell_apart_prove_no_wrong_order() -> None:
    """Predicted far from one another, measured within the noise."""
    host = Host(dict(enumerate((1.03, 1.02, 1.01, 1.0, 1.0, 1.0, 1.0))), noise=0.05)
    tried = Tried(host, first=(0, 1, 2, 3, 4, 5, 6)).begin()
    assert tried.why == ["7 are measured first"]


def test_the_first_candidates_keep_to_the_budget() -> None:
    tried = Tried(steady(*SEVEN), first=(0, 1, 2), evaluations=2).begin()
    assert set(tried.algorithm.told) == {identity(0), identity(1)}


def test_what_earlier_runs_measured_counts_towards_the_budget_of_a_study() -> None:
    tried = Tried(steady(*SEVEN), first=(0, 1), evaluations=5, counted=3).begin()
    assert tried.search.left(1) == 0
    assert Tried(steady(*SEVEN)).search.left(17) == 17, "without a budget"


def test_what_is_known_costs_nothing_and_is_told() -> None:
    before = Tried(steady(*SEVEN), first=(0, 1, 2)).begin()
    tried = Tried(
        steady(*SEVEN), first=(0,), evaluations=1, earlier=results(before.journal, 0, 1, 2)
    ).begin()
    assert set(tried.algorithm.told) == {identity(n) for n in (0, 1, 2)}
    assert tried.search.left(1) == 1
    assert tried.why == ["1 are measured first, 3 are known"]


# --- steps --------------------------------------------------------------------------------------


def test_every_step_asks_for_a_batch_and_measures_it_beside_the_fastest() -> None:
    tried = Tried(steady(*SEVEN), first=(1, 2), batch=3).begin()
    tried.search.advance(tried.algorithm)
    assert list(tried.search.order) == [identity(n) for n in (1, 2, 0, 3, 4)]
    proposed = [n for n in tried.notices if n.kind == "proposed"]
    assert [(n.why, n.predicted) for n in proposed] == [
        ("it is next", 1.0), ("it is next", 4.0), ("it is next", 5.0),
    ]  # fmt: skip
    assert tried.journal.choices[-1].why == "step 1: it is next"
    assert identity(1) in tried.algorithm.told, "the rival is told again"
    assert tried.search.proposed == 0.1
    assert tried.search.promise == 0.2


@pytest.mark.parametrize(
    ("settings", "why", "cut", "steps"),
    [
        ({}, "nothing is left to be measured", False, 3),
        ({"evaluations": 4}, "the budget of 4 evaluations is used up", True, 1),
        ({"stop_after": 4}, "enough", False, 1),
        ({"complete": "all were measured"}, "all were measured", False, 0),
        ({"deadline": 0.0}, "the time is used up", True, 0),
    ],
)
def test_why_a_search_is_over(settings: dict, why: str, cut: bool, steps: int) -> None:
    search = Tried(steady(*SEVEN), **settings).run().search
    assert (search.finished, search.cut, search.step) == (why, cut, steps)


def test_a_step_asks_for_no_more_than_the_budget_leaves() -> None:
    tried = Tried(steady(*SEVEN), evaluations=3, batch=4).run()
    assert len(tried.journal.outcomes) == 3


# --- the fastest so far -------------------------------------------------------------------------


def times(**seconds: float) -> DriftFreeTimes:
    named = {identity(int(name[1:])): value for name, value in seconds.items()}
    return DriftFreeTimes(times=named, errors=dict.fromkeys(named, 0.01), drift={}, noise=0.05)


def test_a_candidate_launched_once_is_not_yet_believed() -> None:
    """Candidate 6 was launched in one round only, however fast it was there."""
    host = steady(1.0, 1.4)
    tried = Tried(host, first=(0, 1)).begin()
    assert tried.search.incumbent(times(c0=1.0, c1=1.4, c6=0.1)) == identity(0)
    assert tried.search.incumbent(times(c6=0.1, c5=0.2)) == identity(6), "nobody else has a time"
    assert tried.search.incumbent(times()) is None


def test_finalists_are_the_fastest_the_best_of_the_predicted_top_and_the_baseline() -> None:
    """Predicted in the order of the numbers; measured the other way round."""
    tried = Tried(steady(*SEVEN), baseline=2)
    reverse = times(c0=7.0, c1=6.0, c2=5.0, c3=4.0, c4=3.0, c5=2.0, c6=1.0)
    finalists = tried.search.finalists(reverse)
    expected = [6, 5, 4, 0, 2]
    assert finalists == [identity(n) for n in expected], "top 1 is 0; top 3 is 2; top 5 is 4"
    assert Tried(steady(*SEVEN), baseline=1).search.finalists(times(c3=1.0)) == [identity(3)]


def test_the_best_of_another_run_are_finalists_too() -> None:
    """Those that may be as fast as the fastest: 3 and 4; not 5, which is clearly slower."""
    before = Tried(steady(1.0, 9.0, 9.0, 0.99, 0.992, 1.5), first=(0, 3, 4, 5)).begin()
    tried = Tried(
        steady(1.0, 0.98, 0.982, 9.0, 9.0, 9.0, 0.984),
        first=(0, 1, 2, 6),
        earlier=results(before.journal, 0, 3, 4, 5),
    ).begin()
    names = tried.search.finalists(tried.search.group.levels())
    assert set(names) == {identity(n) for n in (0, 1, 2, 6, 3, 4)}


def test_one_that_was_faster_in_another_run_is_a_finalist_and_no_more_than_three_are() -> None:
    """That run was faster, which only candidate 0 shows: it may not have been."""
    fast = Tried(steady(0.8, 9.0, 9.0, 0.93, 0.94, 0.95, 0.96), first=(0, 3, 4, 5, 6)).begin()
    tried = Tried(
        steady(1.0, 0.98, 0.982), first=(0, 1, 2), earlier=results(fast.journal, 0, 3, 4, 5, 6)
    ).begin()
    names = tried.search.finalists(tried.search.group.levels())
    assert set(names) == {identity(n) for n in (0, 1, 2, 3, 4, 5)}


# --- finals -------------------------------------------------------------------------------------


def finals(tried: Tried) -> dict[int, int]:
    """Rounds of each candidate in the finals."""
    tried.search.finals()
    count: dict[int, set[int]] = {}
    for (name, _, _), sample in tried.journal.samples.items():
        if sample.stage == "final":
            number = next(n for n in range(7) if identity(n) == name)
            count.setdefault(number, set()).add(sample.round)
    return {number: len(rounds) for number, rounds in sorted(count.items())}


def test_finals_launch_the_finalists_in_as_many_common_rounds() -> None:
    """They are far apart: more rounds would not change who wins."""
    tried = Tried(steady(*SEVEN)).run()
    assert finals(tried) == {0: 4, 1: 4, 2: 4}
    assert tried.why[-1] == "3 candidates"


def test_finals_go_on_for_a_launch_that_printed_no_time() -> None:
    tried = Tried(steady(*SEVEN)).run()
    begun = len(tried.host.launched)
    tried.host.starved = lambda launch: launch == begun
    assert sorted(finals(tried).values()) == [4, 5, 5], "one more round, for one lost launch"


def test_finals_are_not_longer_because_a_launch_was_disturbed() -> None:
    tried = Tried(steady(*SEVEN)).run()
    begun = len(tried.host.launched)
    tried.host.disturbed = lambda launch: launch == begun
    assert finals(tried) == {0: 4, 1: 4, 2: 4}


@pytest.mark.parametrize(("second", "rounds"), [(1.04, 8), (1.01, 4)])
def test_finals_take_twice_as_many_rounds_where_these_may_decide(
    second: float, rounds: int
) -> None:
    """Under 3 % of noise; the others are clearly slower and end as usual."""
    host = Host(dict(enumerate((1.0, second, *SEVEN[2:]))), noise=0.03)
    tried = Tried(host, first=range(4)).begin()
    tried.search.finished = "enough"
    assert finals(tried) == {0: rounds, 1: rounds, 2: 4}


@pytest.mark.parametrize("second", [1.04, 1.01])
def test_the_count_of_the_launches_of_finals_never_goes_back(second: float) -> None:
    """Also where there are more rounds than usual, and fewer candidates in each of them."""
    host = Host(dict(enumerate((1.0, second, *SEVEN[2:]))), noise=0.03)
    tried = Tried(host, first=range(4), deadline=time.monotonic() + 1000).begin()
    reported: list[tuple[int, int]] = []

    def report(stage: str, done: int, total: int, detail: str = "") -> None:
        reported.append((done, total))

    tried.search.bench = tried.search.group.bench = replace(tried.search.bench, progress=report)
    begun = len(host.launched)
    finals(tried)
    counts = [done for done, _ in reported]
    launched = len(host.launched) - begun
    assert counts == [*range(launched), launched]
    assert reported[-1] == (launched, launched)
    assert all(done < total for done, total in reported[:-1])


def test_finals_use_the_time_that_is_left_where_it_may_decide() -> None:
    """A limited budget buys more than twice the rounds, where the fastest are not told apart."""
    host = Host(dict(enumerate((1.0, 1.01, *SEVEN[2:]))), noise=0.03)
    tried = Tried(host, first=range(4), deadline=time.monotonic() + 1000).begin()
    tried.search.finished = "enough"
    rounds = finals(tried)
    assert 8 < rounds[0] == rounds[1] <= 100
    assert rounds[2] == 4, "clearly slower"


@pytest.mark.parametrize("limited", [True, False])
def test_finals_that_would_lose_much_use_the_time_that_is_left(limited: bool) -> None:
    """Equal ones are hardly told apart; under so much noise a choice loses some per cent until
    they were launched often.
    """
    host = Host(dict(enumerate((1.0, 1.0, *SEVEN[2:]))), noise=0.25)
    deadline = time.monotonic() + 1000 if limited else math.inf
    tried = Tried(host, first=range(4), deadline=deadline).begin()
    tried.search.finished = "enough"
    taken = finals(tried)
    assert taken[0] == taken[1]
    assert (taken[0] > 30) is limited


def test_a_single_finalist_has_no_finals() -> None:
    host = steady(1.0, 1.4, **{"fates": {1: "crashed"}})
    tried = Tried(host, first=(0, 1), complete="enough").begin()
    tried.search.finished = "enough"
    assert finals(tried) == {}


def test_after_the_deadline_there_are_no_finals() -> None:
    tried = Tried(steady(*SEVEN), deadline=0.0).run()
    assert finals(tried) == {}


def test_time_is_reserved_for_finals_by_what_launches_took() -> None:
    tried = Tried(steady(*SEVEN)).begin()
    tried.search.group.launching = 0.5 * sum(tried.search.group.launches.values())
    assert tried.search.reserve == pytest.approx(4 * (3 + 2) * 0.5)
    end = time.monotonic() + 100
    tried.search.plan = TuningPlan(measuring=Measuring(rounds=2, samples=3), deadline=end)
    assert tried.search.reserve == pytest.approx(3 * 5 * 0.5), "three rounds at least"
    assert tried.search.deadline == pytest.approx(end - 7.5)
    tried.search.group.launching *= 100
    left = end - tried.search.deadline
    assert left == pytest.approx(100 / 3, abs=3), "a third of the time at most"


# --- what is told and learned -------------------------------------------------------------------


def test_what_is_told_is_at_the_level_of_the_first_rounds() -> None:
    """The machine becomes three times as slow after the first candidates."""
    tried = Tried(steady(*SEVEN)).begin()
    tried.host.drift = lambda launch: 3.0
    tried.search.advance(tried.algorithm)
    measurement, sigma = tried.algorithm.told[identity(2)]
    assert measurement is not None
    level = time_of(measurement.samples)
    assert level == pytest.approx(1.8, rel=0.05)
    assert 0 < sigma < 0.1


def test_failures_are_told_without_noise_and_those_without_a_time_not_at_all() -> None:
    host = steady(1.0, 1.4, 1.8, fates={1: "crashed"})
    tried = Tried(host, first=(0, 1)).begin()
    measurement, sigma = tried.algorithm.told[identity(1)]
    assert measurement is not None
    assert (measurement.status, sigma) == ("crashed", 0.0)
    starved = Tried(steady(1.0, 1.4, starved=lambda _: True)).begin()
    assert starved.algorithm.told == {}


def test_disturbed_candidates_are_told_with_what_they_would_have_taken() -> None:
    tried = Tried(steady(1.0, 1.4, disturbed=lambda launch: launch % 3 == 0)).begin()
    times = {
        number: time_of(measurement.samples)
        for number in (0, 1)
        if (measurement := tried.algorithm.told[identity(number)][0]) is not None
    }
    assert times == pytest.approx({0: 1.0, 1: 1.4}, rel=0.05)


class WaitedAtStart(Host):
    """Programs that print three times, and whose processes wait for a CPU before these, some long,
    some shortly: their share of CPU time says nothing of their times.
    """

    def launch(self, prepared, *, round_number, launch, expected, on_sample):
        def waited(sample: Sample) -> None:
            life = 3.2 * sample.seconds
            lost = sample.seconds * (2.8, 1.5, 0.7)[len(self.launched) % 3]
            accounts = {"part_of_run": 0.31, "cpu_s": life, "waited_s": lost, "wall_s": life}
            busy = max(0.1, 1 - lost / life)
            on_sample(
                replace(
                    sample,
                    busy=busy,
                    undisturbed=False,
                    conditions={**sample.conditions, **accounts},
                )
            )

        return super().launch(
            prepared,
            round_number=round_number,
            launch=launch,
            expected=expected,
            on_sample=waited,
        )


def test_what_is_told_of_disturbed_candidates_is_their_level() -> None:
    """It is guessed from all candidates that the times hold no waiting, and not guessed again."""
    tried = Tried(WaitedAtStart(dict(enumerate(SEVEN)), noise=0.001)).run()
    levels = tried.search.group.levels()
    assert len(levels.times) == 7
    for name, seconds in levels.times.items():
        told, _ = tried.algorithm.told[name]
        assert time_of(told.samples) == pytest.approx(seconds, rel=0.02)


def test_what_others_finished_is_learned_but_for_what_this_run_measured() -> None:
    other = Tried(steady(*SEVEN), first=(0, 1, 2, 3)).begin()
    tried = Tried(steady(*SEVEN), first=(0, 1)).begin()
    news = tried.search.learn(results(other.journal, 0, 2, 3))
    assert set(news) == {identity(2), identity(3)}
    assert news == sorted(news)
    assert tried.search.earlier == {identity(n) for n in (0, 2, 3)}


# --- where it stands ----------------------------------------------------------------------------


def test_a_standing_counts_what_happened() -> None:
    host = steady(*SEVEN, fates={2: "crashed"}, disturbed=lambda launch: launch == 0)
    tried = Tried(host, first=(0, 1, 2), evaluations=5).begin()
    standing = tried.search.standing()
    assert (standing.candidates, standing.step, standing.elsewhere, standing.open) == (
        7,
        0,
        0,
        0,
    )
    assert (standing.measured, standing.failed, standing.evaluations_left) == (2, 1, 2)
    assert standing.disturbed == 3
    assert standing.samples == len(tried.journal.samples)
    assert standing.baseline == pytest.approx(1.0, rel=0.05)
    assert standing.seconds_left is None
    assert standing.best is not None
    assert (standing.best.candidate, standing.best.evaluation) == (candidate(0), 1)
    assert standing.best.predicted == 1.0


def test_before_anything_was_measured_there_is_no_best() -> None:
    standing = Tried(steady(*SEVEN), deadline=math.inf).search.standing()
    assert (standing.best, standing.baseline, standing.expected_improvement) == (None, None, None)
    limited = Tried(steady(*SEVEN), deadline=time.monotonic() - 5).search.standing()
    assert limited.seconds_left == 0.0
