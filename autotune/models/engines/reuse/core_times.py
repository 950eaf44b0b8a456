"""In-core times of sweeps as flat arrays, by the length of a run and its place in a cache line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from autotune.models.engines.reuse import uncertainty
from autotune.models.engines.reuse.batch import PLACES
from autotune.models.engines.reuse.line_cost import LineCosts
from autotune.models.incore.base import InCoreResult
from autotune.models.traffic import Floats, Whole
from autotune.models.traffic.passes import DOUBLE

_RUNGS = 4
"""Number of loops of a sweep that are distinguished."""
_CUTS = (0.14, 0.38, 0.62, 0.86)
"""Places at which runs that are cut in two are cut, for the mean over all places."""
_TAPS = 4
"""Loads of every component in the probe of ``LineCosts.load_again``, the shorter of two."""
_FORESEEN = 64
"""Largest number of passes of a loop whose end branch predictors foresee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopArrays:
    """In-core figures of sweeps as flat arrays, cycles per source iteration."""

    T_OL: Floats
    crowded: Floats
    """T_OL while the cores that share units are running too."""
    T_nOL: Floats
    width: Floats
    """Relative standard deviation."""
    approximate: Floats
    """1 where the result is approximate, else 0."""
    gathers: Floats
    calls: Floats
    vector: Floats
    """Bytes of the widest vectors of the loop."""
    entry: Floats
    """Cycles to issue the instructions around the hot loop."""
    crossing: Floats
    """(sweeps, PLACES): accesses that cross a line, by the place where the loop begins."""
    delayed: Floats
    """(sweeps, PLACES): share of the stored lines at whose border a store waits for the next one,
    by the place where the loop begins."""
    stored: Floats
    """(sweeps, PLACES): least T_nOL of the stores, by the place where the loop begins; 0 where
    unaligned stores were not measured."""
    window: Floats
    """(sweeps, 2): least T_OL of operations that wait for one another, and more of it per access
    that crosses a line."""
    rungs: Floats
    """(sweeps, loops, 3): iterations of a pass, T_OL and T_nOL of the hot loop and of the loops
    that take its remainder; 0 iterations: no further loop."""
    leaves: Floats
    """1 where the hot loop always leaves some components to the next loop, else 0."""
    head: Floats
    """(sweeps, 3): as ``rungs``, of the loop over single components before the hot loop, else the
    last of ``rungs``."""

    def at(self, rows: Whole) -> "LoopArrays":
        """The figures of the sweeps ``rows``."""
        return LoopArrays(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})


class ProgramLoops(NamedTuple):
    """The loops of the sweeps of programs, equal loops once."""

    place: Whole
    """(sweeps of programs,): position in the loops."""
    loops: LoopArrays

    @classmethod
    def of(cls, results: Sequence[InCoreResult]) -> "ProgramLoops":
        """The figures of the in-core results of the sweeps."""
        distinct = {id(result): result for result in results}
        number = {key: place for place, key in enumerate(distinct)}
        places = np.array([number[id(result)] for result in results], dtype=np.int64)
        return cls(places, loops(list(distinct.values())))


def loops(results: Sequence[InCoreResult]) -> LoopArrays:
    """The figures of some in-core results."""

    def column(values: Iterator[float]) -> Floats:
        return np.fromiter(values, dtype=np.float64, count=len(results))

    return LoopArrays(
        T_OL=column(float(r.T_OL) for r in results),
        crowded=column(float(r.T_OL if r.crowded is None else r.crowded) for r in results),
        T_nOL=column(float(r.T_nOL) for r in results),
        width=column(uncertainty.width(r.approximate, r.width) for r in results),
        approximate=column(float(r.approximate) for r in results),
        gathers=column(float(r.gathers > 0) for r in results),
        calls=column(float(r.calls > 0) for r in results),
        vector=column(float(r.vector) for r in results),
        entry=column(float(r.entry) for r in results),
        crossing=np.array([_crossing(r) for r in results]).reshape(-1, PLACES),
        delayed=np.array([_delayed(r) for r in results]).reshape(-1, PLACES),
        stored=np.array([r.stored or (0.0,) * PLACES for r in results]).reshape(-1, PLACES),
        window=np.array([r.window for r in results], dtype=np.float64).reshape(-1, 2),
        rungs=np.array([_rungs(r) for r in results]).reshape(-1, _RUNGS, 3),
        leaves=column(float(r.leaves and len(r.ladder) > 1) for r in results),
        head=np.array([_head(r) for r in results]).reshape(-1, 3),
    )


def _crossing(result: InCoreResult) -> list[float]:
    """The vector loads and stores that cross a cache line, for each place in a line where the loop
    may begin; only the loads where the time of stores is known.
    """
    loads = result.crossings or (result.crossing,) * PLACES
    if result.stored:
        return list(loads)
    return [a + b for a, b in zip(loads, _crossing_stores(result), strict=True)]


def _crossing_stores(result: InCoreResult) -> Sequence[float]:
    return result.crossings_stores or (result.crossing_stores,) * PLACES


def _delayed(result: InCoreResult) -> list[float]:
    """The share of the stored lines at whose border a store waits for the next one, for each place
    where the loop may begin: none of a single row, and few where little is loaded.
    """
    if not result.stores:
        return [0.0] * PLACES
    rows = result.stores * result.vector / DOUBLE
    waiting = min(max(rows - 1, 0.0), 1.0) * min(result.loads / result.stores, 1.0)
    whole = rows / PLACES
    return [waiting * min(stores / whole, 1.0) for stores in _crossing_stores(result)]


def _rungs(result: InCoreResult) -> list[tuple[float, float, float]]:
    loops = [(r.iterations, float(r.T_OL), float(r.T_nOL)) for r in result.ladder[:_RUNGS]]
    return loops + [(0.0, 0.0, 0.0)] * (_RUNGS - len(loops))


