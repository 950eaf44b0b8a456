"""Machines from YAML (schema autotune.machine/1).

A number may stand alone or with its source: ``{value: 2.3 GHz, source: ..., unverified: true}``.
"""

from pathlib import Path
from typing import Literal

from pydantic import Field

from autotune.config.calibrations import CalibrationModel, build_calibration
from autotune.config.document import Document, Keys, Plain, describe
from autotune.config.fields import (
    Bandwidth,
    CycleCount,
    Frequency,
    Model,
    Size,
    Text,
    Throughput,
    Time,
)
from autotune.config.session import Session
from autotune.config.validate import validate
from autotune.errors import nearest
from autotune.machine import CacheLevel, InCore, Machine, Memory, PortTable
from autotune.units import show

SCHEMA = "autotune.machine/1"
UNVERIFIED = "(unverified)"
"""The end of a source that says so of its number."""


class _Cache(Model):
    name: Text
    size: Size = Field(description="a size such as 32 KiB: decides which reuse hits this level")
    line: Size = Field(description="a size such as 64 B: the unit of transfers")
    ways: int = Field(ge=1, description="the associativity: decides where padding matters")
    sets: int = Field(ge=1, description="the number of sets; sets x ways x line is the size")
    cores: int = Field(default=1, ge=1)
    inbound: Throughput | None = None
    outbound: Throughput | None = None
    write_allocate: bool = True
    write_back: bool = True
    victim: bool = False
    exposed: float = Field(default=1.0, ge=0, le=1)


class _Memory(Model):
    saturated: Bandwidth | None = None
    single: Bandwidth | None = None
    outbound: Bandwidth | None = None
    cores: int = Field(default=1, ge=1)
    exposed: float = Field(default=1.0, ge=0, le=1)


class _Ports(Model):
    vector: Size
    loads: float = Field(gt=0)
    stores: float = Field(gt=0)
    memory_operations: float = Field(gt=0)
    adds: float = Field(gt=0)
    multiplies: float = Field(gt=0)
    fused: float = Field(ge=0)
    floating: float = Field(gt=0)
    divide: CycleCount
    issue: float = Field(gt=0)


class _InCore(Model):
    osaca: Text | None = None
    approximate: bool = False
    ports: _Ports | None = None


class _Machine(Model):
    name: Text | None = None
    title: str = ""
    architecture: Literal["x86_64", "aarch64", "ppc64"]
    clock: Frequency = Field(description="a frequency such as 2.3 GHz: turns cycles into seconds")
    cores: int = Field(ge=1, description="how many cores: bounds the number of threads")
    threads_per_core: int = Field(default=1, ge=1)
    sockets: int = Field(default=1, ge=1)
    caches: list[_Cache] = Field(
        min_length=1, description="the caches from the core outwards: the time of transfers"
    )
    memory: _Memory = Field(description="the main memory: the time of transfers from it")
    in_core: _InCore = Field(description="osaca or ports: the in-core time of a loop")
    barrier: Time | None = None
    calibration: CalibrationModel | None = None


def read_machine(session: Session, path: Path) -> Machine | None:
    """The machine of a file that has every figure that a prediction needs, or None and faults."""
    known = len(session.faults)
    document, machine = _read(session, path)
    if document is not None:
        _check_figures(session, document)
    return machine if len(session.faults) == known else None


def read_sketch(session: Session, path: Path) -> Machine | None:
    """As ``read_machine``, but figures that only a prediction needs may be absent."""
    return _read(session, path)[1]


def _read(session: Session, path: Path) -> tuple[Document | None, Machine | None]:
    known = len(session.faults)
    document = session.open(path, SCHEMA)
    if document is None:
        return None, None
    sources = _take_sources(session, document)
    model = validate(session, document, _Machine)
    if model is None:
        return document, None
    caches = [_cache(session, document, model, i) for i in range(len(model.caches))]
    calibration = None
    if model.calibration is not None:
        calibration = build_calibration(session, document, model.calibration, ("calibration",))
    if len(session.faults) > known:
        return document, None
    try:
        machine = Machine(
            name=model.name or path.stem,
            title=model.title,
            architecture=model.architecture,
            clock=model.clock,
            cores=model.cores,
            threads_per_core=model.threads_per_core,
            sockets=model.sockets,
            caches=tuple(cache for cache in caches if cache),
            memory=Memory(
                saturated=model.memory.saturated,
                single=model.memory.single,
                outbound=model.memory.outbound,
                cores=model.memory.cores,
                exposed=model.memory.exposed,
            ),
            in_core=_in_core(model.in_core),
            barrier=model.barrier,
            sources={_key(model, keys): source for keys, source in sources.items()},
            calibration=calibration,
        )
    except ValueError as error:
        session.add(document.place(("caches",)), str(error))
        return document, None
    return document, machine


