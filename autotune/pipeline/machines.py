"""Machines by name, and the host: detected, calibrated, checked against a setup."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from autotune import config, paths
from autotune.errors import Fault, InputError
from autotune.host import calibrate, detect
from autotune.machine import Machine
from autotune.progress import Progress
from autotune.setup import Setup
from autotune.toolchain import compiler as compilers
from autotune.variant import Build

HOST = "host"
DEFAULT_BUDGET = 45.0
"""Seconds of a calibration that nobody asked for: it is needed and there is none."""


def resolve_machine(setup: Setup, progress: Progress) -> Machine:
    """The machine of a setup; the host is detected, and calibrated when it has not been yet."""
    return setup.machine or host(progress)


def uncalibrated_machine(setup: Setup) -> Machine:
    """The machine of a setup, the host as it was detected: enough to enumerate candidates."""
    return setup.machine or detect.detect()


# --- the host -------------------------------------------------------------------------------


def examine_host() -> detect.Detected:
    """This host and its compiler, and the reason for each figure."""
    found = detect.examine()
    build = Build()
    try:
        compiler = compilers.find(build)
    except InputError as error:
        reason = detect.Reason(key="compiler", decided="none", because=str(error))
    else:
        stands_for = " ".join(f for f in compiler.resolved_flags if f.startswith("-m"))
        reason = detect.Reason(
            key="compiler",
            decided=compiler.version,
            because=f"{' '.join(build.flags)} stands for {stands_for[:60]} ...",
        )
    return dataclasses.replace(found, reasons=(*found.reasons, reason))


def host(progress: Progress) -> Machine:
    """This host with its calibration: the stored one if it still holds, else a new one."""
    machine = detect.detect()
    stored = calibrate.stored(machine)
    if stored is None:
        return calibrate_host(DEFAULT_BUDGET, progress, machine)
    return dataclasses.replace(machine, calibration=stored)


def calibrate_host(
    budget_seconds: float, progress: Progress, machine: Machine | None = None
) -> Machine:
    """Measure this host and keep the result in the user's data folder."""
    found = machine or detect.detect()
    calibration = calibrate.calibrate(
        found, budget_seconds=budget_seconds, progress=_fraction(progress)
    )
    calibrate.save(calibration)
    return dataclasses.replace(found, calibration=calibration)


def _fraction(progress: Progress) -> Callable[[str, float], None]:
    def show(what: str, share: float) -> None:
        progress("calibrate the host", round(100 * share), 100, what)

    return show


# --- machine files --------------------------------------------------------------------------


def machines() -> list[Machine]:
    """The machine files that come with autotune."""
    return [config.machine(name) for name in paths.names("machines")]


def machine(name: str) -> Machine:
    """A machine by name or path; ``host`` is this host with its stored calibration, if any.

    Figures may be missing: ``machine_gaps`` tells for which uses.
    """
    if name != HOST:
        return config.machine(name, complete=False)
    found = detect.detect()
    return dataclasses.replace(found, calibration=calibrate.stored(found))


def write_machine(found: Machine, path: Path) -> None:
    """Write a machine file; InputError where that is not possible."""
    try:
        path.write_text(config.dump_machine(found), encoding="utf-8")
    except OSError as error:
        raise InputError(Fault(where=str(path), found=f"cannot be written: {error}")) from error


def machine_gaps(found: Machine) -> list[str]:
    """What a machine lacks, and for which use: ``memory.saturated: predictions in memory``."""
    gaps = []
    if found.in_core.osaca is None and found.in_core.ports is None:
        gaps.append("in_core (osaca or ports): every prediction")
    if found.calibration is None:
        for cache in found.caches[1:]:
            if cache.inbound is None:
                gaps.append(f"caches.{cache.name}.inbound: predictions of data in {cache.name}")
        if found.memory.saturated is None:
            gaps.append("memory.saturated: predictions of data in memory, several threads")
        if found.memory.single is None:
            gaps.append("memory.single: predictions of data in memory, one thread")
        if found.barrier is None and found.cores > 1:
            gaps.append("barrier: predictions of short steps with several threads")
    return gaps
