"""Predictions from stated loops on a node: arithmetic of engine ``reuse``, parts, reasons."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from autotune.domain.machine import Machine
from autotune.domain.results import Part, Prediction
from autotune.models.engines import explain
from autotune.models.engines.explain import BARRIER, ENTRY, STORES, UNKNOWN_BARRIER
from autotune.models.engines.reuse import uncertainty
from autotune.models.engines.reuse.case_evaluation import Evaluator
from autotune.models.engines.reuse.core_times import ProgramLoops
from autotune.models.engines.reuse.evaluation_pieces import (
    CaseArrays,
    CaseEstimates,
    ConflictLines,
    LoadedNode,
    ThreadPlacement,
)
from autotune.models.incore.base import InCoreResult
from autotune.models.traffic import Floats
from autotune.units import Seconds
from autotune.workloads.program.engine.program_engine import NAME, unknown
from autotune.workloads.program.engine.stated_flows import LoopWork, StatedStream, flows

_PIECE = 256
"""Number of candidates whose parts are computed at once."""
_LOOPS_NAMED = 2
"""Number of loops that a reason names."""
_WEAK = 0.03
"""Relative standard deviation above which a note names the weakness of the model."""


class StatedCase(NamedTuple):
    """A candidate: the work of one thread in its loops, and the compiled loops."""

    works: tuple[LoopWork, ...]
    results: tuple[InCoreResult, ...]
    barriers: float
    """Barriers of a run."""
    extra: float = 0.0
    """Seconds of a run outside all loops; reasons count them in the shares."""


def evaluated(
    machine: Machine, spread: ThreadPlacement, cases: Sequence[StatedCase]
) -> list[Prediction]:
    """One prediction per case, in order; without a time, a reason is given."""
    evaluator = Evaluator(machine)
    made = flows(
        [case.works for case in cases],
        [case.barriers for case in cases],
        spread.threads,
        int(machine.line),
    )
    node = evaluator.node(spread, [made])
    arrays, core = _cases(cases, spread.threads)
    crowds = ConflictLines.of(len(node.costs.names) - 1)
    estimates = evaluator.estimate(node, arrays, core, crowds)
    seconds, barriers = _parts(evaluator, node, arrays, core, crowds)
    barrier = evaluator.barrier(spread.threads)
    return [
        _prediction(case, row, node, estimates, seconds[row], float(barriers[row]), barrier)
        for row, case in enumerate(cases)
    ]


def _cases(cases: Sequence[StatedCase], threads: int) -> tuple[CaseArrays, ProgramLoops]:
    """The cases as arrays; cases with equal loops share them."""
    begin: dict[tuple[int, ...], int] = {}
    results: list[InCoreResult] = []
    for case in cases:
        key = tuple(id(result) for result in case.results)
        if key not in begin:
            begin[key] = len(results)
            results += case.results
    count = len(cases)
    arrays = CaseArrays(
        flow=np.arange(count),
        core=np.array([begin[tuple(id(r) for r in case.results)] for case in cases]),
        crowd=np.full(count, -1),
        team=np.full(count, threads),
    )
    return arrays, ProgramLoops.of(results)


def _parts(
    evaluator: Evaluator,
    node: LoadedNode,
    cases: CaseArrays,
    core: ProgramLoops,
    crowds: ConflictLines,
) -> tuple[list[Floats], Floats]:
    """(loops, kinds) seconds of each case, and (cases,) seconds of its barriers."""
    seconds: list[Floats] = []
    barriers: list[Floats] = []
    for rows in np.array_split(np.arange(len(cases.flow)), len(cases.flow) // _PIECE + 1):
        with np.errstate(all="ignore"):
            piece = evaluator.piece(node, cases.at(rows), core, crowds)
            step = evaluator.steps(piece)
            sweeps = np.diff(node.flows.passes)[rows]
            clock = float(evaluator.machine.frequency)
            shares = explain.shares(node, piece, step, sweeps, clock)
        first = shares.first.tolist()
        seconds += [shares.seconds[a:b] for a, b in pairwise(first)]
        barriers.append(step.barriers)
    return seconds, np.concatenate(barriers)


def _prediction(
    case: StatedCase,
    row: int,
    node: LoadedNode,
    estimates: CaseEstimates,
    columns: Floats,
    barriers: float,
    barrier: float | None,
) -> Prediction:
    seconds = float(estimates.seconds[row])
    if not (np.isfinite(seconds) and seconds > 0):
        return unknown(_missing(node, row))
    unsure = estimates.doubts.of(row, node.doubts.classes)
    return Prediction(
        seconds=Seconds(seconds),
        interval=None,
        parts=tuple(_part_list(case, node, columns, barriers)),
        engine=NAME,
        reason=_reason(case, node, columns, barriers, seconds + case.extra),
        notes=tuple(dict.fromkeys(_notes(case, node, unsure.shared, barrier))),
        uncertainty=unsure,
    )


def _missing(node: LoadedNode, row: int) -> str:
    """In words, the figure of the machine that is missing."""
    works = node.flows.work[node.flows.passes[row] : node.flows.passes[row + 1]]
    for level in range(len(node.costs.names) - 1):
        if np.isnan(node.mean[level, works]).any():
            return node.costs.missing(level + 1)
    return "the predicted time is not a number above zero"


def _part_list(
    case: StatedCase, node: LoadedNode, columns: Floats, barriers: float
) -> Iterator[Part]:
    """The contributions of each loop, then the barriers."""
    costs = node.costs
    for work, result, row in zip(case.works, case.results, columns.tolist(), strict=True):
        for kind, value in zip(explain.kinds(costs), row, strict=True):
            if not value > 0:
                continue
            rough = result.approximate if kind in ("T_OL", "T_nOL") else kind in costs.extrapolated
            yield Part(
                sweep=work.name,
                kind=kind,
                seconds=Seconds(value),
                extrapolated=rough,
                kernel=work.name,
                count=float(len(_from(work, kind, node))),
            )
    if barriers > 0:
        yield Part(sweep=BARRIER, kind=BARRIER, seconds=Seconds(barriers))


def _from(work: LoopWork, kind: str, node: LoadedNode) -> list[str]:
    """The names of the streams in a loop whose lines come from a level."""
    names = node.costs.names
    if kind not in names:
        return []
    streams = [s.name for s in work.streams if s.bytes > 0 and names[_level(s, node)] == kind]
    return list(dict.fromkeys(streams))


def _level(stream: StatedStream, node: LoadedNode) -> int:
    return int(node.costs.level(np.array([stream.distance]))[0])


def _reason(
    case: StatedCase, node: LoadedNode, columns: Floats, barriers: float, seconds: float
) -> str:
    """One line: the loops that take most of the run, and the bottleneck of each."""
    kinds = explain.kinds(node.costs)
    order = sorted(range(len(case.works)), key=lambda k: -columns[k, -1])
    phrases: list[str] = []
    for k in order[:_LOOPS_NAMED]:
        work, row = case.works[k], dict(zip(kinds, columns[k].tolist(), strict=True))
        whole = row.pop("sweep")
        share = f"{100 * whole / seconds:.0f} %" + ("" if phrases else " of the run")
        bound = explain.bounding(row, whole)
        if bound in ("T_OL", "T_nOL"):
            words = f"work in core ({case.results[k].bottleneck}) takes"
        elif bound == STORES:
            words = "stores through the innermost cache take"
        elif bound == ENTRY:
            words = "entries into the loop take"
        else:
            names = ", ".join(_from(work, bound, node)) or "lines"
            words = f"{names} from {bound} take{'' if ',' in names or names == 'lines' else 's'}"
        phrases.append(f"{work.name}, {share}: {words} {100 * row[bound] / whole:.0f} % of it")
    if barriers > 0.05 * seconds:
        phrases.append(f"barriers: {100 * barriers / seconds:.0f} %")
    if case.extra > 0.05 * seconds:
        phrases.append(f"extra: {100 * case.extra / seconds:.0f} %")
    return "; ".join(phrases)


def _notes(
    case: StatedCase, node: LoadedNode, shared: Mapping[str, float], barrier: float | None
) -> Iterator[str]:
    yield from node.costs.notes
    yield from node.doubts.notes
    yield "in-core by " + ", ".join(sorted({result.route for result in case.results}))
    yield from sorted({note for result in case.results for note in result.notes})
    if barrier is None and case.barriers:
        yield UNKNOWN_BARRIER
    yield "volumes and reuse distances are as the model states them"
    for name, text in uncertainty.WEAK.items():
        if abs(shared.get(name, 0.0)) > _WEAK:
            yield text
