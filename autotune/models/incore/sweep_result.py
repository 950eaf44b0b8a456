"""The in-core time of a sweep from the cost of its loops.

T_OL is the largest of: the busiest port that is no data port, the front end, the loop-carried
dependency. T_nOL is the busiest data port (loads and stores of L1; Scherg et al. 2019, Eq. 6), or,
where that was measured and is longer, the time to take up all operations on vectors, loads and
stores among them. Both are in cycles per source iteration; loops that run one after the other are
added.

Instructions that the tables lack add their time by a port table (a lower bound, as it is assumed to
overlap with nothing but itself). Library calls are priced by ``library_calls``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from autotune.domain.machine import PortTable
from autotune.models.incore.annotate import AnnotatedLoop, annotated
from autotune.models.incore.assembly.hot_loops import HotLoops
from autotune.models.incore.assembly.instructions import DOUBLE
from autotune.models.incore.assembly.loop_passes import HotLoop
from autotune.models.incore.base import InCoreResult, RemainderLoop
from autotune.models.incore.cost import library_calls, memory_corrections, port_table
from autotune.models.incore.cost.loop_cost import (
    STARTS,
    InstructionTables,
    LoopCost,
    calls_out,
    cost_of_loop,
)
from autotune.units import Cycles

EXACT, CLOSE, DOUBTFUL = 0.1, 0.2, 0.3
"""Relative half-widths. Exact: rates measured on the host, whichever core the tables are of (the
root mean square deviation of such loops of half ``even`` of benchmarks/loops.py is 0.076), or one
limit of the core's tables above the others. Close: several limits of these tables that are close,
so that work is not divided as well as it could be, or instructions taken as alike. Doubtful: the
tables of a nearest core alone, or a loop that is approximated in some way."""
_APART = 0.75
"""Share of the largest limit below which others are not close to it."""
_PER_GATHER, _UNKNOWN, _WIDEST = 0.3, 0.2, 0.8
_LINE = 64


def result(loops: HotLoops, tables: InstructionTables) -> InCoreResult:
    """The in-core time of a sweep from OSACA's tables."""
    main = [cost_of_loop(loop, tables) for loop in loops.main]
    rest = [cost_of_loop(loop, tables) for loop in loops.rest]
    first = main[0]
    hottest = max(main, key=lambda c: max(c.limits.values()) / c.loop.iterations)
    notes = _notes(main, loops, tables.calls)
    unknown = tuple(sorted({name for c in main for name in c.unknown}))
    replaced = {name for c in main for name in c.replaced}
    measured = _measured(main, tables)
    doubtful = (tables.approximate and not measured) or any(c.loop.approximate for c in main)
    close = not measured and (bool(replaced) or any(_close(c.limits) for c in main))
    incore = InCoreResult(
        T_OL=Cycles(sum(c.overlapping / c.loop.iterations for c in main)),
        T_nOL=Cycles(sum(c.moving / c.loop.iterations for c in main)),
        chain=Cycles(sum(c.chain.cycles / c.loop.iterations for c in main)),
        window=(
            _per(main, lambda c: c.window.cycles),
            max(c.window.across for c in main),
        ),
        bottleneck=max(hottest.limits, key=lambda name: hottest.limits[name]),
        iterations=first.loop.iterations,
        route=f"osaca:{tables.architecture.name}{tables.suffix}",
        approximate=doubtful or bool(unknown or replaced) or any(c.calls.count for c in main),
        notes=tuple(notes),
        assembly="".join(loop.text for loop in loops.main),
        vector=max(8 * loop.lanes for loop in loops.main),
        loads=sum(loop.row_loads / loop.iterations for loop in loops.main),
        stores=sum(loop.row_stores / loop.iterations for loop in loops.main),
        forward_latency=None if tables.forward is None else Cycles(tables.forward),
        chain_forwards=sum(c.chain.forwards / c.loop.iterations for c in main),
        stored=_stored(main),
        forwards=_per(main, lambda c: len(c.forwards)),
        blocked=_per(main, lambda c: sum(f.blocked for f in c.forwards)),
        calls=_per(main, lambda c: c.calls.count),
        unknown=unknown,
        ladder=_ladder(main, rest, loops, tables),
        leaves=loops.leaves,
        head=None if loops.head is None else _rung(cost_of_loop(loops.head, tables), main),
        entry=Cycles(loops.entry / tables.architecture.issue),
        hot_loops=len(main),
    )
    incore = with_memory(incore, loops.main)
    incore = replace(
        incore,
        width=_width(incore, main, DOUBTFUL if doubtful else CLOSE if close else EXACT),
        remainder=Cycles(_last(incore.ladder)),
    )
    return replace(incore, annotated=_annotated(incore, main))


