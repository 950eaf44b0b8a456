"""Flat arrays of one or two passes, made by hand for the arithmetic of engine reuse."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from autotune.models.engines.reuse.batch import PLACES, FlowArrays, FlowExecutions
from autotune.models.traffic import POSITIONS
from autotune.models.traffic.reuse_distance import LineHistory


class Stream(NamedTuple):
    """A stream of a pass, each of a kind of its own."""

    owner: int
    """The pass."""
    distance: Sequence[float]
    """Bytes at each position."""
    lines: float = 1 / 8
    outward: Sequence[float] | None = None
    """Bytes at each position; None: not written."""
    remote: bool = False
    stores: bool = False
    reclaimed: float = 0.0
    streamed: bool = False
    again: bool = False
    crowd: int = 1


def everywhere(distance: float) -> list[float]:
    """The same distance at every position."""
    return [distance] * POSITIONS


def flow_of(
    streams: Sequence[Stream],
    passes: int = 1,
    iterations: float = 1000.0,
    *,
    jump: float = np.inf,
    shared: bool = False,
) -> FlowArrays:
    """One flow of one thread: all passes one after another between two barriers."""
    numbers = np.arange(passes)
    nowhere = everywhere(np.nan)
    one, zero = np.ones(1), np.zeros(1, dtype=np.int64)
    bounds = np.array([0, passes])
    return FlowArrays(
        history=LineHistory(
            distance=np.array([s.distance for s in streams], dtype=float).reshape(-1, POSITIONS),
            stores=np.array([s.stores for s in streams], dtype=np.bool_),
            remote=np.array([s.remote for s in streams], dtype=np.bool_),
            reclaimed=np.array([s.reclaimed for s in streams]),
            streamed=np.array([s.streamed for s in streams], dtype=np.bool_),
            again=np.array([s.again for s in streams], dtype=np.bool_),
        ),
        crowd=np.array([s.crowd for s in streams], dtype=np.int64),
        owner=np.array([s.owner for s in streams], dtype=np.int64),
        kind=np.arange(len(streams)),
        lines=np.array([s.lines for s in streams], dtype=float),
        outward=np.array([s.outward or nowhere for s in streams]).reshape(-1, POSITIONS),
        shared=np.full(passes, shared, dtype=np.bool_),
        resumed=np.full(passes, shared, dtype=np.bool_),
        jump=np.full(passes, jump),
        run=np.full(passes, iterations),
        head=np.zeros(passes),
        cut=np.zeros(passes),
        align=np.eye(PLACES)[np.zeros(passes, dtype=np.int64)],
        work=numbers,
        sweep=numbers,
        call=numbers,
        iterations=np.full(passes, iterations),
        executions=FlowExecutions(
            entry=numbers,
            count=np.full(passes, iterations),
            entry_cell=np.zeros(passes, dtype=np.int64),
            cell_begin=zero,
            cell_region=zero,
            alike=one,
            region_begin=zero,
            region_flow=zero,
            times=one,
        ),
        passes=bounds,
        entries=bounds,
        cells=np.array([0, 1]),
        regions=np.array([0, 1]),
        team=one,
        barriers=np.zeros(1),
        meeting=np.full(1, np.inf),
        line=64,
    )
