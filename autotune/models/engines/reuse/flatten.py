"""Flattens the traffic of programs into arrays, merging equal streams, passes and regions.

Equal elements are found by signatures: numbers computed from everything that matters, and scattered
so that sums of them are equal only where all summands are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.models.engines.reuse.batch import PLACES, FlowArrays, FlowExecutions, distinct, total
from autotune.models.traffic import POSITIONS, Floats, StepTraffic
from autotune.models.traffic.reuse_distance import Flags, LineHistory, ThreadStreams, Whole
from autotune.models.traffic.sweep_shape import SweepShape

_CHANCE: Floats = np.random.default_rng(7).uniform(0.5, 1.5, (2, POSITIONS, 4))
"""Two random projections: rows of numbers are equal where both agree."""
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def flows(traffics: Sequence[StepTraffic], ways: int) -> FlowArrays:
    """The flat arrays of a non-empty list of traffics.

    ``ways``: the most rows that a sweep may access without crowding a set. Passes of sweeps with
    more rows are merged only where their rows have equal distances.
    """
    raw = _raw(traffics, ways)
    first_passes, new = distinct(raw.pass_signature)
    first_works, work = distinct(raw.work_signature[first_passes])
    works = first_passes[first_works]
    chosen = np.flatnonzero(np.isin(raw.owner, works))
    first, kind = distinct(raw.stream_signature[chosen])
    order = np.empty(len(raw.sweep), dtype=np.int64)
    order[works] = np.arange(len(works))
    executions = _merged(raw, new)
    flow_of_pass = raw.flow[first_passes]
    flow_count = len(traffics)
    return FlowArrays(
        history=raw.history.at(chosen[first]),
        crowd=raw.crowd[chosen[first]],
        owner=order[raw.owner[chosen]],
        kind=kind,
        lines=raw.lines[chosen],
        outward=raw.outward[chosen],
        shared=raw.shared[works],
        resumed=raw.shared[works],
        jump=raw.jump[works],
        run=raw.run[works],
        head=raw.head[works],
        cut=raw.cut[works],
        align=raw.align[works],
        work=work,
        sweep=raw.sweep[first_passes],
        call=raw.call[first_passes],
        iterations=raw.iterations[first_passes],
        executions=executions,
        passes=_bounds(flow_of_pass, flow_count),
        entries=_bounds(flow_of_pass[executions.entry], flow_count),
        cells=_bounds(executions.region_flow[executions.cell_region], flow_count),
        regions=_bounds(executions.region_flow, flow_count),
        team=np.array([sum(thread.alike for thread in t.threads) for t in traffics], dtype=float),
        barriers=np.array([t.schedule.steps[-1].barriers for t in traffics], dtype=float),
        meeting=np.array([traffic.meeting for traffic in traffics], dtype=float),
        line=traffics[0].line,
    )


def _bounds(owner: Whole, count: int) -> Whole:
    """The position of the first element of each owner, and the end; ``owner`` is ascending."""
    return np.searchsorted(owner, np.arange(count + 1))


# --- every pass and stream, as they are -------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Raw:
    """Streams, passes and executions of all lanes, before equal ones are merged."""

    owner: Whole
    history: LineHistory
    outward: Floats
    lines: Floats
    crowd: Whole
    stream_signature: Floats
    pass_signature: Floats
    work_signature: Floats
    sweep: Whole
    call: Whole
    iterations: Floats
    run: Floats
    shared: Flags
    jump: Floats
    head: Floats
    cut: Floats
    align: Floats
    lane: Whole
    flow: Whole
    """(passes,)"""
    alike: Floats
    """(lanes,)"""
    at: Whole
    """(executions,): the pass that is executed."""
    region: Whole
    region_flow: Whole
    times: Floats


def _raw(traffics: Sequence[StepTraffic], ways: int) -> _Raw:
    lanes = [thread for traffic in traffics for thread in traffic.threads]
    sizes = np.array([len(lane.passes) for lane in lanes])
    starts = np.cumsum(sizes) - sizes
    owner = np.concatenate([x.owner + k for x, k in zip(lanes, starts, strict=True)])
    history = LineHistory.joined([lane.history for lane in lanes])
    outward = np.concatenate([lane.outward for lane in lanes])
    lines = np.concatenate([lane.lines for lane in lanes])
    walked = np.array([item.rows for lane in lanes for item in lane.passes])
    crowd = np.where(walked > 0, walked, np.bincount(owner, minlength=len(walked)))[owner]
    stores = history.stores + 2 * history.streamed
    reused = history.reclaimed + 2 * history.again
    properties = np.stack([stores, history.remote, crowd, reused], axis=1)
    near = np.nan_to_num(history.distance, posinf=-1.0)
    drift = np.nan_to_num(outward, nan=-2.0, posinf=-1.0)
    kinds = np.stack([near @ c[:, 0] + properties @ c[0] for c in _CHANCE], axis=1)
    streams = _stream_signatures(near, drift, properties, lines)
    exact = _stream_signatures(_scattered(near), _scattered(drift), properties, _scattered(lines))
    called = [_call_properties(traffic, ways) for traffic in traffics for _ in traffic.threads]
    calls = np.concatenate([np.array([i.call for i in lane.passes]) for lane in lanes])
    figures = np.concatenate(
        [table[[i.call for i in lane.passes]] for table, lane in zip(called, lanes, strict=True)]
    )
    iterations = np.concatenate([np.array([i.iterations for i in lane.passes]) for lane in lanes])
    number = np.repeat(np.arange(len(lanes)), sizes)
    of_lane = [f for f, traffic in enumerate(traffics) for _ in traffic.threads]
    alike, equal = ([total(owner, s, len(calls)) for s in kind] for kind in (streams, exact))
    run = np.minimum(iterations, figures[:, 1])
    jump = np.minimum(figures[:, 4], [item.run for lane in lanes for item in lane.passes])
    regions, at, region, times = _executions(traffics, of_lane, lanes, starts)
    return _Raw(
        owner=owner,
        history=history,
        outward=outward,
        lines=lines,
        crowd=crowd,
        stream_signature=kinds,
        pass_signature=np.stack([*alike, number, iterations, *figures[:, [0, 3, 1, 4]].T], axis=1),
        work_signature=np.stack([*equal, run, jump, figures[:, 2], *figures[:, 5:].T], axis=1),
        sweep=figures[:, 0].astype(np.int64),
        call=calls,
        iterations=iterations,
        run=run,
        shared=figures[:, 2] > 0,
        jump=jump,
        head=figures[:, 5],
        cut=figures[:, 6],
        align=figures[:, 7:],
        lane=number,
        flow=np.array(of_lane)[number],
        alike=np.array([lane.alike for lane in lanes], dtype=float),
        at=at,
        region=region,
        region_flow=np.repeat(np.arange(len(traffics)), regions),
        times=times,
    )


def _executions(
    traffics: Sequence[StepTraffic],
    of_lane: Sequence[int],
    lanes: Sequence[ThreadStreams],
    starts: Whole,
) -> tuple[Whole, Whole, Whole, Floats]:
    """The number of regions of each program; for each execution its pass, its region
    and its count.
    """
    regions = np.array([len(t.executions) for t in traffics])
    before = np.repeat(np.cumsum(regions) - regions, [len(t.threads) for t in traffics])
    placed = [
        _lane_executions(traffics[f], [i.call for i in lane.passes], k, r)
        for f, lane, k, r in zip(of_lane, lanes, starts.tolist(), before.tolist(), strict=True)
    ]
    at, region, times = (np.concatenate(part) for part in zip(*placed, strict=True))
    return regions, at, region, times


def _stream_signatures(
    near: Floats, drift: Floats, properties: Floats, lines: Floats
) -> list[Floats]:
    """Two (streams,) signatures equal for equal streams: up to rounding, if of distances."""
    return [
        _scattered(near @ c[:, 1] + drift @ c[:, 2] + properties @ c[1] + lines * c[2, 3])
        for c in _CHANCE
    ]


def _lane_executions(
    traffic: StepTraffic, calls: Sequence[int], start: int, before: int
) -> tuple[Whole, Whole, Floats]:
    """The pass, region and count of each execution of one lane."""
    executed = traffic.executions[:, calls]
    region, at = np.nonzero(executed)
    return at + start, region + before, executed[region, at]


def _call_properties(traffic: StepTraffic, ways: int) -> Floats:
    """(calls, 7 + PLACES): numbers that describe each call.

    They are: the sweep; the iterations of a run; whether it runs tile by tile; a hash of the
    distances of its rows (0 for sweeps that cannot crowd a set); the iterations to a jump in
    memory; the components of a run before its vector loop; the share of its runs that are cut; and
    the share of its vector loops that begin at each place in a cache line.
    """
    step = traffic.schedule.steps[-1]
    columns = np.zeros((len(step.calls), 7 + PLACES))
    columns[:, 4] = np.inf
    for number, call in enumerate(step.calls):
        shape = traffic.shapes[call.sweep]
        lie = 0
        if not isinstance(shape, SweepShape):
            lie = number + 1
        elif len(shape.streams) > ways:
            rows = [row for _, row in call.rows]
            lie = hash(tuple(row - rows[0] for row in rows)) % (1 << 50)
        columns[number, :4] = call.sweep, float(shape.run), 0.0, lie
        if isinstance(shape, SweepShape) and np.isfinite(shape.run):
            columns[number, 5] = shape.head
        for start in shape.starts:
            columns[number, 7 + start % PLACES] += 1 / len(shape.starts)
    for phase in step.phases:
        if phase.tile is not None:
            for number in phase.calls:
                if np.isinf(columns[number, 1]):  # tiles begin at lines
                    columns[number, 7:] = np.arange(PLACES) == 0
                run, tile = columns[number, 1], float(phase.tile)
                if phase.stages:  # blocks lag behind one another: they end anywhere in a run
                    columns[number, 6] = min(run, tile) / max(run, tile)
                columns[number, 1] = min(run, tile)
                columns[number, 2] = 1.0
                columns[number, 4] = float(phase.tile)
    return columns


# --- equal things once ------------------------------------------------------------------------


def _scattered(values: Floats) -> Floats:
    """A number in [0, 1) for each value; sums of different values differ too (splitmix64)."""
    bits = np.ascontiguousarray(values).view(np.uint64)
    for shift, factor in zip((30, 27), _MIX, strict=True):
        bits = (bits ^ (bits >> np.uint64(shift))) * factor
    bits = (bits ^ (bits >> np.uint64(31))) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53


def _merged(raw: _Raw, new: Whole) -> FlowExecutions:
    """The executions in which those of equal passes are added up and equal regions are merged.

    Entries are sorted by cell, cells by region, regions by flow.
    """
    passes = int(new.max()) + 1
    key, inverse = np.unique(raw.region * passes + new[raw.at], return_inverse=True)
    count = total(inverse, raw.times * raw.iterations[raw.at], len(key))
    region, entry = key // passes, key % passes
    chance = np.random.default_rng(11).uniform(0.5, 1.5, (2, passes))
    marks = [
        np.bincount(region, _scattered(count * c[entry]), len(raw.region_flow)) for c in chance
    ]
    used = np.flatnonzero(np.bincount(region, minlength=len(raw.region_flow)))
    rows = np.stack([raw.region_flow, *marks], axis=1)[used]
    first, same = distinct(rows)
    place = np.full(len(raw.region_flow), -1)
    place[used[first]] = np.arange(len(first))
    valid = place[region] >= 0
    region, entry, count = place[region[valid]], entry[valid], count[valid]
    lane = np.empty(passes, dtype=np.int64)
    lane[new] = raw.lane
    lanes = int(raw.lane.max()) + 1
    cells, cell = np.unique(region * lanes + lane[entry], return_inverse=True)
    cell_region, times = cells // lanes, np.bincount(same).astype(np.float64)
    return FlowExecutions(
        entry=entry,
        count=count,
        entry_cell=cell,
        cell_begin=np.searchsorted(cell, np.arange(len(cells))),
        cell_region=cell_region,
        alike=raw.alike[cells % lanes],
        region_begin=np.searchsorted(cell_region, np.arange(len(times))),
        region_flow=raw.region_flow[used[first]],
        times=times,
    )
