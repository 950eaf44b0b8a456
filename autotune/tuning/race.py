"""Comparing candidates with the fastest so far, with as many launches as a decision needs.

A candidate that is clearly slower is dropped early. One that cannot be distinguished from the
fastest is launched again, up to a limit, if that may distinguish it. The fastest takes part in
every round, so that the drift of the machine can be seen. It is replaced by one that is clearly
faster, not by one that may only have been lucky: what is compared with lucky ones in turn seems to
become faster and faster.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autotune.domain.results import Stage
from autotune.statistics.drift import Contest, DriftFreeTimes, contest
from autotune.tuning.events import Verdict
from autotune.tuning.rounds import TAIL, MeasuredGroup, Shown

_FURTHER = 10
"""A close candidate gets twice the usual rounds, but at most so many more."""
_TOLD_APART = 0.01
"""Two times that are known to differ by less than this need no more rounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceStanding:
    """The state of a candidate in a race after a round."""

    identity: str
    verdict: Verdict
    contest: Contest | None
    seconds: float | None
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """A race: its candidates, and the limits of its rounds."""

    group: MeasuredGroup
    stage: Stage
    rival: str | None
    """The fastest so far; None: the entrants are the first."""
    kept: frozenset[str]
    """Never dropped, but not launched more often than usual either."""
    deadline: float
    show: Callable[[int, int], Shown]
    """Progress of a round, by its number and how many are launched in it."""
    tell: Callable[[RaceStanding], None]
    """Told how each entrant stands when that changes."""

    @property
    def usual(self) -> int:
        """The number of rounds of a candidate that is neither dropped nor close to the fastest."""
        return self.group.plan.measuring.rounds

    @property
    def most(self) -> int:
        """The number of rounds of a candidate that is close to the fastest."""
        return most_rounds(self.usual)

    def run(self, entrants: Sequence[str]) -> str | None:
        """Launch the candidates until each is decided, or the deadline has passed.

        Returns the fastest, with which the next ones are to be compared; None: there is none.

        The journal receives the outcome of each decided candidate. A resumed study continues with
        the others.
        """
        group = self.group
        started = {i: group.launches.get(i, 0) for i in entrants}
        running = []
        for identity in entrants:
            if identity in group.failed:
                self._settle(identity, "failed", None)
            else:
                running.append(identity)
        number, rival = 0, self.rival
        while running and time.monotonic() < self.deadline:
            rival = self._rival(rival, entrants, group.levels())
            together = [*running] if rival in (None, *running) else [str(rival), *running]
            group.round(together, self.stage, self.show(number, len(together)), self.deadline)
            number += 1
            times = group.levels()
            rival = self._rival(rival, entrants, times)
            for identity in list(running):
                spent = group.launches.get(identity, 0) - started[identity]
                if self._judge(identity, rival, times, spent):
                    running.remove(identity)
        group.recount()
        return rival

    def _rival(
        self, rival: str | None, entrants: Sequence[str], times: DriftFreeTimes
    ) -> str | None:
        """The rival so far, or the fastest of those with at least two rounds that are clearly
        faster; without a rival, the fastest with so many.
        """
        able = [i for i in entrants if len(self.group.times(i)) > 1 and i in times.times]
        if rival is not None and rival in times.times:
            able = [i for i in able if i != rival and self._beats(i, rival, times)]
        return min(able, key=lambda i: (times.times[i], i)) if able else rival

    def _beats(self, identity: str, rival: str, times: DriftFreeTimes) -> bool:
        first, second = self.group.times(identity), self.group.times(rival)
        comparison = contest(first, second, times.noise, times.pollution)
        return comparison is not None and comparison.faster

    def _judge(
        self, identity: str, rival: str | None, times: DriftFreeTimes, launches: int
    ) -> bool:
        """Whether a candidate needs no more launches; if so, the journal receives its outcome."""
        group = self.group
        rounds = group.times(identity)
        if group.bad(identity):
            return self._settle(identity, "failed", None)
        comparison = None
        if rival is not None and rival != identity:
            comparison = contest(rounds, group.times(rival), times.noise, times.pollution)
        if comparison and comparison.slower and identity not in self.kept:
            return self._settle(identity, "slower", comparison)
        leads = identity == rival
        over = len(rounds) >= self.most or settled(comparison, self.most)
        if len(rounds) >= self.usual and (leads or identity in self.kept or over):
            slower = bool(comparison and comparison.slower)
            verdict: Verdict = "best" if leads else "slower" if slower else "close"
            return self._settle(identity, verdict, comparison)
        limit = self.usual if leads or identity in self.kept else self.most
        if launches >= limit + TAIL:
            return self._settle(identity, "close" if rounds else "failed", comparison)
        self.tell(self._standing(identity, "open", comparison))
        return False

    def _settle(self, identity: str, verdict: Verdict, comparison: Contest | None) -> bool:
        self.group.settle(identity)
        self.tell(self._standing(identity, verdict, comparison))
        return True

    def _standing(
        self, identity: str, verdict: Verdict, comparison: Contest | None
    ) -> RaceStanding:
        return RaceStanding(
            identity=identity,
            verdict=verdict,
            contest=comparison,
            seconds=self.group.shown(identity),
            rounds=len(self.group.times(identity)),
        )


def most_rounds(usual: int) -> int:
    """The number of rounds of a candidate that is close to the fastest, by the usual number."""
    return usual + min(usual, _FURTHER)


def settled(comparison: Contest | None, rounds: float) -> bool:
    """Whether further rounds, so many in all, would not change the comparison of a candidate with
    the fastest, or not decide it; infinitely many decide everything.
    """
    return comparison is not None and (
        comparison.faster
        or comparison.slower
        or comparison.width < _TOLD_APART
        or comparison.futile(rounds)
    )
