"""The candidates of one problem that can be compared within one run, from rounds they share.

If all candidates were measured in the same rounds, all rounds count. A search measures some
candidates more often than others. Then the finalists, which are measured again together, are
compared by those final rounds only, unless the finals were cut short, because these rounds had no
influence on which candidates became finalists. The other candidates are compared by their level
(``statistics.drift.levels``), which is as reliable as the rounds that they share with the rest.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from autotune.domain.results import Measurement
from autotune.files.store.records import RunRecord
from autotune.statistics.distributions import student
from autotune.statistics.drift import (
    MEDIAN,
    Contest,
    DriftFreeTimes,
    contest,
    levels,
    share_of_each,
    time_error,
)
from autotune.statistics.expected_regret import expected_regrets
from autotune.statistics.launch_times import LaunchTime, by_round, candidate_time
from autotune.statistics.quantiles import MAD_TO_DEVIATION
from autotune.statistics.waiting import Holds, holds_waiting

Interval = tuple[float, float]
Rounds = Mapping[int, LaunchTime]
Table = Mapping[str, Rounds]

_SHOWN = 0.9
"""Probability of the intervals."""
_LEAST_ROUNDS = 3
"""Fewer rounds say nothing about a ratio."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparableRun:
    """The candidates of one problem whose times can be compared within one run."""

    run: str
    rounds: Table
    """Those that may be chosen: round to the time of the launch, drift taken out."""
    level: DriftFreeTimes
    """Of the rounds that the choice is made from."""
    times: Mapping[str, float]
    """All that compare: seconds of a time step."""
    intervals: Mapping[str, Interval]
    """90 % intervals of the times."""
    finals: bool = False
    """Those that may be chosen were measured again after they were chosen to be."""
    by_all_rounds: "ComparableRun | None" = None
    """All that compare, as rivals by all rounds that they have."""

    def among(self, names: Collection[str]) -> "ComparableRun | None":
        """Some of the candidates as rivals, with the times that they have beside all of them; None
        where none of them compares.

        Where none of them may be chosen among all, those may that have half of the most rounds.
        """
        made, rounds = self, _named(self.rounds, names)
        if not rounds and self.by_all_rounds is not None:
            made, rounds = self.by_all_rounds, _enough(_named(self.by_all_rounds.rounds, names))
        if not rounds:
            return None
        return replace(
            made,
            rounds=rounds,
            times={name: time for name, time in self.times.items() if name in names},
            intervals={name: ends for name, ends in self.intervals.items() if name in names},
        )

    @property
    def fastest(self) -> str:
        """The fastest of the candidates that may become the winner."""
        return min(self.rounds, key=lambda name: (self.times[name], name))

    @property
    def contenders(self) -> tuple[str, ...]:
        """The fastest, and those that may be as fast as it or faster, in the order of their times.

        With a probability of 95 % nobody else is the fastest, all that compare considered. Those
        that were not measured again are judged by their times alone.
        """
        fastest = self.fastest
        rivals = [name for name in self.times if name != fastest]
        share = share_of_each(len(rivals))
        close = [name for name in rivals if self._close(name, fastest, share)]
        return (fastest, *sorted(close, key=lambda name: (self.times[name], name)))

    @property
    def regrets(self) -> dict[str, float]:
        """The expected regret of each of the contenders that may be chosen, the fastest first.

        That is the time that a choice is expected to take over that of the one that is the fastest
        of all, less 1.
        """
        names = [name for name in self.contenders if name in self.rounds]
        times = {name: self.times[name] for name in names}
        errors = {name: time_error(self.level, name, self.rounds[name]) for name in names}
        return expected_regrets(times, errors)

    @property
    def least_regret(self) -> str:
        """The candidate to choose where only times count."""
        regrets = self.regrets
        return min(regrets, key=lambda name: regrets[name])

    def _close(self, name: str, fastest: str, share: float) -> bool:
        if name in self.rounds:
            comparison = self._contest(name, fastest, share)
            if comparison is not None:
                return not comparison.slower
        # both ends of two intervals of this probability: they do not overlap
        return self.intervals[name][0] <= self.intervals[fastest][1]

    def _contest(self, first: str, second: str, share: float) -> Contest | None:
        rounds, level = self.rounds, self.level
        return contest(rounds[first], rounds[second], level.noise, level.pollution, share)

    def ratio(self, first: str, second: str) -> Interval | None:
        """90 % interval of the time of ``first`` over that of ``second``, which may be chosen; that
        of the intervals of both where ``first`` may not, for it has few rounds.
        """
        if first not in self.rounds:
            (low, high), (least, most) = self.intervals[first], self.intervals[second]
            return low / most, high / least
        comparison = self._contest(first, second, _SHOWN)
        if comparison is None or comparison.rounds < _LEAST_ROUNDS:
            return None
        at = self.times[first] / self.times[second]
        return min(comparison.low, at), max(comparison.high, at)


