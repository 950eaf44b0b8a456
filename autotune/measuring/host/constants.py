"""The constants of a calibration as combinations of what its items took: pure arithmetic.

Every round gives one value of a constant, from items measured right after one another; the
constant is the median of its rounds with their 80 % interval. A cost that comes out negative is 0
and its interval reaches as far up as the median lay below. ``calibration.CONSTANTS`` says
what each constant means.
"""

import functools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.calibration import Constant
from autotune.measuring.host import calibration_plan
from autotune.measuring.host.calibration_plan import LARGEST_L1, RUNS, TRIPS, CalibrationPlan
from autotune.measuring.host.estimates import BUSY, quartile
from autotune.measuring.host.host_probe import GROUP, Kind, ProbeItem, ProbeSample, load
from autotune.units import Bytes, Hertz

_TENTHS = 10
_HALF = 0.5
"""A sample below this share of processor time counts only where there are no others."""
_ENOUGH = 3
"""Rounds whose samples kept their processors, of which a figure is made where there are as many."""
_LEAST = 0.02
"""Relative half-width of an interval beside its repeats, for many of them."""
_FEW = 0.3
"""The same for a single repeat; it falls with their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeConditions:
    """What the figures of a host depend on beside its samples."""

    plan: CalibrationPlan
    clock: Hertz
    width: Bytes
    """Of a vector."""
    line: Bytes
    beside: Mapping[Kind, Mapping[str, int]]
    """Kind of the work beside a stream to level to how much of it, per group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostConstant:
    """A constant as a function of the cycles that some items took, each with a thread count."""

    name: str
    items: tuple[tuple[int, ProbeItem], ...]
    value: Callable[[Sequence[float]], float]
    source: str
    unit: str = "cy"
    fast: bool = False
    """A time rather than a difference of times: disturbances only raise it."""


def constants(
    rounds: Sequence[Sequence[ProbeSample]],
    clock: Hertz,
    figures: Sequence[HostConstant],
    *,
    contended: bool,
) -> dict[str, Constant]:
    """Those figures of which at least one round has every item."""
    result: dict[str, Constant] = {}
    for figure in figures:
        found: list[float] = []
        for busy in (BUSY, _HALF, 0.0):
            if len(found) < _ENOUGH:
                found = _values(rounds, clock, figure, busy)
        if found:
            result[figure.name] = _constant(figure, found, contended)
    return result


def _values(
    rounds: Sequence[Sequence[ProbeSample]],
    clock: Hertz,
    figure: HostConstant,
    busy: float,
) -> list[float]:
    """The value of every round in which each item has a sample at least that busy."""
    values = []
    for samples in rounds:
        times = []
        for threads, item in figure.items:
            alike = [s for s in samples if s.threads == threads and s.item == item]
            each = [s.each for s in alike if s.busy >= busy]
            if not each:
                break
            times.append(quartile(each, 1) * clock)
        else:
            values.append(figure.value(times))
    return values


def _constant(figure: HostConstant, values: Sequence[float], contended: bool) -> Constant:
    middle = quartile(values, 1 if figure.fast else 2)
    low, high = values[0], values[0]
    if len(values) > 1:
        cuts = statistics.quantiles(values, n=_TENTHS, method="inclusive")
        low, high = min(cuts[0], middle), max(cuts[-1], middle)
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


def figures(of: ProbeConditions) -> list[HostConstant]:
    """Every constant that a calibration measures on this host."""
    return [*_loops(of), *_levels(of), *_starts(of), *_between(of), *_overlap(of)]


