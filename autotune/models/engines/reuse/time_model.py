"""The timing model as arithmetic over arrays: lines of streams, cycles of passes, seconds of time
steps.

    transfers    streams -> works     cycles per iteration for the lines from every level
    sums         levels -> total      all levels added up, and the part that overlaps with nothing
    row_cycles   passes               the cycles of a pass from all its terms (Eq. 6 and 7)
    step_times   passes -> steps      the slowest thread between two barriers (Eq. 8 to 10)

Arrays run over the works of many programs, or over their passes. Times are cycles per iteration
(one component) of one thread, until ``step_times`` makes them seconds. Equations: Scherg et al.,
ICPE 2019.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from autotune.models.engines.ecm_arithmetic import combine
from autotune.models.engines.reuse.batch import FlowArrays, total
from autotune.models.engines.reuse.line_cost import LineCosts
from autotune.models.traffic import POSITIONS, Floats, Whole
from autotune.models.traffic.passes import DOUBLE
from autotune.models.traffic.reuse_distance import Flags

_BEYOND = 1.0 + 1e-9
TINY = np.finfo(np.float64).tiny
"""The least divisor, where one may be 0."""
_EQUAL = 1e-12
"""Relative difference below which the times of threads count as equal."""


# --- what the passes transfer -----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTimes:
    """Cycles per iteration for cache lines; the levels begin behind the innermost cache."""

    data: Floats
    """(levels, POSITIONS, works): lines from each level, and to it."""
    mean: Floats
    """(levels, works): mean of ``data`` over the positions."""
    out: Floats
    """(levels, works): mean over the positions, outbound lines only."""
    foreign: Floats
    """(levels, works): mean over the positions, lines last written by another thread only."""
    waited: Floats
    """(levels, works): the part of ``foreign`` for lines that the other core has in its private
    caches, where it was measured what handing them over takes."""
    small: Floats
    """(levels, works): the mean for caches smaller by the factor ``BORDER``."""
    large: Floats
    """(levels, works): the mean for caches larger by the factor ``BORDER``."""
    hidden: Floats
    """(levels, works): the mean with the exposed shares ``hidden`` of ``transfers``."""
    serial: Floats
    """(levels, works): the mean with the exposed shares ``serial`` of ``transfers``."""
    stored: Floats
    """(works,): cycles for bytes that are stored through caches."""
    memory_lines: Floats
    """(works,): number of inbound lines from memory per iteration."""
    streams: Whole
    """(levels + 1, works): inbound streams by the level of their median distance."""
    starts: Floats
    """(works,): cycles to start the streams, where the sweep jumps."""
    again: Floats
    """(2, works): lines per iteration from the cache next to the innermost that loads read: those
    that loads of neighbouring components read too, and the others."""
    across: Floats
    """(2, works): the least cycles per iteration where all stores across lines wait for the next
    line, and the share of the stored lines that come from outer caches."""


_LOADED = 6.0
"""Lines loaded for a line of components up to which stores across lines wait longer for them: those
that they wait for the longest."""
BORDER = 1.3
"""Factor around the size of a cache within which a working set may lie on either side of it: caches
only approximate LRU, and share their sets with other data."""


@dataclass(frozen=True, slots=True)
class _Priced:
    """Cycles of lines of each kind under one assumption: (kinds, POSITIONS) each."""

    distance: Floats
    level: Whole
    cycles: Floats
    kept: Floats
    """1 where a stored line does not have to be loaded."""


def transfers(flows: FlowArrays, costs: LineCosts, hidden: Floats, serial: Floats) -> LineTimes:
    """The cycles of the lines of every work.

    A line that another thread wrote last comes from beyond the private caches. ``hidden``,
    ``serial``: alternative exposed shares of all levels, the innermost included, for more and for
    less overlap than stated.
    """
    priced = _price(flows, costs)
    count, weight = len(flows.run), flows.lines[:, None]
    data = _gather(flows, priced.level, priced.cycles, len(costs.names))
    written = ~np.isnan(flows.outward)
    out = np.zeros((len(costs.names), count))
    if costs.outlinks.any():
        level = costs.level(np.where(written, flows.outward, 0.0))
        apart = written
        if costs.stored is not None:  # the price of a stored line holds its way out
            apart = written & ~flows.history.stores[flows.kind][:, None]
        apart = apart & ~flows.history.streamed[flows.kind][:, None]  # so does that of these
        cycles = np.where(apart, costs.outbound(level) * weight, 0.0)
        leaving = _sum(flows.owner, level, cycles, len(costs.names), count)
        data, out = data + leaving, leaving.mean(axis=1)
    memory = np.where(priced.kept > 0, 0.0, costs.from_memory(priced.distance, priced.level))
    reclaimed = costs.reclaim * (flows.history.reclaimed[flows.kind] * flows.lines)[:, None]
    foreign_cycles = np.zeros((len(costs.names), 1, count))
    if reclaimed.any():  # the lines are beyond the private caches of both
        beyond = costs.level(np.full(written.shape, costs.private * costs.capacity * _BEYOND))
        foreign_cycles = _sum(
            flows.owner, beyond, reclaimed + np.zeros(written.shape), len(costs.names), count
        )
        data = data + foreign_cycles
    base = data.mean(axis=1)
    through = np.where(written[:, 0], flows.lines * costs.line * costs.store, 0.0)
    median = costs.level(np.median(priced.distance, axis=1))[flows.kind]
    number = np.bincount(
        median * count + flows.owner, _line_weights(flows), minlength=len(costs.names) * count
    )
    remote, claimed = flows.history.remote[:, None], foreign_cycles.mean(axis=1)[1:]
    near = flows.history.distance <= costs.private * costs.capacity
    return LineTimes(
        data=data[1:],
        mean=base[1:],
        out=out[1:],
        foreign=_means(flows, priced, costs, remote) + claimed,
        waited=_means(flows, priced, costs, remote & near & (costs.handed > 0)) + claimed,
        small=_with_other_costs(
            flows, priced, replace(costs, capacity=costs.capacity / BORDER), base
        ),
        large=_with_other_costs(
            flows, priced, replace(costs, capacity=costs.capacity * BORDER), base
        ),
        hidden=_with_other_costs(flows, priced, replace(costs, exposed=hidden), base),
        serial=_with_other_costs(flows, priced, replace(costs, exposed=serial), base),
        stored=total(flows.owner, through, count),
        memory_lines=total(flows.owner, memory.mean(axis=1)[flows.kind] * flows.lines, count),
        streams=number.reshape(len(costs.names), count),
        starts=_starts(flows, costs, median) / flows.jump,
        again=_again(flows, priced, costs),
        across=_across(flows, priced, costs),
    )


def _across(flows: FlowArrays, priced: _Priced, costs: LineCosts) -> Floats:
    """(2, works): the least cycles per iteration where all stores across lines wait for the next
    line, and the share of the stored lines that come from outer caches; 0 where not measured.
    """
    if costs.crossing_stores is None or costs.crossing_loads is None:
        return np.zeros((2, len(flows.run)))
    history = flows.history
    stored, loaded = (
        _lines_by_level(flows, priced.level, kinds, len(costs.names))
        for kinds in (history.stores & ~history.streamed, ~(history.stores | history.streamed))
    )
    longest = np.argsort(-costs.crossing_loads)  # so that further lines never shorten the wait
    passed = np.cumsum(loaded[longest] * flows.line / DOUBLE, axis=0)
    counted = np.diff(np.minimum(passed, _LOADED), axis=0, prepend=0.0)
    outer = stored[1:].sum(axis=0)
    least = costs.crossing_stores @ stored + outer * (costs.crossing_loads[longest] @ counted)
    return np.stack([least, outer / np.maximum(stored.sum(axis=0), TINY)])


def _lines_by_level(flows: FlowArrays, level: Whole, kinds: Flags, levels: int) -> Floats:
    """(levels, works): lines per iteration of these kinds of streams, the mean of positions."""
    lines = np.broadcast_to(kinds[:, None], level.shape).astype(np.float64)
    mean: Floats = _gather(flows, level, lines, levels).mean(axis=1)
    return mean


def _starts(flows: FlowArrays, costs: LineCosts, level: Whole) -> Floats:
    """(works,): cycles from a jump until all streams have begun. Those from caches begin one after
    the other; the first loads from memory wait at the same time, so that they take the longest of
    their waits, but no less than from the outermost cache.

    ``level``: of each stream. The streams of a tile go on where those of the tile before ended. The
    first of the eight doubles in a line bears the start of its stream.
    """
    count = len(flows.run)
    if costs.stream_start is None:
        return np.zeros(count)
    starts = costs.stream_start[:, None]
    if costs.stream_resume is not None:
        resumed = flows.resumed[flows.owner]
        starts = np.where(resumed, costs.stream_resume[:, None], starts)
    starts = starts * _line_weights(flows)  # (levels, streams)
    stream, last = np.arange(len(level)), len(costs.names) - 1
    waiting = np.zeros(count)
    memory = level == last
    np.maximum.at(waiting, flows.owner[memory], starts[last, memory])
    cached = starts[np.minimum(level, last - 1), stream]
    from_caches = total(flows.owner, np.where(memory, 0.0, cached), count)
    started: Floats = np.maximum(from_caches + waiting, total(flows.owner, cached, count))
    return started


def _again(flows: FlowArrays, priced: _Priced, costs: LineCosts) -> Floats:
    """(2, works): lines from the cache next to the innermost, of which loads may be issued again:
    those that loads of neighbouring components read, and the others; 0 where it was not measured.
    """
    count = len(flows.run)
    if min(costs.load_again, costs.again_loop) <= 0:
        return np.zeros((2, count))
    nearest = (priced.level == 1).mean(axis=1)
    history = flows.history
    kinds = (history.again, ~(history.again | history.stores | history.streamed))
    return np.stack(
        [total(flows.owner, (nearest * kind)[flows.kind] * flows.lines, count) for kind in kinds]
    )


def _line_weights(flows: FlowArrays) -> Floats:
    """The weight of each stream: 1 where it takes a new line every eight doubles, less where it
    takes fewer.
    """
    return np.asarray(np.minimum(flows.lines * flows.line / 8, 1.0), dtype=np.float64)


def _price(flows: FlowArrays, costs: LineCosts) -> _Priced:
    beyond = np.where(flows.history.remote, costs.private * costs.capacity * _BEYOND, 0.0)
    distance = np.maximum(flows.history.distance, beyond[:, None])
    level = costs.level(distance)
    crowd = flows.crowd.astype(np.float64)
    cycles = costs.inbound(distance, level, crowd=crowd)
    if costs.passed:
        around = costs.inbound(distance, level, beyond=costs.passed, crowd=crowd)
        cycles = np.where(flows.history.stores[:, None], around, cycles)
    elif costs.stored is not None:
        cycles = np.where(flows.history.stores[:, None], cycles * costs.stored[level], cycles)
    if flows.history.remote.any():
        handed = np.maximum(cycles, costs.handed)
        cycles = np.where(flows.history.remote[:, None], handed, cycles)
    streamed = flows.history.streamed[:, None]
    cycles = np.where(streamed, costs.streamed, cycles)
    near = distance / costs.capacity <= costs.allocating
    allocated = flows.history.stores[:, None] & near & ~streamed
    unread = (allocated | streamed).astype(np.float64)
    return _Priced(distance, level, np.where(allocated, 0.0, cycles), unread)


def _gather(flows: FlowArrays, level: Whole, cycles: Floats, levels: int) -> Floats:
    """(levels, POSITIONS, works) sums over the streams of each work."""
    weighted = cycles[flows.kind] * flows.lines[:, None]
    return _sum(flows.owner, level[flows.kind], weighted, levels, len(flows.run))


def _sum(owner: Whole, level: Whole, cycles: Floats, levels: int, count: int) -> Floats:
    place = (level * POSITIONS + np.arange(POSITIONS)) * count + owner[:, None]
    summed = total(place.ravel(), cycles.ravel(), levels * POSITIONS * count)
    return summed.reshape(levels, POSITIONS, count)


def _means(flows: FlowArrays, priced: _Priced, costs: LineCosts, chosen: Flags) -> Floats:
    """(levels, works): mean cycles over the positions of the ``chosen``: (kinds, POSITIONS), or
    (kinds, 1) for all positions of a kind.
    """
    levels = len(costs.names)
    if not chosen.any():
        return np.zeros((levels - 1, len(flows.run)))
    cycles = np.where(chosen, priced.cycles, 0.0)
    means: Floats = _gather(flows, priced.level, cycles, levels).mean(axis=1)[1:]
    return means


def _with_other_costs(flows: FlowArrays, priced: _Priced, costs: LineCosts, base: Floats) -> Floats:
    """The mean cycles ``base`` recomputed with other costs; only kinds of streams whose cost
    changes are computed.
    """
    other = _price(flows, costs)
    moved = (other.level != priced.level) | (other.cycles != priced.cycles)
    chosen = np.flatnonzero(moved.any(axis=1)[flows.kind])
    part = replace(
        flows, owner=flows.owner[chosen], kind=flows.kind[chosen], lines=flows.lines[chosen]
    )
    levels = len(costs.names)
    change = _gather(part, other.level, other.cycles, levels)
    change -= _gather(part, priced.level, priced.cycles, levels)
    means: Floats = (base + change.mean(axis=1))[1:]
    return means


# --- what a pass takes ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlapRules:
    """How the terms of a pass overlap, for one machine and one number of threads."""

    exposed: Floats
    """(levels,): share of each level's transfers that adds to T_nOL."""
    arithmetic: Floats | None = None
    """(levels,): share of each level's transfers that adds to T_OL; None: nothing does."""
    serial_stores: bool = False
    """True: stores through caches add to the transfers; False: they are hidden."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferSums:
    """The transfers of passes summed over all levels, cycles per iteration: (rows, passes).

    The first rows are the ``POSITIONS``. Each further row is a mean over positions, under one
    assumption about the machine.
    """

    total: Floats
    waited: Floats
    """The part for which everything waits."""
    exposed: Floats
    """The part of the rest that adds to T_nOL."""
    beside: Floats | None
    """The part of the rest that adds to T_OL; None: nothing does."""

    def joined(self, *others: "TransferSums", axis: int) -> "TransferSums":
        """The sums concatenated, as further rows or as further passes."""
        every = [self, *others]
        beside = [sums.beside for sums in every if sums.beside is not None]
        return TransferSums(
            total=np.concatenate([sums.total for sums in every], axis=axis),
            waited=np.concatenate([sums.waited for sums in every], axis=axis),
            exposed=np.concatenate([sums.exposed for sums in every], axis=axis),
            beside=np.concatenate(beside, axis=axis) if beside else None,
        )

    def at(self, passes: Whole) -> "TransferSums":
        """The sums of the chosen passes."""
        return TransferSums(
            total=np.take(self.total, passes, axis=1),
            waited=np.take(self.waited, passes, axis=1),
            exposed=np.take(self.exposed, passes, axis=1),
            beside=None if self.beside is None else np.take(self.beside, passes, axis=1),
        )

    def row(self, row: int) -> "TransferSums":
        """The sums of one row."""
        only = slice(row, row + 1)
        return TransferSums(
            total=self.total[only],
            waited=self.waited[only],
            exposed=self.exposed[only],
            beside=None if self.beside is None else self.beside[only],
        )


def sums(data: Floats, rules: OverlapRules, stored: Floats, waited: Floats) -> TransferSums:
    """The sums over all levels of ``data`` (levels, rows, passes), with ``stored`` (passes,).

    The part ``waited`` of it, (levels, passes), overlaps with nothing: neither order of execution
    nor prefetchers hide the way of a line from the private caches of another core.
    """
    rest = np.maximum(data - waited[:, None], 0.0) if waited.any() else data
    total, exposed = data.sum(axis=0), np.einsum("l,lrp->rp", rules.exposed, rest)
    if rules.serial_stores:
        total, exposed = total + stored, exposed + stored
    beside = None
    if rules.arithmetic is not None:
        beside = np.einsum("l,lrp->rp", rules.arithmetic, rest)
    every = np.zeros_like(total) + waited.sum(axis=0)
    return TransferSums(total=total, waited=every, exposed=exposed, beside=beside)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorePassTimes:
    """Cycles per iteration of passes without their transfers: (passes,)."""

    T_OL: Floats
    """Work in the core besides loads and stores, with all threads running."""
    T_nOL: Floats
    """Loads and stores of the innermost cache."""
    again: Floats
    """Loads that are issued again."""
    stored: Floats
    """Cycles for bytes that are stored through caches."""
    entry: Floats
    """Cycles of entries into the loop, and of starts of its streams."""
    across: Floats
    """The least cycles where all stores across lines of outer caches wait for the next line."""
    waiting: Floats
    """The share of the stored lines at whose border a store waits."""


AddedTerm = Literal["across", "again"]


def row_cycles(core: CorePassTimes, data: TransferSums) -> Floats:
    """(rows, passes): cycles per iteration of every pass (Eq. 6 and 7).

    The result grows with every term. It is never below the largest term nor above the sum of all;
    intervals and derivatives rely on this.
    """
    T_OL = np.maximum(core.T_OL, core.stored)
    rest = np.maximum(data.total - data.waited, 0.0)
    combined = combine(T_OL, core.T_nOL + core.again, rest, data.exposed)
    if data.beside is not None:
        combined = np.maximum(combined, combine(np.zeros(1), T_OL, rest, data.beside))
    entry = core.entry + data.waited
    late = core.waiting * np.maximum(core.across - combined, 0.0)
    cycles: Floats = combined + entry + late
    return cycles


def added_cycles(core: CorePassTimes, data: TransferSums, term: AddedTerm) -> Floats:
    """(rows, passes): the part of ``row_cycles`` that stores across lines, or loads that are issued
    again, add.
    """
    cycles = getattr(core, term)
    if not cycles.any():
        return np.zeros_like(data.total)
    without = replace(core, **{term: np.zeros_like(cycles)})
    part: Floats = row_cycles(core, data) - row_cycles(without, data)
    return part


def over_positions(rows: Floats) -> Floats:
    """(passes,): the mean over the rows that are positions, without the rows of assumptions."""
    mean: Floats = np.add.reduce(rows[:POSITIONS]) / POSITIONS
    return mean


# --- what a step takes ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPaths:
    """The cells and regions of some time steps, as spans of arrays; see the module ``batch``."""

    entry: Whole
    """(entries,): the pass."""
    count: Floats
    """(entries,): iterations per execution of the region."""
    cells: Whole
    """(cells,): number of the first entry."""
    regions: Whole
    """(regions,): number of the first cell."""
    times: Floats
    """(regions,): executions per step."""
    floor: Floats
    """(regions,): least seconds in which memory can move the lines; 0 where not known."""
    steps: Whole
    """(steps,): number of the first region."""
    barriers: Floats
    """(steps,): seconds of all barriers at which no thread is late."""
    late: Floats
    """(passes,): share of its time that the last of several threads is late behind a pass; 0 where
    none waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimes:
    """The seconds of time steps, and the quantities that they are made of."""

    seconds: Floats
    """(steps,)"""
    barriers: Floats
    """(steps,): seconds of all barriers, the waiting for late threads included."""
    floor: Floats
    """(steps,): least seconds in which memory alone could move the lines."""
    bound: Floats
    """(steps,): seconds of the regions whose time is that of memory."""
    stretch: Floats
    """(steps,): seconds of regions over their critical cycles; above 1 if bandwidth limits."""
    weight: Floats
    """(passes,): iterations per step on the critical path."""
    free: Floats
    """(passes,): iterations per step on the critical path of regions that memory does not limit."""


