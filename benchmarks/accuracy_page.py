"""The page of benchmarks/accuracy.py: predicted against measured, as SVG within HTML."""

import html
from collections.abc import Sequence

from accuracy_points import Panel
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from autotune.results.report.draw.svg import (
    GRID,
    INK,
    PALETTE,
    dots,
    figure_svg,
    legend_above,
    time_ticks,
)

_COLOURS = {"cache": PALETTE[0], "memory": PALETTE[5], "other": PALETTE[7]}
"""Of regimes."""
_ACROSS = 2
_STYLE = (
    "body{font-family:sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#222;"
    "background:#fff}svg{width:100%;height:auto}pre{overflow-x:auto;font-size:.85rem}"
)


def page(cells: Sequence[Panel], terms: Sequence[Panel], table: str) -> str:
    """A complete HTML page: all cells, then the terms of the step with their table."""
    parts = [
        "<h1>Predicted against measured</h1>",
        "<p>Seconds of a time step or sweep of every candidate of every cell, by the engine and"
        " the calibration of today. On the line they agree; the band is within 20 %.</p>",
        figure(cells, "predicted against measured times of all cells"),
    ]
    if terms:
        parts += [
            "<h2>Terms of the step</h2>",
            "<p>Kernels and barriers of some candidates of every cell, those that take more than"
            " a hundredth of the measured step.</p>",
            figure(terms, "predicted against measured times by term"),
            f"<pre>{html.escape(table)}</pre>",
        ]
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Predicted against measured</title>\n<style>{_STYLE}</style></head>\n"
        f"<body>{body}</body></html>\n"
    )


def figure(panels: Sequence[Panel], caption: str) -> str:
    """An SVG element: panels side by side, two in a row."""
    down = -(-len(panels) // _ACROSS)

    def paint(figure: Figure) -> None:
        figure.subplots_adjust(hspace=0.34, wspace=0.28)
        for number, panel in enumerate(panels, start=1):
            _paint(figure.add_subplot(down, _ACROSS, number), panel)

    return figure_svg(paint, (5.4 * _ACROSS, 5.6 * down), "accuracy", caption)


def _paint(axes: Axes, panel: Panel) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title(panel.title, loc="left", fontsize=10, color=INK, pad=22)
    for cloud in panel.clouds:
        label = f"{cloud.name} ({cloud.count})"
        dots(
            axes, cloud.measured, cloud.predicted,
            colour=_COLOURS[cloud.name], size=4, label=label,
        )  # fmt: skip
    low, high = _limits(panel)
    axes.plot([low, high], [low, high], color="#555555", linewidth=1)
    axes.fill_between(
        [low, high], [low / 1.2, high / 1.2], [low * 1.2, high * 1.2],
        color="#555555", alpha=0.10, linewidth=0,
    )  # fmt: skip
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    axes.set_aspect("equal")
    axes.set_xlabel("measured time")
    axes.set_ylabel("predicted time")
    for side in ("x", "y"):
        time_ticks(axes, side, low, high)
    axes.grid(color=GRID, linewidth=0.7)
    legend_above(axes, columns=3)


def _limits(panel: Panel) -> tuple[float, float]:
    values = [v for cloud in panel.clouds for v in (*cloud.measured, *cloud.predicted)]
    return (min(values) / 1.15, max(values) * 1.15) if values else (1e-6, 1.0)
