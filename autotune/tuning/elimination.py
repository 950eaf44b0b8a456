"""Which differences between a fast candidate and the baseline matter, by measuring.

Leave one out: beside the winner and the baseline the winner is launched with each of its
differences put back, all interleaved. Backward elimination: the differences whose removal costs
nothing that can be shown are dropped together; where that costs more than one standard error, as
one of them can stand in for another, fewer are, the most harmless first. What is left goes through
the same again. At the end the winner, the reduced winner and the baseline are measured again in
turn, in rounds that had no influence on what was dropped.
"""

import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from autotune.domain.results import Prediction, Stage
from autotune.domain.variant import Candidate
from autotune.errors import WorkFailed
from autotune.statistics.drift import Contest, contest
from autotune.statistics.launch_times import LaunchTime
from autotune.tuning.base import Bench, Chosen, TuningPlan
from autotune.tuning.building import prepare
from autotune.tuning.race import most_rounds, settled
from autotune.tuning.rounds import MeasuredGroup, shown

SHARE = 0.9
"""Probability of the intervals by which single differences are judged, and that are shown."""
_ONE_ERROR = 0.683
"""Probability of an interval of one standard error on either side: of several that are as good by
the measurements, the simplest within one of the best is chosen (Breiman et al. 1984). Wider
intervals would drop the more the noisier the machine is."""
_PASSES = 3
"""Leaving one out and dropping, at most so often."""
_PARTS = (1.0, 0.75, 0.5, 0.25)
"""What parts of the harmless differences are dropped together, in one comparison."""
_LEAST_FINALS = 5
_TIME = (0.55, 0.8)
"""Parts of the time after which no difference is left out and nothing is dropped any more."""

