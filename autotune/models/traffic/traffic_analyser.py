"""The traffic analysis: from a program and its threads to streams; equal parts are
analysed once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from autotune.codegen.tree.loop_tree import AnySweep, StepProgram, Sweep
from autotune.codegen.tree.unique_nodes import UniqueNodes
from autotune.domain.machine import Machine
from autotune.domain.problem import AnyProblem, StencilProblem, generated
from autotune.models.traffic.grid.grid_traffic import GridAnalyser
from autotune.models.traffic.passes import thread_passes
from autotune.models.traffic.pipeline_passes import PipelineRanges, pipeline_passes
from autotune.models.traffic.reuse_distance import streams
from autotune.models.traffic.schedule import PlanCache, Schedule, schedule
from autotune.models.traffic.stream_records import StepTraffic
from autotune.models.traffic.sweep_shape import STREAMING, SweepShape, shape
from autotune.models.traffic.window_conflicts import PipelineTraffic

_Place = tuple[str, int]
"""An IVP's definition and its size."""


@dataclass(slots=True)
class TrafficAnalyser:
    """Analyses programs for one machine; equal programs, sweeps and sizes share their results.

    Padding moves rows but does not change traffic: programs that differ only in padding share a
    ``StepTraffic``.
    """

    machine: Machine
    nodes: UniqueNodes = field(default_factory=UniqueNodes)
    _schedules: PlanCache[Schedule] = field(init=False)
    _values: dict[_Place, Mapping[str, float | int]] = field(default_factory=dict)
    _distances: dict[_Place, int] = field(default_factory=dict)
    _shapes: dict[tuple[int, _Place], SweepShape] = field(default_factory=dict)
    _plans: dict[tuple[int, _Place], tuple[SweepShape, ...]] = field(default_factory=dict)
    _grids: GridAnalyser | None = None
    _traffics: dict[tuple[int, int, _Place, int, int], StepTraffic] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._schedules = PlanCache(schedule, self.nodes)

    def analyse(
        self, program: StepProgram, problem: AnyProblem, threads: int, nodes: int = 1
    ) -> StepTraffic:
        """The traffic of one steady-state time step of ``program`` on ``threads`` threads.

        ``threads``: those of all ranks together, spread evenly over ``nodes``. Raises ValueError
        where a sweep is not in canonical form or a tile loop contains a barrier.
        """
        problem = generated(problem)
        if isinstance(problem, StencilProblem):
            return self._grid().analyse(program, problem, threads, nodes)
        place = (problem.definition, problem.size)
        if place not in self._values:
            self._values[place] = problem.ivp.values(problem.size)
            self._distances[place] = problem.ivp.distance(problem.size)
        plan = self._schedules[program]
        key = (id(plan), program.granule, place, threads, nodes)
        if key not in self._traffics:
            if program.plain is None:
                traffic = self._traffic(plan, program.granule, place, threads, nodes)
            else:  # vectors move no lines
                plain = self.analyse(program.plain, problem, threads, nodes)
                traffic = replace(plain, schedule=plan, shapes=self._shapes_of(plan, place))
            self._traffics[key] = traffic
        return self._traffics[key]

    def _grid(self) -> GridAnalyser:
        if self._grids is None:
            self._grids = GridAnalyser(self.machine)
        return self._grids

    def _traffic(
        self, plan: Schedule, granule: int, place: _Place, threads: int, nodes: int
    ) -> StepTraffic:
        line, n = int(self.machine.line), int(self._values[place]["n"])
        shapes = self._shapes_of(plan, place)
        make: Callable[..., StepTraffic] = StepTraffic
        if plan.windows:
            values = self._values[place]
            ranges = PipelineRanges(n, granule, self._distances[place], line, values)
            placed = pipeline_passes(plan, shapes, ranges, threads)
            passes = [item for item, _ in placed]
            make = partial(PipelineTraffic, thread=placed[0][0], places=placed[0][1])
        else:
            passes = thread_passes(plan, shapes, n, granule, threads, line)
        caches = self.machine.caches
        sizes = [(cache.name, cache.size / min(threads // nodes, cache.cores)) for cache in caches]
        return make(
            schedule=plan,
            shapes=shapes,
            threads=tuple(streams(thread, line) for thread in passes),
            components=n,
            line=line,
            levels=(*sizes, ("MEM", float("inf"))),
        )

    def _shapes_of(self, plan: Schedule, place: _Place) -> tuple[SweepShape, ...]:
        if (id(plan), place) not in self._plans:
            self._plans[id(plan), place] = tuple(self._shape(s, place) for s in plan.sweeps)
        return self._plans[id(plan), place]

    def _shape(self, sweep: AnySweep, place: _Place) -> SweepShape:
        if not isinstance(sweep, Sweep):
            raise ValueError(f"sweep {sweep.name} is over a grid, the problem has none")
        key = (id(self.nodes.function(sweep)), place)
        if key not in self._shapes:
            made = shape(sweep, self._values[place])
            plain = self.machine.architecture != STREAMING
            self._shapes[key] = replace(made, past=0.0) if plain else made
        return self._shapes[key]


def analyse(
    program: StepProgram, problem: AnyProblem, threads: int, machine: Machine
) -> StepTraffic:
    """The traffic of a single program; ``TrafficAnalyser`` is for many programs."""
    return TrafficAnalyser(machine).analyse(program, problem, threads)
