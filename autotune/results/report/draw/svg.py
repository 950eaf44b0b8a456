"""Figures as inline SVG: the figure records drawn with matplotlib, text kept as text.

The colours of Okabe and Ito (2008) can be distinguished with any colour vision; roles differ in
shape as well. This module imports matplotlib, which is heavy: import it only to draw.
"""

import hashlib
import html
import io
import math
import re
from collections.abc import Callable, Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from autotune.domain.metric import TIME, Metric
from autotune.results.report.figure_records import Bandwidths, Role, Samples, Scatter, Stack
from autotune.results.report.svg_minify import compact
from autotune.units import show

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
ROLES: dict[Role, tuple[str, str, str]] = {
    "winner": ("#D55E00", "*", "winner"),
    "baseline": ("#000000", "s", "baseline"),
    "measured": ("#0072B2", "o", "other candidates"),
    "predicted": ("#999999", "x", "predicted only"),
}
INK, GRID = "#222222", "#dddddd"
_MANY = 80
"""So many points have no bars and no borders: they would hide one another, and weigh too much."""


def stack(record: Stack, caption: str) -> str:
    """Stacked contributions per sweep of each candidate, with the measured time beside the bar.

    Hatched: the contribution rests on extrapolated or approximated figures.
    """

    def paint(axes: Axes) -> None:
        places = range(len(record.bars))
        colours = {n: PALETTE[k % len(PALETTE)] for k, n in enumerate(record.names)}
        labelled: set[str] = set()
        for place, bar in zip(places, record.bars, strict=True):
            offset = 0.0
            for part in bar.segments:
                axes.barh(
                    place,
                    part.seconds,
                    left=offset,
                    height=0.62,
                    color=colours[part.name],
                    hatch="////" if part.extrapolated else None,
                    edgecolor="white",
                    linewidth=0.6,
                    label=None if part.name in labelled else part.name,
                )
                labelled.add(part.name)
                offset += part.seconds
        marked = False
        for place, bar in zip(places, record.bars, strict=True):
            if bar.measured is not None:
                low, high = bar.interval or (bar.measured, bar.measured)
                axes.errorbar(
                    bar.measured,
                    place,
                    xerr=[[bar.measured - low], [high - bar.measured]],
                    fmt="D",
                    color="black",
                    markersize=6,
                    markeredgecolor="white",
                    capsize=3,
                    label=None if marked else "measured",
                )
                marked = True
        axes.set_yticks(list(places), [str(bar.shown) for bar in record.bars])
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.set_xlabel("time")
        time_ticks(axes, "x")
        axes.grid(axis="x", color=GRID, linewidth=0.7)
        legend_above(axes)

    return svg(paint, (8.4, 1.5 + 0.42 * max(1, len(record.bars))), "stack", caption)


def scatter(record: Scatter, caption: str) -> str:
    """Predicted against measured with both intervals, log-log; on the diagonal they agree."""

    def paint(axes: Axes) -> None:
        axes.set_xscale("log")
        axes.set_yscale("log")
        for role, (colour, marker, name) in ROLES.items():
            points = [point for point in record.points if point.shown.role == role]
            if not points:
                continue
            x = [point.measured for point in points]
            y = [point.predicted for point in points]
            if len(points) > _MANY:
                dots(axes, x, y, colour=colour, size=5, label=name)
                continue
            across = [point.interval or (point.measured,) * 2 for point in points]
            upright = [point.predicted_interval or (point.predicted,) * 2 for point in points]
            axes.errorbar(
                x,
                y,
                xerr=[
                    [max(0.0, a - low) for a, (low, _) in zip(x, across, strict=True)],
                    [max(0.0, high - a) for a, (_, high) in zip(x, across, strict=True)],
                ],
                yerr=[
                    [max(0.0, a - low) for a, (low, _) in zip(y, upright, strict=True)],
                    [max(0.0, high - a) for a, (_, high) in zip(y, upright, strict=True)],
                ],
                fmt=marker,
                color=colour,
                markersize=13 if role == "winner" else 7,
                markeredgecolor="white",
                elinewidth=1,
                alpha=0.9,
                label=name,
                zorder=4 if role == "winner" else 3,
            )
        low, high = _limits(record)
        axes.plot([low, high], [low, high], color="#555555", linewidth=1, label="equal")
        axes.fill_between(
            [low, high], [low / 1.2, high / 1.2], [low * 1.2, high * 1.2],
            color="#555555", alpha=0.10, linewidth=0, label="within 20 %",
        )  # fmt: skip
        axes.set_xlim(low, high)
        axes.set_ylim(low, high)
        axes.set_aspect("equal")
        axes.set_xlabel("measured time")
        axes.set_ylabel("predicted time")
        for side in ("x", "y"):
            time_ticks(axes, side, log=(low, high))
        axes.grid(color=GRID, linewidth=0.7)
        legend_above(axes, columns=3)

    return svg(paint, (5.4, 5.6), "scatter", caption)


