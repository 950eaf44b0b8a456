"""Machines by name, and the host: detected, calibrated, checked against a setup."""

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

from autotune import paths
from autotune.domain.calibration import Calibration
from autotune.domain.cost_curve import OPERATIONS
from autotune.domain.machine import Machine
from autotune.domain.network import Network
from autotune.domain.setup import Setup
from autotune.domain.variant import Build
from autotune.errors import Fault, InputError
from autotune.files import config
from autotune.files.kerncraft.kerncraft_text import kerncraft_gaps
from autotune.measuring.conditions.host_lock import HostLock
from autotune.measuring.host import detect, stored_calibrations
from autotune.progress import Progress
from autotune.toolchain import compiler as compilers
from autotune.toolchain import mpi
from autotune.workloads.base import Workload

HOST = "host"
_HEAD = len("schema: autotune.machine")
"""So many characters of a machine file say what it is."""
DEFAULT_BUDGET = 45.0
"""Seconds of a calibration that nobody asked for: it is needed and there is none."""
NETWORK_BUDGET = 25.0
"""Seconds of measuring MPI that nobody asked for."""


def resolve_machine(workload: Workload, progress: Progress) -> Machine:
    """The machine of a study; without one in the setup, this host.

    The host is detected, and calibrated if it was not before. It is not calibrated if nothing is
    predicted. The network is measured if ranks of a layout communicate within the host.
    """
    setup = workload.setup
    if setup.machine is None and not workload.predicted:
        detected = detect.detect()
        return dataclasses.replace(detected, calibration=stored_calibrations.stored(detected))
    return setup.machine or with_network(host(progress), setup, progress)


def uncalibrated_machine(setup: Setup) -> Machine:
    """The machine of a setup, or this host without calibration: enough to list candidates."""
    return setup.machine or detect.detect()


# --- the host -------------------------------------------------------------------------------


def examine_host() -> detect.DetectedMachine:
    """This host and its compiler, and the evidence for each figure."""
    host = detect.examine()
    build = Build()
    try:
        compiler = compilers.find(build)
    except InputError as error:
        reason = detect.DetectionReason(key="compiler", decided="none", because=str(error))
    else:
        stands_for = " ".join(f for f in compiler.resolved_flags if f.startswith("-m"))
        reason = detect.DetectionReason(
            key="compiler",
            decided=compiler.version,
            because=f"{' '.join(build.flags)} stands for {stands_for[:60]} ...",
        )
    return dataclasses.replace(host, reasons=(*host.reasons, reason))


def host(progress: Progress) -> Machine:
    """This host with its stored calibration, else with a new one; so where that is of another
    version and can be replaced.

    While another process calibrates the host it is waited for, and what it has stored is used.
    """
    machine = detect.detect()
    calibration = stored_calibrations.stored(machine)
    if not _needed(calibration, machine):
        return dataclasses.replace(machine, calibration=calibration)
    with HostLock(progress).calibrating():
        calibration = stored_calibrations.stored(machine)
        if not _needed(calibration, machine):
            return dataclasses.replace(machine, calibration=calibration)
        why = "again, as another version did it last; " if calibration else ""
        if calibration and calibration.refined:
            why += "what studies refined is lost; "
        once = f"about {DEFAULT_BUDGET:g} s, once, not taken out of any budget"
        progress(f"calibrate this host ({why}{once})", 0, 1)
        return calibrate_host(DEFAULT_BUDGET, progress, machine)


def _needed(calibration: Calibration | None, machine: Machine) -> bool:
    """Whether the host is to be calibrated: it never was, or another version did it, and a new
    calibration can be stored in its place.
    """
    if calibration is None:
        return True
    if not stored_calibrations.outdated(calibration):
        return False
    try:
        stored_calibrations.check_writable(machine)
    except InputError:
        return False
    return True


def stored_calibration() -> Calibration | None:
    """The calibration of this host that is stored; None without one that can be used."""
    try:
        return stored_calibrations.stored(detect.detect())
    except InputError:
        return None


def with_network(machine: Machine, setup: Setup, progress: Progress) -> Machine:
    """The host with the MPI cost curves that the setup needs; missing curves are measured.

    Raises MissingTool, naming the layout, if a measurement is needed and there is no MPI.
    """
    network = stored_calibrations.stored_network(machine) or Network()
    needed = {
        layout.ranks: setup.place_of_layout(index)
        for index, layout in enumerate(setup.layouts)
        if layout.nodes == 1 and layout.ranks > 1
    }
    for ranks, place in sorted(needed.items()):
        operations = tuple(
            way for way in setup.communications if (way, 1, ranks) not in network.keys
        )
        if operations:
            from autotune.commands.comm import flow as comm_flow
            from autotune.measuring.network.mpi_benchmark import BenchmarkPlan

            mpi.find(place)
            progress("measure MPI on this host", 0, 1, f"{ranks} ranks")
            plan = BenchmarkPlan(
                ranks=ranks,
                operations=operations,
                budget_seconds=NETWORK_BUDGET,
                launcher=setup.mpi_launcher,
            )
            network = comm_flow.measure_host(machine, plan, progress)
    return dataclasses.replace(machine, network=network if network.curves else None)