def from_ports(
    loops: HotLoops,
    table: PortTable,
    notes: Sequence[str],
    measured: Mapping[str, float] | None = None,
) -> InCoreResult:
    """The in-core time of a sweep from a port table alone: work per source iteration over
    throughput; ``measured``: cycles of library calls by function, where they are known.
    """
    every = [port_table.estimate(port_table.count_loop(loop), table) for loop in loops.main]
    calls = [library_calls.price(loop.calls, measured) for loop in loops.main]
    called = sum(c.cycles / loop.iterations for c, loop in zip(calls, loops.main, strict=True))
    slowest = max(every, key=lambda e: max(e.T_OL, e.T_nOL))
    names = sorted({name for loop in loops.main for name in loop.calls})
    notes = [*notes, *library_calls.notes(names, measured)]
    unpriced = sorted({name for c in calls for name in c.unpriced})
    if unpriced:
        notes = [*notes, _uncounted(unpriced)]
    first = loops.main[0]
    incore = replace(
        slowest,
        T_OL=Cycles(sum(e.T_OL for e in every) + called),
        T_nOL=Cycles(sum(e.T_nOL for e in every)),
        crowded=Cycles(sum(e.crowded or 0.0 for e in every) + called),
        iterations=first.iterations,
        notes=tuple(notes),
        assembly="".join(loop.text for loop in loops.main),
        vector=8 * first.lanes,
        loads=sum(loop.row_loads / loop.iterations for loop in loops.main),
        stores=sum(loop.row_stores / loop.iterations for loop in loops.main),
        calls=sum(c.count / loop.iterations for c, loop in zip(calls, loops.main, strict=True)),
        width=_WIDEST if unpriced else DOUBTFUL,
        hot_loops=len(loops.main),
        annotated="".join(loop.text for loop in loops.main),
    )
    return with_memory(incore, loops.main)


def with_memory(incore: InCoreResult, loops: Sequence[HotLoop]) -> InCoreResult:
    """The result with the figures added that follow from the addresses of its loops."""

    def crossing(stored: bool, place: int | None = None) -> float:
        return sum(
            memory_corrections.crossing(
                loop,
                stored,
                0 if place is None else DOUBLE * place - memory_corrections.start(loop),
                _LINE,
            )
            / loop.iterations
            for loop in loops
        )

    addressed = any(place is not None for loop in loops for place in loop.places)
    starts = range(STARTS) if addressed else ()
    return replace(
        incore,
        crossing=crossing(False),
        crossings=tuple(crossing(False, place) for place in starts),
        crossing_stores=crossing(True),
        crossings_stores=tuple(crossing(True, place) for place in starts),
        gathers=sum(memory_corrections.gathers(loop) / loop.iterations for loop in loops),
    )


def _per(main: Sequence[LoopCost], count: Callable[[LoopCost], float]) -> float:
    return sum(count(c) / c.loop.iterations for c in main)


def _stored(main: Sequence[LoopCost]) -> tuple[float, ...]:
    """The cycles of the stores per source iteration by place; empty where a loop has none."""
    if not all(c.stored for c in main):
        return ()
    return tuple(sum(c.stored[place] / c.loop.iterations for c in main) for place in range(STARTS))


def _last(ladder: Sequence[RemainderLoop]) -> float:
    return float(max(ladder[-1].T_OL, ladder[-1].T_nOL)) if len(ladder) > 1 else 0.0


def _ladder(
    main: Sequence[LoopCost], rest: Sequence[LoopCost], loops: HotLoops, tables: InstructionTables
) -> tuple[RemainderLoop, ...]:
    """The hot loop and the loops for its remainder, in cycles per source iteration.

    Further hot loops pass over all components, so each entry of the result includes their time.
    """
    rungs = [_rung(c, main) for c in (main[0], *rest)]
    if rungs[-1].iterations > 1 and loops.straight:
        last = _rung(cost_of_loop(loops.straight, tables), main)
        rungs.append(replace(last, iterations=1.0))
    return tuple(rungs)


