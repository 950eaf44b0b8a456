"""Reads machines from YAML (schema autotune.machine/1).

A number may stand alone or with its source: ``{value: 2.3 GHz, source: ..., unverified: true}``. A
machine file of kerncraft is read as well.
"""

from pathlib import Path
from typing import TypeVar

from autotune import paths
from autotune.domain.machine import UNVERIFIED, Machine, exposed_by
from autotune.domain.machine_checks import contradictions, impossible_rates
from autotune.domain.network import Network
from autotune.errors import describe, nearest
from autotune.files.config.facts import altered, draft, note_misfits, settle
from autotune.files.config.measured_files import read_network
from autotune.files.config.session import Session
from autotune.files.kerncraft.kerncraft_machines import is_kerncraft, read_kerncraft
from autotune.files.parsing.yaml_document import Document, Keys, Plain, text_of

SCHEMA = "autotune.machine/1"
T = TypeVar("T")


def read_machine(session: Session, path: Path) -> Machine | None:
    """The machine in a file, with every figure that a prediction needs; None with faults noted
    otherwise.
    """
    return _complete(session, path, possible=False)


def read_possible_machine(session: Session, path: Path) -> Machine | None:
    """The same, where every figure must also be possible, alone and beside the others."""
    return _complete(session, path, possible=True)


def _complete(session: Session, path: Path, *, possible: bool) -> Machine | None:
    faults_before = len(session.faults)
    document, machine = _read(session, path)
    if possible and machine is not None:
        check_physics(session, path, document, machine)
    if document is not None:
        _check_figures(session, document)
    return machine if len(session.faults) == faults_before else None


def check_physics(
    session: Session, path: Path, document: Document | None, machine: Machine
) -> None:
    """Note as faults the figures of a machine that are impossible or contradict one another."""
    note_misfits(session, document or Document(path, {}), contradictions(machine))


def read_sketch(session: Session, path: Path) -> Machine | None:
    """The machine in a file, where figures that only a prediction needs may be missing; None with
    faults noted otherwise.
    """
    return _read(session, path)[1]


def check_machine(session: Session, path: Path) -> Machine | None:
    """The machine in a file whose figures must be possible; None with faults noted otherwise.

    Faults are figures that contradict physics or one another, and a missing in-core model, without
    which nothing can be predicted. Other figures may be missing.
    """
    document, machine = _read(session, path)
    if machine is not None:
        check_physics(session, path, document, machine)
        if document is not None:
            _check_in_core(session, document)
    return machine


def _read(session: Session, path: Path) -> tuple[Document | None, Machine | None]:
    faults_before = len(session.faults)
    text = text_of(path, session.faults)
    if text is not None and is_kerncraft(text):
        return None, read_kerncraft(session.faults, text, path)
    document = session.open(path, SCHEMA) if text is not None else None
    if document is None:
        return None, None
    sources = _take_sources(session, document)
    network = _network_beside(session, document)
    stated = draft(session, document, Machine, name=paths.stem(path))
    if stated is None:
        return document, None
    readable = len(session.faults) == faults_before
    stated = _completed(document, stated)
    stated = altered(
        stated,
        network=network or stated.network,
        sources={_key(stated, keys): source for keys, source in sources.items()},
    )
    machine = settle(session, document, stated, at=("caches",), readable=readable)
    if machine is not None:
        note_misfits(session, document, impossible_rates(machine))
    return document, machine if len(session.faults) == faults_before else None


def _network_beside(session: Session, document: Document) -> Network | None:
    """The network in the file that the key ``network`` names; None where ``network`` is
    a section.
    """
    name = document.root.get("network")
    if not isinstance(name, str):
        return None
    del document.root["network"]
    where = document.place(("network",))
    if not name.endswith((".yaml", ".yml")):
        session.add(where, f"network: {name!r}", "curves, or a path that ends in .yaml")
        return None
    path = document.path.parent / name
    if not paths.exists(path):
        session.add(where, f"network: there is no file {name!r}", "autotune comm fit -o writes one")
        return None
    return session.once(path, read_network)


def _completed(document: Document, stated: Machine) -> Machine:
    """The draft of a machine, completed by the exposed shares that its overlap rule gives."""
    innermost, beyond = exposed_by(stated.overlap.rule)

    def with_share(holder: T, keys: Keys, ruled: float) -> T:
        value: Plain = document.root
        for key in keys:
            value = value[key]  # type: ignore[index]
        stated_share = isinstance(value, dict) and value.get("exposed") is not None
        return holder if stated_share else altered(holder, exposed=ruled)

    caches = tuple(
        with_share(cache, ("caches", i), beyond if i else innermost)
        for i, cache in enumerate(stated.caches)
    )
    return altered(stated, caches=caches, memory=with_share(stated.memory, ("memory",), beyond))


def _check_figures(session: Session, document: Document) -> None:
    """Check that every figure that a prediction needs is there, documented or measured."""
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
    """Replace each ``{value, source, unverified}`` by its value; returns the sources by place."""
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


def _key(machine: Machine, keys: Keys) -> str:
    """The keys of a place as text, with cache levels by name: ``caches.L2.inbound``."""
    if keys[0] == "caches" and len(keys) > 1 and isinstance(keys[1], int):
        keys = ("caches", machine.caches[keys[1]].name, *keys[2:])
    return ".".join(str(key) for key in keys)
