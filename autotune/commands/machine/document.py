"""The documents of ``machine`` and ``doctor``, which hold the printed objects unchanged."""

from dataclasses import dataclass
from typing import Literal

from autotune.domain.machine import Machine
from autotune.measuring.conditions.host_load import HostLoad
from autotune.measuring.host.detect import DetectionReason
from autotune.measuring.host.doctor import Prerequisite


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDocument:
    """``autotune machine show`` and ``calibrate --json``."""

    schema: Literal["autotune.machine.show/1", "autotune.machine.calibrate/1"]
    machine: Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineListDocument:
    """``autotune machine list --json``: the machine files."""

    schema: Literal["autotune.machine.list/1"] = "autotune.machine.list/1"
    machines: tuple[Machine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCheckDocument:
    """``autotune machine check --json``: a valid machine file and what it lacks."""

    schema: Literal["autotune.machine.check/1"] = "autotune.machine.check/1"
    machine: Machine
    gaps: tuple[str, ...]
    """What is missing, and for which use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDetectDocument:
    """``autotune machine detect --json``: this host and the evidence for each figure."""

    schema: Literal["autotune.machine.detect/1"] = "autotune.machine.detect/1"
    machine: Machine
    reasons: tuple[DetectionReason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorDocument:
    """``autotune doctor --json``: what is installed, what is missing, how busy the host is."""

    schema: Literal["autotune.doctor/1"] = "autotune.doctor/1"
    findings: tuple[Prerequisite, ...]
    load: HostLoad
