"""What ``autotune machine`` prints: machine files, this host, its calibration."""

import shlex
from collections.abc import Callable, Sequence

from autotune.commands.machine import calibration_text
from autotune.domain.calibration import Calibration
from autotune.domain.machine import OVERLAP_RULES, CacheLevel, Machine
from autotune.measuring.host.detect import DetectionReason
from autotune.measuring.host.stored_calibrations import (
    kept_location,
    location,
    outdated,
    undisturbed,
)
from autotune.results.report.text_table import columns
from autotune.units import counted, show


def machines(machines: Sequence[Machine]) -> str:
    """The machine files, a line each."""
    return columns(
        (
            (m.name, counted(m.cores, "core"), show(m.clock, "frequency"), _in_core(m), m.title)
            for m in machines
        ),
        headed=False,
    )


def _in_core(machine: Machine) -> str:
    """The source of in-core times for a machine: ``osaca:ZEN3``, ``ports`` or ``none``."""
    if machine.in_core.osaca:
        nearest = " (nearest)" if machine.in_core.approximate else ""
        return f"osaca:{machine.in_core.osaca}{nearest}"
    return "ports" if machine.in_core.ports else "none"


def machine(machine: Machine) -> str:
    """One machine with the source of each figure, and its calibration; ``?`` marks figures that
    were never checked."""
    doubt = _doubt(machine)
    lines = [
        f"{machine.name}: {machine.title}",
        f"  {machine.architecture}, {counted(machine.cores, 'core')}{doubt('cores')},"
        f" {counted(machine.sockets, 'socket')}, clock {show(machine.clock, 'frequency')}"
        f"{doubt('clock')},"
        f" in-core {_in_core(machine)}",
        f"  overlap {machine.overlap.rule}{doubt('overlap.rule')}:"
        f" {OVERLAP_RULES[machine.overlap.rule]}",
    ]
    lines += [_cache(machine, cache) for cache in machine.caches]
    if machine.overlap.store_path:
        path = machine.overlap.store_path
        lines.append(
            f"  stores through the innermost cache: {path.throughput:g} B/cy"
            f"{doubt('overlap.store_path.throughput')}, path shared by"
            f" {counted(path.cores, 'core')}"
        )
    memory = machine.memory
    if capacity := machine.memory_capacity:
        lines.append(f"  memory of the node: {show(capacity, 'size')}{doubt('memory.capacity')}")
    for label, key, value in (
        ("all cores of a domain", "saturated", memory.saturated),
        ("one core", "single", memory.single),
        *((name, f"benchmarks.{name}.saturated", b.saturated)
          for name, b in memory.benchmarks.items()),
    ):  # fmt: skip
        if value:
            figure = show(value, "bandwidth")
            lines.append(f"  memory, {label}: {figure}{doubt(f'memory.{key}')}")
    if machine.network:
        curves = ", ".join(
            f"{c.operation} {counted(c.ranks, 'rank')}/{counted(c.nodes, 'node')} ({c.benchmark})"
            for c in machine.network.curves
        )
        lines.append(f"  network {machine.network.title}: {curves}")
    if machine.calibration:
        lines += _calibration(machine.calibration)
    lines += [f"  source of {key}: {source}" for key, source in sorted(machine.sources.items())]
    return "\n".join(lines)


def _doubt(machine: Machine) -> Callable[[str], str]:
    """The mark behind a figure: ``?`` where its source says that it was never checked."""
    return lambda key: "?" if key in machine.unverified else ""


def _cache(machine: Machine, cache: CacheLevel) -> str:
    doubt, key = _doubt(machine), f"caches.{cache.name}"
    text = (
        f"  {cache.name}  {show(cache.size, 'size')}{doubt(f'{key}.size')}, {cache.ways}"
        f"{doubt(f'{key}.ways')} ways, shared by {counted(cache.cores, 'core')}"
        f"{doubt(f'{key}.cores')}"
    )
    for way in ("inbound", "outbound"):
        value = getattr(cache, way)
        if value:
            text += f", {value:g}{doubt(f'{key}.{way}')} B/cy {way}"
    kinds = {
        "victim": cache.victim,
        "write-through": not cache.write_back,
        "no write-allocate": not cache.write_allocate,
    }
    text += "".join(f", {name}" for name, holds in kinds.items() if holds)
    return f"{text}, exposed {machine.exposed(cache.name):.2f}{doubt(f'{key}.exposed')}"


def _calibration(calibration: Calibration) -> list[str]:
    lines = [
        f"calibrated {calibration.taken} in {calibration.seconds:.0f} s,"
        f" priority {calibration.priority}"
        + (", CONTENDED: other processes ran; calibrate again" if calibration.contended else "")
        + (", beside the usual load" if calibration.usual_load else "")
        + (", by another version of autotune: calibrate again" if outdated(calibration) else ""),
        f"  clock {show(calibration.clock, 'frequency')} (spread {calibration.clock_spread:.1%})",
    ]
    lines += calibration_text.constants(calibration)
    for title, rows in calibration_text.bandwidths(calibration):
        table = columns(rows, right=range(len(rows[0])), matrix=True, indent="    ")
        lines += [f"  {title}:", table]
    return lines


def calibrated(machine: Machine, before: Calibration | None) -> str:
    """The summary of a new calibration; ``before``: the one in whose place it is."""
    lines = [f"{machine.name}: {machine.title}"]
    if machine.calibration:
        lines += calibration_text.summary(machine.calibration, before)
        if machine.calibration.contended and before and undisturbed(before):
            files = shlex.join(str(of(before.identity)) for of in (kept_location, location))
            lines.append(f"the calibration before was undisturbed; this brings it back: mv {files}")
    return "\n".join([*lines, "every figure: autotune machine show"])


def machine_check(machine: Machine, gaps: Sequence[str]) -> str:
    """A valid machine file as text, and which figures it lacks for which use."""
    if not gaps:
        return f"{machine.name}: valid, complete for every use"
    return "\n".join([f"{machine.name}: valid; missing:", *(f"  {gap}" for gap in gaps)])


def machine_detected(detected: Machine, reasons: Sequence[DetectionReason]) -> str:
    """The detected host as text, with the evidence for each figure."""
    return "\n".join([machine(detected), "decided:", *(f"  {reason}" for reason in reasons)])
