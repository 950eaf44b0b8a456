"""The independent reference for initial value problems: evaluates them straight from their data,
with NumPy.

It uses no loop tree and no transformation. Each region is one affine block of components. An
expression is evaluated over a block by NumPy's own functions, chunk by chunk. So temporaries stay
in cache, and n = 4 million needs little more than the 2s + 2 vectors of the method.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from autotune.domain.problem import IndexSum, Ivp, Problem, Region, offset
from autotune.errors import Fault, InputError
from autotune.language.expression import (
    Bin,
    Call,
    Cond,
    Expr,
    Neg,
    Num,
    Ref,
    Sym,
    number,
    show,
    symbols,
)

Vector = NDArray[np.float64]
Value = float | int | NDArray[np.float64] | NDArray[np.int64]
"""Value of an expression over a block: a number, or an array of the block's shape."""

_CHUNK = 1 << 15
"""Approximate number of components per chunk: 256 KiB per temporary."""


def initial(ivp: Ivp, size: int) -> Vector:
    """The initial values y(t0) at problem size N."""
    y = np.empty(int(ivp.values(size)["n"]))
    _Rhs(ivp, size, ivp.initial)(ivp.start, np.empty(0), y)
    return y


def rhs(ivp: Ivp, size: int) -> Callable[[float, Vector], Vector]:
    """The right-hand side f at problem size N, as a function of (t, y) that returns a new vector.

    Raises ValueError where a body reads outside y[0] .. y[n - 1].
    """
    evaluate = _Rhs(ivp, size, ivp.regions)

    def f(t: float, y: Vector) -> Vector:
        return evaluate(t, y, np.empty_like(y))

    return f


def integrate(problem: Problem, steps: int, *, y0: Vector | None = None) -> Vector:
    """y after ``steps`` time steps of the method, from ``y0`` or the initial values.

    Every step of a PIRK method is, with F_l evaluated at t + c_l h: F_l = f(y); then m times Y_l =
    y + h sum_i a_li F_i and F_l = f(Y_l); then y + h sum_l b_l F_l (Scherg et al. 2019, Eq. 1-3).
    Of an explicit method the F_l are evaluated one after the other, each with its Y_l.
    """
    h, s = problem.h, problem.method.stages
    f = _Rhs(problem.ivp, problem.size, problem.ivp.regions)
    y = initial(problem.ivp, problem.size) if y0 is None else np.array(y0, dtype=np.float64)
    if y.shape != (problem.n,):
        raise ValueError(f"y0 has shape {y.shape}, the problem has {problem.n} components")
    F = np.empty((s, problem.n))
    t = problem.ivp.start
    stages = _explicit_stages if problem.method.explicit else _iterated_stages
    with np.errstate(all="ignore"):  # a state that overflows is for the caller to judge
        for _ in range(steps):
            stages(problem, f, t, y, F)
            _combine(y, h, problem.method.b, F, y)
            t += h
    return y


def _iterated_stages(problem: Problem, f: "_Rhs", t: float, y: Vector, F: Vector) -> None:
    """Store the stage derivatives (s, n) of a PIRK method in ``F``."""
    method, h = problem.method, problem.h
    Y = np.empty_like(F)
    for node, F_l in zip(method.c, F, strict=True):
        f(t + node * h, y, F_l)
    for _ in range(problem.correctors):
        for row, Y_l in zip(method.A, Y, strict=True):
            _combine(y, h, row, F, Y_l)
        for node, Y_l, F_l in zip(method.c, Y, F, strict=True):
            f(t + node * h, Y_l, F_l)


def _explicit_stages(problem: Problem, f: "_Rhs", t: float, y: Vector, F: Vector) -> None:
    """Store the stage derivatives (s, n) of an explicit method in ``F``, each from those before."""
    method, h = problem.method, problem.h
    Y = y.copy()
    for stage, (node, row) in enumerate(zip(method.c, method.A, strict=True)):
        if stage:
            _combine(y, h, row[:stage], F[:stage], Y)
        f(t + node * h, Y, F[stage])


def _combine(y: Vector, h: float, weights: tuple[float, ...], F: Vector, out: Vector) -> None:
    """Store ``y + h sum_i weights_i F_i`` in ``out``, which may be ``y``."""
    for first in range(0, y.size, _CHUNK):
        part = slice(first, first + _CHUNK)
        total = weights[0] * F[0, part]
        for weight, F_i in zip(weights[1:], F[1:], strict=True):
            total += weight * F_i[part]
        total *= h
        np.add(total, y[part], out=out[part])


