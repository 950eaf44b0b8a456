# mypy: disable-error-code="import-untyped"
"""kerncraft's layer conditions as plain data, with the transfers where each condition holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import sympy
from kerncraft import cacheprediction
from kerncraft.kernel import symbol_pos_int
from kerncraft.models import ECMData

from autotune.models.kerncraft_child.kernel_subject import Json, KernelOnMachine, KernelRefused

Terms = list[tuple[int, list[tuple[str, int]]]]


@dataclass(frozen=True, slots=True)
class SizeBound:
    """The condition that a number of bytes fits into a cache of any size."""

    needed: object


class AnySize:
    """Stands in for a cache's size, and records what it is compared with."""

    def __gt__(self, needed: object) -> SizeBound:
        return SizeBound(needed)

    def __ge__(self, needed: object) -> SizeBound:
        return SizeBound(needed)


class AnyCache:
    """Stands in for a machine with a single cache of any size."""

    def get_cachesim(self, _cores: object) -> "AnyCache":
        return self

    def levels(self, with_mem: bool = True) -> Iterator["AnyCache"]:  # noqa: ARG002
        yield self

    def size(self) -> AnySize:
        return AnySize()


class TransferPredictor(Protocol):
    """The interface of the predictors that kerncraft's transfer model uses."""

    def get_loads(self) -> list[float]: ...
    def get_stores(self) -> list[float]: ...


class UniformTransfers:
    """A predictor that gives the same number of lines for every level."""

    def __init__(self, loads: float, stores: float, levels: int) -> None:
        self._loads, self._stores, self._levels = loads, stores, levels

    def get_loads(self) -> list[float]:
        return [self._loads] * self._levels

    def get_stores(self) -> list[float]:
        return [self._stores] * self._levels


def layer_conditions(subject: KernelOnMachine, names: Sequence[str]) -> Json:
    """kerncraft's conditions as polynomials, and the cycles of each level where they hold.

    The conditions of all caches differ only in the size that they are compared with.
    """
    canonical = cacheprediction.canonical_relational
    cacheprediction.canonical_relational = lambda relation: relation
    try:
        predictor = cacheprediction.LayerConditionPredictor(
            subject.kernel, AnyCache(), cores="any", symbolic=True
        )
    finally:
        cacheprediction.canonical_relational = canonical
    options = predictor.results["cache"][0]
    needed = [option["condition"].needed for option in options[:-1]]
    symbols = [symbol_pos_int(name) for name in names]
    results = [transfers(subject, option["misses"], option["evicts"]) for option in options]
    return {
        "needed": [polynomial(sympy.sympify(bytes_), symbols) for bytes_ in needed],
        "options": results,
        "iterations_per_line": float(
            sympy.Integer(subject.machine()["cacheline size"])
            / sympy.Integer(subject.kernel.bytes_per_iteration)
        ),
    }


def polynomial(expression: sympy.Expr, symbols: Sequence[sympy.Symbol]) -> Terms:
    """A symbolic expression as terms with integer coefficients: [[8, [["N", 1]]], [16, []]] is 8 N
    + 16.
    """
    if not expression.free_symbols <= set(symbols):
        raise KernelRefused(f"the layer condition {expression} depends on more than the sizes")
    if not symbols:
        return [(int(expression), [])]
    terms: Terms = []
    for powers, coefficient in sympy.Poly(expression, *symbols).terms():
        if not coefficient.is_Integer:
            raise KernelRefused(f"the layer condition {expression} is no polynomial of integers")
        used = [(s.name, int(power)) for s, power in zip(symbols, powers, strict=True) if power]
        terms.append((int(coefficient), used))
    return terms


def transfers(subject: KernelOnMachine, loads: float, stores: float) -> Json:
    """The cycles of every level for a number of lines, by kerncraft's own transfer model."""
    machine = subject.machine()
    hierarchy = machine["memory hierarchy"]

    def predictor(*_: object) -> TransferPredictor:
        return UniformTransfers(loads, stores, len(hierarchy))

    model = ECMData(subject.kernel, machine, cache_predictor=predictor)
    model.results["cycles"] = []
    per_level = model.calculate_cycles()
    memory = [
        str(level["upstream throughput"][0]) == "full socket memory bandwidth"
        for level in hierarchy[1:]
    ]
    if any(memory[:-1]):
        raise KernelRefused("a level before the last is bound by the memory bandwidth")
    half = hierarchy[-1]["upstream throughput"][1] == "half-duplex"
    return {
        "cycles": [float(cycles) for _, cycles in per_level["cycles"]],
        "penalty": float(per_level["penalty"]),
        "bandwidth": float(per_level.get("memory bandwidth", "nan")),
        "memory_lines": float(loads + stores if half else max(loads, stores)),
    }


def cache_sizes(subject: KernelOnMachine, cores: int) -> list[int]:
    """The bytes of every cache, in kerncraft's order, divided for a number of cores."""
    simulator = subject.machine(cores).get_cachesim(cores)
    return [int(level.size()) for level in simulator.levels(with_mem=False)]
