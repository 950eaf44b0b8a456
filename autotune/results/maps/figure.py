"""A decision map as SVG. This module imports matplotlib, so import it only to draw."""

import itertools
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from autotune.domain.decision_map import Choice, DecisionMap, MapCell
from autotune.results.report.draw.svg import GRID, INK, PALETTE, PAPER, SOFT, figure_svg
from autotune.units import rough_percent

_WIDTH = 11.6
_ROW = 0.46
"""Inches of a number of threads."""
_CURVE = 2.1
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TICKS = 11
_LINE = 126
"""Characters of a line of the legend."""
_DASHES = ("-", (0, (5, 2)), (0, (2, 1.5)), (0, (6, 2, 1, 2)))

_Colours = dict[int, tuple[str, tuple[float, float, float]]]
"""Contender to its letter and colour."""


def svg(chart: DecisionMap, caption: str) -> str:
    """Winners and the few chosen candidates (if different) over sizes x threads, and the loss.

    Hatched: the winner is the fastest with less than 90 % probability. A dot: measured in this
    cell. The border between two cells is where the next size becomes the nearer one. Letters name
    the candidates if there are not enough colours.
    """
    rows = len(chart.threads)
    panels = 1 if chart.same else 2
    colours = _colours(chart)
    edges = _edges(chart.sizes)

    def paint(figure: Figure) -> None:
        heights = [rows * _ROW] * panels + [_CURVE]
        figure.subplots_adjust(left=0.06, right=0.995)
        winners, *few, loss = figure.subplots(
            len(heights), 1, sharex=True,
            gridspec_kw={"height_ratios": heights, "hspace": _gap(heights)},
        )  # fmt: skip
        _cells(winners, chart, lambda cell: cell.winner, colours, sure=False)
        winners.set_title("fastest", loc="left", fontsize=10, color=INK)
        for axes in few:
            _cells(axes, chart, lambda cell: cell.merged, colours, sure=True)
            axes.set_title(
                f"enough: expected to be at most {rough_percent(chart.price[1])} slower than the"
                " fastest",
                loc="left", fontsize=10, color=INK,
            )  # fmt: skip
        _loss(loss, chart)
        loss.set_xlim(edges[0], edges[-1])
        _size_axis(loss, chart)
        _legend(figure, chart, colours)

    height = panels * rows * _ROW + _CURVE + 1.2
    return figure_svg(paint, (_WIDTH, height), f"map {chart.label}", caption)


def _gap(heights: Sequence[float]) -> float:
    """The space between panels, relative to their mean height, with room for a title."""
    return 0.36 / (sum(heights) / len(heights))


def _cells(
    axes: Axes,
    chart: DecisionMap,
    choice: Callable[[MapCell], Choice],
    colours: _Colours,
    *,
    sure: bool,
) -> None:
    edges = _edges(chart.sizes)
    for row, threads in enumerate(chart.threads):
        cells = chart.row(threads)
        names = [choice(cell).contender for cell in cells]
        for k, cell in enumerate(cells):
            _, colour = colours[names[k]]
            axes.add_patch(
                Rectangle(
                    (edges[k], row - 0.5), edges[k + 1] - edges[k], 1.0, facecolor=colour,
                    edgecolor=PAPER, linewidth=0.5,
                    hatch=None if sure or cell.sure else "////",
                )
            )  # fmt: skip
            if names[k] in cell.measured:
                place = (edges[k] * edges[k + 1]) ** 0.5
                axes.plot(
                    [place], [row - 0.3], "o", markersize=3.6, color=INK,
                    markeredgecolor=PAPER, markeredgewidth=0.7,
                )  # fmt: skip
        for first, last in _runs(names):
            letter, colour = colours[names[first]]
            axes.text(
                (edges[first] * edges[last + 1]) ** 0.5, row + 0.1, letter, ha="center",
                va="center", fontsize=10, fontweight="bold", color=_readable(colour),
            )  # fmt: skip
            axes.plot([edges[last + 1]] * 2, [row - 0.5, row + 0.5], color=INK, linewidth=1.1)
    axes.set_ylim(-0.5, len(chart.threads) - 0.5)
    axes.set_yticks(range(len(chart.threads)), [str(count) for count in chart.threads])
    axes.set_ylabel("threads")
    axes.tick_params(axis="both", length=0)
    axes.set_xscale("log", base=2)
    axes.spines[:].set_visible(False)


