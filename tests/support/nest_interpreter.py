"""Runs loop nests in Python, element by element, as the tree says."""

from collections.abc import Callable, Mapping

import numpy as np

from autotune.codegen.tree.loop_nests import (
    EvaluateStatement,
    Nest,
    NestLoop,
    Nodes,
    PipelineNest,
    ReduceStatement,
    StageNest,
    StoreStatement,
    TileNest,
)
from autotune.codegen.tree.loop_tree import Comm, Swap, Sync
from autotune.language.expression import Bin, Expr, Neg, Num, Ref, Sym

Arrays = dict[str, np.ndarray]


def _rhs(t: float, y: np.ndarray, j: int) -> float:
    left = y[j - 1] if j else 0.0
    right = y[j + 1] if j + 1 < len(y) else 0.0
    return float(left - 2.0 * y[j] + 0.5 * right + 0.1 * t)


class Interpreter:
    """One thread that owns all n components; what the loops compute, in their order."""

    def __init__(self, arrays: Arrays, n: int, h: float) -> None:
        self.arrays = arrays
        self.bounds = (0, n)
        self.scalars: dict[str, float] = {"h": h, "t": 0.25}
        self.sums: dict[tuple[str, tuple[int, ...]], float] = {}

    def run(self, nodes: Nodes, values: Mapping[str, int] | None = None) -> None:
        values = values or {}
        for node in nodes:
            match node:
                case Nest(body=body):
                    self.run(body, values)
                case NestLoop(variable=variable, first=first, end=end, body=body):
                    steps = range(*self.bounds) if end is None else range(first, end)
                    for i in steps:
                        self.run(body, {**values, variable: i})
                case TileNest(size=size, body=body):
                    first, last = self.bounds
                    for start in range(first, last, size):
                        self.bounds = (start, min(start + size, last))
                        self.run(body, values)
                    self.bounds = (first, last)
                case PipelineNest():
                    self.pipeline(node, values)
                case Swap(first=one, second=other):
                    a = self.arrays
                    a[one], a[other] = a[other], a[one]
                case StoreStatement(target=target, value=value, add=add):
                    old = self.value(target, values) if add else 0.0
                    self.put(target, old + self.value(value, values), values)
                case EvaluateStatement(target=target, argument=argument, time=time):
                    vector = self.arrays[argument.array]
                    if argument.indices:
                        vector = vector[self.index(argument.indices[0], values)]
                    t = self.value(time, values)
                    self.put(target, _rhs(t, vector, values["j"]), values)
                case ReduceStatement():
                    self.reduce(node, values)
                case Sync() | Comm():
                    pass

    def pipeline(self, node: PipelineNest, values: Mapping[str, int]) -> None:
        """Stage k is k components behind stage 0; what has left a window is no number."""
        first, last = self.bounds
        empty = np.full_like(self.arrays[node.buffer], np.nan)
        versions = [empty.copy() for _ in node.body]
        kept, self.arrays["F"] = self.arrays["F"], np.full_like(self.arrays["F"], np.nan)
        for at in range(first, last + len(node.body) - 1, node.block):
            for k, stage in enumerate(node.body):
                assert isinstance(stage, StageNest)
                self.bounds = max(at - k, first), max(min(at + node.block - k, last), first)
                self.arrays["F"][:] = np.nan
                self.arrays[node.buffer] = versions[k - 1]
                self.arrays[f"{node.buffer}_next"] = versions[k]
                self.run(stage.body, values)
                versions[k][:, : max(0, at - k - 2)] = np.nan
        self.bounds, self.arrays[node.buffer], self.arrays["F"] = (first, last), empty, kept

    def reduce(self, node: ReduceStatement, values: Mapping[str, int]) -> None:
        """The sum as it stands: complete when its loop comes to the last term."""
        key = (node.target.array, tuple(self.index(i, values) for i in node.target.indices))
        term = self.value(node.term, values)
        i = values[node.over]
        self.sums[key] = term if i == 0 else self.sums[key] + term
        if i == len(self.arrays["b"]) - 1:
            self.scalars["sum"] = self.sums[key]
            self.put(node.target, self.value(node.result, values), values)

    def put(self, target: Ref, value: float, values: Mapping[str, int]) -> None:
        if target.indices:
            index = tuple(self.index(i, values) for i in target.indices)
            self.arrays[target.array][index] = value
        else:
            self.scalars[target.array] = value

    def index(self, expr: Expr, values: Mapping[str, int]) -> int:
        return int(self.value(expr, values))

    def value(self, expr: Expr, values: Mapping[str, int]) -> float:
        match expr:
            case Num(value=value):
                return value
            case Sym(name=name):
                return values[name] if name in values else self.scalars[name]
            case Ref(array=array, indices=()):
                return self.scalars[array]
            case Ref(array=array, indices=indices):
                return float(self.arrays[array][tuple(self.index(i, values) for i in indices)])
            case Neg(operand=operand):
                return -self.value(operand, values)
            case Bin(op=op, left=left, right=right):
                operations: dict[str, Callable[[float, float], float]] = {
                    "+": lambda a, b: a + b,
                    "-": lambda a, b: a - b,
                    "*": lambda a, b: a * b,
                    "/": lambda a, b: a / b,
                }
                return operations[op](self.value(left, values), self.value(right, values))
        raise AssertionError(expr)
