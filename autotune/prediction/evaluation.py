"""Three evaluations of one arithmetic: as stated, everything the fast way, everything the slow way.

The outer two move all that is not known well at once, so the interval is wide rather than wrong:

| what                       | fast                        | slow                       |
| -------------------------- | --------------------------- | -------------------------- |
| effective size of caches   | x 1.4                       | x 0.7                      |
| cost of lines              | less its spread             | plus its spread            |
| in-core time               | - 10 %, approximate - 30 %  | + 10 %, approximate + 30 % |
| overlap, calibrated        | as measured                 | memory serial              |
| overlap, machine file      | full                        | serial, stores through too |
| set conflicts              | none                        | also of physical pages     |
| lines of another thread    | from the shared cache       | from memory                |
| barriers                   | half                        | twice                      |

The spread of line costs is the interquartile range of the calibration (at least 5 %, 15 % more
if it was disturbed), 30 % for figures of a machine file. The percentages are engineering
choices, not fits.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from autotune.analysis.base import InCoreResult
from autotune.analysis.traffic import Conflict, Traffic
from autotune.machine import Machine
from autotune.prediction.lines import LineCosts, line_costs
from autotune.prediction.model import (
    InCoreTimes,
    StepTime,
    Transfers,
    conflict_cycles,
    step_time,
    transfers,
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """How an evaluation differs from the central one."""

    capacity: float
    """Factor of the effective cache sizes."""
    lean: int
    """-1: everything the fast way, 0: as stated, 1: the slow way."""


CENTRAL, FAST, SLOW = Scenario(1.0, 0), Scenario(1.4, -1), Scenario(0.7, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is evaluated: the traffic of a program, its padding, and its sweeps in the core."""

    traffic: Traffic
    threads: int
    """All that run on a node and share its caches and memory."""
    team: int
    """Threads of one rank, which wait for one another at barriers."""
    pad_lines: int
    results: tuple[InCoreResult, ...]
    """One per sweep of the program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A time step under one scenario."""

    step: StepTime
    moved: tuple[Transfers, ...]
    """Per thread."""
    in_core: InCoreTimes


@dataclass(slots=True)
class Evaluator:
    """Evaluates cases on one machine; costs, transfers and conflicts are kept."""

    machine: Machine
    _costs: dict[tuple[int, Scenario], LineCosts] = field(default_factory=dict)
    _moved: dict[tuple[int, Scenario], tuple[Traffic, tuple[Transfers, ...]]] = field(
        default_factory=dict
    )
    _crowded: dict[tuple[int, int, tuple[float, ...]], dict[int, list[Conflict]]] = field(
        default_factory=dict
    )

    def evaluate(self, case: Case, scenario: Scenario) -> Evaluation:
        """The time step of a case under a scenario; nan seconds where a figure is missing."""
        costs = self.costs(case.threads, scenario)
        widths = np.array([0.3 if result.approximate else 0.1 for result in case.results])
        factor = 1.0 + scenario.lean * widths
        in_core = InCoreTimes(
            T_OL=np.array([_overlapping(result, case.threads) for result in case.results]) * factor,
            T_nOL=np.array([result.T_nOL for result in case.results], dtype=np.float64) * factor,
        )
        moved = self._transfers(case, scenario)
        if scenario.lean >= 0:
            moved = self._with_conflicts(case, moved, costs, certain=scenario.lean == 0)
        barrier = (self.barrier(case.team) or 0.0) * 2.0**scenario.lean
        clock = float(self.machine.frequency)
        step = step_time(case.traffic, moved, in_core, costs, clock, barrier)
        return Evaluation(step=step, moved=moved, in_core=in_core)

    def costs(self, threads: int, scenario: Scenario) -> LineCosts:
        """The costs of lines under a scenario."""
        key = (threads, scenario)
        if key not in self._costs:
            costs = line_costs(self.machine, threads)
            exposed = costs.exposed.copy()
            if scenario.lean and costs.curve is None:
                exposed[1:] = 1.0 if scenario.lean > 0 else 0.0
            elif scenario.lean > 0:
                exposed[-1] = 1.0
            self._costs[key] = replace(
                costs,
                capacity=scenario.capacity,
                factor=1.0 + scenario.lean * min(costs.spread, 0.9),
                exposed=exposed,
                beside=costs.beside and scenario.lean <= 0,
                serial_stores=scenario.lean > 0,
            )
        return self._costs[key]

    def barrier(self, threads: int) -> float | None:
        """Seconds of one barrier of all threads; None where the machine has no figure."""
        if threads == 1:
            return 0.0
        calibration = self.machine.calibration
        if calibration and calibration.barriers:
            return float(calibration.barrier(threads))
        if self.machine.barrier is None:
            return None
        return float(self.machine.barrier) * threads / self.machine.cores

    def conflicts(self, case: Case) -> dict[int, list[Conflict]]:
        """The set conflicts of each call that has some."""
        iterations = tuple(result.iterations for result in case.results)
        key = (id(case.traffic), case.pad_lines, iterations)
        if key not in self._crowded:
            found = {
                number: case.traffic.conflicts(
                    number, case.pad_lines, self.machine, iterations[call.sweep]
                )
                for number, call in enumerate(case.traffic.schedule.steps[-1].calls)
            }
            self._crowded[key] = {number: crowd for number, crowd in found.items() if crowd}
        return self._crowded[key]

    def _transfers(self, case: Case, scenario: Scenario) -> tuple[Transfers, ...]:
        key = (id(case.traffic), scenario)
        if key not in self._moved:
            costs = self.costs(case.threads, scenario)
            remote = float(costs.borders[-1]) if scenario.lean > 0 else costs.private
            moved = tuple(
                transfers(streams, costs, remote=remote * scenario.capacity)
                for streams in case.traffic.threads
            )
            self._moved[key] = case.traffic, moved
        return self._moved[key][1]

    def _with_conflicts(
        self, case: Case, moved: tuple[Transfers, ...], costs: LineCosts, *, certain: bool
    ) -> tuple[Transfers, ...]:
        found = self.conflicts(case)
        if not found:
            return moved
        changed = []
        for streams, transfer in zip(case.traffic.threads, moved, strict=True):
            extra = conflict_cycles(streams, found, costs, certain=certain)
            data = transfer.data if extra is None else transfer.data + extra[:, :, None]
            changed.append(replace(transfer, data=data))
        return tuple(changed)


def _overlapping(result: InCoreResult, threads: int) -> float:
    """T_OL of one of some threads, which lie side by side."""
    return float(result.T_OL if threads == 1 or result.crowded is None else result.crowded)
