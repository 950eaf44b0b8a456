"""Plots of a search: its course, where the model is wrong, drift, the Pareto front."""

from dataclasses import replace
from typing import Literal

from autotune.domain.metric import Metric
from autotune.results.page import plot, plot_axes
from autotune.results.page.frame import LegendEntry, PageFigure
from autotune.results.page.plot import (
    Dot,
    LaneLabel,
    Lanes,
    Mark,
    Plot,
    Polyline,
    RuleLine,
    Whisker,
)
from autotune.results.report import words
from autotune.results.report.draw.study_plots import ROLES, metric_axis, role_dot, roles_of
from autotune.results.report.noise_figures import NoiseFigures
from autotune.results.report.search_records import (
    Convergence,
    Front,
    FrontPoint,
    ResidualFigures,
    SearchStep,
)

_FRONT = "p3"


def course(
    record: Convergence, over: Literal["candidates", "seconds"], caption: str, of: str
) -> PageFigure:
    """The best so far over the candidates tried, which are all shown, or over time, where only
    those are that were the best when they were tried.
    """

    def at(step: SearchStep) -> float:
        return float(step.evaluation) if over == "candidates" else step.seconds

    place = record.goal.cost  # where more is better, the axis has values and not their reciprocals
    timed = [step for step in record.steps if step.measured is not None]
    costs = [step.measured for step in timed if step.measured is not None]
    costs += [*record.predicted, *([record.baseline] if record.baseline else [])]
    places = [at(step) for step in record.steps]
    title = "candidates tried" if over == "candidates" else "seconds since the run began"
    x = plot_axes.linear(title, places, lambda v: f"{v:g}", zero=True, whole=True)
    y = metric_axis(plot_axes.logarithmic, record.goal, costs)
    best = tuple((at(s), place(s.best)) for s in record.steps if s.best is not None)
    listed = sorted(timed, key=lambda step: step.shown.marked)
    if over == "seconds":
        listed = [step for step in listed if step.measured == step.best or step.shown.marked]
    marks: list[Mark] = [
        role_dot(s.shown, at(s), place(s.measured), faint=not s.shown.marked)
        for s in listed
        if s.measured is not None
    ]
    marks.append(Polyline(points=best, paint="p1", stepped=True))
    legend = [*roles_of([s.shown for s in listed]), LegendEntry("p1", "best so far", "line")]
    if record.predicted and over == "candidates":
        ahead = tuple((float(k), place(v)) for k, v in enumerate(record.predicted, start=1))
        marks.append(Polyline(points=ahead, paint="p2", stepped=True, dashed=True))
        legend.append(LegendEntry("p2", "best so far in the predicted order", "dash"))
    if record.baseline is not None:
        marks.append(RuleLine(at=place(record.baseline), paint="baseline", dashed=True))
    failed = [step for step in record.steps if step.measured is None]
    worst = y.high if record.goal.better == "less" else y.low
    marks += [
        Dot(x=at(s), y=worst, paint="bad", shape="cross", anchor=s.shown.anchor) for s in failed
    ]
    if failed:
        legend.append(LegendEntry("bad", "failed", "cross"))
    name = f"Best so far over {title}, {of}"
    return PageFigure(
        drawing=plot.draw(Plot(name=name, x=x, y=y, marks=marks, height=220)),
        legend=tuple(legend),
        caption=caption,
    )


