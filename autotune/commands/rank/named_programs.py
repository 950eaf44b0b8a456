"""Programs that a config and its machine file make a prediction run."""

import dataclasses
from collections.abc import Iterator

from autotune.domain.setup import Setup
from autotune.errors import Fault, InputError
from autotune.toolchain import known_flags


def require_known(setup: Setup) -> Setup:
    """The setup as one that is not trusted: predicting runs compilers on PATH, nothing else.

    Raises InputError with every compiler, flag and launcher for which a prediction would need
    trust. What depends on the parameters of a candidate is checked when it is compiled.
    """
    faults = list(_faults(setup))
    if faults:
        raise InputError(*faults)
    return dataclasses.replace(setup, trusted=False)


def _faults(setup: Setup) -> Iterator[Fault]:
    for build in setup.compiled_builds:
        place = setup.place_of_build(build)
        yield from known_flags.command_faults(build.compiler, build.flags, place)
    if setup.machine is not None:
        where = f"{setup.place('machine')}: machine {setup.machine.name}"
        yield from known_flags.machine_faults(setup.machine.compilers, where)
    elif setup.mpi_launcher and any(
        layout.nodes == 1 and layout.ranks > 1 for layout in setup.layouts
    ):
        yield Fault(
            where=setup.place("mpi_launcher"),
            found=f"{setup.mpi_launcher!r} would be run to measure MPI on this host",
            expected="no mpi_launcher where ranks on this host are predicted",
            hint=known_flags.TRUST,
        )
