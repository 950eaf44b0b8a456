"""What a calibration measures: thread counts, working sets, the length of a sample."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from autotune.host.probe import PAGE
from autotune.machine import CacheLevel, Machine
from autotune.units import Bytes, Seconds

MEMORY = "MEM"
_LEAST_TOP = Bytes(64 << 20)
_ROUNDS = 3
"""Rounds that should fit into the budget."""
_OVERHEAD = 0.08
"""Seconds of one process beside its samples: start, first touch."""
_WARM = 1.7
"""Time of a sample with what leads to it, over the sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The points of one round."""

    threads: tuple[int, ...]
    sizes: Mapping[int, tuple[Bytes, ...]]
    """Threads to working sets per thread, ascending."""
    levels: Mapping[str, Bytes]
    """Level to a working set of one thread that lies well inside it."""
    sample: Seconds

    @property
    def cost(self) -> Seconds:
        """Estimated time of one round."""
        points = sum(len(sizes) for sizes in self.sizes.values()) + 4 * len(self.levels) + 12
        return Seconds(points * self.sample * _WARM + (2 * len(self.threads) + 2) * _OVERHEAD)


def make(machine: Machine, budget: float, memory: Bytes | None) -> Plan:
    """The finest plan of which some rounds fit into ``budget`` seconds.

    ``memory`` is what may be taken at most, in bytes; a quarter of it is used.
    """
    for per_octave, all_counts, sample in (
        (2, True, 0.015), (2, True, 0.01), (1, True, 0.01), (1, False, 0.005),
    ):  # fmt: skip
        plan = _plan(machine, memory, per_octave, all_counts, sample)
        if _ROUNDS * plan.cost <= budget:
            return plan
    return _plan(machine, memory, 1, False, 0.002)


def thread_counts(cores: int) -> tuple[int, ...]:
    """All up to four, then powers of two, and all cores.

    >>> thread_counts(12)
    (1, 2, 3, 4, 8, 12)
    """
    powers = {2**k for k in range(3, cores.bit_length())}
    return tuple(sorted({n for n in (1, 2, 3, 4, *powers, cores) if n <= cores}))


def _plan(
    machine: Machine, memory: Bytes | None, per_octave: int, all_counts: bool, sample: float
) -> Plan:
    counts = thread_counts(machine.cores) if all_counts else tuple(sorted({1, machine.cores}))
    sizes = {
        count: _grid(machine.caches[0].size // 2, top(machine, count, memory), per_octave)
        for count in counts
    }
    return Plan(
        threads=counts,
        sizes=sizes,
        levels=_representatives(machine, sizes[1][-1]),
        sample=Seconds(sample),
    )


def top(machine: Machine, threads: int, memory: Bytes | None) -> Bytes:
    """The largest working set per thread: in memory whatever the last cache does.

    Four times the thread's share of the last cache, and 64 MiB for up to four threads.
    """
    last = machine.caches[-1]
    share = last.size // min(threads, last.cores)
    wanted = max(_LEAST_TOP * 4 // max(threads, 4), 4 * share)
    if memory is not None:
        wanted = min(wanted, memory // 4 // threads)
    return _pages(max(wanted, 2 * machine.caches[0].size))


def _grid(first: int, last: int, per_octave: int) -> tuple[Bytes, ...]:
    steps = max(1, round(per_octave * math.log2(last / first)))
    return tuple(sorted({_pages(first * (last / first) ** (k / steps)) for k in range(steps + 1)}))


def _pages(size: float) -> Bytes:
    return Bytes(max(1, round(size / PAGE)) * PAGE)


def _representatives(machine: Machine, largest: Bytes) -> dict[str, Bytes]:
    """The geometric mean of each cache's borders, and the largest working set for memory."""
    result: dict[str, Bytes] = {}
    inner: CacheLevel = machine.caches[0]
    for level in machine.caches[1:]:
        size = _pages(math.sqrt(inner.size * level.size))
        if size < largest:
            result[level.name] = size
        inner = level
    return result | {MEMORY: largest}