def residuals(record: ResidualFigures, caption: str, of: str) -> PageFigure:
    """Measured over predicted by parameter value, with the interval of the mean."""
    marks: list[Mark] = [
        RuleLine(at=1.0, paint="ink", upright=True),
        RuleLine(at=record.overall, paint="idle", upright=True, dashed=True),
    ]
    values = [1.0, record.overall]
    for lane, share in enumerate(record.shares):
        low, high = share.interval or (share.factor, share.factor)
        # an interval from two candidates may be endless: it is cut
        values += [share.factor, max(low, share.factor / 2), min(high, share.factor * 2)]
        paint = "bad" if share.clear else "other"
        marks.append(Whisker(low=low, high=high, at=lane, paint=paint))
        text = f"measured / predicted {share.factor:.3f}, {share.candidates} candidates"
        shape: plot.Shape = "bead" if share.clear else "dot"
        marks.append(Dot(x=share.factor, y=lane, paint=paint, shape=shape, size=4, words=text))
    labels = tuple(
        LaneLabel(f"{words.value_of(share)} ({share.candidates})") for share in record.shares
    )
    return PageFigure(
        drawing=plot.draw(
            Plot(
                name=f"Measured over predicted time by the values of parameters, {of}",
                x=plot_axes.logarithmic("measured over predicted", values, lambda v: f"{v:.4g}"),
                y=Lanes(labels),
                marks=marks,
            )
        ),
        legend=(
            LegendEntry("bad", "clearly apart from the rest", "bead"),
            LegendEntry("other", "may be chance"),
            LegendEntry("idle", "all together", "dash"),
        ),
        caption=caption,
    )


def drift(record: NoiseFigures, caption: str, of: str) -> PageFigure:
    """Time of winner and baseline over the run, each relative to its overall time."""
    marks: list[Mark] = [RuleLine(at=1.0, paint="idle")]
    for series in record.drifts:
        points = tuple(zip(series.seconds, series.ratio, strict=True))
        paint = ROLES[series.shown.role].paint
        marks.append(Polyline(points=points, paint=paint, thin=True))
        marks += [replace(role_dot(series.shown, x, y), size=3) for x, y in points]
    ratios = [0.96, 1.04, *(ratio for series in record.drifts for ratio in series.ratio)]
    moments = [moment for series in record.drifts for moment in series.seconds]
    return PageFigure(
        drawing=plot.draw(
            Plot(
                name=f"Times of winner and baseline over the run, {of}",
                x=plot_axes.linear("seconds since the run began", moments, lambda v: f"{v:.4g}"),
                y=plot_axes.linear("change", ratios, lambda v: f"{100 * (v - 1):+.0f} %"),
                marks=marks,
                height=200,
            )
        ),
        legend=roles_of([series.shown for series in record.drifts]),
        caption=caption,
    )


def front(record: Front, other: str, of: str) -> PageFigure:
    """An objective over the first, with the points of the Pareto front."""
    first = record.objectives[0]
    across, upright = _axis(record, first), _axis(record, other)
    marks: list[Mark] = []
    edge = sorted((_at(record, p, first), _at(record, p, other)) for p in record.places if p.front)
    if len(record.objectives) == 2:
        marks.append(Polyline(points=tuple(edge), paint=_FRONT, stepped=True))
    for point in sorted(record.places, key=lambda p: (p.shown.marked, p.front)):
        x, y = _at(record, point, first), _at(record, point, other)
        if point.front:
            marks.append(Dot(x=x, y=y, paint=_FRONT, size=6))
        marks.append(role_dot(point.shown, x, y))
    return PageFigure(
        drawing=plot.draw(
            Plot(name=f"{other} over {first}, {of}", x=across, y=upright, marks=marks, height=220)
        ),
        legend=(
            LegendEntry(_FRONT, "Pareto front"),
            *roles_of([point.shown for point in record.places]),
        ),
        caption=f"{upright.title} over {across.title}.",
    )


def _at(record: Front, point: FrontPoint, kind: str) -> float:
    value = point.values[kind]
    metric = record.metrics.get(kind)
    return metric.value(value) if metric else value


def _axis(record: Front, kind: str) -> plot_axes.PlotAxis:
    metric: Metric | None = record.metrics.get(kind)
    values = [_at(record, point, kind) for point in record.places]
    if metric is None:
        unit, factor = words.unit_of(kind, max(values))
        title = words.OBJECTIVE_WORDS[kind]
        return plot_axes.linear(title, values, lambda v: f"{v / factor:.4g} {unit}", unit=factor)
    return plot_axes.linear(metric.title, values, lambda value: f"{value:.4g}")