@dataclass(frozen=True, slots=True)
class _Block:
    """The components with numbers origin + r * stride + q for 0 <= r < rows, 0 <= q < width."""

    origin: int
    rows: int
    stride: int
    width: int

    def view(self, vector: Vector, shift: int = 0) -> Vector:
        """The elements of ``vector`` at the components of the block shifted by
        ``shift``; no copy.
        """
        first = self.origin + shift
        last = first + (self.rows - 1) * self.stride + self.width - 1
        if first < 0 or last >= vector.size:
            raise ValueError(f"components {first} .. {last} lie outside [0, {vector.size})")
        if self.rows == 1:
            return vector[first : last + 1]
        item = vector.strides[0]
        return as_strided(vector[first:], (self.rows, self.width), (self.stride * item, item))

    def components(self) -> NDArray[np.int64]:
        """The numbers j of the components."""
        columns = np.arange(self.origin, self.origin + self.width, dtype=np.int64)
        if self.rows == 1:
            return columns
        return columns + np.arange(self.rows, dtype=np.int64)[:, None] * self.stride

    def chunks(self) -> Iterator["_Block"]:
        """The block divided into blocks of about ``_CHUNK`` components."""
        if self.rows == 1:
            for q in range(0, self.width, _CHUNK):
                yield _Block(self.origin + q, 1, 0, min(_CHUNK, self.width - q))
            return
        step = max(1, _CHUNK // self.width)
        for r in range(0, self.rows, step):
            first = self.origin + r * self.stride
            yield _Block(first, min(step, self.rows - r), self.stride, self.width)


def _blocks(ivp: Ivp, region: Region, size: int) -> Iterator[_Block]:
    """A region as blocks: one block, or three where its range begins or ends within a row.

    A region that names rows has one block for each plane.
    """
    lower, upper, first, end = ivp.bounds(region, size)
    row, plane, within = ivp.row_length(size), ivp.plane_length(size), ivp.row_bounds(region, size)
    if row is not None and plane is not None and within is not None:
        if within[1] > within[0] and end > first:
            for start in range(lower, upper, plane):
                origin = start + within[0] * row + first
                yield _Block(origin, within[1] - within[0], row, end - first)
        return
    if region.columns is None or row is None:
        if upper > lower:
            yield _Block(lower, 1, 0, upper - lower)
        return
    whole = (-(-lower // row), upper // row)
    if whole[1] > whole[0] and end > first:
        yield _Block(whole[0] * row + first, whole[1] - whole[0], row, end - first)
    for r in {lower // row, upper // row} - set(range(*whole)):
        start, stop = max(lower, r * row + first), min(upper, r * row + end)
        if stop > start:
            yield _Block(start, 1, 0, stop - start)


class _Rhs:
    """The right-hand side at one size, which evaluates the bodies of all regions into a vector."""

    def __init__(self, ivp: Ivp, size: int, regions: tuple[Region, ...]) -> None:
        self._values = ivp.values(size)
        self._locals = ivp.locals
        self._sums = ivp.sums
        self._tables = _tables(ivp, self._values)
        self._shifts = {
            ref: offset(ref, self._values) for region in regions for ref in ivp.reads(region.body)
        }
        self._parts = [
            (chunk, region.body)
            for region in regions
            for block in _blocks(ivp, region, size)
            for chunk in block.chunks()
        ]

    def __call__(self, t: float, y: Vector, out: Vector) -> Vector:
        scalars = {**self._values, "t": t}
        for block, body in self._parts:
            over = _Evaluation(block, scalars, self._locals, y, self._shifts, self._tables)
            for name, total in self._sums.items():
                if name in symbols(body):
                    over.add_up(name, total)
            block.view(out)[...] = over.of(body)
        return out


def _tables(ivp: Ivp, values: Mapping[str, float | int]) -> dict[str, NDArray[np.int64]]:
    """The index arrays; InputError for an element outside y."""
    n = int(values["n"])
    block = _Block(0, 1, 0, n)
    tables = {}
    for name, expression in ivp.indices.items():
        elements = _Evaluation(block, values, {}, np.empty(0), {}, {}).of(expression)
        table = np.broadcast_to(np.asarray(elements), (n,)).astype(np.int64)
        outside = np.flatnonzero((table < 0) | (table >= n))
        if outside.size:
            j = int(outside[0])
            found = f"index array {name}: {name}[{j}] = {table[j]} is not one of y[0] .. y[{n - 1}]"
            raise InputError(Fault(where=ivp.name, found=found))
        tables[name] = table
    return tables


class _Evaluation:
    """Evaluates expressions over one block; ``j`` and the local values are computed when first
    used.
    """

    def __init__(
        self,
        block: _Block,
        scalars: Mapping[str, float | int],
        temporaries: Mapping[str, Expr],
        y: Vector,
        shifts: Mapping[Ref, int],
        tables: Mapping[str, NDArray[np.int64]],
    ) -> None:
        self._block = block
        self._scalars = scalars
        self._temporaries = temporaries
        self._y = y
        self._shifts = shifts
        self._tables = tables
        self._values: dict[str, Value] = {}

    def add_up(self, name: str, total: IndexSum) -> None:
        """Give the sum a value for each component: its terms are added chunk by chunk."""
        lower, upper = (int(number(e, self._scalars)) for e in (total.lower, total.upper))
        shape = (self._block.rows, self._block.width)[self._block.rows == 1 :]
        step = max(1, _CHUNK // (self._block.rows * self._block.width))
        result = np.zeros(shape)
        for first in range(lower, upper, step):
            indices = np.arange(first, min(upper, first + step), dtype=np.int64)
            terms = np.broadcast_to(
                _Terms(self, total.index, indices).of(total.body), (*shape, len(indices))
            )
            result += terms.sum(axis=-1)
        self._values[name] = result

    def of(self, expr: Expr) -> Value:
        """The value of an expression; ValueError for an unknown name."""
        match expr:
            case Bin(op=op, left=left, right=right):
                return OPERATORS[op](self.of(left), self.of(right))
            case Num(value=value):
                return value
            case Ref():
                return self.element(expr)
            case Sym(name=name):
                return self.symbol(name)
            case Neg(operand=operand):
                return -self.of(operand)
            case Call(function=function, arguments=arguments):
                return FUNCTIONS[function](*(self.of(argument) for argument in arguments))
            case Cond(left=left, op=op, right=right, then=then, other=other):
                holds = OPERATORS[op](self.of(left), self.of(right))
                chosen: Value = np.where(holds, self.of(then), self.of(other))
                return chosen
        raise ValueError(f"{show(expr)} is not an expression")

    def element(self, ref: Ref) -> Value:
        """The elements at the components of the block, or at their indices."""
        if isinstance(ref.indices[0], Ref):
            elements: Vector = self._y[self._tables[ref.indices[0].array][self._block.components()]]
            return elements
        return self._block.view(self._y, self._shifts[ref])

    def symbol(self, name: str) -> Value:
        """The value of a name, which is computed when it is first used."""
        if name in self._scalars:
            return self._scalars[name]
        if name not in self._values:
            if name == "j":
                self._values[name] = self._block.components()
            elif name in self._temporaries:
                self._values[name] = self.of(self._temporaries[name])
            else:
                raise ValueError(f"unknown name {name!r}")
        return self._values[name]


class _Terms(_Evaluation):
    """Evaluates the terms of a sum over one block: the last axis of values is that of the index."""

    def __init__(self, around: _Evaluation, index: str, indices: NDArray[np.int64]) -> None:
        super().__init__(
            around._block,
            around._scalars,
            around._temporaries,
            around._y,
            around._shifts,
            around._tables,
        )
        self._around = around
        self._index = index
        self._indices = indices

    def element(self, ref: Ref) -> Value:
        """The elements at the index or, where it is not used, at the components."""
        if self._index not in symbols(ref.indices[-1]):
            return self._beside(self._around.element(ref))
        at_zero = int(number(ref.indices[-1], {**self._scalars, self._index: 0}))
        at = self._indices + at_zero
        if at[0] < 0 or at[-1] >= self._y.size:
            raise ValueError(f"{show(ref)} lies outside [0, {self._y.size})")
        return self._y[at]

    def symbol(self, name: str) -> Value:
        """The value of a name: the index, or the same for all terms."""
        return self._indices if name == self._index else self._beside(self._around.symbol(name))

    @staticmethod
    def _beside(value: Value) -> Value:
        return value[..., None] if isinstance(value, np.ndarray) else value


OPERATORS: Mapping[str, Callable[..., Value]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "%": operator.mod, "//": operator.floordiv, "**": operator.pow,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "exp": np.exp, "log": np.log, "sqrt": np.sqrt,
    "abs": np.abs, "tanh": np.tanh, "min": np.minimum, "max": np.maximum,
}  # fmt: skip
