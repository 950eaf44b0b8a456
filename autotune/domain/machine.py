"""The machine: documented facts of a node with units and sources, and measured facts of a host.

A machine file states what is documented; a calibration states what was measured. If both give a
figure, the calibration takes precedence, and the prediction says so.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from autotune.domain.annotations import (
    Bounds,
    Count,
    Derived,
    FileKey,
    Fraction,
    InNotation,
    OneOf,
    Text,
)
from autotune.domain.calibration import Calibration
from autotune.domain.misfit import Misfit, refuse
from autotune.domain.network import Network
from autotune.errors import nearest, one_of
from autotune.units import Bytes, BytesPerCycle, BytesPerSecond, Cycles, Hertz, Seconds, show

_ARCHITECTURE = re.compile(r"[A-Za-z][A-Za-z0-9]{1,15}")
Duplex = Literal["half", "full"]
"""Lines in and out of a level take turns, or pass at the same time."""
OverlapRule = Literal["levels", "serial", "data-serial", "full"]
OVERLAP_RULES: Mapping[OverlapRule, str] = {
    "levels": "by the exposed share of each level",
    "serial": "max(T_OL, T_nOL + sum of levels)",
    "data-serial": "max(T_OL, T_nOL, sum of levels)",
    "full": "max(T_OL, T_nOL, every level)",
}
"""Each rule by name, and its formula (Stengel et al. 2015 for ``serial``)."""
UNVERIFIED = "(unverified)"
"""The end of a source that says so of its number."""
Rate = Annotated[float, Bounds(above=0)]
"""Operations per cycle of one core."""
Port = Annotated[str, InNotation("port")]
"""The name of a port, as OSACA calls it."""
BENCHMARKS = ("copy", "update", "triad", "daxpy")
"""Streaming kernels whose raw bandwidth may be given beside that of loads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLevel:
    """One cache of the hierarchy, as one core sees it."""

    name: Text
    size: Annotated[
        Bytes, FileKey(about="a size such as 32 KiB: decides which reuse hits this level")
    ]
    line: Annotated[Bytes, FileKey(about="a size such as 64 B: the unit of transfers")]
    ways: Annotated[Count, FileKey(about="the associativity: decides where padding matters")]
    sets: Annotated[
        Count, FileKey(about="the number of sets; sets x ways x line is the size", required=True)
    ] = field(default=0, compare=False, repr=False)
    """Number of sets; 0: as the size gives it."""
    cores: Count = 1
    """How many cores share one instance."""
    inbound: BytesPerCycle | None = None
    """Towards the core from this level, sustained, per core; None for L1 or where unknown."""
    outbound: BytesPerCycle | None = None
    """Into this level from the one below it, per core; None: as ``duplex`` says."""
    duplex: Duplex | None = None
    """Of the link to the level below. ``full``: lines out hide behind lines in. None: ``half``
    where ``outbound`` is given, else ``full``."""
    write_allocate: bool = True
    write_back: bool = True
    victim: bool = False
    exposed: Annotated[Fraction, FileKey(optional=True)] = 1.0
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
        refuse(self.misfits())
        object.__setattr__(self, "sets", self.size // (self.ways * self.line))
        if self.cores < 1:
            raise ValueError(f"{self.name}: must be shared by at least one core, not {self.cores}")
        if not 0 <= self.exposed <= 1:
            raise ValueError(f"{self.name}: the exposed share {self.exposed} is not in [0, 1]")
        for name in ("inbound", "outbound"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{self.name}: {name} {value} B/cy is not positive")

    def misfits(self) -> Iterator[Misfit]:
        """A size that is not that of the stated sets."""
        product = self.sets * self.ways * self.line
        if self.sets and product != self.size:
            parts = f"{self.sets} sets x {self.ways} ways x {self.line} B"
            found = f"{self.name}: the size is {show(self.size, 'size')}, but {parts} are"
            expected = "size = sets x ways x line"
            yield Misfit(("size",), f"{found} {show(product, 'size')}", expected)

    @property
    def outward(self) -> BytesPerCycle | None:
        """The bandwidth at which evicted lines take extra time.

        None if their transfer overlaps with that of incoming lines.
        """
        if self.duplex == "full":
            return None
        return self.outbound or (self.inbound if self.duplex == "half" else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streaming:
    """Raw bandwidth of a streaming kernel, counting only named arrays, not write-allocates."""

    saturated: Annotated[
        BytesPerSecond, FileKey(about="a bandwidth such as 29.3 GB/s, with all cores")
    ]
    """With all cores of the NUMA domain."""
    single: BytesPerSecond | None = None
    """With one core."""

    def __post_init__(self) -> None:
        if self.saturated <= 0 or (self.single is not None and self.single <= 0):
            raise ValueError("a bandwidth of a benchmark is not positive")


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Main memory of one NUMA domain."""

    capacity: Annotated[
        Bytes | None, FileKey(about="a size such as 32 GiB: larger problems are refused")
    ] = None
    """Of the domain; None: not known, and nothing is refused."""
    saturated: BytesPerSecond | None = None
    """Load bandwidth with all cores of the domain."""
    single: BytesPerSecond | None = None
    """Load bandwidth of one core."""
    cores: Count = 1
    """Cores of the domain."""
    exposed: Annotated[Fraction, FileKey(optional=True)] = 1.0
    """As of a cache level."""
    outbound: BytesPerSecond | None = None
    """Store bandwidth with all cores of the domain; None: as ``duplex`` says."""
    duplex: Duplex | None = None
    """As of a cache level."""
    peak: BytesPerSecond | None = None
    """Of the channels of the domain, nominal: a bound for what is measured."""
    penalty_load: Annotated[Cycles, Bounds(least=0)] | None = None
    """Added to every line loaded from memory (a fit, Hammer et al. 2017)."""
    penalty_store: Annotated[Cycles, Bounds(least=0)] | None = None
    """Added to every line stored to memory."""
    benchmarks: Mapping[str, Streaming] = field(default_factory=dict)
    """Raw bandwidths by the name of the kernel, one of ``BENCHMARKS``."""

    def __post_init__(self) -> None:
        for name in ("saturated", "single", "outbound", "peak"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"memory: {name} bandwidth {value} B/s is not positive")
        if self.capacity is not None and self.capacity <= 0:
            raise ValueError(f"memory: capacity {self.capacity} B is not positive")
        if self.cores < 1:
            raise ValueError(f"memory: needs at least one core, not {self.cores}")
        if not 0 <= self.exposed <= 1:
            raise ValueError(f"memory: the exposed share {self.exposed} is not in [0, 1]")
        for name in ("penalty_load", "penalty_store"):
            if (getattr(self, name) or 0) < 0:
                raise ValueError(f"memory: {name} {getattr(self, name)} cy is negative")
        refuse(self.misfits())

    def misfits(self) -> Iterator[Misfit]:
        """Every benchmark of another name than those of ``BENCHMARKS``."""
        for name in self.benchmarks:
            if name not in BENCHMARKS:
                loads = "the bandwidth of loads is memory.saturated" if name == "load" else ""
                hint = loads or nearest(name, BENCHMARKS)
                found = f"unknown key {name!r}"
                yield Misfit(("benchmarks", name), found, one_of(BENCHMARKS), hint, of_key=True)

    @property
    def outward(self) -> BytesPerSecond | None:
        """The bandwidth at which evicted lines take extra time.

        None if their transfer overlaps with that of incoming lines.
        """
        if self.duplex == "full":
            return None
        return self.outbound or (self.saturated if self.duplex == "half" else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortTable:
    """Documented in-core throughputs, for machines that OSACA does not know.

    Operations per cycle of one core. ``vector`` is the SIMD width in bytes (8: no SIMD).
    """

    vector: Bytes
    loads: Rate
    stores: Rate
    memory_operations: Rate
    """Loads and stores together."""
    adds: Rate
    multiplies: Rate
    fused: Annotated[float, Bounds(least=0)]
    """Fused multiply-adds; 0 where there are none."""
    floating: Rate
    """Floating-point operations of any kind."""
    divide: Annotated[float, InNotation("cycles")]
    """Cycles per divide or square root of one vector."""
    issue: Rate
    """Instructions of any kind."""
    latency: Annotated[float, InNotation("cycles or zero")] = 0.0
    """Cycles until the next operation of a chain of dependent ones can start; 0: not known."""
    folds: bool = False
    """A load is part of the instruction that computes with it: it takes no slot of its own."""
    stores_compute: bool = False
    """The data of a store passes a floating-point unit."""
    dispatch: Annotated[int, Bounds(least=0)] = 0
    """Slots of a dispatch group, filled in program order; a branch ends the group in a slot of its
    own. 0: no groups."""
    unroll: Count = 1
    """Vectors of a pass of a compiled loop, where loops are counted without a compiler."""
    shared: tuple[Annotated[str, OneOf(("floating", "issue"))], ...] = ()
    """Units that ``shared_by`` cores have together: ``floating`` (adds, multiplies and divides with
    it), ``issue``."""
    shared_by: Count = 1

    def __post_init__(self) -> None:
        may_be_zero = ("fused", "latency", "folds", "stores_compute", "dispatch")
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name != "shared" and (value < 0 or (value == 0 and name not in may_be_zero)):
                raise ValueError(f"in-core port table: {name} must be positive, not {value}")
        for name in self.shared:
            if name not in ("floating", "issue"):
                raise ValueError(f"in-core port table: {name!r} cannot be shared")


@dataclass(frozen=True, slots=True, kw_only=True)
class InCore:
    """The sources from which the in-core time of a loop on this machine is determined."""

    osaca: Text | None = None
    """OSACA's name of the architecture."""
    approximate: bool = False
    """The architecture is the nearest known one, not this one."""
    ports: PortTable | None = None
    overlapping: tuple[Port, ...] = ()
    """OSACA's ports whose time is T_OL in kerncraft's model; empty: not known."""
    non_overlapping: tuple[Port, ...] = ()
    """OSACA's ports whose time is T_nOL there."""

    def __post_init__(self) -> None:
        refuse(self.misfits())

    def misfits(self) -> Iterator[Misfit]:
        """A name of an architecture that none has, such as a path."""
        if self.osaca is not None and not _ARCHITECTURE.fullmatch(self.osaca):
            found = f"{self.osaca[:40]!r} is no name of an architecture"
            yield Misfit(("osaca",), found, "letters and digits, such as HSW or ZEN3")


@dataclass(frozen=True, slots=True, kw_only=True)
class StorePath:
    """The path of stores through a write-through cache, which carries every byte stored."""

    throughput: Annotated[BytesPerCycle, FileKey(about="a throughput such as 5.3 B/cy")]
    cores: Count = 1
    """How many cores have the path together."""

    def __post_init__(self) -> None:
        if self.throughput <= 0 or self.cores < 1:
            raise ValueError("a store path needs a positive throughput and at least one core")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """The rule that says which parts of a loop's time add up, by its name."""

    rule: OverlapRule = "levels"
    store_path: StorePath | None = None
    """Runs beside everything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A node: its cores, caches, memory, in-core model and, for a host, its calibration."""

    name: Annotated[Text, FileKey(optional=True)]
    """The name of its file unless the file says otherwise."""
    title: str = ""
    architecture: Annotated[str, OneOf(("x86_64", "aarch64", "ppc64"))]
    clock: Annotated[Hertz, FileKey(about="a frequency such as 2.3 GHz: turns cycles into seconds")]
    cores: Annotated[Count, FileKey(about="how many cores: bounds the number of threads")]
    threads_per_core: Count = 1
    sockets: Count = 1
    caches: Annotated[
        tuple[CacheLevel, ...],
        Bounds(least=1),
        FileKey(about="the caches from the core outwards: the time of transfers"),
    ]
    """From the core outwards."""
    memory: Annotated[Memory, FileKey(about="the main memory: the time of transfers from it")]
    in_core: Annotated[InCore, FileKey(about="osaca or ports: the in-core time of a loop")]
    overlap: Overlap = field(default_factory=Overlap)
    compilers: Mapping[str, Text] = field(default_factory=dict)
    """Compiler to its flags for this machine."""
    barrier: Seconds | None = None
    """One OpenMP barrier of all cores, where documented."""
    network: Annotated[Network | None, FileKey(file=True)] = None
    sources: Annotated[Mapping[str, str], Derived()] = field(default_factory=dict)
    """FileKey of the machine file to where its number comes from."""
    calibration: Calibration | None = None
    kerncraft: Text | None = None
    """The text of kerncraft's machine file that this machine was read from."""

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
        self._check_overlap()
        refuse(self.misfits())

    def misfits(self) -> Iterator[Misfit]:
        """Every cache with the name of another level."""
        names = [cache.name for cache in self.caches]
        for i, name in enumerate(names):
            if name == "MEM" or name in names[:i]:
                owner = "the memory" if name == "MEM" else "another level"
                found = f"the name {name} is taken by {owner}"
                yield Misfit(("caches", i, "name"), found, "a name of its own per level")

    def _check_overlap(self) -> None:
        """Raise ValueError unless the exposed share of every level agrees with the overlap rule."""
        if self.overlap.rule == "levels":
            return
        inner, outer = exposed_by(self.overlap.rule)
        shares = {cache.name: (cache.exposed, outer) for cache in self.caches}
        shares[self.caches[0].name] = (self.caches[0].exposed, inner)
        shares["memory"] = (self.memory.exposed, outer)
        for name, (share, ruled) in shares.items():
            if share != ruled:
                raise ValueError(
                    f"{self.name}: the overlap rule {self.overlap.rule} needs exposed {ruled:g} of"
                    f" {name}, not {share:g}"
                )

    @property
    def line(self) -> Bytes:
        """Bytes of one cache line of the innermost cache."""
        return self.caches[0].line

    @property
    def memory_capacity(self) -> Bytes | None:
        """Bytes of main memory of the node, all NUMA domains together; None: not known."""
        if self.memory.capacity is None:
            return None
        return Bytes(self.memory.capacity * max(1, round(self.cores / self.memory.cores)))

    @property
    def unverified(self) -> frozenset[str]:
        """The keys of figures whose values were never checked."""
        return frozenset(key for key, text in self.sources.items() if text.endswith(UNVERIFIED))

    @property
    def frequency(self) -> Hertz:
        """The measured clock frequency, else the documented one."""
        return self.calibration.clock if self.calibration else self.clock

    @property
    def load_bandwidth(self) -> Streaming | None:
        """The bandwidth at which memory is read: as measured with one thread and with the most
        threads that were measured, else as documented; None where neither is known.
        """
        if self.calibration is None or not self.calibration.loads:
            memory = self.memory
            if memory.saturated is None:
                return None
            return Streaming(saturated=memory.saturated, single=memory.single)
        first, last = self.calibration.loads[0], self.calibration.loads[-1]
        clock = float(self.calibration.clock)
        return Streaming(
            saturated=BytesPerSecond(last.bandwidth[-1] * clock * last.threads),
            single=BytesPerSecond(first.bandwidth[-1] * clock) if first.threads == 1 else None,
        )

    def exposed(self, level: str) -> float:
        """The exposed share of a level (``MEM`` for memory), measured if possible.

        That is the share of the level's transfer time that does not overlap with other work.
        """
        if self.calibration and level in self.calibration.exposed:
            return self.calibration.exposed[level]
        for cache in self.caches:
            if cache.name == level:
                return cache.exposed
        return self.memory.exposed


def exposed_by(rule: OverlapRule) -> tuple[float, float]:
    """The exposed shares of the innermost cache and of every further level, by an overlap rule."""
    return (1.0 if rule in ("levels", "serial") else 0.0), (0.0 if rule == "full" else 1.0)
