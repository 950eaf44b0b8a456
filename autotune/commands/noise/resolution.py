"""What an A/A run says: its spread, its ratio, and what can be told apart in how many rounds."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.metric import TIME, Metric
from autotune.domain.results import Sample
from autotune.statistics import launch_times
from autotune.statistics.drift import (
    MARGIN,
    Contest,
    DriftFreeTimes,
    contest,
    half_width,
    levels,
    ratio_error,
)
from autotune.statistics.launch_times import LaunchTime
from autotune.statistics.waiting import holds_waiting
from autotune.tuning.race import most_rounds

NAMES = ("A", "B")
DIFFERENCES = (0.005, 0.01, 0.02, 0.05, 0.1)
"""Relative differences whose rounds are given."""
_MOST = 1 << 17
"""Rounds; what needs more is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedDifference:
    """A relative difference of two candidates, and what it takes to tell them apart."""

    difference: float
    rounds: int | None
    """Each launches both once. None: more than a hundred thousand."""
    seconds: float | None
    """Wall time of these rounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinFigures:
    """What the launches of twins say of measuring on this host now."""

    rounds: int
    objective: Metric
    value: float
    """Of the objective, in its unit: a time is that of a time step, of a program that of a run."""
    interval: tuple[float, float] | None
    """90 %; None for fewer than three launches."""
    samples: int
    disturbed: int
    """How many of the samples other processes disturbed."""
    within: float | None
    """Relative standard deviation of the samples of one launch; None where launches have one."""
    between: float
    """Relative standard deviation of launches, the drift from round to round included."""
    noise: float
    """The same within a round, without drift."""
    twins: Contest
    """Value of A over value of B, with its 99 % interval."""
    round_s: float
    """Mean wall time of a round, which launches both."""
    run_s: float | None
    """Median wall time of a run of a program from its start to its end; None for generated code."""
    differences: tuple[ResolvedDifference, ...]
    """What it takes to tell differences apart, smallest first."""
    usual: ResolvedDifference
    """What the rounds of the config tell apart."""
    close: ResolvedDifference
    """What is told apart in the rounds that close candidates get at most."""

    @property
    def holds(self) -> bool:
        """Whether the interval of A over B holds 1, as it should."""
        return self.twins.low <= 1 <= self.twins.high


def noise_figures(
    samples: Mapping[str, Sequence[Sample]],
    round_seconds: Sequence[float],
    usual: int,
    objective: Metric = TIME,
) -> TwinFigures:
    """The figures of an A/A run of one finished round or more.

    ``samples``: of ``A`` and ``B``, of all rounds; ``round_seconds``: wall time of each round;
    ``usual``: rounds of the config; ``objective``: what the samples are costs of.
    """
    holds = holds_waiting([samples[name] for name in NAMES])
    times = {name: launch_times.by_round(samples[name], holds) for name in NAMES}
    fit = levels(times)
    twins = contest(times["A"], times["B"], fit.noise, fit.pollution)
    if twins is None:
        raise ValueError("A and B share no round")
    launches = [launch for rounds in times.values() for launch in rounds.values()]
    error = math.sqrt(float(np.mean([x.error**2 for x in launches])))
    bias = float(np.mean([x.bias for x in launches]))
    resolution = RoundsOfRatio(fit, error, bias)
    round_s = float(np.mean(round_seconds))

    def of_rounds(rounds: int) -> ResolvedDifference:
        difference = resolution.difference(rounds)
        return ResolvedDifference(difference=difference, rounds=rounds, seconds=rounds * round_s)

    def of_difference(difference: float) -> ResolvedDifference:
        rounds = resolution.rounds(difference)
        seconds = None if rounds is None else rounds * round_s
        return ResolvedDifference(difference=difference, rounds=rounds, seconds=seconds)

    costs = launch_times.interval(launches)
    timed = [sample for name in NAMES for sample in samples[name] if not sample.warm_up]
    walls = [float(x.conditions["wall_s"]) for x in timed if "wall_s" in x.conditions]
    return TwinFigures(
        rounds=len(round_seconds),
        objective=objective,
        value=objective.value(launch_times.candidate_time(launches)),
        interval=costs and objective.interval(costs),
        samples=len(timed),
        disturbed=sum(not sample.undisturbed for sample in timed),
        within=_within(*(samples[name] for name in NAMES)),
        between=_between(launches),
        noise=fit.noise_of(_MOST),
        twins=twins if objective.better == "less" else _inverted(twins),
        round_s=round_s,
        run_s=float(np.median(walls)) if walls else None,
        differences=tuple(map(of_difference, DIFFERENCES)),
        usual=of_rounds(usual),
        close=of_rounds(most_rounds(usual)),
    )


@dataclass(frozen=True, slots=True)
class RoundsOfRatio:
    """How far apart two candidates must be to be told apart, by the rounds that they get."""

    fit: DriftFreeTimes
    """Of the A/A run."""
    error: float
    """Standard deviation of the logarithm of a launch's time because of unknown losses."""
    bias: float = 0.0
    """What all launches of a candidate may be off alike; see ``LaunchTime``."""

    def difference(self, rounds: int) -> float:
        """The relative difference that is told apart in a share ``POWER`` of contests."""
        noise = math.hypot(self.fit.noise_of(rounds - 1), self.error)
        error = ratio_error(rounds, noise)
        return math.expm1(half_width(rounds, noise) + 2 * self.bias + MARGIN * error)

    def rounds(self, difference: float) -> int | None:
        """The fewest rounds that tell a relative difference apart; None if there are too many."""
        enough = 1
        while self.difference(enough) > difference:
            enough *= 2
            if enough > _MOST:
                return None
        too_few = enough // 2
        while enough - too_few > 1:
            middle = (enough + too_few) // 2
            if self.difference(middle) > difference:
                too_few = middle
            else:
                enough = middle
        return enough


def _inverted(costs: Contest) -> Contest:
    """The ratio of two values of which more is better, from the ratio of their costs."""
    return Contest(
        ratio=1 / costs.ratio, low=1 / costs.high, high=1 / costs.low, rounds=costs.rounds
    )


def _within(*twins: Sequence[Sample]) -> float | None:
    """Pooled standard deviation of the logarithms of samples within their launches."""
    squares, freedom = 0.0, 0
    for samples in twins:
        timed = sorted((s for s in samples if not s.warm_up), key=lambda s: s.launch)
        for _, launch in itertools.groupby(timed, key=lambda s: s.launch):
            logs = np.log([sample.seconds for sample in launch])
            squares += float(((logs - logs.mean()) ** 2).sum())
            freedom += len(logs) - 1
    return math.sqrt(squares / freedom) if freedom else None


def _between(launches: Sequence[LaunchTime]) -> float:
    return float(np.std(np.log([launch.seconds for launch in launches]), ddof=1))
