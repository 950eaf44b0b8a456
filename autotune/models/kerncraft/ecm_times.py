"""ECM times for many sizes and numbers of cores, as arrays."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EcmTimes:
    """ECM times over sizes (S) and numbers of cores (C), in cycles per cache line of work.

    A column is kerncraft's result for ``--cores c``: a shared cache is cut to the part of each of
    the c cores. ``T_ECM`` and ``memory`` are those of *one* of these cores; ``scaling`` is the time
    per line of all c cores together (Hofmann et al. 2018, recursive saturation).
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
    """(S, C): lines that determine the memory time: loads and stores, the larger if full-duplex."""
    bandwidth: Floats
    """(S, C): memory bandwidth in bytes/s, by the benchmark with the nearest ratio of reads."""
    saturation: Floats
    """(S,): number of cores that saturate the memory, for a run on one core; inf: never."""
    saturation_at: Floats
    """(S, C): the same for a run on c cores, whose shared cache is smaller."""
    scaling: Floats
    """(S, C)."""
    iterations_per_line: float
    """Iterations of the innermost loop in a line of work."""
