"""The execution-cache-memory model as arithmetic over arrays: no machine, no program, no files.

    T_core = max(T_OL, T_nOL)                                 Eq. 6    cycles in the core
    T_ECM  = max(T_OL, T_nOL + T_data)                        Eq. 7    transfers do not overlap
    zeta   = alpha * beta / delta                             Eq. 8    cycles of a kernel
    phi    = zeta / (f * min(tau, sigma))                     Eq. 9    seconds on tau threads
    theta  = sum of phi + barriers                            Eq. 10   seconds of a time step

Source: Scherg, Seiferth, Korch, Rauber, ICPE 2019, section 4.1. Where transfers overlap in part,
Eq. 7 becomes ``combine``.
"""

import numpy as np
import numpy.typing as npt

from autotune.domain.variant import Placement

Floats = npt.NDArray[np.float64]

_LEAST = np.finfo(np.float64).tiny
"""Smallest positive number, which keeps divisions from dividing by zero."""


def combine(T_OL: Floats, T_nOL: Floats, data: Floats, exposed: Floats) -> Floats:
    """Cycles of a loop from its parts T_OL, T_nOL and data; ``exposed`` cycles of ``data`` do not
    overlap with T_nOL.

        max(T_OL, max(T_nOL, data) + exposed / data * min(T_nOL, data))

    ``exposed = data`` gives Eq. 7, ``exposed = 0`` the maximum of all. Never below the largest
    part nor above their sum; never falls when a part grows.
    """
    with np.errstate(over="ignore"):
        hidden = T_nOL / np.maximum(data, _LEAST)
    hidden = np.minimum(hidden, 1.0) * exposed
    result: Floats = np.maximum(T_OL, hidden + np.maximum(T_nOL, data))
    return result


def path_cycles(costs: Floats, exposed: Floats) -> Floats:
    """Cycles of a cache line from each level, from the costs of the links that it passes.

    Element i is the link into level i from level i + 1. A link adds the exposed share of the time
    that it could overlap with other links. If all of it is exposed, costs add up (Eq. 5); if none
    is, the slowest link counts. nan where a link of the path is nan.
    """
    total = np.empty_like(costs)
    before = 0.0
    for index, (cost, share) in enumerate(zip(costs, exposed, strict=True)):
        before = float(np.maximum(before, cost) + share * np.minimum(before, cost))
        total[index] = before
    return total


def kernel_cycles(alpha: Floats, beta: Floats, delta: float) -> Floats:
    """Eq. 8: cycles of a kernel, alpha per cache line of work, beta iterations, delta per line."""
    result: Floats = alpha * beta / delta
    return result


def step_seconds(kernels: Floats, barriers: float, barrier: float) -> float:
    """Eq. 10: theta, the seconds of a time step, from the kernels and the barriers between them."""
    return float(kernels.sum()) + barriers * barrier


# --- Eq. 9 for a node: all its cores on one kernel ------------------------------------------


def saturation_point(T_ECM: Floats, memory: Floats) -> Floats:
    """sigma = T_ECM / T_Mem, cores as a real number; inf where nothing comes from memory."""
    sigma: Floats = np.full(np.broadcast(T_ECM, memory).shape, np.inf)
    with np.errstate(over="ignore"):
        np.divide(T_ECM, memory, out=sigma, where=memory > 0)
    return sigma


def paper_cycles(T_ECM: Floats, memory: Floats, threads: Floats | int) -> Floats:
    """Cycles per line of work of ``threads`` cores together, rule ``paper``: T_ECM/min(tau, sigma).

    With sigma = T_ECM / T_Mem that is max(T_ECM / tau, T_Mem): saturated, exactly T_Mem.
    """
    result: Floats = np.maximum(T_ECM / threads, memory)
    return result


def floor_cycles(lines: Floats, line: int, bandwidth: Floats, clock: float) -> Floats:
    """The least cycles in which memory can move ``lines`` cache lines: bytes / bandwidth."""
    result: Floats = lines * line / bandwidth * clock
    return np.where(lines > 0, result, 0.0)


def domain_share(
    threads: int, cores: int, placement: Placement = "compact", of: int = 0
) -> tuple[int, float]:
    """Threads on the fullest NUMA domain of ``cores`` cores, and their share of the work.

    Each domain saturates separately. Every thread has the same part of the work, so the fullest
    domain takes longest. ``of``: cores of the node, for placements other than compact.
    """
    inside = threads_on_group(threads, cores, placement, of)
    return inside, inside / threads


def threads_on_group(
    threads: int, cores: int, placement: Placement = "compact", of: int = 0
) -> int:
    """Threads on the fullest group of ``cores`` cores, such as the cores that share a cache.

    ``compact`` fills one group after the other, ``scatter`` deals threads out to all groups of a
    node of ``of`` cores.

    >>> threads_on_group(6, 4), threads_on_group(6, 4, "scatter", of=16)
    (4, 2)
    """
    if placement == "compact":
        return min(threads, cores)
    return min(-(-threads // max(1, of // cores)), cores)
