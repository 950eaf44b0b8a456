"""The data that an evaluation works on: a machine with some threads running, cases, and pieces of
cases.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from autotune.domain.results import Uncertainty
from autotune.domain.variant import Placement
from autotune.models.engines.reuse.batch import FlowArrays, distinct
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
from autotune.models.traffic import Floats, Whole
from autotune.models.traffic.reuse_distance import Flags


class ThreadPlacement(NamedTuple):
    """The number of threads of all ranks on a node, and their placement."""

    threads: int
    placement: Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictLines:
    """Lines per iteration that set conflicts load again from each level, for passes of cases."""

    kind: Whole
    """(rows + 1,): the kind of each row of conflicts; the last row has none."""
    certain: Floats
    """(levels, kinds)"""
    possible: Floats
    """(levels, kinds): including those that depend on physical pages."""

    @classmethod
    def of(
        cls, levels: int, certain: Sequence[Floats] = (), possible: Sequence[Floats] = ()
    ) -> "ConflictLines":
        """The lines of arrays of (levels, rows), equal rows once."""
        none = np.zeros((levels, 1))
        lines = np.block([[*certain, none], [*possible, none]])
        first, kind = distinct(lines.T)
        surely, perhaps = np.split(lines[:, first], 2)
        return cls(kind=kind, certain=surely, possible=perhaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseArrays:
    """Cases as flat arrays, all with the same number of threads on a node."""

    flow: Whole
    """(cases,): position of the flow."""
    core: Whole
    """(cases,): position in the loops of the program's first sweep."""
    crowd: Whole
    """(cases,): position in the conflicts of the first pass; -1: no conflicts."""
    team: Whole
    """(cases,): threads of one rank, which wait for one another at barriers."""

    def at(self, rows: Whole) -> "CaseArrays":
        """The cases ``rows``."""
        return CaseArrays(
            flow=self.flow[rows], core=self.core[rows], crowd=self.crowd[rows], team=self.team[rows]
        )


class BareNode(NamedTuple):
    """A machine with some threads running: costs, rules and uncertainties."""

    threads: int
    costs: LineCosts
    rules: OverlapRules
    doubts: ParameterDeviations
    price: Floats
    """(levels,): typical cycles per line from each level behind the innermost."""
    names: tuple[str, ...]
    """Names of the assumptions about transfers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedNode:
    """A machine with some threads running, with the transfers of flows by work."""

    bare: BareNode
    flows: FlowArrays
    data: TransferSums
    """Transfers by position and under each assumption."""
    mean: Floats
    """(levels, works): cycles per iteration for lines of each level behind the innermost."""
    stored: Floats
    """(works,)"""
    starts: Floats
    """(works,): cycles per iteration to start streams."""
    again: Floats
    """(2, works): lines per iteration of which loads may be issued again: those that loads of
    neighbouring components read, and the others."""
    across: Floats
    """(2, works): as ``LineTimes.across``."""
    streams: Whole
    """(levels + 1, works): inbound streams by level."""
    floor: Floats
    """(regions,): least seconds in which memory can move the lines; 0 where not known."""

    @property
    def costs(self) -> LineCosts:
        """The costs of cache lines on the machine."""
        return self.bare.costs

    @property
    def doubts(self) -> ParameterDeviations:
        """The standard deviations of the machine's figures."""
        return self.bare.doubts

    def joined(self, other: "LoadedNode") -> "LoadedNode":
        """The node with the flows of ``other`` appended."""
        return LoadedNode(
            bare=self.bare,
            flows=self.flows.joined(other.flows),
            data=self.data.joined(other.data, axis=1),
            floor=np.concatenate([self.floor, other.floor]),
            **{
                name: np.concatenate([getattr(self, name), getattr(other, name)], axis=-1)
                for name in _FIGURES
            },
        )

    def merged(self) -> "LoadedNode":
        """The node with works of equal figures as one: most differ in reuse distances only."""
        flows, data = self.flows, self.data
        arrays = [
            data.total,
            data.waited,
            data.exposed,
            *(getattr(self, name) for name in _FIGURES),
        ]
        arrays += [] if data.beside is None else [data.beside]
        arrays += [flows.run, flows.head, flows.cut, flows.align.T, flows.jump, flows.shared]
        first, same = distinct(np.vstack(arrays).T)
        return replace(
            self,
            flows=flows.merged(first, same),
            data=data.at(first),
            **{name: getattr(self, name)[..., first] for name in _FIGURES},
        )


