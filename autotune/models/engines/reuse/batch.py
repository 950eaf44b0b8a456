"""The traffic of many programs as flat arrays, equal parts once, ready for one evaluation.

    kinds --< streams >-- works --< passes --< entries >-- cells --> regions --> flows

A *flow* is the traffic of one program on a number of threads. A *lane* is one of its threads that
differs from the others. A *region* lies between two barriers. A *cell* is one lane in one region.
An *entry* is a pass in a cell with its iterations. Streams of equal distances are of one *kind*, so
that the cost of a line is looked up once. Passes of a lane that run the same sweep over equal
streams are one pass. Passes of any flows with equal streams and runs are of one *work*, so that the
cycles of an iteration are computed once per work and loop. Equal regions are one that counts
several times: corrector steps repeat.

Elements of a flow are next to one another, lanes and cells in order, so sums over a cell, a region
or a flow are sums over a piece of an array.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from autotune.models.traffic.reuse_distance import Flags, Floats, LineHistory, Whole

PLACES = 8
"""Number of doubles in a line, at each of which loops may begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowExecutions:
    """How often the passes of flows are executed: flat arrays over entries, cells and regions."""

    entry: Whole
    """(entries,): the pass."""
    count: Floats
    """(entries,): iterations per execution of the region."""
    entry_cell: Whole
    cell_begin: Whole
    """(cells,): number of the first entry."""
    cell_region: Whole
    alike: Floats
    """(cells,): number of threads that do the same."""
    region_begin: Whole
    """(regions,): number of the first cell."""
    region_flow: Whole
    times: Floats
    """(regions,): executions per step."""

    def joined(self, other: "FlowExecutions", passes: int, flows: int) -> "FlowExecutions":
        """The executions of both objects; passes and flows of ``other`` are numbered from these."""
        steps = {
            "entry": passes,
            "entry_cell": len(self.alike),
            "cell_begin": len(self.entry),
            "cell_region": len(self.times),
            "region_begin": len(self.alike),
            "region_flow": flows,
        }
        return FlowExecutions(**_columns(self, other, steps))


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowArrays:
    """The traffic of many programs as flat arrays over kinds, streams, works, passes and flows."""

    history: LineHistory
    """Of the kinds."""
    crowd: Whole
    """(kinds,): number of streams that the pass has at once."""
    owner: Whole
    """(streams,): the work that has the stream."""
    kind: Whole
    """(streams,)"""
    lines: Floats
    """(streams,): inbound lines per iteration."""
    outward: Floats
    """(streams, POSITIONS): how far a written line drifts out; nan for lines not written."""
    shared: Flags
    """(works,): whether passes run tile by tile."""
    resumed: Flags
    """(works,): whether they go on after each jump where their streams ended before."""
    jump: Floats
    """(works,): iterations from one jump in memory to the next."""
    run: Floats
    """(works,): iterations from one entry into the loop to the next."""
    head: Floats
    """(works,): components of a run that go one by one before its vector loop."""
    cut: Floats
    """(works,): share of the runs that are cut in two, anywhere."""
    align: Floats
    """(works, PLACES): shares of the entries that begin so many doubles behind a line's start."""
    work: Whole
    """(passes,): the work of the pass."""
    sweep: Whole
    """(passes,): position in the sweeps of the program."""
    call: Whole
    """(passes,): first call that the pass stands for."""
    iterations: Floats
    """(passes,): iterations per execution."""
    executions: FlowExecutions
    passes: Whole
    """(flows + 1,): number of the first pass of each flow; the next three fields likewise."""
    entries: Whole
    cells: Whole
    regions: Whole
    team: Floats
    """(flows,): number of threads that compute something."""
    barriers: Floats
    """(flows,): barriers per step."""
    meeting: Floats
    """(flows,): threads that wait for one another at a barrier, at most; inf: all."""
    line: int
    """Bytes of a cache line."""

    def joined(self, other: "FlowArrays") -> "FlowArrays":
        """The arrays of both objects concatenated, the flows of ``other`` last."""
        steps = dict.fromkeys(("owner", "work"), len(self.run)) | {"kind": len(self.history)}
        columns = _columns(self, other, steps)
        for name in ("passes", "entries", "cells", "regions"):
            mine, theirs = getattr(self, name), getattr(other, name)
            columns[name] = np.concatenate([mine, theirs[1:] + mine[-1]])
        return FlowArrays(
            history=LineHistory.joined([self.history, other.history]),
            executions=self.executions.joined(other.executions, len(self.sweep), len(self.team)),
            line=self.line,
            **columns,
        )

    def merged(self, first: Whole, same: Whole) -> "FlowArrays":
        """The arrays with only the works ``first``; ``same``: which of these each work becomes."""
        streams = np.flatnonzero(np.isin(self.owner, first))
        works = ("shared", "resumed", "jump", "run", "head", "cut", "align")
        columns = {name: getattr(self, name)[first] for name in works}
        columns |= {name: getattr(self, name)[streams] for name in ("kind", "lines", "outward")}
        return replace(self, owner=same[self.owner[streams]], work=same[self.work], **columns)


def _columns(
    mine: "FlowArrays | FlowExecutions",
    theirs: "FlowArrays | FlowExecutions",
    steps: Mapping[str, int],
) -> dict[str, npt.NDArray[Any]]:
    """The concatenated arrays by name; numbers of the second object are raised by ``steps``."""
    columns = {}
    for name in (item.name for item in fields(mine)):
        first, second = getattr(mine, name), getattr(theirs, name)
        if isinstance(first, np.ndarray):
            columns[name] = np.concatenate(
                [first, second + steps[name] if name in steps else second]
            )
    return columns


def total(place: Whole, values: Floats, count: int) -> Floats:
    """The sum of the values with the same place, for each of ``count`` places."""
    return np.asarray(np.bincount(place, values, count), dtype=np.float64)


def spans(begin: Whole, count: Whole) -> Whole:
    """The numbers begin, begin + 1, ... of every span, one span after the other.

    >>> spans(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(count)
    result: Whole = np.arange(ends[-1] if len(ends) else 0) + np.repeat(begin - ends + count, count)
    return result


def distinct(rows: Floats) -> tuple[Whole, Whole]:
    """(first, inverse): the positions of the distinct rows in order, and for each row the number of
    its equal among them.
    """
    exact = np.ascontiguousarray(rows)
    keys = exact.view(np.dtype((np.void, exact.dtype.itemsize * exact.shape[1])))[:, 0]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[inverse]
