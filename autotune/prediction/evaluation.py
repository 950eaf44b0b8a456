"""Many cases on one machine in one go: seconds, what they are unsure of, and their parts.

A *case* is the traffic of a program with the in-core times of its sweeps: what a candidate is to
the model. Cases of equal numbers of threads are evaluated together, a piece at a time that fits the
caches: their passes are gathered into flat arrays, everything else is arithmetic on these.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from autotune.analysis.base import InCoreResult
from autotune.analysis.traffic import Floats
from autotune.machine import Machine
from autotune.prediction import uncertainty
from autotune.prediction.batch import PLACES, Flows, Whole, spans
from autotune.prediction.constants import calibrated_costs
from autotune.prediction.lines import LineCosts
from autotune.prediction.model import (
    Moved,
    Paths,
    Rules,
    StepTimes,
    Terms,
    pass_cycles,
    step_times,
    transfers,
)
from autotune.prediction.uncertainty import REGIMES, SHORT, Alternatives, Doubts
from autotune.variant import Placement

_RUNGS = 4
"""Loops of a sweep that are told apart."""
_FORESEEN = 24
"""Passes of a loop that branch predictors remember: with more, its end comes as a surprise."""
_PIECE = 3000
"""Passes that are evaluated at once: their arrays fit a cache of 1 MiB."""


class Spread(NamedTuple):
    """How many threads of all ranks run on a node, and where."""

    threads: int
    placement: Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Loops:
    """In-core figures of sweeps as flat arrays, cycles per source iteration."""

    T_OL: Floats
    crowded: Floats
    """T_OL when the cores that share units run too."""
    T_nOL: Floats
    width: Floats
    """Relative standard deviation."""
    approximate: Floats
    """1 or 0; so on."""
    gathers: Floats
    calls: Floats
    entry: Floats
    """Cycles to issue what stands around the hot loop."""
    crossing: Floats
    """(sweeps, PLACES): accesses that cross a line, by where in a line the loop begins."""
    rungs: Floats
    """(sweeps, loops, 3): iterations of a pass, T_OL and T_nOL of the hot loop and those that take
    what it leaves; 0 iterations: no further loop."""

    def at(self, rows: Whole) -> "Loops":
        """Some of them."""
        return Loops(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})


def loops(results: Sequence[InCoreResult]) -> Loops:
    """The figures of some results."""

    def column(values: Iterator[float]) -> Floats:
        return np.fromiter(values, dtype=np.float64, count=len(results))

    return Loops(
        T_OL=column(float(r.T_OL) for r in results),
        crowded=column(float(r.T_OL if r.crowded is None else r.crowded) for r in results),
        T_nOL=column(float(r.T_nOL) for r in results),
        width=column(uncertainty.width(r.approximate, r.width) for r in results),
        approximate=column(float(r.approximate) for r in results),
        gathers=column(float(r.gathers > 0) for r in results),
        calls=column(float(r.calls > 0) for r in results),
        entry=column(float(r.entry) for r in results),
        crossing=np.array([_crossing(r) for r in results]).reshape(-1, PLACES),
        rungs=np.array([_rungs(r) for r in results]).reshape(-1, _RUNGS, 3),
    )


def _crossing(result: InCoreResult) -> list[float]:
    """Loads and stores that cross a line, for each place where the loop may begin."""
    loads = result.crossings or (result.crossing,) * PLACES
    stores = result.crossings_stores or (result.crossing_stores,) * PLACES
    return [a + b for a, b in zip(loads, stores, strict=True)]


def _rungs(result: InCoreResult) -> list[tuple[float, float, float]]:
    found = [(r.iterations, float(r.T_OL), float(r.T_nOL)) for r in result.ladder[:_RUNGS]]
    return found + [(0.0, 0.0, 0.0)] * (_RUNGS - len(found))


def _over_runs(loop: Loops, run: Floats) -> tuple[Floats, Floats]:
    """T_OL and T_nOL per iteration of runs of some length: the hot loop, then what it leaves."""
    left = np.floor(np.where(np.isfinite(run), run, 0.0))
    whole = left.copy()
    sums = np.zeros((2, len(run)))
    for k in range(_RUNGS):
        size = loop.rungs[:, k, 0]
        taken = np.floor(left / np.where(size > 0, size, np.inf)) * size
        sums += taken * loop.rungs[:, k, 1:].T
        left = left - taken
    known = (whole > 0) & (left == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(known, sums / whole, [loop.T_OL, loop.T_nOL])
    return found[0], found[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """Lines per iteration that set conflicts load again from each level, for passes of cases."""

    certain: Floats
    """(levels, rows)"""
    possible: Floats
    """(levels, rows): with those that depend on physical pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """What is evaluated, as flat arrays; all with the same number of threads on a node."""

    flow: Whole
    """(cases,): position in the flows."""
    core: Whole
    """(cases,): in the loops, that of the first sweep of the program."""
    crowd: Whole
    """(cases,): in the conflicts, that of the first pass; -1: there are none."""
    team: Whole
    """(cases,): threads of one rank, which wait for one another at barriers."""

    def at(self, rows: Whole) -> "Cases":
        """Some of them."""
        return Cases(
            flow=self.flow[rows], core=self.core[rows], crowd=self.crowd[rows], team=self.team[rows]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A machine with some threads running, and what flows do on it."""

    threads: int
    costs: LineCosts
    rules: Rules
    doubts: Doubts
    flows: Flows
    moved: Moved
    floor: Floats
    """(regions,): seconds below which memory cannot move the lines; 0 where that is not known."""


class _Bare(NamedTuple):
    """A node before anything flows."""

    threads: int
    costs: LineCosts
    rules: Rules
    doubts: Doubts


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """What the model says of some cases."""

    seconds: Floats
    """(cases,): nan where a figure is missing."""
    floor: Floats
    """(cases,): seconds that the bandwidth of memory alone asks for."""
    shifts: Floats
    """(cases, classes): relative change of the time when a class is one deviation off."""
    terms: Floats
    """(cases, classes): seconds that grow with a class of figures."""
    own: Floats
    """(cases,): relative standard deviation of a case alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some cases with their passes in flat arrays."""

    terms: Terms
    other: Alternatives
    loops: Loops
    paths: Paths
    begin: Whole
    """(cases,): first pass."""
    owner: Whole
    """(passes,): the case."""
    at: Whole
    """(passes,): position in the flows."""


class Evaluator:
    """Evaluates cases on one machine; what flows move is kept."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._nodes: dict[Spread, Node] = {}
        self._parts: dict[Spread, int] = {}

    def node(self, spread: Spread, parts: Sequence[Flows]) -> Node:
        """The machine with some threads running; ``parts`` only ever get more at the end."""
        known = self._nodes.get(spread)
        have = self._parts.get(spread, 0)
        for part in parts[have:]:
            known = self._with(known or self._empty(spread), part)
        if known is None:
            raise ValueError("there is nothing to evaluate")
        self._nodes[spread], self._parts[spread] = known, len(parts)
        return known

    def _empty(self, spread: Spread) -> "_Bare":
        threads = spread.threads
        costs = calibrated_costs(self.machine, threads, spread.placement)
        rules = Rules(
            exposed=(costs.exposed * (not costs.beside))[1:],
            arithmetic=None if costs.arithmetic is None else costs.arithmetic[1:],
        )
        doubts = uncertainty.doubts(self.machine, costs, rules, threads)
        return _Bare(threads, costs, rules, doubts)

    def _with(self, known: "Node | _Bare", part: Flows) -> Node:
        """A node with further flows."""
        within = known.costs.exposed[:1]
        low, high = known.doubts.low.exposed, known.doubts.high.exposed
        moved = transfers(
            part, known.costs, np.concatenate([within, low]), np.concatenate([within, high])
        )
        floor = _floor(part, moved, known.costs, float(self.machine.frequency))
        flows = part
        if isinstance(known, Node):
            flows, moved = known.flows.joined(part), known.moved.joined(moved)
            floor = np.concatenate([known.floor, floor])
        return Node(
            threads=known.threads,
            costs=known.costs,
            rules=known.rules,
            doubts=known.doubts,
            flows=flows,
            moved=moved,
            floor=floor,
        )

    def barrier(self, threads: int) -> float | None:
        """Seconds of one barrier of all threads; None where the machine has no figure."""
        if threads == 1:
            return 0.0
        calibration = self.machine.calibration
        if calibration and calibration.barriers:
            return float(calibration.barrier(threads))
        if self.machine.barrier is None:
            return None
        return float(self.machine.barrier) * threads / self.machine.cores

    def estimate(self, node: Node, cases: Cases, core: Loops, crowds: Conflicts) -> Estimates:
        """Seconds and uncertainty of every case, in order."""
        count = len(cases.flow)
        classes = node.doubts.classes
        seconds, floor, own = (np.empty(count) for _ in range(3))
        shifts, terms = (np.zeros((count, len(classes))) for _ in range(2))
        for rows in _pieces(node.flows, cases):
            piece = self.piece(node, cases.at(rows), core, crowds)
            with np.errstate(all="ignore"):
                step = self.steps(node, piece)
                seconds[rows], floor[rows] = step.seconds, step.floor
                terms[rows], shifts[rows], own[rows] = self._doubts(node, piece, step, cases, rows)
        return Estimates(seconds=seconds, floor=floor, shifts=shifts, terms=terms, own=own)

    def piece(self, node: Node, cases: Cases, core: Loops, crowds: Conflicts) -> Piece:
        """The passes of some cases, gathered."""
        flows, moved = node.flows, node.moved
        first = flows.passes[cases.flow]
        count = flows.passes[cases.flow + 1] - first
        begin = np.cumsum(count) - count
        at = spans(first, count)
        owner = np.repeat(np.arange(len(count)), count)
        loop = core.at(cases.core[owner] + flows.sweep[at])
        T_OL, T_nOL = _over_runs(loop, flows.run[at])
        if node.threads > 1:
            T_OL = T_OL * np.where(loop.T_OL > 0, loop.crowded / loop.T_OL, 1.0)
        across = (flows.align[at] * loop.crossing).sum(axis=1) * node.costs.crossing
        certain, possible = _conflicts(node.costs, cases, crowds, begin, owner)
        return Piece(
            terms=Terms(
                T_OL=T_OL,
                T_nOL=T_nOL + across,
                data=np.take(moved.data, at, axis=2),
                conflicts=certain,
                stored=moved.stored[at],
                streams=np.take(moved.streams, at, axis=1),
                iterations=flows.iterations[at],
                run=flows.run[at],
                entry=_entry(node, loop, at),
            ),
            other=Alternatives(
                width=loop.width,
                mean=np.take(moved.mean, at, axis=1),
                out=np.take(moved.out, at, axis=1),
                foreign=np.take(moved.foreign, at, axis=1),
                small=np.take(moved.small, at, axis=1),
                large=np.take(moved.large, at, axis=1),
                hidden=np.take(moved.hidden, at, axis=1),
                serial=np.take(moved.serial, at, axis=1),
                conflicts=possible,
            ),
            loops=loop,
            paths=self._paths(node, cases, begin),
            begin=begin,
            owner=owner,
            at=at,
        )

    def steps(self, node: Node, piece: Piece) -> StepTimes:
        """The time steps of a piece."""
        cycles = pass_cycles(piece.terms, node.rules)
        return step_times(cycles, piece.paths, float(self.machine.frequency))

    def _paths(self, node: Node, cases: Cases, begin: Whole) -> Paths:
        """Cells and regions of some cases, their passes counted from ``begin``."""
        flows, flow = node.flows, cases.flow
        entry, entries, entry_first = _pieced(flows.entries, flow)
        cell, cells, cell_first = _pieced(flows.cells, flow)
        region, regions, region_first = _pieced(flows.regions, flow)
        teams = np.array([self.barrier(int(team)) or 0.0 for team in np.unique(cases.team)])
        barrier = teams[np.unique(cases.team, return_inverse=True)[1]]
        return Paths(
            entry=flows.entry[entry] + np.repeat(begin - flows.passes[flow], entries),
            count=flows.count[entry],
            cells=flows.cell_begin[cell] + np.repeat(entry_first - flows.entries[flow], cells),
            regions=flows.region_begin[region] + np.repeat(cell_first - flows.cells[flow], regions),
            times=flows.times[region],
            floor=node.floor[region],
            steps=region_first,
            barriers=flows.barriers[flow] * barrier,
        )

    # --- what is unsure -------------------------------------------------------------------

    def _doubts(
        self, node: Node, piece: Piece, step: StepTimes, cases: Cases, rows: Whole
    ) -> tuple[Floats, Floats, Floats]:
        """(cases, classes) seconds that grow with a class, relative shifts, and what is left."""
        doubt = node.doubts
        clock = float(self.machine.frequency)
        mean = replace(piece.terms, data=piece.other.mean[:, None])
        weight = step.free / clock / step.seconds[piece.owner]
        cycles, found = uncertainty.figures(mean, node.rules, piece.other, doubt)
        changed = np.add.reduceat(np.stack(list(found.values())) * weight, piece.begin, axis=1)
        shift = dict(zip(found, changed, strict=True))
        growth = dict(shift)
        growth["core"] = np.add.reduceat(found["core"] / piece.other.width * weight, piece.begin)
        less = np.minimum(shift.pop("more overlap"), 0.0)
        more = np.maximum(shift.pop("less overlap"), 0.0)
        growth["overlap"] = more - less
        shift["overlap"] = uncertainty.reaching(less, more) if doubt.spans else (more - less) / 2
        growth["capacity"] = shift["capacity"] = (shift.pop("smaller") - shift.pop("larger")) / 2
        if "no conflicts" in shift:
            less, more = shift.pop("no conflicts"), np.maximum(shift.pop("all conflicts"), 0.0)
            growth["conflicts"], shift["conflicts"] = -less, uncertainty.reaching(less, more)
        bound, zero = step.bound / step.seconds, np.zeros(len(step.seconds))
        for level, name in enumerate(doubt.names):
            memory = bound if level == len(doubt.names) - 1 else zero
            growth[name] = shift.get(name, zero) / doubt.levels[level] + memory
            shift[name] = growth[name] * doubt.levels[level]
        waiting = piece.paths.barriers / step.seconds
        growth["barrier"], shift["barrier"] = waiting, waiting * doubt.barrier
        growth["clock"] = 1.0 - waiting - bound
        shift["clock"] = growth["clock"] * doubt.clock
        shares = self._regimes(node, piece, step, cycles, cases.team[rows])
        own = zero.copy()
        for name, share in shares.items():
            regime = REGIMES[name]
            growth[name] = share
            shift[name] = share * regime.sigma * np.sqrt(regime.common)
            own += (share * regime.sigma) ** 2 * (1 - regime.common)
        names = doubt.classes
        terms = np.stack([growth.get(name, zero) for name in names], axis=1)
        shifts = np.stack([shift.get(name, zero) for name in names], axis=1)
        return terms * step.seconds[:, None], np.nan_to_num(shifts, nan=0.5), np.sqrt(own)

    def _regimes(
        self, node: Node, piece: Piece, step: StepTimes, cycles: Floats, team: Whole
    ) -> dict[str, Floats]:
        """Share of the time of every case that is spent under the condition of each regime."""
        seconds, flows = step.seconds, node.flows
        weight = step.weight / float(self.machine.frequency) / seconds[piece.owner]
        data, crowded = piece.other.mean, piece.terms.conflicts
        total = np.maximum(data.sum(axis=0), cycles)
        shared = flows.shared[piece.at] * 1.0
        columns = {
            "model": cycles,
            "memory": cycles * data[-1] / total,
            "tiles of memory": cycles * shared,
            "approximate": cycles * piece.loops.approximate,
            "irregular": cycles * piece.loops.gathers,
            "calls": cycles * piece.loops.calls,
            "unmeasured": cycles * data.sum(axis=0) / total * (not node.doubts.measured),
            "contradiction": cycles * (node.doubts.contradicted @ data) / total,
        }
        if crowded.any():
            columns["crowded"] = cycles * crowded.any(axis=0)
        values = np.add.reduceat(np.stack(list(columns.values())) * weight, piece.begin, axis=1)
        shares = dict(zip(columns, values, strict=True))
        shares["tiles of memory"] = shares["tiles of memory"] * np.minimum(
            1.0, 10 * shares["memory"]
        )
        if node.threads > 1:
            several = (team > 1) * 1.0
            short = several / (1 + (seconds / SHORT) ** 2)
            shares["threads"] = np.ones(len(seconds))
            shares["short"] = short
            if self.machine.barrier is None and not (
                self.machine.calibration and self.machine.calibration.barriers
            ):
                shares["no barrier"] = short
        return shares


def _pieces(flows: Flows, cases: Cases) -> Iterator[Whole]:
    """Rows of cases with about ``_PIECE`` passes; those with conflicts apart."""
    count = flows.passes[cases.flow + 1] - flows.passes[cases.flow]
    for chosen in (np.flatnonzero(cases.crowd < 0), np.flatnonzero(cases.crowd >= 0)):
        if len(chosen):
            ends = np.cumsum(count[chosen])
            yield from np.split(chosen, np.flatnonzero(np.diff(ends // _PIECE)) + 1)


def _entry(node: Node, loop: Loops, at: Whole) -> Floats:
    """Cycles per iteration to enter loops, and to start their streams where memory jumps.

    A loop of few passes is left as foreseen; a longer one by a misprediction.
    """
    costs, run, jump = node.costs, node.flows.run[at], node.flows.jump[at]
    around = np.maximum(costs.loop_entry - costs.exit, loop.entry)
    passes = run / np.maximum(loop.rungs[:, 0, 0], 1.0)
    entries: Floats = around + np.where(passes > _FORESEEN, costs.exit, 0.0)
    result: Floats = entries / run + node.moved.starts[at] / jump
    return result


def _pieced(bounds: Whole, flow: Whole) -> tuple[Whole, Whole, Whole]:
    """Positions of the elements of some flows, how many each has, and where they begin."""
    first = bounds[flow]
    count = bounds[flow + 1] - first
    return spans(first, count), count, np.cumsum(count) - count


def _floor(flows: Flows, moved: Moved, costs: LineCosts, clock: float) -> Floats:
    """Seconds of every region below which memory cannot move the lines of all threads."""
    lines = flows.count * moved.memory_lines[flows.entry] * flows.alike[flows.entry_cell]
    region = flows.cell_region[flows.entry_cell]
    loaded = np.bincount(region, lines, len(flows.times)) * costs.line
    bandwidth = max(costs.memory, costs.fastest) * clock * flows.team[flows.region_flow]
    floor: Floats = np.nan_to_num(loaded / bandwidth, nan=0.0)
    return floor


def _conflicts(
    costs: LineCosts, cases: Cases, crowds: Conflicts, begin: Whole, owner: Whole
) -> tuple[Floats, Floats]:
    """(levels, passes) cycles of lines that conflicts load again; (levels, 1) zeros for none."""
    levels = len(costs.names) - 1
    if not (cases.crowd >= 0).any():
        return np.zeros((levels, 1)), np.zeros((levels, 1))
    price = np.array([costs.typical(level) for level in range(1, levels + 1)])[:, None]
    row = cases.crowd[owner] + np.arange(len(owner)) - begin[owner]
    some = cases.crowd[owner] >= 0
    row = np.where(some, row, 0)

    def cycles(lines: Floats) -> Floats:
        found: Floats = np.where(some & (lines[:, row] > 0), lines[:, row] * price, 0.0)
        return found

    return cycles(crowds.certain), cycles(crowds.possible)
