"""Figures as inline SVG, drawn with matplotlib in the colours of a page, text kept as text.

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
INK, SOFT, GRID, PAPER = "#222222", "#888888", "#dddddd", "#fefefe"
"""Text and axes, what is less important, grid lines, and what lies below: in a page they follow its
scheme, light or dark; the other colours stay.
"""
_OF_PAGE = {INK: "ink", SOFT: "soft", GRID: "grid", PAPER: "card"}
_PAGE_COLOUR = re.compile(r"var\(--\w+,(#\w+)\)")


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
    """An <svg> element for a page: it scales with it, has a caption and follows its colours."""
    style = mpl.rc_context(
        {
            "svg.fonttype": "none",
            "path.simplify": False,  # dots are lines without a length
            "svg.hashsalt": f"{name} {caption}",
            "text.parse_math": False,
            "font.family": ["sans-serif"],
            "font.size": 10,
            "axes.edgecolor": SOFT,
            "text.color": INK,
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
    text = _inline(text, caption)
    for colour, name in _OF_PAGE.items():
        text = text.replace(colour, f"var(--{name},{colour})")
    return text


def alone(figure: str) -> str:
    """The figure as a separate SVG file, in the colours of a light page on a white background."""
    head, rest = _PAGE_COLOUR.sub(r"\1", figure).split(">", 1)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}>{_background(head)}{rest}\n'


def _background(head: str) -> str:
    box = head.partition('viewBox="')[2].partition('"')[0].split()
    if len(box) != 4:
        return ""
    x, y, width, height = box
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="white"/>'


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
