"""Some candidates against the fastest so far: as many launches of each as it takes to tell.

A candidate that is clearly slower is dropped early, one that is not told apart from the fastest is
launched again, up to a limit. The fastest takes part in every round, so that the drift of the
machine shows.
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
    """How a candidate stands after a round."""

    identity: str
    verdict: Verdict
    contest: Contest | None
    seconds: float | None
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Who takes part, and how long."""

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
        """Rounds of a candidate that is neither dropped nor close."""
        return self.group.plan.measuring.rounds

    @property
    def most(self) -> int:
        """Rounds of a candidate that is close."""
        return self.usual + min(self.usual, _FURTHER)

    def run(self, entrants: Sequence[str]) -> None:
        """Launch the entrants until each is settled; past the deadline the rest is left as it is.

        Settled means: the journal is told. What is left is taken up by a resumed study.
        """
        group = self.group
        started = {i: group.launches.get(i, 0) for i in entrants}
        running = []
        for identity in entrants:
            if identity in group.failed:
                self._settle(identity, "failed", None, group.levels())
            else:
                running.append(identity)
        number = 0
        while running and time.monotonic() < self.deadline:
            rival = self._rival(entrants, group.levels())
            together = [*running] if rival in (None, *running) else [str(rival), *running]
            group.round(together, self.stage, self.show(number, len(together)), self.deadline)
            number += 1
            known = group.levels()
            rival = self._rival(entrants, known)
            for identity in list(running):
                spent = group.launches.get(identity, 0) - started[identity]
                if self._judge(identity, rival, known, spent):
                    running.remove(identity)
        group.recount()

    def _rival(self, entrants: Sequence[str], known: DriftFreeTimes) -> str | None:
        """The fastest of those launched in two rounds or more; before, the rival of the start."""
        able = [i for i in entrants if len(self.group.times(i)) > 1 and i in known.times]
        if self.rival is not None and self.rival in known.times:
            able.append(self.rival)
        return min(able, key=lambda i: (known.times[i], i)) if able else self.rival

    def _judge(
        self, identity: str, rival: str | None, known: DriftFreeTimes, launches: int
    ) -> bool:
        """Whether a candidate needs no more launches; the journal is told then."""
        group = self.group
        rounds = group.times(identity)
        if group.bad(identity):
            return self._settle(identity, "failed", None, known)
        found = None
        if rival is not None and rival != identity:
            found = contest(rounds, group.times(rival), known.noise)
        if found and found.slower and identity not in self.kept:
            return self._settle(identity, "slower", found, known)
        leads = identity == rival
        if len(rounds) >= self.usual and (
            leads or identity in self.kept or _settled(found) or len(rounds) >= self.most
        ):
            return self._settle(identity, "best" if leads else "close", found, known)
        limit = self.usual if leads or identity in self.kept else self.most
        if launches >= limit + TAIL:
            return self._settle(identity, "close" if rounds else "failed", found, known)
        self.tell(self._lap(identity, "open", found, known))
        return False

    def _settle(
        self, identity: str, verdict: Verdict, found: Contest | None, known: DriftFreeTimes
    ) -> bool:
        self.group.settle(identity)
        self.tell(self._lap(identity, verdict, found, known))
        return True

    def _lap(
        self, identity: str, verdict: Verdict, found: Contest | None, known: DriftFreeTimes
    ) -> RaceStanding:
        return RaceStanding(
            identity=identity,
            verdict=verdict,
            contest=found,
            seconds=known.times.get(identity),
            rounds=len(self.group.times(identity)),
        )


def _settled(found: Contest | None) -> bool:
    """Nothing would be learned from more rounds."""
    return found is not None and (found.faster or found.slower or found.width < _TOLD_APART)
