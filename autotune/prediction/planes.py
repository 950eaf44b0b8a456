"""Engine ``planes``: the cache-miss model of stencils of Ibeid et al., data access alone.

    S_total  = P S_read + S_write, P = 2 l + 1               (3)   without write-allocate: P S_read
    T        = T_L1 + ... + T_Ln + T_mem                     (5)
    T_Li     = T_data,Li Hits_Li, Hits_Li = Misses_L(i-1) - Misses_Li        (6)
    Misses_Li = ceil(II / W) JJ KK nplanes_Li NB             (7), (15)

with S_read = II JJ, S_write = I J in elements, II, JJ, KK with ghosts and per block, NB blocks, W
elements per line, and nplanes from 1 (all planes stay) to 2 P - 1 (none does), linear in the size
of the cache in between:

    nplanes   2P-1 |--.                      C in elements, R = P / (2 P - 1)
                 P |    '--.
               P-1 |         '--.            C = P II / R   S_read / R   S_total   S_total / R
                 1 |              '------

Source: Ibeid, Meng, Dobon, Olson, Gropp: Learning with Analytical Models, IPDPS workshops 2019,
section IV.A and Eq. 15. What the paper leaves open is read so: cache sizes count elements (the
conditions as printed divide by elements per line); NB is a product of ceilings; Misses_L0 are the
2 P - 1 planes of lines that the loop refers to; T_mem takes Misses_Ln.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autotune.analysis.traffic.passes import DOUBLE
from autotune.calibration import Z80
from autotune.machine import Machine
from autotune.prediction.planes_cost import AccessCosts, access_costs
from autotune.problem import StencilProblem
from autotune.results import Part, Prediction
from autotune.stencil import SOURCE
from autotune.units import Seconds
from autotune.variant import Block, Candidate

Floats = npt.NDArray[np.float64]

PUBLISHED_ERROR = 0.42
"""Mean absolute relative error of the model with blocking, as published (section VII.A)."""
_MEAN_ABSOLUTE = 0.7979
"""Mean absolute value of a standard normal variable."""
_TOLD = 0.05
"""Planes per plane that are worth telling."""
_OF_MODEL = (
    "data access alone, as published: no time in the core, written lines count for what fits, not"
    " as misses; unrolling does not enter"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grids:
    """Grids with their blocks, one element each, as one thread sees them; sizes in elements."""

    extents: Floats
    """(n, 3): I, J, K."""
    blocks: Floats
    """(n, 3): TI, TJ, TK, at most the extents."""
    order: Floats
    """(n,): l, the largest offset."""
    planar: npt.NDArray[np.bool_]
    """(n,): two dimensions, rows in place of planes: J is 1 and has no ghosts."""


def planes_read(grids: Grids, caches: Floats, allocates: Sequence[bool], W: int) -> Floats:
    """nplanes: (n, levels), planes of lines that each cache misses per plane computed.

    ``caches``: (n, levels) sizes in elements.
    """
    l, P = grids.order, 2 * grids.order + 1  # noqa: E741
    I = np.ceil(grids.blocks[:, 0] / W) * W  # noqa: E741
    II = np.ceil((grids.blocks[:, 0] + 2 * l) / W) * W
    J, JJ = grids.blocks[:, 1], grids.blocks[:, 1] + 2 * l * ~grids.planar
    S_read, R_col = II * JJ, P / (2 * P - 1)
    found = np.empty_like(caches)
    for level, allocate in enumerate(allocates):
        S_total = P * S_read + allocate * I * J
        corners = np.stack([P * II / R_col, S_read / R_col, S_total, S_total / R_col])
        corners = np.minimum(corners, np.append(corners[1:], corners[-1:], axis=0))
        values = np.stack([_referred(grids), P, P - 1, np.ones_like(P)])
        found[:, level] = _piecewise(caches[:, level], corners, values)
    return found


def _referred(grids: Grids) -> Floats:
    """(n,): planes of lines that the loop refers to: 2 P - 1, in two dimensions P rows."""
    P = 2 * grids.order + 1
    return np.asarray(np.where(grids.planar, P, 2 * P - 1), dtype=np.float64)


def _piecewise(at: Floats, corners: Floats, values: Floats) -> Floats:
    """Linear between corners, (corners, n) each; constant outside; a step where corners meet."""
    result: Floats = values[0].copy()
    for left, right, low, high in zip(corners, corners[1:], values, values[1:], strict=False):
        width = np.where(right > left, right - left, 1.0)
        share = np.where(right > left, np.clip((at - left) / width, 0.0, 1.0), at >= right)
        result += share * (high - low)
    return result


def misses(grids: Grids, nplanes: Floats, W: int) -> Floats:
    """Eq. 15: (n, levels) lines per sweep, for a number of planes per plane computed."""
    ghosts = 2 * grids.order
    II = np.ceil((grids.blocks[:, 0] + ghosts) / W)
    JJ = grids.blocks[:, 1] + ghosts * ~grids.planar
    KK = grids.blocks[:, 2] + ghosts
    NB = np.ceil(grids.extents / grids.blocks).prod(axis=1)
    result: Floats = (II * JJ * KK * NB)[:, None] * nplanes
    return result


def hits(grids: Grids, caches: Floats, allocates: Sequence[bool], W: int) -> Floats:
    """Hits of Eq. 6: (n, levels + 1) lines per sweep that each level delivers, memory last."""
    inner = np.column_stack([_referred(grids), planes_read(grids, caches, allocates, W)])
    missed = misses(grids, np.minimum.accumulate(inner, axis=1), W)
    return np.asarray(-np.diff(missed, axis=1, append=0.0), dtype=np.float64)


class PlanesEngine:
    """Predicts stencil candidates by counting planes; says nothing about initial value problems.

    Threads, which the paper leaves out, own planes each; shared caches are divided among them and
    the bandwidths are those with all of them running. Coefficient arrays, which it leaves out too,
    are a plane each that always comes from where it lies. The interval takes the published mean
    error as that of a log-normal distribution.
    """

    name = "planes"

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._costs: dict[int, AccessCosts] = {}

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; ``seconds`` None and a reason where it cannot."""
        usable = [
            (index, candidate, candidate.problem)
            for index, candidate in enumerate(candidates)
            if isinstance(candidate.problem, StencilProblem)
        ]
        result = [self._unknown("engine planes models stencils only")] * len(candidates)
        if not usable:
            return result
        lines, costs = self._lines([(candidate, problem) for _, candidate, problem in usable])
        for place, (index, candidate, problem) in enumerate(usable):
            result[index] = self._prediction(candidate, problem, lines[place], costs[place])
        return result

    def _lines(
        self, wanted: Sequence[tuple[Candidate, StencilProblem]]
    ) -> tuple[Floats, list[AccessCosts]]:
        """(n, levels): lines per sweep and thread from each level; and what they cost."""
        W = int(self.machine.line) // DOUBLE
        made = grids([(problem, _blocks(c), c.threads) for c, problem in wanted])
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
        known = np.where(lines > 0, cost.cycles, 0.0)
        if np.isnan(known).any():
            return self._unknown(cost.missing(int(np.flatnonzero(np.isnan(known))[0])))
        times = lines * known / float(self.machine.frequency)
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