def calibrate_host(
    budget_seconds: float,
    progress: Progress,
    machine: Machine | None = None,
    *,
    usual_load: bool = False,
    requested: bool = False,
) -> Machine:
    """Measure this host and keep the result in the user's data folder; the caller holds the lock
    of a calibration.

    ``usual_load``: other processes run here as they always do, so that intervals are not widened.
    A contended result replaces an undisturbed one of the same version only where it was
    ``requested``; then the other file is kept beside it. Raises InputError before anything is
    measured where that folder cannot be written.
    """
    from autotune.measuring.host import calibrate

    host = machine or detect.detect()
    stored_calibrations.check_writable(host)
    calibration = calibrate.calibrate(
        host,
        budget_seconds=budget_seconds,
        usual_load=usual_load,
        progress=_fraction(progress),
    )
    before = stored_calibration()
    if before and calibration.contended and stored_calibrations.undisturbed(before):
        if not requested:
            kept = f"the calibration of {before.taken} is kept"
            progress(f"{kept}: other processes disturbed only the new one", 1, 1)
            return dataclasses.replace(host, calibration=before)
        stored_calibrations.keep(before)
    stored_calibrations.save(calibration)
    return dataclasses.replace(host, calibration=calibration)


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

    Figures may be missing; ``machine_gaps`` lists them.
    """
    if name != HOST:
        return config.machine(name, complete=False)
    host = detect.detect()
    return dataclasses.replace(
        host,
        calibration=stored_calibrations.stored(host),
        network=stored_calibrations.stored_network(host),
    )


def write_machine(machine: Machine, path: Path) -> None:
    """Write a machine file; InputError if the path holds another kind of file."""
    text = config.dump_machine(machine)
    paths.check_output(path, appended=True)
    try:
        if path.is_file() and not path.read_bytes().startswith(text[:_HEAD].encode()):
            raise InputError(
                Fault(
                    where=str(path),
                    found="a file that is not a machine",
                    expected="a new file, or a machine to replace",
                    hint="name another with -o FILE",
                )
            )
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        found = f"cannot be written: {error.strerror or error}"
        raise InputError(Fault(where=str(path), found=found)) from error


def check_machine(name: str) -> Machine:
    """A machine by name or path; ConfigError listing every figure that is physically impossible."""
    return machine(name) if name == HOST else config.check_machine(name)


def machine_gaps(machine: Machine) -> list[str]:
    """The missing figures of a machine and their uses: ``memory.saturated: predictions in
    memory``.
    """
    gaps = [f"{figure}: {use}" for figure, use in _gaps(machine)]
    gaps += [f"{figure}: {use}" for figure, use in kerncraft_gaps(machine, in_core=False)]
    return list(dict.fromkeys(gaps))


def _gaps(machine: Machine) -> Iterator[tuple[str, str]]:
    if machine.in_core.osaca is None and machine.in_core.ports is None:
        yield "in_core (osaca or ports)", "every prediction"
    if machine.calibration is None:
        for cache in machine.caches[1:]:
            if cache.inbound is None:
                yield f"caches.{cache.name}.inbound", f"predictions of data in {cache.name}"
        if machine.memory.saturated is None:
            yield "memory.saturated", "predictions of data in memory, several threads"
        if machine.memory.single is None:
            yield "memory.single", "predictions of data in memory, one thread"
        if machine.barrier is None and machine.cores > 1:
            yield "barrier", "predictions of short steps with several threads"
    if machine.memory.capacity is None:
        yield "memory.capacity", "refusing what is too large (without it, nothing is refused)"
    if not machine.caches[0].write_back and machine.overlap.store_path is None:
        yield "overlap.store_path", "stores through the write-through cache"
    if machine.kerncraft is None and not machine.memory.benchmarks:
        yield (
            "memory.benchmarks",
            "bandwidths of kernels that store, with the engine kerncraft (loads only are used)",
        )
    curves = machine.network.curves if machine.network else ()
    for nodes, where in ((False, "within a node"), (True, "on several nodes")):
        operations_there = {c.operation for c in curves if (c.nodes > 1) == nodes}
        absent = [
            name for name in OPERATIONS if name != "pingpong" and name not in operations_there
        ]
        if absent:
            yield f"network curves {where} ({', '.join(absent)})", f"several ranks {where}"
