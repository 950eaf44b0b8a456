"""Computes the constants of a calibration from the times of its items; pure arithmetic.

Every round gives one value of a constant, from items measured in direct succession. The constant is
the median over the rounds, with the 80 % interval of the values. Of items in cycles of the core,
which no drift of the clock moves, all rounds together give it: the lower quartile over them is
disturbed less than a round by what takes the core's units, more by a clock that was measured too
slow in a quarter of the rounds. A negative cost becomes 0, and its interval then reaches up as far
as the median was below 0. ``calibration.CONSTANTS`` says what each constant means.
"""

import functools
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.calibration import Constant
from autotune.measuring.host import calibration_plan
from autotune.measuring.host.calibration_plan import (
    CHAIN,
    LARGEST_L1,
    RUNS,
    TRIPS,
    CalibrationPlan,
)
from autotune.measuring.host.estimates import BUSY
from autotune.measuring.host.host_probe import (
    FUNCTIONS,
    GROUP,
    Kind,
    ProbeItem,
    ProbeSample,
    load,
)
from autotune.statistics.quantiles import MAD_TO_DEVIATION, cuts, quartile
from autotune.units import Bytes, Hertz

_TENTHS = 10
_HALF = 0.5
"""A sample below this share of processor time counts only where there are no better ones."""
_ENOUGH = 3
"""Number of undisturbed rounds from which disturbed ones are ignored."""
_LEAST = 0.02
"""Smallest relative half-width of an interval, for many repeats."""
_FAR, _MULTIPLE = 10.0, 3.0
"""A value farther from the median than so many deviations and so many times the median is none."""
_FEW = 0.3
"""Relative half-width of an interval for a single repeat; it falls with their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeConditions:
    """Properties of a calibrated host on which its constants depend."""

    plan: CalibrationPlan
    clock: Hertz
    width: Bytes
    """Bytes of a vector."""
    line: Bytes
    beside: Mapping[int, Mapping[Kind, Mapping[str, int]]]
    """Threads to kind of work beside a stream to level to the amount of that work per group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostConstant:
    """The definition of one constant: a function of the cycles of some items."""

    name: str
    items: tuple[tuple[int, ProbeItem], ...]
    value: Callable[[Sequence[float]], float]
    source: str
    unit: str = "cy"
    fast: bool = False
    """True for a time, which disturbances only raise; False for a difference of times."""
    paced: bool = False
    """True: in cycles of the core, by the chain of additions timed last before each item; False: in
    cycles of the calibrated clock."""


def constants(
    rounds: Sequence[Sequence[ProbeSample]],
    clock: Hertz,
    definitions: Sequence[HostConstant],
    *,
    contended: bool,
) -> dict[str, Constant]:
    """The constants by name; only those for which at least one round has all items."""
    result: dict[str, Constant] = {}
    together = [[sample for samples in rounds for sample in samples]]
    for definition in definitions:
        values: list[float] = []
        enough = BUSY
        for busy in (BUSY, _HALF, 0.0):
            if len(values) < _ENOUGH:
                values, enough = _values(rounds, clock, definition, busy), busy
        if values:
            of_all = _values(together, clock, definition, enough) if definition.paced else []
            result[definition.name] = _constant(definition, values, of_all, contended)
    return result


def _values(
    rounds: Sequence[Sequence[ProbeSample]],
    clock: Hertz,
    figure: HostConstant,
    busy: float,
) -> list[float]:
    """The value of each round in which the samples of all items are busy enough."""
    values = []
    for samples in rounds:
        times = []
        timed = list(_cycles(samples, clock, paced=figure.paced))
        for threads, item in figure.items:
            matching = [(s, c) for s, c in timed if s.threads == threads and s.item == item]
            per_item = [cycles for sample, cycles in matching if sample.busy >= busy]
            if not per_item:
                break
            times.append(quartile(per_item, 1))
        else:
            values.append(figure.value(times))
    return values