Fate = Literal["measured", "same program", "forbidden", "failed", "not measured"]
"""Of a candidate without one difference: compared; the same as with it, so that nothing is to be
measured; forbidden by a constraint; without a time; not tried for want of time."""
Kept = frozenset[str]
"""The differences that a candidate has; the others are as in the baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """A candidate without one of its differences from the baseline, against itself with it."""

    difference: str
    fate: Fate
    cost: Contest | None = None
    """Its time over that of the candidate with the difference, with a 90 % interval."""
    detail: str = ""
    """Why it failed."""

    @property
    def harmless(self) -> bool:
        """Whether nothing shows that the difference is worth anything."""
        if self.fate == "same program":
            return True
        return self.cost is not None and not self.cost.slower

    @property
    def loss(self) -> float:
        """What leaving the difference out seems to cost, relative to the time; 0 where nothing."""
        return self.cost.ratio - 1 if self.cost else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """What is left of the differences of a winner from the baseline, and what shows it."""

    winner: Candidate
    baseline: Candidate
    reduced: Candidate
    """The winner with the differences that were kept; the baseline where none was."""
    ablations: tuple[Ablation, ...]
    """Of the winner, the difference that seems to be worth most first."""
    kept: tuple[str, ...]
    later: tuple[Ablation, ...]
    """Of what was left when a difference was left out again: the last of each, in no order."""
    reduced_cost: Contest | None
    """Time of the reduced winner over that of the winner, with a 90 % interval."""
    winner_speed: Contest | None
    """Time of the baseline over that of the winner."""
    reduced_speed: Contest | None
    """Time of the baseline over that of the reduced winner."""
    final: bool
    """The last three are of rounds after all decisions."""
    noise: float
    """Standard deviation of the logarithm of the time of one launch within its round."""
    cut: str = ""
    """Why it ended early; empty if it did not."""


@dataclass(slots=True, kw_only=True)
class Elimination:
    """The measurements that reduce a winner; its state grows while it runs."""

    differences: Sequence[str]
    """In the order in which they are left out."""
    make: Callable[[Kept], Candidate | None]
    """The candidate with some of the differences; None where a constraint forbids it."""
    bench: Bench
    plan: TuningPlan
    prediction_of: Callable[[Candidate], Prediction]
    """Predictions, which are stored with the candidates."""
    expected: float | None = None
    """Seconds of the winner."""
    most: int | None = None
    """So many differences are left out one by one, at most; the rest only together. None: all."""
    group: MeasuredGroup = field(init=False)
    _kept: Kept = frozenset()
    _passes: list["_Pass"] = field(default_factory=list)
    _final_rounds: set[int] = field(default_factory=set)
    _began: float = field(default_factory=time.monotonic)
    _cut: str = ""

    def __post_init__(self) -> None:
        self.group = MeasuredGroup(bench=self.bench, plan=self.plan)
        self._kept = frozenset(self.differences)

    def run(self) -> None:
        """Leave out, drop, and compare; ``result`` says what is known, also after Ctrl-C.

        WorkFailed if the winner or the baseline fails.
        """
        try:
            self._require()
            for _ in range(_PASSES):
                if not self._drop(self._leave_out()) or self._late(_TIME[1]):
                    break
            self._compare()
        except KeyboardInterrupt:
            self._cut = "it was interrupted"
            raise

    def _require(self) -> None:
        """Build the winner and the baseline; WorkFailed if that fails."""
        self._enter([self._winner, self._baseline], "to be reduced, and the baseline")
        for candidate in (self._winner, self._baseline):
            prepared = self.group.prepared.get(candidate.identity)
            if prepared is None:
                raise WorkFailed("no time was left to build the winner and the baseline")
            if prepared.status != "ok":
                words = f"has the status {prepared.status}: {prepared.detail}"
                raise WorkFailed(f"{candidate.label} {words}")

    # --- what is left out -----------------------------------------------------------------

    def _leave_out(self) -> tuple[Ablation, ...]:
        """Measure the candidate so far without each of its differences, beside it."""
        names = [name for name in self.differences if name in self._kept][: self.most]
        without = {name: self.make(self._kept - {name}) for name in names}
        self._passes.append(_Pass(kept=self._kept, without=without))
        whole = self._candidate(self._kept)
        able = [candidate for candidate in without.values() if candidate is not None]
        self._enter(able, "a difference left out")
        rivals = [candidate for candidate in able if not self._same(candidate, whole)]
        self._race(rivals, whole, "first", _TIME[0])
        return self._ablations(self._passes[-1])

    def _ablations(self, tried: "_Pass") -> tuple[Ablation, ...]:
        """What a pass says so far, the difference that seems to be worth most first."""
        whole = self._candidate(tried.kept)
        made = [
            Ablation(difference=name, fate="forbidden")
            if candidate is None
            else self._ablation(name, candidate, whole)
            for name, candidate in tried.without.items()
        ]
        return tuple(sorted(made, key=lambda a: (-a.loss, a.fate, a.difference)))

    def _ablation(self, name: str, candidate: Candidate, whole: Candidate) -> Ablation:
        if candidate.identity not in self.group.prepared:
            return Ablation(difference=name, fate="not measured")
        if self._same(candidate, whole):
            return Ablation(difference=name, fate="same program")
        if self.group.bad(candidate.identity):
            measurement = self.group.measurement(candidate.identity)
            detail = f"{measurement.status}: {measurement.detail}" if measurement else ""
            return Ablation(difference=name, fate="failed", detail=detail)
        cost = self._contest(candidate, whole)
        return Ablation(difference=name, fate="measured" if cost else "not measured", cost=cost)

    def _drop(self, ablations: Sequence[Ablation]) -> bool:
        """Drop the harmless differences, or as many of them as together cost nothing; False where
        nothing was dropped.
        """
        harmless = sorted(
            (ablation for ablation in ablations if ablation.harmless),
            key=lambda a: (a.fate != "same program", a.loss, a.difference),
        )
        tried = {ablation.difference for ablation in ablations}
        rest = [name for name in self.differences if name in self._kept - tried]
        names = [ablation.difference for ablation in harmless] + rest
        sizes = sorted({round(part * len(names)) for part in _PARTS} - {0}, reverse=True)
        choices = {size: self._kept - set(names[:size]) for size in sizes}
        able = {kept: made for kept in choices.values() if (made := self.make(kept)) is not None}
        self._enter([*able.values()], "several differences left out")
        rivals = [
            candidate for candidate in able.values() if not self._same(candidate, self._winner)
        ]
        self._race(rivals, self._winner, "search", _TIME[1])
        for kept, candidate in able.items():
            if self._about_as_fast(candidate):
                self._kept = kept
                return True
        return False

    def _about_as_fast(self, candidate: Candidate) -> bool:
        """Whether a candidate is slower than the winner by no more than one standard error."""
        if self._same(candidate, self._winner):
            return True
        if candidate.identity not in self.group.prepared or self.group.bad(candidate.identity):
            return False
        cost = self._contest(candidate, self._winner, share=_ONE_ERROR)
        return cost is not None and not cost.slower

    def _compare(self) -> None:
        """Launch the reduced winner, the winner and the baseline in turn, in more rounds than
        usual; of those that are the same program one.
        """
        three = [self._candidate(self._kept), self._winner, self._baseline]
        total = max(_LEAST_FINALS, most_rounds(self.plan.measuring.rounds))
        for number in range(total):
            if self._late(1.0):
                break
            self._final_rounds.add(self.group.rounds)
            words = f"compare what is left, round {number + 1} of {total}"
            self._round(self._different(three), "final", words)
        for identity in self._different(three):
            self.group.settle(identity)

    # --- measuring ------------------------------------------------------------------------

    def _enter(self, candidates: Sequence[Candidate], why: str) -> None:
        """Build and verify those candidates that are new."""
        new = {c.identity: c for c in candidates if c.identity not in self.group.prepared}
        self.bench.journal.chosen([Chosen(c, self.prediction_of(c), why) for c in new.values()])
        for prepared in prepare([*new.values()], self.bench, self.plan.deadline):
            self.group.enter(prepared, self.expected)

    def _race(
        self, rivals: Sequence[Candidate], whole: Candidate, stage: Stage, part: float
    ) -> None:
        """Launch rivals beside the candidate that they are compared with, the winner and the
        baseline, until further rounds would say no more, or a part of the time is used up.
        """
        usual = self.plan.measuring.rounds
        entered = [c for c in rivals if c.identity in self.group.prepared]
        together = [whole, self._winner, self._baseline]
        always = self._different(together)
        running = [i for i in self._different([*together, *entered]) if i not in always]
        words = "leave one out" if stage == "first" else "leave several out"
        for number in range(most_rounds(usual)):
            running = [i for i in running if not self.group.bad(i)]
            if number >= usual:
                running = [i for i in running if self._open(i, whole)]
            if not running or self._late(part):
                break
            close = f"at most {most_rounds(usual)}, close ones only"
            text = f"{words}, round {number + 1} of {usual if number < usual else close}"
            self._round([*always, *running], stage, text)
        for identity in (*always, *(candidate.identity for candidate in entered)):
            self.group.settle(identity)

    def _round(self, identities: Sequence[str], stage: Stage, words: str) -> None:
        show = shown(self.bench.progress, words, 0, len(identities))
        self.group.round(identities, stage, show)

    def _open(self, identity: str, whole: Candidate) -> bool:
        """Whether more rounds may tell a candidate and that which it is compared with apart."""
        comparison = self._contest(self.group.prepared[identity].candidate, whole)
        return not settled(comparison, most_rounds(self.plan.measuring.rounds))

    def _late(self, part: float) -> bool:
        """Whether a part of the time is used up, where it is limited."""
        span = self.plan.deadline - self._began
        late = span < math.inf and time.monotonic() - self._began >= part * span
        if late:
            self._cut = "the time is used up"
        return late

    # --- what is known --------------------------------------------------------------------

    @property
    def _winner(self) -> Candidate:
        return self._candidate(frozenset(self.differences))

    @property
    def _baseline(self) -> Candidate:
        return self._candidate(frozenset())

    def _candidate(self, kept: Kept) -> Candidate:
        candidate = self.make(kept)
        assert candidate is not None, "only legal candidates are kept"
        return candidate

    def _as_run(self, candidate: Candidate) -> str:
        """What stands for the program that a candidate is."""
        prepared = self.group.prepared.get(candidate.identity)
        return (prepared and prepared.executes) or candidate.identity

    def _same(self, candidate: Candidate, other: Candidate) -> bool:
        return self._as_run(candidate) == self._as_run(other)

    def _different(self, candidates: Sequence[Candidate]) -> list[str]:
        """The identities of candidates, of those that are the same program the first."""
        first: dict[str, str] = {}
        for candidate in candidates:
            first.setdefault(self._as_run(candidate), candidate.identity)
        return list(first.values())

    def _contest(
        self, candidate: Candidate, other: Candidate, *, final: bool = False, share: float = SHARE
    ) -> Contest | None:
        """The time of a candidate over that of another, in the final rounds alone if wanted; None
        without common rounds, or where both are the same program.
        """
        if self._same(candidate, other):
            return None
        level = self.group.levels()
        first, second = (self._times(c, final=final) for c in (candidate, other))
        return contest(first, second, level.noise, level.pollution, share)

    def _times(self, candidate: Candidate, *, final: bool) -> Mapping[Hashable, LaunchTime]:
        """The times by round of all candidates that are the same program as this one."""
        alike = [
            prepared.candidate.identity
            for prepared in self.group.prepared.values()
            if self._same(prepared.candidate, candidate)
        ]
        times = {n: t for identity in alike for n, t in self.group.times(identity).items()}
        return {n: t for n, t in times.items() if n in self._final_rounds} if final else times

    def result(self) -> Reduction:
        """What is known so far."""
        reduced, final = self._candidate(self._kept), bool(self._final_rounds)
        again = {a.difference: a for tried in self._passes[1:] for a in self._ablations(tried)}
        return Reduction(
            winner=self._winner,
            baseline=self._baseline,
            reduced=reduced,
            ablations=self._ablations(self._passes[0]) if self._passes else (),
            kept=tuple(name for name in self.differences if name in self._kept),
            later=tuple(again.values()),
            reduced_cost=self._contest(reduced, self._winner, final=final),
            winner_speed=self._contest(self._baseline, self._winner, final=final),
            reduced_speed=self._contest(self._baseline, reduced, final=final),
            final=final,
            noise=self.group.levels().noise,
            cut=self._cut,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pass:
    """The candidate that differences were left out of, and the candidates without each."""

    kept: Kept
    without: Mapping[str, Candidate | None]
