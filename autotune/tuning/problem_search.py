"""The search of one problem: first candidates, steps of the search, final measurements."""

import dataclasses
import math
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from autotune.domain.ranking import Ranked, Ranking
from autotune.domain.results import Measurement, Stage
from autotune.domain.variant import Build, Candidate, ExecutionLayout
from autotune.statistics.drift import DriftFreeTimes, contest, share_of_each, time_error
from autotune.statistics.drift import levels as drift_levels
from autotune.statistics.estimators import TOPS
from autotune.statistics.expected_regret import ALIKE, choosable, expected_regrets
from autotune.statistics.launch_times import LaunchTime, time_of
from autotune.tuning.base import Bench, Chosen, EarlierResult, Proposal, Search, TuningPlan
from autotune.tuning.baseline import require_baseline
from autotune.tuning.building import prepare
from autotune.tuning.events import Best, ProblemNotice, Standing
from autotune.tuning.first_candidates import JUDGED, misled
from autotune.tuning.race import Race, RaceStanding, settled
from autotune.tuning.rounds import TAIL, MeasuredGroup, Shown, shown
from autotune.tuning.tried_names import TriedNames
from autotune.units import Seconds

BATCH = 2
"""So many builds for each CPU: the first candidates after the first few come in batches."""
FINALISTS = 3
"""So many of the fastest are measured again at the end, with the baseline beside them."""
_NOISE = 2.0
"""Two levels nearer than so many standard errors of their ratio may be the same."""
_COMMON = 2
"""So many of the fastest of every problem are measured in the finals of all others."""
_LEAST_FINALS = 3
"""Rounds of the finals at least: an interval over rounds needs as many."""
_MOST_FINALS = 100
"""Rounds of the finals at most, however much time is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One problem to be tuned: its candidates and which of them to measure first."""

    ranking: Ranking
    """All its legal candidates."""
    first: tuple[Chosen, ...]
    """Candidates that are measured before the search begins."""
    baseline: str
    """The identity of the baseline; empty where there is none."""
    earlier: tuple[EarlierResult, ...] = ()
    """Results of its candidates in other runs."""
    counted: int = 0
    """Candidates that earlier runs of the study measured: they count towards the budget."""
    candidates: int = 0
    """How many candidates the problem has, where the ranking holds only some."""
    complete: str = ""
    """Why nothing is searched after the first candidates; empty where something is."""


