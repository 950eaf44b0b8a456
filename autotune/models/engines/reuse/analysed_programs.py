"""Turns candidates into cases for the model; each program, its traffic, its loops and its conflicts
are analysed once.

The cases depend on the caches of the machine, not on its speeds, so one analysis serves any number
of calibrations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from autotune.codegen.c.emit import SweepCode
from autotune.codegen.tree.loop_tree import AnySweep, StepProgram
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.machine import Machine
from autotune.domain.variant import Build, Candidate
from autotune.errors import AutotuneError
from autotune.models.engines.reuse import flatten
from autotune.models.engines.reuse.batch import FlowArrays
from autotune.models.engines.reuse.core_times import ProgramLoops
from autotune.models.engines.reuse.evaluation_pieces import (
    CaseArrays,
    ConflictLines,
    ThreadPlacement,
)
from autotune.models.engines.reuse.sum_loops import per_component
from autotune.models.incore.base import InCoreAnalyser, InCoreResult
from autotune.models.traffic import Floats, Schedule, SetConflict, StepTraffic, TrafficAnalyser
from autotune.models.traffic.sweep_shape import SweepShape

Crowded = tuple[tuple[int, tuple[SetConflict, ...]], ...]
"""Calls with their set conflicts."""
Terms = tuple[float, ...]
"""Terms of sums over an index for each component, by sweep; or whether index arrays lead beyond the
private caches."""


class CasePosition(NamedTuple):
    """Where the case of a candidate is stored: its thread placement and its position among the
    cases of this placement.
    """

    spread: ThreadPlacement
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingCase:
    """The input of the timing model for a candidate; equal cases have equal times."""

    traffic: StepTraffic
    threads: int
    """Threads on a node, which share its caches and memory."""
    team: int
    """Threads of one rank, which wait for one another at barriers."""
    results: tuple[InCoreResult, ...]
    """One per sweep of the program."""
    crowded: Crowded


class _AnalysisRequest(NamedTuple):
    """A candidate to be analysed, with the traffic of its program."""

    candidate: Candidate
    traffic: StepTraffic
    pad_lines: int


@dataclass(slots=True)
class CaseTeam:
    """All cases of one thread placement, with their traffic."""

    parts: list[FlowArrays] = field(default_factory=list)
    traffics: list[StepTraffic] = field(default_factory=list)
    flows: dict[int, int] = field(default_factory=dict)
    """id of a traffic to the position of its flow."""
    cases: list[TimingCase] = field(default_factory=list)
    rows_by_key: dict[tuple[object, ...], int] = field(default_factory=dict)
    rows: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Flow, first loop, first conflict row and team of each case."""
    where: list[tuple[FlowArrays, int]] = field(default_factory=list)
    """Part of the arrays, and position in it, of each flow."""
    crowds: dict[tuple[int, Crowded], int] = field(default_factory=dict)
    certain: list[Floats] = field(default_factory=list)
    possible: list[Floats] = field(default_factory=list)
    crowd_rows: int = 0
    _arrays: tuple[int, CaseArrays] | None = None
    _conflicts: tuple[int, ConflictLines] | None = None

    def array(self) -> CaseArrays:
        """All cases as flat arrays."""
        if self._arrays is None or self._arrays[0] != len(self.rows):
            columns = np.array(self.rows, dtype=np.int64).reshape(-1, 4).T
            arrays = CaseArrays(flow=columns[0], core=columns[1], crowd=columns[2], team=columns[3])
            self._arrays = len(self.rows), arrays
        return self._arrays[1]

    def conflicts(self, levels: int) -> ConflictLines:
        """The set conflicts of all cases."""
        if self._conflicts is None or self._conflicts[0] != len(self.certain):
            lines = ConflictLines.of(levels, self.certain, self.possible)
            self._conflicts = len(self.certain), lines
        return self._conflicts[1]


