"""A race among variants of a function, run on calls that are made anyway, at a bounded loss.

Variants that are slower drop out (Maron and Moore 1994), in rounds with visits of 1, 2, 4 and 8
compared calls; the first call of a visit is not compared, because caches and compilers are cold.
The rules are those of the choice on line in exported libraries (``results/export/library/text``).

The loss of a race is what its calls took beyond as many calls of the best variant tried so far. It
is kept within a bound in calls of that variant, which all races of a function share. How long the
first call of a variant takes cannot be known before. So compared with the variant that would run
without the race, the loss is at most the bound and what one such first call takes beyond; compared
with the best of all variants as well, unless that is more than twice as fast, or the system
disturbs one of its first calls: the race may then end without it.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

ROUNDS = 4
"""Visits of a variant at most."""
FIRST_VISITS = 0.6
"""Share of the bound that the first visits of variants may use up."""
_BETTER = 0.5
"""Times the best: what a variant may take that was not tried yet."""
_CLEARLY = 1.25
"""Times the best: slower by a single call."""
_NEAR = 0.99
"""Times the variant that ran before: worth a change."""
_KEPT = 32
"""Times of a variant that are kept, the first ones."""


@dataclass(slots=True)
class LossAccount:
    """What all races of a function have lost, in calls of the best variant, and the bound."""

    bound: float
    races: list["OnlineRace"] = field(default_factory=list)

    def others(self, race: "OnlineRace") -> float:
        """What the other races lost, in calls of their best variants."""
        return sum(other.lost_calls for other in self.races if other is not race)


@dataclass(slots=True)
class _CallTimes:
    """The times of one variant in a race."""

    count: int = 0
    """Calls that are compared."""
    seconds: list[float] = field(default_factory=list)
    """The first of these."""
    typical: float = math.nan
    """The lower median: a call during which the system did something else does not count."""
    dropped: bool = False

    def record(self, seconds: float) -> None:
        if len(self.seconds) < _KEPT:
            self.seconds.append(seconds)
            self.typical = statistics.median_low(self.seconds)
        self.count += 1


class OnlineRace:
    """The race at one size and number of threads; variant 0 is the one that would run without it.

    Not safe for several threads at once: whoever makes the calls takes care of that.
    """

    def __init__(self, variants: int, account: LossAccount) -> None:
        self.running = 0
        """The number of the variant that takes the next call."""
        self.calls = 0
        """Calls that were timed."""
        self._account = account
        self._times = [_CallTimes() for _ in range(variants)]
        self._round = self._visit = 0
        self._left = 2
        """Calls of this visit that remain, the first of which is not compared."""
        self._cold: list[float] = []
        """Seconds of calls that are not compared, beside the first of all."""
        self.racing = variants > 1
        """Whether the choice is still open."""
        account.races.append(self)

    @property
    def lost_calls(self) -> float:
        """What the race has lost, in calls of the best variant tried so far."""
        best = self._times[self.best]
        return self._lost(best.typical) / best.typical if best.count else 0.0

    @property
    def seconds(self) -> Sequence[float | None]:
        """The typical seconds of a call of each variant; None where none was compared."""
        return [times.typical if times.count else None for times in self._times]

    @property
    def best(self) -> int:
        """The number of the variant whose typical call is shortest; 0 before any was compared."""
        able = [i for i, times in enumerate(self._times) if times.count and not times.dropped]
        return min(able, key=lambda i: self._times[i].typical, default=0)

    def ended(self, seconds: float) -> None:
        """The call of variant ``running`` took so long: decide who takes the next."""
        times = self._times[self.running]
        cold = self._left == 1 + 2**self._round
        self._left -= 1
        self.calls += 1
        if not cold:
            times.record(seconds)
        elif self.calls > 1:  # the very first call would have been made anyway
            self._cold.append(seconds)
        compared = any(other.count for other in self._times)
        if compared and cold and self._round == 0:
            excess = seconds - self._reference()
            if not self._borne(excess, FIRST_VISITS):  # one more call like it is too much
                times.dropped = True
                self._left = 0
        if compared and not self._borne(0.0, 1.0):
            self._decide()
        elif self._left == 0:
            self._next_visit()

    def starting(self) -> None:
        """Variant ``running`` is about to be called: go on with another one where other races have
        used up meanwhile what the call was to be paid from.
        """
        number, times = self.running, self._times[self.running]
        if number == self.best:
            return
        if times.count:
            slower = times.typical - self._times[self.best].typical
            paid = self._borne(self._left * slower, 1.0)
        else:
            tried = self._left == 1  # the next call may take as long as the first one did
            paid = self._borne(self._cold[-1] - self._reference() if tried else 0.0, FIRST_VISITS)
        if not paid:
            times.dropped = True
            self._next_visit()

    def failed(self, seconds: float) -> None:
        """The call of variant ``running`` raised an exception after so long: it takes no further
        part, and the time is lost.
        """
        if self.running != 0:
            self._cold.append(seconds)
        self._times[self.running].dropped = self.running != 0
        self._left = 1 + 2**self._round
        if self.running != 0:
            self._next_visit()

    def _reference(self) -> float:
        """What calls are compared with: one of the best, or of a variant that may be better yet."""
        if not any(times.count for times in self._times):
            return 0.0
        untried = any(not times.dropped and not times.count for times in self._times)
        return self._times[self.best].typical * (_BETTER if untried else 1.0)

    def _lost(self, reference: float) -> float:
        """Seconds that the race took beyond as many calls of the reference."""
        compared = sum(t.count * (t.typical - reference) for t in self._times if t.count)
        return compared + sum(seconds - reference for seconds in self._cold)

    def _borne(self, more: float, share: float) -> bool:
        """Whether so many seconds more stay within a share of what is left of the bound."""
        reference = self._reference()
        left = self._account.bound - self._account.others(self)
        return self._lost(reference) + more <= share * left * reference

    def _next_visit(self) -> None:
        """Go on with the next variant that can be afforded, or end the race."""
        while True:
            self._visit += 1
            if self._visit == len(self._times):
                self._drop_slower()
                self._visit, self._round = 0, self._round + 1
            if sum(not times.dropped for times in self._times) < 2 or self._round == ROUNDS:
                break
            if self._times[self._visit].dropped:
                continue
            if self._affordable(self._visit):
                self.running, self._left = self._visit, 1 + 2**self._round
                return
            if self._visit == self.best:
                break
            self._times[self._visit].dropped = True
        self._decide()

    def _drop_slower(self) -> None:
        """Drop variants that are slower than the best: by far, or each of whose calls is."""
        best = self.best
        typical = self._times[best].typical if self._times[best].count else 0.0
        for number, times in enumerate(self._times):
            slower = not times.count or (
                times.typical > _CLEARLY * typical
                if self._round == 0
                else min(times.seconds) > typical
            )
            times.dropped |= number != best and slower

    def _affordable(self, number: int) -> bool:
        """Whether a visit can be paid; of a variant that was not tried nothing is known."""
        times = self._times[number]
        if not times.count:
            return self._borne(0.0, FIRST_VISITS)
        slower = times.typical - self._times[self.best].typical
        return self._borne((1 + 2**self._round) * slower, 1.0)

    def _decide(self) -> None:
        """End the race with the best variant; variant 0 stays where the gain is too small."""
        first, best = self._times[0], self.best
        stays = (
            first.count and not first.dropped and self._times[best].typical > _NEAR * first.typical
        )
        self.running = 0 if stays else best
        self.racing = False
