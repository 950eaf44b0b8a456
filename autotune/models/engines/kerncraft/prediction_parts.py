"""The parts and the reason of a prediction by engine ``kerncraft``."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from autotune.domain.results import Part, Prediction
from autotune.models.engines.explain import BARRIER
from autotune.models.engines.kerncraft.node_stretches import StretchTiming
from autotune.models.engines.kerncraft.step_plan import NamedStretches
from autotune.units import Seconds

_ALL = 1 - 1e-9
"""A part above this share of the whole counts as the whole: the rest is rounding."""
_KERNELS_NAMED = 2
"""Number of kernels that a reason names."""


def parts(plan: NamedStretches, timing: StretchTiming, barriers: float) -> tuple[Part, ...]:
    """The contributions of each sweep in program order; sweeps of equal name are added up.

    ``T_OL``, ``T_nOL`` and the levels are for one core with its part of the iterations; ``sweep``
    is the time of the node. The memory's part includes the wait for the other cores; where memory
    is saturated it is the whole time. The ``sweep`` and ``barrier`` parts add up to the time step.
    """
    total: dict[str, dict[str, float]] = {}
    for index, stretch in enumerate(plan.stretches):
        kinds = total.setdefault(stretch.sweep, defaultdict(float))
        for kind, seconds in _row(timing, index):
            kinds[kind] += seconds
    result = [
        Part(sweep=name, kind=kind, seconds=Seconds(seconds))
        for name, kinds in total.items()
        for kind, seconds in kinds.items()
        if seconds > 0
    ]
    if barriers > 0:
        result.append(Part(sweep=BARRIER, kind=BARRIER, seconds=Seconds(barriers)))
    return tuple(result)


def _row(timing: StretchTiming, index: int) -> Iterator[tuple[str, float]]:
    """The kind and the seconds of each part of one stretch."""
    yield "T_OL", float(timing.T_OL[index])
    yield "T_nOL", float(timing.T_nOL[index])
    yield from zip(timing.levels, timing.transfers[index].tolist(), strict=True)
    yield "sweep", float(timing.seconds[index])


@dataclass(slots=True)
class _Kernel:
    seconds: float = 0.0
    bounds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    saturated: list[float] = field(default_factory=list)


def reason(
    plan: NamedStretches, timing: StretchTiming, barriers: float, seconds: float, cores: int
) -> str:
    """One line: the kernels that take most of the step, and what bounds each.

    ``cores`` are those of a NUMA domain in use. For example: "LC bound by MEM, saturated from 2.4
    of 8 cores: 62 % of the step".
    """
    kernels: dict[str, _Kernel] = defaultdict(_Kernel)
    for index, stretch in enumerate(plan.stretches):
        kernel = kernels[stretch.kernel.upper()]
        row = dict(_row(timing, index))
        took = row.pop("sweep")
        hidden = row.pop("T_OL")
        kernel.seconds += took
        if hidden >= took * _ALL:
            kernel.bounds["T_OL"] += hidden
            continue
        for kind, value in row.items():
            kernel.bounds[kind] += value
        if timing.saturation[index] <= cores:
            kernel.saturated.append(float(timing.saturation[index]))
    phrases: list[str] = []
    for name, kernel in sorted(kernels.items(), key=lambda item: -item[1].seconds)[:_KERNELS_NAMED]:
        share = f"{100 * kernel.seconds / seconds:.0f} %" + ("" if phrases else " of the step")
        bound = max(kernel.bounds, key=lambda kind: kernel.bounds[kind])
        where = f"by {bound}"
        if bound in ("T_OL", "T_nOL"):
            where = f"in core ({bound})"
        elif kernel.saturated and bound == timing.levels[-1]:
            where += f", saturated from {min(kernel.saturated):.2g} of {cores} cores"
        phrases.append(f"{name} bound {where}: {share}")
    if barriers > 0.05 * seconds:
        phrases.append(f"barriers: {100 * barriers / seconds:.0f} %")
    return "; ".join(phrases)


def with_notes(prediction: Prediction, *more: str | None) -> Prediction:
    """The prediction with further notes; notes that are None are skipped."""
    added = [note for note in more if note]
    return replace(prediction, notes=(*prediction.notes, *added)) if added else prediction