def _cycles(
    samples: Sequence[ProbeSample], clock: Hertz, *, paced: bool
) -> Iterator[tuple[ProbeSample, float]]:
    """Each sample with its cycles per operation.

    ``paced``: of the clock that the last chain of additions before the sample had, since the clock
    of a shared processor moves within a round.
    """
    pace, threads = float(clock), 0
    for sample in samples:
        if sample.threads != threads:
            pace, threads = float(clock), sample.threads
        if paced and sample.item.kind == "clock" and sample.busy >= BUSY:
            pace = 1 / sample.per_operation
        yield sample, sample.per_operation * pace


def _plausible(values: Sequence[float]) -> list[float]:
    """The values without those of rounds in which something else was timed, as where the processor
    was taken away within an operation: they say nothing about the spread of the others. All of
    them where the figure is not told from nothing: its spread is all that is known of it then.
    """
    middle = statistics.median(values)
    usual = MAD_TO_DEVIATION * statistics.median(abs(value - middle) for value in values)
    if abs(middle) <= usual:
        return list(values)
    limit = max(_FAR * usual, _MULTIPLE * abs(middle))
    return [value for value in values if abs(value - middle) <= limit]


def _constant(
    figure: HostConstant, measured: Sequence[float], of_all: Sequence[float], contended: bool
) -> Constant:
    """The constant from the values of the rounds, and ``of_all`` rounds together where known."""
    values = _plausible(measured)
    middle = of_all[0] if of_all else quartile(values, 1 if figure.fast else 2)
    low, high = min(values[0], middle), max(values[0], middle)
    if len(values) > 1:
        tenths = cuts(values, _TENTHS)
        low, high = min(tenths[0], middle), max(tenths[-1], middle)
    factor, share = (2.0, _LEAST + 0.1) if contended else (1.0, _LEAST)
    share += _FEW / len(values)
    low = middle - factor * (middle - low) - share * abs(middle)
    high = middle + factor * (high - middle) + share * abs(middle)
    value, low, high = max(middle, 0.0), max(low, 0.0), max(high, -middle, 0.0)
    if figure.unit == "1":
        value, low, high = (min(number, 1.0) for number in (value, low, high))
    return Constant(
        value=value,
        low=low,
        high=high,
        unit=figure.unit,
        source=figure.source,
        samples=len(values),
    )


def host_constants(of: ProbeConditions) -> list[HostConstant]:
    """The definitions of all constants that a calibration measures on this host."""
    return [
        *_loops(of),
        *_rates(of),
        *_mixed_rates(of),
        *_levels(of),
        *_starts(of),
        *_between(of),
        *_overlap(of),
    ]


def _loops(of: ProbeConditions) -> Iterator[HostConstant]:
    """Definitions of constants of loops with all data in L1."""
    crossing = min(1.0, of.width / of.line)
    yield HostConstant(
        name="line_crossing",
        items=((1, calibration_plan.offset(8)), (1, calibration_plan.offset(0))),
        value=lambda t: (t[0] - t[1]) / crossing,
        paced=True,
        source=f"loads of {of.width} B at 8 B behind a line's border less those at the border",
    )
    chains: tuple[tuple[str, Kind], ...] = (
        ("store_forward", "forward"), ("blocked_forward", "blocked"),
    )  # fmt: skip
    for name, kind in chains:
        yield HostConstant(
            name=name,
            items=((1, ProbeItem(kind=kind)), (1, ProbeItem(kind="add"))),
            value=lambda t: t[0] - t[1],
            paced=True,
            source="chain of additions through memory less the chain in registers",
        )
    always = tuple((1, calibration_plan.loop_calls(n)) for n in TRIPS)
    varied = tuple((1, calibration_plan.loop_calls(n, varied=True)) for n in TRIPS)
    yield HostConstant(
        name="loop_entry",
        items=always + varied,
        value=_entry,
        paced=True,
        source="calls of varied length less their iterations, at the slope over length",
    )
    yield HostConstant(
        name="predicted_exit",
        items=always + varied,
        value=lambda t: statistics.mean(t[len(TRIPS) :]) - statistics.mean(t[: len(TRIPS)]),
        paced=True,
        source="calls of varied length less those of one length",
    )
    clash = of.plan.clash()
    if clash:
        yield HostConstant(
            name="set_conflict",
            items=tuple((1, item) for item in reversed(clash)),
            value=lambda t: (t[0] - t[1]) * of.line / GROUP,
            source=f"{clash[0].streams} arrays in the same sets less as many apart",
        )