def _loops(of: ProbeConditions) -> Iterator[HostConstant]:
    """What lies in L1."""
    crossing = min(1.0, of.width / of.line)
    yield HostConstant(
        name="line_crossing",
        items=((1, calibration_plan.offset(8)), (1, calibration_plan.offset(0))),
        value=lambda t: (t[0] - t[1]) / crossing,
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
            source="chain of additions through memory less the chain in registers",
        )
    always = tuple((1, calibration_plan.trip(n)) for n in TRIPS)
    varied = tuple((1, calibration_plan.trip(n, varied=True)) for n in TRIPS)
    yield HostConstant(
        name="loop_entry",
        items=always + varied,
        value=_entry,
        source="calls of varied length less their iterations, at the slope over length",
    )
    yield HostConstant(
        name="predicted_exit",
        items=always + varied,
        value=lambda t: statistics.mean(t[len(TRIPS) :]) - statistics.mean(t[: len(TRIPS)]),
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


def _entry(times: Sequence[float]) -> float:
    always, varied = times[: len(TRIPS)], times[len(TRIPS) :]
    slope = (always[-1] - always[0]) / (TRIPS[-1] - TRIPS[0])
    return statistics.mean(t - n * slope for t, n in zip(varied, TRIPS, strict=True))


def _levels(of: ProbeConditions) -> Iterator[HostConstant]:
    """Lines that leave."""
    lines = of.line / GROUP
    for threads in sorted({1, of.plan.threads[-1]}):
        for level, size in of.plan.levels[threads].items():
            yield HostConstant(
                name=_at(f"outbound.{level}", threads),
                items=((threads, calibration_plan.one("update", size)), (threads, load(size))),
                value=lambda t: (t[0] - t[1]) * lines,
                source="load and store of every line less its load",
            )
            yield HostConstant(
                name=_at(f"allocate.{level}", threads),
                items=((threads, calibration_plan.one("store", size)),),
                value=lambda t: t[0] * lines,
                source="store of every line",
            )


def _starts(of: ProbeConditions) -> Iterator[HostConstant]:
    inside = tuple((1, item) for item in calibration_plan.stretches(LARGEST_L1))
    for level, size in of.plan.levels[1].items():
        outside = tuple((1, item) for item in calibration_plan.stretches(size))
        yield HostConstant(
            name=f"stream_start.{level}",
            items=outside + inside,
            value=functools.partial(_start, groups=[item.run or 1 for _, item in outside + inside]),
            source=f"stretches of {RUNS[0]} and {RUNS[-1]} groups less long ones, less L1",
        )


def _start(times: Sequence[float], groups: Sequence[int]) -> float:
    """Mean over short stretches of what they take beyond their share of a whole one."""

    def beyond(times: Sequence[float], groups: Sequence[int]) -> float:
        whole = times[-1] / groups[-1]
        return statistics.mean(t - n * whole for t, n in zip(times[:-1], groups[:-1], strict=True))

    half = len(times) // 2
    return beyond(times[:half], groups[:half]) - beyond(times[half:], groups[half:])


def _between(of: ProbeConditions) -> Iterator[HostConstant]:
    """What threads do to each other."""
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
        yield HostConstant(
            name=_at("core_to_core", threads) if threads > 2 else "core_to_core",
            items=((threads, calibration_plan.handed(of.plan.levels[threads])[0]),),
            value=lambda t: t[0] * of.line / GROUP,
            source="reading what the next thread has just written",
        )
        lent, owned = calibration_plan.handed(of.plan.levels[threads])[2:]
        yield HostConstant(
            name=_at("ownership", threads) if threads > 2 else "ownership",
            items=((threads, lent), (threads, owned)),
            value=lambda t: (t[0] - t[1]) * of.line / GROUP,
            source="writing what the next thread has just read, less what only the own one has",
        )


def _overlap(of: ProbeConditions) -> Iterator[HostConstant]:
    kinds: tuple[tuple[Kind, str, str], ...] = (
        ("load", "exposed", "beside loads from L1 that take as long"),
        ("divide", "overlap_ol", "beside divides that take as long"),
    )
    for kind, name, source in kinds:
        for level, extra in of.beside.get(kind, {}).items():
            items = calibration_plan.beside(kind, of.plan.levels[1][level], extra)
            yield HostConstant(
                name=f"{name}.{level}",
                items=tuple((1, item) for item in items),
                value=lambda t: (t[2] - max(t[0], t[1])) / min(t[0], t[1]),
                source=f"a stream {source}",
                unit="1",
            )


def _at(name: str, threads: int) -> str:
    return name if threads == 1 else f"{name}@{threads}"