class AnalysedCandidates:
    """Makes the cases of candidates; programs, sweeps, loops and traffic are analysed once.

    ``programs`` gives the program of a candidate, ``sweep_code`` the C text of a sweep,
    ``analyser`` its in-core time. Sweeps of equal text are analysed once per build.
    """

    def __init__(
        self,
        machine: Machine,
        programs: Callable[[Candidate], StepProgram],
        analyser: InCoreAnalyser,
        sweep_code: Callable[[AnySweep], SweepCode],
    ) -> None:
        self.machine = machine
        self.teams: dict[ThreadPlacement, CaseTeam] = {}
        self._programs = programs
        self._analyser = analyser
        self._sweep_code = sweep_code
        self._traffic = TrafficAnalyser(machine)
        self._codes: dict[int, SweepCode] = {}
        self._plans: dict[int, tuple[SweepCode, ...]] = {}
        self._in_core: dict[tuple[Build, str], InCoreResult | str] = {}
        self._cores: dict[tuple[Build, int, Terms], tuple[int, tuple[InCoreResult, ...]] | str] = {}
        self._analysed: set[tuple[Build, int]] = set()
        self._results: list[InCoreResult] = []
        self._loops: ProgramLoops | None = None
        self._placed: dict[int, tuple[Candidate, CasePosition | str]] = {}
        self._crowded: dict[tuple[int, int, tuple[float, ...]], Crowded] = {}
        self._levels = [cache.name for cache in machine.caches]
        private = [cache.ways for cache in machine.caches if cache.cores == 1]
        self._ways = min(private, default=0)
        sizes = (float(cache.size) for cache in machine.caches if cache.cores == 1)
        self._private = max(sizes, default=0.0)

    @property
    def loops(self) -> ProgramLoops:
        """The in-core figures of all sweeps of all builds."""
        if self._loops is None or len(self._loops.place) != len(self._results):
            self._loops = ProgramLoops.of(self._results)
        return self._loops

    def places(self, candidates: Sequence[Candidate]) -> list[CasePosition | str]:
        """The position of the case of every candidate, or the reason why it has none."""
        placed = self._placed
        new = [c for c in candidates if id(c) not in placed]
        if new:
            requests = [self._want(candidate) for candidate in new]
            self._analyse([item for item in requests if isinstance(item, _AnalysisRequest)])
            self._flow([item for item in requests if isinstance(item, _AnalysisRequest)])
            for candidate, item in zip(new, requests, strict=True):
                position = self._place(item) if isinstance(item, _AnalysisRequest) else item
                placed[id(candidate)] = candidate, position
        return [placed[id(candidate)][1] for candidate in candidates]

    def case(self, place: CasePosition) -> TimingCase:
        """The case at a position."""
        return self.teams[place.spread].cases[place.position]

    # --- programs and their traffic -------------------------------------------------------

    def _want(self, candidate: Candidate) -> _AnalysisRequest | str:
        try:
            program = self._programs(candidate)
            everywhere = candidate.ranks * candidate.threads
            traffic = self._traffic.analyse(program, candidate.problem, everywhere, candidate.nodes)
        except (IllegalTransformation, ValueError) as error:
            return f"no program to look at: {error}"
        return _AnalysisRequest(candidate, traffic, program.pad_lines)

    def _flow(self, requests: Sequence[_AnalysisRequest]) -> None:
        """Flatten the traffic of these requests that has not been flattened yet."""
        new: dict[ThreadPlacement, dict[int, StepTraffic]] = {}
        for item in requests:
            spread = _spread(item)
            if id(item.traffic) not in self.teams.setdefault(spread, CaseTeam()).flows:
                new.setdefault(spread, {})[id(item.traffic)] = item.traffic
        for spread, traffics in new.items():
            team = self.teams[spread]
            for key, traffic in traffics.items():
                team.flows[key] = len(team.traffics)
                team.traffics.append(traffic)
            part = flatten.flows(list(traffics.values()), self._ways)
            team.parts.append(part)
            team.where += [(part, index) for index in range(len(traffics))]

    # --- in-core times --------------------------------------------------------------------

    def _code(self, plan: Schedule) -> tuple[SweepCode, ...]:
        """The C text of every sweep of a schedule."""
        if id(plan) not in self._plans:
            functions = [self._traffic.nodes.function(sweep) for sweep in plan.sweeps]
            for sweep in functions:
                if id(sweep) not in self._codes:
                    self._codes[id(sweep)] = self._sweep_code(sweep)
            self._plans[id(plan)] = tuple(self._codes[id(sweep)] for sweep in functions)
        return self._plans[id(plan)]

    def _analyse(self, requests: Sequence[_AnalysisRequest]) -> None:
        """Analyse all sweeps without an in-core time yet, in one batch per build."""
        new: dict[Build, dict[str, SweepCode]] = {}
        plans = {
            (item.candidate.build, id(item.traffic.schedule)): item.traffic.schedule
            for item in requests
        }
        for (build, key), plan in plans.items():
            if (build, key) in self._analysed:
                continue
            self._analysed.add((build, key))
            for code in self._code(plan):
                if (build, code.text) not in self._in_core:
                    new.setdefault(build, {})[code.text] = code
        for flags, codes in new.items():
            try:
                results = self._analyser.analyse(list(codes.values()), flags)
            except AutotuneError:
                for text, code in codes.items():
                    self._in_core[flags, text] = self._analyse_one(code, flags)
                continue
            for text, result in zip(codes, results, strict=True):
                self._in_core[flags, text] = result

    def _analyse_one(self, code: SweepCode, build: Build) -> InCoreResult | str:
        try:
            return self._analyser.analyse([code], build)[0]
        except AutotuneError as error:
            return f"no in-core time of sweep {code.name}: {error}"

    def _core(
        self, build: Build, traffic: StepTraffic
    ) -> tuple[int, tuple[InCoreResult, ...]] | str:
        """The position of a program's first in-core result, and the in-core results of its sweeps;
        or the reason why there are none.
        """
        plan, shapes = traffic.schedule, traffic.shapes
        terms = tuple(
            s.terms or float(s.scattered > self._private) if isinstance(s, SweepShape) else 0.0
            for s in shapes
        )
        key = (build, id(plan), terms)
        if key not in self._cores:
            results = [self._in_core[build, code.text] for code in self._code(plan)]
            failed = [result for result in results if isinstance(result, str)]
            if failed:
                self._cores[key] = failed[0]
            else:
                valid = tuple(
                    per_component(result, shape, self._private)
                    if isinstance(shape, SweepShape)
                    else result
                    for result, shape in zip(results, shapes, strict=True)
                    if isinstance(result, InCoreResult)
                )
                self._cores[key] = len(self._results), valid
                self._results += valid
        return self._cores[key]

    # --- cases ----------------------------------------------------------------------------

    def _place(self, request: _AnalysisRequest) -> CasePosition | str:
        candidate, traffic, pad_lines = request
        core = self._core(candidate.build, traffic)
        if isinstance(core, str):
            return core
        first, results = core
        spread = _spread(request)
        team = self.teams[spread]
        flow = team.flows[id(traffic)]
        crowd = self._crowd(team, flow, pad_lines, results)
        # Padding matters through conflicts only, so most padded candidates share a case.
        key = (flow, first, crowd, candidate.threads)
        if key not in team.rows_by_key:
            team.rows_by_key[key] = len(team.rows)
            team.rows.append((flow, first, crowd[0] if crowd else -1, candidate.threads))
            team.cases.append(
                TimingCase(
                    traffic=traffic,
                    threads=spread.threads,
                    team=candidate.threads,
                    results=results,
                    crowded=crowd[1] if crowd else (),
                )
            )
        return CasePosition(spread, team.rows_by_key[key])

    def _crowd(
        self, team: CaseTeam, flow: int, pad_lines: int, results: tuple[InCoreResult, ...]
    ) -> tuple[int, Crowded] | None:
        """The position of a program's first set conflict, and its set conflicts for its padding;
        None without conflicts.
        """
        traffic = team.traffics[flow]
        plan, shapes = traffic.schedule.steps[-1].calls, traffic.shapes
        able = [
            number
            for number, call in enumerate(plan)
            if not isinstance(shape := shapes[call.sweep], SweepShape)
            or len(shape.streams) > self._ways
        ]
        if not able:
            return None
        key = (id(traffic), pad_lines, tuple(result.iterations for result in results))
        if key not in self._crowded:
            crowding = (
                (n, tuple(traffic.conflicts(n, pad_lines, self.machine, key[2][plan[n].sweep])))
                for n in able
            )
            self._crowded[key] = tuple((number, crowd) for number, crowd in crowding if crowd)
        crowded = self._crowded[key]
        if not crowded:
            return None
        if (flow, crowded) not in team.crowds:
            part, index = team.where[flow]
            calls = part.call[part.passes[index] : part.passes[index + 1]]
            team.crowds[flow, crowded] = team.crowd_rows
            for certain, columns in ((True, team.certain), (False, team.possible)):
                lines = np.zeros((len(self._levels), len(plan)))
                for number, crowd in crowded:
                    lines[:, number] = _reloaded_lines(crowd, self._levels, certain=certain)
                columns.append(lines[:, calls])
            team.crowd_rows += len(calls)
        return team.crowds[flow, crowded], crowded


def _spread(request: _AnalysisRequest) -> ThreadPlacement:
    """The threads of a node that have a part of the work."""
    candidate = request.candidate
    working = sum(thread.alike for thread in request.traffic.threads)
    return ThreadPlacement(
        min(candidate.threads_per_node, -(-working // candidate.nodes)), candidate.placement
    )


def _reloaded_lines(
    crowd: Sequence[SetConflict], levels: Sequence[str], *, certain: bool
) -> list[float]:
    """Lines per iteration loaded again from each level behind the innermost because of set
    conflicts.

    With ``certain``, conflicts that depend on physical pages are left out. A line driven out of one
    level comes from the next level that still has it.
    """
    lost = dict.fromkeys(levels, 0.0)
    lost |= {c.level: c.lines for c in crowd if c.certain or not certain}
    behind = [lost[name] for name in levels[1:]] + [0.0]
    return [max(0.0, lost[name] - other) for name, other in zip(levels, behind, strict=True)]
