"""Settings for probes of a sweep: for each level a problem and a tile whose data fit in it.

A sweep over a grid has no tile: the whole grid fits in the level. Its rows are as long as those of
the candidate, its planes as wide, and so on outwards, as far as the level has room.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from autotune.codegen.probes.probe_programs import ProbedSweep
from autotune.codegen.tree import loop_tree
from autotune.domain.machine import Machine
from autotune.domain.problem import AnyProblem, Problem, StencilProblem
from autotune.domain.stencil import LINE
from autotune.measuring.host.calibration_plan import MEMORY
from autotune.models.traffic.grid.grid_shape import GridShape
from autotune.models.traffic.grid.grid_shape import shape as grid_shape
from autotune.models.traffic.sweep_shape import SweepShape, shape

_DOUBLE = 8
_TOP = 64 << 20
"""Bytes that lie in memory, whatever the last cache does; of all threads together."""
_LARGE = 1 << 18
"""Components of the long dimension are enough for the inner levels."""
_TIMES = {0: 64, 1: 32}
"""A tile in the innermost caches is gone through so often before the next: what its first pass
costs more does not count."""
_BIG_STEP = 1 << 25
"""Iterations of one step; a probe does not last longer."""
_LONG_STEP = 1 << 19
"""Points of one step over a small grid, by repetition: what a step costs around them is little."""
_THICK = 8
"""Planes that a thread has before rows are added to them: few are halo then."""
_VECTORS = 64
"""Rows cut short have a multiple of this many points, or of a cache line: whole vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSetting:
    """One level: the problem, the tile and its repetitions that keep a sweep's data there."""

    level: str
    problem: AnyProblem
    tile: int | None
    """Components; None: the whole block of a thread."""
    times: int
    working_set: int
    """Bytes."""
    length: int
    """Components of one call."""
    iterations: float
    """Of the slowest thread in one step, repetitions counted."""


def targets(machine: Machine, threads: int) -> list[tuple[str, float]]:
    """Levels, with a number of bytes per thread that fits well into each.

    Half of the innermost cache, the geometric mean of a cache and the next inner one, and for
    memory four times the thread's share of the last cache, with a lower limit.
    """
    caches = machine.caches
    shares = [cache.size / min(threads, cache.cores) for cache in caches]
    sizes = [(caches[0].name, shares[0] / 2)]
    for inner, outer, cache in zip(shares, shares[1:], caches[1:], strict=False):
        sizes.append((cache.name, (inner * outer) ** 0.5))
    return [*sizes, (MEMORY, max(4.0 * shares[-1], _TOP / threads))]


def places(
    probed: ProbedSweep,
    granule: int,
    problem: AnyProblem,
    threads: int,
    machine: Machine,
    levels: int | None = None,
) -> list[LevelSetting]:
    """One setting per level, from the core outwards; of the first ``levels`` only.

    The problem keeps its size if the tiles fit in it. Otherwise it is larger; and it is smaller if
    a small one shows the same. Raises TypeError if the sweep does not belong to the problem.
    """
    match probed.sweep, problem:
        case loop_tree.Sweep() as sweep, Problem():
            find = partial(_place, _Case(sweep, granule, problem, threads))
        case loop_tree.GridSweep() as sweep, StencilProblem():
            find = partial(_grid_place, _GridCase(sweep, dict(probed.blocks), problem, threads))
        case _:
            raise TypeError(f"sweep {probed.sweep.name} is not of {problem.label}")
    settings = []
    for index, (level, target) in enumerate(targets(machine, threads)[:levels]):
        inner = index in _TIMES and index < len(machine.caches)
        settings.append(find(level, target, _TIMES.get(index, 1) if inner else 1))
    return settings


@dataclass(frozen=True, slots=True)
class _Case:
    sweep: loop_tree.Sweep
    granule: int
    problem: Problem
    threads: int

    def shape(self, size: int) -> SweepShape:
        return shape(self.sweep, self.problem.ivp.values(size))

    def block(self, size: int) -> float:
        """The number of components that the slowest thread computes at a size."""
        values = self.problem.ivp.values(size)
        return active(shape(self.sweep, values), values, self.threads)

    def smallest(self, components: float) -> int:
        """The smallest size with the problem's parity at which a thread has enough components."""
        low = high = self.problem.ivp.minimum + (self.problem.size - self.problem.ivp.minimum) % 2
        while self.block(high) < components:
            low, high = high, 2 * high + self.problem.size % 2 - (2 * high) % 2
        while high - low > 2:
            middle = low + (high - low) // 4 * 2
            low, high = (middle, high) if self.block(middle) < components else (low, middle)
        return high if self.block(low) < components else low


def computes(sweep: ProbedSweep, problem: AnyProblem, threads: int, share: float) -> bool:
    """Whether a sweep covers this share of a thread's components; sweeps over a grid always do."""
    if not isinstance(problem, Problem) or not isinstance(sweep.sweep, loop_tree.Sweep):
        return True
    values = problem.ivp.values(problem.size)
    return active(shape(sweep.sweep, values), values, threads) >= share * (problem.n / threads)


