"""The passes of one thread over its block, as seen by the caches.

The block is cut into *segments* where the ranges of sweeps begin and end; a *pass* is one call on
one segment, an *object* one row on one segment. So every pass touches whole objects, all from left
to right at the same pace, and a reuse distance is a sum over objects (see ``distance``).

           segment 0       segment 1
    row 0  [ object 0 ]    [ object 1 ]
    row 1  [ object 2 ]    [ object 3 ]      and objects outside of the block that it only reads
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from autotune.models.traffic.schedule import CallPhase, Schedule, SweepCall, TimeStep
from autotune.models.traffic.sweep_shape import RowAccess, SweepShape

DOUBLE = 8
_SMALLEST = 64
"""Ranges shorter than the block divided by this (boundary rows) do not cut the block."""


class Trail(NamedTuple):
    """A trailing offset of a row: it reuses the cache lines loaded by the offset that is ``gap``
    ahead.
    """

    gap: int
    distance: float
    """Bytes that the sweep itself touches in between."""
    components: float = 1.0
    """Components whose elements it reads in an iteration: many in a sum over an index."""


class Touch(NamedTuple):
    """One row accessed by one pass: the object, how it is used, and its trailing offsets."""

    row: int
    object: int
    read: bool
    written: bool
    remote: bool
    """True: another thread writes the object."""
    trails: tuple[Trail, ...]
    past: float = 0.0
    """Share of the lines that are stored past the caches."""
    beyond: float = 0.0
    """Components that it touches beside those that the pass computes, as a share of these."""
    again: bool = False
    """True: loads of neighbouring components read a line that is on its way."""


class Pass(NamedTuple):
    """One call of a sweep on one segment."""

    call: int
    iterations: float
    touches: tuple[Touch, ...]
    whole: bool
    """False: the pass is so short that it leaves the caches as they were."""
    run: float = math.inf
    """Iterations one after another in memory before the thread continues elsewhere."""
    rows: int = 0
    """Number of rows of grids walked along side by side; 0: as many as there are streams."""


class PassGroup(NamedTuple):
    """Passes over one segment. Several passes run tile by tile; ``tile`` is the share
    of one tile.
    """

    passes: tuple[Pass, ...]
    tile: float
    tile_components: float


@dataclass(frozen=True, slots=True)
class ThreadPasses:
    """The passes of one thread by time step, and the sizes of the objects in bytes."""

    steps: tuple[tuple[PassGroup, ...], ...]
    sizes: tuple[float, ...]
    alike: int
    """Number of threads that do the same."""


class AccessCluster(NamedTuple):
    """Neighbouring offsets of one access. ``shift``: the distance of the cluster from the own
    component, or 0.
    """

    parameter: str
    shift: int
    read: bool
    written: bool
    trails: tuple[Trail, ...]
    pieces: tuple[tuple[int, int], ...] = ()
    """Its smallest and its largest offset, apart where a line or more lies between two offsets."""

    @property
    def again(self) -> bool:
        """Whether several offsets read a line when it comes."""
        return self.read and bool(self.pieces) and self.pieces[0][0] < self.pieces[0][1]

    @property
    def span(self) -> int:
        """Components from its smallest to its largest offset."""
        return self.pieces[0][1] - self.pieces[-1][0]

    def further_lines(self, per_line: int, *, aligned: bool) -> float:
        """The lines that a run of components touches beside as many as these fill, where it begins
        at a line and ends at one (``aligned``), or anywhere (a mean).
        """
        if not aligned:
            return sum((high - low + per_line - 1) / per_line for low, high in self.pieces)
        return sum((high - 1) // per_line - low // per_line + 1 for low, high in self.pieces)


def blocks(n: int, granule: int, threads: int) -> list[tuple[int, int]]:
    """The block of each thread: whole granules, in contiguous blocks; the last one ends at n."""
    granules = -(-n // granule)
    cuts = [min(n, granule * (granules * k // threads)) for k in range(threads + 1)]
    return list(pairwise(cuts))


def thread_passes(
    schedule: Schedule, shapes: Sequence[SweepShape], n: int, granule: int, threads: int, line: int
) -> list[ThreadPasses]:
    """The passes of every thread that differs from the others; idle threads are left out.

    Raises ValueError if no thread computes anything.
    """
    groups: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    for first, end in blocks(n, granule, threads):
        if end > first:
            ranges = tuple(_relative(s, first, end) for s in shapes)
            groups.setdefault((end - first, ranges), []).append((first, end))
    result = []
    for members in groups.values():
        first, end = members[len(members) // 2]  # between two others, where some are
        builder = _Builder(schedule, shapes, first, end, (first > 0, end < n), line)
        steps: dict[int, tuple[PassGroup, ...]] = {}
        for step in schedule.steps:
            if id(step) not in steps:
                steps[id(step)] = builder.step(step)
        ordered = tuple(steps[id(step)] for step in schedule.steps)
        if not ordered[-1]:
            continue
        result.append(ThreadPasses(ordered, tuple(builder.sizes), len(members)))
    if not result:
        raise ValueError("the program computes nothing")
    return result


def _relative(shape: SweepShape, first: int, end: int) -> tuple[int, int]:
    """The range of a sweep within a block, relative to the block's begin; (0, 0) if empty.

    Boundary rows are ignored, since they are below 1 / 64 of a block: threads that differ only in
    boundary rows count as equal.
    """
    smallest = _smallest(first, end)
    lower, upper = max(shape.lower, first) - first, min(shape.upper, end) - first
    if upper - lower < smallest:
        return 0, 0
    length = end - first
    return lower if lower >= smallest else 0, upper if length - upper >= smallest else length


def _smallest(first: int, end: int) -> int:
    """Number of components of the shortest segment of a block."""
    return max(1, (end - first) // _SMALLEST)


@dataclass(slots=True)
class _Builder:
    schedule: Schedule
    shapes: Sequence[SweepShape]
    first: int
    end: int
    neighbours: tuple[bool, bool]
    """Whether another thread computes the components before the first, and from the end on."""
    line: int
    cuts: list[int] = field(init=False)
    sizes: list[float] = field(init=False)
    outside: dict[tuple[int, int], int] = field(default_factory=dict)
    """(row, first component) to an object outside the block."""
    clusters: dict[tuple[int, int], tuple[AccessCluster, ...]] = field(default_factory=dict)
    ranges: dict[int, tuple[range, bool]] = field(default_factory=dict)
    made: dict[tuple[int, int], tuple[float, tuple[Touch, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cuts = _cuts(self.shapes, self.first, self.end)
        lengths = [(b - a) * float(DOUBLE) for a, b in pairwise(self.cuts)]
        self.sizes = lengths * len(self.schedule.rows)

    def step(self, step: TimeStep) -> tuple[PassGroup, ...]:
        groups: list[PassGroup] = []
        for phase in step.phases:
            if phase.tile is None or phase.tile >= self.end - self.first:
                for call in phase.calls:
                    groups += self.plain(step, call)
            else:
                groups += self.tiled(step, phase, phase.tile)
        return tuple(groups)

    def plain(self, step: TimeStep, call: int) -> list[PassGroup]:
        """The passes of a call, one group per segment."""
        segments, whole = self.covered(step.calls[call].sweep)
        return [
            PassGroup((self.make(step, call, segment, whole),), 1.0, self.length(segment))
            for segment in segments
        ]

    def tiled(self, step: TimeStep, phase: CallPhase, size: int) -> list[PassGroup]:
        """The passes of a tile loop, one group per segment; boundary rows apart."""
        covered = [(call, *self.covered(step.calls[call].sweep)) for call in phase.calls]
        groups: list[PassGroup] = []
        for segment in range(len(self.cuts) - 1):
            passes = tuple(
                self.make(step, call, segment, whole)
                for call, segments, whole in covered
                if whole and segment in segments
            )
            if passes:
                length = self.length(segment)
                groups.append(PassGroup(passes, min(1.0, size / length), min(float(size), length)))
        for call, _, whole in covered:
            if not whole:
                groups += self.plain(step, call)
        return groups

    def covered(self, sweep: int) -> tuple[range, bool]:
        """The segments that a sweep covers, with True; or the single segment that contains the
        sweep, with False.
        """
        if sweep not in self.ranges:
            lower, upper = self.clip(self.shapes[sweep])
            start, stop = self.snap(lower), self.snap(upper)
            if lower >= upper:
                self.ranges[sweep] = range(0), False
            elif start < stop:
                self.ranges[sweep] = range(start, stop), True
            else:
                within = min(bisect_right(self.cuts, lower), len(self.cuts) - 1) - 1
                self.ranges[sweep] = range(within, within + 1), False
        return self.ranges[sweep]

    def clip(self, shape: SweepShape) -> tuple[int, int]:
        return max(shape.lower, self.first), min(shape.upper, self.end)

    def snap(self, position: int) -> int:
        """The number of the cut nearest to a component."""
        right = min(bisect_left(self.cuts, position), len(self.cuts) - 1)
        if right == 0 or self.cuts[right] <= position:
            return right
        nearer = position - self.cuts[right - 1] < self.cuts[right] - position
        return right - 1 if nearer else right

    def length(self, segment: int) -> float:
        return float(self.cuts[segment + 1] - self.cuts[segment])

    def make(self, step: TimeStep, number: int, segment: int, whole: bool) -> Pass:
        """The pass that a call makes over a segment: its iterations and the objects it touches.

        ``number``: the place of the call in the step. ``whole``: whether the sweep
        covers the segment.
        """
        call = step.calls[number]
        key = (id(call), segment)
        if key not in self.made:
            made = self.touch(call, segment, whole)
            self.made[key] = self.iterations(call.sweep, segment, whole), made
        iterations, touches = self.made[key]
        return Pass(number, iterations, touches, whole)

    def iterations(self, sweep: int, segment: int, whole: bool) -> float:
        """Number of components that a sweep computes on a segment."""
        lower, upper = self.clip(self.shapes[sweep])
        components = (upper - lower) * self.shapes[sweep].share
        if not whole:
            return components
        start, stop = self.snap(lower), self.snap(upper)
        return components * self.length(segment) / (self.cuts[stop] - self.cuts[start])

    def touch(self, call: SweepCall, segment: int, whole: bool) -> tuple[Touch, ...]:
        """The objects that a call touches on a segment.

        Offsets reach beyond the range of a sweep that covers the segment. What boundary rows reach
        is touched by such a sweep too.
        """
        key = (call.sweep, segment)
        if key not in self.clusters:
            far = self.length(segment) / 2
            self.clusters[key] = clusters(self.shapes[call.sweep].accesses, far, self.line)
        rows = dict(call.rows)
        segments = len(self.cuts) - 1
        touches = []
        lower, upper = self.clip(self.shapes[call.sweep])
        for cluster in self.clusters[key]:
            parameter, shift, read, written, trails, _ = cluster
            row, remote = rows[parameter], False
            index = row * segments + segment
            if shift:
                index, remote = self.elsewhere(row, segment, shift)
            past = self.shapes[call.sweep].past if written else 0.0
            handed = self.handed(segment, cluster) if whole and not (shift or written) else 0.0
            beyond = min(1.0, cluster.span / (upper - lower)) - handed if whole else 0.0
            again = cluster.again
            touches.append(
                Touch(row, index, read, written, remote, trails, past, max(beyond, 0.0), again)
            )
            if handed:
                touches.append(Touch(row, index, True, False, True, (), beyond=handed - 1))
        return tuple(touches)

    def handed(self, segment: int, cluster: AccessCluster) -> float:
        """Components of other blocks that a pass over a segment reads at the borders of its block,
        as a share of the segment; around the ends of a ring, none.
        """
        before, after = self.neighbours
        low = -cluster.pieces[-1][0] if before and segment == 0 else 0
        high = cluster.pieces[0][1] if after and segment == len(self.cuts) - 2 else 0
        return min((max(low, 0) + max(high, 0)) / self.length(segment), 1.0)

    def elsewhere(self, row: int, segment: int, shift: int) -> tuple[int, bool]:
        """The object of a row at a segment shifted by ``shift``, and whether another thread owns
        it.
        """
        segments = len(self.cuts) - 1
        start, end = self.cuts[segment] + shift, self.cuts[segment + 1] + shift
        for other in range(segments):
            overlap = min(end, self.cuts[other + 1]) - max(start, self.cuts[other])
            if 2 * overlap >= end - start:
                return row * segments + other, False
        if (row, start) not in self.outside:
            self.outside[row, start] = len(self.sizes)
            self.sizes.append(float(end - start) * DOUBLE)
        return self.outside[row, start], any(self.neighbours)


def _cuts(shapes: Sequence[SweepShape], first: int, end: int) -> list[int]:
    smallest = _smallest(first, end)
    cuts = [first]
    for point in sorted({p for s in shapes for p in (s.lower, s.upper) if first < p < end}):
        if point - cuts[-1] >= smallest and end - point >= smallest:
            cuts.append(point)
    return [*cuts, end]


def clusters(accesses: Sequence[RowAccess], far: float, line: int) -> tuple[AccessCluster, ...]:
    """The accesses of a sweep, apart where two neighbouring offsets are ``far`` from one another.

    ``far`` in components, ``line`` in bytes.
    """
    split: list[tuple[RowAccess, int, tuple[int, ...]]] = []
    for access in accesses:
        parts: list[list[int]] = [[access.offsets[0]]]
        for offset in access.offsets[1:]:
            if parts[-1][-1] - offset >= far:
                parts.append([])
            parts[-1].append(offset)
        for part in parts:
            nearest = min(part, key=abs)
            split.append((access, 0 if abs(nearest) < far else nearest, tuple(part)))
    offsets = [part for _, _, part in split]
    swept = DOUBLE * sum(access.swept for access in accesses)
    return tuple(
        AccessCluster(
            access.parameter,
            shift,
            access.read,
            access.written and shift == 0,
            _trails(part, offsets, line)
            + _summed(access, part, float(swept))
            + _gathered(access, part, line),
            _pieces(part, line),
        )
        for access, shift, part in split
    )


def _pieces(offsets: tuple[int, ...], line: int) -> tuple[tuple[int, int], ...]:
    """The smallest and the largest of some descending offsets, apart where a line lies between."""
    cuts = [k for k, (a, b) in enumerate(pairwise(offsets), 1) if (a - b) * DOUBLE >= line]
    ends = [0, *cuts, len(offsets)]
    return tuple((offsets[end - 1], offsets[begin]) for begin, end in pairwise(ends))


def _trails(
    offsets: tuple[int, ...], streams: Sequence[tuple[int, ...]], line: int
) -> tuple[Trail, ...]:
    """The trailing offsets, with the bytes that all streams touch while the sweep advances by each
    gap.
    """
    gaps = [a - b for a, b in pairwise(offsets)]
    return tuple(
        Trail(gap, sum(_advance(stream, gap, line) for stream in streams))
        for gap in gaps
        if gap * DOUBLE >= line
    )


def _summed(access: RowAccess, part: tuple[int, ...], swept: float) -> tuple[Trail, ...]:
    """The elements that sums read again for each component, after all that sums read (``swept``
    bytes); they count for the first part of the offsets.
    """
    if not access.swept or part[0] != access.offsets[0]:
        return ()
    return (Trail(0, swept, float(access.swept)),)


def _gathered(access: RowAccess, part: tuple[int, ...], line: int) -> tuple[Trail, ...]:
    """The elements read through index arrays: each in a line of its own, which a cache smaller than
    the whole row has lost. That is the most; the interval of a prediction spans down to none.
    """
    if not access.gathered or part[0] != access.offsets[0]:
        return ()
    return (Trail(0, float(access.among * DOUBLE), access.gathered * line / DOUBLE),)


def _advance(offsets: tuple[int, ...], window: int, line: int) -> float:
    """Bytes of the lines that one row's offsets touch within ``window`` iterations."""
    gaps = [a - b for a, b in pairwise(offsets)]
    pieces = 1 + sum(gap > window for gap in gaps)
    components = window + sum(min(gap, window) for gap in gaps)
    return components * DOUBLE + pieces * (line - DOUBLE)
