"""Figures as inline SVG, drawn with matplotlib for a white page, text kept as text.

The colours of Okabe and Ito (2008) can be distinguished with any colour vision. This module imports
matplotlib, which is heavy: import it only to draw.
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
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from autotune.results.page.plot_axes import round_values
from autotune.results.report.svg_minify import compact
from autotune.units import show

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
INK, GRID = "#222222", "#dddddd"


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


def time_ticks(axes: Axes, side: str, low: float, high: float) -> None:
    """Write times with their units at a logarithmic axis between two times."""
    axis = axes.xaxis if side == "x" else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda value, _: show(value, "time")))
    axis.set_major_locator(FixedLocator(round_values(low, high)))
    axis.set_minor_locator(NullLocator())


def figure_svg(
    paint: Callable[[Figure], None], size: tuple[float, float], name: str, caption: str
) -> str:
    """An <svg> element for a page: it scales with the page and has a caption."""
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
