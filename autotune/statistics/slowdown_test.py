"""A sequential test of whether one program is slower than another by more than a limit.

Both are launched in the same rounds. After some rounds the ratio of their times is looked at with
an interval, and rounds go on until it lies on one side of the limit. Looking several times would
raise the probability of a false alarm, so that every look gets a part of it (Bonferroni): half
belongs to the last look, the earlier ones share the other half. What they did not use, because the
rounds ended early, belongs to the last look as well.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from autotune.statistics.distributions import student
from autotune.statistics.drift import MARGIN, Contest, contest, levels
from autotune.statistics.launch_times import LaunchTime

Round = TypeVar("Round", bound=Hashable)
Outcome = Literal["slower", "within", "open"]
"""Slower by more than the limit; slower by no more than that, or faster; not told apart."""
_LEAST = 5
"""Rounds before the first look."""
_PROVING = 3
"""Rounds below which nothing is proven: a launch may be slow for a reason of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowdownReading:
    """What the rounds so far say of the time of a program over that of another one."""

    slowdown: Contest
    """The ratio with the interval from which the outcome is read: each end is passed with the
    probability of a false alarm of this look."""
    outcome: Outcome
    resolution: float
    """The least slowdown that as many rounds with as much noise prove in 80 % of the cases."""

    @property
    def ratio(self) -> float:
        """Cost of the first program over that of the second."""
        return self.slowdown.ratio

    @property
    def low(self) -> float:
        """The lower end of the interval of the ratio."""
        return self.slowdown.low

    @property
    def high(self) -> float:
        """The upper end of the interval of the ratio."""
        return self.slowdown.high

    @property
    def rounds(self) -> int:
        """How many rounds the ratio is of; 1 where one side is of another run."""
        return self.slowdown.rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowdownTest:
    """The limit of the slowdown, the probability of a false alarm, and when samples are looked at.

    >>> SlowdownTest(limit=0.03, most=30).looks
    (5, 10, 20, 30)
    """

    limit: float
    """Largest slowdown that is no regression: 0.03."""
    most: int
    """Rounds, at most."""
    error: float = 0.05
    """Probability of calling a program slower whose slowdown is the limit."""

    def __post_init__(self) -> None:
        if not 0 <= self.limit < math.inf:
            raise ValueError(f"a largest slowdown is 0 or more, not {self.limit}")
        if not 0 < self.error < 1:
            raise ValueError(f"a probability of false alarms lies between 0 and 1: {self.error}")
        if self.most < 1:
            raise ValueError(f"a test needs at least one round, not {self.most}")

    @property
    def looks(self) -> tuple[int, ...]:
        """The numbers of rounds after which the ratio is looked at; the last is ``most``."""
        numbers, number = [], _LEAST
        while number < self.most:
            numbers.append(number)
            number *= 2
        return (*numbers, self.most)

    def due(self, rounds: int) -> bool:
        """Whether the ratio is looked at after so many rounds."""
        return rounds in self.looks

    def share(self, rounds: int, *, last: bool) -> float:
        """The probability of the interval of a look, of both its sides.

        ``last``: no further rounds come, whatever the interval says.

        >>> test = SlowdownTest(limit=0.03, most=10)
        >>> test.share(5, last=False), round(test.share(10, last=True), 3)
        (0.95, 0.95)
        """
        earlier = sum(look <= rounds for look in self.looks[:-1])
        early = self.error / 2 / max(1, len(self.looks) - 1)
        spent = self.error - earlier * early if last else early
        return 1 - 2 * spent

    def read(
        self,
        first: Mapping[Round, LaunchTime],
        second: Mapping[Round, LaunchTime],
        *,
        last: bool,
    ) -> SlowdownReading | None:
        """What the rounds that both share say of the time of the first over that of the second;
        None without such a round.
        """
        level = levels({"first": first, "second": second})
        rounds = len(first.keys() & second.keys())
        share = self.share(rounds, last=last)
        comparison = contest(first, second, level.noise, level.pollution, share)
        if comparison is None:
            return None
        half = math.log(comparison.high / comparison.low) / 2
        error = half / student(rounds + 2, share)
        reading = self.judge(comparison.ratio, half, error, rounds)
        return replace(reading, outcome="open") if rounds < _PROVING else reading

    def decide(
        self, first: Mapping[int, LaunchTime], second: Mapping[int, LaunchTime]
    ) -> SlowdownReading | None:
        """What the test says of rounds that were all taken before, look by look, as if they came
        one after the other; None without a common round.
        """
        rounds = sorted(first.keys() & second.keys())[: self.most]
        for look in (*(n for n in self.looks if n < len(rounds)), len(rounds)):
            parts = ({n: side[n] for n in rounds[:look]} for side in (first, second))
            reading = self.read(*parts, last=look == len(rounds))
            if reading is None or reading.outcome != "open":
                return reading
        return reading

    def between_runs(self, ratio: float, error: float, freedom: float) -> SlowdownReading:
        """What times of two runs say, of which one is over and done.

        ``error``: standard deviation of the logarithm of the ratio, with what a host differs from
        run to run; ``freedom``: its degrees of freedom.
        """
        half = student(freedom, 1 - 2 * self.error) * error
        return self.judge(ratio, half, error, 1)

    def judge(self, ratio: float, half: float, error: float, rounds: int) -> SlowdownReading:
        """The outcome of a ratio; ``half``: half the interval of its logarithm, ``error``: the
        standard error of that logarithm.
        """
        most = 1 + self.limit
        low, high = ratio * math.exp(-half), ratio * math.exp(half)
        return SlowdownReading(
            slowdown=Contest(ratio, low, high, rounds),
            outcome="slower" if low > most else "within" if high < most else "open",
            resolution=most * math.exp(half + MARGIN * error) - 1,
        )
