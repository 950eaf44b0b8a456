"""Figures of a study with matplotlib, from the same numbers as those of its page."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from autotune.domain.metric import Metric
from autotune.domain.tables.parameter import Value
from autotune.errors import Fault, InputError
from autotune.files.store.records import StudyRecord
from autotune.results.evaluate.study_evaluation import ProblemEvaluation
from autotune.results.report import figure_records, search_records
from autotune.results.report.group_means import GroupDifference, GroupMeans
from autotune.results.report.influences import settings_table

_WINNER, _OTHER, _BASELINE = "#0072b2", "#8a8a8a", "#d55e00"
_SIZE = (6.4, 4.0)


def history(problem: ProblemEvaluation, study: StudyRecord) -> Figure:
    """The objective over the candidates tried, failures at the lower edge."""
    record = search_records.convergence(problem, study)
    figure, axes = _axes("evaluation", record.goal.title)
    goal = record.goal
    tried = [s for s in record.steps if s.measured is not None]
    values = [goal.value(s.measured) for s in tried if s.measured is not None]
    axes.plot([s.evaluation for s in tried], values, "o", color=_OTHER, label="measured")
    so_far = [s for s in record.steps if s.best is not None]
    best = [goal.value(s.best) for s in so_far if s.best is not None]
    axes.step(
        [s.evaluation for s in so_far], best, where="post", color=_WINNER, label="best so far"
    )
    failed = [s.evaluation for s in record.steps if s.measured is None]
    if failed:
        edge = axes.get_xaxis_transform()
        axes.plot(
            failed, [0.02] * len(failed), "x", transform=edge, color=_BASELINE, label="failed"
        )
    if record.baseline is not None:
        axes.axhline(goal.value(record.baseline), color=_BASELINE, ls="--", label="baseline")
    return _finished(figure, axes, problem)


def predicted(problem: ProblemEvaluation) -> Figure:
    """Predicted against measured times, with the line on which they are equal."""
    points = figure_records.scatter(problem).points
    if not points:
        raise InputError(
            Fault(
                where="plot_predicted",
                found=f"nothing of {problem.label} is predicted and measured",
                expected="a study with a model",
                hint="plot_history shows the search",
            )
        )
    figure, axes = _axes("measured [s]", "predicted [s]")
    for point in points:
        color = _WINNER if point.shown.role == "winner" else _OTHER
        color = _BASELINE if point.shown.role == "baseline" else color
        axes.plot(point.measured, point.predicted, "o", color=color)
        if point.predicted_interval is not None:
            axes.plot([point.measured] * 2, point.predicted_interval, "-", color=color, lw=0.8)
    times = [t for point in points for t in (point.measured, point.predicted)]
    axes.plot([min(times), max(times)], [min(times), max(times)], ":", color="black", label="equal")
    axes.set_xscale("log")
    axes.set_yscale("log")
    return _finished(figure, axes, problem)


def samples(problem: ProblemEvaluation) -> Figure:
    """The samples of the best candidates, one row for each; disturbed ones are hollow."""
    record = figure_records.samples(problem, most=15)
    figure, axes = _axes(record.goal.title, "")
    for row, strip in enumerate(record.strips):
        color = _WINNER if strip.shown.role == "winner" else _OTHER
        color = _BASELINE if strip.shown.role == "baseline" else color
        for costs, face in ((strip.undisturbed, color), (strip.disturbed, "none")):
            values = [record.goal.value(cost) for cost in costs]
            axes.plot(values, [row] * len(values), "o", mec=color, mfc=face, ms=4, alpha=0.7)
        axes.plot(record.goal.value(strip.location), row, "|", color="black", ms=14)
    axes.set_yticks(range(len(record.strips)), [strip.shown.label for strip in record.strips])
    axes.invert_yaxis()
    return _finished(figure, axes, problem)


def importance(problem: ProblemEvaluation) -> Figure:
    """By how much the worst value of each parameter is worse than the best, with 99 % intervals,
    among candidates alike in the other parameters as far as there are such.
    """
    rows = [row for row in problem.rows if row.compared and row.measured]
    effects = _effects(problem) if len(rows) > 1 else []
    if not effects:
        raise InputError(_no_importance(problem, len(rows)))
    figure, axes = _axes(f"{_worse(problem.problem.goal)} [%]", "")
    for row, (_, change) in enumerate(effects):
        ends = 100 * (np.exp2([change.mean - change.half, change.mean + change.half]) - 1)
        width = 100 * (2.0**change.mean - 1)
        axes.barh(row, width, color=_WINNER if change.clear else _OTHER)
        if np.isfinite(change.half):
            axes.plot(ends, [row, row], "-", color="black", lw=1)
    axes.set_yticks(range(len(effects)), [name for name, _ in effects])
    axes.invert_yaxis()
    return _finished(figure, axes, problem)


def _no_importance(problem: ProblemEvaluation, compared: int) -> Fault:
    """Why the influence of no parameter can be drawn."""
    found = f"the {compared} candidates of {problem.label} differ in no parameter that can be told"
    if compared < 2:
        only = "only one candidate" if compared else "no candidate"
        found = f"{only} of {problem.label} was measured, so no parameter has an influence"
    return Fault(
        where="plot_importance",
        found=found,
        expected="two measured candidates or more, with different values",
        hint="tune with more values, or with a larger budget",
    )


def _worse(goal: Metric) -> str:
    return "worst over best value, longer by" if goal.timed else "worst over best value, worse by"


def _effects(problem: ProblemEvaluation) -> list[tuple[str, GroupDifference]]:
    """Each parameter with its best and its worst value, and the change from the one to the other;
    the largest first.
    """
    rows = [row for row in problem.rows if row.compared and row.measured]
    try:
        table = settings_table(rows, problem.label)
    except InputError:  # all alike
        return []
    names = [parameter.name for parameter in table.parameters]
    effects: list[tuple[str, GroupDifference]] = []
    for name in names:
        means = GroupMeans.of(table, name, names)
        best = means.fastest()
        changes = {v: c for v in means.values if v != best and (c := means.change(best, v))}
        if changes:
            worst: Value = max(changes, key=lambda value: changes[value].mean)
            effects.append((f"{name}\n{best} to {worst}", changes[worst]))
    return sorted(effects, key=lambda effect: -effect[1].mean)


def front(problem: ProblemEvaluation) -> Figure:
    """The compared candidates by the first two objectives; those on the front are joined."""
    record = search_records.front(problem)
    if len(record.objectives) < 2:
        raise InputError(
            Fault(
                where="plot_front",
                found=f"{problem.label} has one objective",
                expected="two objectives",
                hint='tune(..., objectives=["time", "energy"])',
            )
        )
    first, second = record.objectives[:2]
    metrics = [problem.problem.metric(name) for name in (first, second)]
    figure, axes = _axes(metrics[0].title, metrics[1].title)

    def of(point: search_records.FrontPoint) -> tuple[float, float]:
        return metrics[0].value(point.values[first]), metrics[1].value(point.values[second])

    for point in record.places:
        axes.plot(*of(point), "o", color=_WINNER if point.front else _OTHER)
    joined = sorted(of(point) for point in record.places if point.front)
    axes.plot([x for x, _ in joined], [y for _, y in joined], "-", color=_WINNER, label="front")
    return _finished(figure, axes, problem)


def _axes(x: str, y: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _finished(figure: Figure, axes: Axes, problem: ProblemEvaluation) -> Figure:
    axes.set_title(problem.label, loc="left")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)
    return figure
