"""Decides from the facts of a host which machine it is, with a reason for every figure.

Levels, sizes and sharing come from the operating system, behaviour comes from the table of
documented architectures. A virtual machine may show a wrong clock and wrong caches. They are taken
as reported, with a note that they are; calibration replaces them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from autotune.domain.machine import CacheLevel, InCore, Machine, Memory
from autotune.measuring.host import architectures
from autotune.measuring.host.architectures import (
    ArchitectureMatch,
    DocumentedCache,
    Microarchitecture,
)
from autotune.measuring.host.host_facts import CacheFacts, HostFacts, gather
from autotune.units import Bytes, BytesPerCycle, Hertz, show

_LINE = Bytes(64)
_WAYS = 8
_CLOCK = Hertz(2.0e9)


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionReason:
    """The reason for one figure: its key, its value, and where the value comes from."""

    key: str
    """Key of the machine file: ``clock``, ``caches.L2``."""
    decided: str
    because: str

    def __str__(self) -> str:
        return f"{self.key}: {self.decided} ({self.because})"


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedMachine:
    """The detected machine, with the reason of every figure."""

    machine: Machine
    reasons: tuple[DetectionReason, ...]


def detect(root: Path = Path("/")) -> Machine:
    """This host as an uncalibrated machine called ``host``; InputError without procfs."""
    return examine(root).machine


def examine(root: Path = Path("/")) -> DetectedMachine:
    """This host as a machine, with the reason of each figure."""
    return decide(gather(root))


def decide(facts: HostFacts) -> DetectedMachine:
    """The machine that the facts of a host describe."""
    match = _match(facts)
    architecture = architectures.ARCHITECTURES.get(match.osaca or "", architectures.UNKNOWN)
    reasons: list[DetectionReason] = []
    cores, threads_per_core = _cores(facts, reasons)
    caches = _caches(facts, match, architecture, (cores, threads_per_core), reasons)
    in_core = _in_core(facts, match, reasons)
    clock = facts.clock or _CLOCK
    reasons.append(
        DetectionReason(
            key="clock",
            decided=show(clock, "frequency"),
            because=facts.clock_source
            + (" (of a guest)" if facts.guest else "")
            + ("; placeholder" if facts.clock is None else "")
            + "; calibration measures it",
        )
    )
    inside = _domain(facts, cores, reasons)
    memory = Memory(cores=inside, capacity=_capacity(facts, cores, inside, reasons))
    sockets = len({facts.packages.get(cpu, 0) for cpu in facts.cpus})
    machine = Machine(
        name="host",
        title=_title(facts, match),
        architecture=facts.architecture,
        clock=clock,
        cores=cores,
        threads_per_core=threads_per_core,
        sockets=sockets,
        caches=caches,
        memory=memory,
        in_core=in_core,
        sources={reason.key: reason.because for reason in reasons},
    )
    return DetectedMachine(machine=machine, reasons=tuple(reasons))


def _match(facts: HostFacts) -> ArchitectureMatch:
    vendor, family = facts.info.get("vendor_id"), facts.number("cpu family")
    if vendor is not None and family is not None:
        model = facts.number("model") or 0
        return architectures.x86(vendor, family, model, facts.number("stepping") or 0, facts.flags)
    implementer, part = facts.number("cpu implementer"), facts.number("cpu part")
    if implementer is not None and part is not None:
        return architectures.arm(implementer, part)
    return ArchitectureMatch(name=facts.info.get("cpu", "unknown processor"), osaca=None)


def _title(facts: HostFacts, match: ArchitectureMatch) -> str:
    name = facts.info.get("model name", "").strip()
    return f"{name} ({match.name})" if name and name != match.name else match.name


def _cores(facts: HostFacts, reasons: list[DetectionReason]) -> tuple[int, int]:
    """The number of usable cores, and of hardware threads on each core."""
    usable = set(facts.cpus)
    groups = [usable.intersection(group) for group in facts.siblings]
    groups = [group for group in groups if group]
    cores, threads = len(groups), max(map(len, groups))
    because = f"{len(usable)} usable CPUs, {threads} hardware threads per core"
    if facts.cpu_limit is not None and facts.cpu_limit < cores:
        cores = max(1, int(facts.cpu_limit))
        because += f"; the control group grants {facts.cpu_limit:g} CPUs"
    reasons.append(DetectionReason(key="cores", decided=str(cores), because=because))
    return cores, threads


def _capacity(
    facts: HostFacts, cores: int, inside: int, reasons: list[DetectionReason]
) -> Bytes | None:
    """The main memory of one NUMA domain; None where the host does not say."""
    if facts.memory is None:
        return None
    domains = max(1, round(cores / inside))
    decided = Bytes(facts.memory // domains)
    because = "the least of MemTotal in /proc/meminfo and the limits of control groups"
    among = f", over {domains} NUMA nodes" if domains > 1 else ""
    reasons.append(
        DetectionReason(
            key="memory.capacity", decided=show(decided, "size"), because=f"{because}{among}"
        )
    )
    return decided


def _domain(facts: HostFacts, cores: int, reasons: list[DetectionReason]) -> int:
    """The number of usable cores in one NUMA domain."""
    usable = set(facts.cpus)
    domains = [usable.intersection(node) for node in facts.nodes]
    domains = [domain for domain in domains if domain]
    if len(domains) <= 1:
        text = "one NUMA node" if domains else "no NUMA node shown: one is assumed"
        reasons.append(DetectionReason(key="memory.cores", decided=str(cores), because=text))
        return cores
    counts = [sum(1 for group in facts.siblings if domain & set(group)) for domain in domains]
    inside = min(cores, max(counts))
    reasons.append(
        DetectionReason(
            key="memory.cores", decided=str(inside), because=f"{len(domains)} NUMA nodes"
        )
    )
    return inside


def _in_core(facts: HostFacts, match: ArchitectureMatch, reasons: list[DetectionReason]) -> InCore:
    ports = architectures.ports(facts.architecture, facts.flags, match)
    if match.osaca is None:
        decided, because = "port table", f"OSACA does not know {match.name}"
    elif match.approximate:
        decided, because = f"OSACA {match.osaca}, nearest", match.name
    else:
        decided, because = f"OSACA {match.osaca}", match.name
    reasons.append(DetectionReason(key="in-core.osaca", decided=decided, because=because))
    reasons.append(DetectionReason(key="in-core.ports", decided=ports.name, because=ports.source))
    return InCore(osaca=match.osaca, approximate=match.approximate, ports=ports.table)


# --- caches -----------------------------------------------------------------------------------


class _DetectedCache(NamedTuple):
    """A cache level without its behaviour, and the source of its size, ways and sharing."""

    number: int
    level: CacheLevel
    source: str


def _caches(
    facts: HostFacts,
    match: ArchitectureMatch,
    architecture: Microarchitecture,
    usable: tuple[int, int],
    reasons: list[DetectionReason],
) -> tuple[CacheLevel, ...]:
    """The levels as the ``usable`` cores, of so many threads each, share them."""
    cores, threads_per_core = usable
    victim = architecture.victim if match.victim is None else match.victim
    levels = []
    for number, sized, note in _ascending(_sized(facts, match, architecture, threads_per_core)):
        name = sized.name
        inbound = architecture.inbound.get(number)
        level = replace(
            sized,
            cores=min(sized.cores, cores),
            inbound=BytesPerCycle(inbound) if inbound else None,
            victim=number in victim,
            exposed=architecture.exposed,
        )
        levels.append(level)
        text = f"{show(level.size, 'size')}, {level.ways} ways, shared by {level.cores}"
        if sized.cores > cores:
            note += f"; of the {sized.cores} cores that share it {cores} may be used"
        if facts.guest and level.cores > 1:
            note += "; a guest sees neither other tenants nor its true share"
        reasons.append(DetectionReason(key=f"caches.{name}", decided=text, because=note))
        if inbound:
            reasons.append(
                DetectionReason(
                    key=f"caches.{name}.inbound",
                    decided=show(inbound, "throughput"),
                    because=architecture.inbound_source,
                )
            )
        if level.victim:
            reasons.append(
                DetectionReason(
                    key=f"caches.{name}.victim",
                    decided="yes",
                    because=architecture.victim_source,
                )
            )
    reasons.append(
        DetectionReason(
            key="caches.exposed",
            decided=f"{architecture.exposed:g}",
            because=architecture.exposed_source + "; calibration measures it",
        )
    )
    return tuple(levels)


def _sized(
    facts: HostFacts,
    match: ArchitectureMatch,
    architecture: Microarchitecture,
    threads_per_core: int,
) -> list[_DetectedCache]:
    shown = [_from_sysfs(cache, threads_per_core) for cache in facts.caches]
    documented = list(architecture.caches)
    reported = _reported_last_level(facts)
    if reported and not any(cache.level == 3 for cache in documented):
        documented.append(DocumentedCache(level=3, size=reported, ways=16, cores=_package(facts)))
    source = f"not shown by sysfs; as documented for {match.osaca}"
    if match.osaca not in architectures.ARCHITECTURES:
        source = "not shown by sysfs, processor unknown: usual sizes, assumed"
    if any(shown):
        # what sysfs does show tells which levels there are
        levels = {cache.level for cache in facts.caches}
        documented = [cache for cache in documented if cache.level in levels]
    by_level = {cache.number: cache for cache in shown if cache}
    for cache in documented:
        if cache.level not in by_level:
            text = source if cache.size != reported else "/proc/cpuinfo, 'cache size'"
            by_level[cache.level] = _fitted(
                cache.level, cache.size, cache.ways, None, cache.cores, text
            )
    return [by_level[level] for level in sorted(by_level)]


def _ascending(caches: Iterable[_DetectedCache]) -> Iterable[_DetectedCache]:
    """The levels that are larger per core than the next inner level; smaller ones have no use."""
    larger: list[_DetectedCache] = []
    for cache in caches:
        if not larger or cache.level.size > larger[-1].level.size:
            larger.append(cache)
    return larger


def _from_sysfs(cache: CacheFacts, threads_per_core: int) -> _DetectedCache | None:
    if cache.size is None:
        return None
    cores = max(1, -(-len(cache.shared) // threads_per_core))
    return _fitted(cache.level, cache.size, cache.ways, cache.line, cores, "sysfs")


def _fitted(
    level: int, size: Bytes, ways: int | None, line: int | None, cores: int, source: str
) -> _DetectedCache:
    """The cache level with the number of ways nearest to the reported one that divides its number
    of lines.
    """
    bytes_per_line = Bytes(line) if line else _LINE
    lines = max(1, size // bytes_per_line)
    target = ways or _WAYS
    best = min((n for n in range(1, min(lines, 4 * target) + 1) if lines % n == 0),
               key=lambda n: (abs(n - target), n))  # fmt: skip
    if best != target:
        source += f"; {best} ways instead of {target}, which do not divide {lines} lines"
    elif ways is None or line is None:
        missing = " and ".join(
            name for name, value in (("ways", ways), ("line", line)) if value is None
        )
        source += f"; {missing} assumed"
    sized = CacheLevel(
        name=f"L{level}",
        size=Bytes(lines * bytes_per_line),
        line=bytes_per_line,
        ways=best,
        cores=cores,
    )
    return _DetectedCache(level, sized, source)


def _reported_last_level(facts: HostFacts) -> Bytes | None:
    """The size of the last level that /proc/cpuinfo of Intel states; AMD's states the
    second level.
    """
    text = facts.info.get("cache size", "").split()
    if facts.info.get("vendor_id") != "GenuineIntel" or len(text) != 2 or text[1] != "KB":
        return None
    return Bytes(int(text[0]) * 1024) if text[0].isdigit() else None


def _package(facts: HostFacts) -> int:
    """The number of cores in the package of the first usable CPU."""
    package = facts.packages.get(facts.cpus[0], 0)
    return sum(1 for group in facts.siblings if facts.packages.get(group[0], 0) == package)
