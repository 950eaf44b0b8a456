"""Explains predictions: the parts of each sweep, and the reason in one line of words."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from autotune.domain.results import Part
from autotune.models.engines.reuse.analysed_programs import TimingCase
from autotune.models.engines.reuse.evaluation_pieces import CasePiece, LoadedNode
from autotune.models.engines.reuse.line_cost import LineCosts
from autotune.models.engines.reuse.time_model import StepTimes, added_cycles, over_positions
from autotune.models.incore.base import InCoreResult
from autotune.models.traffic import POSITIONS, Floats, StepTraffic, Whole
from autotune.units import Seconds

BARRIER = "barrier"
UNKNOWN_BARRIER = "barriers are not counted: the machine has no figure"
STORES = "stores"
"""Part of stored bytes that pass through a cache which does not absorb them."""
ENTRY = "entry"
"""Part of entries into loops and of starts of their streams."""
ACROSS = "across"
"""Part of stores across lines."""
AGAIN = "again"
"""Part of loads that are issued again, as the line that they read is on its way."""
_KERNELS_NAMED = 2
"""Number of kernels that a reason names."""


@dataclass(slots=True)
class _Kernel:
    """Sums over all passes of one kernel: seconds, streams, and what bounds it."""

    seconds: float = 0.0
    bounds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    streams: dict[str, int] = field(default_factory=dict)
    bottleneck: tuple[float, str] = (0.0, "")


@dataclass(frozen=True, slots=True)
class SweepShares:
    """Seconds on the critical path and streams of each sweep, for several programs."""

    first: Whole
    """(cases + 1,): number of the first sweep of each case."""
    seconds: Floats
    """(sweeps, kinds): seconds on the critical path."""
    streams: Whole
    """(sweeps, levels): the most rows that one pass streams from each level, the innermost first"""


def kinds(costs: LineCosts) -> tuple[str, ...]:
    """The kinds of parts of a sweep, in the order of the columns of ``SweepShares.seconds``."""
    return ("T_OL", "T_nOL", *costs.names[1:], STORES, ENTRY, ACROSS, AGAIN, "sweep")


def shares(
    node: LoadedNode, piece: CasePiece, step: StepTimes, sweeps: Whole, clock: float
) -> SweepShares:
    """The seconds and streams of each sweep of several programs; ``sweeps``: the number of sweeps
    of each.
    """
    core = piece.core
    first = np.concatenate([[0], np.cumsum(sweeps)])
    place = first[piece.owner] + node.flows.sweep[piece.at]
    data = node.mean[:, piece.work]
    if piece.conflicts is not None:
        data = data + piece.conflicts[0]
    columns = [core.T_OL, core.T_nOL, *data, core.stored, core.entry]
    stated = piece.data.row(POSITIONS)
    columns += [added_cycles(core, stated, term)[0] for term in ("across", "again")]
    columns.append(over_positions(piece.rows))
    sums = [np.bincount(place, column[piece.alike] * step.weight, first[-1]) for column in columns]
    seconds = np.stack(sums, axis=1) / clock
    seconds[:, -1] *= np.repeat(step.stretch, sweeps)
    rows = node.streams[:, piece.work[piece.alike]].T
    streams = np.zeros((int(first[-1]), rows.shape[1]), dtype=np.int64)
    np.maximum.at(streams, place, rows)
    return SweepShares(first, seconds, streams)


@dataclass(frozen=True, slots=True)
class Contributions:
    """Seconds on the critical path and streams of each sweep of one program."""

    seconds: Floats
    """(sweeps, kinds): seconds on the critical path."""
    streams: Whole
    """(sweeps, levels)"""
    barriers: float
    """Seconds of all barriers."""


def parts(case: TimingCase, contributions: Contributions, costs: LineCosts) -> tuple[Part, ...]:
    """The contributions of each sweep along the critical path, in program order.

    ``T_OL``, ``T_nOL`` and the levels overlap; ``sweep`` is their combination. The ``sweep`` and
    ``barrier`` parts add up to the time step.
    """
    all_parts = []
    names = kinds(costs)
    counted = dict.fromkeys(names, 0.0)
    by_name: dict[str, list[int]] = defaultdict(list)
    for index, sweep in enumerate(case.traffic.schedule.sweeps):
        by_name[sweep.name].append(index)
    for name, indices in by_name.items():
        rough = any(case.results[index].approximate for index in indices)
        kernel = case.traffic.schedule.sweeps[indices[0]].kernel
        several = len(indices) > 1
        row = (
            contributions.seconds[indices].sum(axis=0)
            if several
            else contributions.seconds[indices[0]]
        )
        most = (
            contributions.streams[indices].max(axis=0)
            if several
            else contributions.streams[indices[0]]
        )
        counts = counted | dict(zip(costs.names[1:], most[1:].tolist(), strict=True))
        for kind, value in zip(names, row.tolist(), strict=True):
            if value > 0:
                unsure = rough if kind in ("T_OL", "T_nOL") else kind in costs.extrapolated
                all_parts.append(
                    Part(
                        sweep=name,
                        kind=kind,
                        seconds=Seconds(value),
                        extrapolated=unsure and kind != "sweep",
                        kernel=kernel,
                        count=float(counts[kind]),
                    )
                )
    if contributions.barriers > 0:
        all_parts.append(Part(sweep=BARRIER, kind=BARRIER, seconds=Seconds(contributions.barriers)))
    return tuple(all_parts)


def reason(case: TimingCase, streams: Whole, parts_of_step: Sequence[Part], seconds: float) -> str:
    """One line: the kernels that take most of the step, and what bounds each.

    For example: "LC, 62 % of the step: 8 rows from L3 take 55 % of it; RHS, 20 %: work in core
    (port 5) takes 70 % of it". What arithmetic or the other parts hide is no bound.
    ``streams``: (sweeps, levels), the most rows that a pass streams from each level.
    """
    kernels = _kernels(case.traffic, parts_of_step, case.results)
    _count_streams(case.traffic, streams, kernels)
    phrases: list[str] = []
    for name, kernel in sorted(kernels.items(), key=lambda item: -item[1].seconds)[:_KERNELS_NAMED]:
        share = f"{100 * kernel.seconds / seconds:.0f} %" + ("" if phrases else " of the step")
        bound = bounding(kernel.bounds, kernel.seconds)
        if bound in ("T_OL", "T_nOL"):
            words = f"work in core ({kernel.bottleneck[1]}) takes"
        elif bound == STORES:
            words = "stores through the innermost cache take"
        elif bound == ENTRY:
            words = "entries into short loops take"
        elif bound == ACROSS:
            words = "stores across lines take"
        elif bound == AGAIN:
            words = "loads of lines still on the way take"
        else:
            rows = kernel.streams.get(bound, 0)
            rows_text = f"{rows} row{'s' if rows != 1 else ''}" if rows else "lines"
            words = f"{rows_text} from {bound} take{'s' if rows == 1 else ''}"
        part = 100 * kernel.bounds[bound] / kernel.seconds
        phrases.append(f"{name}, {share}: {words} {part:.0f} % of it")
    barriers = sum(part.seconds for part in parts_of_step if part.kind == BARRIER)
    if barriers > 0.05 * seconds:
        phrases.append(f"barriers: {100 * barriers / seconds:.0f} %")
    return "; ".join(phrases)


def bounding(bounds: Mapping[str, float], seconds: float) -> str:
    """The kind of the largest part that counts in max(T_OL, all other parts), of ``seconds``.

    >>> bounding({"T_OL": 4.0, "T_nOL": 3.0, "L2": 2.0}, 5.0)
    'T_nOL'
    """
    counting = {kind: value for kind, value in bounds.items() if kind != "T_OL"}
    if bounds.get("T_OL", 0.0) >= 0.99 * seconds or not any(counting.values()):
        return "T_OL"
    return max(counting, key=lambda kind: counting[kind])


def _kernels(
    traffic: StepTraffic, parts_of_step: Sequence[Part], results: Sequence[InCoreResult]
) -> dict[str, _Kernel]:
    sweeps = {sweep.name: k for k, sweep in enumerate(traffic.schedule.sweeps)}
    kernels: dict[str, _Kernel] = defaultdict(_Kernel)
    for part in parts_of_step:
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


def _count_streams(traffic: StepTraffic, streams: Whole, kernels: dict[str, _Kernel]) -> None:
    """Update ``streams`` by the number of rows that one pass of a kernel streams from each level;
    the maximum counts.
    """
    names = [name for name, _ in traffic.levels]
    for sweep, counts in zip(traffic.schedule.sweeps, streams.tolist(), strict=True):
        kernel = kernels.get(_shown(sweep.kernel))
        if kernel is not None:
            for level, count in zip(names, counts, strict=True):
                kernel.streams[level] = max(kernel.streams.get(level, 0), count)


def _shown(kernel: str) -> str:
    """The name of a kernel as the literature has it: LC, RHS, APPROX, UPDATE."""
    return kernel.upper()
