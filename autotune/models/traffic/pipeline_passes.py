"""The passes of one thread through a pipeline, as seen by the caches.

While stage 0 is in one block, every later stage is a lag further behind. A *slot* is a stretch of
the long dimension, a *position* what all stages do while each advances by a block:

    slot           0    1    2    3    4    5
    position 5                              stage 0
                             stage 1                     c slots behind, c = lag / slot
                   stage 2

A slot is a part of the block where the lag is shorter; else a block is a tile of the slot.
With strips of planes, the same holds of the components of one strip, so a lag is a part of one.
Rows of the state are new objects in every slot. A window is as many objects as it has slots; they
come round again. The positions before the steady one are the history of its reuse distances.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from autotune.language.expression import number
from autotune.models.traffic.passes import (
    DOUBLE,
    AccessCluster,
    Pass,
    PassGroup,
    ThreadPasses,
    Touch,
    Trail,
    blocks,
    clusters,
)
from autotune.models.traffic.schedule import CallPhase, Schedule, SweepCall
from autotune.models.traffic.sweep_shape import SweepShape

Floats = npt.NDArray[np.float64]

_FINEST = 2
"""The most slots in a lag, ..."""
_PARTS = 8
"""... the most slots in a block, ..."""
_NEAR = 12
"""... and the part of a block below which a lag is taken for none."""
_SMALLEST = 64
"""Calls that compute less than the block divided by this (boundaries) are left out."""
_BORDER = 4
"""A call that computes less than the block divided by this is at a border: most blocks of the
pipeline have none of it, so that it leaves the caches as they were."""
_FAR = 1 << 62
"""No row is as long."""
_PAGE = 512
"""Components of a page; windows are whole pages."""
WAY_PARTS = 16
"""Parts of a way of a cache whose bytes are counted apart."""


@dataclass(frozen=True, slots=True)
class PipelineRanges:
    """What the stages of a pipeline of one problem have in common."""

    n: int
    granule: int
    distance: int
    """Access distance of the right-hand side, in components."""
    line: int
    """Bytes of a cache line."""
    values: Mapping[str, float | int]
    """The constants of the problem."""

    def strips(self, phase: CallPhase, stage: int) -> list[float]:
        """What a stage computes of a plane, strip by strip, as shares of its components."""
        if phase.strips is None:
            return [1.0]
        return phase.strips.shares(self.values, phase.stages[-1] - stage)

    @property
    def lag(self) -> int:
        """The components from a stage to the next: the access distance in whole granules."""
        return -(-self.distance // self.granule) * self.granule


@dataclass(frozen=True, slots=True)
class WindowPlaces:
    """Where the objects of a thread lie; all arrays have an element for each object."""

    component: Floats
    """The place in its row, in components."""
    row: Floats
    """The number of leading dimensions that lie before it; 0 for windows, which begin at pages."""
    shift: Floats
    """The number of windows that lie before it; 0 for rows that are stored whole."""
    window: int
    """Components of a window that holds neighbours."""

    def filled(self, way: int, sizes: Floats, leading: int, pad: int) -> Floats:
        """(objects, parts): bytes of every object in each part of a way of so many bytes.

        ``leading``: components from row to row; ``pad``: those by which each window begins later.
        """
        begin = DOUBLE * (self.component + self.row * leading + self.shift * pad) % way
        rounds, rest = np.divmod(sizes, way)
        edges, begin, rest = np.linspace(0, way, WAY_PARTS + 1), begin[:, None], rest[:, None]
        around = np.minimum(np.maximum(edges - begin, 0), rest)
        around += np.minimum(np.maximum(edges + way - begin, 0), rest)
        filled: Floats = np.diff(around, axis=1) + rounds[:, None] * (way / WAY_PARTS)
        return filled


def pipeline_passes(
    schedule: Schedule, shapes: Sequence[SweepShape], ranges: PipelineRanges, threads: int
) -> list[tuple[ThreadPasses, WindowPlaces]]:
    """The passes of every thread that differs from the others, and where what it touches lies; idle
    threads are left out.

    Raises ValueError where a program has other phases beside its pipeline, or computes nothing.
    """
    step = schedule.steps[-1]
    if len(step.phases) != 1:
        raise ValueError("a program with a pipeline has sweeps beside it")
    phase = step.phases[0]
    groups: dict[tuple[float, ...], list[tuple[int, int]]] = {}
    for first, end in blocks(ranges.n, ranges.granule, threads):
        if end > first:
            work = _iterations(schedule, shapes, phase, ranges, (first, end))
            groups.setdefault(work, []).append((first, end))
    passes = [
        _Builder(schedule, shapes, phase, ranges, work, members[0]).placed(len(members))
        for work, members in groups.items()
        if any(work)
    ]
    if not passes:
        raise ValueError("the program computes nothing")
    return passes


def _iterations(
    schedule: Schedule,
    shapes: Sequence[SweepShape],
    phase: CallPhase,
    ranges: PipelineRanges,
    block: tuple[int, int],
) -> tuple[float, ...]:
    """The components that each call computes in a time step, with the borders of its thread."""
    first, end = block
    result = []
    for call, stage in zip(phase.calls, phase.stages, strict=True):
        shape = shapes[schedule.steps[-1].calls[call].sweep]
        margin = (phase.stages[-1] - stage) * ranges.lag
        low = max(first - margin, 0, shape.lower)
        high = min(end + margin, ranges.n, shape.upper)
        count = max(0, high - low) * shape.share * sum(ranges.strips(phase, stage))
        result.append(count if count * _SMALLEST >= end - first else 0.0)
    return tuple(result)


class Ring(NamedTuple):
    """The slots of a window, which come round again."""

    turns: int
    length: float
    """Components of all slots."""
    more: float
    """The share of a block that comes round a block later, where blocks do not divide a window."""


class RowOfCall(NamedTuple):
    """A row that a call accesses."""

    row: int
    ahead: int
    """Slots from where the call computes to where it accesses the row."""
    turns: int
    """Slots of the window; 0 for a row that is stored whole, of more than one block."""
    size: float
    """Bytes of a slot."""
    cluster: AccessCluster


@dataclass(slots=True)
class _Builder:
    schedule: Schedule
    shapes: Sequence[SweepShape]
    phase: CallPhase
    ranges: PipelineRanges
    work: tuple[float, ...]
    block: tuple[int, int]
    strip: float = field(init=False)
    """The share of a plane that a stage computes in a strip, a mean; 1 without strips."""
    size: float = field(init=False)
    """Components of a block."""
    behind: int = field(init=False)
    """Slots from a stage to the next."""
    parts: int = field(init=False)
    """Slots of a block; 1 where a block is a part of a slot."""
    slot: float = field(init=False)
    """Components of a slot."""
    window: float = field(init=False)
    """Components of a window that holds neighbours."""
    sizes: list[float] = field(default_factory=list)
    objects: dict[tuple[int, int], int] = field(default_factory=dict)
    """(row, slot) to the number of its object."""
    accesses: dict[int, list[RowOfCall]] = field(default_factory=dict)
    """The rows that each call accesses."""
    patterns: dict[int, list[Callable[[int], Touch]]] = field(default_factory=dict)
    """How each call touches each row that it accesses."""
    around: float = 0.0
    """Bytes that all stages touch while each advances by a block."""
    begun: dict[int, int] = field(default_factory=dict)
    """Rows of windows whose blocks come round unevenly, with the call that writes them first."""
    followed: float = field(init=False)
    """The share of the blocks of a thread that another one is before."""
    lonely: bool = field(init=False)
    """Whether a thread has one block in a time step."""

    def __post_init__(self) -> None:
        assert self.phase.tile is not None
        shares = [s for k in self.phase.stages for s in self.ranges.strips(self.phase, k)]
        self.strip = sum(shares) / len(shares)
        span = self.span()
        self.followed = max(0.0, 1 - self.phase.tile / span)
        self.lonely = self.phase.strips is None and span <= self.phase.tile
        self.size = size = span if self.lonely else self.block_size()
        lag = self.ranges.lag * self.strip
        self.behind = self.parts = 1
        if lag >= size:
            self.behind = max(1, round(lag / max(size, lag / _FINEST)))
            self.slot = lag / self.behind
        elif lag * _NEAR > size:
            self.parts = min(_PARTS, round(size / lag))
            self.slot = size / self.parts
        else:
            self.behind, self.slot = 0, float(size)
        between = self.ranges.distance + max(self.ranges.lag, self.ranges.distance)
        self.window = self.length(between)

    def span(self) -> int:
        """Components that the first stage of a thread computes in a time step."""
        first, end = self.block
        margin = self.phase.stages[-1] * self.ranges.lag
        return min(end + margin, self.ranges.n) - max(first - margin, 0)

    def length(self, between: int) -> float:
        """Components of a window that holds a block and those between two stages."""
        assert self.phase.tile is not None
        pages = -(-(self.phase.tile + between) // _PAGE)
        return pages * _PAGE - between * (1 - self.strip)

    def ring(self, row: int) -> Ring:
        """The slots of a row of a window."""
        if self.alone(row):
            return Ring(1, self.slot, 0.0)
        lags = self.schedule.lags(row)
        least = (lags or 2) * self.behind + self.parts
        length = self.length(lags * self.ranges.lag) if lags else self.window
        if least > 1:
            return Ring(max(least, round(length / self.slot)), length, 0.0)
        turns = max(1, math.floor(length / self.slot))
        return Ring(turns, turns * self.slot, max(0.0, length / self.slot - turns))

    def alone(self, row: int) -> bool:
        """Whether a row is a window in which every block lies at the same place."""
        schedule = self.schedule
        if self.lonely:
            return not schedule.stored(row)
        return not (schedule.stored(row) or schedule.neighbours(row) or schedule.lags(row))

    def block_size(self) -> float:
        """Components of a block, of which a strip may hold a part only."""
        assert self.phase.tile is not None
        if self.phase.strips is None:
            return self.phase.tile
        part = self.strip * number(self.phase.strips.plane, self.ranges.values)
        return max(min(self.phase.tile, part), self.phase.tile * self.strip)

    def placed(self, alike: int) -> tuple[ThreadPasses, WindowPlaces]:
        """The passes of a time step, and where their objects lie."""
        passes = self.passes(alike)
        stored = len(self.schedule.rows) - len(self.schedule.windows)
        component, row, shift = np.zeros((3, len(self.sizes)))
        for (number_, slot), at in self.objects.items():
            ring = self.ring(number_)
            component[at] = slot * (self.slot if number_ < stored else ring.length / ring.turns)
            row[at] = number_ if number_ < stored else 0
            shift[at] = 0 if number_ < stored else number_ - stored
        return passes, WindowPlaces(component, row, shift, round(self.window))

    def passes(self, alike: int) -> ThreadPasses:
        """The passes of a time step, from the state after the step before it."""
        self.around = self.bytes_of_position()
        self.begun = {
            accessed.row: call
            for call, work in reversed(list(zip(self.phase.calls, self.work, strict=True)))
            if self.inside(work)
            for accessed in self.accesses_of(call)
            if not self.schedule.stored(accessed.row) and self.ring(accessed.row).more
        }
        turns = max(self.ring(row).turns for row in self.windows())
        slots = turns + (self.phase.stages[-1] + 1) * self.behind
        last = -(-slots // self.parts) + 1
        positions = [self.position(number) for number in range(last + 1)]
        state = {
            number: row for (row, _), number in self.objects.items() if self.schedule.stored(row)
        }
        past = self.past()
        earlier = self.touching({number: past.get(row, 0.0) for number, row in state.items()})
        rest = self.touching({self.new(self.rest(len(state))): 0.0})
        history = (earlier, rest, *positions[:-1])
        return ThreadPasses((history, (positions[-1],)), tuple(self.sizes), alike)

    def windows(self) -> range:
        """The rows of windows."""
        return range(len(self.schedule.rows) - len(self.schedule.windows), len(self.schedule.rows))

    def rest(self, slots: int) -> float:
        """Bytes of the state that a thread touches in a time step beside so many slots."""
        count = len({row for row, _ in self.objects if self.schedule.stored(row)})
        return DOUBLE * max(0.0, count * self.span() - slots * self.slot)

    def past(self) -> dict[int, float]:
        """The rows that the step before stored past the caches, with the shares of their lines."""
        before = self.schedule.steps[-2:][0]
        return {
            dict(call.rows)[access.parameter]: self.shapes[call.sweep].past
            for call in before.calls
            for access in self.shapes[call.sweep].accesses
            if access.written and self.shapes[call.sweep].past
        }

    def touching(self, objects: Mapping[int, float]) -> PassGroup:
        """A pass over some objects, of which some shares are stored past the caches."""
        touches = tuple(
            Touch(0, number, True, False, False, (), past) for number, past in objects.items()
        )
        return PassGroup((Pass(0, 0.0, touches, True),), 1.0, self.slot)

    def bytes_of_position(self) -> float:
        """The bytes that all stages together touch while each advances by a block."""
        sizes = {
            (row, (part - stage * self.behind + ahead) % (turns or _FAR)): size
            for call, stage, work in zip(
                self.phase.calls, self.phase.stages, self.work, strict=True
            )
            if self.inside(work)
            for row, ahead, turns, size, _ in self.accesses_of(call)
            for part in range(self.parts)
        }
        return sum(sizes.values()) * min(1.0, self.size / self.slot)

    def inside(self, work: float) -> bool:
        """Whether a call computes so many components that most blocks have some of it."""
        return work * _BORDER >= self.block[1] - self.block[0]

    def position(self, number: int) -> PassGroup:
        """All stages, each one block further."""
        passes = [
            Pass(
                call,
                work / self.parts,
                self.touches(call, number * self.parts + part - stage * self.behind),
                self.inside(work),
            )
            for call, stage, work in zip(
                self.phase.calls, self.phase.stages, self.work, strict=True
            )
            if work
            for part in range(self.parts)
        ]
        tile = min(float(self.size), self.slot)
        return PassGroup(tuple(passes), tile / self.slot, tile)

    def touches(self, number: int, slot: int) -> tuple[Touch, ...]:
        """The objects that a call touches in a slot."""
        if number not in self.patterns:
            self.patterns[number] = [self.pattern(number, row) for row in self.accesses_of(number)]
        touches = []
        for accessed, pattern in zip(self.accesses_of(number), self.patterns[number], strict=True):
            row, ahead, turns, size, _ = accessed
            key = row, (slot + ahead) % turns if turns else slot + ahead
            if key not in self.objects:
                self.objects[key] = self.new(size)
            touches.append(pattern(self.objects[key]))
        return tuple(touches)

    def pattern(self, number: int, accessed: RowOfCall) -> Callable[[int], Touch]:
        """Gives the touch of an object by a call that accesses a row, the same in every slot."""
        cluster, index = accessed.cluster, self.phase.calls.index(number)
        inside, later = self.inside(self.work[index]), self.phase.stages[index] > 0
        sweep = self.schedule.steps[-1].calls[number].sweep
        late = self.late(accessed) if inside and later else 0.0
        trails = self.trails(cluster, late) if inside else cluster.trails
        if inside and self.begun.get(accessed.row) == number:
            turns, _, late = self.ring(accessed.row)
            trails = (Trail(0, self.around * (turns + late), late),)
        past = self.shapes[sweep].past if cluster.written else 0.0

        return partial(
            Touch,
            accessed.row,
            read=cluster.read,
            written=cluster.written,
            remote=False,
            trails=trails,
            past=past,
            beyond=-late,
            again=cluster.again,
        )

    def late(self, accessed: RowOfCall) -> float:
        """The share of a block that the stage before has touched with the block before, since it is
        a lag ahead; 0 where slots tell it, and in a window that holds the block of one stage only.
        """
        row, cluster = accessed.row, accessed.cluster
        if self.behind or not cluster.read or self.alone(row):
            return 0.0
        per_line = self.ranges.line // DOUBLE
        # the lines that the block before has reached ahead are among those that blocks share
        ahead = -(-max(0, cluster.pieces[0][1]) // per_line) * per_line
        share = min(1.0, max(0.0, self.ranges.lag - ahead) * self.strip / self.size)
        return share * self.followed

    def trails(self, cluster: AccessCluster, late: float) -> tuple[Trail, ...]:
        """The trailing offsets, and the lines that were last touched with the block before.

        Those are the lines that two blocks share, the share ``late`` of the block, and what an
        offset reads at the begin of a block before the leading one has come there.
        """
        per_line = self.ranges.line // DOUBLE
        aligned = self.ranges.granule % per_line == 0 and self.phase.strips is None
        again = cluster.further_lines(per_line, aligned=aligned) * per_line + late * self.size
        trails = []
        for trail in cluster.trails:
            # blocks that are parts of a slot count as tiles, whose borders ``streams`` sees
            before = min(float(trail.gap), self.size) if self.size >= self.slot else 0.0
            again += before * self.followed
            left = 1 - before / self.size
            trails.append(trail._replace(components=trail.components * left))
        if again:
            trails.append(Trail(0, self.around, again / self.size))
        return tuple(trails)

    def accesses_of(self, call: int) -> list[RowOfCall]:
        """The rows that a call accesses, by its number in the time step."""
        if call not in self.accesses:
            self.accesses[call] = self.accessed(self.schedule.steps[-1].calls[call])
        return self.accesses[call]

    def accessed(self, call: SweepCall) -> list[RowOfCall]:
        """The rows that a call accesses."""
        rows = dict(call.rows)
        shape, line = self.shapes[call.sweep], self.ranges.line
        result = []
        for cluster in clusters(shape.accesses, self.slot / 2 / self.strip, line):
            row, turns, size = rows[cluster.parameter], 0, DOUBLE * self.slot
            if self.schedule.neighbours(row) or self.schedule.lags(row):
                ring = self.ring(row)
                turns, size = ring.turns, DOUBLE * ring.length / ring.turns
            elif self.lonely or not self.schedule.stored(row):
                turns = self.parts
            ahead = round(cluster.shift * self.strip / self.slot)
            result.append(RowOfCall(row, ahead, turns, size, cluster))
        return result

    def new(self, size: float) -> int:
        """A further object of so many bytes."""
        self.sizes.append(size)
        return len(self.sizes) - 1
