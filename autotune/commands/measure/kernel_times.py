"""Predicted and measured seconds per step of each kernel and of the barriers of one candidate."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from autotune.codegen.tree import loop_tree
from autotune.domain.dissection import KernelTime
from autotune.domain.results import Part


def kernel_times(
    program: loop_tree.StepProgram,
    parts: Sequence[Part],
    phases: Mapping[str, float],
    step: float | None,
) -> tuple[KernelTime, ...]:
    """Parts of a prediction beside phases of an instrumented run, in seconds per step.

    Kernels that share a function are listed as one, because their times cannot be separated.
    ``step``: the measured time of the step without instruments. Timers and other processes make
    the instrumented run longer, so that only the shares of the phases count where it is known.
    """
    whole = sum(phases.values())
    scale = step / whole if step is not None and whole else 1.0
    groups = _groups(program)
    predicted: dict[str, float] = defaultdict(float)
    for part in parts:
        if part.kind in ("sweep", "barrier"):
            predicted[groups.get(part.sweep, part.sweep)] += part.seconds
    measured: dict[str, float] = defaultdict(float)
    kernels = {sweep.kernel: groups[sweep.name] for sweep in loop_tree.every_sweep(program.body)}
    for name, value in phases.items():
        measured[kernels.get(name, name)] += value * scale
    return tuple(
        KernelTime(kernel=name, predicted=predicted.get(name), measured=measured.get(name))
        for name in dict.fromkeys((*predicted, *measured))
    )


def _groups(program: loop_tree.StepProgram) -> dict[str, str]:
    """For each sweep, the joined names of all kernels that share a function with it."""
    groups: list[tuple[set[str], list[str]]] = []
    for sweep in loop_tree.every_sweep(program.body):
        own_groups = [g for g in groups if sweep.name in g[0] or sweep.kernel in g[1]]
        names = {sweep.name}.union(*(g[0] for g in own_groups))
        kernels = list(dict.fromkeys([k for g in own_groups for k in g[1]] + [sweep.kernel]))
        groups = [g for g in groups if g not in own_groups] + [(names, kernels)]
    return {name: " + ".join(kernels) for names, kernels in groups for name in names}
