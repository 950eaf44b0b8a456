"""Cost curves as SVG, and as a page of their own. Import it only to draw: it loads matplotlib."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from autotune.results.page import frame
from autotune.results.page.frame import (
    Card,
    Decision,
    Drawing,
    Listing,
    Page,
    PageFigure,
    PageSection,
)
from autotune.results.page.plot_axes import round_values
from autotune.results.report.cost_curves import Panel
from autotune.results.report.draw.svg import GRID, INK, PALETTE, PAPER, SOFT, figure_svg
from autotune.units import show

_ACROSS = 2
_BLUE, _VERMILION = PALETTE[0], PALETTE[5]


def svg(panels: Sequence[Panel], caption: str) -> str:
    """Time over message size, one panel a curve: medians, pieces, interval, breakpoints.

    Dashed: beyond the sizes that the curve was fitted to.
    """
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)

    def paint(figure: Figure) -> None:
        figure.subplots_adjust(hspace=0.42, wspace=0.24)
        for number, panel in enumerate(panels):
            axes = figure.add_subplot(down, across, number + 1)
            _panel(axes, panel)
        handles, labels = [], []
        for axes in figure.axes:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                if label not in labels:
                    handles.append(handle)
                    labels.append(label)
        figure.legend(
            handles, labels, loc="lower left", ncols=6, frameon=False, fontsize=9,
            bbox_to_anchor=(0.11, 0.90 if down > 1 else 0.97),
        )  # fmt: skip

    return figure_svg(paint, (5.6 * across, 3.7 * down), "curves", caption)


def _panel(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, loc="left", fontsize=10, color=INK)
    for line in panel.lines:
        axes.fill_between(
            line.size, line.low, line.high, color=_BLUE, linewidth=0,
            alpha=0.07 if line.extrapolated else 0.16,
            label=None if line.extrapolated else "5 % to 95 % of the samples",
        )  # fmt: skip
        axes.plot(
            line.size, line.seconds, color=_BLUE, linewidth=1.6,
            linestyle=(0, (3, 2)) if line.extrapolated else "-",
            label="extrapolated" if line.extrapolated else "fitted",
        )  # fmt: skip
    for size in panel.breakpoints:
        axes.axvline(size, color=SOFT, linewidth=1, linestyle=(0, (1, 2)), label="pieces change")
    x = (lambda size: size) if panel.has_size else (lambda _: 0.5)
    if panel.outliers:
        axes.plot(
            [x(size) for size, _ in panel.outliers], [t for _, t in panel.outliers], "x",
            color=_VERMILION, markersize=4.5, alpha=0.8, label="outlier",
        )  # fmt: skip
    if panel.points:
        axes.plot(
            [x(size) for size, _ in panel.points], [t for _, t in panel.points], "o",
            color=INK, markersize=3.6, markeredgecolor=PAPER, markeredgewidth=0.5,
            label="median of the samples",
        )  # fmt: skip
    axes.set_yscale("log")
    _time_axis(axes)
    if panel.has_size:
        _size_axis(axes)
    else:
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_locator(NullLocator())
        axes.set_xlabel("no message")
    axes.grid(color=GRID, linewidth=0.7)


def _time_axis(axes: Axes) -> None:
    low, high = axes.get_ylim()
    if high / low < 8:
        middle = (low * high) ** 0.5
        low, high = middle / 2.9, middle * 2.9
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(FixedLocator(_few(round_values(low, high))))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: show(value, "time")))
    axes.yaxis.set_minor_locator(NullLocator())


def _few(values: Sequence[float]) -> list[float]:
    return list(values[:: 1 + len(values) // 9])


def _size_axis(axes: Axes) -> None:
    axes.set_xscale("log", base=2)
    low, high = axes.get_xlim()
    exponents = [e for e in range(0, 44) if low <= 2.0**e <= high]
    step = max(1, -(-len(exponents) // 6))
    axes.xaxis.set_major_locator(FixedLocator([2.0**e for e in exponents[::step]]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: show(value, "size")))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("bytes of one rank")


def page(title: str, figure: str, listing: str) -> str:
    """An HTML page with the figure, and all figures as text below it."""
    decision = Decision(
        about=title,
        verdict="No decision: costs of communication",
        state="open",
        sure="Predictions of programs with several ranks use these curves.",
        advice="Do not trust times beyond the sizes of the samples, which are dashed. autotune comm"
        " bench measures more, autotune comm fit fits them.",
        link="curves",
    )
    caption = (
        "Time by message size: medians of the samples, the fitted pieces, and 5 % to 95 % of the"
        " samples. Dashed: beyond the sizes that a curve was fitted to."
    )
    drawn = PageFigure(drawing=Drawing(figure), caption=caption)
    cards = (
        Card(title="Time by message size", blocks=(drawn,), wide=True),
        Card(title="All figures", blocks=(Listing(listing),), wide=True),
    )
    section = PageSection(title="Curves", anchor="curves", cards=cards)
    return frame.render(Page(title=title, lead=(), decisions=(decision,), sections=(section,)))