def step_times(cycles: Floats, paths: StepPaths, clock: float) -> StepTimes:
    """Seconds of time steps, Eq. 7 to 10: between two barriers the slowest thread counts.

    The result is never below bytes over bandwidth (Eq. 9, rule ``reuse``). nan where a figure is
    nan. Eq. 8 is used with delta = 1, as all cycles are per component.

    Threads are the slowest in turn, so the slowest one of each region takes longer than the one
    that is slowest on the whole: by the share ``late`` of the passes on the critical path.
    """
    spent = cycles[paths.entry] * paths.count
    cells = np.add.reduceat(spent, paths.cells)
    slowest = np.maximum.reduceat(cells, paths.regions)
    step_seconds = np.maximum(slowest / clock, paths.floor)
    seconds = step_seconds * paths.times
    bound = step_seconds > slowest / clock
    size = np.diff(paths.regions, append=len(cells))
    region = np.repeat(np.arange(len(slowest)), size)
    number = np.arange(len(cells))
    longest = cells >= slowest[region] * (1 - _EQUAL)  # of equal ones, the first
    winner = np.minimum.reduceat(np.where(longest, number, len(cells)), paths.regions)
    critical = np.where(winner[region] == number, paths.times[region], 0.0)
    inside = np.repeat(critical, np.diff(paths.cells, append=len(paths.entry))) * paths.count
    hidden = np.repeat(bound[region], np.diff(paths.cells, append=len(paths.entry)))

    def per_step(values: Floats) -> Floats:
        return np.asarray(np.add.reduceat(values, paths.steps), dtype=np.float64)

    waits = np.add.reduceat(spent * paths.late[paths.entry], paths.cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        # a region of nan has no slowest cell; its waits are nan in any cell
        shares = np.where(slowest > 0, waits[np.minimum(winner, number[-1])] / slowest, 0.0)
    barriers = paths.barriers + per_step(seconds * shares)
    whole = per_step(seconds)
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = whole * clock / per_step(slowest * paths.times)
    return StepTimes(
        seconds=whole + barriers,
        barriers=barriers,
        floor=per_step(paths.floor * paths.times) + paths.barriers,
        bound=per_step(np.where(bound, seconds, 0.0)),
        stretch=stretch,
        weight=total(paths.entry, inside, len(cycles)),
        free=total(paths.entry, np.where(hidden, 0.0, inside), len(cycles)),
    )
