"""Engine ``planes``: the cache-miss model of stencils of Ibeid et al., data access alone.

The arithmetic, its equations and what the paper leaves open are in ``planes_formula``.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from autotune.domain.calibration import Z80
from autotune.domain.machine import Machine
from autotune.domain.problem import StencilProblem
from autotune.domain.results import Part, Prediction
from autotune.domain.stencil import SOURCE
from autotune.domain.variant import Block, Candidate, SeveralSweeps, StreamStores
from autotune.errors import Fault, InputError
from autotune.learning.formulas.planes_formula import Grids, Planes, hits, misses, planes_read
from autotune.models.traffic.passes import DOUBLE
from autotune.units import Seconds
from autotune.workloads.stencil.planes.access_cost import AccessCosts, access_costs

__all__ = ["Grids", "PlanesEngine", "hits", "misses", "planes_read"]
Floats = npt.NDArray[np.float64]

PUBLISHED_ERROR = 0.42
"""Mean absolute relative error of the model with blocking, as published (section VII.A)."""
_MEAN_ABSOLUTE = 0.7979
"""Mean absolute value of a standard normal variable."""
_NAMED = 0.05
"""Smallest number of planes per plane that a reason names."""
_OF_MODEL = (
    "data access alone, as published: no time in the core, written lines count for what fits, not"
    " as misses; unrolling does not enter"
)


class PlanesEngine:
    """Predicts stencil candidates by counting planes; initial value problems get no time.

    The paper has no threads. Here each thread owns planes; shared caches are divided among the
    threads, and the bandwidths are those with all of them running. The paper has no coefficient
    arrays either. Here each is an additional plane that always comes from the level that holds it.
    The interval takes the published mean error as that of a log-normal distribution.
    """

    name = "planes"

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._costs: dict[int, AccessCosts] = {}

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; without a time, a reason is given."""
        usable = [
            (index, candidate, candidate.problem)
            for index, candidate in enumerate(candidates)
            if isinstance(candidate.problem, StencilProblem)
            and not (_several(candidate) or _streamed(candidate))
            and not candidate.problem.stencil.in_place
        ]
        result = [self._unknown(_refusal(candidate)) for candidate in candidates]
        if not usable:
            return result
        lines, costs = self._lines([(candidate, problem) for _, candidate, problem in usable])
        for place, (index, candidate, problem) in enumerate(usable):
            result[index] = self._prediction(candidate, problem, lines[place], costs[place])
        return result

    def formula(self, order: int, threads: int = 1) -> Planes:
        """The model on this machine as a formula of I, J and K, for stencils of one order.

        InputError if the machine lacks the figure of a level.
        """
        cost = self._cost(threads)
        unknown = np.flatnonzero(np.isnan(cost.cycles))
        if len(unknown):
            raise InputError(Fault(where=self.machine.name, found=cost.missing(int(unknown[0]))))
        return Planes(
            order=order,
            elements_per_line=int(self.machine.line) // DOUBLE,
            caches=tuple((cost.capacity / DOUBLE).tolist()),
            write_allocate=tuple(cache.write_allocate for cache in self.machine.caches),
            costs=tuple((cost.cycles / float(self.machine.frequency)).tolist()),
        )

    def _lines(
        self, wanted: Sequence[tuple[Candidate, StencilProblem]]
    ) -> tuple[Floats, list[AccessCosts]]:
        """(n, levels): lines per sweep and thread from each level, and their costs."""
        W = int(self.machine.line) // DOUBLE
        made = grids([(problem, _blocks(c), c.ranks * c.threads) for c, problem in wanted])
        costs = [self._cost(candidate.threads_per_node) for candidate, _ in wanted]
        caches = np.stack([cost.capacity for cost in costs]) / DOUBLE
        allocates = [cache.write_allocate for cache in self.machine.caches]
        lines = hits(made, caches, allocates, W)
        extra = np.array([len(problem.stencil.reads) - 1 for _, problem in wanted])
        lines[:, -1] += misses(made, extra[:, None].astype(np.float64), W)[:, 0]
        return lines, costs

    def _cost(self, threads: int) -> AccessCosts:
        if threads not in self._costs:
            self._costs[threads] = access_costs(self.machine, threads)
        return self._costs[threads]

    def _prediction(
        self, candidate: Candidate, problem: StencilProblem, lines: Floats, cost: AccessCosts
    ) -> Prediction:
        cycles = np.where(lines > 0, cost.cycles, 0.0)
        if np.isnan(cycles).any():
            return self._unknown(cost.missing(int(np.flatnonzero(np.isnan(cycles))[0])))
        times = lines * cycles / float(self.machine.frequency)
        seconds = float(times.sum())
        if seconds <= 0:
            return self._unknown("every line lies in the innermost cache, which has no figure")
        sigma = float(np.hypot(PUBLISHED_ERROR / _MEAN_ABSOLUTE, cost.spread))
        factor = float(np.exp(Z80 * sigma))
        parts = [
            Part(
                sweep=problem.stencil.name,
                kind=kind,
                seconds=Seconds(value),
                extrapolated=kind in cost.unsure,
            )
            for kind, value in [*zip(cost.names, times.tolist(), strict=True), ("sweep", seconds)]
            if value > 0
        ]
        return Prediction(
            seconds=Seconds(seconds),
            interval=(Seconds(seconds / factor), Seconds(seconds * factor)),
            parts=tuple(parts),
            engine=self.name,
            reason=_reason(problem, candidate, lines, times, cost),
            notes=tuple(_notes(candidate, problem, cost)),
        )

    def _unknown(self, reason: str) -> Prediction:
        return Prediction(seconds=None, interval=None, parts=(), engine=self.name, reason=reason)


