"""Whether the figures of a machine file can be true together."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from autotune.domain.machine import Machine
from autotune.files.config.session import Session
from autotune.files.config.yaml_document import Document, Keys, shown
from autotune.units import show

_CLOCKS = (1e8, 1e10)
_SLOWEST = 1.0
"""Seconds: more than any latency of a network or barrier of a node."""
_SLACK = 1.001
"""Figures are rounded."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A figure that cannot be true, or not beside another one."""

    keys: Keys
    found: str
    expected: str


def check_physics(session: Session, path: Path, document: Document | None, found: Machine) -> None:
    """Note as faults what contradicts physics or itself."""
    for each in contradictions(found):
        where = document.place(each.keys) if document else shown(path)
        session.add(where, each.found, each.expected)


def contradictions(found: Machine) -> Iterator[Contradiction]:
    """Everything in a machine that cannot be true."""
    low, high = _CLOCKS
    if not low <= found.clock <= high:
        yield Contradiction(
            ("clock",), f"a clock of {show(found.clock, 'frequency')}", "0.1 GHz to 10 GHz"
        )
    yield from _cores(found)
    yield from _caches(found)
    yield from _memory(found)
    if found.barrier is not None and found.barrier > _SLOWEST:
        text = f"a barrier of {show(found.barrier, 'time')}"
        yield Contradiction(("barrier",), text, "less than a second")
    for i, curve in enumerate(found.network.curves if found.network else ()):
        if any(segment.latency > _SLOWEST for segment in curve.segments):
            keys: Keys = ("network", "curves", i)
            yield Contradiction(
                keys, f"a latency of {curve.operation} above a second", "microseconds"
            )


def _cores(found: Machine) -> Iterator[Contradiction]:
    if found.cores % found.sockets:
        yield Contradiction(
            ("sockets",),
            f"{found.cores} cores cannot be spread over {found.sockets} sockets",
            "a divisor of cores",
        )
    if found.cores % found.memory.cores:
        yield Contradiction(
            ("memory", "cores"),
            f"{found.cores} cores are no whole number of NUMA domains of {found.memory.cores}",
            "a divisor of cores",
        )
    for i, cache in enumerate(found.caches):
        if cache.cores > found.cores:
            yield Contradiction(
                ("caches", i, "cores"),
                f"{cache.name} is shared by {cache.cores} cores of {found.cores}",
                f"at most {found.cores}",
            )


def _caches(found: Machine) -> Iterator[Contradiction]:
    for i, (inner, outer) in enumerate(pairwise(found.caches), 1):
        if outer.size < inner.size:
            yield Contradiction(
                ("caches", i, "size"),
                f"{outer.name} has {show(outer.size, 'size')}, {inner.name} inside it"
                f" {show(inner.size, 'size')}",
                "sizes that grow outwards",
            )
        if outer.cores < inner.cores:
            yield Contradiction(
                ("caches", i, "cores"),
                f"{outer.name} is shared by fewer cores than {inner.name}",
                "as many or more",
            )
        if inner.inbound and outer.inbound and outer.inbound > inner.inbound:
            yield Contradiction(
                ("caches", i, "inbound"),
                f"{outer.name} delivers {outer.inbound:g} B/cy, {inner.name} inside it"
                f" {inner.inbound:g} B/cy",
                "bandwidths that do not rise outwards",
            )


def _memory(found: Machine) -> Iterator[Contradiction]:
    memory = found.memory
    if memory.single and memory.saturated and memory.single > memory.saturated * _SLACK:
        yield Contradiction(
            ("memory", "single"),
            f"one core reaches {show(memory.single, 'bandwidth')}, all together"
            f" {show(memory.saturated, 'bandwidth')}",
            "at most the saturated bandwidth",
        )
    beyond = found.caches[-1].inbound
    if memory.single and beyond and memory.single > beyond * found.frequency * _SLACK:
        yield Contradiction(
            ("memory", "single"),
            f"one core loads {show(memory.single, 'bandwidth')} from memory, but"
            f" {show(beyond * found.frequency, 'bandwidth')} from {found.caches[-1].name}",
            "bandwidths that do not rise outwards",
        )
    if memory.peak is None:
        return
    figures: dict[Keys, float | None] = {("memory", "saturated"): memory.saturated}
    for name, streaming in memory.benchmarks.items():
        figures["memory", "benchmarks", name, "saturated"] = streaming.saturated
    for keys, value in figures.items():
        if value is not None and value > memory.peak * _SLACK:
            yield Contradiction(
                keys,
                f"{show(value, 'bandwidth')} are more than the channels carry,"
                f" {show(memory.peak, 'bandwidth')}",
                "at most memory.peak",
            )
