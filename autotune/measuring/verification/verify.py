"""Verifies candidates: compares their state with the state that the NumPy reference computes.

The comparison runs at a small size with every boundary case and awkward remainders: odd, a few
tiles per thread, no multiple of a cache line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from autotune.codegen import communication
from autotune.codegen.tree import regions
from autotune.domain.problem import AnyProblem, Ivp, Problem, Region, StencilProblem, generated
from autotune.domain.results import Status
from autotune.domain.variant import (
    Block,
    Candidate,
    FuseTiles,
    Pipeline,
    SeveralSweeps,
    StripPlanes,
    Tile,
    Unroll,
)
from autotune.measuring.verification import grid_reference, ivp_reference

TOLERANCE = 1e-12
"""Largest max abs(a - b) / max abs(b) of a field: room for reordered sums, not for mistakes."""

_TILES = 2.5
_LINE = 8
_PAGE = 512
"""Components of a page, of which windows hold whole ones."""
_LARGE = 0.125
"""Share of the components from which on a region does not count as a boundary."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a comparison; ``error`` is the deviation of the field that deviates most."""

    status: Status
    error: float | None
    detail: str = ""


class CheckedProblem(Protocol):
    """The interface by which a problem of any kind is verified."""

    @property
    def most_compared(self) -> int:
        """The largest number of components at which the whole state is compared."""

    def awkward(self, candidate: Candidate) -> AnyProblem:
        """The problem at the smallest size at which the candidate's code runs through all its
        cases.
        """

    def fields(self) -> NDArray[np.int64]:
        """The field of each component, as numbers from 0."""

    def state(self, steps: int) -> NDArray[np.float64]:
        """The state that the reference computes after this many time steps."""


@dataclass(frozen=True, slots=True)
class CheckedIvp:
    """Verifies programs for an initial value problem (IVP)."""

    most_compared: ClassVar[int] = 1 << 23
    problem: Problem

    def awkward(self, candidate: Candidate) -> AnyProblem:
        """The IVP at the smallest odd size at which the candidate's code runs through all its
        cases.
        """
        return _verification_ivp(candidate, self.problem)

    def fields(self) -> NDArray[np.int64]:
        """The field of each component, as numbers from 0."""
        return fields(self.problem.ivp, self.problem.size)

    def state(self, steps: int) -> NDArray[np.float64]:
        """The state after this many steps, computed from the right-hand side with NumPy."""
        return ivp_reference.integrate(self.problem, steps)


@dataclass(frozen=True, slots=True)
class CheckedGrid:
    """Verifies programs for a stencil on a grid."""

    most_compared: ClassVar[int] = 1 << 24
    """A sweep over a grid costs the reference less than a time step of an IVP."""
    problem: StencilProblem

    def awkward(self, candidate: Candidate) -> AnyProblem:
        """The stencil on the smallest odd grid at which the candidate's code runs through all its
        cases.
        """
        return self.problem.at(_awkward_extents(candidate, self.problem))

    def fields(self) -> NDArray[np.int64]:
        """The field of each component: 0 for all, since a grid is one field."""
        return np.zeros(self.problem.n, dtype=np.int64)

    def state(self, steps: int) -> NDArray[np.float64]:
        """The state after this many sweeps, computed from the body of the stencil with NumPy."""
        return grid_reference.sweeps(self.problem, steps)


def checked(problem: AnyProblem) -> CheckedProblem:
    """The object by which this problem is verified; TypeError for a problem without
    generated code.
    """
    problem = generated(problem)
    if isinstance(problem, StencilProblem):
        return CheckedGrid(problem)
    return CheckedIvp(problem)


def most_compared(problem: AnyProblem) -> int:
    """The largest number of components at which the whole state at the timed size is compared with
    the reference; of larger problems the checksums are compared.
    """
    return checked(problem).most_compared


def verification_problem(candidate: Candidate) -> AnyProblem:
    """The candidate's problem at the smallest odd size at which its code runs through all its
    cases.

    Every region has components. Every thread of every rank has more than two and a half tiles, so
    that first, middle and last (cut off) tiles occur. The ranks can exchange.

    A grid has odd extents, and rows that the unrolling does not divide. In each blocked dimension
    it has a whole block and a part of one (in the slowest dimension: for each thread).

    A tile or block larger than the timed problem counts as one of the size of that problem.
    """
    return checked(candidate.problem).awkward(candidate)


def steps(candidate: Candidate, least: int) -> int:
    """The number of time steps after which a candidate is compared, at least ``least``.

    A program that makes several at once makes them once in full, and then ``least`` more.
    """
    changes = candidate.variant.transformations
    several = [change.sweeps for change in changes if isinstance(change, SeveralSweeps)]
    return least + max(several) if several else least


