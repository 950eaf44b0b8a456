"""Plots of one problem: where its time goes, predicted against measured, samples; bandwidths."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from autotune.domain.metric import Metric
from autotune.results.page import plot, plot_axes
from autotune.results.page.frame import LegendEntry, PageFigure
from autotune.results.page.plot import (
    Dot,
    LaneLabel,
    Lanes,
    Mark,
    Plot,
    PlotSegment,
    RuleLine,
    Whisker,
)
from autotune.results.page.plot_axes import PlotAxis
from autotune.results.report.figure_records import (
    Bandwidths,
    LoopTimes,
    Role,
    Samples,
    Scatter,
    ShownCandidate,
    Stack,
)
from autotune.units import show

ROLES: Mapping[Role, LegendEntry] = {
    "winner": LegendEntry("winner", "winner", "star"),
    "baseline": LegendEntry("baseline", "baseline", "square"),
    "measured": LegendEntry("other", "other candidates"),
    "predicted": LegendEntry("idle", "predicted only", "cross"),
}
"""Roles differ in shape as well as in colour."""
_MANY = 80
"""So many points have no intervals: these would hide one another."""
LEVELS = {"T_nOL": "l1", "L2": "l2", "L3": "l3", "L4": "l3", "MEM": "l4"}
"""Classes of the parts that do not overlap with arithmetic, darker with the way from the core."""
_LEVEL_WORDS = {
    "T_nOL": "loads, stores and what shares their time, in L1",
    "MEM": "lines from memory",
}


def time(value: float) -> str:
    """A time with its unit, as a tick has it."""
    return show(float(f"{value:.4g}"), "time") if value else "0"


def metric_axis(
    scale: Callable[[str, Iterable[float], Callable[[float], str]], PlotAxis],
    goal: Metric,
    costs: Iterable[float],
) -> PlotAxis:
    """An axis of the values with these costs: more is farther to the right, or higher."""
    title = goal.name if goal.timed else goal.title
    return scale(title, map(goal.cost, costs), goal.figure)


def role_dot(candidate: ShownCandidate, x: float, y: float, *, faint: bool = False) -> Dot:
    """The point of a candidate, in the shape and colour of its role."""
    entry = ROLES[candidate.role]
    return Dot(
        x=x,
        y=y,
        paint=entry.paint,
        shape="cross" if entry.shape == "cross" else _SHAPES.get(candidate.role, "dot"),
        size=5 if candidate.marked else 3.5,
        anchor=candidate.anchor,
        faint=faint,
    )


_SHAPES: Mapping[Role, plot.Shape] = {"winner": "star", "baseline": "square"}


def roles_of(candidates: Sequence[ShownCandidate]) -> tuple[LegendEntry, ...]:
    """The legend of the roles that occur."""
    roles = {candidate.role for candidate in candidates}
    return tuple(entry for role, entry in ROLES.items() if role in roles)


def loop_paints(names: Sequence[str]) -> dict[str, str]:
    """A colour for each loop of a page, the same wherever it occurs; the last for what is left."""
    last = len(plot.PAINTS) - 1
    return {name: plot.PAINTS[min(number, last)] for number, name in enumerate(names)}


def stack(record: Stack, paints: Mapping[str, str], of: str) -> PageFigure:
    """Predicted contributions of each candidate by loop, with its measured time below the bar."""
    marks: list[Mark] = []
    for lane, bar in enumerate(record.bars):
        start = 0.0
        for part in bar.segments:
            end = start + part.seconds
            marks.append(
                PlotSegment(
                    start=start,
                    end=end,
                    lane=lane,
                    paint=paints[part.name],
                    hatched=part.extrapolated,
                    words=f"{part.name}: {time(part.seconds)} of {time(bar.total)}",
                )
            )
            start = end
        if bar.measured is not None:
            low, high = bar.interval or (bar.measured, bar.measured)
            marks.append(Whisker(low=low, high=high, at=lane, paint="ink"))
            words = f"measured: {time(bar.measured)}"
            marks.append(
                Dot(x=bar.measured, y=lane, paint="ink", shape="bead", size=4, words=words)
            )
    ends = [bar.total for bar in record.bars]
    ends += [max(bar.measured, *(bar.interval or ())) for bar in record.bars if bar.measured]
    legend = [LegendEntry(paints[name], name, "bar") for name in record.names]
    hatched = any(part.extrapolated for bar in record.bars for part in bar.segments)
    return PageFigure(
        drawing=plot.draw(
            Plot(
                name=f"Predicted contributions by loop, and measured times, {of}",
                x=plot_axes.linear("time", ends, time, zero=True),
                y=Lanes(tuple(lane_label(bar.shown) for bar in record.bars)),
                marks=marks,
            )
        ),
        legend=(
            *legend,
            *([LegendEntry("", "rests on estimated figures", "hatch")] if hatched else []),
            LegendEntry("ink", "measured, 90 % interval", "bead"),
        ),
        caption="The predicted time of the winner beside that of the baseline and of the"
        " candidates predicted best, loop by loop. The same colour is the same loop on the"
        " whole page.",
    )


def lane_label(candidate: ShownCandidate) -> LaneLabel:
    """The label of the lane of a candidate; it links to its row."""
    paint = ROLES[candidate.role].paint if candidate.marked else ""
    return LaneLabel(str(candidate), paint, candidate.anchor)


def core_against_levels(
    loops: Sequence[LoopTimes], paints: Mapping[str, str], of: str
) -> PageFigure:
    """Arithmetic of each loop above what its loads take from each level: the ECM picture."""
    marks: list[Mark] = []
    kinds: dict[str, str] = {}
    for lane, times in enumerate(loops):
        if times.core:
            words = f"arithmetic in the core: {time(times.core)}"
            marks.append(
                PlotSegment(
                    start=0, end=times.core, lane=lane, paint="core", words=words, height=8,
                    level=-5,
                )
            )  # fmt: skip
        start = 0.0
        for kind, seconds in times.rest:
            kinds.setdefault(kind, LEVELS.get(kind, "p8"))
            words = f"{level_words(kind)}: {time(seconds)}"
            marks.append(
                PlotSegment(
                    start=start, end=start + seconds, lane=lane, paint=kinds[kind], words=words,
                    height=8, level=5,
                )
            )  # fmt: skip
            start += seconds
        words = f"predicted time of the loop: {time(times.seconds)}"
        marks.append(Dot(x=times.seconds, y=lane, paint="ink", shape="bead", size=4, words=words))
    ends = [max(t.core, t.seconds, sum(s for _, s in t.rest)) for t in loops]
    labels = tuple(
        LaneLabel(f"{t.loop} of the {t.shown.role}", paints.get(t.loop, "")) for t in loops
    )
    levels = [kind for kind in (*LEVELS, *kinds) if kind in kinds]
    return PageFigure(
        drawing=plot.draw(
            Plot(
                name=f"Work in the core against transfers from each level, {of}",
                x=plot_axes.linear("time in one step", ends, time, zero=True),
                y=Lanes(labels),
                marks=marks,
            )
        ),
        legend=(
            LegendEntry("core", "arithmetic (T_OL)", "bar"),
            *(LegendEntry(kinds[kind], level_words(kind), "bar") for kind in dict.fromkeys(levels)),
            LegendEntry("ink", "predicted time of the loop", "bead"),
        ),
        caption="Above: arithmetic, which overlaps with the rest. Below: loads and stores in L1,"
        " with the operations on vectors and calls that share their time, then what the lines take"
        " from each level. The longer of the two bounds the loop: where"
        " it is the upper one, only less arithmetic helps, where it is the lower one, only less"
        " traffic. A bead left of the end of the lower bar: transfers overlap in part.",
    )


def level_words(kind: str) -> str:
    """A part of a prediction in words: ``lines from L2``."""
    if kind[:1] == "L":
        return f"lines from {kind}"
    return _LEVEL_WORDS.get(kind, kind)


def scatter(record: Scatter, of: str) -> PageFigure:
    """Predicted against measured with both intervals, log-log; on the diagonal they agree."""
    points = record.points
    values = [v for p in points for v in (p.predicted, p.measured)]
    if len(points) <= _MANY:
        ends = [p.interval or () for p in points] + [p.predicted_interval or () for p in points]
        values += [value for interval in ends for value in interval]
    x = plot_axes.logarithmic("measured time", values, time)
    y = plot_axes.logarithmic("predicted time", values, time)
    low, high = x.low, x.high
    marks: list[Mark] = [
        plot.Area(
            points=((low, low / 1.2), (high, high / 1.2), (high, high * 1.2), (low, low * 1.2)),
            paint="ink",
        ),
        plot.Polyline(points=((low, low), (high, high)), paint="idle", thin=True),
    ]
    for point in points if len(points) <= _MANY else ():
        paint = ROLES[point.shown.role].paint
        if point.interval:
            a, b = point.interval
            marks.append(Whisker(low=a, high=b, at=point.predicted, paint=paint))
        if point.predicted_interval:
            a, b = point.predicted_interval
            marks.append(Whisker(low=a, high=b, at=point.measured, paint=paint, upright=True))
    ordered = sorted(points, key=lambda point: point.shown.marked)
    marks += [role_dot(p.shown, p.measured, p.predicted) for p in ordered]
    return PageFigure(
        drawing=plot.draw(
            Plot(name=f"Predicted over measured times, {of}", x=x, y=y, marks=marks, height=420)
        ),
        legend=(
            *roles_of([p.shown for p in points]),
            LegendEntry("idle", "equal; shaded: within 20 %", "line"),
        ),
        caption="On the line prediction and measurement agree; above it the prediction is too"
        " slow. Bars are the intervals of both. Only candidates of one run.",
    )


def samples(record: Samples, floor: str, of: str) -> PageFigure:
    """Every sample of each candidate; the axis holds those that were accepted."""
    place = record.goal.cost  # where more is better, the axis has values and not their reciprocals
    marks: list[Mark] = []
    for lane, strip in enumerate(record.strips):
        paint = ROLES[strip.shown.role].paint
        accepted, refused = enumerate(map(place, strip.undisturbed)), map(place, strip.disturbed)
        marks += [
            Dot(x=value, y=lane + 0.11 * ((k % 5) / 2 - 1), paint=paint, size=2.5, faint=True)
            for k, value in accepted
        ]
        marks += [Dot(x=value, y=lane, paint="idle", shape="cross", size=2.5) for value in refused]
        words = f"what counts: {record.goal.show(strip.location)}"
        at = place(strip.location)
        marks.append(Dot(x=at, y=lane, paint="ink", shape="bead", size=4, words=words))
    accepted_values = [v for strip in record.strips for v in (*strip.undisturbed, strip.location)]
    refused_count = sum(len(strip.disturbed) for strip in record.strips)
    beyond = f" Crosses at an end lie beyond it: {refused_count} samples were disturbed."
    return PageFigure(
        drawing=plot.draw(
            Plot(
                name=f"Samples of each candidate, {of}",
                x=metric_axis(plot_axes.linear, record.goal, accepted_values),
                y=Lanes(tuple(lane_label(strip.shown) for strip in record.strips)),
                marks=marks,
            )
        ),
        legend=(
            LegendEntry("other", "accepted sample"),
            *([LegendEntry("idle", "disturbed sample", "cross")] if refused_count else []),
            LegendEntry("ink", "what counts", "bead"),
        ),
        caption="Candidates whose samples overlap cannot be told apart by this run:"
        f" {floor}. The axis holds the accepted samples."
        f"{beyond if refused_count else ''}",
    )


def bandwidths(record: Bandwidths, caption: str) -> PageFigure:
    """Load bandwidth of one thread over its working set, one curve per number of threads."""
    marks: list[Mark] = []
    legend = []
    for number, curve in enumerate(record.curves):
        paint = plot.PAINTS[number % len(plot.PAINTS)]
        speeds = [value * record.clock for value in curve.bandwidth]
        points = tuple(zip(curve.working_set, speeds, strict=True))
        marks.append(plot.Polyline(points=points, paint=paint))
        for (size, speed), spread in zip(points, curve.spread, strict=True):
            words = f"{show(size, 'size')}: {show(speed, 'bandwidth')}"
            half = speed * spread / 2
            marks.append(
                Whisker(low=speed - half, high=speed + half, at=size, paint=paint, upright=True)
            )
            marks.append(Dot(x=size, y=speed, paint=paint, size=3, words=words))
        plural = "s" if curve.threads > 1 else ""
        legend.append(LegendEntry(paint, f"{curve.threads} thread{plural}"))
    sizes = [float(size) for curve in record.curves for size in curve.working_set]
    marks = [
        *(
            RuleLine(at=size, paint="idle", upright=True, dashed=True, words=name)
            for name, size in record.caches
            if min(sizes) <= size <= max(sizes)
        ),
        *marks,
    ]
    speeds = [v * record.clock for curve in record.curves for v in curve.bandwidth]
    return PageFigure(
        drawing=plot.draw(
            Plot(
                name="Measured load bandwidth over the working set",
                x=plot_axes.powers_of_two("working set of one thread", sizes),
                y=plot_axes.logarithmic(
                    "load bandwidth of one thread", speeds, lambda v: show(v, "bandwidth")
                ),
                marks=marks,
            )
        ),
        legend=tuple(legend),
        caption=caption,
    )
