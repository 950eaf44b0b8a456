"""Stated loops as the flat arrays that the node model evaluates.

A candidate is a flow. Each of its loops is a pass in a region of its own, since loops run one after
the other and memory may limit one and not the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.program_model import Access
from autotune.models.engines.reuse.batch import PLACES, FlowArrays, FlowExecutions
from autotune.models.traffic import POSITIONS, Floats, Whole
from autotune.models.traffic.reuse_distance import LineHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedStream:
    """A stream of a loop, its formulas evaluated."""

    name: str
    bytes: float
    """Bytes of new lines per iteration."""
    distance: float
    """Bytes since its lines were last touched; inf: never."""
    access: Access


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopWork:
    """The work of one thread in a loop."""

    name: str
    iterations: float
    run: float
    """Iterations from one entry to the next."""
    alike: float
    """Number of threads that do the same."""
    streams: tuple[StatedStream, ...]

    @property
    def crowd(self) -> int:
        """Number of arrays that the loop streams at once."""
        return max(1, len({stream.name for stream in self.streams}))


def flows(
    works: Sequence[Sequence[LoopWork]], barriers: Sequence[float], threads: int, line: int
) -> FlowArrays:
    """The flow arrays of candidates with at least one loop each, all with ``threads`` threads."""
    passes = [work for entries in works for work in entries]
    streams = [(owner, stream) for owner, work in enumerate(passes) for stream in work.streams]
    count, number = len(passes), np.arange(len(passes))
    run, iterations = np.array([(work.run, work.iterations) for work in passes]).T
    sizes = np.array([len(entries) for entries in works])
    bounds = np.append(0, np.cumsum(sizes))
    place, again = number - np.repeat(bounds[:-1], sizes), run < iterations
    distance = np.array([stream.distance for _, stream in streams], dtype=np.float64)
    written = np.array([stream.access != "read" for _, stream in streams], dtype=np.bool_)
    none, nothing = np.zeros(len(streams), dtype=np.bool_), np.zeros(count)
    return FlowArrays(
        history=LineHistory(
            distance=_everywhere(distance),
            stores=np.array([stream.access == "write" for _, stream in streams], dtype=np.bool_),
            reclaimed=np.zeros(len(streams)),
            **dict.fromkeys(("remote", "streamed", "again"), none),
        ),
        crowd=_whole([passes[owner].crowd for owner, _ in streams]),
        owner=_whole([owner for owner, _ in streams]),
        kind=np.arange(len(streams)),
        lines=np.array([stream.bytes / line for _, stream in streams], dtype=np.float64),
        outward=_everywhere(np.where(written, distance, np.nan)),
        shared=again,
        resumed=np.zeros(count, dtype=np.bool_),  # where it goes on is not stated
        jump=np.where(again, run, np.inf),
        run=run,
        head=nothing,
        cut=nothing,
        align=np.full((count, PLACES), 1.0 / PLACES),  # where arrays begin is not known
        work=number,
        sweep=place,
        call=place,
        iterations=iterations,
        executions=FlowExecutions(
            entry=number,
            count=iterations,
            entry_cell=number,
            cell_begin=number,
            cell_region=number,
            alike=np.array([work.alike for work in passes]),
            region_begin=number,
            region_flow=np.repeat(np.arange(len(works)), sizes),
            times=np.ones(count),
        ),
        passes=bounds,
        entries=bounds,
        cells=bounds,
        regions=bounds,
        team=np.full(len(works), float(threads)),
        barriers=np.array(barriers, dtype=np.float64),
        meeting=np.full(len(works), np.inf),
        line=line,
    )


def _everywhere(values: Floats) -> Floats:
    """The values repeated for every position of a pass."""
    return np.repeat(values[:, None], POSITIONS, axis=1)


def _whole(values: Sequence[int]) -> Whole:
    return np.array(values, dtype=np.int64)
