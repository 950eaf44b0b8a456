"""Machines from YAML (schema autotune.machine/1).

A number may stand alone or with its source: ``{value: 2.3 GHz, source: ..., unverified: true}``.
A machine file of kerncraft is read as well.
"""

from pathlib import Path

from autotune.domain.machine import (
    BENCHMARKS,
    UNVERIFIED,
    CacheLevel,
    InCore,
    Machine,
    Memory,
    Overlap,
    PortTable,
    StorePath,
    Streaming,
    exposed_by,
)
from autotune.domain.network import Network
from autotune.errors import nearest, one_of
from autotune.files.config.calibrations import build_calibration
from autotune.files.config.kerncraft_machines import is_kerncraft, read_kerncraft
from autotune.files.config.machine_checks import check_physics
from autotune.files.config.machine_schema import (
    SCHEMA,
    InCoreModel,
    MachineModel,
    MemoryModel,
    OverlapModel,
    PortsModel,
)
from autotune.files.config.networks import build_network, read_network
from autotune.files.config.session import Session
from autotune.files.config.validation import validate
from autotune.files.config.yaml_document import Document, Keys, Plain, describe, text_of
from autotune.units import show


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


def check_machine(session: Session, path: Path) -> Machine | None:
    """As ``read_sketch``; figures that contradict physics or one another are faults, and so is the
    lack of an in-core model, without which nothing can be predicted."""
    document, machine = _read(session, path)
    if machine is not None:
        check_physics(session, path, document, machine)
        if document is not None:
            _check_in_core(session, document)
    return machine


def _read(session: Session, path: Path) -> tuple[Document | None, Machine | None]:
    known = len(session.faults)
    text = text_of(path, session.faults)
    if text is not None and is_kerncraft(text):
        return None, read_kerncraft(session, text, path)
    document = session.open(path, SCHEMA) if text is not None else None
    if document is None:
        return None, None
    sources = _take_sources(session, document)
    network = _network_beside(session, document)
    model = validate(session, document, MachineModel)
    if model is None:
        return document, None
    innermost, beyond = exposed_by(model.overlap.rule)
    caches = [
        _cache(session, document, model, i, beyond if i else innermost)
        for i in range(len(model.caches))
    ]
    _check_benchmarks(session, document, model.memory)
    calibration = None
    if model.calibration is not None:
        calibration = build_calibration(session, document, model.calibration, ("calibration",))
    if model.network is not None:
        network = build_network(session, document, model.network, ("network",))
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
            memory=_memory(model.memory, beyond),
            in_core=_in_core(model.in_core),
            overlap=_overlap(model.overlap),
            compilers=model.compilers,
            barrier=model.barrier,
            network=network,
            sources={_key(model, keys): source for keys, source in sources.items()},
            calibration=calibration,
            kerncraft=model.kerncraft,
        )
    except ValueError as error:
        session.add(document.place(("caches",)), str(error))
        return document, None
    return document, machine


def _network_beside(session: Session, document: Document) -> Network | None:
    """The network of the file that the key ``network`` names; a section is left as it is."""
    name = document.root.get("network")
    if not isinstance(name, str):
        return None
    del document.root["network"]
    where = document.place(("network",))
    if not name.endswith((".yaml", ".yml")):
        session.add(where, f"network: {name!r}", "curves, or a path that ends in .yaml")
        return None
    path = document.path.parent / name
    if not path.exists():
        session.add(where, f"network: there is no file {name!r}", "autotune comm fit -o writes one")
        return None
    return session.once(path, read_network)


def _cache(
    session: Session, document: Document, model: MachineModel, i: int, exposed: float
) -> CacheLevel | None:
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
            duplex=cache.duplex,
            write_allocate=cache.write_allocate,
            write_back=cache.write_back,
            victim=cache.victim,
            exposed=exposed if cache.exposed is None else cache.exposed,
        )
    except ValueError as error:
        session.add(document.place(("caches", i)), str(error))
        return None


def _memory(model: MemoryModel, exposed: float) -> Memory:
    return Memory(
        saturated=model.saturated,
        single=model.single,
        cores=model.cores,
        exposed=exposed if model.exposed is None else model.exposed,
        outbound=model.outbound,
        duplex=model.duplex,
        peak=model.peak,
        penalty_load=model.penalty_load,
        penalty_store=model.penalty_store,
        benchmarks={
            name: Streaming(saturated=found.saturated, single=found.single)
            for name, found in model.benchmarks.items()
        },
    )


def _check_benchmarks(session: Session, document: Document, model: MemoryModel) -> None:
    for name in model.benchmarks:
        if name not in BENCHMARKS:
            hint = "the bandwidth of loads is memory.saturated" if name == "load" else ""
            session.add(
                document.key(("memory", "benchmarks", name)),
                f"unknown key {name!r}",
                one_of(BENCHMARKS),
                hint or nearest(name, BENCHMARKS),
            )


def _in_core(model: InCoreModel) -> InCore:
    return InCore(
        osaca=model.osaca,
        approximate=model.approximate,
        ports=_ports(model.ports) if model.ports else None,
        overlapping=tuple(model.overlapping),
        non_overlapping=tuple(model.non_overlapping),
    )


def _ports(model: PortsModel) -> PortTable:
    return PortTable(**{**dict(model), "shared": tuple(model.shared)})


def _overlap(model: OverlapModel) -> Overlap:
    path = model.store_path
    return Overlap(
        rule=model.rule,
        store_path=StorePath(throughput=path.throughput, cores=path.cores) if path else None,
    )


def _check_figures(session: Session, document: Document) -> None:
    """Every figure that a prediction needs must be there, documented or measured."""
    root = document.root

    def missing(keys: Keys, figure: str, use: str) -> None:
        session.add(document.place(keys), f"the figure {figure} is missing", use)

    caches, memory = root.get("caches"), root.get("memory")
    if "calibration" not in root:
        for i, cache in enumerate(caches if isinstance(caches, list) else []):
            if i > 0 and isinstance(cache, dict) and cache.get("inbound") is None:
                name = cache.get("name", f"level {i + 1}")
                use = f"a throughput such as 32 B/cy: the time of transfers from {name}"
                missing(("caches", i), f"inbound of {name}", use)
        if isinstance(memory, dict) and memory.get("saturated") is None:
            use = "a bandwidth such as 51 GB/s: the time of transfers from memory with all cores"
            missing(("memory",), "saturated of memory", use)
    _check_in_core(session, document)


def _check_in_core(session: Session, document: Document) -> None:
    in_core = document.root.get("in_core")
    if isinstance(in_core, dict) and not (in_core.get("osaca") or in_core.get("ports")):
        use = "OSACA's name of the architecture or a port table: the in-core time of loops"
        found = "the figure osaca or ports of in_core is missing"
        session.add(document.place(("in_core",)), found, use)


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


def _key(model: MachineModel, keys: Keys) -> str:
    """A place in the file as text, cache levels by name: ``caches.L2.inbound``."""
    if keys[0] == "caches" and len(keys) > 1 and isinstance(keys[1], int):
        keys = ("caches", model.caches[keys[1]].name, *keys[2:])
    return ".".join(str(key) for key in keys)
