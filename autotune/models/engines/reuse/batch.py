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

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from autotune.models.traffic import Floats

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

PLACES = 8
"""Number of doubles in a line, at each of which loops may begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowArrays:
    """The traffic of many programs as flat arrays over kinds, streams, passes, entries, cells,
    regions and flows.
    """

    distance: Floats
    """(kinds, POSITIONS): bytes touched since the line was last touched."""
    remote: Flags
    """(kinds,): whether another thread wrote the line last."""
    stores: Flags
    """(kinds,): whether the line is written without being read."""
    reclaimed: Flags
    """(kinds,): whether the line is written after another thread has read it."""
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
    """(passes,): the slot, which holds what matters in the core."""
    shared: Flags
    """(passes,): whether the pass runs tile by tile."""
    jump: Floats
    """(passes,): iterations from one jump in memory to the next."""
    slot_sweep: Whole
    """(slots,): position in the sweeps of the program."""
    run: Floats
    """(slots,): iterations from one entry into the loop to the next."""
    align: Floats
    """(slots, PLACES): shares of the entries that begin so many doubles behind a line's start."""
    entry: Whole
    """(entries,): the pass."""
    count: Floats
    """(entries,): iterations per execution of the region."""
    entry_cell: Whole
    cell_region: Whole
    alike: Floats
    """(cells,): number of threads that do the same."""
    times: Floats
    """(regions,): executions per step."""
    region_flow: Whole
    passes: Whole
    """(flows + 1,): number of the first pass of each flow; the next four fields likewise."""
    slots: Whole
    entries: Whole
    cells: Whole
    regions: Whole
    cell_begin: Whole
    """(cells,): number of the first entry."""
    region_begin: Whole
    """(regions,): number of the first cell."""
    team: Floats
    """(flows,): number of threads that compute something."""
    barriers: Floats
    """(flows,): barriers per step."""
    line: int
    """Bytes of a cache line."""

    def joined(self, other: "FlowArrays") -> "FlowArrays":
        """The arrays of both objects concatenated, the flows of ``other`` last."""
        steps = {
            "owner": len(self.sweep),
            "slot": len(self.run),
            "entry": len(self.sweep),
            "kind": len(self.distance),
            "entry_cell": len(self.alike),
            "cell_region": len(self.times),
            "region_flow": len(self.team),
            "cell_begin": len(self.entry),
            "region_begin": len(self.alike),
        }
        columns = {}
        for item in fields(self):
            name = item.name
            mine, theirs = getattr(self, name), getattr(other, name)
            if name in ("passes", "slots", "entries", "cells", "regions"):
                columns[name] = np.concatenate([mine, theirs[1:] + mine[-1]])
            elif name in steps:
                columns[name] = np.concatenate([mine, theirs + steps[name]])
            elif name != "line":
                columns[name] = np.concatenate([mine, theirs])
        return FlowArrays(line=self.line, **columns)


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