def _limits(record: Scatter) -> tuple[float, float]:
    values = [p.measured for p in record.points] + [p.predicted for p in record.points]
    for point in record.points:
        values += [*(point.interval or ()), *(point.predicted_interval or ())]
    return min(values) / 1.15, max(values) * 1.15


def samples(record: Samples, caption: str) -> str:
    """Every sample of each candidate in measuring order, to show how well they are separated."""

    def paint(axes: Axes) -> None:
        disturbed = [place for place, strip in enumerate(record.strips) if strip.disturbed]
        for place, strip in enumerate(record.strips):
            colour, _, _ = ROLES[strip.shown.role]
            spread = [place + 0.22 * ((k % 5) / 2 - 1) for k in range(len(strip.undisturbed))]
            label = "undisturbed sample" if place == 0 else None
            dots(axes, strip.undisturbed, spread, colour=colour, size=4, label=label)
            if strip.disturbed:
                axes.plot(
                    strip.disturbed, [place] * len(strip.disturbed), "x", color="#999999",
                    markersize=5,
                    label="disturbed sample" if place == disturbed[0] else None,
                )  # fmt: skip
            axes.plot(
                [strip.location] * 2, [place - 0.36, place + 0.36], color="black", linewidth=2,
                label="what counts" if place == 0 else None,
            )  # fmt: skip
        places = range(len(record.strips))
        axes.set_yticks(list(places), [str(s.shown) for s in record.strips])
        axes.invert_yaxis()
        axes.set_xlabel(record.goal.name)
        time_ticks(axes, "x", goal=record.goal)
        axes.grid(axis="x", color=GRID, linewidth=0.7)
        legend_above(axes)

    return svg(paint, (11.5, 1.2 + 0.34 * max(1, len(record.strips))), "samples", caption)


def bandwidths(record: Bandwidths, caption: str) -> str:
    """Load bandwidth of one thread over its working set, one curve per number of threads."""

    def paint(axes: Axes) -> None:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        for number, curve in enumerate(record.curves):
            marker = "osD^v<>p"[number % 8]
            speeds = [value * record.clock for value in curve.bandwidth]
            axes.errorbar(
                curve.working_set,
                speeds,
                yerr=[v * s / 2 for v, s in zip(speeds, curve.spread, strict=True)],
                marker=marker,
                markersize=5,
                color=PALETTE[number % len(PALETTE)],
                linewidth=1.6,
                elinewidth=1,
                label=f"{curve.threads} thread{'s' if curve.threads > 1 else ''}",
            )
        sizes = [size for curve in record.curves for size in curve.working_set]
        for name, size in record.caches:
            if min(sizes) <= size <= max(sizes):
                axes.axvline(size, color="#888888", linewidth=1, linestyle=(0, (4, 3)))
                axes.annotate(
                    name, (size, 0.02), xycoords=("data", "axes fraction"), xytext=(-3, 0),
                    textcoords="offset points", ha="right", color="#555555",
                )  # fmt: skip
        axes.set_xlabel("working set of one thread")
        axes.set_ylabel("load bandwidth of one thread")
        _bandwidth_ticks(axes, record)
        axes.grid(color=GRID, linewidth=0.7)
        legend_above(axes)

    return svg(paint, (8.4, 3.9), "bandwidths", caption)


def dots(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    *,
    colour: str,
    size: float,
    label: str | None = None,
) -> None:
    """Round dots of ``size`` points, drawn as one path.

    The SVG text is a sixth as long as with separate markers.
    """
    ends = [[a, a, math.nan] for a in x], [[b, b, math.nan] for b in y]
    across, upright = ([value for end in end_point for value in end] for end_point in ends)
    axes.plot(across, upright, color=colour, linewidth=size, alpha=0.55, solid_capstyle="round")
    if label is not None:
        axes.plot([], [], "o", color=colour, markersize=size, markeredgewidth=0, label=label)


def legend_above(axes: Axes, columns: int = 8) -> None:
    """Put a legend above the axes, where it covers no data."""
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1.01), ncols=columns, frameon=False, fontsize=9,
        handlelength=1.2, columnspacing=1.2, borderaxespad=0,
    )  # fmt: skip