@dataclass(slots=True, kw_only=True)
class ProblemSearch:
    """The search of one problem and its state, which changes while it is tuned."""

    number: int
    """The number of the problem in the search over all problems."""
    task: Task
    bench: Bench
    plan: TuningPlan
    publish: Callable[["ProblemSearch", ProblemNotice, RaceStanding | None], None]
    together: Sequence["ProblemSearch"]
    """The searches of all problems of the run: their finals share the time that is left."""
    group: MeasuredGroup = field(init=False)
    step: int = 0
    finished: str = ""
    cut: bool = False
    """A budget ended the search."""
    first: list[Chosen] = field(default_factory=list)
    """Candidates that are still to be measured before the search proposes any."""
    proposed: float | None = None
    """The expected improvement of the latest proposal."""
    promise: float | None = None
    """The greatest expected improvement of all that were left then; None where no model says."""
    order: dict[str, int] = field(default_factory=dict)
    """Candidate to the number of its evaluation, from 1."""
    waiting: set[str] = field(default_factory=set)
    """Candidates that are being built or timed."""
    rival: str | None = None
    """With which the next candidates are compared; it changes where one is clearly faster."""
    names: TriedNames = field(init=False)
    _begun: float = field(default_factory=lambda: time.monotonic())
    _building: float = 0.0
    """Seconds that all builds took."""
    _entries: dict[str, Ranked] = field(init=False)

    def __post_init__(self) -> None:
        self._entries = {e.candidate.identity: e for e in self.task.ranking.entries}
        self.group = MeasuredGroup(bench=self.bench, plan=self.plan)
        self.names = TriedNames.among(e.candidate for e in self.task.ranking.entries)
        self.learn(self.task.earlier)

    @property
    def label(self) -> str:
        """The label of the problem."""
        return self.task.ranking.problem.label

    @property
    def earlier(self) -> set[str]:
        """The identities of candidates that other runs measured."""
        return {identity for _, identity in self.group.earlier}

    # --- the first candidates -----------------------------------------------------------

    def begin(self, search: Search) -> None:
        """Choose the first candidates, as many as the budget allows; report earlier results."""
        room = self.left(len(self.task.first))
        for choice in sorted(self.task.first, key=self._is_baseline, reverse=True):
            compares = choice.candidate.identity in self.earlier  # which costs nothing
            if compares or room > 0:
                self.first.append(choice)
                room -= not compares
        earlier_count = f", {len(self.earlier)} are known" if self.earlier else ""
        why = f"{len(self.first)} are measured first{earlier_count}"
        self.publish(self, ProblemNotice(kind="begun", why=why), None)
        if not self.first:
            self.tell(search, sorted(self.earlier))

    def _is_baseline(self, choice: Chosen) -> bool:
        return choice.candidate.identity == self.task.baseline

    def _measure_first(self, search: Search) -> None:
        """Compare the next of the first candidates: the baseline with one other, two more, batches.

        What is left of them is given up where the predictions prove wrong.

        Raises WorkFailed, with what the compiler or the program said, if the baseline fails.
        """
        begun = bool(self.order)
        if not begun and self._is_baseline(self.first[0]):
            self._build(self.first[:1])
            require_baseline(self.group, self.task.baseline, self.label, "first", self.deadline)
        count = BATCH * self.plan.batch if len(self.order) >= JUDGED else 2
        chosen, self.first = self.first[:count], self.first[count:]
        rival = self._standing_rival() if begun else None
        self._compare(chosen, search, "first", rival, f"measure {self.label}")
        self.tell(search, sorted(self.earlier))
        if self.first and not self.task.complete and self._misled():
            why = f"the predictions order wrongly: {len(self.first)} of them are left to the search"
            self.publish(self, ProblemNotice(kind="begun", why=why), None)
            self.first = []

    def _misled(self) -> bool:
        """Whether the times so far speak against measuring the best by prediction."""
        levels = self.group.levels()
        predicted = {i: self._entries[i].prediction for i in levels.times}
        named = [i for i, prediction in predicted.items() if prediction.seconds is not None]
        return misled([predicted[i] for i in named], levels.of(named))

    def left(self, otherwise: int) -> int:
        """How many candidates may still be measured; ``otherwise`` without a budget."""
        if self.plan.evaluations is None:
            return otherwise
        spent = self.task.counted + len(self.order.keys() - self.earlier)
        return max(0, self.plan.evaluations - spent)

    # --- steps of the search ------------------------------------------------------------

    def advance(self, search: Search) -> None:
        """Do one step: choose, build, time against the fastest so far, report the results.

        The first candidates come first, then proposals of the search.

        If the search has ended, ``finished`` says why. No proposal is requested that could not be
        launched in time.
        """
        self.finished = self._over(search)
        if self.finished:
            return
        if self.first:
            self._measure_first(search)
            return
        proposals = self._ask(search, min(self.plan.batch, self.left(self.plan.batch)))
        if not proposals:
            self.finished = "nothing is left to be measured"
            return
        self.step += 1
        chosen = [self._choice(proposal) for proposal in proposals]
        rival = self._standing_rival()
        self._compare(chosen, search, "search", rival, f"measure {self.label}, step {self.step}")

    def _standing_rival(self) -> str | None:
        """The rival so far; where there is none, or it failed, the fastest so far."""
        times = self.group.levels()
        return self.rival if self.rival in times.times else self.incumbent(times)

    def _compare(
        self, chosen: Sequence[Chosen], search: Search, stage: Stage, rival: str | None, what: str
    ) -> None:
        """Build candidates, time them against a rival, and report the results to the search."""
        for choice in chosen:
            self.order[choice.candidate.identity] = len(self.order) + 1
        if rival is not None and rival not in self.group.prepared:
            self._build([self._named(rival, "the fastest so far, to compare with")])
        self._measure(chosen, stage, rival, what)
        identities = [choice.candidate.identity for choice in chosen]
        self.tell(search, [*identities, *([] if rival is None or rival in identities else [rival])])

    def _ask(self, search: Search, count: int) -> list[Proposal]:
        """Proposals of candidates that this run has not tried yet."""
        while proposals := search.ask(self.number, count):
            new = [p for p in proposals if p.candidate.identity not in self.order]
            if new:
                return new
        return []

    def _over(self, search: Search) -> str:
        if self.task.complete and not self.first:
            return self.task.complete
        if time.monotonic() >= self.deadline:
            self.cut = True
            return "the time is used up"
        if self.first:
            return ""
        if self.left(1) == 0:
            self.cut = True
            return f"the budget of {self.plan.evaluations} evaluations is used up"
        return search.finished(self.number) or ""

    def _choice(self, proposal: Proposal) -> Chosen:
        identity = proposal.candidate.identity
        gain = proposal.expected_improvement
        self.proposed = None if math.isnan(gain) else gain
        self.promise = None if math.isnan(proposal.promise) else proposal.promise
        if identity not in self._entries and proposal.prediction is not None:
            self._entries[identity] = Ranked(None, proposal.candidate, proposal.prediction)
        entry = self._entries[identity]
        why, posterior = f"step {self.step}: {proposal.why}", proposal.posterior
        self.publish(
            self,
            ProblemNotice(
                kind="proposed",
                candidate=proposal.candidate,
                why=proposal.why,
                predicted=entry.prediction.seconds,
                expected=None if posterior is None else posterior * self.group.usual_level,
            ),
            None,
        )
        return Chosen.of(entry, why)

    def incumbent(self, times: DriftFreeTimes) -> str | None:
        """The fastest candidate with enough launches to be trusted; without one, the fastest of
        all.
        """
        enough = {i for i in times.times if len(self.group.times(i)) > 1 or i in self.earlier}
        able = sorted(enough or times.times)
        return min(able, key=lambda i: times.times[i]) if able else None

    def tell(self, search: Search, identities: Sequence[str]) -> None:
        """Report results of candidates to the search, corrected to the level of the first rounds.

        A candidate that was disturbed, or not launched in time, is not reported, because it did not
        fail.
        """
        times = self.group.levels()
        for identity in identities:
            measurement = self._measured(identity)
            if measurement is None or measurement.status == "contended":
                continue
            if measurement.status != "ok":
                search.tell(self._entries[identity].candidate, measurement, 0.0)
            elif identity in times.times:
                levelled = _scaled(measurement, times.times[identity])
                search.tell(self._entries[identity].candidate, levelled, times.errors[identity])

    def _measured(self, identity: str) -> Measurement | None:
        """The result of a candidate in this run; otherwise in the last run that finished it."""
        if identity in self.group.prepared:
            return self.group.measurement(identity)
        earlier = [result for (_, i), result in self.group.earlier.items() if i == identity]
        return earlier[-1].measurement if earlier else None

    def learn(self, results: Sequence[EarlierResult]) -> list[str]:
        """Add results of other runs; returns those candidates that this run has not prepared."""
        for result in results:
            self.group.earlier[result.measurement.run, result.candidate.identity] = result
        names = {result.candidate.identity for result in results}
        return sorted(names - self.group.prepared.keys())

    # --- the finals ---------------------------------------------------------------------

    def finals(self, problems: int = 1) -> None:
        """Measure the fastest, the baseline and the best of the predicted top again, interleaved.

        The winner and the losses are computed from these rounds, because the selection of the
        finalists did not depend on them. Those that are not told apart from the fastest, and may
        be, are measured in up to twice as many rounds, or as many as the time allows where it is
        limited; there all that may still be best go on, whether they may be told apart or not, as
        long as a choice is expected to lose more than 1 %. ``problems``: whose finals share the
        time that is left; this one gets its part.
        """
        now = time.monotonic()
        deadline = now + (self.plan.deadline - now) / problems
        if now >= deadline or (self.task.complete and not self.order):
            return
        names = self.finalists(self.group.levels())
        lacking = [i for i in names if i not in self.group.prepared]
        self._build([self._named(i, "one of the fastest") for i in lacking], deadline)
        able = [i for i in names if i in self.group.prepared and i not in self.group.failed]
        if len(able) < 2:
            return
        self.publish(self, ProblemNotice(kind="finals", why=f"{len(able)} candidates"), None)
        rounds = max(self.plan.measuring.rounds, _LEAST_FINALS)
        begun, started, launched = self.group.rounds, time.monotonic(), 0
        stage = f"measure the finalists of {self.label}"
        most = 2 * rounds
        while (done := self.group.rounds - begun) < most + TAIL:
            able = [i for i in able if i not in self.group.failed]
            least = min((len(self._final_times(i, begun)) for i in able), default=0)
            late = time.monotonic() >= deadline
            if least >= rounds:
                most = max(most, _affordable(done, time.monotonic() - started, deadline - started))
                unsure = not math.isinf(deadline) and self._regret(able, begun) > ALIKE
                able = self._open(able, begun, math.inf if unsure else most)
            if late or len(able) < 2 or least >= most:
                break
            total = launched + max(1, rounds - done) * len(able)
            show = shown(self.bench.progress, stage, launched, total)
            self.group.round(able, "final", show, deadline)
            launched += len(able)
        for identity in names:
            if identity in self.group.prepared and identity not in self.group.reported:
                self.group.settle(identity)
        self.group.recount()
        self.bench.progress(stage, launched, launched)

    def finalists(self, times: DriftFreeTimes) -> list[str]:
        """The three fastest, the rival, the baseline, the fastest of the predicted top 1, 3 and 5,
        and up to three that only other runs measured and that may be the fastest.
        """
        able = sorted(times.times, key=lambda i: (times.times[i], i))
        names = able[:FINALISTS]
        names += [i for i in able if i == self.rival]
        for k in TOPS:
            top = {
                e.candidate.identity for e in self.task.ranking.entries if (e.rank or k + 1) <= k
            }
            names += [i for i in able if i in top][:1]
        if self.task.baseline in times.times:
            names.append(self.task.baseline)
        names += self._best_elsewhere() if self.plan.common else []
        names += self._best_of_other_runs(times)
        return list(dict.fromkeys(names))

    def _best_of_other_runs(self, times: DriftFreeTimes) -> list[str]:
        """The best that only other runs measured: those that may be as fast as the fastest by their
        levels, or that took no longer there than it takes here.

        How much one run was slower than another is known from few candidates.
        """
        if not times.times:
            return []
        fastest = min(times.times, key=lambda i: (times.times[i], i))
        least, error = times.times[fastest], times.errors[fastest]
        here = least * max(1.0, self.group.usual_level)
        near: list[tuple[float, str]] = []
        for identity in self.earlier - self.group.prepared.keys() & times.times.keys():
            level, there = times.times[identity], self.group.earlier_seconds(identity)
            noise = _NOISE * math.hypot(error, times.errors[identity])
            if math.log(level / least) <= noise or there <= here:
                near.append((min(level, there), identity))
        return [identity for _, identity in sorted(near)[:FINALISTS]]

    def _best_elsewhere(self) -> list[str]:
        """The candidates of this problem that are the same as the fastest of the other problems."""
        here = {_choice(e.candidate): identity for identity, e in self._entries.items()}
        names = []
        for search in self.together:
            times = search.group.levels().times if search is not self else {}
            for identity in sorted(times, key=lambda i: (times[i], i))[:_COMMON]:
                choice = _choice(search._entries[identity].candidate)
                names += [here[choice]] if choice in here else []
        return [identity for identity in names if identity not in self.group.failed]

    def _final_times(self, identity: str, begun: int) -> dict[Hashable, LaunchTime]:
        times = self.group.times(identity)
        return {r: time for r, time in times.items() if isinstance(r, int) and r >= begun}

    def _regret(self, able: Sequence[str], begun: int) -> float:
        """The greatest expected regret of a finalist that may be chosen; 0 where they are too few.

        Without a baseline that is the one of least regret; else it may be any about as good.
        """
        finals = {identity: self._final_times(identity, begun) for identity in able}
        levels, level = drift_levels(finals), self.group.levels()
        final_levels = dataclasses.replace(levels, noise=level.noise, pollution=level.pollution)
        errors = {name: time_error(final_levels, name, finals[name]) for name in levels.times}
        if not errors:
            return 0.0
        regrets = expected_regrets(levels.times, errors)
        if not self.task.baseline:
            return min(regrets.values())
        return max(regrets[name] for name in choosable(regrets))

    def _open(self, able: Sequence[str], begun: int, rounds: float) -> list[str]:
        """The fastest in the finals and those for which so many rounds in all could decide."""
        finals = {identity: self._final_times(identity, begun) for identity in able}
        times, levels = drift_levels(finals).times, self.group.levels()
        fastest = min(able, key=lambda i: (times[i], i))
        share = share_of_each(len(levels.times) - 1)
        rivals = [
            identity
            for identity in able
            if identity != fastest
            and not settled(
                contest(finals[identity], finals[fastest], levels.noise, levels.pollution, share),
                rounds,
            )
        ]
        return [fastest, *rivals]

    @property
    def deadline(self) -> float:
        """The time at which the search must end to leave time for the finals of all problems.

        They get what they are expected to need, and at most a third of all the time there is.
        """
        needed = sum(search.reserve for search in self.together)
        most = max(0.0, self.plan.deadline - self._begun) / 3
        return self.plan.deadline - min(needed, most)

    @property
    def reserve(self) -> float:
        """The expected duration of the problem's finals in seconds, from its launches and builds so
        far; candidates that only other runs measured are built for the finals.
        """
        launches = sum(self.group.launches.values())
        rounds = max(self.plan.measuring.rounds, _LEAST_FINALS)
        others = min(FINALISTS, len(self.earlier - self.group.prepared.keys()))
        launching = (FINALISTS + 2 + others) * self.group.launching / max(1, launches)
        return rounds * launching + others * self._building / max(1, len(self.group.prepared))

    # --- building and timing ------------------------------------------------------------

    def _measure(
        self, chosen: Sequence[Chosen], stage: Stage, rival: str | None, what: str
    ) -> None:
        self._build([c for c in chosen if c.candidate.identity not in self.group.prepared])
        entrants = [i for c in chosen if (i := c.candidate.identity) in self.group.prepared]
        race = Race(
            group=self.group,
            stage=stage,
            rival=rival,
            kept=frozenset({self.task.baseline}),
            deadline=self.deadline,
            show=lambda number, count: self._shown(what, number, count),
            tell=self._report_standing,
        )
        self.rival = race.run(entrants)
        self.waiting.clear()

    def _shown(self, what: str, number: int, count: int) -> Shown:
        return shown(self.bench.progress, f"{what}, round {number + 1}", 0, count)

    def _build(self, chosen: Sequence[Chosen], deadline: float | None = None) -> None:
        """Build and verify candidates; the fastest time so far sets the limits of their
        launches.
        """
        if not chosen:
            return
        self.bench.journal.chosen(chosen)
        candidates = [choice.candidate for choice in chosen]
        self.waiting |= {candidate.identity for candidate in candidates}
        times = self.group.levels().times
        fastest = min(times.values(), default=None)
        limit = self.deadline if deadline is None else deadline
        began = time.monotonic()
        built = prepare(candidates, self.bench, limit)
        self._building += time.monotonic() - began
        for prepared in built:
            identity = prepared.candidate.identity
            self.group.enter(prepared, fastest or self._entries[identity].prediction.seconds)
            standing = RaceStanding(
                identity=identity, verdict="open", contest=None, seconds=None, rounds=0
            )
            self.publish(self, ProblemNotice(kind="built", candidate=prepared.candidate), standing)

    def _report_standing(self, standing: RaceStanding) -> None:
        if standing.verdict != "open":
            self.waiting.discard(standing.identity)
        entry = self._entries[standing.identity]
        predicted = entry.prediction.seconds
        notice = ProblemNotice(kind="timed", candidate=entry.candidate, predicted=predicted)
        self.publish(self, notice, standing)

    def _named(self, identity: str, why: str) -> Chosen:
        return Chosen.of(self._entries[identity], why)

    # --- standing -----------------------------------------------------------------------

    def standing(self) -> Standing:
        """The present state of the problem's search."""
        group = self.group
        times = group.levels()
        timed = [i for i in group.samples if i in times.times and group.times(i)]
        taken = [s for samples in group.samples.values() for s in samples if not s.warm_up]
        left = None if self.plan.evaluations is None else self.left(0)
        seconds = self.plan.deadline - time.monotonic()
        return Standing(
            problem=self.label,
            candidates=self.task.candidates or len(self._entries),
            step=self.step,
            measured=len(timed),
            failed=sum(group.bad(identity) for identity in group.prepared),
            elsewhere=len({identity for _, identity in group.earlier} - group.prepared.keys()),
            open=len(self.waiting),
            samples=len(taken),
            disturbed=sum(not sample.undisturbed for sample in taken),
            best=self._best(times),
            baseline=self.group.shown(self.task.baseline),
            expected_improvement=self.proposed,
            evaluations_left=left,
            seconds_left=None if math.isinf(seconds) else max(0.0, seconds),
            finished=self.finished,
            goal=self.task.ranking.problem.facts().goal,
        )

    def _best(self, times: DriftFreeTimes) -> Best | None:
        identity = self.incumbent(times)
        if identity is None:
            return None
        candidate = self._entries[identity].candidate
        return Best(
            candidate=candidate,
            name=self.names.name(candidate),
            seconds=times.times[identity] * self.group.usual_level,
            predicted=self._entries[identity].prediction.seconds,
            evaluation=0 if identity in self.earlier else self.order.get(identity, 0),
        )


def _choice(candidate: Candidate) -> tuple[str, Build, ExecutionLayout]:
    """What is chosen in a candidate, whatever its problem."""
    return candidate.variant.label, candidate.build, candidate.layout


def _scaled(measurement: Measurement, seconds: float) -> Measurement:
    """The samples of a measurement, brought to a level where their time is ``seconds``.

    They hold no waiting any more, so that none is taken off again.
    """
    calm = [
        dataclasses.replace(sample, busy=1.0, undisturbed=True) for sample in measurement.samples
    ]
    factor = seconds / time_of(calm)
    samples = (
        dataclasses.replace(sample, seconds=Seconds(factor * sample.seconds)) for sample in calm
    )
    return dataclasses.replace(measurement, samples=tuple(samples))


def _affordable(done: int, seconds: float, limit: float) -> int:
    """How many rounds take no longer than a limit if ``done`` took so many seconds; 0: no limit."""
    if math.isinf(limit):
        return 0
    return min(_MOST_FINALS, int(done * limit / max(seconds, 1e-9)))
