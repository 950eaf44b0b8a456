"""Figures about a search: convergence, ranks, residuals, drift, front. Imports matplotlib."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from autotune.results.report import words
from autotune.results.report.draw.svg import (
    GRID,
    INK,
    PALETTE,
    ROLES,
    dots,
    figure_svg,
    legend_above,
    round_costs,
    svg,
)
from autotune.results.report.figure_records import Role
from autotune.results.report.noise_figures import CandidateDrift, NoiseFigures
from autotune.results.report.search_records import (
    Convergence,
    Front,
    FrontPoint,
    Moves,
    ResidualFigures,
)

_BLUE, _ORANGE, _GREEN, _GREY = PALETTE[0], PALETTE[1], PALETTE[2], "#888888"
_RED = PALETTE[5]


def convergence(record: Convergence, caption: str) -> str:
    """Best time so far over evaluations and over seconds, with every candidate tried."""

    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, sharey=True, gridspec_kw={"wspace": 0.06})
        steps = record.steps
        points = [(s.evaluation, s.seconds, s.best) for s in steps if s.best is not None]
        best = [b for _, _, b in points]
        for axes, x, at in (
            (left, [n for n, _, _ in points], [s.evaluation for s in steps]),
            (right, [t for _, t, _ in points], [s.seconds for s in steps]),
        ):
            shown = [(a, s.measured) for a, s in zip(at, steps, strict=True) if s.measured]
            dots(
                axes, [a for a, _ in shown], [m for _, m in shown],
                colour=_GREY, size=4, label="a candidate",
            )  # fmt: skip
            lost = [a for a, s in zip(at, steps, strict=True) if s.measured is None]
            if lost:
                axes.plot(
                    lost, [0.985] * len(lost), "x", color=_RED, markersize=5, clip_on=False,
                    transform=axes.get_xaxis_transform(), label="failed",
                )  # fmt: skip
            axes.step(x, best, where="post", color=_BLUE, linewidth=2, label="best so far")
            if record.baseline is not None:
                axes.axhline(record.baseline, color=INK, linewidth=1, linestyle=(0, (4, 3)),
                             label="baseline")  # fmt: skip
            axes.grid(color=GRID, linewidth=0.7)
        if record.predicted:
            places = range(1, len(record.predicted) + 1)
            left.step(
                places, record.predicted, where="post", color=_ORANGE, linewidth=1.6,
                linestyle=(0, (5, 2)), label="best so far in the predicted order",
            )  # fmt: skip
        left.set_yscale("log")
        values = [s.measured for s in steps if s.measured] + list(record.predicted)
        values += [record.baseline] if record.baseline else []
        low, high = min(values) / 1.06, max(values) * 1.06
        left.set_ylim(low, high)
        left.yaxis.set_major_locator(FixedLocator(round_costs(low, high, record.goal)))
        left.yaxis.set_minor_locator(NullLocator())
        left.yaxis.set_major_formatter(FuncFormatter(lambda cost, _: record.goal.show(cost)))
        left.set_ylabel(f"measured {record.goal.name}")
        left.set_xlabel("candidates tried")
        left.xaxis.set_major_locator(MaxNLocator(7, integer=True))
        right.set_xlabel("seconds since the run began")
        right.set_xlim(left=0)
        right.xaxis.set_major_locator(MaxNLocator(6))
        right.tick_params(axis="y", length=0, labelleft=False)
        legend_above(left)

    return figure_svg(paint, (11.6, 3.4), "convergence", caption)


def moves(record: Moves, caption: str) -> str:
    """A line from the predicted to the measured rank of each of the best candidates."""

    def paint(axes: Axes) -> None:
        deepest = max(max(m.before, m.after) for m in record.moves)
        for move in record.moves:
            strong = move.shown.marked
            colour = ROLES[move.shown.role][0] if strong else _BLUE
            axes.plot(
                [0, 1], [move.before, move.after], "-o", color=colour, markersize=4,
                linewidth=2.2 if strong else 1.0, alpha=1.0 if strong else 0.55,
            )  # fmt: skip
            axes.annotate(
                f"{move.after}  {move.shown}", (1, move.after), xytext=(7, 0),
                textcoords="offset points", va="center", fontsize=9, color=INK,
            )  # fmt: skip
            axes.annotate(
                str(move.before), (0, move.before), xytext=(-7, 0), textcoords="offset points",
                va="center", ha="right", fontsize=9, color=INK,
            )  # fmt: skip
        axes.set_xlim(-0.05, 1.02)
        axes.set_ylim(deepest + 0.6, 0.4)
        axes.set_xticks([0, 1], ["predicted place", "measured place"])
        axes.xaxis.tick_top()
        axes.tick_params(axis="x", length=0)
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_visible(False)

    deepest = max((max(m.before, m.after) for m in record.moves), default=1)
    return svg(paint, (4.2, 0.8 + 0.24 * min(deepest, 40)), "moves", caption)


def residuals(record: ResidualFigures, caption: str) -> str:
    """Measured over predicted by parameter value, with the interval of the mean."""

    def paint(axes: Axes) -> None:
        axes.set_xscale("log")
        axes.axvline(1.0, color=INK, linewidth=1, label="no error")
        axes.axvline(
            record.overall, color=_GREY, linewidth=1.2, linestyle=(0, (4, 3)), label="all together"
        )
        labelled: set[bool] = set()
        for place, share in enumerate(record.shares):
            low, high = share.interval or (share.factor, share.factor)
            axes.errorbar(
                share.factor, place, xerr=[[share.factor - low], [high - share.factor]],
                fmt="D" if share.clear else "o", color=_RED if share.clear else _BLUE,
                markersize=6, capsize=3, elinewidth=1.3,
                label=None if share.clear in labelled
                else "clearly apart from the rest" if share.clear else "may be chance",
            )  # fmt: skip
            labelled.add(share.clear)
        labels = [f"{words.value_of(share)}  ({share.candidates})" for share in record.shares]
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.4, -0.6)
        low, high = _span(record)
        axes.set_xlim(low, high)
        axes.xaxis.set_major_locator(FixedLocator(_factors(low, high)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("measured over predicted")
        axes.grid(axis="x", color=GRID, linewidth=0.7)
        legend_above(axes, columns=2)

    return svg(paint, (5.6, 1.5 + 0.27 * max(2, len(record.shares))), "residuals", caption)


def _span(record: ResidualFigures) -> tuple[float, float]:
    values = [1.0, record.overall]
    for share in record.shares:
        # an interval from two candidates may be endless: it is cut
        low, high = share.interval or (share.factor, share.factor)
        values += [share.factor, max(low, share.factor / 2), min(high, share.factor * 2)]
    return min(values) / 1.06, max(values) * 1.06


def _factors(low: float, high: float) -> list[float]:
    for steps in (
        (0.1, 0.2, 0.5, 1, 2, 5, 10),
        (0.25, 0.33, 0.5, 0.7, 1, 1.4, 2, 3, 4),
        (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4, 1.6, 1.8, 2),
        tuple(round(0.5 + 0.05 * k, 2) for k in range(21)),
    ):
        values = [step for step in steps if low <= step <= high]
        if len(values) >= 4:
            return values
    return values


def drift(record: NoiseFigures, caption: str) -> str:
    """Time of winner and baseline over the run, each relative to its overall time."""

    def paint(axes: Axes) -> None:
        for drift in record.drifts:
            colour, marker, _ = ROLES[drift.shown.role]
            axes.plot(
                drift.seconds, drift.ratio, "-", marker=marker, color=colour, linewidth=1.2,
                markersize=9 if drift.shown.role == "winner" else 5, markeredgecolor="white",
                label=str(drift.shown),
            )  # fmt: skip
        axes.axhline(1.0, color=_GREY, linewidth=1)
        low, high = _reach(record.drifts)
        axes.set_ylim(low, high)
        axes.set_xlabel("seconds since the run began")
        axes.set_ylabel("time over its usual one")
        axes.yaxis.set_major_formatter(
            FuncFormatter(lambda value, _: f"{100 * (value - 1):+.0f} %")
        )
        axes.grid(color=GRID, linewidth=0.7)
        legend_above(axes, columns=2)

    return svg(paint, (5.6, 2.9), "drift", caption)


def _reach(drifts: tuple[CandidateDrift, ...]) -> tuple[float, float]:
    values = [ratio for drift in drifts for ratio in drift.ratio]
    return min(0.96, min(values) - 0.01), max(1.04, max(values) + 0.01)


def front(record: Front, caption: str) -> str:
    """Each further objective over the first, with the points of the Pareto front joined."""
    first, *others = record.objectives
    units = {
        kind: words.unit_of(kind, max(place.values[kind] for place in record.places))
        for kind in record.objectives
        if kind not in record.metrics
    }

    def at(place: FrontPoint, kind: str) -> float:
        if kind in record.metrics:
            return record.metrics[kind].value(place.values[kind])
        return place.values[kind] / units[kind][1]

    def label(kind: str) -> str:
        metric = record.metrics.get(kind)
        if metric is None:
            return f"{words.OBJECTIVE_WORDS[kind]}, {units[kind][0]}"
        return f"{metric.name}, {metric.unit}" if metric.unit else metric.name

    def paint(figure: Figure) -> None:
        plots = figure.subplots(1, len(others), squeeze=False, gridspec_kw={"wspace": 0.3})[0]
        for axes, other in zip(plots, others, strict=True):
            beaten = [p for p in record.places if not p.front and p.shown.role == "measured"]
            dots(
                axes, [at(p, first) for p in beaten], [at(p, other) for p in beaten],
                colour=ROLES["measured"][0], size=6, label=ROLES["measured"][2] if beaten else None,
            )  # fmt: skip
            edge = sorted((at(p, first), at(p, other)) for p in record.places if p.front)
            axes.step(
                [a for a, _ in edge], [b for _, b in edge], "o", where="post", color=_GREEN,
                linestyle="-" if len(others) == 1 else "", linewidth=1.6, markersize=7,
                label="Pareto front",
            )  # fmt: skip
            roles: tuple[Role, ...] = ("baseline", "winner")
            for role in roles:
                colour, marker, name = ROLES[role]
                marked = [p for p in record.places if p.shown.role == role]
                axes.plot(
                    [at(p, first) for p in marked], [at(p, other) for p in marked], marker,
                    color=colour, markersize=12 if role == "winner" else 7,
                    markeredgecolor="white", label=name if marked else None, zorder=4,
                )  # fmt: skip
            axes.xaxis.set_major_locator(MaxNLocator(6))
            axes.yaxis.set_major_locator(MaxNLocator(5))
            axes.margins(0.08)
            axes.set_xlabel(label(first))
            axes.set_ylabel(label(other))
            axes.grid(color=GRID, linewidth=0.7)
        legend_above(plots[0], columns=4)

    return figure_svg(paint, (5.6 * max(1, len(others)), 3.2), "front", caption)
