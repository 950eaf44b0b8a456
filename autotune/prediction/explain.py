"""Why a candidate takes as long as predicted: parts per sweep, and one line in words."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from autotune.analysis.base import InCoreResult
from autotune.analysis.traffic import Traffic
from autotune.prediction.lines import LineCosts
from autotune.prediction.model import InCoreTimes, StepTime, Transfers
from autotune.results import Part
from autotune.units import Seconds

BARRIER = "barrier"
STORES = "stores"
"""Bytes that are stored through a cache that does not keep them back."""
_TOLD = 2
"""So many kernels are named in a reason."""


@dataclass(slots=True)
class _Kernel:
    """What the passes of one kernel add up to."""

    seconds: float = 0.0
    bounds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    streams: dict[str, int] = field(default_factory=dict)
    bottleneck: tuple[float, str] = (0.0, "")


def parts(
    traffic: Traffic,
    moved: Sequence[Transfers],
    in_core: InCoreTimes,
    step: StepTime,
    costs: LineCosts,
    results: Sequence[InCoreResult],
    clock: float,
) -> tuple[Part, ...]:
    """The contributions of each sweep along the critical path, in program order.

    ``T_OL``, ``T_nOL`` and the levels overlap; ``sweep`` is what they combine to. The ``sweep``
    and ``barrier`` parts add up to the time step.
    """
    kinds = ("T_OL", "T_nOL", *costs.names[1:], STORES, "sweep")
    seconds = _by_sweep(traffic, moved, in_core, step) / clock
    seconds[:, -1] *= step.stretch
    made = []
    alike: dict[str, list[int]] = defaultdict(list)
    for index, sweep in enumerate(traffic.schedule.sweeps):
        alike[sweep.name].append(index)
    for name, indices in alike.items():
        rough = any(results[index].approximate for index in indices)
        for kind, value in zip(kinds, seconds[indices].sum(axis=0), strict=True):
            unsure = rough if kind in ("T_OL", "T_nOL") else kind in costs.extrapolated
            if kind == "sweep":
                unsure = False
            if value > 0:
                made.append(
                    Part(
                        sweep=name,
                        kind=kind,
                        seconds=Seconds(float(value)),
                        extrapolated=unsure,
                    )
                )
    if step.barriers > 0:
        made.append(Part(sweep=BARRIER, kind=BARRIER, seconds=Seconds(step.barriers)))
    return tuple(made)


def _by_sweep(
    traffic: Traffic, moved: Sequence[Transfers], in_core: InCoreTimes, step: StepTime
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """(sweeps, kinds): cycles on the critical path."""
    sweep_of = np.array([call.sweep for call in traffic.schedule.steps[-1].calls])
    levels = moved[0].data.shape[1]
    total = np.zeros((len(traffic.schedule.sweeps), levels + 3))
    for thread, transfer, weight, cycles in zip(
        traffic.threads, moved, step.weights, step.cycles, strict=True
    ):
        owner = sweep_of[[item.call for item in thread.passes]]
        columns = [in_core.T_OL[owner], in_core.T_nOL[owner]]
        columns += [*transfer.data.mean(axis=2).T[1:], transfer.stored, cycles]
        for column, values in enumerate(columns):
            total[:, column] += np.bincount(owner, values * weight, len(total))
    return total


def reason(
    traffic: Traffic,
    moved: Sequence[Transfers],
    made: Sequence[Part],
    results: Sequence[InCoreResult],
    seconds: float,
) -> str:
    """One line: the kernels that take most of the step, and what bounds each.

    For example: "LC streams 8 rows from L3: 62 % of the step; RHS bound in core (port 5): 20 %".
    """
    kernels = _kernels(traffic, made, results)
    _count_streams(traffic, moved, kernels)
    told: list[str] = []
    for name, kernel in sorted(kernels.items(), key=lambda item: -item[1].seconds)[:_TOLD]:
        share = f"{100 * kernel.seconds / seconds:.0f} %" + ("" if told else " of the step")
        bound = max(kernel.bounds, key=lambda kind: kernel.bounds[kind])
        if bound in ("T_OL", "T_nOL"):
            told.append(f"{name} bound in core ({kernel.bottleneck[1]}): {share}")
        elif bound == STORES:
            told.append(f"{name} bound by stores through the innermost cache: {share}")
        else:
            rows = kernel.streams.get(bound, 0)
            rows_text = f"{rows} row{'s' if rows != 1 else ''} " if rows else ""
            told.append(f"{name} streams {rows_text}from {bound}: {share}")
    barriers = sum(part.seconds for part in made if part.kind == BARRIER)
    if barriers > 0.05 * seconds:
        told.append(f"barriers: {100 * barriers / seconds:.0f} %")
    return "; ".join(told)


def _kernels(
    traffic: Traffic, made: Sequence[Part], results: Sequence[InCoreResult]
) -> dict[str, _Kernel]:
    sweeps = {sweep.name: k for k, sweep in enumerate(traffic.schedule.sweeps)}
    kernels: dict[str, _Kernel] = defaultdict(_Kernel)
    for part in made:
        if part.kind == BARRIER:
            continue
        index = sweeps[part.sweep]
        kernel = kernels[_shown(traffic.schedule.sweeps[index].kernel)]
        if part.kind == "sweep":
            kernel.seconds += part.seconds
            candidate = (float(part.seconds), results[index].bottleneck)
            kernel.bottleneck = max(kernel.bottleneck, candidate)
        else:
            kernel.bounds[part.kind] += part.seconds
    return kernels


def _count_streams(
    traffic: Traffic,
    moved: Sequence[Transfers],
    kernels: dict[str, _Kernel],
) -> None:
    """The most rows that one pass of a kernel streams from each level."""
    names = [name for name, _ in traffic.levels]
    plan = traffic.schedule
    owners = np.array([call.sweep for call in plan.steps[-1].calls])
    for thread, transfer in zip(traffic.threads, moved, strict=True):
        owner = owners[[item.call for item in thread.passes]]
        for index, sweep in enumerate(plan.sweeps):
            kernel = kernels.get(_shown(sweep.kernel))
            mine = transfer.streams[owner == index]
            if kernel is None or not len(mine):
                continue
            for level, count in zip(names, mine.max(axis=0).tolist(), strict=True):
                kernel.streams[level] = max(kernel.streams.get(level, 0), count)


def _shown(kernel: str) -> str:
    """A kernel as the literature writes it: LC, RHS, APPROX, UPDATE."""
    return kernel.upper()
