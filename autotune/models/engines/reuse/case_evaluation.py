"""Evaluates many cases on one machine at once: seconds, uncertainties, and parts of both.

A *case* is the traffic of a program with the in-core times of its sweeps: the input of the model
for a candidate. Cases with equal numbers of threads are evaluated together, in pieces that fit the
caches. Their passes are gathered into flat arrays; everything else is arithmetic on these.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from autotune.domain.machine import Machine
from autotune.models.engines.reuse import uncertainty
from autotune.models.engines.reuse.batch import FlowArrays, spans, total
from autotune.models.engines.reuse.core_times import (
    ProgramLoops,
    VectorRuns,
    again_cycles,
    run_times,
)
from autotune.models.engines.reuse.evaluation_pieces import (
    BareNode,
    CaseArrays,
    CaseEstimates,
    CasePiece,
    ConflictLines,
    LoadedNode,
    ThreadPlacement,
    TimeDoubts,
)
from autotune.models.engines.reuse.line_constants import calibrated_costs
from autotune.models.engines.reuse.line_cost import LineCosts
from autotune.models.engines.reuse.time_model import (
    TINY,
    CorePassTimes,
    LineTimes,
    OverlapRules,
    StepPaths,
    StepTimes,
    row_cycles,
    step_times,
    transfers,
)
from autotune.models.traffic import POSITIONS, Floats, Whole

_UNKNOWN = 0.5
"""Relative standard deviation where a figure that may matter is missing."""
_PIECE = 32_000
"""Number of passes evaluated at once: few enough that their arrays stay in caches."""


class Evaluator:
    """Evaluates cases on one machine; remembers the transfers of flows it has computed."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._nodes: dict[ThreadPlacement, LoadedNode] = {}
        self._bare: dict[ThreadPlacement, BareNode] = {}
        self._parts: dict[ThreadPlacement, int] = {}

    def node(self, spread: ThreadPlacement, parts: Sequence[FlowArrays]) -> LoadedNode:
        """The machine with some threads running, and the transfers of ``parts``.

        The result is remembered by thread placement. A later call may append to ``parts``, but not
        change the earlier ones.
        """
        loaded = self._nodes.get(spread)
        have = self._parts.get(spread, 0)
        for part in parts[have:]:
            added = self._filled(self.bare(spread), part)
            loaded = loaded.joined(added) if loaded else added
        if loaded is None:
            raise ValueError("there is nothing to evaluate")
        self._nodes[spread], self._parts[spread] = loaded, len(parts)
        return loaded

    def bare(self, spread: ThreadPlacement) -> BareNode:
        """The machine with some threads running; remembered by thread placement."""
        if spread not in self._bare:
            self._bare[spread] = self._empty(spread)
        return self._bare[spread]

    def _empty(self, spread: ThreadPlacement) -> BareNode:
        threads = spread.threads
        costs = calibrated_costs(self.machine, threads, spread.placement)
        rules = OverlapRules(
            exposed=(costs.exposed * (not costs.beside))[1:],
            arithmetic=None if costs.arithmetic is None else costs.arithmetic[1:],
        )
        doubts = uncertainty.parameter_deviations(self.machine, costs, rules, threads)
        price = np.array([costs.typical(level) for level in range(1, len(costs.names))])
        if costs.conflict is not None:
            price[0] = costs.conflict
        names = tuple(assumption.name for assumption in uncertainty.assumptions(rules, doubts))
        return BareNode(threads, costs, rules, doubts, price, names)

    def _filled(self, bare: BareNode, part: FlowArrays) -> LoadedNode:
        """The node with the transfers of some flows computed."""
        within = bare.costs.exposed[:1]
        low, high = bare.doubts.low.exposed, bare.doubts.high.exposed
        lines = transfers(
            part, bare.costs, np.concatenate([within, low]), np.concatenate([within, high])
        )
        return LoadedNode(
            bare=bare,
            flows=part,
            data=uncertainty.assumed(lines, bare.rules, bare.doubts),
            mean=lines.mean,
            stored=lines.stored,
            starts=lines.starts,
            again=lines.again,
            across=lines.across,
            streams=lines.streams,
            floor=_floor(part, lines, bare.costs, float(self.machine.frequency)),
        ).merged()

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

    def estimate(
        self, node: LoadedNode, cases: CaseArrays, core: ProgramLoops, crowds: ConflictLines
    ) -> CaseEstimates:
        """Seconds and uncertainty of every case, in order."""
        count = len(cases.flow)
        classes = node.doubts.classes
        seconds, floor = np.empty(count), np.empty(count)
        doubts = TimeDoubts.unknown(count, len(classes))
        for rows in _pieces(node.flows, cases):
            piece = self.piece(node, cases.at(rows), core, crowds)
            with np.errstate(all="ignore"):
                step = self.steps(piece)
                seconds[rows], floor[rows] = step.seconds, step.floor
                doubts.put(rows, self._doubts(node, piece, step, cases, rows))
        return CaseEstimates(seconds=seconds, floor=floor, doubts=doubts)

    def piece(
        self, node: LoadedNode, cases: CaseArrays, core: ProgramLoops, crowds: ConflictLines
    ) -> CasePiece:
        """The passes of some cases gathered into arrays, with the cycles of the distinct ones."""
        flows = node.flows
        at, count, begin = _pieced(flows.passes, cases.flow)
        owner = np.repeat(np.arange(len(count)), count)
        work = flows.work[at]
        loop = core.place[cases.core[owner] + flows.sweep[at]]
        row = cases.crowd[owner] + np.arange(len(owner)) - begin[owner]
        crowd = crowds.kind[np.where(cases.crowd[owner] < 0, -1, row)]
        distinct, alike = _distinct_passes(work, loop, crowd)
        work, loops = work[distinct], core.loops.at(loop[distinct])
        runs = VectorRuns(
            length=flows.run[work],
            head=flows.head[work],
            cut=flows.cut[work],
            align=flows.align[work],
        )
        times = run_times(loops, runs, node.costs, node.bare.threads)
        core_times = CorePassTimes(
            T_OL=times.T_OL,
            T_nOL=times.T_nOL,
            again=again_cycles(node.again[:, work], times, node.costs),
            stored=node.stored[work],
            entry=times.entry + node.starts[work],
            across=node.across[0, work],
            waiting=node.across[1, work] * times.delayed,
        )
        data, conflicts = node.data.at(work), None
        if (cases.crowd >= 0).any():
            conflicts = _conflicts(node.bare.price, crowds, crowd[distinct])
            data = uncertainty.with_conflicts(data, conflicts[0], node.bare.rules, node.doubts)
        rows = row_cycles(core_times, data)
        late = _late(node, rows, work)
        waits = ((cases.team > 1) & (flows.barriers[cases.flow] > 0))[owner]
        return CasePiece(
            core=core_times,
            data=data,
            conflicts=conflicts,
            rows=rows,
            loops=loops,
            work=work,
            alike=alike,
            paths=self._paths(node, cases, begin, np.where(waits, late[alike], 0.0)),
            begin=begin,
            owner=owner,
            at=at,
        )

    def steps(self, piece: CasePiece) -> StepTimes:
        """The times of the time steps of all cases in a piece."""
        return step_times(piece.cycles, piece.paths, float(self.machine.frequency))

    def _paths(self, node: LoadedNode, cases: CaseArrays, begin: Whole, late: Floats) -> StepPaths:
        """The cells and regions of some cases; their passes are numbered from ``begin``."""
        flows, flow = node.flows, cases.flow
        executions = flows.executions
        entry, entries, entry_first = _pieced(flows.entries, flow)
        cell, cells, cell_first = _pieced(flows.cells, flow)
        region, regions, region_first = _pieced(flows.regions, flow)
        meeting = np.minimum(cases.team, flows.meeting[flow])
        teams, place = np.unique(meeting, return_inverse=True)
        barrier = np.array([self.barrier(int(team)) or 0.0 for team in teams])[place]
        return StepPaths(
            entry=executions.entry[entry] + np.repeat(begin - flows.passes[flow], entries),
            count=executions.count[entry],
            cells=executions.cell_begin[cell] + np.repeat(entry_first - flows.entries[flow], cells),
            regions=executions.region_begin[region]
            + np.repeat(cell_first - flows.cells[flow], regions),
            times=executions.times[region],
            floor=node.floor[region],
            steps=region_first,
            barriers=flows.barriers[flow] * barrier,
            late=late,
        )

    # --- what is unsure -------------------------------------------------------------------

    def _doubts(
        self, node: LoadedNode, piece: CasePiece, step: StepTimes, cases: CaseArrays, rows: Whole
    ) -> TimeDoubts:
        """The uncertainty of the time of each case of a piece.

        A class is a figure of the machine that may be wrong, or a regime; see the module
        uncertainty.
        """
        doubt = node.doubts
        clock = float(self.machine.frequency)
        weight = step.free / clock / step.seconds[piece.owner]
        width = piece.loops.width
        changes = uncertainty.changes(piece.core, width, piece.data, piece.rows)
        *changed, core = piece.per_case(np.vstack([changes, changes[-2] / width]), weight)
        shift = dict(zip((*node.bare.names[1:], "core", "entry"), changed, strict=True))
        growth = shift | {"core": core}
        growth["entry"] = shift["entry"] / uncertainty.ENTRY
        less = np.minimum(shift.pop("more overlap"), 0.0)
        more = np.maximum(shift.pop("less overlap"), 0.0)
        growth["overlap"] = more - less
        shift["overlap"] = uncertainty.reaching(less, more) if doubt.spans else (more - less) / 2
        growth["capacity"] = shift["capacity"] = (shift.pop("smaller") - shift.pop("larger")) / 2
        if piece.conflicts is not None:
            less, more = self._crowding(node, piece, weight)
            growth["conflicts"], shift["conflicts"] = -less, uncertainty.reaching(less, more)
        bound, zero = step.bound / step.seconds, np.zeros(len(step.seconds))
        for level, name in enumerate(doubt.names):
            memory = bound if level == len(doubt.names) - 1 else zero
            growth[name] = shift.get(name, zero) / doubt.levels[level] + memory
            shift[name] = growth[name] * doubt.levels[level]
        waiting = step.barriers / step.seconds
        growth["barrier"], shift["barrier"] = waiting, waiting * doubt.barrier
        growth["clock"] = 1.0 - waiting - bound
        shift["clock"] = growth["clock"] * doubt.clock
        shares = self._regimes(node, piece, step, cases.team[rows])
        growth |= shares
        shifted, independent = uncertainty.regime_shifts(shares)
        shift |= shifted
        terms = np.stack([growth.get(name, zero) for name in doubt.classes], axis=1)
        shifts = np.stack([shift.get(name, zero) for name in doubt.classes], axis=1)
        # A level without figures may be only where lines would come from if caches were smaller.
        unknown = np.isnan(shifts)
        shifts[unknown], terms[unknown] = _UNKNOWN, 0.0
        return TimeDoubts(
            shifts=shifts, terms=terms * step.seconds[:, None], independent=np.sqrt(independent)
        )

    def _crowding(
        self, node: LoadedNode, piece: CasePiece, weight: Floats
    ) -> tuple[Floats, Floats]:
        """The relative changes of a case's time without any set conflict and with all possible
        ones.
        """
        assert piece.conflicts is not None
        plain, stated = node.data.at(piece.work), piece.rows[POSITIONS]
        none, every = uncertainty.crowding(piece.core, plain, piece.conflicts[1], node.bare.rules)
        both = np.stack([none - stated, np.maximum(every - stated, 0.0)])
        less, more = piece.per_case(both, weight)
        return less, more

    def _regimes(
        self, node: LoadedNode, piece: CasePiece, step: StepTimes, team: Whole
    ) -> dict[str, Floats]:
        """The share of the time of every case that is spent under the condition of each regime."""
        seconds, flows, doubt = step.seconds, node.flows, node.doubts
        weight = step.weight / float(self.machine.frequency) / seconds[piece.owner]
        cycles, moving = piece.rows[POSITIONS], piece.data.total[POSITIONS]
        inside = cycles / np.maximum(np.maximum(moving, cycles), TINY)
        columns = {
            "model": cycles,
            "memory": inside * node.mean[-1][piece.work],
            "tiles of memory": cycles * flows.shared[piece.work],
            "grids": cycles * (np.isfinite(flows.jump[piece.work]) & ~flows.shared[piece.work]),
        }
        for name, flag in (
            ("approximate", piece.loops.approximate),
            ("irregular", piece.loops.gathers),
            ("calls", piece.loops.calls),
        ):
            if flag.any():
                columns[name] = cycles * flag
        if not doubt.measured:
            columns["unmeasured"] = inside * moving
        if doubt.contradicted.any():
            columns["contradiction"] = inside * (doubt.contradicted @ node.mean[:, piece.work])
        if piece.conflicts is not None:
            columns["crowded"] = cycles * piece.conflicts[0].any(axis=0)
        values = piece.per_case(np.stack(list(columns.values())), weight)
        shares = dict(zip(columns, values, strict=True))
        shares["tiles of memory"] = shares["tiles of memory"] * np.minimum(
            1.0, 10 * shares["memory"]
        )
        if node.bare.threads > 1:
            stated = self.barrier(node.bare.threads) is not None
            shares |= uncertainty.parallel_shares(seconds, team > 1, barrier_stated=stated)
        return shares