def _head(result: InCoreResult) -> tuple[float, float, float]:
    head = result.head or (result.ladder[:_RUNGS] or (None,))[-1]
    return (0.0, 0.0, 0.0) if head is None else (head.iterations, head.T_OL, head.T_nOL)


@dataclass(frozen=True, slots=True, kw_only=True)
class InCoreTimes:
    """In-core times of runs, cycles per iteration: (runs,)."""

    T_OL: Floats
    T_nOL: Floats
    entry: Floats
    """Cycles per iteration to enter the loop."""
    delayed: Floats
    """Share of the stored lines, as ``LoopArrays.delayed``."""
    narrow: Floats
    """Loads of a line beyond those of a loop over whole vectors, over those that reading four
    neighbours adds to them: at most 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRuns:
    """Runs of components from one entry into a loop to the next."""

    length: Floats
    """(runs,)"""
    head: Floats
    """(runs,): components that go one by one before the vector loop."""
    cut: Floats
    """(runs,): share of the runs that are cut in two, anywhere."""
    align: Floats
    """(runs, PLACES): share of the vector loops that begin at each place, counted in doubles behind
    the start of a cache line."""


def run_times(loop: LoopArrays, run: VectorRuns, costs: LineCosts, threads: int) -> InCoreTimes:
    """The in-core times of runs of a number of iterations, in cycles of the calibrated clock."""
    T_OL, T_nOL = _over_cut_runs(loop, run)
    if threads > 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            T_OL = T_OL * np.where(loop.T_OL > 0, loop.crowded / loop.T_OL, 1.0)
    crossing = (run.align * loop.crossing).sum(axis=1)
    waiting = loop.window[:, 0] + crossing * loop.window[:, 1]
    T_OL = T_OL + np.where(crossing > 0, np.maximum(0.0, waiting - loop.T_OL), 0.0)
    entry = _entry(loop, run.length, costs) * (1 + run.cut)
    stored = (run.align * loop.stored).sum(axis=1)
    T_nOL = np.maximum(T_nOL + crossing * costs.crossing, stored)
    cycle = costs.core_cycle
    return InCoreTimes(
        T_OL=T_OL * cycle,
        T_nOL=T_nOL * cycle,
        entry=entry * cycle,
        delayed=(run.align * loop.delayed).sum(axis=1),
        narrow=np.clip((costs.vector / loop.vector - 1) / (_TAPS - 1), 0.0, 1.0),
    )


def again_cycles(lines: Floats, times: InCoreTimes, costs: LineCosts) -> Floats:
    """(passes,): cycles per iteration for loads that are issued again: a line from an outer cache
    is on its way when further loads read it, the less the longer a loop takes for a line.

    ``lines``: ``LineTimes.again``. They fall by no more than a slower loop takes longer.
    """
    if not lines.any():
        return np.zeros(lines.shape[1])
    most = (lines[0] + times.narrow * lines[1]) * costs.load_again
    fall = most / costs.again_loop * (costs.line / DOUBLE)
    with np.errstate(invalid="ignore"):  # no loads, and a loop without a time
        cycles: Floats = np.maximum(most - np.minimum(fall, 1.0) * times.T_nOL, 0.0)
    return cycles


def _over_cut_runs(loop: LoopArrays, run: VectorRuns) -> tuple[Floats, Floats]:
    """T_OL and T_nOL per iteration of runs of which a share is cut in two, anywhere."""
    T_OL, T_nOL = _over_runs(loop, run.length, run.head)
    rows = np.flatnonzero((run.cut > 0) & np.isfinite(run.length))
    if len(rows):
        loops, length, head = loop.at(rows), run.length[rows], run.head[rows]
        sums = np.zeros((2, len(rows)))
        for place in _CUTS:
            first = np.floor(length * place)
            for part in (first, length - first):
                sums += part * np.stack(_over_runs(loops, part, head))
        cut, (apart_OL, apart_nOL) = run.cut[rows], sums / (len(_CUTS) * length)
        T_OL[rows] += cut * (apart_OL - T_OL[rows])
        T_nOL[rows] += cut * (apart_nOL - T_nOL[rows])
    return T_OL, T_nOL


def _over_runs(loop: LoopArrays, run: Floats, head: Floats) -> tuple[Floats, Floats]:
    """T_OL and T_nOL per iteration of runs: the head one by one, then the hot loop, then the loops
    that take its remainder.
    """
    length = np.floor(np.where(np.isfinite(run), run, 0.0))
    before = np.minimum(head, length)
    left = np.floor(length - before)
    before = np.where(loop.head[:, 0] == 1, length - left, 0.0)
    sums = before * loop.head[:, 1:].T
    for k in range(_RUNGS):
        size = loop.rungs[:, k, 0]
        open_to = np.maximum(left - loop.leaves, 0.0) if k == 0 else left
        covered = np.floor(open_to / np.where(size > 0, size, np.inf)) * size
        sums += covered * loop.rungs[:, k, 1:].T
        left = left - covered
    divisible = (length > 0) & (left == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(divisible, sums / length, [loop.T_OL, loop.T_nOL])
    return means[0], means[1]


def _entry(loop: LoopArrays, run: Floats, costs: LineCosts) -> Floats:
    """Cycles per iteration spent on entering loops.

    The exit of a loop with few passes is predicted correctly; the exit of a longer one is
    mispredicted.
    """
    around = np.maximum(costs.loop_entry - costs.exit, loop.entry)
    passes = run / np.maximum(loop.rungs[:, 0, 0], 1.0)
    entries: Floats = around + np.where(passes > _FORESEEN, costs.exit, 0.0)
    result: Floats = entries / run
    return result
