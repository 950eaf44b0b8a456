"""Set conflicts of a pipeline: windows whose lines fall into the same sets.

Windows begin at pages, so that without padding all of them begin in the same set of a cache whose
ways are no larger than a page. A window that is shorter than a page leaves the rest of it empty:

    place in a way   0   1   2   3
    window 0         x   x   .   .        lines in parts 0 and 1 are lost where all windows together
    window 1         x   x   .   .        fill more than the ways there, though the cache could
    window 2         x   x   .   .        hold them

So the bytes touched between two touches of a line are counted apart for each part of a way.
"""

from dataclasses import dataclass, field

import numpy as np

from autotune.domain.machine import CacheLevel, Machine
from autotune.models.traffic.passes import DOUBLE, ThreadPasses
from autotune.models.traffic.pipeline_passes import WAY_PARTS, WindowPlaces
from autotune.models.traffic.reuse_distance import Flags, Floats, distances
from autotune.models.traffic.set_conflicts import (
    PAGE,
    SetConflict,
    conflicts,
    leading_dimension,
    merged,
)
from autotune.models.traffic.stream_records import StepTraffic


@dataclass(frozen=True)
class PipelineTraffic(StepTraffic):
    """The traffic of a pipeline; its set conflicts depend on where its windows lie."""

    thread: ThreadPasses | None = None
    """The passes of the first thread."""
    places: WindowPlaces | None = None
    """Where the objects of these lie."""
    _lost: dict[tuple[str, int], dict[int, float]] = field(default_factory=dict, compare=False)

    def conflicts(
        self, call: int, pad_lines: int, machine: Machine, iterations: float
    ) -> list[SetConflict]:
        """The set conflicts of a call for a loop of ``iterations`` per pass, with this padding."""
        sweep_call = self.schedule.steps[-1].calls[call]
        begins = {name: self._begin(row, pad_lines) for name, row in sweep_call.rows}
        shape = self.shapes[sweep_call.sweep]
        side = conflicts(shape, begins, machine.caches, iterations)
        piled = []
        for cache in machine.caches:
            if cache.cores > 1 or cache.sets * cache.line > PAGE:
                continue
            lines = self._piled(cache, pad_lines).get(call, 0.0)
            if lines:
                piled.append(SetConflict(cache.name, cache.ways + 1, cache.ways, lines, True))
        return merged(side, piled)

    def _begin(self, row: int, pad_lines: int) -> int:
        """The first component of a row, from the begin of its page on where it is a window."""
        assert self.places is not None
        stored = len(self.schedule.rows) - len(self.schedule.windows)
        if row >= stored:
            number = row - stored
            return number * (self.places.window + pad_lines * self.line // DOUBLE)
        return row * leading_dimension(self.components, pad_lines, self.line)

    def _piled(self, cache: CacheLevel, pad_lines: int) -> dict[int, float]:
        """The lines per iteration that each call loads again where windows fill some sets."""
        if (cache.name, pad_lines) not in self._lost:
            self._lost[cache.name, pad_lines] = self._piles(cache, pad_lines)
        return self._lost[cache.name, pad_lines]

    def _piles(self, cache: CacheLevel, pad_lines: int) -> dict[int, float]:
        assert self.thread is not None
        assert self.places is not None
        leading = leading_dimension(self.components, pad_lines, self.line)
        pad, way = pad_lines * self.line // DOUBLE, cache.sets * cache.line
        sizes = np.array(self.thread.sizes)
        filled = self.places.filled(way, sizes, leading, pad)
        mine, full = self.threads[0], cache.ways * (way / WAY_PARTS)

        def crowded(most: Floats) -> Flags:
            held = mine.history.distance[: len(most)] <= cache.size
            marks: Flags = np.any(held & (most > full), axis=1)
            return marks

        rows, objects, between = distances(self.thread, filled, crowded)
        shares = filled[objects] / np.maximum(sizes[objects], 1.0)[:, None]
        lost = ((between > full) * shares[:, None, :]).sum(axis=2)
        lost -= mine.history.distance[rows] > cache.size
        lines = np.zeros(len(mine.lines))
        lines[rows] = mine.lines[rows] * np.maximum(lost.mean(axis=1), 0.0)
        return self._by_call(lines)

    def _by_call(self, lines: Floats) -> dict[int, float]:
        """The mean of the lines over the passes of each call, per iteration."""
        mine = self.threads[0]
        of_pass = np.bincount(mine.owner, lines, minlength=len(mine.passes))
        sums: dict[int, float] = {}
        work: dict[int, float] = {}
        for item, lost in zip(mine.passes, of_pass.tolist(), strict=True):
            sums[item.call] = sums.get(item.call, 0.0) + lost * item.iterations
            work[item.call] = work.get(item.call, 0.0) + item.iterations
        return {call: total / work[call] for call, total in sums.items() if total}