def grids(wanted: Sequence[tuple[StencilProblem, dict[str, int], int]]) -> Grids:
    """Grids of the thread with the most planes, for (problem, block sizes, threads) each."""
    extents, blocks = [], []
    for problem, sizes, threads in wanted:
        whole = dict(zip(problem.stencil.dimensions, problem.extents, strict=True))
        slowest = problem.stencil.dimensions[0]
        whole[slowest] = -(-whole[slowest] // threads)
        own = list(whole.values())
        cut = [min(sizes.get(name, extent), extent) for name, extent in whole.items()]
        if len(own) == 2:
            own, cut = [own[0], 1, own[1]], [cut[0], 1, cut[1]]
        extents.append(own[::-1])
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
    """The levels that deliver, as planes of lines per plane computed, and the slowest of them."""
    W = int(cost.line) // DOUBLE
    plane = misses(grids([(problem, {}, candidate.threads)]), np.ones((1, 1)), W)[0, 0]
    shares = zip((lines / plane).tolist(), cost.names, strict=True)
    told = [f"{share:.1f} from {name}" for share, name in shares if share >= _TOLD]
    slowest = int(times.argmax())
    share = 100 * times[slowest] / times.sum()
    noun = "rows" if len(problem.extents) == 2 else "planes"
    return (
        f"{noun} of lines per {noun[:-1]}: {', '.join(told)};"
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
