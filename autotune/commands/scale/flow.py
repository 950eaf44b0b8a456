"""``autotune scale``: from a file of runs to the size that keeps the time."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from autotune.commands.scale import checks
from autotune.commands.scale.runs import RunSelection, ScalingColumns, runs_of, selected
from autotune.errors import Fault, InputError, unknown_name
from autotune.files import tables
from autotune.learning.scaling import focal, scaling_methods, self_generated
from autotune.learning.scaling import generation_plan as plans
from autotune.learning.scaling.base import Inverse, ScalingModel, forecast
from autotune.learning.scaling.discrepancy import Widened
from autotune.learning.scaling.scaling_answers import ForecastAt, RegionAnswer
from autotune.learning.scaling.scaling_runs import Runs, points
from autotune.learning.scaling.variables import Variable


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastRequest:
    """What is to be told of the models."""

    to: tuple[float, ...]
    """Numbers of processors; empty: twice the most of the runs."""
    keep: float | None = None
    """T0; None: the median time on the most processors."""
    keep_unit: str = ""
    """"s" where a unit was given; empty: T0 is in the unit of the time."""
    sizes: tuple[float, ...] = ()
    """Sizes, in the unit of the size formula, to forecast at each of ``to``."""
    given: tuple[tuple[str, float], ...] = ()
    """Values of the columns of covariates; else their medians on the most processors."""
    level: float = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfGeneration:
    """How a self-generated region asks for runs."""

    spread: float = 0.10
    around: str = "size"
    lower: tuple[float, ...] | None = None
    grid: plans.SizeGrid = plans.SizeGrid()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleOptions:
    """Everything that the command was told."""

    columns: ScalingColumns
    region: RunSelection
    asked: ForecastRequest
    settings: scaling_methods.Settings
    generated: SelfGeneration | None = None
    """None: the runs are a training set that is there."""


def scale(path: Path, options: ScaleOptions) -> list[RegionAnswer]:
    """Model the runs of a file and say what was asked, for each region.

    InputError for columns that are not there, runs that carry no model, times that do not grow
    with the size.
    """
    table = tables.read_one(path, response=options.columns.time)
    runs = selected(runs_of(table, options.columns), options.region)
    regions = _regions(runs, options.region.each)
    return [_scaled(label, one, options) for label, one in regions]


def _scaled(label: str, runs: Runs, options: ScaleOptions) -> RegionAnswer:
    asked = options.asked
    keep, notes = _time_to_keep(runs, asked)
    settings = replace(options.settings, time=keep)
    to = asked.to or (2 * runs.levels[-1],)
    stage = None
    if options.generated is not None:
        stage = _stage(runs, keep, to[0], options.generated)
        model: ScalingModel | None = stage.model
    else:
        model = scaling_methods.fit(runs, settings)
    covariates = _covariates(runs, asked, notes)
    tests = () if stage is not None else checks.back_tests(runs, settings, asked.level)
    known = checks.discrepancy(tests, settings.method)
    wide = model if model is None or known is None else Widened(model=model, known=known)
    inverses = _inverses(wide, to, keep, covariates, asked.level)
    if stage is None:
        checks.refuse_inseparable(runs, inverses)
    return RegionAnswer(
        label=label,
        runs=runs,
        keep=keep,
        level=asked.level,
        settings=settings,
        model=model,
        inverses=inverses,
        forecasts=_forecasts((model, wide), to, asked, covariates),
        back_tests=tests,
        discrepancy=known,
        stage=stage,
        notes=tuple(notes),
        warnings=checks.warnings(runs, keep, tests),
    )


def _time_to_keep(runs: Runs, asked: ForecastRequest) -> tuple[float, list[str]]:
    if asked.keep is not None:
        if not 0 < asked.keep < math.inf:
            raise InputError(Fault(where="--keep", found=f"{asked.keep:g}", expected="above zero"))
        unit = runs.variables.time.unit
        if asked.keep_unit and asked.keep_unit != unit:
            time = runs.variables.time.formula
            raise InputError(
                Fault(
                    where="--keep",
                    found=f"{asked.keep:g} {asked.keep_unit}, and nobody stated the unit of {time}",
                    expected="a number in the unit of that column",
                    hint=f"a column called {time}_s or {time}_ms states it",
                )
            )
        return asked.keep, []
    top = runs.levels[-1]
    median = float(np.median(runs.time[runs.at_level(top)]))
    return median, [f"the time to keep is the median on {top:g} processors; --keep names another"]


def _covariates(runs: Runs, asked: ForecastRequest, notes: list[str]) -> tuple[float, ...]:
    """The values of the covariates that are asked about. InputError for others, or half of one."""
    given, found = dict(asked.given), []
    known = sorted({name for one in runs.variables.covariates for name in one.columns})
    for name in given:
        if not known:
            told = f"{name} is given, and there is no covariate"
            raise InputError(Fault(where="--given", found=told, hint="--covariate names one"))
        if name not in known:
            raise InputError(unknown_name("--given", "column of a covariate", name, known))
    top = runs.at_level(runs.levels[-1])
    for one, values in zip(runs.variables.covariates, runs.points.covariates, strict=True):
        if set(one.columns) & set(given):
            found.append(_given(one, given))
            continue
        found.append(float(np.median(values[top])))
        notes.append(f"{one.formula} = {found[-1]:g}, its median on the most processors; --given")
    return tuple(found)


def _given(meant: Variable, given: Mapping[str, float]) -> float:
    """The value of a covariate for given values of its columns."""
    missing = sorted(set(meant.columns) - set(given))
    if missing:
        told, expected = f"{meant.formula} without {', '.join(missing)}", "all of its columns"
        raise InputError(Fault(where="--given", found=told, expected=expected))
    try:
        value = meant.value(given)
    except ValueError as error:
        raise InputError(Fault(where="--given", found=str(error))) from error
    if not value > 0:
        told = f"{meant.formula} = {value:g}"
        raise InputError(Fault(where="--given", found=told, expected="above zero"))
    return value


def _inverses(
    model: ScalingModel | None,
    to: Sequence[float],
    keep: float,
    covariates: Sequence[float],
    level: float,
) -> tuple[Inverse, ...]:
    if model is None:
        return ()
    return tuple(model.inverse(processors, keep, covariates, level) for processors in to)


def _forecasts(
    models: tuple[ScalingModel | None, ScalingModel | None],
    to: Sequence[float],
    asked: ForecastRequest,
    covariates: Sequence[float],
) -> tuple[ForecastAt, ...]:
    """By the model as it was fitted, and as its back-test widens it."""
    model, wide = models
    if model is None or wide is None or not asked.sizes:
        return ()
    pairs = list(itertools.product(to, asked.sizes))
    at = points(
        [p for p, _ in pairs], [s for _, s in pairs], [[x] * len(pairs) for x in covariates]
    )
    own, told = forecast(model, at, asked.level), forecast(wide, at, asked.level)
    return (ForecastAt(points=at, told=told, regression=own),)


def _stage(runs: Runs, keep: float, to: float, generated: SelfGeneration) -> plans.Stage:
    plan = plans.GenerationPlan(
        time=keep,
        processors=to,
        spread=generated.spread,
        around="time" if generated.around == "time" else "size",
        lower=generated.lower,
        grid=generated.grid,
    )
    return self_generated.next_stage(runs, plan)


def _regions(runs: Runs, each: str | None) -> list[tuple[str, Runs]]:
    if each is None:
        return [("", runs)]
    if each not in runs.fields:
        raise InputError(unknown_name("--each", "column", each, runs.fields))
    values = sorted(set(runs.fields[each]), key=lambda value: (isinstance(value, str), value))
    return [(f"{each} = {value}", runs.take(focal.meets(runs, each, (value,)))) for value in values]
