# mypy: disable-error-code="import-untyped"
"""The record of one kernel on one machine as plain data: everything its ECM model depends on."""

from collections.abc import Sequence

from kerncraft.models import ECM

from autotune.models.kerncraft_child.child_incore import StatedTimes, in_core_times
from autotune.models.kerncraft_child.kernel_subject import Json, KernelOnMachine, read_subject
from autotune.models.kerncraft_child.layer_conditions import (
    cache_sizes,
    layer_conditions,
    transfers,
)

_SAMPLES = ((37, 4), (1009, 10), (100_003, 100))
"""Sizes at which kerncraft's own results are recorded for comparison: the first, and the step."""


def analyse(place: str, stated: StatedTimes | None = None) -> Json:
    """The record of the kernel in this folder, with its own in-core times or the stated ones."""
    subject = read_subject(place, in_core=stated is None)
    names = subject.names()
    subject.set_sizes(dict.fromkeys(names, 1009))
    layers = layer_conditions(subject, names)
    in_core = in_core_times(subject, stated)
    socket = int(subject.machine()["cores per socket"])
    return {
        "constants": names,
        **machine_record(subject),
        **layers,
        **in_core,
        "samples": [
            sample(subject, names, first, step, cores)
            for cores in sorted({1, socket})
            for first, step in _SAMPLES
        ],
    }


def machine_record(subject: KernelOnMachine) -> Json:
    """What a record says of the machine."""
    machine = subject.machine()
    domain = int(machine["cores per NUMA domain"])
    return {
        "levels": [str(level["level"]) for level in machine["memory hierarchy"]][1:],
        "overlapping": [bool(level["transfers overlap"]) for level in machine["memory hierarchy"]],
        "caches": [cache_sizes(subject, cores) for cores in range(1, domain + 1)],
        "socket_cores": int(machine["cores per socket"]),
    }


def lines_record(place: str, lines: Sequence[tuple[float, float]]) -> Json:
    """The transfers of numbers of lines, loaded and stored in a line of work of the kernel."""
    subject = read_subject(place, in_core=False)
    subject.set_sizes(dict.fromkeys(subject.names(), 1009))
    return {
        **machine_record(subject),
        "options": [transfers(subject, loads, stores) for loads, stores in lines],
    }


def sample(
    subject: KernelOnMachine, names: Sequence[str], first: int, step: int, cores: int
) -> Json:
    """kerncraft's own results for sizes ``first``, ``first + step``, ... on a number of cores."""
    sizes = {name: first + step * k for k, name in enumerate(names)}
    subject.set_sizes(sizes)
    machine = subject.machine(cores)
    model = ECM(subject.kernel, machine, subject.arguments(cores), subject.parser)
    model.analyze()
    results = model.results
    return {
        "sizes": sizes,
        "cores": cores,
        "transfers": [float(cycles) for _, cycles in results["cycles"]],
        "T_ECM": float(results["total cycles"]["cy/CL"]),
        "saturation": float(results["scaling cores"]),
        "scaling": float(results["multi-core"]["performance"]["cy/CL"]),
    }
