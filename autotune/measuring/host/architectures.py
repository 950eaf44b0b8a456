"""Documented figures of processors that the operating system does not show, and their lookup.

Names are OSACA's. ``unverified`` in a source marks a figure from memory that no document or
measurement at hand confirms. ``hypothesis`` marks a choice that calibration replaces.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autotune.domain.machine import PortTable
from autotune.units import Bytes

_KI, _MI = 1024, 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedCache:
    """The documented figures of one cache level, for hosts that do not show theirs."""

    level: int
    size: Bytes
    ways: int
    cores: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Microarchitecture:
    """The documented behaviour of the caches of a microarchitecture."""

    inbound: Mapping[int, float]
    """Cache level to bytes per cycle towards the core."""
    inbound_source: str
    exposed: float
    """Exposed share of the transfers of every cache level, before calibration."""
    exposed_source: str
    victim: frozenset[int] = frozenset()
    """Levels that receive only what the next inner level evicts, nothing from memory."""
    victim_source: str = ""
    caches: tuple[DocumentedCache, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchitectureMatch:
    """The architecture whose figures are used for a processor; ``approximate`` where the two are
    only similar.
    """

    name: str
    osaca: str | None
    approximate: bool = False
    victim: frozenset[int] | None = None
    """Victim levels of this processor where they differ from its architecture."""


# --- processors to architectures --------------------------------------------------------------
# likwid's and the Linux kernel's CPU tables. ``~`` marks the nearest architecture that OSACA
# knows. Client parts with a server core's name have an inclusive L3.

_INTEL_6 = {
    "SNB": "2A 2D", "IVB": "3A 3E", "HSW": "3C 3F 45 46", "BDW": "3D 47 4F 56",
    "~SKX": "4E 5E 8E 9E A5 A6", "ICL": "7D 7E A7", "~ICL": "8C 8D", "ICX": "6A 6C",
    "SPR": "8F CF", "~SPR": "97 9A B7 BF AD",
}  # fmt: skip
_AMD = {
    0x17: {"ZEN1": "00-2F 50-5F", "ZEN2": "30-4F 60-7F 90-91 A0-AF"},
    0x19: {"ZEN3": "00-0F 20-5F", "ZEN4": "10-1F 60-AF"},
    0x1A: {"~ZEN4": "00-2F 40-4F 70-7F"},
}
_ARM = {
    (0x41, 0xD08): ("Arm Cortex-A72", "A72"),
    (0x41, 0xD0C): ("Arm Neoverse N1", "N1"),
    (0x41, 0xD40): ("Arm Neoverse V1", "~V2"),
    (0x41, 0xD49): ("Arm Neoverse N2", "~V2"),
    (0x41, 0xD4F): ("Arm Neoverse V2", "V2"),
    (0x42, 0x516): ("Cavium ThunderX2", "TX2"),
    (0x43, 0x0AF): ("Marvell ThunderX2", "TX2"),
    (0x46, 0x001): ("Fujitsu A64FX", "A64FX"),
    (0x48, 0xD01): ("HiSilicon TaiShan v110", "TSV110"),
}
_SINCE_SPR = frozenset({"amx_tile", "avx512_fp16"})
"""Instruction sets that no Intel core had before Golden Cove, that of Sapphire Rapids."""
_INCLUSIVE_CLIENTS = {0x4E, 0x5E, 0x8E, 0x9E, 0xA5, 0xA6, 0x7D, 0x7E, 0xA7, 0x8C, 0x8D}


def _within(model: int, ranges: str) -> bool:
    for part in ranges.split():
        low, _, high = part.partition("-")
        if int(low, 16) <= model <= int(high or low, 16):
            return True
    return False


def _match(name: str, label: str, victim: frozenset[int] | None = None) -> ArchitectureMatch:
    return ArchitectureMatch(
        name=name, osaca=label.removeprefix("~"), approximate=label[0] == "~", victim=victim
    )


def x86(
    vendor: str, family: int, model: int, stepping: int, flags: frozenset[str] = frozenset()
) -> ArchitectureMatch:
    """The architecture of an x86 processor by vendor, family and model.

    A hypervisor may show an older model than the processor is: ``flags``, its instruction sets,
    then tell the oldest architecture that it can be.
    """
    name = f"{vendor} family {family} model {model}"
    if vendor == "GenuineIntel" and family == 6:
        if _SINCE_SPR & flags and not _within(model, f"{_INTEL_6['SPR']} {_INTEL_6['~SPR']}"):
            shown = sorted(_SINCE_SPR & flags)[0]
            return _match(f"{name} that has {shown}: Sapphire Rapids or later", "~SPR")
        if model == 0x55:
            return _match(name, "SKX" if stepping <= 4 else "CSX")
        victim = frozenset[int]() if model in _INCLUSIVE_CLIENTS else None
        for label, ranges in _INTEL_6.items():
            if _within(model, ranges):
                return _match(name, label, victim)
    if vendor in ("AuthenticAMD", "HygonGenuine"):
        for label, ranges in _AMD.get(family, {}).items():
            if _within(model, ranges):
                return _match(name, label)
        if vendor == "HygonGenuine" and family == 0x18:
            return _match(name, "~ZEN1")
    return ArchitectureMatch(name=name, osaca=None)


def arm(implementer: int, part: int) -> ArchitectureMatch:
    """The architecture of an ARM processor by implementer and part number."""
    if (implementer, part) in _ARM:
        name, label = _ARM[implementer, part]
        return _match(name, label)
    if implementer == 0x61:
        return _match("Apple", "~M1")
    return ArchitectureMatch(name=f"implementer 0x{implementer:02x} part 0x{part:03x}", osaca=None)


# --- behaviour ------------------------------------------------------------------------------------

_SERIAL = "serial as Haswell's (kerncraft's machine files, YaskSite); hypothesis"
_ZEN_OVERLAP = "full overlap within caches (kerncraft's Zen 2 file; measured on Zen 4); hypothesis"
_ARM_SERIAL = "serial as ThunderX2's (kerncraft's machine file); hypothesis"
_ZEN_VICTIM = "AMD Zen: L3 takes the victims of L2 (Software Optimization Guides)"
_MESH_VICTIM = "Intel Xeon Scalable: non-inclusive L3 (Optimization Reference Manual)"
_NOMINAL = "nominal width, unverified"


def _zen(
    l2: DocumentedCache, l3: DocumentedCache, l3_inbound: float, source: str
) -> Microarchitecture:
    return Microarchitecture(
        inbound={2: 32.0, 3: l3_inbound},
        inbound_source=source,
        exposed=0.0,
        exposed_source=_ZEN_OVERLAP,
        victim=frozenset({3}),
        victim_source=_ZEN_VICTIM,
        caches=(DocumentedCache(level=1, size=Bytes(32 * _KI), ways=8), l2, l3),
    )


def _intel(
    l1: tuple[int, int], l2: tuple[int, int], inbound: tuple[float, float], victim: bool
) -> Microarchitecture:
    return Microarchitecture(
        inbound={2: inbound[0], 3: inbound[1]},
        inbound_source=_NOMINAL,
        exposed=1.0,
        exposed_source=_SERIAL,
        victim=frozenset({3}) if victim else frozenset(),
        victim_source=_MESH_VICTIM if victim else "",
        caches=tuple(
            DocumentedCache(level=level, size=Bytes(kib * _KI), ways=ways)
            for level, (kib, ways) in ((1, l1), (2, l2))
        ),
    )


def _arm(l1: tuple[int, int], l2: tuple[int, int, int]) -> Microarchitecture:
    return Microarchitecture(
        inbound={2: 32.0, 3: 16.0},
        inbound_source=_NOMINAL,
        exposed=1.0,
        exposed_source=_ARM_SERIAL,
        caches=(
            DocumentedCache(level=1, size=Bytes(l1[0] * _KI), ways=l1[1]),
            DocumentedCache(level=2, size=Bytes(l2[0] * _KI), ways=l2[1], cores=l2[2]),
        ),
    )


def _l2(kib: int) -> DocumentedCache:
    return DocumentedCache(level=2, size=Bytes(kib * _KI), ways=8)


def _l3(mib: int, cores: int) -> DocumentedCache:
    return DocumentedCache(level=3, size=Bytes(mib * _MI), ways=16, cores=cores)


ARCHITECTURES: Mapping[str, Microarchitecture] = {
    "SNB": _intel((32, 8), (256, 8), (32.0, 32.0), victim=False),
    "IVB": _intel((32, 8), (256, 8), (32.0, 32.0), victim=False),
    "HSW": _intel((32, 8), (256, 8), (64.0, 32.0), victim=False),
    "BDW": _intel((32, 8), (256, 8), (64.0, 32.0), victim=False),
    "SKX": _intel((32, 8), (1024, 16), (64.0, 16.0), victim=True),
    "CSX": _intel((32, 8), (1024, 16), (64.0, 16.0), victim=True),
    "ICL": _intel((48, 12), (512, 8), (64.0, 16.0), victim=False),
    "ICX": _intel((48, 12), (1280, 20), (64.0, 16.0), victim=True),
    "SPR": _intel((48, 12), (2048, 16), (64.0, 16.0), victim=True),
    "ZEN1": _zen(_l2(512), _l3(8, 4), 32.0, _NOMINAL),
    "ZEN2": _zen(_l2(512), _l3(16, 4), 32.0, _NOMINAL),
    "ZEN3": _zen(_l2(512), _l3(32, 8), 27.0, "as measured on Zen 4; hypothesis"),
    "ZEN4": _zen(_l2(1024), _l3(32, 8), 27.0, "measured on a Zen 4 guest, 3.67 GHz"),
    "A72": _arm((32, 2), (1024, 16, 2)),
    "N1": _arm((64, 4), (1024, 8, 1)),
    "V2": _arm((64, 4), (2048, 8, 1)),
    "TX2": _arm((32, 8), (256, 8, 1)),
    "A64FX": _arm((64, 4), (8192, 16, 12)),
    "TSV110": _arm((64, 4), (512, 8, 1)),
    "M1": _arm((128, 8), (12288, 12, 4)),
}
UNKNOWN = Microarchitecture(
    inbound={2: 32.0, 3: 16.0},
    inbound_source="a usual width; hypothesis",
    exposed=1.0,
    exposed_source="serial, the pessimistic rule; hypothesis",
    caches=(
        DocumentedCache(level=1, size=Bytes(32 * _KI), ways=8),
        DocumentedCache(level=2, size=Bytes(512 * _KI), ways=8),
    ),
)


# --- port tables ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class GenericPorts:
    """A port table for every processor that has certain instruction-set flags."""

    name: str
    needs: frozenset[str]
    """Flags of /proc/cpuinfo that the processor must have."""
    table: PortTable
    source: str = "usual widths of this instruction set; hypothesis"


def _ports(vector: int, loads: float, memory: float, arithmetic: float, fused: bool, divide: float
) -> PortTable:  # fmt: skip
    return PortTable(
        vector=Bytes(vector),
        loads=loads,
        stores=1.0,
        memory_operations=memory,
        adds=arithmetic,
        multiplies=arithmetic,
        fused=arithmetic if fused else 0.0,
        floating=2.0,
        divide=divide,
        issue=4.0,
    )


BULLDOZER_PORTS = GenericPorts(
    name="AMD family 15h",
    needs=frozenset(),
    table=_ports(16, 2.0, 2.0, 2.0, fused=True, divide=5.0),
    source="one busy core of a module: 2 memory operations of 128 bit, 2 FMA pipes"
    " (GCC's bdver1 and LLVM's BdVer2 models; AMD Software Optimization Guide 47414)",
)
GENERIC_PORTS: Mapping[str, tuple[GenericPorts, ...]] = {
    "x86_64": (
        GenericPorts(name="AVX-512", needs=frozenset({"avx512f"}),
                     table=_ports(64, 2.0, 3.0, 2.0, fused=True, divide=16.0)),
        GenericPorts(name="AVX2 and FMA", needs=frozenset({"avx2", "fma"}),
                     table=_ports(32, 2.0, 3.0, 2.0, fused=True, divide=8.0)),
        GenericPorts(name="AVX", needs=frozenset({"avx"}),
                     table=_ports(32, 1.0, 2.0, 1.0, fused=False, divide=20.0)),
        GenericPorts(name="SSE2", needs=frozenset(),
                     table=_ports(16, 1.0, 2.0, 1.0, fused=False, divide=10.0)),
    ),
    "aarch64": (
        GenericPorts(name="NEON", needs=frozenset(),
                     table=_ports(16, 2.0, 2.0, 2.0, fused=True, divide=10.0)),
    ),
}  # fmt: skip
_ZEN_PIPES = "2 pipes multiply, 2 more add (AMD Software Optimization Guides 55723 and 57647)"
SCALAR_PORTS = GenericPorts(
    name="scalar",
    needs=frozenset(),
    table=_ports(8, 1.0, 1.0, 1.0, fused=False, divide=20.0),
)


def ports(architecture: str, flags: frozenset[str], match: ArchitectureMatch) -> GenericPorts:
    """The port table of a processor: the documented one if there is one, else one by its
    instruction set.
    """
    if match.osaca is None and match.name.startswith("AuthenticAMD family 21 "):
        return BULLDOZER_PORTS
    tables = (*GENERIC_PORTS.get(architecture, ()), SCALAR_PORTS)
    usual = next(generic for generic in tables if generic.needs <= flags)
    if (match.osaca or "").startswith("ZEN"):
        table = replace(usual.table, floating=2 * usual.table.floating)
        return replace(usual, table=table, source=f"{usual.source}; {_ZEN_PIPES}")
    return usual
