"""The traffic of several sweeps over a grid in one pass: streams with reuse distances.

The first sweep reads the grid, the last one writes it, and those between them move planes of rings.
So there are up to three calls: the first sweep, those in between as one, and the last. Points that
blocks and threads compute for their neighbours count as iterations. Everything is divided by the
number of sweeps, since a time step is one sweep. The few ghosts that are copied into rings are not
counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from autotune.codegen.tree.loop_tree import GridSweep, PlaneFront, SweepsOfPass
from autotune.domain.machine import Machine
from autotune.domain.stencil import LINE, strides
from autotune.models.traffic.grid.front_shape import FrontShape
from autotune.models.traffic.grid.grid_distance import GridReuse, reuses
from autotune.models.traffic.grid.grid_shape import GridAccess, as_sweep
from autotune.models.traffic.grid.plane_distance import FrontDistances, plane_offsets
from autotune.models.traffic.passes import DOUBLE, Pass
from autotune.models.traffic.reuse_distance import POSITIONS, Floats, LineHistory, ThreadStreams
from autotune.models.traffic.schedule import CallPhase, Schedule, SweepCall, TimeStep
from autotune.models.traffic.set_conflicts import PAGE, SetConflict, crowded
from autotune.models.traffic.stream_records import StepTraffic
from autotune.models.traffic.sweep_shape import SweepShape

_RINGS = "rings"
"""The name of the row that stands for all rings."""
_RING_SHIFT_LINES = 24
"""Lines by which each plane of a ring begins later in its page (runtime/wavefront.h)."""


class RowStream(NamedTuple):
    """One stream of a call: its row, its lines in one plane of a block, and its distances."""

    row: str
    lines: float
    distance: float
    stores: bool = False
    remote: bool = False
    outward: float | None = None
    """None: the stream does not write."""


@dataclass(frozen=True)
class FrontTraffic(StepTraffic):
    """The traffic of a pass of several sweeps; set conflicts depend on where its planes lie."""

    front: FrontShape | None = None
    extents: tuple[int, ...] = ()

    def conflicts(
        self,
        call: int,  # noqa: ARG002 - all sweeps of a pass read planes of rings in the same way
        pad_lines: int,
        machine: Machine,
        iterations: float,
    ) -> list[SetConflict]:
        """The set conflicts between the rows that a sweep between the first and the last walks
        along, for a loop of ``iterations`` per pass.
        """
        assert self.front is not None
        starts = _row_starts(self.front, self.extents, pad_lines)
        result = []
        for cache in machine.caches:
            if cache.cores > 1:
                continue
            crowd = crowded(starts, cache, iterations)
            if crowd:
                certain = cache.sets * cache.line <= PAGE
                result.append(SetConflict(cache.name, crowd[0], cache.ways, crowd[1], certain))
        return result


def front_schedule(front: PlaneFront) -> Schedule:
    """The calls of one time step: the first, the middle (if any) and the last sweep of a pass."""
    return pass_schedule(front, front.plane, (_RINGS,))


def pass_schedule(several: SweepsOfPass, code: GridSweep, between: Sequence[str]) -> Schedule:
    """The calls of one time step of a pass, which run the sweep ``code``; ``between``: names of the
    rows that sweeps in between write in turn.
    """
    stored = [row.array for _, row in several.sweep.rows]
    target = dict(several.sweep.rows)[several.sweep.target].array
    names = (*dict.fromkeys(stored), *between)
    calls = []
    for sweep in representatives(several.sweeps):
        rows = {
            several.source: several.source if sweep == 1 else between[(sweep - 1) % len(between)],
            target: target if sweep == several.sweeps else between[sweep % len(between)],
        }
        calls.append(
            SweepCall(
                0,
                tuple(
                    (parameter, names.index(rows.get(row.array, row.array)))
                    for parameter, row in several.sweep.rows
                ),
            )
        )
    step = TimeStep(
        calls=tuple(calls),
        phases=tuple(CallPhase((index,), None) for index in range(len(calls))),
        regions=(tuple((index, 1) for index in range(len(calls))),),
        barriers=1.0 / several.sweeps,
    )
    return Schedule((code,), (step,), names)


def representatives(sweeps: int) -> list[int]:
    """A sweep for each call: the first, one that stands for those in between, and the last."""
    return [1, sweeps] if sweeps == 2 else [1, (sweeps + 1) // 2, sweeps]


def plane_shape(shape: FrontShape, extents: tuple[int, ...]) -> SweepShape:
    """The sweep of one plane in a full block, as a sweep over components."""
    middle = representatives(shape.sweeps)[-2]
    whole = as_sweep(shape.plane(middle), (1, *extents[1:]))
    if shape.counts[1] == 1:
        return whole
    first = range(0, shape.part.extents[2], shape.part.blocks[2])
    starts = tuple(shape.radius + max(0, at - shape.around(middle)) for at in first[:LINE])
    return replace(whole, starts=starts)


def thread_streams(
    shape: FrontShape, plan: Schedule, alike: int, cache: dict[object, list[GridReuse]]
) -> ThreadStreams:
    """The streams of a thread; ``cache`` keeps what planes of equal shape share."""
    passes, entries = [], []
    distances = FrontDistances(shape)
    walked = sum(len(access.rows) for access in shape.part.accesses)
    for call, sweep in enumerate(representatives(shape.sweeps)):
        rows, width = shape.block_of(sweep)
        alone = call in (0, len(plan.steps[-1].calls) - 1)
        computed = [sweep] if alone else range(2, shape.sweeps)
        points = sum(shape.points(s) for s in computed) / shape.sweeps
        run = float(rows * width if shape.counts[1] == 1 else width)
        passes.append(Pass(call, points, (), True, run, walked))
        plane = shape.plane(sweep)
        if plane not in cache:
            cache[plane] = reuses(plane, shape.line)
        for stream in _Sweep(distances, sweep, tuple(cache[plane])).streams():
            entries.append((call, stream._replace(lines=stream.lines / (rows * width))))
    return thread_streams_of(entries, plan, tuple(passes), alike)


def thread_streams_of(
    entries: Sequence[tuple[int, RowStream]], plan: Schedule, passes: tuple[Pass, ...], alike: int
) -> ThreadStreams:
    """The streams as arrays, with the pass of each."""

    def positions(values: Sequence[float]) -> Floats:
        return np.repeat(np.array(values, dtype=np.float64)[:, None], POSITIONS, axis=1)

    streams = [stream for _, stream in entries]
    return ThreadStreams(
        owner=np.array([call for call, _ in entries]),
        row=np.array([plan.rows.index(stream.row) for stream in streams]),
        history=LineHistory(
            distance=positions([stream.distance for stream in streams]),
            stores=np.array([stream.stores for stream in streams]),
            remote=np.array([stream.remote for stream in streams]),
            reclaimed=np.zeros(len(streams)),
            streamed=np.zeros(len(streams), dtype=np.bool_),
            again=np.zeros(len(streams), dtype=np.bool_),
        ),
        outward=positions([np.nan if s.outward is None else s.outward for s in streams]),
        lines=np.array([stream.lines for stream in streams]),
        passes=passes,
        alike=alike,
    )


@dataclass(frozen=True, slots=True)
class _Sweep:
    """One sweep of a pass, in the part of a plane that belongs to a block."""

    distances: FrontDistances
    sweep: int
    within: tuple[GridReuse, ...]
    """Touches of lines again by the same sweep in the same plane."""

    def streams(self) -> Iterator[RowStream]:
        """The streams of the sweep; lines are those of one plane of a block."""
        shape = self.distances.shape
        for access, reuse in zip(shape.part.accesses, self.within, strict=True):
            if access.parameter == shape.target:
                yield self._write()
                continue
            row = self._row(access)
            yield from self._read(access, row)
            for lines, distance in reuse.merged():
                yield RowStream(row, lines, distance)

    def _row(self, access: GridAccess) -> str:
        source = access.parameter == self.distances.shape.source.parameter
        return _RINGS if source and self.sweep > 1 else access.parameter

    def _write(self) -> RowStream:
        distances, shape = self.distances, self.distances.shape
        lines = shape.written(self.sweep) / shape.line
        if self.sweep == shape.sweeps:
            across = distances.grid()
            return RowStream(shape.target, lines, across, stores=True, outward=across)
        offsets = plane_offsets(shape.source)
        gaps = [a - b for a, b in pairwise(offsets)]
        replaced = max(1, shape.radius + 1 + offsets[-1])
        longest = max(map(distances.fronts, {replaced, shape.radius - offsets[0], *gaps}))
        # only the next sweep reads this ring, and its last plane before this sweep comes again
        again = distances.fronts(replaced)
        if replaced == 1:
            again -= shape.depth * shape.written(self.sweep)
        return RowStream(_RINGS, lines, again, stores=True, outward=longest)

    def _read(self, access: GridAccess, row: str) -> Iterator[RowStream]:
        """The first touch of each plane in a front: planes that the front before has touched, and
        lines that come in with this front.
        """
        offsets = plane_offsets(access)
        reached, before = 0.0, offsets[0]
        for offset in offsets:
            lines = self.distances.read(self.sweep, access, offset)
            again = min(lines, reached)
            if again:
                yield RowStream(row, again, self.distances.fronts(before - offset))
            if lines > again:
                yield from self._incoming(access, row, lines - again)
            reached, before = max(reached, lines), offset

    def _incoming(self, access: GridAccess, row: str, lines: float) -> Iterator[RowStream]:
        distances, shape = self.distances, self.distances.shape
        offsets = plane_offsets(access)
        if self.sweep == 1:
            yield from self._from_grid(row, lines * self._fill(offsets))
            return
        lag = shape.radius - offsets[0]
        if access.parameter != shape.source.parameter:
            lag += offsets[-1]  # the sweep before has read the plane last at this offset
        far = distances.fronts(lag) if lag > 0 else distances.call(self.sweep)
        yield RowStream(row, lines, far)

    def _fill(self, offsets: Sequence[int]) -> float:
        """Planes of the grid that a block reads, over the planes that its first sweep computes."""
        planes = self.distances.shape.planes_of(1)
        return (planes + offsets[0] - offsets[-1]) / planes

    def _from_grid(self, row: str, lines: float) -> Iterator[RowStream]:
        """Lines that a pass has not touched before, or in another block, or that another thread
        wrote.
        """
        distances, shape = self.distances, self.distances.shape
        across = distances.grid()
        remote = (shape.planes_of(0) - shape.planes) / shape.planes_of(0)
        fresh_j, fresh_i = (self._fresh(axis) for axis in (1, 2))
        fresh = fresh_j * fresh_i
        if remote:
            yield RowStream(row, lines * fresh * remote, across, remote=True)
        yield RowStream(row, lines * fresh * (1 - remote), across)
        block = distances.block()
        if fresh_i < 1:
            yield RowStream(row, lines * fresh_j * (1 - fresh_i), min(block, across))
        if fresh_j < 1:
            row_of_blocks = min(block * shape.counts[1], across)
            yield RowStream(row, lines * (1 - fresh_j), row_of_blocks)

    def _fresh(self, axis: int) -> float:
        """The share of the lines along j or i that no block before has read."""
        shape = self.distances.shape
        if shape.counts[axis - 1] == 1:
            return 1.0
        ghosts = 2 * shape.radius
        computed = shape.width_of(1) if axis == 2 else shape.rows_of(1)
        return (shape.part.extents[axis] + ghosts) / (computed + ghosts * shape.counts[axis - 1])


def _row_starts(shape: FrontShape, extents: tuple[int, ...], pad_lines: int) -> list[int]:
    """The first elements of the rows that a sweep between rings walks along."""
    line = strides(extents, shape.radius, pad_lines)[-2]
    page = PAGE // DOUBLE
    rows = 1 if shape.part.planar else shape.part.blocks[1] + 2 * shape.around(1)
    plane = -(-rows * line // page) * page + _RING_SHIFT_LINES * LINE
    step = 0 if shape.part.planar else line
    places: Mapping[str, int] = {
        access.parameter: place * shape.depth * plane
        for place, access in enumerate(shape.part.accesses)
    }
    return sorted(
        {
            places[access.parameter] + dk * plane + dj * step
            for access in shape.part.accesses
            for dk, dj in access.rows
        }
    )