def _pieces(flows: FlowArrays, cases: CaseArrays) -> Iterator[Whole]:
    """The positions of cases in groups of about ``_PIECE`` passes; cases with set conflicts form
    groups of their own.
    """
    count = flows.passes[cases.flow + 1] - flows.passes[cases.flow]
    for chosen in (np.flatnonzero(cases.crowd < 0), np.flatnonzero(cases.crowd >= 0)):
        if len(chosen):
            ends = np.cumsum(count[chosen])
            yield from np.split(chosen, np.flatnonzero(np.diff(ends // _PIECE)) + 1)


def _pieced(bounds: Whole, flow: Whole) -> tuple[Whole, Whole, Whole]:
    """The positions of the elements that belong to some flows, the count for each flow, and where
    each flow begins.
    """
    first = bounds[flow]
    count = bounds[flow + 1] - first
    return spans(first, count), count, np.cumsum(count) - count


def _distinct_passes(*numbers: Whole) -> tuple[Whole, Whole]:
    """(distinct, alike): the position of one of all passes with equal numbers, and for each pass
    the place of that one.
    """
    key = np.zeros_like(numbers[0])
    for number in numbers:
        key = key * (number.max() + 1) + number
    keys, alike = np.unique(key, return_inverse=True)
    distinct = np.empty(len(keys), dtype=np.int64)
    distinct[alike] = np.arange(len(key))
    return distinct, alike


def _floor(flows: FlowArrays, lines: LineTimes, costs: LineCosts, clock: float) -> Floats:
    """The least seconds in which memory can move the lines of all threads, for every region."""
    done = flows.executions
    moved = done.count * lines.memory_lines[flows.work[done.entry]] * done.alike[done.entry_cell]
    region = done.cell_region[done.entry_cell]
    loaded = total(region, moved, len(done.times)) * costs.line
    bandwidth = max(costs.memory, costs.fastest) * clock * flows.team[done.region_flow]
    floor: Floats = np.nan_to_num(loaded / bandwidth, nan=0.0)
    return floor


def _late(node: LoadedNode, rows: Floats, work: Whole) -> Floats:
    """(distinct,): the share of each pass that the last thread at the barrier behind it is late.

    Work on lines from a level has the share of that level, the rest that of the innermost one
    measured.
    """
    if node.costs.waiting is None or node.bare.threads == 1:
        return np.zeros(len(work))
    inner, *levels = node.costs.waiting[1:].tolist()
    cycles = np.maximum(rows[POSITIONS], TINY)
    share = np.full(len(work), inner)
    for level, late in enumerate(levels, start=1):
        share += (late - inner) * np.minimum(1.0, node.mean[level, work] / cycles)
    result: Floats = np.maximum(share, 0.0)
    return result


def _conflicts(price: Floats, crowds: ConflictLines, kind: Whole) -> tuple[Floats, Floats]:
    """(levels, distinct) cycles of lines loaded again by set conflicts: those that are certain,
    and at most.
    """

    def cycles(lines: Floats) -> Floats:
        again = lines[:, kind]
        loaded: Floats = np.where(again > 0, again * price[:, None], 0.0)
        return loaded

    return cycles(crowds.certain), cycles(crowds.possible)
