"""The traffic of programs that sweep over grids: streams with reuse distances, as for other
programs.

Across sweeps and time steps an array is one object, and the distances of first touches are those of
the module ``reuse_distance``. Within a sweep every line is touched again by other rows of the
stencil and by neighbouring blocks, at the distances of ``grid_distance``. Whole lines are counted,
and lines in the halos of blocks count each time they are loaded. So lines per iteration are the
lines that move.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from autotune.codegen.tree.loop_tree import (
    GridSweep,
    NodeBlock,
    PlaneFront,
    Repeat,
    StepProgram,
    SweepsOfPass,
    Tiles,
    several_sweeps,
)
from autotune.codegen.tree.unique_nodes import UniqueNodes
from autotune.domain.machine import Machine
from autotune.domain.problem import StencilProblem
from autotune.models.traffic.grid.front_shape import front_shape
from autotune.models.traffic.grid.grid_conflict import GridConflicts
from autotune.models.traffic.grid.grid_distance import GridReuse, reuses
from autotune.models.traffic.grid.grid_shape import GridShape, as_sweep, shape
from autotune.models.traffic.grid.overlap_traffic import (
    box_sweep,
    tile_schedule,
    tile_shape,
    tile_streams,
)
from autotune.models.traffic.grid.wavefront_traffic import (
    FrontTraffic,
    front_schedule,
    plane_shape,
    thread_streams,
)
from autotune.models.traffic.passes import DOUBLE, Pass, PassGroup, ThreadPasses, Touch
from autotune.models.traffic.reuse_distance import (
    POSITIONS,
    Floats,
    LineHistory,
    ThreadStreams,
    streams,
)
from autotune.models.traffic.schedule import PlanCache, Schedule, TimeStep, schedule
from autotune.models.traffic.set_conflicts import SetConflict
from autotune.models.traffic.stream_records import StepTraffic
from autotune.models.traffic.sweep_shape import STREAMING

_Plan = tuple[Schedule, tuple[Mapping[str, int], ...], SweepsOfPass | None]
"""A schedule, the blocked dimensions of every sweep, and several sweeps in one pass, if any."""


class _Streamed(NamedTuple):
    """What is stored past the caches."""

    sweeps: tuple[int, ...]
    """Numbers of the sweeps."""
    rows: frozenset[int]
    """Positions of the rows that they write, which no cache holds afterwards."""
    line: int
    """Bytes of a cache line."""


class _Entry(NamedTuple):
    """One stream of a sweep: of the touches of an array, by its position, those that are alike."""

    touch: int
    lines: float
    distance: Floats
    outward: Floats
    remote: bool = False
    streamed: bool = False
    again: bool = False


def _plan(program: StepProgram) -> _Plan:
    several = several_sweeps(program.body)
    if several is not None:
        sweeps, blocks = several
        if isinstance(sweeps, PlaneFront):
            return front_schedule(sweeps), (dict(blocks),), sweeps
        return tile_schedule(sweeps), (dict(blocks),), sweeps
    plan = schedule(program)
    return plan, tuple(_tiles(program.body, plan)), None


@dataclass(slots=True)
class GridAnalyser:
    """Analyses programs of stencils for one machine; equal sweeps and parts share results."""

    machine: Machine
    _plans: PlanCache[_Plan] = field(default_factory=lambda: PlanCache(_plan, UniqueNodes()))
    _reuses: dict[object, list[GridReuse]] = field(default_factory=dict)
    _traffics: dict[tuple[int, tuple[int, ...], int, int], StepTraffic] = field(
        default_factory=dict
    )

    def analyse(
        self, program: StepProgram, problem: StencilProblem, threads: int, nodes: int = 1
    ) -> StepTraffic:
        """The traffic of one steady-state time step on ``threads`` threads.

        Each thread has a contiguous part of the slowest dimension. Raises ValueError where several
        sweeps share a block or a sweep is not over the grid.
        """
        plan, tiles, several = self._plans[program]
        key = (id(plan), problem.extents, threads, nodes)
        if key not in self._traffics:
            self._traffics[key] = (
                self._traffic(plan, tiles, problem, threads, nodes)
                if several is None
                else self._several(plan, several, tiles[0], problem, threads, nodes)
            )
        return self._traffics[key]

    def _several(
        self,
        plan: Schedule,
        several: SweepsOfPass,
        blocks: Mapping[str, int],
        problem: StencilProblem,
        threads: int,
        nodes: int,
    ) -> StepTraffic:
        """The traffic of several sweeps in one pass."""
        if isinstance(several, PlaneFront):
            return self._front(plan, several, blocks, problem, threads, nodes)
        line = int(self.machine.line)
        parts = [
            (tile_shape(several, blocks, problem.extents, (planes, before + behind), line), alike)
            for planes, before, behind, alike in _parts(problem.extents[0], threads)
        ]
        widest = max((shape for shape, _ in parts), key=lambda shape: shape.part.extents[0])
        middle = widest.box((several.sweeps + 1) // 2)
        return GridTraffic(
            schedule=plan,
            shapes=(box_sweep(widest, problem.extents),),
            threads=tuple(tile_streams(shape, plan, alike, self._reuses) for shape, alike in parts),
            components=problem.n,
            line=line,
            levels=self._levels(problem, threads, nodes),
            grids=(middle,),
            extents=problem.extents,
        )

    def _front(
        self,
        plan: Schedule,
        front: PlaneFront,
        blocks: Mapping[str, int],
        problem: StencilProblem,
        threads: int,
        nodes: int,
    ) -> StepTraffic:
        """The traffic of several sweeps that follow one another plane by plane."""
        line = int(self.machine.line)
        parts = [
            (front_shape(front, blocks, problem.extents, (planes, before + behind), line), alike)
            for planes, before, behind, alike in _parts(problem.extents[0], threads)
        ]
        widest = max((shape for shape, _ in parts), key=lambda shape: shape.planes)
        return FrontTraffic(
            schedule=plan,
            shapes=(plane_shape(widest, problem.extents),),
            threads=tuple(
                thread_streams(shape, plan, alike, self._reuses) for shape, alike in parts
            ),
            components=problem.n,
            line=line,
            levels=self._levels(problem, threads, nodes),
            front=widest,
            extents=problem.extents,
        )

    def _levels(
        self, problem: StencilProblem, threads: int, nodes: int
    ) -> tuple[tuple[str, float], ...]:
        """The caches with the bytes that a thread has of each; threads without planes have none."""
        sharing = -(-min(threads, problem.extents[0]) // nodes)
        caches = self.machine.caches
        sizes = [(cache.name, cache.size / min(sharing, cache.cores)) for cache in caches]
        return (*sizes, ("MEM", float("inf")))

    def _traffic(
        self,
        plan: Schedule,
        tiles: Sequence[Mapping[str, int]],
        problem: StencilProblem,
        threads: int,
        nodes: int,
    ) -> StepTraffic:
        threads_streams: list[ThreadStreams] = []
        for planes, before, behind, alike in _parts(problem.extents[0], threads):
            shapes = self._shapes(plan, tiles, problem, planes)
            threads_streams.append(self._thread(plan, shapes, (before, behind), alike))
        widest = max(planes for planes, *_ in _parts(problem.extents[0], threads))
        grids = self._shapes(plan, tiles, problem, widest)
        return GridTraffic(
            schedule=plan,
            shapes=tuple(as_sweep(item, problem.extents) for item in grids),
            threads=tuple(threads_streams),
            components=problem.n,
            line=int(self.machine.line),
            levels=self._levels(problem, threads, nodes),
            grids=grids,
            extents=problem.extents,
        )

    def _shapes(
        self,
        plan: Schedule,
        tiles: Sequence[Mapping[str, int]],
        problem: StencilProblem,
        planes: int,
    ) -> tuple[GridShape, ...]:
        return tuple(
            shape(sweep, sizes, problem.extents, planes)
            for sweep, sizes in zip(plan.sweeps, tiles, strict=True)
            if isinstance(sweep, GridSweep)
        )

    def _thread(
        self, plan: Schedule, shapes: Sequence[GridShape], shared: tuple[bool, bool], alike: int
    ) -> ThreadStreams:
        line = int(self.machine.line)
        for item in shapes:
            if item not in self._reuses:
                self._reuses[item] = reuses(item, line)
        of_sweeps = [self._reuses[item] for item in shapes]
        sizes = [0.0] * len(plan.rows)
        for step in plan.steps:
            for call in step.calls:
                rows = dict(call.rows)
                for reuse in of_sweeps[call.sweep]:
                    row = rows[reuse.parameter]
                    sizes[row] = max(sizes[row], reuse.events.first * line)
        steps = tuple(_groups(step, shapes) for step in plan.steps)
        across = streams(ThreadPasses(steps, tuple(sizes), alike), line)
        return _expanded(
            across, plan.steps[-1], shapes, of_sweeps, shared, self._streamed(plan, line)
        )

    def _streamed(self, plan: Schedule, line: int) -> _Streamed:
        """The sweeps that store past the caches, and the rows that they write."""
        if self.machine.architecture != STREAMING:
            return _Streamed((), frozenset(), line)
        targets = {
            number: sweep.target
            for number, sweep in enumerate(plan.sweeps)
            if isinstance(sweep, GridSweep) and sweep.streamed
        }
        rows = {
            dict(call.rows)[targets[call.sweep]]
            for step in plan.steps
            for call in step.calls
            if call.sweep in targets
        }
        return _Streamed(tuple(targets), frozenset(rows), line)


@dataclass(frozen=True)
class GridTraffic(StepTraffic):
    """The traffic of a program over a grid; its set conflicts depend on rows, planes and blocks."""

    grids: tuple[GridShape, ...] = ()
    """The shape of each sweep for a thread with the most planes."""
    extents: tuple[int, ...] = ()

    def conflicts(
        self, call: int, pad_lines: int, machine: Machine, iterations: float
    ) -> list[SetConflict]:
        """The set conflicts of a call for a loop of ``iterations`` per pass, with rows padded by
        ``pad_lines``.
        """
        sweep_call = self.schedule.steps[-1].calls[call]
        item = self.grids[sweep_call.sweep]
        mine = self.threads[0]
        owned = [k for k, call_pass in enumerate(mine.passes) if call_pass.call == call]
        chosen = np.isin(mine.owner, owned)
        layout = GridConflicts(item, dict(sweep_call.rows), self.extents, pad_lines)
        return layout.find(
            machine.caches,
            iterations,
            mine.history.distance[chosen].mean(axis=1),
            mine.lines[chosen],
        )


def _tiles(body: NodeBlock, plan: Schedule) -> Iterator[Mapping[str, int]]:
    """The blocked dimensions of every sweep of a schedule."""
    sizes_of = {id(sweep): sizes for sweep, sizes in _blocked(body, {})}
    for sweep in plan.sweeps:
        if not isinstance(sweep, GridSweep):
            raise ValueError(f"sweep {sweep.name} is not over the grid")
        yield sizes_of[id(sweep)]


def _blocked(
    block: NodeBlock, around: Mapping[str, int]
) -> Iterator[tuple[GridSweep, Mapping[str, int]]]:
    if around and sum(isinstance(node, GridSweep) for node in block.nodes) > 1:
        raise ValueError("several sweeps within one block")
    for node in block.nodes:
        if isinstance(node, GridSweep):
            inner = [d for d in node.dimensions if d in around]
            if inner != list(around):
                raise ValueError(f"blocks of {', '.join(around)} are not in the dimensions' order")
            yield node, around
        elif isinstance(node, Tiles):
            yield from _blocked(node.body, {**around, node.dimension or "": node.size})
        elif isinstance(node, Repeat):
            yield from _blocked(node.body, around)


def _parts(planes: int, threads: int) -> list[tuple[int, bool, bool, int]]:
    """The distinct parts of threads: (planes, thread before it, thread behind it, number of equal
    threads).
    """
    cuts = [planes * part // threads for part in range(threads + 1)]
    counts: dict[tuple[int, bool, bool], int] = {}
    for first, end in pairwise(cuts):
        if end > first:
            key = (end - first, first > 0, end < planes)
            counts[key] = counts.get(key, 0) + 1
    return [(*key, alike) for key, alike in counts.items()]


def _groups(step: TimeStep, shapes: Sequence[GridShape]) -> tuple[PassGroup, ...]:
    """The calls of a step, each as one pass over whole arrays."""
    groups = []
    for number, call in enumerate(step.calls):
        item, rows = shapes[call.sweep], dict(call.rows)
        touches = tuple(
            Touch(rows[a.parameter], rows[a.parameter], a.read, a.written, False, (), again=a.again)
            for a in item.accesses
        )
        streams_ = sum(len(access.rows) for access in item.accesses)
        sweep_pass = Pass(number, float(item.points), touches, True, item.run, streams_)
        groups.append(PassGroup((sweep_pass,), 1.0, float(item.points)))
    return tuple(groups)


def _expanded(
    across: ThreadStreams,
    step: TimeStep,
    shapes: Sequence[GridShape],
    reuses: Sequence[Sequence[GridReuse]],
    shared: tuple[bool, bool],
    past: _Streamed,
) -> ThreadStreams:
    """The streams of all arrays: first touches from across sweeps and, after each, the repeated
    touches within the sweep.
    """
    entries: list[_Entry] = []
    never = np.full(POSITIONS, np.inf)
    counts_of = dict.fromkeys(range(len(across.passes)), 0)
    for index, owner in enumerate(across.owner.tolist()):
        sweep = step.calls[across.passes[owner].call].sweep
        reuse, points = reuses[sweep][counts_of[owner]], shapes[sweep].points
        counts_of[owner] += 1
        written = not np.isnan(across.outward[index, 0])
        other = sum(n for n, flag in zip(reuse.events.beyond, shared, strict=True) if flag)
        first, out = across.history.distance[index], across.outward[index]
        if int(across.row[index]) in past.rows:
            first = never
        lines = reuse.events.first - other
        if written and sweep in past.sweeps:
            whole, row = shapes[sweep].whole_lines(past.line // DOUBLE)
            entries.append(_Entry(index, lines * whole / row / points, never, never, streamed=True))
            lines *= 1 - whole / row
        again = bool(across.history.again[index])
        entries.append(_Entry(index, lines / points, first, out, again=again))
        if other:
            nowhere = np.full(POSITIONS, np.nan)
            entries.append(_Entry(index, other / points, first, nowhere, remote=True))
        for lines, distance in reuse.merged():
            far = np.full(POSITIONS, distance)
            entries.append(_Entry(index, lines / points, far, far if written else far * np.nan))
    origin = np.array([entry.touch for entry in entries])
    return ThreadStreams(
        owner=across.owner[origin],
        row=across.row[origin],
        history=LineHistory(
            distance=np.stack([entry.distance for entry in entries]),
            stores=across.history.stores[origin],
            remote=np.array([entry.remote for entry in entries]),
            reclaimed=np.zeros(len(origin)),
            streamed=np.array([entry.streamed for entry in entries]),
            again=np.array([entry.again for entry in entries]),
        ),
        outward=np.stack([entry.outward for entry in entries]),
        lines=np.array([entry.lines for entry in entries]),
        passes=across.passes,
        alike=across.alike,
    )