def time_ticks(
    axes: Axes, side: str, log: tuple[float, float] | None = None, goal: Metric = TIME
) -> None:
    """Write times with their units at an axis, or the values of another goal at their costs."""
    axis = axes.xaxis if side == "x" else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda cost, _: _tick(cost, goal)))
    if log is None:
        axis.set_major_locator(MaxNLocator(7) if goal.better == "less" else _RoundCosts(goal))
        return
    axis.set_major_locator(FixedLocator(round_costs(*log, goal)))
    axis.set_minor_locator(NullLocator())


def _tick(cost: float, goal: Metric) -> str:
    if cost == 0:
        return "0" if goal.timed else ""
    return goal.show(cost) if cost > 0 or goal.timed else ""


def round_costs(low: float, high: float, goal: Metric = TIME) -> list[float]:
    """The costs between two limits whose values are round, smallest first.

    >>> [round(1 / cost) for cost in round_costs(0.0009, 0.011, Metric("rate", "MB/s", "more"))]
    [1000, 500, 200, 100]
    """
    if goal.better == "less":
        return round_values(low, high)
    return sorted(map(goal.cost, round_values(goal.value(high), goal.value(low))))


class _RoundCosts(MaxNLocator):
    """Places the ticks of an axis of costs where the values are round."""

    def __init__(self, goal: Metric) -> None:
        super().__init__(7)
        self._goal = goal

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """The costs of round values between two costs; near 0 a rate has no end."""
        return round_costs(max(vmin, vmax / 20), vmax, self._goal)


def round_values(low: float, high: float) -> list[float]:
    """1, 2, 5 (or only 1) times powers of ten between two limits; finer if only few fit."""
    powers = [10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        values = [step * power for power in powers for step in steps if low <= step * power <= high]
        if len(values) >= 4:
            return values
    return values


def _bandwidth_ticks(axes: Axes, record: Bandwidths) -> None:
    sizes = [size for curve in record.curves for size in curve.working_set]
    axes.xaxis.set_major_locator(
        FixedLocator([2.0**e for e in range(8, 40, 2) if min(sizes) <= 2.0**e <= max(sizes)])
    )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: show(value, "size")))
    speeds = [value * record.clock for curve in record.curves for value in curve.bandwidth]
    ticks = [s * 10.0**e for e in range(6, 14) for s in (1, 2, 5)]
    low, high = min(speeds) / 1.3, max(speeds) * 1.3
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: show(value, "bandwidth")))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())


def svg(paint: Callable[[Axes], None], size: tuple[float, float], name: str, caption: str) -> str:
    """An <svg> element for a page: it scales with the page and has a caption."""
    return figure_svg(lambda figure: paint(figure.add_subplot()), size, name, caption)


def figure_svg(
    paint: Callable[[Figure], None], size: tuple[float, float], name: str, caption: str
) -> str:
    """An <svg> element as ``svg`` makes, for a figure that creates its own axes."""
    style = mpl.rc_context(
        {
            "svg.fonttype": "none",
            "path.simplify": False,  # dots are lines without a length
            "svg.hashsalt": f"{name} {caption}",
            "text.parse_math": False,
            "font.family": ["sans-serif"],
            "font.size": 10,
            "axes.edgecolor": "#888888",
            "axes.labelcolor": INK,
            "axes.axisbelow": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "xtick.color": INK,
            "ytick.color": INK,
            "hatch.linewidth": 0.6,
        }
    )
    with style:
        figure = Figure(figsize=size)
        paint(figure)
        text = _rendered(figure)
    return _inline(text, caption)


def _rendered(figure: Figure) -> str:
    buffer = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(buffer, format="svg", bbox_inches="tight", metadata=nothing, transparent=True)
    return buffer.getvalue()


def _inline(text: str, caption: str) -> str:
    """The bare <svg> element: no prolog, no metadata, no style that would affect the page."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    prefix = hashlib.sha256(caption.encode()).hexdigest()[:8]  # ids stay unique within a page
    head, rest = compact(text, f"f{prefix}-").split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    width = re.search(r'width="([0-9.]+)pt"', head)
    return (
        f'<svg {box.group(0) if box else ""} xmlns="http://www.w3.org/2000/svg"'
        ' xmlns:xlink="http://www.w3.org/1999/xlink" role="img"'
        f' style="max-width:{width.group(1) if width else 600}pt"'
        ' font-family="DejaVu Sans,Verdana,sans-serif"'
        f' stroke-linejoin="round"><title>{html.escape(caption)}</title>{rest}'
    )
