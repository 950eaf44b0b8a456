# mypy: disable-error-code="import-untyped"
"""In-core times from kerncraft's own analysis, provided that the assembly block counts the same
iterations.
"""

from kerncraft.models.ecm import ECMCPU

from autotune.models.kerncraft_child.iteration_units import check_units
from autotune.models.kerncraft_child.kernel_subject import Json, KernelOnMachine, KernelRefused

MODEL = "OSACA"
"""The only in-core model of kerncraft that still works."""


def in_core_times(subject: KernelOnMachine) -> Json:
    """T_OL and T_nOL in cycles per line of work.

    Raises ``KernelRefused`` where the assembly block and kerncraft count different iterations.
    """
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