def _several(candidate: Candidate) -> bool:
    return any(isinstance(change, SeveralSweeps) for change in candidate.variant.transformations)


def _streamed(candidate: Candidate) -> bool:
    return any(isinstance(change, StreamStores) for change in candidate.variant.transformations)


def _refusal(candidate: Candidate) -> str:
    """Why a candidate that the model does not cover gets no time."""
    if _several(candidate):
        return "engine planes models one sweep at a time"
    if _streamed(candidate):
        return "engine planes models stores through the caches only"
    if isinstance(candidate.problem, StencilProblem) and candidate.problem.stencil.in_place:
        return "engine planes models sweeps from one array to another"
    return "engine planes models stencils only"


def grids(wanted: Sequence[tuple[StencilProblem, dict[str, int], int]]) -> Grids:
    """The grid part of the thread with most planes, per (problem, blocks, threads)."""
    extents, blocks = [], []
    for problem, sizes, threads in wanted:
        whole = dict(zip(problem.stencil.dimensions, problem.extents, strict=True))
        slowest = problem.stencil.dimensions[0]
        whole[slowest] = -(-whole[slowest] // threads)
        spans = list(whole.values())
        cut = [min(sizes.get(name, extent), extent) for name, extent in whole.items()]
        if len(spans) == 2:
            spans, cut = [spans[0], 1, spans[1]], [cut[0], 1, cut[1]]
        extents.append(spans[::-1])
        blocks.append(cut[::-1])
    return Grids(
        extents=np.array(extents, dtype=np.float64),
        blocks=np.array(blocks, dtype=np.float64),
        order=np.array([problem.stencil.radius for problem, *_ in wanted], dtype=np.float64),
        planar=np.array([len(problem.extents) == 2 for problem, *_ in wanted]),
    )


def _blocks(candidate: Candidate) -> dict[str, int]:
    return {
        change.dimension: change.size
        for change in candidate.variant.transformations
        if isinstance(change, Block)
    }


def _reason(
    problem: StencilProblem, candidate: Candidate, lines: Floats, times: Floats, cost: AccessCosts
) -> str:
    """In words, planes of lines per computed plane from each level, and the slowest level."""
    W = int(cost.line) // DOUBLE
    plane = misses(grids([(problem, {}, candidate.ranks * candidate.threads)]), np.ones((1, 1)), W)[
        0, 0
    ]
    shares = zip((lines / plane).tolist(), cost.names, strict=True)
    phrases = [f"{share:.1f} from {name}" for share, name in shares if share >= _NAMED]
    slowest = int(times.argmax())
    share = 100 * times[slowest] / times.sum()
    noun = "rows" if len(problem.extents) == 2 else "planes"
    return (
        f"{noun} of lines per {noun[:-1]}: {', '.join(phrases)};"
        f" {cost.names[slowest]}: {share:.0f} % of the step"
    )


def _notes(candidate: Candidate, problem: StencilProblem, cost: AccessCosts) -> list[str]:
    stencil = problem.stencil
    notes = [_OF_MODEL, *cost.notes]
    if candidate.threads > 1:
        notes.append(
            "threads are not in the paper: each has its planes, a share of shared caches and of"
            " the bandwidth; barriers are not counted"
        )
    if len(problem.extents) == 2:
        notes.append("two dimensions: rows take the place of the paper's planes")
    rows = len({offset[:-1] for offset in stencil.reads[SOURCE]})
    star = (4 if len(problem.extents) == 3 else 2) * stencil.radius + 1
    if rows != star:
        notes.append(f"the model counts the rows of a star, {star}, of the {rows} that are read")
    if len(stencil.reads) > 1:
        notes.append(
            "coefficient arrays are not in the paper: a plane each, from memory, whatever fits"
        )
    return notes
