"""Where a study runs: what starts its programs, what the host is like, which versions take part."""

import contextlib
import hashlib
import importlib.metadata
import platform
from pathlib import Path

from autotune.commands.rank.host_machine import HOST
from autotune.commands.rank.ranked_space import RankedSpace
from autotune.domain.machine import Machine
from autotune.domain.setup import Setup
from autotune.errors import Fault, InputError, MissingTool, WorkFailed
from autotune.measuring.conditions import energy, quiet
from autotune.measuring.host import calibrate, detect, stored_calibrations
from autotune.progress import Progress
from autotune.results.evaluate.study_evaluation import ASKED
from autotune.toolchain import compiler as compilers
from autotune.toolchain import launcher, mpi
from autotune.version import VERSION
from autotune.workloads.program.measuring import command_line

_HOLDS = 0.2
"""A calibration holds while clock and memory bandwidth are within this share of its figures."""


def check_launchers(setup: Setup) -> None:
    """Raise InputError or MissingTool, with its place, for a launcher that cannot start anything.

    For layouts of several ranks an MPI with its headers is needed too.
    """
    launcher.check(setup.launcher, setup.place("launcher"))
    for index, layout in enumerate(setup.layouts):
        if layout.nodes * layout.ranks > 1:
            where = setup.place_of_layout(index)
            found = mpi.find(where)
            mpi.compile_flags(found, where)
            if setup.mpi_launcher:
                launcher.check(setup.mpi_launcher, setup.place("mpi_launcher"))
            elif layout.nodes > 1:
                raise InputError(
                    Fault(
                        where=where,
                        found=f"{layout.nodes} nodes, and nothing that starts ranks on them",
                        expected='an mpi_launcher: "srun -N {nodes} -n {ranks} {command}"',
                    )
                )
            else:
                mpi.launch_template(found, layout.ranks, where=where)


def check_objectives(setup: Setup) -> None:
    """Raise InputError, with its place, for an objective that cannot be read on this host."""
    wanted = setup.search.objectives
    where = setup.place("search.objectives")
    if "energy" in wanted:
        energy.require(where)
    nodes = max(layout.nodes for layout in setup.layouts)
    if nodes > 1 and wanted != ("time",):
        raise InputError(
            Fault(
                where=where,
                found=f"{' and '.join(wanted[1:])} of programs on {nodes} nodes cannot be read",
                expected="objectives: [time], or layouts of one node",
            )
        )


def conditions_of(found: RankedSpace, progress: Progress) -> dict[str, float | int | str]:
    """What the host is like at the start of a run, and whether the calibration still holds."""
    conditions: dict[str, float | int | str] = {
        "priority": quiet.attainable_priority(),
        "others": quiet.other_processes().note or "idle",
    }
    if found.setup.search.objectives != ("time",):
        conditions[ASKED] = ", ".join(found.setup.search.objectives)
    if found.setup.machine is not None:
        here = detect.detect().title
        if found.setup.launcher == launcher.PLACE and here != found.machine.title:
            conditions["warning"] = f"predicted for {found.machine.name}, timed on {here}"
        return conditions
    if found.machine.calibration is None:
        return conditions
    progress("check the calibration", 0, 1)
    with contextlib.suppress(WorkFailed):
        check = calibrate.recheck(found.machine)
        conditions["clock_ratio"] = round(check.clock_ratio, 3)
        conditions["bandwidth_ratio"] = round(check.bandwidth_ratio, 3)
        if max(abs(check.clock_ratio - 1), abs(check.bandwidth_ratio - 1)) > _HOLDS:
            conditions["warning"] = f"{check}; calibrate again: autotune machine calibrate"
    progress("check the calibration", 1, 1)
    return conditions


def versions(setup: Setup) -> dict[str, str]:
    """Versions of what takes part: part of the provenance of every run."""
    builds = [compilers.find(build) for build in setup.compiled_builds]
    known = {
        "autotune": VERSION,
        "python": platform.python_version(),
        "compilers": "; ".join(c.title for c in builds),
    }
    if any(layout.nodes * layout.ranks > 1 for layout in setup.layouts):
        with contextlib.suppress(MissingTool):  # none is needed to read a job's results
            known["mpi"] = mpi.find().title
    if setup.program is not None:
        known["tools"] = command_line.tools(setup.program)
    for name in ("osaca", "kerncraft", "optuna", "numpy"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            known[name] = importlib.metadata.version(name)
    return known


def identity_of(machine: Machine) -> str:
    """What times are filed under: the identity of the host, else the name."""
    if machine.calibration:
        return machine.calibration.identity
    return stored_calibrations.identity(machine) if machine.name == HOST else machine.name


def content(setup: Setup) -> str:
    """The configuration, word for word, and digests of what it names."""
    program = setup.program
    names = [p.definition for p in setup.problems]
    if program is None:
        names.insert(0, setup.skeleton.definition)
        varied = repr(setup.space)
    else:
        varied = repr((program.parameters, program.constraints, program.baseline))
    space = hashlib.sha256(varied.encode()).hexdigest()[:12]
    text = Path(setup.source).read_text(encoding="utf-8")
    return f"{text}\n# definitions: {' '.join(names)} {space}\n"


def launching(setup: Setup) -> str:
    """Digest of how programs are started, beside what their candidate says: 12 hex digits."""
    ways = (setup.launcher, setup.mpi_launcher, sorted(setup.environment.items()))
    return hashlib.sha256(repr(ways).encode()).hexdigest()[:12]
