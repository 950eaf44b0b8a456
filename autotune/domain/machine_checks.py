"""Whether the figures of a machine can be true, alone and together."""

from collections.abc import Iterator
from itertools import pairwise

from autotune.domain.calibration import Calibration
from autotune.domain.machine import Machine
from autotune.domain.misfit import Keys, Misfit
from autotune.units import Hertz, show

_CLOCKS = (1e8, 1e10)
_MOST_CORES = 1 << 16
_SLOWEST = 1.0
"""Seconds: more than any latency of a network or barrier of a node."""
_BANDWIDTHS = (1e-4, 1e4)
"""Bytes per cycle of one thread."""
_MOST_CYCLES = 1e7
"""More than any single event takes."""
_SLACK = 1.001
"""Figures are rounded."""


def contradictions(machine: Machine) -> Iterator[Misfit]:
    """Every figure of a machine that is impossible, alone or together with another one."""
    yield from impossible_rates(machine)
    yield from _cores(machine)
    yield from _caches(machine)
    yield from _memory(machine)
    if machine.barrier is not None and machine.barrier > _SLOWEST:
        text = f"a barrier of {show(machine.barrier, 'time')}"
        yield Misfit(("barrier",), text, "less than a second")
    for i, curve in enumerate(machine.network.curves if machine.network else ()):
        if any(segment.latency > _SLOWEST for segment in curve.segments):
            keys: Keys = ("network", "curves", i)
            yield Misfit(keys, f"a latency of {curve.operation} above a second", "microseconds")


def impossible_rates(machine: Machine) -> Iterator[Misfit]:
    """A clock that no processor has, and every such figure of the calibration."""
    yield from impossible_clock(machine.clock)
    if machine.calibration is not None:
        for misfit in impossible_figures(machine.calibration):
            yield misfit._replace(keys=("calibration", *misfit.keys))


def impossible_clock(clock: Hertz) -> Iterator[Misfit]:
    """The misfit of a clock that no processor has, at the key ``clock``."""
    low, high = _CLOCKS
    if not low <= clock <= high:
        yield Misfit(("clock",), f"a clock of {show(clock, 'frequency')}", "0.1 GHz to 10 GHz")


def impossible_figures(calibration: Calibration) -> Iterator[Misfit]:
    """Every figure of a calibration that is impossible."""
    yield from impossible_clock(calibration.clock)
    least, most = _BANDWIDTHS
    for i, curve in enumerate(calibration.curves):
        for j, bandwidth in enumerate(curve.bandwidth):
            if not least <= bandwidth <= most:
                keys: Keys = ("curves", i, "points", j, "bandwidth")
                found = f"a bandwidth of {show(bandwidth, 'throughput')} of one thread"
                yield Misfit(keys, found, f"{least:g} to {most:g} B/cy")
    for threads, barrier in calibration.barriers.items():
        if barrier > _SLOWEST:
            text = f"a barrier of {show(barrier, 'time')}"
            yield Misfit(("barriers", str(threads)), text, "less than a second")
    limits = {"cy": _MOST_CYCLES, "s": _SLOWEST}
    for name, constant in calibration.constants.items():
        if constant.value > limits.get(constant.unit, constant.value):
            text = f"{name} of {constant.value:g} {constant.unit}"
            expected = f"at most {limits[constant.unit]:g} {constant.unit}"
            yield Misfit(("constants", name), text, expected)


def _cores(machine: Machine) -> Iterator[Misfit]:
    if machine.cores > _MOST_CORES:
        yield Misfit(("cores",), f"{machine.cores} cores", f"at most {_MOST_CORES} of a node")
    if machine.cores % machine.sockets:
        yield Misfit(
            ("sockets",),
            f"{machine.cores} cores cannot be spread over {machine.sockets} sockets",
            "a divisor of cores",
        )
    if machine.cores % machine.memory.cores:
        yield Misfit(
            ("memory", "cores"),
            f"{machine.cores} cores are no whole number of NUMA domains of {machine.memory.cores}",
            "a divisor of cores",
        )
    for i, cache in enumerate(machine.caches):
        if cache.cores > machine.cores:
            yield Misfit(
                ("caches", i, "cores"),
                f"{cache.name} is shared by {cache.cores} cores of {machine.cores}",
                f"at most {machine.cores}",
            )


def _caches(machine: Machine) -> Iterator[Misfit]:
    for i, (inner, outer) in enumerate(pairwise(machine.caches), 1):
        if outer.size < inner.size:
            yield Misfit(
                ("caches", i, "size"),
                f"{outer.name} has {show(outer.size, 'size')}, {inner.name} inside it"
                f" {show(inner.size, 'size')}",
                "sizes that grow outwards",
            )
        if outer.cores < inner.cores:
            yield Misfit(
                ("caches", i, "cores"),
                f"{outer.name} is shared by fewer cores than {inner.name}",
                "as many or more",
            )
        if inner.inbound and outer.inbound and outer.inbound > inner.inbound:
            yield Misfit(
                ("caches", i, "inbound"),
                f"{outer.name} delivers {outer.inbound:g} B/cy, {inner.name} inside it"
                f" {inner.inbound:g} B/cy",
                "bandwidths that do not rise outwards",
            )


def _memory(machine: Machine) -> Iterator[Misfit]:
    memory = machine.memory
    largest = machine.caches[-1]
    if memory.capacity is not None and memory.capacity <= largest.size:
        yield Misfit(
            ("memory", "capacity"),
            f"a memory of {show(memory.capacity, 'size')}, no more than {largest.name},"
            f" {show(largest.size, 'size')}",
            "the main memory of a NUMA domain, such as 32 GiB",
        )
    if memory.single and memory.saturated and memory.single > memory.saturated * _SLACK:
        yield Misfit(
            ("memory", "single"),
            f"one core reaches {show(memory.single, 'bandwidth')}, all together"
            f" {show(memory.saturated, 'bandwidth')}",
            "at most the saturated bandwidth",
        )
    beyond = machine.caches[-1].inbound
    if memory.single and beyond and memory.single > beyond * machine.frequency * _SLACK:
        yield Misfit(
            ("memory", "single"),
            f"one core loads {show(memory.single, 'bandwidth')} from memory, but"
            f" {show(beyond * machine.frequency, 'bandwidth')} from {machine.caches[-1].name}",
            "bandwidths that do not rise outwards",
        )
    if memory.peak is None:
        return
    figures: dict[Keys, float | None] = {("memory", "saturated"): memory.saturated}
    for name, streaming in memory.benchmarks.items():
        figures["memory", "benchmarks", name, "saturated"] = streaming.saturated
    for keys, value in figures.items():
        if value is not None and value > memory.peak * _SLACK:
            yield Misfit(
                keys,
                f"{show(value, 'bandwidth')} are more than the channels carry,"
                f" {show(memory.peak, 'bandwidth')}",
                "at most memory.peak",
            )
