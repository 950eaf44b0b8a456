"""What ``autotune machine`` prints: machine files, this host, its calibration."""

from collections.abc import Callable, Sequence

from autotune.commands.machine import calibration_text
from autotune.domain.calibration import Calibration
from autotune.domain.machine import OVERLAP_RULES, CacheLevel, Machine
from autotune.measuring.host.detect import DetectionReason
from autotune.results.report.text_table import columns
from autotune.units import show


def machines(found: Sequence[Machine]) -> str:
    """The machine files, a line each."""
    return columns(
        (m.name, f"{m.cores} cores", show(m.clock, "frequency"), _in_core(m), m.title)
        for m in found
    )


def _in_core(machine: Machine) -> str:
    """How in-core times are found on a machine: ``osaca:ZEN3``, ``ports`` or ``none``."""
    if machine.in_core.osaca:
        nearest = " (nearest)" if machine.in_core.approximate else ""
        return f"osaca:{machine.in_core.osaca}{nearest}"
    return "ports" if machine.in_core.ports else "none"


def machine(found: Machine) -> str:
    """One machine with the source of each figure, and its calibration; ``?`` marks figures that
    were never checked."""
    doubt = _doubt(found)
    lines = [
        f"{found.name}: {found.title}",
        f"  {found.architecture}, {found.cores} cores{doubt('cores')}, {found.sockets} socket(s),"
        f" clock {show(found.clock, 'frequency')}{doubt('clock')}, in-core {_in_core(found)}",
        f"  overlap {found.overlap.rule}{doubt('overlap.rule')}:"
        f" {OVERLAP_RULES[found.overlap.rule]}",
    ]
    lines += [_cache(found, cache) for cache in found.caches]
    if found.overlap.store_path:
        path = found.overlap.store_path
        lines.append(
            f"  stores through the innermost cache: {path.throughput:g} B/cy"
            f"{doubt('overlap.store_path.throughput')}, path shared by {path.cores}"
        )
    memory = found.memory
    for label, key, value in (
        ("all cores of a domain", "saturated", memory.saturated),
        ("one core", "single", memory.single),
        *((name, f"benchmarks.{name}.saturated", b.saturated)
          for name, b in memory.benchmarks.items()),
    ):  # fmt: skip
        if value:
            figure = show(value, "bandwidth")
            lines.append(f"  memory, {label}: {figure}{doubt(f'memory.{key}')}")
    if found.network:
        curves = ", ".join(
            f"{c.operation} {c.ranks} ranks/{c.nodes} nodes ({c.benchmark})"
            for c in found.network.curves
        )
        lines.append(f"  network {found.network.title}: {curves}")
    if found.calibration:
        lines += _calibration(found.calibration)
    lines += [f"  source of {key}: {source}" for key, source in sorted(found.sources.items())]
    return "\n".join(lines)


def _doubt(found: Machine) -> Callable[[str], str]:
    """The mark behind a figure: ``?`` where its source says that it was never checked."""
    return lambda key: "?" if key in found.unverified else ""


def _cache(found: Machine, cache: CacheLevel) -> str:
    doubt, key = _doubt(found), f"caches.{cache.name}"
    text = (
        f"  {cache.name}  {show(cache.size, 'size')}{doubt(f'{key}.size')}, {cache.ways}"
        f"{doubt(f'{key}.ways')} ways, shared by {cache.cores}{doubt(f'{key}.cores')}"
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
    return f"{text}, exposed {found.exposed(cache.name):.2f}{doubt(f'{key}.exposed')}"


def _calibration(found: Calibration) -> list[str]:
    lines = [
        f"calibrated {found.taken} in {found.seconds:.0f} s, priority {found.priority}"
        + (", CONTENDED: other processes ran; calibrate again" if found.contended else ""),
        f"  clock {show(found.clock, 'frequency')} (spread {found.clock_spread:.1%})",
    ]
    lines += calibration_text.constants(found)
    for title, rows in calibration_text.bandwidths(found):
        table = columns(rows, right=range(len(rows[0])))
        lines += [f"  {title}:", *(f"    {line}" for line in table.splitlines())]
    return lines


def machine_check(found: Machine, gaps: Sequence[str]) -> str:
    """A valid machine file, and what it lacks for which use."""
    if not gaps:
        return f"{found.name}: valid, complete for every use"
    return "\n".join([f"{found.name}: valid; missing:", *(f"  {gap}" for gap in gaps)])


def machine_detected(found: Machine, reasons: Sequence[DetectionReason]) -> str:
    """This host, and why it is described so."""
    return "\n".join([machine(found), "decided:", *(f"  {reason}" for reason in reasons)])
