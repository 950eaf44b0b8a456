"""The machine: facts of a node, with units and sources; measured facts of a host beside them.

A machine file states what is documented; a calibration states what was measured. Where both speak,
the calibration wins, and the prediction says so.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from autotune.units import Bytes, BytesPerCycle, BytesPerSecond, Hertz, Seconds, show


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLevel:
    """One cache of the hierarchy, as one core sees it."""

    name: str
    size: Bytes
    line: Bytes
    ways: int
    cores: int
    """How many cores share one instance."""
    inbound: BytesPerCycle | None = None
    """Towards the core from this level, sustained, per core; None for L1 or where unknown."""
    outbound: BytesPerCycle | None = None
    """Into this level from the one below it, per core; None: hidden behind inbound lines."""
    write_allocate: bool = True
    write_back: bool = True
    victim: bool = False
    exposed: float = 1.0
    """Share of transfers from this level that does *not* overlap with loads and stores: 1 serial
    (classic ECM), 0 full overlap."""

    def __post_init__(self) -> None:
        if self.size < self.line or self.line <= 0:
            raise ValueError(
                f"{self.name}: size {show(self.size, 'size')} is below one line, {self.line} B"
            )
        if self.ways < 1 or self.size % (self.ways * self.line):
            raise ValueError(
                f"{self.name}: size {show(self.size, 'size')} is not sets x {self.ways} ways"
                f" x {self.line} B"
            )
        if self.cores < 1:
            raise ValueError(f"{self.name}: must be shared by at least one core, not {self.cores}")
        if not 0 <= self.exposed <= 1:
            raise ValueError(f"{self.name}: the exposed share {self.exposed} is not in [0, 1]")
        for name in ("inbound", "outbound"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{self.name}: {name} {value} B/cy is not positive")

    @property
    def sets(self) -> int:
        """Number of sets."""
        return self.size // (self.ways * self.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Main memory of one NUMA domain."""

    saturated: BytesPerSecond | None = None
    """Load bandwidth with all cores of the domain."""
    single: BytesPerSecond | None = None
    """Load bandwidth of one core."""
    cores: int = 1
    """Cores of the domain."""
    exposed: float = 1.0
    outbound: BytesPerSecond | None = None
    """Store bandwidth with all cores of the domain; None: hidden behind inbound lines."""

    def __post_init__(self) -> None:
        for name in ("saturated", "single", "outbound"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"memory: {name} bandwidth {value} B/s is not positive")
        if self.cores < 1:
            raise ValueError(f"memory: needs at least one core, not {self.cores}")
        if not 0 <= self.exposed <= 1:
            raise ValueError(f"memory: the exposed share {self.exposed} is not in [0, 1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PortTable:
    """Documented in-core throughputs, for machines that OSACA does not know.

    Operations per cycle of one core. ``vector`` is the SIMD width in bytes (8: no SIMD).
    """

    vector: Bytes
    loads: float
    stores: float
    memory_operations: float
    """Loads and stores together."""
    adds: float
    multiplies: float
    fused: float
    """Fused multiply-adds; 0 where there are none."""
    floating: float
    """Floating-point operations of any kind."""
    divide: float
    """Cycles per divide or square root of one vector."""
    issue: float
    """Instructions of any kind."""

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if value < 0 or (value == 0 and name != "fused"):
                raise ValueError(f"in-core port table: {name} must be positive, not {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class InCore:
    """How the in-core time of a loop is found on this machine."""

    osaca: str | None = None
    """OSACA's name of the architecture."""
    approximate: bool = False
    """The architecture is the nearest known one, not this one."""
    ports: PortTable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BandwidthCurve:
    """Measured inbound bandwidth of one thread over its working set, with ``threads`` running."""

    threads: int
    working_set: tuple[Bytes, ...]
    """Bytes per thread, ascending."""
    bandwidth: tuple[BytesPerCycle, ...]
    """Bytes per cycle and thread."""
    spread: tuple[float, ...]
    """Relative interquartile range of the repeats at each point."""

    def __post_init__(self) -> None:
        if not self.working_set:
            raise ValueError("a bandwidth curve needs at least one point")
        if not len(self.working_set) == len(self.bandwidth) == len(self.spread):
            raise ValueError("working sets, bandwidths and spreads must have equal length")
        if any(a >= b for a, b in zip(self.working_set, self.working_set[1:], strict=False)):
            raise ValueError("working sets must ascend")
        if any(not math.isfinite(b) or b <= 0 for b in self.bandwidth):
            raise ValueError("bandwidths must be positive")

    def at(self, working_set: float) -> BytesPerCycle:
        """Bandwidth at a working set, log-log interpolation; flat outside the measured range."""
        sizes, values = self.working_set, self.bandwidth
        if working_set <= sizes[0]:
            return values[0]
        for left, right, low, high in zip(sizes, sizes[1:], values, values[1:], strict=False):
            if working_set <= right:
                share = math.log(working_set / left) / math.log(right / left)
                return BytesPerCycle(low * (high / low) ** share)
        return values[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What was measured on a host, with its conditions."""

    identity: str
    """CPU model, cache topology and number of cores, as a hash."""
    taken: str
    """Time of day, ISO 8601, UTC."""
    seconds: Seconds
    """How long it took."""
    clock: Hertz
    clock_spread: float
    """Relative interquartile range of the chains."""
    curves: tuple[BandwidthCurve, ...]
    barriers: Mapping[int, Seconds]
    """Threads to the time of one OpenMP barrier."""
    exposed: Mapping[str, float]
    """Level name to the measured exposed share."""
    contended: bool
    """Other processes took the cores while it was measured."""
    priority: str
    """How priority was raised: ``autogroup``, ``nice`` or ``none``."""
    compiler: str

    def curve(self, threads: int) -> BandwidthCurve:
        """The curve of the nearest measured thread count; ValueError where there is none."""
        if not self.curves:
            raise ValueError("the calibration has no bandwidth curve")
        return min(self.curves, key=lambda curve: (abs(curve.threads - threads), curve.threads))

    def barrier(self, threads: int) -> Seconds:
        """Seconds of one barrier: linear between measured thread counts, proportional beyond."""
        if threads <= 1:
            return Seconds(0.0)
        known = sorted(self.barriers)
        if not known:
            return Seconds(0.0)
        for low, high in pairwise(known):
            if low <= threads <= high:
                share = (threads - low) / (high - low)
                return Seconds((1 - share) * self.barriers[low] + share * self.barriers[high])
        near = known[0] if threads < known[0] else known[-1]
        return Seconds(self.barriers[near] * threads / near)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A node: its cores, caches, memory, in-core model and, for a host, its calibration."""

    name: str
    title: str = ""
    architecture: str
    """``x86_64``, ``aarch64`` or ``ppc64``."""
    clock: Hertz
    cores: int
    threads_per_core: int = 1
    sockets: int = 1
    caches: tuple[CacheLevel, ...]
    """From the core outwards."""
    memory: Memory
    in_core: InCore
    barrier: Seconds | None = None
    """One OpenMP barrier of all cores, where documented."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Key of the machine file to where its number comes from."""
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.clock) and self.clock > 0):
            raise ValueError(f"{self.name}: clock must be positive, not {self.clock} Hz")
        for name in ("cores", "threads_per_core", "sockets"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{self.name}: {name} must be at least 1, not {getattr(self, name)}"
                )
        if not self.caches:
            raise ValueError(f"{self.name}: needs at least one cache level")
        for inner, outer in zip(self.caches, self.caches[1:], strict=False):
            if outer.size * inner.cores < inner.size * outer.cores and outer.size < inner.size:
                raise ValueError(f"{self.name}: {outer.name} is smaller than {inner.name}")

    @property
    def line(self) -> Bytes:
        """Bytes of one cache line of the innermost cache."""
        return self.caches[0].line

    @property
    def frequency(self) -> Hertz:
        """The measured clock, else the documented one."""
        return self.calibration.clock if self.calibration else self.clock

    def exposed(self, level: str) -> float:
        """The exposed share of a level (``MEM`` for memory), measured where there is one."""
        if self.calibration and level in self.calibration.exposed:
            return self.calibration.exposed[level]
        for cache in self.caches:
            if cache.name == level:
                return cache.exposed
        return self.memory.exposed
