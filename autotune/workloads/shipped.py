"""The workloads that come with autotune, by the family of a setup read from a config.

A family is imported where it is used: no command needs more than one.
"""

from collections.abc import Callable, Mapping

from autotune.domain.setup import Setup
from autotune.workloads.base import Workload


def ivp(setup: Setup) -> Workload:
    """The workload of a setup about IVPs, in the variants of a space."""
    from autotune.workloads.generated.generated_workload import GeneratedWorkload
    from autotune.workloads.ivp.ivp_kind import IvpKind

    return GeneratedWorkload(setup, IvpKind())


def stencil(setup: Setup) -> Workload:
    """The workload of a setup about stencils, in the variants of a space."""
    from autotune.workloads.generated.generated_workload import GeneratedWorkload
    from autotune.workloads.stencil.stencil_kind import StencilKind

    return GeneratedWorkload(setup, StencilKind())


def program(setup: Setup) -> Workload:
    """The workload of a setup about a program with its arguments."""
    from autotune.workloads.program.program_workload import ProgramWorkload

    return ProgramWorkload(setup)


SHIPPED: Mapping[str, Callable[[Setup], Workload]] = {
    "ivp": ivp,
    "stencil": stencil,
    "program": program,
}
"""The families that a config may name; a workload of your own is passed as an object instead."""


def workload_of(setup: Setup) -> Workload:
    """The workload of a setup that is about IVPs, stencils or a program."""
    return SHIPPED[setup.family](setup)