_FIGURES = ("mean", "stored", "starts", "again", "across", "streams")
"""The arrays of a node over works, apart from ``data``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeDoubts:
    """How unsure n predicted times are, by k classes of figures; see ``uncertainty``."""

    shifts: Floats
    """(n, k): relative change of the time if a class is one standard deviation off."""
    terms: Floats
    """(n, k): seconds of the step that grow in proportion with each class of figures, or that are
    spent under the condition of a known weakness."""
    independent: Floats
    """(n,): relative standard deviation that other times do not share."""

    @classmethod
    def unknown(cls, count: int, classes: int) -> "TimeDoubts":
        """Arrays of nan for so many times and classes."""
        return cls(
            shifts=np.full((count, classes), np.nan),
            terms=np.full((count, classes), np.nan),
            independent=np.full(count, np.nan),
        )

    @property
    def sigma(self) -> Floats:
        """(n,): relative standard deviations."""
        sigma: Floats = np.sqrt((self.shifts**2).sum(axis=1) + self.independent**2)
        return sigma

    def at(self, rows: Whole) -> "TimeDoubts":
        """The doubts of the times ``rows``."""
        return TimeDoubts(
            shifts=self.shifts[rows], terms=self.terms[rows], independent=self.independent[rows]
        )

    def put(self, rows: Whole | Flags, doubts: "TimeDoubts | float") -> None:
        """Set the doubts of the times ``rows``, all to one number where one is given."""
        for name in self.__dataclass_fields__:
            values = doubts if isinstance(doubts, float) else getattr(doubts, name)
            getattr(self, name)[rows] = values

    def of(self, row: int, classes: Sequence[str]) -> Uncertainty:
        """The uncertainty of one time, without classes that do not move it."""
        shifts = zip(classes, self.shifts[row].tolist(), strict=True)
        return Uncertainty(
            shared={name: value for name, value in shifts if value},
            independent=float(self.independent[row]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEstimates:
    """Predicted seconds and uncertainties of some cases."""

    seconds: Floats
    """(cases,): nan where a figure is missing."""
    floor: Floats
    """(cases,): least seconds by the bandwidth of memory alone."""
    doubts: TimeDoubts


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePiece:
    """Some cases, with their passes gathered into flat arrays.

    Passes of equal work, loop and set conflicts are alike; what is the same for them is there once
    for each *distinct* pass.
    """

    core: CorePassTimes
    data: TransferSums
    conflicts: tuple[Floats, Floats] | None
    """(levels, distinct) cycles of lines loaded again by set conflicts: certain, and at most."""
    rows: Floats
    """(rows, distinct): cycles by position and under each assumption."""
    loops: LoopArrays
    """(distinct,): in-core figures."""
    work: Whole
    """(distinct,): position in the works of the flows."""
    alike: Whole
    """(passes,): the distinct pass."""
    paths: StepPaths
    begin: Whole
    """(cases,): number of the first pass."""
    owner: Whole
    """(passes,): the case that has the pass."""
    at: Whole
    """(passes,): position in the flows."""

    @property
    def cycles(self) -> Floats:
        """(passes,): mean cycles per iteration of each pass."""
        return over_positions(self.rows)[self.alike]

    def per_case(self, values: Floats, weight: Floats) -> Floats:
        """(rows, cases): the sums of (rows, distinct) values over the passes of each case, with the
        weight of each pass.
        """
        weighted = np.take(values, self.alike, axis=1) * weight
        return np.asarray(np.add.reduceat(weighted, self.begin, axis=1), dtype=np.float64)