def active(sweep_shape: SweepShape, values: Mapping[str, float | int], threads: int) -> float:
    """The number of iterations of the slowest thread: the part of the sweep within its block."""
    n = int(values["n"])
    return sweep_shape.share * max(
        max(
            0,
            min(sweep_shape.upper, n * (p + 1) // threads)
            - max(sweep_shape.lower, n * p // threads),
        )
        for p in range(threads)
    )


def footprint(sweep_shape: SweepShape, length: int) -> int:
    """The number of bytes that a call over ``length`` components touches."""
    total = 0
    for access in sweep_shape.accesses:
        end = None
        for offset in sorted(access.offsets):
            begin = offset if end is None else max(offset, end)
            end = offset + length
            total += end - begin
    return _DOUBLE * total


def _longest(sweep_shape: SweepShape, target: float, granule: int) -> int:
    """The most components, in whole granules, whose footprint is at most ``target`` bytes."""
    low, high = 1, 2
    while footprint(sweep_shape, high * granule) <= target:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (middle, high) if footprint(sweep_shape, middle * granule) <= target else (low, middle)
        )
    return low * granule


def _place(case: _Case, level: str, target: float, times: int) -> LevelSetting:
    size = case.problem.size
    for _ in range(4):  # the footprint depends on the size where offsets do
        tile = _longest(case.shape(size), target, case.granule)
        room = tile * (4 if times > 1 else 1)
        size = case.smallest(room)
        if times > 1:
            size = max(size, min(case.problem.size, case.smallest(_LARGE)))
    values = case.problem.ivp.values(size)
    sweep_shape = case.shape(size)
    block = active(sweep_shape, values, case.threads)
    tiled = times > 1
    length = tile if tiled else int(block)
    while tiled and times > 8 and times * block > _BIG_STEP:
        times //= 2
    return LevelSetting(
        level=level,
        problem=case.problem.at(size),
        tile=tile if tiled else None,
        times=times,
        working_set=footprint(sweep_shape, length),
        length=length,
        iterations=block * times,
    )


# --- grids ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _GridCase:
    sweep: loop_tree.GridSweep
    blocks: Mapping[str, int]
    problem: StencilProblem
    threads: int

    def bytes(self, planes: int, middle: tuple[int, ...], row: int) -> int:
        """The bytes that a thread touches with ``planes`` planes; ``middle``: rows per plane,
        if any.
        """
        extents = (planes * self.threads, *middle, row)
        return grid_footprint(grid_shape(self.sweep, self.blocks, extents, planes))

    def rows(self) -> Iterator[int]:
        """Lengths of rows to try: the candidate's, that of its blocks, then shorter ones."""
        whole = self.problem.extents[-1]
        yield whole
        block = self.blocks.get(self.sweep.dimensions[-1], whole)
        if block < whole:
            yield block
        for step in (_VECTORS, LINE, 1):
            yield from range((min(block, whole) - 1) // step * step, 0, -step)


def grid_footprint(grid_shape: GridShape) -> int:
    """The bytes of all elements that a sweep over a thread's part of a grid touches."""
    planes, lines, row = grid_shape.extents
    total = 0
    for access in grid_shape.accesses:
        low, high = access.widest
        total += _rows_touched(access.rows, planes, lines) * (row + high - low)
    return _DOUBLE * total


def _rows_touched(steps: Sequence[tuple[int, int]], planes: int, lines: int) -> int:
    """The number of rows that accesses at offsets (dk, dj) from the rows of a box touch.

    Within a plane the rows have no gaps, as around a point.
    """
    reach = max(abs(dk) for dk, _ in steps)
    # of thick boxes all planes but the outer ones are alike
    thin = min(planes, 2 * reach + 1)
    total = 0
    for plane in range(-reach, thin + reach):
        met = [dj for dk, dj in steps if 0 <= plane - dk < thin]
        total += lines + max(met) - min(met) if met else 0
    every = [dj for _, dj in steps]
    return total + (planes - thin) * (lines + max(every) - min(every))


def _largest(fits: Callable[[int], bool], least: int) -> int:
    """The largest number that fits, at least ``least``.

    If a number fits, all smaller ones fit too.
    """
    low, high = least, 2 * least
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _grid_place(case: _GridCase, level: str, target: float, times: int) -> LevelSetting:
    """The setting for a sweep over a grid in one level.

    The length of rows is chosen first, then the number of rows of a plane, then of planes.
    """
    slowest, *inner, whole = case.problem.extents
    least = case.problem.stencil.minimum
    thin = -(-least // case.threads)
    if level == MEMORY:
        middle, row = tuple(inner), whole
        thin = max(thin, min(_THICK, slowest // case.threads))
    else:
        middle = (least,) * len(inner)
        fitting = (r for r in case.rows() if case.bytes(thin, middle, r) <= target)
        row = max(next(fitting, least), least)
        thick = max(thin, _THICK)
        if inner:
            room = _largest(lambda j: case.bytes(thick, (j,), row) <= target, least)
            middle = (min(room, inner[0]),)
    planes = _largest(lambda k: case.bytes(k, middle, row) <= target, thin)
    problem = case.problem.at((planes * case.threads, *middle, row))
    points = problem.n // case.threads
    if times > 1:
        times = max(times, _LONG_STEP // points)
    return LevelSetting(
        level=level,
        problem=problem,
        tile=None,
        times=times,
        working_set=case.bytes(planes, middle, row),
        length=points,
        iterations=float(points * times),
    )
