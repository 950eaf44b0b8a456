"""The tuner with the default search, on a made-up host: what is learned, kept, shared and said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fake_host import PROBLEM, Host, Notebook, bench, candidate, first_of, ranking

from autotune.domain.problem import Problem
from autotune.domain.ranking import Ranking
from autotune.domain.results import Measurement
from autotune.domain.setup import Measuring, Searching
from autotune.tuning import EarlierResult, EndedSearch, Event, Task, TuningPlan, tune_problems
from autotune.tuning.study_search import Hint, StudySearch, study_search

COUNT = 40
TIMES = {k: 1.0 + 0.02 * abs(k - 29) + (0.4 if k % 4 else 0.0) for k in range(COUNT)}
"""Smooth with a step: the fastest is 29 ... for those that are a multiple of 4, 28."""
PREDICTED = [1.5 + 0.01 * k for k in range(COUNT)]
"""A model that is wrong: it has the first candidates ahead."""
FIRST = (0, 1, 2)


@dataclass
class Tuned:
    """A run and what came of it."""

    ended: list[EndedSearch]
    journal: Notebook
    trials: StudySearch
    events: list[Event] = field(default_factory=list)

    @property
    def steps(self) -> list[str]:
        """Why each candidate of the search was chosen."""
        return [c.why for c in self.journal.choices if c.why.startswith("step ")]

    @property
    def measured(self) -> set[str]:
        return set(self.journal.outcomes)


def run(
    host: Host,
    rankings: Sequence[Ranking],
    *,
    evaluations: int | None = None,
    earlier: Mapping[str, tuple[EarlierResult, ...]] | None = None,
    first: Mapping[str, Sequence[int]] | None = None,
    known: Sequence[Hint] = (),
    counted: int = 0,
) -> Tuned:
    journal, events = Notebook(), list[Event]()
    entries = [entry for ranked in rankings for entry in ranked.entries]
    base = [candidate(0, ranked.problem).identity for ranked in rankings]
    trials = study_search(
        [e.candidate for e in entries],
        [e.prediction for e in entries],
        settings=Searching(),
        first=base,
        hints=known,
    )
    tasks = [
        Task(
            ranking=ranked,
            first=first_of(ranked, *(first or {}).get(ranked.problem.label, FIRST)),
            baseline=identity,
            earlier=(earlier or {}).get(ranked.problem.label, ()),
            counted=counted,
        )
        for ranked, identity in zip(rankings, base, strict=True)
    ]
    plan = TuningPlan(measuring=Measuring(rounds=3, samples=2), evaluations=evaluations, batch=1)
    ended = tune_problems(tasks, trials, bench(host, journal, watcher=events.append), plan)
    return Tuned(ended, journal, trials, events)


def quiet_host(**more) -> Host:
    return Host(TIMES, noise=0.003, samples=2, **more)


def found(journal: Notebook, run_id: str) -> tuple[EarlierResult, ...]:
    return tuple(
        EarlierResult(
            candidate=journal.prepared_[identity].candidate,
            measurement=Measurement(
                candidate=identity,
                run=run_id,
                status=outcome.status,
                samples=outcome.samples,
            ),
            checksum=(1.0, 1.0),
        )
        for identity, outcome in journal.outcomes.items()
    )


def number(identity: str) -> int:
    return next(k for k in range(COUNT) if candidate(k).identity == identity)


def test_a_wrong_model_is_overcome_and_every_step_says_why() -> None:
    tuned = run(quiet_host(seed=2), [ranking(PREDICTED)], evaluations=20)
    assert tuned.ended[0].cut
    assert len(tuned.measured) == 20
    best = min(tuned.measured, key=lambda i: TIMES[number(i)])
    assert TIMES[number(best)] <= 1.05 * min(TIMES.values())
    assert len(tuned.steps) == 17
    assert any("expected improvement" in why for why in tuned.steps)
    assert any("neighbour of the best so far" in why for why in tuned.steps)
    proposed = [e for e in tuned.events if e.notice.kind == "proposed"]
    assert [f"step {k}: {e.notice.why}" for k, e in enumerate(proposed, start=1)] == tuned.steps
    assert all(e.notice.predicted for e in proposed)


def test_the_search_is_over_when_little_is_expected() -> None:
    flat = Host(dict.fromkeys(range(COUNT), 1.0), noise=0.002, samples=2)
    tuned = run(flat, [ranking([1.0] * COUNT)])
    assert "expected improvement stayed below 1 %" in tuned.ended[0].why
    assert not tuned.ended[0].cut
    assert len(tuned.measured) < COUNT


def test_a_resumed_search_goes_on_where_it_was() -> None:
    """With the results of the first run, and never asking for them again."""
    ranked = ranking(PREDICTED)
    before = run(quiet_host(), [ranked], evaluations=12)
    label = ranked.problem.label
    best = min(before.measured, key=lambda i: TIMES[number(i)])
    after = run(
        quiet_host(seed=5),
        [ranked],
        evaluations=18,
        earlier={label: found(before.journal, "r0")},
        first={label: sorted({0, number(best)})},
        counted=len(before.measured),
    )
    searched = {c.candidate.identity for c in after.journal.choices if c.why.startswith("step ")}
    assert 3 <= len(searched) <= 6, "at most what is left of the budget"
    assert not searched & before.measured
    assert "expected improvement" in after.steps[0], "the first candidates are behind it"
    both = before.measured | after.measured
    assert min(TIMES[number(i)] for i in both) <= 1.05 * min(TIMES.values())


def test_what_is_known_is_used_without_measuring() -> None:
    """All of it from another study: only what ties the two together is launched."""
    ranked = ranking(PREDICTED)
    before = run(quiet_host(), [ranked], evaluations=12)
    label = ranked.problem.label
    host = quiet_host(seed=7)
    after = run(
        host,
        [ranked],
        evaluations=3,
        earlier={label: found(before.journal, "other")},
        first={label: [0]},
    )
    assert after.events[0].notice.why == f"1 are measured first, {len(before.measured)} are known"
    searched = {c.candidate.identity for c in after.journal.choices if c.why.startswith("step ")}
    assert len(searched) == 3, "what is known does not count as evaluations"
    assert not searched & before.measured


def test_times_of_another_machine_are_hints_only() -> None:
    """It is three times as slow; its order is right: the search begins where it was fast."""
    hints = [Hint(candidate=candidate(k), seconds=3 * TIMES[k]) for k in range(0, COUNT, 3)]
    ranked = ranking(PREDICTED)
    told, untold = (run(quiet_host(), [ranked], evaluations=8, known=k) for k in (hints, ()))
    assert len(told.measured) == 8, "a hint is no result"
    best, other = (min(TIMES[number(i)] for i in each.measured) for each in (told, untold))
    assert best <= other
    assert best <= 1.15 * min(TIMES.values())


def test_problems_share_what_is_learned() -> None:
    """Where the model is wrong on one size, it need not be found out again on the next."""

    def best_after(sizes: Sequence[Problem], evaluations: int) -> float:
        rankings = [ranking(PREDICTED, problem) for problem in sizes]
        ones = {sizes[-1].label: (0,)}
        tuned = run(quiet_host(), rankings, evaluations=evaluations, first=ones)
        numbers = {candidate(k, sizes[-1]).identity: k for k in range(COUNT)}
        return min(TIMES[numbers[i]] for i in tuned.measured if i in numbers)

    others = [PROBLEM.at(40), PROBLEM.at(48)]
    together = best_after([*others, PROBLEM], 12)
    alone = best_after([PROBLEM], 12)
    assert together < alone
    assert together <= 1.1 * min(TIMES.values())
