"""The values that formulas may use: settings of a candidate, and figures of the machine."""

from collections.abc import Mapping

import numpy as np

from autotune.domain.machine import Machine
from autotune.domain.program_model import BANDWIDTH, CACHE, FACTS, NAMES, Formula, amount, least
from autotune.domain.variant import Candidate, Placement
from autotune.language.constraint import Value
from autotune.models.engines.reuse.case_evaluation import Evaluator
from autotune.models.engines.reuse.line_constants import calibrated_costs
from autotune.models.engines.reuse.line_cost import MEMORY, LineCosts
from autotune.workloads.program.measuring.command_line import program_problem

_FLOPS: Mapping[str, int] = {
    "SNB": 8, "IVB": 8, "HSW": 16, "BDW": 16, "SKX": 32, "CSX": 32, "ICL": 16, "ICX": 32, "SPR": 32,
    "ZEN1": 8, "ZEN2": 16, "ZEN3": 16, "ZEN4": 16, "TX2": 8, "N1": 8, "V2": 16, "A64FX": 32,
    "A72": 4,
}  # fmt: skip
"""Double-precision operations per cycle of one core by OSACA's name: pipes x lanes x 2 for fused
multiply-add (optimisation guides of the vendors)."""


class FormulaValues:
    """Values for formulas; figures of the machine are computed once per number of threads."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._evaluator = Evaluator(machine)
        self._figures: dict[tuple[int, Placement], dict[str, Value]] = {}

    def of(
        self, candidate: Candidate, where: Mapping[str, Formula] | None = None
    ) -> dict[str, Value]:
        """All values by name: arguments, parameters, ``threads``, machine figures, names of a
        model.

        Raises ValueError, in words, if a name that the model defines has no value.
        """
        key = (candidate.threads, candidate.placement)
        if key not in self._figures:
            self._figures[key] = self._machine(*key)
        chosen = candidate.variant.parameters
        values = {
            **self._figures[key],
            **candidate.problem.arguments,
            **chosen,
            **program_problem(candidate).program.sizes_of_sets(chosen),
        }
        for name, formula in (where or {}).items():
            self._check(formula, values)
            values[name] = formula.value(values)
        return values

    def amount(self, formula: Formula, values: Mapping[str, Value]) -> float:
        """The value of a formula; ValueError, in words, also for an unknown figure."""
        self._check(formula, values)
        return amount(formula, values)

    def least(
        self, formula: Formula, values: Mapping[str, Value], bound: float, what: str
    ) -> float:
        """The value of a formula, which must not be below a bound; ValueError otherwise."""
        self._check(formula, values)
        return least(formula, values, bound, what)

    def _check(self, formula: Formula, values: Mapping[str, Value]) -> None:
        for name in formula.names:
            if name not in values and name in NAMES:
                raise ValueError(f"the machine {self.machine.name} has no figure for {name}")

    def _machine(self, threads: int, placement: Placement) -> dict[str, Value]:
        machine = self.machine
        costs = calibrated_costs(machine, threads, placement)
        clock = float(machine.frequency)
        figures: dict[str, float | None] = {
            "threads": threads,
            "clock": clock,
            "cores": machine.cores,
            "line": int(machine.line),
            "flops": _flops(machine),
            "barrier": self._evaluator.barrier(threads),
        }
        borders = costs.borders.tolist()
        for level, name in enumerate(costs.names):
            if level < len(borders):
                figures[CACHE + name] = borders[level]
            bandwidth = _bandwidth(costs, level) * clock
            figures[BANDWIDTH + name] = bandwidth if np.isfinite(bandwidth) else None
        assert set(figures) >= set(FACTS), "every figure of FACTS is here"
        return {name: value for name, value in figures.items() if value is not None}


def _flops(machine: Machine) -> float | None:
    """Floating-point operations per second of one core with its widest vectors."""
    in_core, clock = machine.in_core, float(machine.frequency)
    if in_core.osaca is not None and in_core.osaca.upper() in _FLOPS:
        return _FLOPS[in_core.osaca.upper()] * clock
    table = in_core.ports
    if table is None:
        return None
    lanes = max(1, table.vector // 8)
    per_lane = (
        2 * table.fused if table.fused else min(table.adds + table.multiplies, table.floating)
    )
    return lanes * per_lane * clock


def _bandwidth(costs: LineCosts, level: int) -> float:
    """Bytes per cycle that one thread gets from the middle of a level."""
    borders = costs.borders
    inner = borders[level - 1] if level else borders[0] / 4
    outer = borders[level] if level < len(borders) else 16 * borders[-1]
    if costs.names[level] == MEMORY:
        return costs.memory
    if costs.curve is not None:
        middle = np.array([np.sqrt(inner * outer) * costs.capacity])
        return float(costs.measured(middle)[0])
    if level == 0:
        return float("nan")
    return costs.line / float(costs.typical(level))
