"""Learning curves as SVG. This module imports matplotlib, so import it only to draw."""

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from autotune.commands.learn.compare.text import FLOOR, paying_top
from autotune.learning.comparison.learning_curves import CurveTable, Kind, ScoreSpread
from autotune.results.page.plot_axes import round_values
from autotune.results.report.draw.svg import GRID, INK, PALETTE, figure_svg

_DASHES: dict[Kind, str | tuple[int, tuple[float, float]]] = {
    "analytical": (0, (1, 1.2)),
    "learned": "-",
    "hybrid": (0, (4, 2)),
}
_MARKERS = "os^D"


def svg(curves: CurveTable, caption: str) -> str:
    """Error rate and top-k loss over the number of training rows, quartiles shaded.

    Dotted: analytical; solid: learned; dashed: hybrid.
    """
    k = paying_top(curves)

    def paint(figure: Figure) -> None:
        figure.subplots_adjust(wspace=0.24)
        left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
        _panel(left, "error rate (MAPE)", curves, lambda m, s: curves.point(m, s, "error_rate"))
        _panel(
            right, f"top-{k} loss, mean", curves, lambda m, s: curves.top_loss(m, s, k), mean=True
        )
        error, loss = curves.floor_point("error_rate"), curves.floor_loss(k)
        _floor(left, None if error is None else error.median)
        _floor(right, None if loss is None else loss.mean)
        left.set_yscale("log")
        right.set_ylim(0, max(0.01, right.get_ylim()[1]))
        _percents(left)
        figure.legend(
            *left.get_legend_handles_labels(), loc="lower left", ncols=6, frameon=False,
            fontsize=9, bbox_to_anchor=(0.11, 0.95),
        )  # fmt: skip

    return figure_svg(paint, (11.2, 4.2), "learning curves", caption)


def _floor(axes: Axes, value: float | None) -> None:
    """Draw the noise floor: the score that a repeated measurement would reach."""
    if value is not None:
        axes.axhline(value, color=INK, linewidth=1, linestyle=(0, (1, 2)), label=FLOOR)


def _panel(
    axes: Axes,
    title: str,
    curves: CurveTable,
    value: Callable[[str, int], ScoreSpread | None],
    *,
    mean: bool = False,
) -> None:
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    for number, model in enumerate(curves.models):
        points = [(size, p) for size in curves.split_plan.sizes if (p := value(model, size))]
        colour = PALETTE[number % len(PALETTE)]
        sizes = [size for size, _ in points]
        axes.fill_between(
            sizes, [p.low for _, p in points], [p.high for _, p in points], color=colour,
            linewidth=0, alpha=0.10,
        )  # fmt: skip
        shown = [p.mean if mean else p.median for _, p in points]
        marker = _MARKERS[number // len(PALETTE) % len(_MARKERS)]
        axes.plot(
            sizes, shown, color=colour, linewidth=1.6, marker=marker, markersize=3.4, label=model,
            linestyle=_DASHES[curves.kind(model)],
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([float(size) for size in curves.split_plan.sizes]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
    axes.set_xlabel("rows learned from")
    axes.grid(color=GRID, linewidth=0.7)


def _percents(axes: Axes) -> None:
    axes.yaxis.set_major_locator(FixedLocator(round_values(*axes.get_ylim())))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
