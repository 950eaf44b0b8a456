"""Checks before a study starts: launchers, readable objectives, a quiet host."""

import contextlib

from autotune.commands.rank.ranked_space import RankedSpace
from autotune.domain.setup import Setup
from autotune.errors import Fault, InputError, WorkFailed
from autotune.measuring.conditions import energy, host_load, quiet
from autotune.measuring.host import calibrate, detect
from autotune.progress import Progress
from autotune.results.evaluate.common_winner import RULE, WEIGHTS
from autotune.results.evaluate.study_evaluation import SEARCHED
from autotune.toolchain import launcher, mpi


def check_launchers(setup: Setup) -> None:
    """Raise InputError or MissingTool, with the place in the config, for an unusable launcher.

    Layouts of several ranks need an MPI with its headers too.
    """
    launcher.check(setup.launcher, setup.place("launcher"))
    for index, layout in enumerate(setup.layouts):
        if layout.nodes * layout.ranks > 1:
            where = setup.place_of_layout(index)
            mpi_found = mpi.find(where)
            mpi.compile_flags(mpi_found, where)
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
                mpi.launch_template(mpi_found, layout.ranks, where=where)


def check_objectives(setup: Setup) -> None:
    """Raise InputError, with the place in the config, for an objective that is unreadable here."""
    objectives = setup.search.objectives
    where = setup.place("search.objectives")
    if "energy" in objectives:
        energy.require(where)
    nodes = max(layout.nodes for layout in setup.layouts)
    if nodes > 1 and objectives != ("time",):
        raise InputError(
            Fault(
                where=where,
                found=f"{' and '.join(objectives[1:])} of programs on {nodes} nodes cannot be read",
                expected="objectives: [time], or layouts of one node",
            )
        )


def conditions_of(ranked: RankedSpace, progress: Progress) -> dict[str, float | int | str]:
    """The state of the host at the start of a run, and whether its calibration still holds, where
    predictions rest on it.
    """
    conditions: dict[str, float | int | str] = {
        "priority": quiet.attainable_priority(),
        "others": quiet.other_processes().note or "idle",
        "large_pages": host_load.large_pages(),
    }
    if ranked.setup.search.objectives != ("time",):
        conditions[SEARCHED] = ", ".join(ranked.setup.search.objectives)
    if ranked.setup.search.winner != "each":
        conditions[RULE] = ranked.setup.search.winner
        conditions[WEIGHTS] = ", ".join(map(repr, ranked.setup.search.weights))
    if ranked.setup.machine is not None:
        here = detect.detect().title
        if ranked.setup.launcher == launcher.PLACE and here != ranked.machine.title:
            conditions["warning"] = f"predicted for {ranked.machine.name}, timed on {here}"
        return conditions
    if ranked.machine.calibration is None or not ranked.workload.predicted:
        return conditions
    progress("check the calibration", 0, 1)
    with contextlib.suppress(WorkFailed):
        check = calibrate.recheck(ranked.machine)
        conditions["clock_ratio"] = round(check.clock_ratio, 3)
        if check.bandwidth_ratio is not None:
            conditions["bandwidth_ratio"] = round(check.bandwidth_ratio, 3)
        if check.line_of_another_core is not None:
            conditions["line_of_another_core_cycles"] = round(check.line_of_another_core, 1)
        if check.changes:
            conditions["warning"] = f"when the study began, {check}"
    progress("check the calibration", 1, 1)
    return conditions
