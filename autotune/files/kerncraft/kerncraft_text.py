"""Writes a machine as a machine file of kerncraft 0.8.18 (Hammer et al. 2017).

Features that kerncraft cannot express are written so that its model still counts correctly:

* a write-through cache is written as a write-back cache that does not allocate: otherwise every
  store of an element would count as a line;
* a cache that some cores of a NUMA domain share (a module's) is written as the share of one core:
  otherwise it would be divided by all running cores;
* quantities have the prefixes k, M and G only: kerncraft misreads other prefixes.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from autotune.domain.machine import CacheLevel, Machine, Streaming
from autotune.errors import Fault, InputError
from autotune.files.kerncraft.osaca_ports import MARCH, PORTS

VERSION = "0.8.18"

_STREAMS = {
    # read streams, read+write streams, write streams
    "load": (1, 0, 0),
    "copy": (1, 0, 1),
    "update": (1, 1, 1),
    "triad": (3, 0, 1),
    "daxpy": (2, 1, 1),
}
_FLAGS = "-O3"
_COMPILERS = re.compile(r"^compiler[ \t]*:.*(?:\n(?:[ \t]+\S.*|-.*|[ \t]*(?=\n)))*", re.MULTILINE)
"""The key ``compiler`` with its value."""
_ISA = {"x86_64": "x86", "aarch64": "aarch64"}


def kerncraft_text(machine: Machine, *, in_core: bool = True) -> str:
    """The text of a machine file of kerncraft for a machine.

    A machine that was read from such a file gives this file's text unchanged. Without ``in_core``
    the part that only kerncraft's in-core analysis needs is left out. Raises InputError naming
    every missing figure.
    """
    if machine.kerncraft is not None:
        return machine.kerncraft
    gaps = kerncraft_gaps(machine, in_core=in_core)
    if gaps:
        where = f"machine {machine.name}"
        raise InputError(
            *(Fault(where=where, found=f"{name} is missing: {use} needs it") for name, use in gaps)
        )
    lines = [*_head(machine), *(_in_core(machine) if in_core else ()), *_hierarchy(machine)]
    return "\n".join([*lines, *_benchmarks(machine), ""])


def with_compilers(text: str, compilers: Mapping[str, str]) -> str:
    """The text of a machine file of kerncraft with other compilers, names to flags in order."""
    lines = [f"- {name}: {_quoted(flags)}" for name, flags in compilers.items()]
    block = "\n".join(["compiler: !!omap", *lines])
    return _COMPILERS.sub(lambda _: block, text, count=1)


def kerncraft_gaps(machine: Machine, *, in_core: bool = True) -> list[tuple[str, str]]:
    """The figures that a machine lacks for kerncraft, as pairs (figure, use)."""
    gaps = []
    for cache in machine.caches[1:]:
        if cache.inbound is None:
            gaps.append((f"caches.{cache.name}.inbound", "the engine kerncraft"))
    if machine.load_bandwidth is None:
        gaps.append(("memory.saturated", "the engine kerncraft, even for data in caches"))
    if in_core:
        if machine.architecture not in _ISA:
            gaps.append((f"support for {machine.architecture} in OSACA", "the engine kerncraft"))
        elif machine.in_core.osaca is None:
            gaps.append(("in_core.osaca", "the engine kerncraft (through OSACA)"))
        elif not all(_ports(machine)):
            gaps.append(("in_core.overlapping and non_overlapping", "the engine kerncraft"))
    return gaps


def _ports(machine: Machine) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The overlapping and the non-overlapping ports of OSACA's architecture."""
    in_core = machine.in_core
    usual_ports = PORTS.get((in_core.osaca or "").upper(), ((), ()))
    return in_core.overlapping or usual_ports[0], in_core.non_overlapping or usual_ports[1]


def _head(machine: Machine) -> Iterator[str]:
    sockets = machine.sockets if machine.cores % machine.sockets == 0 else 1
    per_socket = machine.cores // sockets
    domain = _domain(machine)
    yield f"kerncraft version: {VERSION}"
    yield f"model name: {_quoted(machine.title or machine.name)}"
    yield f"model type: {_quoted(machine.name)}"
    yield f"clock: {_quantity(machine.frequency, 'G', 'Hz')}"
    yield f"sockets: {sockets}"
    yield f"cores per socket: {per_socket}"
    yield f"threads per core: {machine.threads_per_core}"
    yield f"NUMA domains per socket: {max(1, per_socket // domain)}"
    yield f"cores per NUMA domain: {domain}"
    yield f"cacheline size: {machine.line} B"
    yield f"write-allocate: {_truth(machine.caches[-1].write_allocate)}"


def _domain(machine: Machine) -> int:
    return min(machine.memory.cores, machine.cores)


def _in_core(machine: Machine) -> Iterator[str]:
    overlapping, other = _ports(machine)
    yield f"isa: {_ISA[machine.architecture]}"
    yield "in-core model: !!omap"
    yield f"- OSACA: {machine.in_core.osaca}"
    yield "compiler: !!omap"
    march = MARCH.get((machine.in_core.osaca or "").upper())
    usual = {"gcc": f"{_FLAGS} -march={march}" if march else _FLAGS}
    for compiler, flags in (machine.compilers or usual).items():
        yield f"- {compiler}: {_quoted(flags)}"
    for name, ports in (("overlapping", overlapping), ("non-overlapping", other)):
        yield f"{name} model:"
        yield "  ports:"
        yield f"    OSACA: [{', '.join(map(_quoted, ports))}]"
        yield "  performance counter metric: none"


