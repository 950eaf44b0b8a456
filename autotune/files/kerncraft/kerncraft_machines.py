"""Reads machine files of kerncraft (Hammer et al. 2017) as machines.

Such a file is recognised by its key ``kerncraft version``. The keys that kerncraft 0.8.18 reads for
its ECM model are read here too; all other keys are ignored. The text of the file is kept, so that
the engine kerncraft receives it unchanged.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune import paths
from autotune.domain.machine import (
    BENCHMARKS,
    CacheLevel,
    Duplex,
    InCore,
    Machine,
    Memory,
    Streaming,
)
from autotune.domain.machine_checks import impossible_clock
from autotune.errors import Fault, describe, one_of
from autotune.files.parsing import yaml_document as documents
from autotune.files.parsing.yaml_document import Document, Keys, Plain
from autotune.units import Bytes, BytesPerCycle, BytesPerSecond, Cycles, Hertz

OLDEST, NEWEST = "0.8.3.dev0", "0.8.18"

_KEYS = re.compile(r"""^(["']?)(kerncraft version|memory hierarchy)\1\s*:""", re.MULTILINE)
"""Keys of kerncraft's machine files that ours do not have."""
_TAGS = frozenset({"tag:yaml.org,2002:omap"})
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ([kMGTPE]?)(\S+)")
_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
_ISA = {"x86": "x86_64", "x86_64": "x86_64", "aarch64": "aarch64"}
_MEMORY = "full socket memory bandwidth"
_OSACA = "OSACA"
_SOURCED = ("clock", "cores", "memory.saturated", "in_core.osaca")

_TRANSFERS = "the time of transfers between caches"
_ECM = "the ECM model"


def is_kerncraft(text: str) -> bool:
    """Whether a text looks like a machine file of kerncraft."""
    return _KEYS.search(text) is not None


def read_kerncraft(faults: list[Fault], text: str, path: Path) -> Machine | None:
    """The machine in a machine file of kerncraft; None with its faults added to ``faults`` where it
    cannot be read.
    """
    faults_before = len(faults)
    document = documents.compose(text, path, faults, tags=_TAGS)
    if document is None:
        return None
    reader = _Reader(faults, document)
    if not reader.version():
        return None
    machine = reader.machine(paths.stem(path), text)
    return machine if len(faults) == faults_before else None


@dataclass(slots=True)
class _Reader:
    """Reads values by their keys; a value that cannot be read is noted as a fault and
    becomes None.
    """

    faults: list[Fault]
    document: Document

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        where = self.document.place(keys)
        self.faults.append(Fault(where=where, found=found, expected=expected, hint=hint))

    def version(self) -> bool:
        value = self.need(("kerncraft version",), "telling which keys the file has")
        if value is None:
            return False
        version = _comparable(str(value))
        oldest, newest = _comparable(OLDEST), _comparable(NEWEST)
        try:
            if oldest <= version <= newest:
                return True
        except TypeError:
            pass
        self.add(
            ("kerncraft version",),
            f"kerncraft version {value}",
            f"{OLDEST} to {NEWEST}: kerncraft 0.8.18 reads no other machine files",
        )
        return False

    # --- values -----------------------------------------------------------------------------

    def get(self, keys: Keys) -> Plain:
        """The value at these keys; None where there is none."""
        value: Plain = self.document.root
        for key in keys:
            if isinstance(value, dict) and isinstance(key, str):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and key < len(value):
                value = value[key]
            else:
                return None
        return value

    def need(self, keys: Keys, use: str) -> Plain:
        """The value at these keys; a fault is noted where there is none."""
        value = self.get(keys)
        if value is None:
            self.add(keys[:-1], f"{_path(keys)} is missing", f"for {use}")
        return value

    def whole(self, keys: Keys, use: str) -> int | None:
        value = self.need(keys, use)
        if value is None:
            return None
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0
        if number > 0 and number == int(number):
            return int(number)
        self.add(keys, f"{_path(keys)}: {describe(value)}", "a positive whole number")
        return None

    def optional(self, keys: Keys) -> int:
        """The count at these keys; 1 where the file does not state it."""
        return 1 if self.get(keys) is None else self.whole(keys, "the size of a node") or 1

    def flag(self, keys: Keys, use: str) -> bool | None:
        value = self.need(keys, use)
        if value is None or isinstance(value, bool):
            return value
        self.add(keys, f"{_path(keys)}: {describe(value)}", "true or false")
        return None

    def quantity(self, keys: Keys, unit: str, use: str) -> float | None:
        value = self.need(keys, use)
        if value is None:
            return None
        match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
        expected = f"a number, a space and a unit: 2 {unit} or 2 G{unit}"
        if match is None or match[3] != unit or float(match[1]) <= 0:
            hint = ""
            if isinstance(value, str) and re.search(r"[kKMG]i", value):
                hint = "kerncraft reads binary prefixes as decimal ones: write kB, MB, GB"
            self.add(keys, f"{_path(keys)}: {describe(value)}", expected, hint)
            return None
        if match[2] not in _PREFIXES:
            hint = f"kerncraft 0.8.18 misreads the prefix {match[2]}: write G{unit}"
            self.add(keys, f"{_path(keys)}: {describe(value)}", expected, hint)
            return None
        return float(match[1]) * _PREFIXES[match[2]]

    def size(self, keys: Keys, use: str) -> int | None:
        """The size in bytes at these keys, with a unit or as a plain number."""
        if isinstance(self.get(keys), int):
            return self.whole(keys, use)
        size = self.quantity(keys, "B", use)
        return None if size is None else int(size)

    # --- parts ------------------------------------------------------------------------------

    def machine(self, name: str, text: str) -> Machine | None:
        faults_before = len(self.faults)
        clock = self.quantity(("clock",), "Hz", "turning cycles into seconds")
        for misfit in impossible_clock(Hertz(clock)) if clock is not None else ():
            self.add(misfit.keys, misfit.found, misfit.expected)
        per_socket = self.whole(("cores per socket",), f"{_ECM} over cores")
        domain = self.whole(("cores per NUMA domain",), "the shared cache and the bandwidth")
        self.size(("cacheline size",), _ECM)
        architecture = self.isa()
        levels = self.levels()
        caches = [self.cache(i, levels) for i in range(len(levels) - 1)]
        memory = self.main_memory(len(levels) - 1, levels, domain or 1) if levels else None
        in_core = self.in_core()
        sockets = self.optional(("sockets",))
        threads = self.optional(("threads per core",))
        if len(self.faults) > faults_before or memory is None:
            return None
        assert clock is not None
        assert per_socket is not None
        shown = documents.shown(self.document.path)
        try:
            return Machine(
                name=name,
                title=" ".join(str(self.get(("model name",)) or name).split()),
                architecture=architecture,
                clock=Hertz(clock),
                cores=per_socket * sockets,
                threads_per_core=threads,
                sockets=sockets,
                caches=tuple(cache for cache in caches if cache),
                memory=memory,
                in_core=in_core,
                compilers=self.compilers(),
                sources=dict.fromkeys(_SOURCED, f"kerncraft's machine file {shown}"),
                kerncraft=text,
            )
        except ValueError as error:
            self.add(("memory hierarchy",), str(error))
            return None

    def isa(self) -> str:
        value = self.need(("isa",), "the in-core analysis")
        isa = _ISA.get(value.lower()) if isinstance(value, str) else None
        if value is not None and isa is None:
            self.add(("isa",), f"isa: {describe(value)}", "x86 or aarch64")
        return isa or ""

    def levels(self) -> list[str]:
        """The names of the memory levels, main memory last."""
        value = self.need(("memory hierarchy",), _ECM)
        if value is None:
            return []
        if not isinstance(value, list) or len(value) < 2:
            self.add(
                ("memory hierarchy",),
                f"memory hierarchy: {describe(value)}",
                "a list of at least one cache and the memory",
            )
            return []
        names = [self.need(("memory hierarchy", i, "level"), _ECM) for i in range(len(value))]
        if None in names:
            return []
        return [str(name) for name in names]

    def cache(self, i: int, levels: Sequence[str]) -> CacheLevel | None:
        at: Keys = ("memory hierarchy", i)
        group: Keys = (*at, "cache per group")
        name = levels[i]
        if self.need(group, f"the traffic through {name}") is None:
            return None
        sets = self.whole((*group, "sets"), f"the size of {name}")
        ways = self.whole((*group, "ways"), f"the size of {name}")
        line = self.size((*group, "cl_size"), f"the size of {name}")
        cores = self.whole((*at, "cores per group"), "the share of a core")
        inbound, duplex = self.link(at) if i else (None, None)
        exposed = self.exposed(at)
        if sets is None or ways is None or line is None or cores is None or exposed is None:
            return None
        inner = ("memory hierarchy", i - 1, "cache per group", "victims_to")
        allocate, back = self.get((*group, "write_allocate")), self.get((*group, "write_back"))
        try:
            return CacheLevel(
                name=name,
                size=Bytes(sets * ways * line),
                line=Bytes(line),
                ways=ways,
                cores=cores,
                inbound=inbound,
                duplex=duplex,
                write_allocate=allocate if isinstance(allocate, bool) else True,
                write_back=back if isinstance(back, bool) else True,
                victim=i > 0 and self.get(inner) == name,
                exposed=exposed,
            )
        except ValueError as error:
            self.add(at, str(error))
            return None

    def exposed(self, at: Keys) -> float | None:
        overlaps = self.flag((*at, "transfers overlap"), _ECM)
        return None if overlaps is None else 0.0 if overlaps else 1.0

    def link(self, at: Keys) -> tuple[BytesPerCycle | None, Duplex | None]:
        """The throughput of the link of a cache towards the core, and whether the link
        is duplex.
        """
        keys: Keys = (*at, "upstream throughput")
        if self.need(keys, _TRANSFERS) is None:
            return None, None
        rate = self.quantity((*keys, 0), "B/cy", _TRANSFERS)
        return (None if rate is None else BytesPerCycle(rate)), self.duplex(keys)

    def duplex(self, keys: Keys) -> Duplex | None:
        value = self.get((*keys, 1))
        if value == "half-duplex":
            return "half"
        if value == "full-duplex":
            return "full"
        self.add((*keys, 1), f"{describe(value)}", "half-duplex or full-duplex")
        return None

    def main_memory(self, i: int, levels: Sequence[str], domain: int) -> Memory | None:
        at: Keys = ("memory hierarchy", i)
        keys: Keys = (*at, "upstream throughput")
        duplex = None
        if self.need(keys, "the time of transfers from memory") is not None:
            if self.get((*keys, 0)) != _MEMORY:
                found = f"upstream throughput: {describe(self.get((*keys, 0)))}"
                self.add((*keys, 0), found, f"{_MEMORY!r} of the last level")
            duplex = self.duplex(keys)
        group = self.whole((*at, "cores per group"), "the bandwidth")
        exposed = self.exposed(at)
        streaming = self.benchmarks(levels[i], min(group or domain, domain))
        load = streaming.get("load")
        if exposed is None or load is None:
            return None
        penalties = [
            self.get((*at, f"penalty cycles per cacheline {w}")) for w in ("load", "store")
        ]
        cycles = [Cycles(float(p)) if isinstance(p, int | float) else None for p in penalties]
        return Memory(
            saturated=load.saturated,
            single=load.single,
            cores=domain,
            exposed=exposed,
            duplex=duplex,
            penalty_load=cycles[0],
            penalty_store=cycles[1],
            benchmarks={name: streaming[name] for name in BENCHMARKS if name in streaming},
        )

    def benchmarks(self, level: str, cores: int) -> dict[str, Streaming]:
        """Raw bandwidths of every streaming kernel: on one core, and the largest on
        several cores.
        """
        use = "the choice of the memory bandwidth, even for data in caches"
        kernels = self.need(("benchmarks", "kernels"), use)
        at: Keys = ("benchmarks", "measurements", level, "1")
        results = self.need((*at, "results"), use)
        if kernels is None or results is None:
            return {}
        if self.need(("benchmarks", "kernels", "load"), use) is None:
            return {}
        self.need((*at, "threads per core"), use)
        benchmarks_read = {}
        for name in kernels if isinstance(kernels, dict) else {}:
            for streams in ("read streams", "read+write streams", "write streams"):
                self.need(("benchmarks", "kernels", name, streams, "streams"), use)
                self.need(("benchmarks", "kernels", name, streams, "bytes"), use)
            values = self.bandwidths((*at, "results", name), cores, use)
            if values:
                benchmarks_read[name] = Streaming(saturated=max(values), single=values[0])
        return benchmarks_read

    def bandwidths(self, keys: Keys, cores: int, use: str) -> list[BytesPerSecond]:
        value = self.need(keys, use)
        if value is None:
            return []
        if not isinstance(value, list) or not value:
            self.add(keys, f"{_path(keys)}: {describe(value)}", "a bandwidth per number of cores")
            return []
        read = [self.quantity((*keys, i), "B/s", use) for i in range(min(len(value), cores))]
        return [BytesPerSecond(bandwidth) for bandwidth in read if bandwidth is not None]

    def in_core(self) -> InCore:
        use = "the in-core analysis"
        if self.need(("in-core model",), use) is None:
            return InCore()
        models = self.ordered(("in-core model",))
        if _OSACA not in models:
            self.add(
                ("in-core model",),
                f"in-core model: {one_of(list(models))}",
                "OSACA: IACA is discontinued, and kerncraft 0.8.18 cannot drive LLVM-MCA",
            )
            return InCore()
        ports = self.ports("overlapping model"), self.ports("non-overlapping model")
        try:
            return InCore(osaca=models[_OSACA], overlapping=ports[0], non_overlapping=ports[1])
        except ValueError as error:
            self.add(("in-core model",), str(error))
            return InCore()

    def ports(self, model: str) -> tuple[str, ...]:
        keys: Keys = (model, "ports")
        value = self.need(keys, "the in-core analysis")
        if isinstance(value, dict):
            keys = (model, "ports", _OSACA)
            value = self.need(keys, "the in-core analysis")
        if value is None:
            return ()
        if isinstance(value, list):
            return tuple(str(port) for port in value)
        self.add(keys, f"{_path(keys)}: {describe(value)}", "a list of ports")
        return ()

    def compilers(self) -> dict[str, str]:
        return self.ordered(("compiler",))

    def ordered(self, keys: Keys) -> dict[str, str]:
        """An ordered mapping: a list of mappings with one key each, or a plain mapping."""
        value = self.get(keys)
        items = value if isinstance(value, list) else [value]
        return {
            name: str(content)
            for item in items
            if isinstance(item, dict)
            for name, content in item.items()
        }


def _comparable(version: str) -> list[int | str]:
    """The parts of a version in a form that compares as kerncraft compares versions."""
    parts = re.findall(r"\d+|[A-Za-z]+", version)
    return [int(part) if part.isdigit() else part for part in parts]


def _path(keys: Keys) -> str:
    return " / ".join(str(key) for key in keys)
