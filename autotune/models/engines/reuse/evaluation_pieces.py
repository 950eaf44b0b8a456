"""What an evaluation works on: a machine with some threads running, cases, pieces of them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from autotune.domain.variant import Placement
from autotune.models.engines.reuse.batch import Flows, Whole
from autotune.models.engines.reuse.core_times import Loops
from autotune.models.engines.reuse.line_cost import LineCosts
from autotune.models.engines.reuse.time_model import Core, Paths, Rules, Sums, over_positions
from autotune.models.engines.reuse.uncertainty import Doubts
from autotune.models.traffic import Floats


class Spread(NamedTuple):
    """How many threads of all ranks run on a node, and where."""

    threads: int
    placement: Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """Lines per iteration that set conflicts load again from each level, for passes of cases."""

    certain: Floats
    """(levels, rows)"""
    possible: Floats
    """(levels, rows): with those that depend on physical pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """What is evaluated, as flat arrays; all with the same number of threads on a node."""

    flow: Whole
    """(cases,): position in the flows."""
    core: Whole
    """(cases,): in the loops, that of the first sweep of the program."""
    crowd: Whole
    """(cases,): in the conflicts, that of the first pass; -1: there are none."""
    team: Whole
    """(cases,): threads of one rank, which wait for one another at barriers."""

    def at(self, rows: Whole) -> "Cases":
        """Some of them."""
        return Cases(
            flow=self.flow[rows], core=self.core[rows], crowd=self.crowd[rows], team=self.team[rows]
        )


class Bare(NamedTuple):
    """A machine with some threads running."""

    threads: int
    costs: LineCosts
    rules: Rules
    doubts: Doubts
    price: Floats
    """(levels,): cycles per line from each level behind the innermost, whatever its distance."""
    names: tuple[str, ...]
    """Of the assumptions about transfers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A machine with some threads running, and what flows do on it; passes are the last axis."""

    bare: Bare
    flows: Flows
    data: Sums
    """By position and under each assumption."""
    mean: Floats
    """(levels, passes): cycles per iteration for lines of each level behind the innermost."""
    stored: Floats
    """(passes,)"""
    starts: Floats
    """(passes,): cycles per iteration to start streams."""
    streams: Whole
    """(levels + 1, passes): inbound streams by level."""
    floor: Floats
    """(regions,): seconds below which memory cannot move the lines; 0 where that is not known."""

    @property
    def costs(self) -> LineCosts:
        """What lines cost."""
        return self.bare.costs

    @property
    def doubts(self) -> Doubts:
        """What the figures are worth."""
        return self.bare.doubts

    def joined(self, other: "Node") -> "Node":
        """With further flows behind."""
        return Node(
            bare=self.bare,
            flows=self.flows.joined(other.flows),
            data=self.data.joined(other.data, axis=1),
            mean=np.concatenate([self.mean, other.mean], axis=1),
            stored=np.concatenate([self.stored, other.stored]),
            starts=np.concatenate([self.starts, other.starts]),
            streams=np.concatenate([self.streams, other.streams], axis=1),
            floor=np.concatenate([self.floor, other.floor]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """What the model says of some cases."""

    seconds: Floats
    """(cases,): nan where a figure is missing."""
    floor: Floats
    """(cases,): seconds that the bandwidth of memory alone asks for."""
    shifts: Floats
    """(cases, classes): relative change of the time when a class is one deviation off."""
    terms: Floats
    """(cases, classes): seconds that grow with a class of figures."""
    own: Floats
    """(cases,): relative standard deviation of a case alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some cases with their passes in flat arrays."""

    core: Core
    data: Sums
    conflicts: tuple[Floats, Floats] | None
    """(levels, passes) cycles of lines that set conflicts load again: certainly, and at most."""
    rows: Floats
    """Cycles of the passes by position and under each assumption."""
    loops: Loops
    """Of the slots."""
    slot: Whole
    """(passes,): position in the loops."""
    paths: Paths
    begin: Whole
    """(cases,): first pass."""
    owner: Whole
    """(passes,): the case."""
    at: Whole
    """(passes,): position in the flows."""

    @property
    def cycles(self) -> Floats:
        """(passes,): per iteration."""
        return over_positions(self.rows)