def _hierarchy(machine: Machine) -> Iterator[str]:
    overlap = _overlap(machine)
    yield "memory hierarchy:"
    for index, cache in enumerate(machine.caches):
        outer = machine.caches[index + 1] if index + 1 < len(machine.caches) else None
        cores, sets = _share(cache, _domain(machine))
        throughput = (
            f"{_plain(cache.inbound or 0)} B/cy, {cache.duplex or _duplex(cache.outward)}-duplex"
            if index
            else "architecture code analyzer, []"
        )
        yield f"- level: {cache.name}"
        yield "  cache per group: {" + ", ".join(_cache(cache, outer, sets)) + "}"
        yield f"  cores per group: {cores}"
        yield f"  size per group: {_quantity(sets * cache.ways * cache.line, 'k', 'B')}"
        yield f"  upstream throughput: [{throughput}]"
        yield f"  transfers overlap: {_truth(overlap[index])}"
    memory = machine.memory
    yield "- level: MEM"
    yield f"  cores per group: {_domain(machine)}"
    duplex = memory.duplex or _duplex(memory.outward)
    yield f"  upstream throughput: [full socket memory bandwidth, {duplex}-duplex]"
    yield f"  transfers overlap: {_truth(overlap[-1])}"
    yield "  size per group:"
    for name, cycles in (("load", memory.penalty_load), ("store", memory.penalty_store)):
        if cycles is not None:
            yield f"  penalty cycles per cacheline {name}: {_plain(cycles)}"


def _duplex(outward: float | None) -> str:
    return "full" if outward is None else "half"


def _overlap(machine: Machine) -> list[bool]:
    """For every level, whether its transfers overlap; kerncraft allows it for the innermost levels
    without a gap.
    """
    shares = [machine.exposed(name) for name in (*(c.name for c in machine.caches), "MEM")]
    levels = [share < 0.5 for share in shares]
    first = levels.index(False) if False in levels else len(levels)
    return [level and index < first for index, level in enumerate(levels)]


def _cache(cache: CacheLevel, outer: CacheLevel | None, sets: int) -> Iterator[str]:
    yield f"sets: {sets}"
    yield f"ways: {cache.ways}"
    yield f"cl_size: {cache.line}"
    yield "replacement_policy: LRU"
    yield f"write_allocate: {_truth(cache.write_allocate and not cache.victim)}"
    yield "write_back: true"
    if outer is None:
        return
    if outer.victim:
        yield f"victims_to: {outer.name}"
    else:
        yield f"load_from: {outer.name}"
    yield f"store_to: {outer.name}"


def _share(cache: CacheLevel, domain: int) -> tuple[int, int]:
    """The cores per group and the sets of a cache; kerncraft divides a cache by all running cores
    or by none.
    """
    if cache.cores in (1, domain):
        return cache.cores, cache.sets
    if cache.cores < domain:
        return 1, max(1, cache.sets // cache.cores)
    return domain, max(1, cache.sets * domain // cache.cores)


def _benchmarks(machine: Machine) -> Iterator[str]:
    memory, domain = machine.memory, _domain(machine)
    load = machine.load_bandwidth
    assert load is not None, "checked before"
    kernels = {"load": load, **memory.benchmarks}
    yield "benchmarks:"
    yield "  kernels:"
    for name in kernels:
        yield f"    {name}:"
        for what, streams in zip(
            ("read streams", "read+write streams", "write streams"), _STREAMS[name], strict=True
        ):
            yield f"      {what}: {{streams: {streams}, bytes: {8 * streams} B}}"
        yield "      FLOPs per iteration: 0"
    counts = range(1, domain + 1)
    yield "  measurements:"
    yield "    MEM:"
    yield "      1:"
    yield "        threads per core: 1"
    yield f"        cores: [{', '.join(map(str, counts))}]"
    yield f"        threads: [{', '.join(map(str, counts))}]"
    yield "        results:"
    for name, streaming in kernels.items():
        values = ", ".join(_quantity(_bandwidth(streaming, c, domain), "G", "B/s") for c in counts)
        yield f"          {name}: [{values}]"


def _bandwidth(streaming: Streaming, cores: int, domain: int) -> float:
    """The bandwidth of several cores: that of one core times their number, at most the saturated
    bandwidth.
    """
    if streaming.single is None or cores == domain:
        return streaming.saturated
    return min(cores * streaming.single, streaming.saturated)


def _quantity(value: float, prefix: str, unit: str) -> str:
    return f"{_plain(value / {'k': 1e3, 'M': 1e6, 'G': 1e9}[prefix])} {prefix}{unit}"


def _plain(value: float) -> str:
    """A number without an exponent."""
    text = format(Decimal(repr(float(value))), "f")
    return text.removesuffix(".0")


def _quoted(text: str) -> str:
    return "'" + " ".join(text.split()).replace("'", "''") + "'"


def _truth(value: bool) -> str:
    return "true" if value else "false"
