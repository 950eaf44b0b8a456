"""What the ECM model gives for many sizes and numbers of cores."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EcmTimes:
    """ECM times over sizes (S) and numbers of cores (C), in cycles per cache line of work.

    A column is what kerncraft gives for ``--cores c``: a shared cache is cut to the part that each
    of the c cores has. ``T_ECM`` and ``memory`` are those of *one* of these cores; ``scaling`` is
    the time per line of all c cores together (Hofmann et al. 2018, recursive saturation).
    """

    levels: tuple[str, ...]
    """Names of the levels that lines come from: ``L2``, ``L3``, ``MEM``."""
    T_OL: float
    T_nOL: float
    transfers: Floats
    """(S, C, levels)."""
    T_ECM: Floats
    """(S, C): the largest of T_OL, the overlapping levels and the sum of the others."""
    memory: Floats
    """(S, C): cycles of the last level, without its penalty."""
    memory_lines: Floats
    """(S, C): lines that bound the memory: loads and stores, their larger one if full-duplex."""
    bandwidth: Floats
    """(S, C): bytes/s of the memory, of the benchmark with the nearest ratio of reads to writes."""
    saturation: Floats
    """(S,): cores that saturate the memory, of a run on one core; inf: never."""
    saturation_at: Floats
    """(S, C): the same of a run on c cores, whose shared cache is smaller."""
    scaling: Floats
    """(S, C)."""
    iterations_per_line: float
    """Iterations of the innermost loop in a line of work."""
