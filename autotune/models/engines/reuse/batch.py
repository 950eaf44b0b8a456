"""The traffic of many programs as flat arrays, equal parts once, ready for one evaluation.

    kinds --< streams >-- passes --< entries >-- cells --> regions --> flows
                            |
                          slots

A *flow* is the traffic of one program on a number of threads. A *lane* is one of its threads that
differs from the others. A *region* lies between two barriers. A *cell* is one lane in one region.
An *entry* is a pass in a cell with its iterations. A *slot* holds what passes of a flow have in
common in the core. Streams of equal distances are of one *kind*, so that the cost of a line is
looked up once. Passes of a lane that run the same sweep over equal streams are one pass. Equal
regions are one that counts several times: corrector steps repeat.

Elements of a flow are next to one another, lanes and cells in order, so sums over a cell, a region
or a flow are sums over a piece of an array.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
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
    """The traffic of many programs as flat arrays over kinds, streams, passes, slots and flows."""

    history: LineHistory
    """Of the kinds."""
    crowd: Whole
    """(kinds,): number of streams that the pass has at once."""
    owner: Whole
    """(streams,): the pass that has the stream."""
    kind: Whole
    """(streams,)"""
    lines: Floats
    """(streams,): inbound lines per iteration."""
    outward: Floats
    """(streams, POSITIONS): how far a written line drifts out; nan for lines not written."""
    sweep: Whole
    """(passes,): position in the sweeps of the program."""
    call: Whole
    """(passes,): first call that the pass stands for."""
    iterations: Floats
    """(passes,): iterations per execution."""
    slot: Whole
    """(passes,): index of its slot. Passes of one slot take the same time in the core."""
    shared: Flags
    """(passes,): whether the pass runs tile by tile."""
    resumed: Flags
    """(passes,): whether it goes on after each jump where its streams ended before."""
    jump: Floats
    """(passes,): iterations from one jump in memory to the next."""
    slot_sweep: Whole
    """(slots,): position in the sweeps of the program."""
    run: Floats
    """(slots,): iterations from one entry into the loop to the next."""
    head: Floats
    """(slots,): components of a run that go one by one before its vector loop."""
    cut: Floats
    """(slots,): share of the runs that are cut in two, anywhere."""
    align: Floats
    """(slots, PLACES): shares of the entries that begin so many doubles behind a line's start."""
    executions: FlowExecutions
    passes: Whole
    """(flows + 1,): number of the first pass of each flow; the next four fields likewise."""
    slots: Whole
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
        steps = {"owner": len(self.sweep), "slot": len(self.run), "kind": len(self.history)}
        columns = _columns(self, other, steps)
        for name in ("passes", "slots", "entries", "cells", "regions"):
            mine, theirs = getattr(self, name), getattr(other, name)
            columns[name] = np.concatenate([mine, theirs[1:] + mine[-1]])
        return FlowArrays(
            history=LineHistory.joined([self.history, other.history]),
            executions=self.executions.joined(other.executions, len(self.sweep), len(self.team)),
            line=self.line,
            **columns,
        )


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