def _rung(cost: LoopCost, main: Sequence[LoopCost]) -> RemainderLoop:
    iterations = cost.loop.iterations
    others = _per(main[1:], lambda c: c.overlapping)
    moved = _per(main[1:], lambda c: c.moving)
    return RemainderLoop(
        iterations=iterations,
        T_OL=Cycles(cost.overlapping / iterations + others),
        T_nOL=Cycles(cost.moving / iterations + moved),
    )


def _width(incore: InCoreResult, main: Sequence[LoopCost], width: float) -> float:
    """The relative half-width with what gathers and instructions or calls without a figure add."""
    width += _PER_GATHER * min(1.0, incore.gathers) + (_UNKNOWN if incore.unknown else 0.0)
    doubt = sum(c.calls.doubt / c.loop.iterations for c in main)
    if incore.calls:
        width += doubt / max(float(incore.T_OL), 1e-9)
    if any(c.calls.unpriced for c in main):
        width = _WIDEST
    return min(width, _WIDEST)


def _measured(main: Sequence[LoopCost], tables: InstructionTables) -> bool:
    """Whether it was measured how fast operations on vectors as wide as those of the loops are
    taken up, so that it matters little which core the tables are of.
    """
    widest = max(DOUBLE * c.loop.lanes for c in main)
    return tables.rates is not None and bool(tables.rates.mixed) and widest <= tables.rates.width


def _close(limits: Mapping[str, float]) -> bool:
    """Whether the two largest limits are nearly equal."""
    second, first = sorted([0.0, *limits.values()])[-2:]
    return second > _APART * first


# --- words -------------------------------------------------------------------------------------


def _notes(main: Sequence[LoopCost], loops: HotLoops, measured: Mapping[str, float]) -> list[str]:
    notes = [note for c in main for note in c.loop.notes]
    if len(main) > 1:
        notes.append(f"{len(main)} loops over the same components are added up")
    pairs = sorted({(a, b) for c in main for a, b in c.replaced.items()})
    if pairs:
        names = ", ".join(f"{a} as {b}" for a, b in pairs)
        notes.append(f"not in OSACA's tables, taken as alike: {names}")
    unknown = sorted({name for c in main for name in c.unknown})
    if unknown:
        names = ", ".join(unknown)
        notes.append(f"unknown to OSACA, bounded from below by a port table: {names}")
    called = sorted({name for loop in loops.main for name in loop.calls})
    unpriced = sorted({name for c in main for name in c.calls.unpriced})
    notes += library_calls.notes(called, measured)
    if unpriced:
        notes.append(_uncounted(unpriced))
    return list(dict.fromkeys(notes))


def _uncounted(names: Sequence[str]) -> str:
    return f"calls {', '.join(names)}: the time of these calls is not counted"


def _annotated(incore: InCoreResult, main: Sequence[LoopCost]) -> str:
    forwarding = ""
    if incore.chain_forwards:
        latency = incore.forward_latency
        counted = f"{latency:g} cycles" if latency is not None else "nothing"
        forwarding = f", {incore.chain_forwards:.3g} through memory (each counted with {counted})"
    summary = [
        f"in-core by {incore.route}, cycles per source iteration: T_OL {incore.T_OL:.4g}, "
        f"T_nOL {incore.T_nOL:.4g}, loop-carried {incore.chain:.4g}{forwarding}; "
        f"bound by {incore.bottleneck}",
        *(f"note: {note}" for note in incore.notes),
    ]
    return annotated([_sheet(c) for c in main], summary)


def _sheet(cost: LoopCost) -> AnnotatedLoop:
    loop = cost.loop
    crossing = {
        n
        for n, (i, stride, place) in enumerate(
            zip(loop.instructions, loop.strides, loop.places, strict=True)
        )
        if stride and place is not None and memory_corrections.crosses(i, stride, place, _LINE)
    }
    return AnnotatedLoop(
        loop=loop,
        work=cost.work,
        marks={
            "x": crossing,
            "f": {f.load for f in cost.forwards if not f.blocked},
            "b": {f.load for f in cost.forwards if f.blocked},
            "c": cost.chain.lines,
            "g": memory_corrections.gathering(loop),
            "k": {n for n, i in enumerate(loop.instructions) if calls_out(i, loop)},
            "?": {n for n, i in enumerate(loop.instructions) if i.mnemonic in cost.unknown},
        },
    )
