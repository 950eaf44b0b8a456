"""Documents of machines and of this host: ``machine`` and ``doctor``."""

from collections.abc import Sequence
from typing import TypedDict

from autotune.domain.calibration import BandwidthCurve, Calibration, Constant, Refined
from autotune.domain.machine import Machine
from autotune.measuring.host.detect import DetectionReason
from autotune.measuring.host.doctor import Prerequisite


class CacheRow(TypedDict):
    """A cache level."""

    name: str
    size: int
    line: int
    ways: int
    cores: int
    """Cores that share it."""
    inbound: float | None
    """Bytes per cycle and core from this level."""
    exposed: float
    """Share of its transfers that does not overlap with L1 work."""
    outbound: float | None
    duplex: str | None
    write_back: bool
    write_allocate: bool
    victim: bool


class CurveRow(TypedDict):
    """Bandwidth over working set, per thread."""

    threads: int
    streams: int
    working_set: list[int]
    bytes_per_cycle: list[float]
    spread: list[float]


class ConstantRow(TypedDict):
    """A measured figure with the 80 % interval of its repeats."""

    value: float
    low: float
    high: float
    unit: str
    source: str
    samples: int


class RefinedRow(TypedDict):
    """What a study made of a figure."""

    before: float
    after: float
    low: float
    high: float
    study: str


class CalibrationRow(TypedDict):
    """What was measured on a host."""

    identity: str
    taken: str
    seconds: float
    clock: float
    curves: list[CurveRow]
    barriers_s: dict[str, float]
    exposed: dict[str, float]
    contended: bool
    priority: str
    compiler: str
    constants: dict[str, ConstantRow]
    refined: dict[str, RefinedRow]


class MachineRow(TypedDict):
    """A machine."""

    name: str
    title: str
    architecture: str
    clock: float
    cores: int
    threads_per_core: int
    sockets: int
    caches: list[CacheRow]
    memory: dict[str, float | None]
    """saturated and single: load bandwidth of all cores and of one, bytes per second."""
    benchmarks: dict[str, float]
    """Raw saturated bandwidth of streaming kernels, bytes per second."""
    overlap: str
    """The rule: ``levels``, ``serial``, ``data-serial`` or ``full``."""
    in_core: str
    """``osaca:ZEN3``, ``ports`` or ``none``."""
    sources: dict[str, str]
    unverified: list[str]
    """Keys of figures that were never checked."""
    kerncraft: bool
    """It was read from a machine file of kerncraft."""
    calibration: CalibrationRow | None


class MachineDocument(TypedDict):
    """``autotune machine show`` and ``calibrate --json``."""

    schema: str
    machine: MachineRow


class MachineListDocument(TypedDict):
    """``autotune machine list --json``."""

    schema: str
    machines: list[MachineRow]


class MachineCheckDocument(TypedDict):
    """``autotune machine check --json``."""

    schema: str
    machine: MachineRow
    gaps: list[str]
    """What is missing, and for which use."""


class MachineDetectDocument(TypedDict):
    """``autotune machine detect --json``."""

    schema: str
    machine: MachineRow
    reasons: list[dict[str, str]]
    """key, decided, because."""


def machine(found: Machine, command: str) -> MachineDocument:
    """One machine."""
    return {"schema": f"autotune.machine.{command}/1", "machine": _machine(found)}


def machine_list(found: Sequence[Machine]) -> MachineListDocument:
    """The machine files."""
    return {"schema": "autotune.machine.list/1", "machines": [_machine(m) for m in found]}


def machine_check(found: Machine, gaps: Sequence[str]) -> MachineCheckDocument:
    """A valid machine file and what it lacks."""
    return {
        "schema": "autotune.machine.check/1",
        "machine": _machine(found),
        "gaps": list(gaps),
    }


def machine_detect(found: Machine, reasons: Sequence[DetectionReason]) -> MachineDetectDocument:
    """This host and why it is described so."""
    return {
        "schema": "autotune.machine.detect/1",
        "machine": _machine(found),
        "reasons": [{"key": r.key, "decided": r.decided, "because": r.because} for r in reasons],
    }


def _machine(found: Machine) -> MachineRow:
    return {
        "name": found.name,
        "title": found.title,
        "architecture": found.architecture,
        "clock": found.clock,
        "cores": found.cores,
        "threads_per_core": found.threads_per_core,
        "sockets": found.sockets,
        "caches": [
            {
                "name": c.name,
                "size": c.size,
                "line": c.line,
                "ways": c.ways,
                "cores": c.cores,
                "inbound": c.inbound,
                "exposed": c.exposed,
                "outbound": c.outbound,
                "duplex": c.duplex,
                "write_back": c.write_back,
                "write_allocate": c.write_allocate,
                "victim": c.victim,
            }
            for c in found.caches
        ],
        "memory": {"saturated": found.memory.saturated, "single": found.memory.single},
        "benchmarks": {name: b.saturated for name, b in found.memory.benchmarks.items()},
        "overlap": found.overlap.rule,
        "in_core": in_core(found),
        "sources": dict(found.sources),
        "unverified": sorted(found.unverified),
        "kerncraft": found.kerncraft is not None,
        "calibration": _calibration(found.calibration) if found.calibration else None,
    }


def in_core(found: Machine) -> str:
    """How in-core times are found on a machine."""
    if found.in_core.osaca:
        return f"osaca:{found.in_core.osaca}" + (" (nearest)" if found.in_core.approximate else "")
    return "ports" if found.in_core.ports else "none"


def _calibration(found: Calibration) -> CalibrationRow:
    return {
        "identity": found.identity,
        "taken": found.taken,
        "seconds": found.seconds,
        "clock": found.clock,
        "curves": [_curve(curve) for curve in found.curves],
        "barriers_s": {str(threads): s for threads, s in found.barriers.items()},
        "exposed": dict(found.exposed),
        "contended": found.contended,
        "priority": found.priority,
        "compiler": found.compiler,
        "constants": {name: _constant(constant) for name, constant in found.constants.items()},
        "refined": {name: _refined(change) for name, change in found.refined.items()},
    }


def _constant(found: Constant) -> ConstantRow:
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "unit": found.unit,
        "source": found.source,
        "samples": found.samples,
    }


def _refined(found: Refined) -> RefinedRow:
    return {
        "before": found.before,
        "after": found.after,
        "low": found.low,
        "high": found.high,
        "study": found.study,
    }


def _curve(curve: BandwidthCurve) -> CurveRow:
    return {
        "threads": curve.threads,
        "streams": curve.streams,
        "working_set": list(curve.working_set),
        "bytes_per_cycle": list(curve.bandwidth),
        "spread": list(curve.spread),
    }


class DoctorDocument(TypedDict):
    """``autotune doctor --json``."""

    schema: str
    findings: list[dict[str, str]]
    """name, state (ok, missing, optional), found, needed_for, install."""


def doctor(findings: Sequence[Prerequisite]) -> DoctorDocument:
    """What is installed and what is missing."""
    return {
        "schema": "autotune.doctor/1",
        "findings": [
            {
                "name": f.name,
                "state": f.state,
                "found": f.found,
                "needed_for": f.needed_for,
                "install": f.install,
            }
            for f in findings
        ],
    }
