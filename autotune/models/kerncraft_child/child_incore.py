# mypy: disable-error-code="import-untyped"
"""In-core times: of kerncraft's own analysis, provided that the assembly block counts the same
iterations, or as the request states them.
"""

from dataclasses import dataclass

from kerncraft.models.ecm import ECMCPU

from autotune.models.kerncraft_child.iteration_units import check_units
from autotune.models.kerncraft_child.kernel_subject import (
    MODEL,
    OTHER,
    OVERLAPPING,
    Json,
    KernelOnMachine,
    KernelRefused,
)


@dataclass(frozen=True, slots=True)
class StatedTimes:
    """In-core times of a kernel in cycles per line of work, in place of kerncraft's analysis."""

    T_OL: float
    T_nOL: float


def in_core_times(subject: KernelOnMachine, stated: StatedTimes | None) -> Json:
    """T_OL and T_nOL in cycles per line of work.

    Raises ``KernelRefused`` where the assembly block and kerncraft count different iterations.
    """
    if stated is not None:
        return _as_stated(subject, stated)
    kernel = subject.kernel
    if MODEL not in subject.machine()["in-core model"]:
        raise KernelRefused(f"the machine file has no {MODEL} under 'in-core model'")
    analysis, increment = kernel.incore_analysis(
        asm_block="auto", pointer_increment="auto", model=MODEL
    )
    answer = (analysis, increment)
    kernel.incore_analysis = lambda **_: answer
    check_units(kernel, analysis["analyzed kernel"], increment)
    model = ECMCPU(kernel, subject.machine(), subject.arguments(), subject.parser)
    times = model.analyze()
    compiler, flags = subject.machine().get_compiler()
    return {
        "T_OL": float(times["T_comp"]),
        "T_nOL": float(times["T_RegL1"]),
        "compiler": " ".join([compiler, *flags]),
    }


def _as_stated(subject: KernelOnMachine, stated: StatedTimes) -> Json:
    """The stated times, and kerncraft's kernel made to answer with them: a block of one line that
    keeps two ports busy.
    """
    line = int(subject.machine()["cacheline size"])
    ports = {OVERLAPPING: stated.T_OL, OTHER: stated.T_nOL}
    answer = {"throughput": 0.0, "port cycles": ports, "uops": None, "output": ""}
    subject.kernel.incore_analysis = lambda **_: (answer, line)
    return {"T_OL": stated.T_OL, "T_nOL": stated.T_nOL, "compiler": ""}