def _cache(session: Session, document: Document, model: _Machine, i: int) -> CacheLevel | None:
    cache = model.caches[i]
    if cache.name == "MEM" or cache.name in [other.name for other in model.caches[:i]]:
        where = document.place(("caches", i, "name"))
        session.add(where, f"the name {cache.name} is taken", "a name of its own per level")
    product = cache.sets * cache.ways * cache.line
    if product != cache.size:
        session.add(
            document.place(("caches", i, "size")),
            f"{cache.name}: the size is {show(cache.size, 'size')}, but {cache.sets} sets x"
            f" {cache.ways} ways x {cache.line} B are {show(product, 'size')}",
            "size = sets x ways x line",
        )
        return None
    try:
        return CacheLevel(
            name=cache.name,
            size=cache.size,
            line=cache.line,
            ways=cache.ways,
            cores=cache.cores,
            inbound=cache.inbound,
            outbound=cache.outbound,
            write_allocate=cache.write_allocate,
            write_back=cache.write_back,
            victim=cache.victim,
            exposed=cache.exposed,
        )
    except ValueError as error:
        session.add(document.place(("caches", i)), str(error))
        return None


def _in_core(model: _InCore) -> InCore:
    ports = PortTable(**dict(model.ports)) if model.ports else None
    return InCore(osaca=model.osaca, approximate=model.approximate, ports=ports)


def _check_figures(session: Session, document: Document) -> None:
    """Every figure that a prediction needs must be there, documented or measured."""
    root = document.root

    def missing(keys: Keys, figure: str, use: str) -> None:
        session.add(document.place(keys), f"the figure {figure} is missing", use)

    caches, memory, in_core = root.get("caches"), root.get("memory"), root.get("in_core")
    if "calibration" not in root:
        for i, cache in enumerate(caches if isinstance(caches, list) else []):
            if i > 0 and isinstance(cache, dict) and cache.get("inbound") is None:
                name = cache.get("name", f"level {i + 1}")
                use = f"a throughput such as 32 B/cy: the time of transfers from {name}"
                missing(("caches", i), f"inbound of {name}", use)
        if isinstance(memory, dict) and memory.get("saturated") is None:
            use = "a bandwidth such as 51 GB/s: the time of transfers from memory with all cores"
            missing(("memory",), "saturated of memory", use)
    if isinstance(in_core, dict) and not (in_core.get("osaca") or in_core.get("ports")):
        use = "OSACA's name of the architecture or a port table: the in-core time of loops"
        missing(("in_core",), "osaca or ports of in_core", use)


def _take_sources(session: Session, document: Document) -> dict[Keys, str]:
    """Replace ``{value, source, unverified}`` by the value; the sources by place."""
    sources: dict[Keys, str] = {}

    def visit(value: Plain, keys: Keys) -> Plain:
        if isinstance(value, list):
            return [visit(item, (*keys, i)) for i, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        if "value" not in value:
            return {name: visit(item, (*keys, name)) for name, item in value.items()}
        source, unverified = value.get("source", ""), value.get("unverified", False)
        for name in value:
            if name not in ("value", "source", "unverified"):
                hint = nearest(name, ["value", "source", "unverified"])
                where = document.key((*keys, name))
                session.add(where, f"unknown key {name!r}", "value, source, unverified", hint)
        if not isinstance(source, str):
            session.add(document.place((*keys, "source")), f"source: {describe(source)}", "text")
        elif not isinstance(unverified, bool):
            where = document.place((*keys, "unverified"))
            session.add(where, f"unverified: {describe(unverified)}", "true or false")
        elif source or unverified:
            sources[keys] = f"{source} {UNVERIFIED}".strip() if unverified else source
        document.places[keys] = document.place((*keys, "value"))
        return value["value"]

    document.root = {name: visit(value, (name,)) for name, value in document.root.items()}
    return sources


def _key(model: _Machine, keys: Keys) -> str:
    """A place in the file as text, cache levels by name: ``caches.L2.inbound``."""
    if keys[0] == "caches" and len(keys) > 1 and isinstance(keys[1], int):
        keys = ("caches", model.caches[keys[1]].name, *keys[2:])
    return ".".join(str(key) for key in keys)