def _awkward_extents(candidate: Candidate, problem: StencilProblem) -> tuple[int, ...]:
    stencil, changes = problem.stencil, candidate.variant.transformations
    blocks: dict[str, int] = {}
    for change in changes:
        if isinstance(change, Block):
            # of nested blocks the largest: the smaller ones cut it
            blocks[change.dimension] = max(change.size, blocks.get(change.dimension, 0))
    unrolled = {change.dimension: change.factor for change in changes if isinstance(change, Unroll)}
    several = any(isinstance(change, SeveralSweeps) for change in changes)
    extents: list[int] = []
    for name, timed in zip(stencil.dimensions, problem.extents, strict=True):
        block, factor = min(blocks.get(name, 1), timed), unrolled.get(name, 1)
        part = 2 * factor + 1 if name in unrolled else max(3, stencil.minimum)
        if name == stencil.dimensions[-1]:
            part = max(part, 5 * _LINE + 3, 2 * _LINE * factor + 3)
        if name == stencil.dimensions[0] and several:
            part = max(part, 4 * stencil.radius + 3)  # rings are gone through twice
        extent = (block if name in blocks else 0) + part
        if name == stencil.dimensions[0]:
            # no more planes than the timed grid has, or as many as all threads need for a part each
            team = candidate.ranks * candidate.threads
            extent = min(extent * team, max(timed, extent, part * team))
            extent = max(extent, candidate.ranks * _planes_of_rank(candidate, stencil.radius))
        extents.append(_odd(max(extent, stencil.minimum), block, factor))
    return tuple(extents)


def _planes_of_rank(candidate: Candidate, radius: int) -> int:
    """The planes that a rank of a grid has at least, so that its neighbours have their halo."""
    return 0 if candidate.ranks == 1 else radius * steps(candidate, 1)


def _odd(least: int, block: int, factor: int) -> int:
    """The smallest odd number >= ``least`` that neither ``block`` nor the unrolling ``factor``
    divides.

    Where both are used, ``factor`` does not divide the remainder of the block either.
    """
    extent = least | 1
    while (block > 1 and extent % block == 0) or (
        factor > 1 and (extent % factor == 0 or (block > 1 and extent % block % factor == 0))
    ):
        extent += 2
    return extent


