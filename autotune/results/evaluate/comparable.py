"""The candidates of one problem that can be compared within one run, from rounds they share.

If all candidates were measured in the same rounds, all rounds count. A search measures some
candidates more often than others. Then the finalists, which are measured again together, are
compared by those final rounds only, because these rounds had no influence on which candidates
became finalists. The other candidates are compared by their level
(``statistics.drift.levels``), which is as reliable as the rounds that they share with the rest.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from autotune.domain.results import Measurement
from autotune.files.store.records import RunRecord
from autotune.statistics import estimators
from autotune.statistics.drift import DriftFreeTimes, levels

Interval = tuple[float, float]
Rounds = Mapping[int, Sequence[float]]
Table = Mapping[str, Rounds]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparableRun:
    """The candidates of one problem whose times can be compared within one run."""

    run: str
    rounds: Table
    """Those that may be chosen: round to accepted times, drift taken out where rounds differ."""
    times: Mapping[str, float]
    """All that compare: seconds of a time step."""
    intervals: Mapping[str, Interval | None] = field(default_factory=dict)
    """90 %, where times are on a level; elsewhere those of the candidate's own samples."""
    levelled: bool = False
    finals: bool = False
    """Those that may be chosen were measured again after they were chosen to be."""

    @property
    def fastest(self) -> str:
        """The fastest of the candidates that may become the winner."""
        return min(self.rounds, key=lambda name: (self.times[name], name))


def comparable_run(run: RunRecord, members: Collection[str]) -> ComparableRun | None:
    """The comparable times of candidates in a run; None if the run measured none of them.

    A candidate with less than half of the largest number of samples cannot become the winner.
    """
    measured = {
        m.candidate: timed_rounds
        for m in run.measurements
        if m.candidate in members and m.status == "ok" and (timed_rounds := _rounds(m))
    }
    if not measured:
        return None
    stages = _stages(run.measurements, measured.keys())
    if not stages:
        enough = _enough(measured)
        return ComparableRun(run=run.id, rounds=enough, times=_locations(enough))
    final = _enough(_only(measured, {r for r, stage in stages.items() if stage == "final"}))
    if len(final) > 1:
        return _with_finals(run.id, measured, final)
    level = levels(measured)
    flat = {name: _level(level, rounds) for name, rounds in measured.items()}
    first = _only(flat, _earliest(stages))
    usual = max((len(rounds) for rounds in first.values()), default=1)
    enough = {name: rounds for name, rounds in flat.items() if 2 * len(rounds) >= usual}
    return ComparableRun(
        run=run.id,
        rounds=enough,
        times=level.times,
        intervals=_intervals(flat, level.times),
        levelled=True,
    )


def _with_finals(run: str, measured: Table, final: Table) -> ComparableRun:
    """Comparable times of a run with finals.

    Finalists are compared by the final rounds. The others keep their ratio to the finalists from
    the earlier rounds.
    """
    level = levels(measured, at=sorted({r for rounds in final.values() for r in rounds}))
    chosen = _locations(final)
    offset = float(np.median([math.log(chosen[name] / level.times[name]) for name in chosen]))
    times = {name: time * math.exp(offset) for name, time in level.times.items()} | chosen
    flat = {name: _level(level, rounds, offset) for name, rounds in measured.items()}
    return ComparableRun(
        run=run,
        rounds=final,
        times=times,
        intervals=_intervals(flat | dict(final), times),
        levelled=True,
        finals=True,
    )


def _level(drift: DriftFreeTimes, rounds: Rounds, offset: float = 0.0) -> Rounds:
    return {
        number: [time * math.exp(offset - drift.drift[number]) for time in times]
        for number, times in rounds.items()
    }


def _intervals(table: Table, times: Mapping[str, float]) -> dict[str, Interval | None]:
    intervals: dict[str, Interval | None] = {}
    for name, rounds in table.items():
        interval = estimators.interval(list(rounds.values()))
        at = times[name]
        intervals[name] = (min(interval[0], at), max(interval[1], at)) if interval else None
    return intervals


def _locations(table: Table) -> dict[str, float]:
    """The location estimate of each candidate's times, from equally many samples of each."""
    return estimators.locations(
        {name: [t for times in rounds.values() for t in times] for name, rounds in table.items()}
    )


def _enough(table: Table) -> Table:
    counts = {name: sum(map(len, rounds.values())) for name, rounds in table.items()}
    most = max(counts.values(), default=0)
    return {name: table[name] for name, count in counts.items() if 2 * count >= most}


def _only(table: Table, numbers: Collection[int]) -> dict[str, dict[int, Sequence[float]]]:
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


def _rounds(measurement: Measurement) -> Rounds:
    """Accepted times by round; empty if the measuring conditions changed within the samples."""
    try:
        return estimators.by_round(measurement.samples)
    except ValueError:
        return {}


def champion(runs: Sequence[ComparableRun]) -> tuple[str | None, ComparableRun | None]:
    """The winner over all runs and the run that it won.

    The winner so far can lose in every later run that measured it. A run without it replaces it
    only if that run compared more candidates.
    """
    best: str | None = None
    won: ComparableRun | None = None
    for run in runs:
        if won is None or best in run.times or len(run.times) > len(won.times):
            best, won = run.fastest, run
    return best, won


def crossed_ratios(run: ComparableRun, reference: str) -> list[float]:
    """Time of the reference over time of the winner, for each round.

    The winner of a round is the fastest candidate in all the other rounds, so that luck in a round
    does not count.
    """
    ratios = []
    for number in sorted(run.rounds[reference]):
        others = {
            name: [t for r, times in rounds.items() if r != number for t in times]
            for name, rounds in run.rounds.items()
            if number in rounds
        }
        times = estimators.locations(others)
        if not times:
            continue
        chosen = min(times, key=lambda name: (times[name], name))
        single = {number: run.rounds[chosen][number]}
        value = estimators.ratio({number: run.rounds[reference][number]}, single)
        if value is not None:
            ratios.append(value)
    return ratios