def _loss(axes: Axes, chart: DecisionMap) -> None:
    axes.set_title(
        f"what following the fastest loses: less than this with {100 * chart.level:g} %"
        " (thin: expected)",
        loc="left", fontsize=10, color=INK,
    )  # fmt: skip
    for row, threads in enumerate(chart.threads):
        cells = chart.row(threads)
        colour, dashes = PALETTE[row % len(PALETTE)], _DASHES[row % len(_DASHES)]
        sizes = [cell.size for cell in cells]
        axes.plot(
            sizes, [100 * cell.winner.bound for cell in cells], marker="o", markersize=3,
            linewidth=1.7, color=colour, linestyle=dashes,
            label=f"{threads} thread{'s' if threads > 1 else ''}",
        )  # fmt: skip
        axes.plot(
            sizes, [100 * cell.winner.loss for cell in cells], linewidth=0.8, alpha=0.8,
            color=colour, linestyle=dashes,
        )  # fmt: skip
    axes.axhline(
        100 * chart.tolerance, color=SOFT, linewidth=1, linestyle=(0, (4, 3)),
        label=f"tolerance, {100 * chart.tolerance:g} %",
    )  # fmt: skip
    axes.set_ylim(0, 1.2 * axes.get_ylim()[1])  # room for the legend
    axes.set_ylabel("loss, %")
    axes.grid(color=GRID, linewidth=0.7)
    axes.legend(
        frameon=False, fontsize=8.5, ncols=min(5, len(chart.threads) + 1), loc="upper right"
    )


def _size_axis(axes: Axes, chart: DecisionMap) -> None:
    step = max(1, -(-len(chart.sizes) // _TICKS))
    axes.xaxis.set_major_locator(FixedLocator(list(chart.sizes[::step])))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(chart.size_name)


def _legend(figure: Figure, chart: DecisionMap, colours: _Colours) -> None:
    wins = [cell.winner.contender for cell in chart.cells]
    handles: list[Patch | Line2D] = []
    labels = []
    for contender, (letter, colour) in colours.items():
        count = wins.count(contender)
        handles.append(Patch(facecolor=colour, edgecolor=PAPER))
        cells = f"{count} cell{'s' if count != 1 else ''}"
        labels.append(f"{letter}  {chart.contenders[contender].label} ({cells})")
    handles.append(Patch(facecolor="#bbbbbb", edgecolor=PAPER, hatch="////"))
    labels.append("fastest with less than 90 %")
    handles.append(
        Line2D([], [], marker="o", linestyle="", color=INK, markersize=3.6, markeredgecolor=PAPER)
    )
    labels.append("measured here")
    columns = max(1, min(4, _LINE // (max(map(len, labels)) + 4)))
    figure.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(0.05, 0.03), ncols=columns,
        frameon=False, fontsize=9, handlelength=1.2, columnspacing=1.4,
    )  # fmt: skip


def _edges(sizes: Sequence[int]) -> list[float]:
    """The borders between neighbouring sizes: their geometric means."""
    if len(sizes) == 1:
        return [sizes[0] / 1.5, sizes[0] * 1.5]
    inner = [(a * b) ** 0.5 for a, b in itertools.pairwise(sizes)]
    return [sizes[0] ** 2 / inner[0], *inner, sizes[-1] ** 2 / inner[-1]]


def _runs(names: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last index of each stretch of equal names."""
    runs: list[tuple[int, int]] = []
    for k, name in enumerate(names):
        if runs and names[runs[-1][1]] == name:
            runs[-1] = (runs[-1][0], k)
        else:
            runs.append((k, k))
    return runs


def _colours(chart: DecisionMap) -> _Colours:
    """The letter and colour of each drawn contender: the chosen few first, then by cells won.

    After eight colours follow lighter ones of these, then darker ones; the letters stay distinct.
    """
    drawn = list(dict.fromkeys((*chart.kept, *chart.winners)))
    colours: _Colours = {}
    for k, contender in enumerate(drawn):
        base = to_rgb(PALETTE[k % len(PALETTE)])
        towards, share = ((1.0, 0.0), (1.0, 0.5), (0.0, 0.4))[(k // len(PALETTE)) % 3]
        mixed = [value + share * (towards - value) for value in base]
        letter = _LETTERS[k] if k < len(_LETTERS) else str(k + 1)
        colours[contender] = letter, (mixed[0], mixed[1], mixed[2])
    return colours


def _readable(colour: tuple[float, float, float]) -> str:
    """Black or white, whichever contrasts more with a colour (ITU-R BT.709 weights)."""
    red, green, blue = colour
    return "black" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.45 else "white"
