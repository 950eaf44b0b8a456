"""What an evaluation works on: a machine with some threads running, cases, pieces of them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from autotune.domain.variant import Placement
from autotune.models.engines.reuse.batch import FlowArrays, Whole
from autotune.models.engines.reuse.core_times import LoopArrays
from autotune.models.engines.reuse.line_cost import LineCosts
from autotune.models.engines.reuse.time_model import (
    CorePassTimes,
    OverlapRules,
    StepPaths,
    TransferSums,
    over_positions,
)
from autotune.models.engines.reuse.uncertainty import ParameterDeviations
from autotune.models.traffic import Floats


class ThreadPlacement(NamedTuple):
    """How many threads of all ranks run on a node, and where."""

    threads: int
    placement: Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictLines:
    """Lines per iteration that set conflicts load again from each level, for passes of cases."""

    certain: Floats
    """(levels, rows)"""
    possible: Floats
    """(levels, rows): with those that depend on physical pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseArrays:
    """What is evaluated, as flat arrays; all with the same number of threads on a node."""

    flow: Whole
    """(cases,): position in the flows."""
    core: Whole
    """(cases,): in the loops, that of the first sweep of the program."""
    crowd: Whole
    """(cases,): in the conflicts, that of the first pass; -1: there are none."""
    team: Whole
    """(cases,): threads of one rank, which wait for one another at barriers."""

    def at(self, rows: Whole) -> "CaseArrays":
        """Some of them."""
        return CaseArrays(
            flow=self.flow[rows], core=self.core[rows], crowd=self.crowd[rows], team=self.team[rows]
        )


class BareNode(NamedTuple):
    """A machine with some threads running."""

    threads: int
    costs: LineCosts
    rules: OverlapRules
    doubts: ParameterDeviations
    price: Floats
    """(levels,): cycles per line from each level behind the innermost, whatever its distance."""
    names: tuple[str, ...]
    """Of the assumptions about transfers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedNode:
    """A machine with some threads running, and what flows do on it; passes are the last axis."""

    bare: BareNode
    flows: FlowArrays
    data: TransferSums
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
    def doubts(self) -> ParameterDeviations:
        """What the figures are worth."""
        return self.bare.doubts

    def joined(self, other: "LoadedNode") -> "LoadedNode":
        """With further flows behind."""
        return LoadedNode(
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
class CaseEstimates:
    """What the model says of some cases."""

    seconds: Floats
    """(cases,): nan where a figure is missing."""
    floor: Floats
    """(cases,): seconds that the bandwidth of memory alone asks for."""
    shifts: Floats
    """(cases, classes): relative change of the time when a class is one deviation off."""
    terms: Floats
    """(cases, classes): seconds that grow with a class of figures."""
    independent: Floats
    """(cases,): relative standard deviation of a case alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePiece:
    """Some cases with their passes in flat arrays."""

    core: CorePassTimes
    data: TransferSums
    conflicts: tuple[Floats, Floats] | None
    """(levels, passes) cycles of lines that set conflicts load again: certainly, and at most."""
    rows: Floats
    """Cycles of the passes by position and under each assumption."""
    loops: LoopArrays
    """Of the slots."""
    slot: Whole
    """(passes,): position in the loops."""
    paths: StepPaths
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
