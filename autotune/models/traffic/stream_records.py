"""Traffic as typed records: every stream of every pass, with reuse distance and level."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from autotune.domain.machine import Machine
from autotune.models.traffic.reuse_distance import Floats, ThreadStreams
from autotune.models.traffic.schedule import Schedule
from autotune.models.traffic.set_conflicts import SetConflict, conflicts, leading_dimension
from autotune.models.traffic.sweep_shape import SweepShape

StreamKind = Literal["load", "store", "update"]


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """One stream of cache lines of one pass."""

    row: str
    kind: StreamKind
    lines: float
    """Inbound lines per iteration."""
    outbound: float
    """Outbound lines per iteration."""
    distance: float
    """Bytes touched since the line was last touched, mean over the block; inf: never touched."""
    level: str
    """The level that most lines come from, by nominal cache sizes (shared ones divided)."""


@dataclass(frozen=True, slots=True)
class SweepTraffic:
    """The streams of one pass of one thread."""

    sweep: str
    kernel: str
    thread: int
    iterations: float
    executions: int
    """Number of executions per time step."""
    streams: tuple[StreamRecord, ...]


@dataclass(frozen=True)
class StepTraffic:
    """The traffic of one steady-state time step of every thread that differs from the others."""

    schedule: Schedule
    shapes: tuple[SweepShape, ...]
    threads: tuple[ThreadStreams, ...]
    components: int
    """Number n of components."""
    line: int
    """Bytes of a cache line."""
    levels: tuple[tuple[str, float], ...]
    """Names of the levels and their bytes per thread, the memory last."""

    @property
    def meeting(self) -> float:
        """Threads that wait for one another where the step has barriers; inf: all of them.

        Waits for neighbours cost as much as a barrier of the thread and those within their reach.
        """
        lags = self.schedule.steps[-1].lags
        if lags is None:
            return math.inf
        reach = lags * max(abs(o) for s in self.shapes for a in s.accesses for o in a.offsets)
        block = self.components / sum(thread.alike for thread in self.threads)
        return 1 + 2 * math.ceil(reach / block)

    @cached_property
    def executions(self) -> Floats:
        """(regions, calls): the number of executions of each call between two barriers."""
        step = self.schedule.steps[-1]
        counts = np.zeros((len(step.regions), len(step.calls)))
        for index, region in enumerate(step.regions):
            for call, count in region:
                counts[index, call] = count
        return counts

    def records(self) -> list[SweepTraffic]:
        """Every pass of every thread with its streams, as typed records."""
        return [
            self._record(index, number)
            for index, thread in enumerate(self.threads)
            for number in range(len(thread.passes))
        ]

    def _record(self, thread: int, number: int) -> SweepTraffic:
        data = self.threads[thread]
        item = data.passes[number]
        sweep = self.schedule.sweeps[self.schedule.steps[-1].calls[item.call].sweep]
        return SweepTraffic(
            sweep.name,
            sweep.kernel,
            thread,
            item.iterations,
            int(self.executions[:, item.call].sum()),
            tuple(self._stream(data, int(k)) for k in np.flatnonzero(data.owner == number)),
        )

    def _stream(self, data: ThreadStreams, index: int) -> StreamRecord:
        written = not np.isnan(data.outward[index, 0])
        kind: StreamKind = (
            "store" if data.history.stores[index] else "update" if written else "load"
        )
        median = float(np.median(data.history.distance[index]))
        level = next((name for name, size in self.levels if median <= size), self.levels[-1][0])
        moved = float(data.lines[index])
        lines = 0.0 if data.history.streamed[index] else moved
        return StreamRecord(
            self.schedule.rows[int(data.row[index])],
            kind,
            lines,
            moved if written else 0.0,
            float(data.history.distance[index].mean()),
            level,
        )

    def conflicts(
        self, call: int, pad_lines: int, machine: Machine, iterations: float
    ) -> list[SetConflict]:
        """The set conflicts of a call for a loop of ``iterations`` per pass, with this padding."""
        sweep_call = self.schedule.steps[-1].calls[call]
        leading = leading_dimension(self.components, pad_lines, self.line)
        begins = {name: row * leading for name, row in sweep_call.rows}
        return conflicts(self.shapes[sweep_call.sweep], begins, machine.caches, iterations)