def comparable_run(run: RunRecord, members: Collection[str]) -> ComparableRun | None:
    """The comparable times of candidates in a run; None if the run measured none of them.

    A candidate with less than half of the usual number of rounds cannot become the winner.
    """
    return comparable_measurements(run.id, [m for m in run.measurements if m.candidate in members])


def run_holds(run: RunRecord, members: Collection[str]) -> Holds:
    """Whether the times of candidates of one problem in a run hold what their programs waited: one
    candidate alone says little of that.
    """
    return _holds([m for m in run.measurements if m.candidate in members])


def _holds(measurements: Sequence[Measurement]) -> Holds:
    return holds_waiting([m.timed for m in measurements if m.status == "ok"])


def comparable_measurements(run: str, measurements: Sequence[Measurement]) -> ComparableRun | None:
    """The comparable times of the candidates of one problem, from what a run measured of them;
    None if it measured none.
    """
    ended_well = [m for m in measurements if m.status == "ok"]
    holds = _holds(measurements)
    measured = {
        m.candidate: timed_rounds for m in ended_well if (timed_rounds := _rounds(m, holds))
    }
    if not measured:
        return None
    stages = _stages(measurements, measured.keys())
    finals = {r for r, stage in stages.items() if stage == "final"}
    final = _finalists(_only(measured, finals))
    if len(final) > 1 and len(finals) >= _LEAST_ROUNDS:  # finals that were cut short say less
        return _with_finals(run, measured, final)
    compared = measured if stages else _enough(measured)
    level = levels(compared)
    flat = {name: _level(level, rounds) for name, rounds in compared.items()}
    first = _only(flat, _earliest(stages)) if stages else flat
    # a rival takes part in every batch of first candidates, the others in one: the median is usual
    usual = float(np.median([len(rounds) for rounds in first.values()])) if first else 1
    whole = ComparableRun(
        run=run,
        rounds=flat,
        level=level,
        times=level.times,
        intervals=_intervals(level, compared, level.times),
    )
    rounds = {name: rounds for name, rounds in flat.items() if 2 * len(rounds) >= usual}
    return replace(whole, rounds=rounds, by_all_rounds=whole)


def _with_finals(run: str, measured: Table, final: Table) -> ComparableRun:
    """Comparable times of a run with finals.

    Finalists are compared by the final rounds. The others keep their ratio to the finalists from
    the earlier rounds.
    """
    level = levels(measured)
    chosen = replace(levels(final), noise=level.noise, pollution=level.pollution)
    offsets = [math.log(chosen.times[name] / level.times[name]) for name in chosen.times]
    offset = float(np.median(offsets))
    times = {name: time * math.exp(offset) for name, time in level.times.items()}
    whole = ComparableRun(
        run=run,
        rounds={name: _level(level, rounds) for name, rounds in measured.items()},
        level=level,
        times={**times, **chosen.times},
        intervals={
            **_intervals(level, measured, times),
            **_intervals(chosen, final, chosen.times),
        },
    )
    rounds = {name: _level(chosen, rounds) for name, rounds in final.items()}
    return replace(whole, rounds=rounds, level=chosen, finals=True, by_all_rounds=whole)


def _level(drift: DriftFreeTimes, rounds: Rounds) -> Rounds:
    return {
        number: replace(time, seconds=time.seconds * math.exp(-drift.drift[number]))
        for number, time in rounds.items()
    }


