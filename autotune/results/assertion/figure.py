"""Sizes of messages as SVG. This module imports matplotlib, so import it only to draw."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from autotune.assertions.checking.verdicts import SizeComparison
from autotune.domain.assertion_record import SizeCount
from autotune.results.report.draw.svg import GRID, INK, PALETTE, figure_svg
from autotune.units import show

_WIDTH, _PANEL = 7.2, 1.9
_MOST = 8
"""Panels, of more kinds of messages."""
_TICKS = 7


def size_curves(compared: Sequence[SizeComparison], caption: str) -> str:
    """The share of messages up to each size, asserted as a broad and counted as a thin line.

    A panel for each kind of messages. Where both lines are one, sizes are as asserted.
    """
    shown = compared[:_MOST]

    def paint(figure: Figure) -> None:
        figure.subplots_adjust(hspace=0.65, left=0.1, right=0.98)
        panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)
        for axes, comparison in zip(panels[:, 0], shown, strict=True):
            _panel(axes, comparison)
        largest = max(size for c in shown for size, _ in (*c.asserted, *c.measured))
        _size_axis(panels[-1, 0], 2.0 * largest + 1.0)
        panels[0, 0].legend(frameon=False, fontsize=8.5, loc="lower right")

    name = "sizes " + " ".join(comparison.messages for comparison in shown)
    return figure_svg(paint, (_WIDTH, _PANEL * len(shown) + 0.4), name, caption)


def _size_axis(axes: Axes, end: float) -> None:
    """The axis that all panels share: 0, then powers of two up to ``end`` bytes."""
    axes.set_xscale("symlog", base=2, linthresh=1)
    axes.set_xlim(0.0, end)
    exponents = range(1 + math.floor(math.log2(end)))
    step = -(-len(exponents) // _TICKS)
    axes.xaxis.set_major_locator(FixedLocator([0.0, *(2.0**e for e in exponents[::step])]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: show(value, "size")))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("size of a message")


def _panel(axes: Axes, comparison: SizeComparison) -> None:
    for sizes, label, width, colour in (
        (comparison.asserted, "asserted", 5.0, PALETTE[4]),
        (comparison.measured, "counted", 1.6, PALETTE[5]),
    ):
        places, shares = steps(sizes)
        axes.step(places, shares, where="post", linewidth=width, color=colour, label=label)
    axes.set_ylim(-4, 104)
    axes.set_ylabel("share, %")
    axes.set_title(comparison.messages, loc="left", fontsize=10, color=INK)
    axes.grid(color=GRID, linewidth=0.7)


def steps(sizes: Sequence[SizeCount]) -> tuple[list[float], list[float]]:
    """The places and the shares in percent of the cumulative distribution, beginning at 0."""
    total = sum(size.messages for size in sizes)
    places, shares, below = [0.0], [0.0], 0
    for size, messages in sizes:
        below += messages
        places.append(float(size))
        shares.append(100 * below / total if total else 0.0)
    return [*places, 2 * places[-1] + 1], [*shares, shares[-1]]
