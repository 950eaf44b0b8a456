"""The cost of a line from each level: the inverse bandwidth of a stream from there."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autotune.domain.machine import Machine
from autotune.models.engines.reuse.line_cost import line_costs

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessCosts:
    """Cycles per line from each level, the memory last, for one of several running threads."""

    names: tuple[str, ...]
    cycles: Floats
    """(levels,); nan where the machine has no figure."""
    capacity: Floats
    """(caches,): bytes of each for one thread, shared ones divided, victim caches added up."""
    line: int
    spread: float
    """Relative uncertainty of the figures."""
    unsure: tuple[str, ...]
    """Levels whose figures were not measured at this number of threads."""
    notes: tuple[str, ...]

    def missing(self, level: int) -> str:
        """In words, the missing figure without which lines from a level have no cost."""
        return f"the machine has no bandwidth of {self.names[level]} and no calibration"


def access_costs(machine: Machine, threads: int) -> AccessCosts:
    """Cycles per line with ``threads`` running, measured if the machine is calibrated.

    A machine file has no figure for the innermost cache; its hits then cost nothing.
    """
    costs = line_costs(machine, threads)
    borders = costs.borders
    inner = np.concatenate([[borders[0] / 4], borders[:-1], [borders[-1]]])
    outer = np.append(borders, 64 * borders[-1])
    distance = np.sqrt(inner * outer)
    notes = list(costs.notes)
    if machine.calibration and machine.calibration.curves:
        cycles = costs.line / costs.measured(distance)
    else:
        cycles = costs.inbound(distance, np.arange(len(distance)))
        notes.append(f"hits in {costs.names[0]} are not counted: the machine has no figure of it")
    return AccessCosts(
        names=costs.names,
        cycles=cycles,
        capacity=borders,
        line=costs.line,
        spread=costs.spread,
        unsure=costs.extrapolated,
        notes=tuple(notes),
    )