def _rates(of: ProbeConditions) -> Iterator[HostConstant]:
    """Definitions of the constants of independent vector instructions of full width, and calls."""
    vectors = GROUP / of.width
    load, store, *arithmetic, rows, reloaded = calibration_plan.vector_operations()
    timed: tuple[tuple[str, ProbeItem, float, str], ...] = (
        ("load", load, vectors + load.extra, "loads from L1"),
        ("store", store, vectors, "stores to L1"),
        *zip(
            ("add", "multiply", "fused", "divide", "shuffle"), arithmetic, [1.0] * 5,
            ("additions", "multiplications", "multiply-adds", "divisions", "shuffles"), strict=True,
        ),
    )  # fmt: skip
    for name, item, count, what in timed:
        yield HostConstant(
            name=f"vector_{name}.{of.width}",
            items=((1, item),),
            value=functools.partial(_per_vector, count=count),
            source=f"independent {what}",
            paced=True,
        )
    for function, item in zip(FUNCTIONS, calibration_plan.library_calls(), strict=True):
        yield HostConstant(
            name=f"library_call.{function}",
            items=((1, item),),
            value=lambda t: t[0],
            source="independent calls with arguments along a wave",
            paced=True,
        )
    yield HostConstant(
        name=f"vector_unaligned.{of.width}",
        items=((1, calibration_plan.behind(8)), (1, calibration_plan.behind(0))),
        value=lambda t: t[0] - t[1],
        paced=True,
        source=f"a row of stores of {of.width} B, 8 B behind a line's border less those at it",
    )
    yield HostConstant(
        name=f"vector_narrow.{of.width}",
        items=((1, reloaded), (1, rows)),
        value=lambda t: (t[0] - t[1]) / calibration_plan.RELOADED,
        source="loads and stores of 28 rows, 8 of them through loaded pointers, less without these",
        paced=True,
    )
    yield HostConstant(
        name=f"vector_window.{of.width}",
        items=((1, ProbeItem(kind="add")), (1, ProbeItem(kind="window", run=CHAIN))),
        value=_window,
        source=f"chains of {CHAIN} additions, one after the other, beside the time of one addition",
        unit="operations",
    )


def _mixed_rates(of: ProbeConditions) -> Iterator[HostConstant]:
    """Definitions of the constants of vector instructions that come in turns."""
    widths = [w for w in calibration_plan.WIDTHS if w <= of.width]
    for width in widths[1:] or calibration_plan.WIDTHS[1:2]:
        yield HostConstant(
            name=f"vector_apart.{min(width, of.width)}",
            items=((1, calibration_plan.apart(width)),),
            value=lambda t: t[0],
            source="stores to two rows in L1 in turn",
            paced=True,
        )
    for width in widths:
        yield HostConstant(
            name=f"vector_mixed.{width}",
            items=tuple((1, calibration_plan.mixed(width, both)) for both in (False, True)),
            value=lambda t: min(t[0] / 2, t[1] / 3),
            source="vectors of four rows in L1, each loaded and added or multiplied, or both",
            paced=True,
        )


def _window(times: Sequence[float]) -> float:
    """The operations that wait when a further chain begins: of each chain before it, those that
    have not started yet.
    """
    apart = max(times[1] / times[0], 1.0)
    return sum(CHAIN - k * apart for k in range(1, math.ceil(CHAIN / apart)))


def _per_vector(times: Sequence[float], *, count: float) -> float:
    """Cycles of one vector, from those of an operation that takes ``count`` vectors."""
    return times[0] / count


def _entry(times: Sequence[float]) -> float:
    always, varied = times[: len(TRIPS)], times[len(TRIPS) :]
    slope = (always[-1] - always[0]) / (TRIPS[-1] - TRIPS[0])
    return statistics.mean(t - n * slope for t, n in zip(varied, TRIPS, strict=True))