def _verification_ivp(candidate: Candidate, problem: Problem) -> Problem:
    transformations = candidate.variant.transformations
    tiles = [t.size for t in transformations if isinstance(t, Tile | FuseTiles)]
    tiles += [t.block for t in transformations if isinstance(t, Pipeline)]
    team = candidate.ranks * candidate.threads
    granule = regions.granule(problem.ivp)
    whole = [-(-size // granule) * granule for size in tiles]  # as they are made
    components = max([_TILES * min(size, problem.n) for size in whole] + [5.0 * _LINE]) * team
    smallest = _smallest(problem.ivp, components)
    rows = max((t.rows for t in transformations if isinstance(t, StripPlanes)), default=0)
    while smallest < problem.size and (
        _cannot_communicate(candidate, problem, smallest) or _rows(problem.ivp, smallest) <= rows
    ):
        smallest += 2
    sizes = [
        size
        for size in range(smallest, smallest + 64, 2)
        if _complete(problem.ivp, size) and not _cannot_communicate(candidate, problem, size)
    ]
    awkward = [size for size in sizes if _components(problem.ivp, size) % _LINE]
    return problem.at((awkward or sizes or [smallest])[0])


def _cannot_communicate(candidate: Candidate, problem: Problem, size: int) -> bool:
    """Whether the ranks cannot communicate in the candidate's way at this size."""
    pipeline = any(isinstance(t, Pipeline) for t in candidate.variant.transformations)
    iterations = problem.correctors or problem.method.advancing.stages - 1
    stages = iterations + 1 if pipeline else 1
    ivp, ranks, way = problem.ivp, candidate.ranks, candidate.communication
    return communication.legal(ivp, size, regions.granule(ivp), ranks, way, stages) is not None


def _smallest(ivp: Ivp, components: float) -> int:
    """The smallest odd size with more than ``components`` components."""
    low = max(ivp.minimum, 5) | 1
    high = low
    while _components(ivp, high) <= components:
        high = 2 * high + 1
    while low < high:
        middle = ((low + high) // 2) | 1
        if middle >= high:
            middle = low
        if _components(ivp, middle) > components:
            high = middle
        else:
            low = middle + 2
    return low


def _components(ivp: Ivp, size: int) -> int:
    return int(ivp.values(size)["n"])


def _rows(ivp: Ivp, size: int) -> float:
    """The rows of a plane; infinite without planes."""
    row, plane = ivp.row_length(size), ivp.plane_length(size)
    return float("inf") if row is None or plane is None else plane // row


def _complete(ivp: Ivp, size: int) -> bool:
    """Whether every region has components at this size."""
    for region in ivp.regions:
        lower, upper, first, end = ivp.bounds(region, size)
        within = ivp.row_bounds(region, size) or (0, 1)
        if not (lower < upper and first < end and within[0] < within[1]):
            return False
    return True


def fields_of(problem: AnyProblem) -> NDArray[np.int64]:
    """The field that each component belongs to, as numbers from 0; a grid is one field."""
    return checked(problem).fields()


def reference_state(problem: AnyProblem, steps: int) -> NDArray[np.float64]:
    """The state that the independent reference computes after ``steps`` time steps."""
    return checked(problem).state(steps)


def fields(ivp: Ivp, size: int) -> NDArray[np.int64]:
    """The field that each component of an IVP belongs to, as numbers from 0.

    A field is a set of components that share one large region of the initial values and one large
    region of the right-hand side (displacements, velocities, concentrations). The components of
    small regions, boundaries, belong to the nearest field. Where rows have a constant length,
    fields are interleaved, and the nearest field is searched among components at the same position
    in their row.
    """
    n = _components(ivp, size)
    row = ivp.row_length(size)
    stride = row if row and row == ivp.row_length(2 * size + 1) else 1
    position = np.arange(n) % stride
    started = _spread(_large(ivp, ivp.initial, size), position)
    computed = _spread(_large(ivp, ivp.regions, size), started * stride + position)
    pairs = started * len(ivp.regions) + computed
    return np.searchsorted(np.unique(pairs), pairs).astype(np.int64)


def _large(ivp: Ivp, regions: Sequence[Region], size: int) -> NDArray[np.int64]:
    """The number of the large region that contains each component; -1 for none."""
    places = np.arange(_components(ivp, size))
    row, plane = ivp.row_length(size), ivp.plane_length(size)
    owner = np.full(places.size, -1, dtype=np.int64)
    for number, region in enumerate(regions):
        lower, upper, first, end = ivp.bounds(region, size)
        members = (places >= lower) & (places < upper)
        if region.columns and row:
            members &= (places % row >= first) & (places % row < end)
        within = ivp.row_bounds(region, size)
        if within and row and plane:
            rows = places % plane // row
            members &= (rows >= within[0]) & (rows < within[1])
        if np.count_nonzero(members) >= _LARGE * places.size:
            owner[members] = number
    return owner


def _spread(owner: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
    """``owner`` with every -1 replaced by the nearest other value of its group; 0 where there is
    none.
    """
    result = owner.copy()
    for number in np.unique(group):
        places = np.flatnonzero(group == number)
        owned = places[owner[places] >= 0]
        if owned.size == 0:
            result[places] = np.maximum(owner[places], 0)
            continue
        right = np.clip(np.searchsorted(owned, places), 0, owned.size - 1)
        left = np.clip(right - 1, 0, owned.size - 1)
        nearer = np.abs(owned[right] - places) < np.abs(places - owned[left])
        result[places] = owner[np.where(nearer, owned[right], owned[left])]
    return result


def deviation(
    state: NDArray[np.float64], reference: NDArray[np.float64], field_of: NDArray[np.int64]
) -> float:
    """The largest deviation of a field, max abs(state - reference) / max abs(reference).

    A field that is zero in the reference must be zero: its deviation is 0 or infinite.
    """
    worst = 0.0
    for number in range(int(field_of.max()) + 1):
        chosen = field_of == number
        difference = float(np.max(np.abs(state[chosen] - reference[chosen])))
        scale = float(np.max(np.abs(reference[chosen])))
        if difference > 0:
            worst = max(worst, difference / scale if scale > 0 else np.inf)
    return worst


def judge(
    state: NDArray[np.float64], reference: NDArray[np.float64], field_of: NDArray[np.int64]
) -> Verification:
    """Compare a state with the reference; the detail names a component that is wrong."""
    if state.shape != reference.shape:
        text = f"{state.size} components were written, the reference has {reference.size}"
        return Verification("wrong-result", None, text)
    if not np.all(np.isfinite(state)):
        place = int(np.flatnonzero(~np.isfinite(state))[0])
        return Verification("wrong-result", None, f"component {place} is {state[place]}")
    tiny = (state != 0) & (np.abs(state) < np.finfo(np.float64).tiny)
    if np.any(tiny):
        place = int(np.flatnonzero(tiny)[0])
        return Verification("wrong-result", None, f"component {place} is denormal, {state[place]}")
    error = deviation(state, reference, field_of)
    if error <= TOLERANCE:
        return Verification("ok", error)
    place = int(np.argmax(np.abs(state - reference)))
    text = (
        f"deviates by {error:.2e} of the largest component, {TOLERANCE:.0e} is allowed;"
        f" component {place} is {state[place]}, the reference says {reference[place]}"
    )
    return Verification("wrong-result", error, text)
