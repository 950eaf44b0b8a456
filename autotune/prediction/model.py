"""One candidate on one machine: transfers and in-core times of every pass, put together.

All times of this file are cycles per iteration (one component) of one thread, until ``step_time``
puts passes together to kernels between barriers, and those to a time step.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autotune.analysis.traffic import POSITIONS, Conflict, Floats, Streams, Traffic
from autotune.prediction.ecm import combine, kernel_cycles, kernel_seconds, step_seconds
from autotune.prediction.lines import LineCosts

_BEYOND = 1.0 + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class InCoreTimes:
    """In-core cycles per iteration of each sweep of a program."""

    T_OL: Floats
    T_nOL: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfers:
    """What the passes of one thread transfer."""

    data: Floats
    """(passes, levels, positions): cycles per iteration for lines from each level."""
    memory_lines: Floats
    """(passes,): inbound lines from memory per iteration."""
    stored: Floats
    """(passes,): cycles per iteration for bytes that are stored through caches."""
    streams: npt.NDArray[np.int64]
    """(passes, levels): inbound streams by the level of their median distance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """A predicted time step with what it is made of."""

    seconds: float
    barriers: float
    """Seconds of all barriers."""
    weights: tuple[Floats, ...]
    """Per thread and pass: iterations per step that are on the critical path."""
    cycles: tuple[Floats, ...]
    """Per thread and pass: combined cycles per iteration."""
    stretch: float
    """Sum of the regions over the critical cycles: above 1 where the bandwidth floor holds."""


def transfers(streams: Streams, costs: LineCosts, *, remote: float) -> Transfers:
    """Cycles of the lines of every pass.

    ``remote``: bytes below which no line lies that another thread wrote last.
    """
    distance = np.where(streams.remote[:, None], remote * _BEYOND, 0.0)
    distance = np.maximum(streams.distance, distance)
    level = costs.level(distance)
    cycles = costs.inbound(distance, level)
    if costs.passed:
        around = costs.inbound(distance, level, beyond=costs.passed)
        cycles = np.where(streams.stores[:, None], around, cycles)
    kept = streams.stores[:, None] & (distance / costs.capacity <= costs.allocating)
    moved = streams.lines[:, None]
    cycles = np.where(kept, 0.0, cycles) * moved
    count, levels = len(streams.passes), len(costs.names)
    data = _gather(streams.owner, level, cycles, count, levels)
    memory = np.where(kept, 0.0, costs.from_memory(distance, level)) * moved
    written = ~np.isnan(streams.outward)
    if costs.outlinks.any():
        out_level = costs.level(np.where(written, streams.outward, 0.0))
        out = np.where(written, costs.outbound(out_level) * moved, 0.0)
        data += _gather(streams.owner, out_level, out, count, levels)
    median = costs.level(np.median(distance, axis=1))
    through = np.where(written[:, 0], streams.lines * costs.line * costs.store, 0.0)
    return Transfers(
        data=data,
        memory_lines=np.asarray(
            np.bincount(streams.owner, memory.mean(axis=1), count), dtype=np.float64
        ),
        stored=np.asarray(np.bincount(streams.owner, through, count), dtype=np.float64),
        streams=np.bincount(streams.owner * levels + median, minlength=count * levels).reshape(
            count, levels
        ),
    )


def _gather(
    owner: npt.NDArray[np.int64],
    level: npt.NDArray[np.int64],
    cycles: Floats,
    count: int,
    levels: int,
) -> Floats:
    """Sums over the streams of a pass: (passes, levels, positions)."""
    place = (owner[:, None] * levels + level) * POSITIONS + np.arange(POSITIONS)
    total = np.bincount(place.ravel(), cycles.ravel(), count * levels * POSITIONS)
    return np.asarray(total, dtype=np.float64).reshape(count, levels, POSITIONS)


def conflict_cycles(
    streams: Streams, found: Mapping[int, list[Conflict]], costs: LineCosts, *, certain: bool
) -> Floats | None:
    """(passes, levels): cycles per iteration for lines that set conflicts load again.

    ``found`` has the conflicts of each call; with ``certain`` those that depend on the physical
    pages are left out. A line driven out of one level comes from the next one that still has it.
    """
    extra: Floats | None = None
    for number, item in enumerate(streams.passes):
        chosen = [c for c in found.get(item.call, ()) if c.certain or not certain]
        if not chosen:
            continue
        if extra is None:
            extra = np.zeros((len(streams.passes), len(costs.names)))
        lost = dict.fromkeys(costs.names, 0.0) | {c.level: c.lines for c in chosen}
        for level, name in enumerate(costs.names[:-1]):
            stays = max(0.0, lost[name] - lost[costs.names[level + 1]])
            if stays:
                extra[number, level + 1] += stays * costs.typical(level + 1)
    return extra


def step_time(
    traffic: Traffic,
    moved: tuple[Transfers, ...],
    in_core: InCoreTimes,
    costs: LineCosts,
    clock: float,
    barrier: float,
) -> StepTime:
    """Eq. 7 to 10 over the passes of all threads.

    What lies between two barriers lasts as long as its slowest thread; Eq. 8 with delta = 1, as
    all cycles here are per component.
    """
    step = traffic.schedule.steps[-1]
    sweep_of = np.array([call.sweep for call in step.calls])
    regions, cycles, weights = [], [], []
    memory = np.zeros(len(step.regions))
    shares = costs.exposed * (not costs.beside)
    for thread, transfer in zip(traffic.threads, moved, strict=True):
        calls = np.array([item.call for item in thread.passes])
        iterations = np.array([item.iterations for item in thread.passes])
        data = transfer.data.sum(axis=1)
        exposed = np.einsum("plk,l->pk", transfer.data, shares)
        stored = transfer.stored[:, None]
        if costs.serial_stores:
            data, exposed = data + stored, exposed + stored
        T_OL = np.maximum(in_core.T_OL[sweep_of[calls]][:, None], stored)
        T_nOL = in_core.T_nOL[sweep_of[calls]][:, None]
        combined = combine(T_OL, T_nOL, data, exposed).mean(axis=1)
        counts = traffic.executions[:, calls] * iterations
        regions.append(kernel_cycles(combined, counts, 1.0).sum(axis=1))
        memory += thread.alike * (counts @ transfer.memory_lines) * costs.line
        cycles.append(combined)
        weights.append(counts)
    slowest = np.array(regions)
    critical = slowest.argmax(axis=0)
    bandwidth = (
        costs.memory / costs.factor * clock * sum(thread.alike for thread in traffic.threads)
    )
    seconds = kernel_seconds(
        slowest.max(axis=0), clock, memory, None if np.isnan(bandwidth) else bandwidth
    )
    return StepTime(
        seconds=step_seconds(seconds, step.barriers, barrier),
        barriers=step.barriers * barrier,
        weights=tuple(w[critical == k].sum(axis=0) for k, w in enumerate(weights)),
        cycles=tuple(cycles),
        stretch=float(seconds.sum() * clock / slowest.max(axis=0).sum()),
    )