def _levels(of: ProbeConditions) -> Iterator[HostConstant]:
    """Definitions of constants of cache levels: lines written back, stores across lines, loads of a
    line on its way.
    """
    lines = of.line / GROUP
    reads = tuple((1, item) for item in of.plan.taps())
    read = "reading four and eight neighbours of every component, less the longer of reading once"
    yield HostConstant(
        name="load_again",
        items=reads,
        value=lambda t: _most_again(t) * lines,
        source=f"{read} and of the same in L1",
    )
    yield HostConstant(
        name="again_loop",
        items=reads,
        value=lambda t: _never_again(t) * lines,
        source=f"{read} and of the same in L1",
    )
    for threads in sorted({1, of.plan.threads[-1]}):
        for level, size in of.plan.levels[threads].items():
            yield HostConstant(
                name=_at(f"outbound.{level}", threads),
                items=(
                    (threads, calibration_plan.single_stream("update", size)),
                    (threads, load(size)),
                ),
                value=lambda t: (t[0] - t[1]) * lines,
                source="load and store of every line less its load",
            )
            yield HostConstant(
                name=_at(f"allocate.{level}", threads),
                items=((threads, calibration_plan.single_stream("store", size)),),
                value=lambda t: t[0] * lines,
                source="store of every line",
            )
            few, many = (calibration_plan.across(size, rows) for rows in calibration_plan.READ)
            yield HostConstant(
                name=_at(f"crossing_stores.{level}", threads),
                items=((threads, few), (threads, many)),
                value=lambda t: _waiting_stores(t)[0] * lines,
                source="sums of rows, stored to two others 8 B behind a line's border",
            )
            yield HostConstant(
                name=_at(f"crossing_loads.{level}", threads),
                items=((threads, few), (threads, many)),
                value=lambda t: _waiting_stores(t)[1] * lines,
                source="sums of six rows less those of two, stored likewise",
            )


def _waiting_stores(times: Sequence[float]) -> tuple[float, float]:
    """The cycles of a loop per group stored where it loads nothing, and more of it for each group
    that is loaded, by the line through two loops; ``times``: per group loaded or stored.
    """
    written = calibration_plan.WRITTEN
    loops = zip(times, calibration_plan.READ, strict=True)
    few, many = (time * (read + written) / written for time, read in loops)
    fewest, most = calibration_plan.READ
    more = max(0.0, (many - few) / (most - fewest))
    return few - fewest * more, more


def _most_again(times: Sequence[float]) -> float:
    """What loads of a line on its way add to a loop of no length, by the line through two loops."""
    four, more, fall = _again(times)
    return more + fall * four


def _never_again(times: Sequence[float]) -> float:
    """The time of a loop from which on such loads add nothing."""
    four, more, fall = _again(times)
    return four + more / fall if fall else four


def _again(times: Sequence[float]) -> tuple[float, float, float]:
    """The shorter loop in L1, what loads of lines on their way add to it, and by how much that
    falls per cycle of a loop: to nothing at twice the longer loop, if not before.
    """
    read, four, four_outside, eight, eight_outside = times
    more = max(0.0, four_outside - max(read, four))
    less = max(0.0, eight_outside - max(read, eight))
    least = more / max(2 * eight - four, four)
    return four, more, max((more - less) / (eight - four), least) if eight > four else least


def _starts(of: ProbeConditions) -> Iterator[HostConstant]:
    inside = tuple((1, item) for item in calibration_plan.stretches(LARGEST_L1))
    kinds = {
        "stream_start": (calibration_plan.stretches, "stretches"),
        "stream_resume": (calibration_plan.resumed, "stretches in turns"),
    }
    for threads in sorted({1, of.plan.threads[-1]}):
        for level, size in of.plan.levels[threads].items():
            for name, (probed, what) in kinds.items():
                outside = tuple((threads, item) for item in probed(size))
                groups = [item.run or 1 for _, item in outside + inside]
                yield HostConstant(
                    name=_at(f"{name}.{level}", threads),
                    items=outside + inside,
                    value=functools.partial(_start, groups=groups),
                    source=f"{what} of {RUNS[0]} and {RUNS[-1]} groups less long ones, less L1",
                )


