"""A self-generated focal region: plans which runs to do next. Garren 2010, sections 3.3 and 3.5.

    second level    a run on fewer processors that takes about T0
    bracket         sizes 10 % above and below both known runs: six runs
    lower levels    three sizes at each lower number of processors, from the regression on the six
    recentre        three new sizes wherever T0 lies outside the measured times (Garren only names
                    this step, and blames its absence for the failure on CG)
    forecast        no more runs are needed; sizes that would check the forecast

Each stage follows from the runs done so far: the user does the requested runs, adds their rows, and
asks for the next stage. Every stage from ``lower levels`` on contains the forecast.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from autotune.errors import Fault, InputError
from autotune.learning.scaling import focal, loglinear
from autotune.learning.scaling.base import forecast
from autotune.learning.scaling.generation_plan import (
    DesignPoint,
    GenerationPlan,
    Stage,
    lower_levels,
)
from autotune.learning.scaling.loglinear import LogLinear
from autotune.learning.scaling.scaling_runs import Runs, points
from autotune.learning.scaling.variables import Variable
from autotune.learning.scaling.weighted_regression import Bools

CHECKS = (0.8, 0.9, 1.0, 1.1, 1.2)
"""Shares of T0 at which the source checked its forecasts."""
_SIZES_PER_LEVEL = 3
"""Sizes at each level."""
_NEAR = 0.55
"""Doublings of the processors: a level this near stands for one that was not named."""


def next_stage(runs: Runs, plan: GenerationPlan, *, delete: bool = False) -> Stage:
    """The next stage of a plan: the runs to do, given the runs that were done.

    Raises InputError for covariates (conditions must hold them constant), for runs that are only at
    or above the requested processors, for lower numbers of processors that are not below the
    measured ones, and where the time does not grow with the size.
    """
    _check(runs, plan)
    below = runs.take(runs.points.processors < plan.processors)
    top = below.levels[-2:][::-1]
    requested = _brackets(below, plan, top)
    if requested:
        return Stage(name="bracket", points=requested)
    if len(top) < 2:
        return Stage(name="second level", points=(_second_level_point(below, plan),))
    six = below.take(_nearest_of(below, plan, top))
    first = loglinear.fitted(six, name="self-generated", delete=False)
    wanted = plan.runs.lower if plan.runs.lower is not None else lower_levels(top[0], top[1])
    lower = [level for level in wanted if level < top[1] and not _known_near(below, level, plan)]
    requested = tuple(p for level in lower for p in _level(below, plan, first, level))
    chosen = focal.nearest(below, below.time, plan.time, _SIZES_PER_LEVEL)
    model = loglinear.fitted(below.take(chosen), name="self-generated", delete=delete)
    if requested:
        return Stage(name="lower levels", points=requested, model=model)
    off = [level for level in below.levels if not _centred(below, plan, level)]
    named = ", ".join(f"{level:g}" for level in off)
    notes = (f"T0 = {plan.time:g} lies outside the times measured at P = {named}",) if off else ()
    nearer = tuple(p for level in off for p in _recentred_points(below, plan, model, level))
    if nearer:
        return Stage(name="recentre", points=nearer, model=model, notes=notes)
    return Stage(name="forecast", points=_checks(plan, model), model=model, notes=notes)


def _known_near(runs: Runs, level: float, plan: GenerationPlan) -> bool:
    """Whether a measured number of processors near ``level`` has its three sizes, where the plan
    lets the runs choose the levels.
    """
    return plan.runs.lower is None and any(
        p != level
        and abs(math.log2(p / level)) < _NEAR
        and len(np.unique(runs.points.size[runs.at_level(p)])) >= _SIZES_PER_LEVEL
        for p in runs.levels
    )


def _check(runs: Runs, plan: GenerationPlan) -> None:
    if runs.variables.covariates:
        raise InputError(
            Fault(
                where="--covariate",
                found="a self-generated region over more than processors and size",
                expected="the other inputs held constant: --condition NZ=14",
            )
        )
    if not (runs.points.processors < plan.processors).any():
        raise InputError(
            Fault(
                where="--to",
                found=f"no run on fewer than {plan.processors:g} processors",
                expected="at least one, that takes about the time to keep",
            )
        )
    highest = max(p for p in runs.levels if p < plan.processors)
    too_many = [level for level in plan.runs.lower or () if level >= highest]
    if too_many:
        raise InputError(
            Fault(
                where="--lower",
                found=f"{too_many[0]:g} processors",
                expected=f"fewer than the {highest:g} that are known",
            )
        )


def _nearest_of(runs: Runs, plan: GenerationPlan, levels: Sequence[float]) -> Bools:
    """(n,) True for the three runs of each of the levels whose time is nearest to T0."""
    chosen = focal.nearest(runs, runs.time, plan.time, _SIZES_PER_LEVEL)
    kept: Bools = chosen & np.isin(runs.points.processors, levels)
    return kept


def _brackets(runs: Runs, plan: GenerationPlan, levels: Sequence[float]) -> tuple[DesignPoint, ...]:
    """The requested sizes around the run nearest to T0 of each level, without sizes
    that were run.
    """
    requested = []
    for level in levels:
        here = runs.take(runs.at_level(level))
        nearest = int(np.argmin(np.abs(np.log2(here.time / plan.time))))
        centre = float(here.points.size[nearest])
        if len(np.unique(here.points.size)) >= _SIZES_PER_LEVEL:
            continue
        for factor in (1 - plan.runs.spread, 1 + plan.runs.spread):
            point = _point(runs, plan, (level, centre * factor), None, "bracket the known run")
            if not _was_run(here, plan, point):
                requested.append(point)
    return tuple(requested)


def _second_level_point(runs: Runs, plan: GenerationPlan) -> DesignPoint:
    """A run on half the processors, with the size that perfect speed-up would finish in T0."""
    highest = runs.levels[-1]
    lower = plan.runs.lower or lower_levels(2 * highest, highest, 1) or (highest / 2,)
    slope = _slope(runs)
    here = int(np.argmin(np.abs(np.log2(runs.time / plan.time))))
    work = plan.time / float(runs.time[here]) * lower[0] / highest
    size = float(runs.points.size[here]) * work ** (1 / slope)
    return _point(runs, plan, (lower[0], size), plan.time, "a second number of processors")


def _level(runs: Runs, plan: GenerationPlan, first: LogLinear, level: float) -> list[DesignPoint]:
    """Three requested sizes at a lower level, by the regression on the six runs, without sizes that
    were run.
    """
    here = runs.take(runs.at_level(level))
    if len(np.unique(here.points.size)) >= _SIZES_PER_LEVEL:
        return []
    requested = []
    for factor in (1 - plan.runs.spread, 1.0, 1 + plan.runs.spread):
        time = plan.time * (factor if plan.runs.around == "time" else 1.0)
        size = first.inverse(level, time, (), 0.9).size
        size *= factor if plan.runs.around == "size" else 1.0
        point = _point(runs, plan, (level, size), None, "a lower level, from the highest two")
        if not _was_run(here, plan, point):
            requested.append(point)
    moved = _at_distinct_sizes(requested, runs.variables.size, plan)
    return [_expecting(point, first) for point in moved]


def _recentred_points(
    runs: Runs, plan: GenerationPlan, model: LogLinear, level: float
) -> list[DesignPoint]:
    """Three requested sizes around the size at which the level's own runs make T0 expected, without
    sizes that were run.
    """
    here = runs.take(runs.at_level(level))
    nearest = int(np.argmin(np.abs(np.log2(here.time / plan.time))))
    slope = _slope(here) if len(np.unique(here.points.size)) > 1 else _model_slope(model)
    gap = plan.time / float(here.time[nearest])
    requested = []
    for factor in (1 - plan.runs.spread, 1.0, 1 + plan.runs.spread):
        power = (gap * (factor if plan.runs.around == "time" else 1.0)) ** (1 / slope)
        power *= factor if plan.runs.around == "size" else 1.0
        size = float(here.points.size[nearest]) * power
        expected = plan.time * (factor if plan.runs.around == "time" else factor**slope)
        requested.append(_point(runs, plan, (level, size), expected, "nearer to the time to keep"))
    moved = _at_distinct_sizes(requested, runs.variables.size, plan)
    return [p for p in moved if not np.isclose(here.points.size, p.size, rtol=1e-9).any()]


def _at_distinct_sizes(
    requested: Sequence[DesignPoint], variable: Variable, plan: GenerationPlan
) -> list[DesignPoint]:
    """The requested points; where two fell on one size of a coarse grid, one is moved to the next
    larger size.
    """
    placed: list[DesignPoint] = []
    for point in requested:
        while any(other.size == point.size for other in placed):
            column = (point.size if point.column is None else point.column) + plan.runs.grid.step
            size = column if point.column is None else variable.value({variable.columns[0]: column})
            moved = None if point.column is None else column
            point = replace(point, size=size, column=moved, expected=None)
        placed.append(point)
    return placed


def _checks(plan: GenerationPlan, model: LogLinear) -> tuple[DesignPoint, ...]:
    """Requested runs on the target number of processors that would show whether the
    forecast holds.
    """
    return tuple(
        _at_allowed_size(
            model.variables.size,
            plan,
            (plan.processors, model.inverse(plan.processors, share * plan.time, (), 0.9).size),
            share * plan.time,
            f"check: expected to take {share:g} T0",
        )
        for share in CHECKS
    )


def _centred(runs: Runs, plan: GenerationPlan, level: float) -> bool:
    times = runs.time[runs.at_level(level)]
    return bool(times.min() <= plan.time <= times.max())


def _slope(runs: Runs) -> float:
    """The slope d log2 T / d log2 SIZE of runs at one number of processors; 1 where the time does
    not grow.
    """
    x, y = np.log2(runs.points.size), np.log2(runs.time)
    slope = float(np.polyfit(x, y, 1)[0])
    return slope if slope > 0.05 else 1.0


def _model_slope(model: LogLinear) -> float:
    """The exponent of the size in the model of the time."""
    return float(model.regression.coefficients[2])


def _was_run(here: Runs, plan: GenerationPlan, point: DesignPoint) -> bool:
    """Whether the runs of a level contain one of about the size of the point."""
    if not len(here):
        return False
    apart = np.abs(np.log2(here.points.size / point.size))
    return bool(apart.min() < math.log2(1 + plan.runs.spread) / 2)


def _point(
    runs: Runs, plan: GenerationPlan, at: tuple[float, float], expected: float | None, why: str
) -> DesignPoint:
    return _at_allowed_size(runs.variables.size, plan, at, expected, why)


def _at_allowed_size(
    variable: Variable,
    plan: GenerationPlan,
    at: tuple[float, float],
    expected: float | None,
    why: str,
) -> DesignPoint:
    """The requested run of the allowed size that is nearest to the size in ``at``."""
    processors, size = at
    column = variable.column(size)
    if column is None:
        size = plan.runs.grid.nearest(size)
    else:
        column = plan.runs.grid.nearest(column)
        size = variable.value({variable.columns[0]: column})
    return DesignPoint(processors=processors, size=size, column=column, expected=expected, why=why)


def _expecting(point: DesignPoint, model: LogLinear) -> DesignPoint:
    forecasts = forecast(model, points([point.processors], [point.size]))
    return replace(point, expected=float(forecasts.median[0]))
