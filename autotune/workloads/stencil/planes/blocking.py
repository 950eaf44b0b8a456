"""The analytic choice of blocks: the largest ones for which a layer condition holds.

    rows along i that j needs again        rows  x 8 B x (bi + 2 r)  <=  C / 2
    planes that k needs again              the same with the rows of the planes, bj and halo;
                                           bi too where one whole row is too long
    the step needs everything again        all arrays of the thread

C is the share of a thread of a cache; half of it is the usual margin for what else the cache holds
and for replacement that is not ideal (Stengel, Treibig, Hager, Wellein, ICS 2015; Hammer, Hager,
Eitzinger, Wellein, PMBS 2015). Rows are counted as LRU replacement keeps them: those of all arrays
that are touched until a line comes again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from autotune.domain.machine import Machine
from autotune.domain.problem import StencilProblem
from autotune.domain.ranking import Ranking
from autotune.domain.stencil import SOURCE, TARGET
from autotune.models.engines.reuse.line_cost import line_costs
from autotune.models.traffic.grid.grid_shape import GridAccess, accesses
from autotune.models.traffic.grid.grid_window import StepWindows, rows_touched
from autotune.models.traffic.passes import DOUBLE
from autotune.units import Bytes

MARGIN = 0.5
"""Share of a cache that a layer condition may fill."""
_HALO = 8
"""Rows of a block, in units of the radius, where bi is chosen too: the halo adds a quarter."""

Along = Literal["rows", "planes", "step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerCondition:
    """Whether a cache keeps the data that a loop reuses, and the largest block that fits."""

    level: str
    reuse: Along
    """The data that are reused: rows by the next row, planes by the next plane, all by the next
    step."""
    dimension: str
    """The loop that reuses the data; empty for a time step."""
    needed: Bytes
    """Bytes needed without blocks."""
    limit: Bytes
    """Half of the cache; shared caches are divided by the number of threads."""
    blocks: tuple[tuple[str, int], ...]
    """The largest blocks; empty where none is needed or none helps (``possible``)."""
    possible: bool

    @property
    def holds(self) -> bool:
        """Whether the condition holds without blocks."""
        return self.needed <= self.limit


def block_choice(
    problem: StencilProblem, machine: Machine, threads: int = 1
) -> tuple[LayerCondition, ...]:
    """The layer conditions of a stencil in every cache, from the core outwards.

    Threads own contiguous parts of the slowest dimension and share outer caches.
    """
    costs = line_costs(machine, threads)
    stencil = _Stencil(problem, threads, int(machine.line) // DOUBLE)
    return tuple(
        condition
        for level, size in zip(costs.names, costs.borders.tolist(), strict=False)
        for condition in stencil.conditions(level, MARGIN * size)
    )


class _Stencil:
    """Sizes of a stencil problem in three dimensions; in two the middle one has size 1."""

    def __init__(self, problem: StencilProblem, threads: int, per_line: int) -> None:
        stencil = problem.stencil
        self.names = stencil.dimensions
        self.planar = len(problem.extents) == 2
        self.radius = stencil.radius
        self.per_line = per_line
        self.accesses = accesses(stencil.reads, SOURCE if stencil.in_place else TARGET)
        K, *middle, self.width = problem.extents
        self.planes = -(-K // threads)
        self.rows = 1 if self.planar else middle[0]

    def conditions(self, level: str, limit: float) -> list[LayerCondition]:
        """All layer conditions of one cache; ``limit`` in bytes."""
        layers = []
        if not self.planar:
            layers.append(self._of_rows(level, limit))
        layers.append(self._of_planes(level, limit))
        total = sum(self._all(access) for access in self.accesses)
        layers.append(
            LayerCondition(
                level=level,
                reuse="step",
                dimension="",
                needed=Bytes(total),
                limit=_whole(limit),
                blocks=(),
                possible=total <= limit,
            )
        )
        return layers

    def _of_rows(self, level: str, limit: float) -> LayerCondition:
        """The condition that rows stay in the cache until the next row reuses them."""
        gap = _gap([[dj for dk, dj in a.rows if dk == k] for a in self.accesses for k in _dk(a)])
        rows = self._touched(nj=4 * self.rows + gap, planes=0, ahead=gap)
        width = self._width(lambda bi: rows * self._row(bi), limit)
        return self._condition("rows", level, limit, rows * self._row(self.width), ("i", width))

    def _of_planes(self, level: str, limit: float) -> LayerCondition:
        """The condition that planes (rows in two dimensions) stay until the next plane reuses
        them.
        """
        gap = _gap([list(_dk(access)) for access in self.accesses])

        def needed(bj: int, bi: int) -> float:
            return self._touched(nj=bj, planes=gap, ahead=0) * self._row(bi)

        whole = needed(self.rows, self.width)
        if not self.planar:
            depth = self._largest(lambda bj: needed(bj, self.width), limit, self.rows)
            if depth:
                return self._condition("planes", level, limit, whole, ("j", depth))
        rows = min(self.rows, _HALO * self.radius)
        width = self._width(lambda bi: needed(rows, bi), limit)
        if self.planar:
            return self._condition("rows", level, limit, whole, ("i", width))
        return self._condition("planes", level, limit, whole, ("j", rows), ("i", width))

    def _condition(
        self, reuse: Along, level: str, limit: float, needed: float, *blocks: tuple[str, int]
    ) -> LayerCondition:
        """The condition for given bytes; ``blocks`` by position: ``i`` unit stride, ``j`` next."""
        holds, possible = needed <= limit, all(size > 0 for _, size in blocks)
        name = {"i": self.names[-1], "j": self.names[-2]}
        chosen = tuple((name[at], size) for at, size in blocks) if possible and not holds else ()
        return LayerCondition(
            level=level,
            reuse=reuse,
            dimension=self.names[0] if reuse == "planes" else self.names[-2],
            needed=Bytes(round(needed)),
            limit=_whole(limit),
            blocks=chosen,
            possible=possible,
        )

    def _touched(self, *, nj: int, planes: int, ahead: int) -> float:
        """The number of rows of all arrays touched in a window of ``planes`` planes and ``nj``
        rows.
        """
        at = np.array([nj // 2])
        window = StepWindows(np.array([nj]), 0 * at, at, 0 * at + planes, at + ahead)
        return float(sum(rows_touched(window, access.rows)[0] for access in self.accesses))

    def _row(self, width: int) -> float:
        """The bytes of a row of a block, ghosts included."""
        return float(DOUBLE * (width + 2 * self.radius))

    def _all(self, access: GridAccess) -> int:
        """The bytes of the part of an array that one thread touches."""
        ghosts = 0 if access.written else 2 * self.radius
        rows = (self.planes + ghosts) * (self.rows + ghosts * (not self.planar))
        return rows * DOUBLE * (self.width + ghosts)

    def _largest(self, needed: Callable[[int], float], limit: float, most: int) -> int:
        """The largest size whose data fit into the limit; 0 if none fit."""
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if needed(middle) <= limit else (low, middle - 1)
        return low

    def _width(self, needed: Callable[[int], float], limit: float) -> int:
        """The largest row length that fits: the whole row, or a multiple of a line."""
        width = self._largest(needed, limit, self.width)
        return width if width == self.width else width - width % self.per_line


def _dk(access: GridAccess) -> tuple[int, ...]:
    return tuple(sorted({dk for dk, _ in access.rows}))


def _gap(offsets: Sequence[Sequence[int]]) -> int:
    """The largest difference of neighbouring offsets; 1 for a single offset."""
    steps = [b - a for some in offsets for a, b in pairwise(sorted(some))]
    return max(steps, default=1)


def _whole(size: float) -> Bytes:
    return Bytes(int(size))


def block_choices(
    rankings: Sequence[Ranking], machine: Machine
) -> list[tuple[StencilProblem, int, tuple[LayerCondition, ...]]]:
    """Problem, threads and layer conditions of every ranked stencil, each once.

    On several nodes the problem is the slab of the node with most planes.
    """
    choices: dict[tuple[str, int], tuple[StencilProblem, int, tuple[LayerCondition, ...]]] = {}
    for ranking in rankings:
        problem = ranking.problem
        if not isinstance(problem, StencilProblem):
            continue
        planes, *others = problem.extents
        chosen = (entry.candidate for entry in ranking.entries)
        for nodes, threads in sorted({(c.nodes, c.threads_per_node) for c in chosen}):
            slab = replace(problem, extents=(-(-planes // nodes), *others))
            if (slab.key, threads) not in choices:
                choices[slab.key, threads] = slab, threads, block_choice(slab, machine, threads)
    return list(choices.values())