def _start(times: Sequence[float], groups: Sequence[int]) -> float:
    """The mean time of short pieces of a stream, less their share of the time of the
    whole stream.
    """

    def beyond(times: Sequence[float], groups: Sequence[int]) -> float:
        whole = times[-1] / groups[-1]
        return statistics.mean(t - n * whole for t, n in zip(times[:-1], groups[:-1], strict=True))

    half = len(times) // 2
    return beyond(times[:half], groups[:half]) - beyond(times[half:], groups[half:])


def _between(of: ProbeConditions) -> Iterator[HostConstant]:
    """Definitions of the constants of several threads: the clock, barriers and waiting there, and
    lines passed between cores.
    """
    for threads in sorted({1, of.plan.threads[-1]}):
        yield HostConstant(
            name=_at("core_cycle", threads),
            items=((threads, ProbeItem(kind="wide")),),
            value=lambda t: t[0],
            source="chain of additions beside vector multiply-adds",
        )
    for threads in sorted({2, of.plan.threads[-1]} & set(of.plan.threads[1:])):
        for level, size in of.plan.levels[threads].items():
            yield _waiting(level, size, threads)
    for threads in of.plan.threads[1:]:
        yield HostConstant(
            name=_at("barrier", threads),
            items=((threads, ProbeItem(kind="barrier")),),
            value=lambda t: t[0] / of.clock,
            source="barriers one after another",
            unit="s",
            fast=True,
        )
    for threads in sorted({2, of.plan.threads[-1]} & set(of.plan.threads[1:])):
        yield from lines_of_others(threads, of.line)


def lines_of_others(threads: int, line: Bytes) -> Iterator[HostConstant]:
    """Definitions of the constants of lines that pass between cores."""
    handed, kept, borrowed, owned = calibration_plan.handed_lines()
    yield HostConstant(
        name=_at("core_to_core", threads) if threads > 2 else "core_to_core",
        items=((threads, handed), (threads, kept)),
        value=lambda t: (t[0] - t[1]) * line / GROUP,
        source="reading neighbours in what the next thread has just written, less in the own",
    )
    yield HostConstant(
        name=_at("ownership", threads) if threads > 2 else "ownership",
        items=((threads, borrowed), (threads, owned)),
        value=lambda t: (t[0] - t[1]) * line / GROUP,
        source="writing what the next thread has just read, less what only the own one has",
    )


def _waiting(level: str, size: Bytes, threads: int) -> HostConstant:
    """The definition of what the last thread at a barrier is late, behind work on one level."""
    behind = calibration_plan.pieces(size)
    work = [item.run for item in behind]

    def share(times: Sequence[float]) -> float:
        return statistics.mean(
            late / (groups * times[-1]) for late, groups in zip(times[:-1], work, strict=True)
        )

    return HostConstant(
        name=_at(f"waiting.{level}", threads),
        items=(*((threads, item) for item in behind), (threads, load(size))),
        value=share,
        source=f"pieces of {work[0]} and {work[-1]} groups, the slowest thread of each less the"
        " slowest thread of all",
        unit="1",
    )


def _overlap(of: ProbeConditions) -> Iterator[HostConstant]:
    kinds: tuple[tuple[Kind, str, str], ...] = (
        ("update", "exposed", "an updated stream beside loads that take as long as reading it"),
        ("divide", "overlap_ol", "a stream beside divides that take as long"),
    )
    every = ((threads, *kind) for threads in of.beside for kind in kinds)
    for threads, kind, name, source in every:
        for level, extra in of.beside[threads].get(kind, {}).items():
            items = calibration_plan.overlap_items(kind, of.plan.levels[threads][level], extra)
            yield HostConstant(
                name=_at(f"{name}.{level}", threads),
                items=tuple((threads, item) for item in items),
                value=lambda t: (t[2] - max(t[0], t[1])) / min(t[0], t[1]),
                source=source,
                unit="1",
            )


def _at(name: str, threads: int) -> str:
    return name if threads == 1 else f"{name}@{threads}"