def _intervals(
    level: DriftFreeTimes, table: Table, times: Mapping[str, float]
) -> dict[str, Interval]:
    intervals = {}
    for name, rounds in table.items():
        error = max(time_error(level, name, rounds), _own_error(level, name, rounds))
        factor = math.exp(student(len(rounds) + 2, _SHOWN) * error)
        above = float(np.mean([launch.above for launch in rounds.values()]))
        intervals[name] = times[name] / factor, times[name] * factor * math.exp(above)
    return intervals


def _own_error(level: DriftFreeTimes, name: str, rounds: Rounds) -> float:
    """The same by the scatter of its own launches, which may be more than the noise of all; 0
    where there are too few to tell.
    """
    if len(rounds) <= _LEAST_ROUNDS:
        return 0.0
    at = math.log(level.times[name])
    away = [abs(math.log(x.seconds) - at - level.drift[key]) for key, x in rounds.items()]
    return MEDIAN * MAD_TO_DEVIATION * float(np.median(away)) / math.sqrt(len(away))


def _enough(table: Table) -> Table:
    most = max(map(len, table.values()), default=0)
    return {name: rounds for name, rounds in table.items() if 2 * len(rounds) >= most}


def _finalists(table: Table) -> Table:
    """Those with enough final rounds to be chosen.

    A finalist that further rounds could not tell apart leaves the finals: it needs half of the
    rounds up to its last one, not of all.
    """
    order = {number: place for place, number in enumerate(sorted(set().union(*table.values())), 1)}
    return {
        name: rounds
        for name, rounds in table.items()
        if len(rounds) >= _LEAST_ROUNDS and 2 * len(rounds) >= order[max(rounds)]
    }


def _named(table: Table, names: Collection[str]) -> Table:
    """The table reduced to some candidates."""
    return {name: rounds for name, rounds in table.items() if name in names}


def _only(table: Table, numbers: Collection[int]) -> dict[str, dict[int, LaunchTime]]:
    """The table reduced to some rounds, without candidates that took no part in them."""
    cut = {
        name: {number: times for number, times in rounds.items() if number in numbers}
        for name, rounds in table.items()
    }
    return {name: rounds for name, rounds in cut.items() if rounds}


def _stages(measurements: Sequence[Measurement], names: Collection[str]) -> dict[int, str]:
    """The stage of each round; empty if all candidates were measured in the same rounds."""
    return {
        sample.round: sample.stage
        for measurement in measurements
        if measurement.candidate in names
        for sample in measurement.samples
        if sample.stage is not None
    }


def _earliest(stages: Mapping[int, str]) -> set[int]:
    """The rounds of the earliest stage of a run."""
    first = stages[min(stages)]
    return {number for number, stage in stages.items() if stage == first}


def _rounds(measurement: Measurement, holds: Holds) -> Rounds:
    """The times by round; empty if the measuring conditions changed within the samples."""
    try:
        return by_round(measurement.samples, holds)
    except ValueError:
        return {}


def deciding_run(runs: Sequence[ComparableRun]) -> ComparableRun | None:
    """The run that decides the winner.

    A later run replaces an earlier one if it measured the winner so far, or more candidates.
    """
    deciding: ComparableRun | None = None
    for run in runs:
        if (
            deciding is None
            or deciding.fastest in run.times
            or len(run.times) > len(deciding.times)
        ):
            deciding = run
    return deciding


def crossed_ratios(run: ComparableRun, reference: str) -> list[float]:
    """Time of the reference over time of the winner, for each round.

    The winner of a round is the fastest candidate in all the other rounds, so that luck in a round
    does not count.
    """
    ratios = []
    for number in sorted(run.rounds[reference]):
        times = {
            name: candidate_time(others)
            for name, rounds in run.rounds.items()
            if number in rounds and (others := [t for r, t in rounds.items() if r != number])
        }
        if times:
            chosen = min(times, key=lambda name: (times[name], name))
            at = run.rounds[reference][number].seconds
            ratios.append(at / run.rounds[chosen][number].seconds)
    return ratios
