"""The independent reference for stencils: evaluates sweeps straight from the data, with NumPy.

It uses no loop tree, no blocks and no padding. An array of the grid is a NumPy array with its ghost
layers; a neighbour is a slice of it. Slices are evaluated chunk by chunk, so that temporaries stay
in cache.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from autotune.domain.problem import StencilProblem
from autotune.domain.stencil import SOURCE, Stencil, offsets
from autotune.language.expression import Bin, Call, Cond, Expr, Neg, Num, Ref, Sym, show
from autotune.measuring.verification.ivp_reference import FUNCTIONS, OPERATORS, Value, Vector

Box = tuple[range, ...]
"""Indices in each dimension; 0 is the first interior point."""
Points = NDArray[np.int64]
"""(dimensions, points): the indices of points, in any order."""

_CHUNK = 1 << 15
"""Approximate number of points per chunk: 256 KiB per temporary."""


def sweeps(problem: StencilProblem, steps: int) -> Vector:
    """The interior of u after ``steps`` sweeps, row by row, slowest dimension first.

    Ghost layers keep their initial values.
    """
    grid = _Grid(problem)
    u = grid.filled(problem.stencil.initial)
    if problem.stencil.in_place:
        return _in_place(grid, u, problem.stencil, steps)
    v = u.copy()
    with np.errstate(all="ignore"):  # a state that overflows is for the caller to judge
        for _ in range(steps):
            for box in grid.chunks():
                grid.view(v, box)[...] = grid.value(problem.stencil.body, box, u)
            u, v = v, u
    return np.ascontiguousarray(grid.view(u, grid.interior)).reshape(-1)


def initial(problem: StencilProblem) -> Vector:
    """The first values of u on the grid, ghost layers included."""
    return _Grid(problem).filled(problem.stencil.initial)


def _in_place(grid: "_Grid", u: Vector, stencil: Stencil, steps: int) -> Vector:
    """The same for sweeps in place: points that do not read one another are computed together.

    In lexicographic order they are those with the same weighted sum of their indices, with weights
    by which every neighbour that comes first in the order of the dimensions has a smaller sum.
    """
    if stencil.order == "red-black":
        weights, modulus = (1,) * len(stencil.dimensions), 2
    else:
        wide = 2 * stencil.radius + 1
        weights, modulus = tuple(wide**n for n in reversed(range(len(stencil.dimensions)))), 0
    points = np.indices([len(part) for part in grid.interior]).reshape(len(weights), -1)
    sums = np.asarray(weights) @ points
    sums = sums % modulus if modulus else sums
    order = np.argsort(sums, kind="stable")
    groups = np.split(points[:, order], np.flatnonzero(np.diff(sums[order])) + 1, axis=1)
    with np.errstate(all="ignore"):
        for _ in range(steps):
            for group in groups:
                u[grid.places(group)] = grid.value(stencil.body, group, u)
    return np.ascontiguousarray(grid.view(u, grid.interior)).reshape(-1)


class _Grid:
    """The arrays of a problem, which evaluates expressions over boxes of its points."""

    def __init__(self, problem: StencilProblem) -> None:
        stencil = problem.stencil
        self._names = stencil.dimensions
        self._ghosts = stencil.radius
        self._scalars = stencil.values(problem.extents)
        self._offsets: dict[Ref, tuple[int, ...]] = {}
        self.interior: Box = tuple(range(extent) for extent in problem.extents)
        self._coefficients = {
            name: self.filled(value) for name, value in stencil.coefficients.items()
        }

    def filled(self, expr: Expr) -> Vector:
        """A new array of the grid, ghosts included, with the values of an expression."""
        g = self._ghosts
        whole = tuple(range(-g, part.stop + g) for part in self.interior)
        array = np.empty(tuple(len(part) for part in whole))
        for box in _chunks(whole):
            self.view(array, box)[...] = self.value(expr, box)
        return array

    def chunks(self) -> Iterator[Box]:
        """The interior of the grid as boxes of about ``_CHUNK`` points."""
        return _chunks(self.interior)

    def view(self, array: Vector, box: Box, shift: tuple[int, ...] = ()) -> Vector:
        """The elements of an array at the points of a box shifted by ``shift``; no copy."""
        moved = shift or (0,) * len(box)
        starts = [part.start + self._ghosts + by for part, by in zip(box, moved, strict=True)]
        if min(starts) < 0:
            raise ValueError(f"points at {moved} from {box} lie outside the grid")
        return array[tuple(slice(at, at + len(part)) for at, part in zip(starts, box, strict=True))]

    def places(self, points: Points, shift: tuple[int, ...] = ()) -> tuple[Points, ...]:
        """The places of points shifted by ``shift`` in an array of the grid."""
        moved = np.array(shift or (0,) * len(points))
        return tuple(points + (moved + self._ghosts)[:, None])

    def value(self, expr: Expr, box: Box | Points, source: Vector | None = None) -> Value:
        """The value of an expression at the points of a box, or at points; ValueError for an
        unknown name.
        """

        def of(expr: Expr) -> Value:
            match expr:
                case Bin(op=op, left=left, right=right):
                    return OPERATORS[op](of(left), of(right))
                case Num(value=value):
                    return value
                case Ref():
                    return self._element(expr, box, source)
                case Sym(name=name):
                    return self._symbol(name, box)
                case Neg(operand=operand):
                    return -of(operand)
                case Call(function=function, arguments=arguments):
                    return FUNCTIONS[function](*(of(argument) for argument in arguments))
                case Cond(left=left, op=op, right=right, then=then, other=other):
                    chosen: Value = np.where(
                        OPERATORS[op](of(left), of(right)), of(then), of(other)
                    )
                    return chosen
            raise ValueError(f"{show(expr)} is not an expression")

        return of(expr)

    def _element(self, ref: Ref, box: Box | Points, source: Vector | None) -> Vector:
        arrays: Mapping[str, Vector] = self._coefficients
        array = source if ref.array == SOURCE else arrays.get(ref.array)
        if array is None:
            raise ValueError(f"{show(ref)} is not known here")
        if ref not in self._offsets:
            self._offsets[ref] = offsets(ref, self._names)
        if isinstance(box, np.ndarray):
            return array[self.places(box, self._offsets[ref])]
        return self.view(array, box, self._offsets[ref])

    def _symbol(self, name: str, box: Box | Points) -> Value:
        if name in self._scalars:
            return self._scalars[name]
        if name not in self._names:
            raise ValueError(f"unknown name {name!r}")
        axis = self._names.index(name)
        if isinstance(box, np.ndarray):
            return np.asarray(box[axis])
        shape = [1] * len(box)
        shape[axis] = len(box[axis])
        indices: NDArray[np.int64] = np.arange(box[axis].start, box[axis].stop).reshape(shape)
        return indices


def _chunks(box: Box) -> Iterator[Box]:
    """A box divided into boxes of about ``_CHUNK`` points each, in whole rows."""
    first, *rest = box
    if len(rest) == 1:
        step = max(1, _CHUNK // max(1, len(rest[0])))
        for at in range(first.start, first.stop, step):
            yield (range(at, min(at + step, first.stop)), rest[0])
        return
    for at in first:
        for part in _chunks(tuple(rest)):
            yield (range(at, at + 1), *part)
