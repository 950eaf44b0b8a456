"""``autotune scale``: from a file of runs to the size that keeps the time."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from autotune.commands.scale import checks
from autotune.commands.scale.runs import RunSelection, runs_of, selected
from autotune.commands.scale.scale_options import ScalingColumns
from autotune.errors import Fault, InputError, unknown_name
from autotune.files import tables
from autotune.learning.scaling import focal, generation_plan, scaling_methods, self_generated
from autotune.learning.scaling.base import Inverse, ScalingModel, forecast
from autotune.learning.scaling.discrepancy import Widened
from autotune.learning.scaling.scaling_answers import ForecastAt, RegionAnswer
from autotune.learning.scaling.scaling_runs import Runs, points
from autotune.learning.scaling.variables import Variable


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastRequest:
    """The sizes and processor counts that the models forecast."""

    to: tuple[float, ...]
    """Numbers of processors; empty: twice the most of the runs."""
    keep: float | None = None
    """T0, the time to keep; None: the median time on the most processors."""
    keep_unit: str = ""
    """"s" where a unit was given; empty: T0 is in the unit of the time."""
    sizes: tuple[float, ...] = ()
    """Sizes, in the unit of the size formula, to forecast at each of ``to``."""
    given: tuple[tuple[str, float], ...] = ()
    """Values of the columns of covariates; else their medians on the most processors."""
    level: float = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleRequest:
    """All inputs of a scaling study."""

    columns: ScalingColumns
    selection: RunSelection
    forecast: ForecastRequest
    settings: scaling_methods.Settings
    generation: generation_plan.SelfGeneration | None = None
    """None: the runs are a training set that is there."""


def scale(path: Path, request: ScaleRequest) -> list[RegionAnswer]:
    """Model the runs of a file and forecast the requested sizes, region by region.

    InputError for columns that do not exist, runs that do not suffice for a model, and times that
    do not grow with the size.
    """
    table = tables.read_one(path, response=request.columns.time)
    runs = selected(runs_of(table, request.columns), request.selection)
    regions = _regions(runs, request.selection.each)
    return [_scaled(label, region, request) for label, region in regions]


def _scaled(label: str, runs: Runs, request: ScaleRequest) -> RegionAnswer:
    forecast = request.forecast
    keep, notes = _time_to_keep(runs, forecast)
    settings = replace(request.settings, time=keep)
    to = forecast.to or (2 * runs.levels[-1],)
    stage = None
    if request.generation is not None:
        stage = _stage(runs, keep, to[0], request.generation)
        model: ScalingModel | None = stage.model
    else:
        model = scaling_methods.fit(runs, settings)
    covariates = _covariates(runs, forecast, notes)
    tests = () if stage is not None else checks.back_tests(runs, settings, forecast.level)
    discrepancy = checks.discrepancy(tests, settings.method)
    wide = (
        model
        if model is None or discrepancy is None
        else Widened(model=model, discrepancy=discrepancy)
    )
    inverses = _inverses(wide, to, keep, covariates, forecast.level)
    if stage is None:
        checks.refuse_inseparable(runs, inverses)
    return RegionAnswer(
        label=label,
        runs=runs,
        keep=keep,
        level=forecast.level,
        settings=settings,
        model=model,
        inverses=inverses,
        forecasts=_forecasts((model, wide), to, forecast, covariates),
        back_tests=tests,
        discrepancy=discrepancy,
        stage=stage,
        notes=tuple(notes),
        warnings=checks.warnings(runs, keep, tests),
    )


def _time_to_keep(runs: Runs, request: ForecastRequest) -> tuple[float, list[str]]:
    if request.keep is not None:
        if not 0 < request.keep < math.inf:
            raise InputError(
                Fault(
                    where="--keep",
                    found=f"{request.keep:g}",
                    expected="a finite time above zero",
                )
            )
        unit = runs.variables.time.unit
        if request.keep_unit and request.keep_unit != unit:
            time = runs.variables.time.formula
            keep = f"{request.keep:g} {request.keep_unit}"
            raise InputError(
                Fault(
                    where="--keep",
                    found=f"{keep}, but the unit of {time} is not stated",
                    expected="a number in the unit of that column",
                    hint=f"a column called {time}_s or {time}_ms states it",
                )
            )
        return request.keep, []
    top = runs.levels[-1]
    median = float(np.median(runs.time[runs.at_level(top)]))
    return median, [f"the time to keep is the median on {top:g} processors; --keep names another"]


def _covariates(runs: Runs, request: ForecastRequest, notes: list[str]) -> tuple[float, ...]:
    """The values of the covariates at which the models forecast.

    A covariate without ``--given`` has its median on the most processors, and a note says so.
    InputError if no covariate uses a given column, or if a column of a covariate is not given.
    """
    given: dict[str, float] = dict(request.given)
    covariates = runs.variables.covariates
    columns = sorted({name for covariate in covariates for name in covariate.columns})
    for name in given:
        if not columns:
            fault = f"{name} is given, and there is no covariate"
            raise InputError(Fault(where="--given", found=fault, hint="--covariate names one"))
        if name not in columns:
            raise InputError(unknown_name("--given", "column of a covariate", name, columns))
    top = runs.at_level(runs.levels[-1])
    values: list[float] = []
    for covariate, measured in zip(covariates, runs.points.covariates, strict=True):
        if set(covariate.columns) & set(given):
            values.append(_given(covariate, given))
            continue
        values.append(float(np.median(measured[top])))
        notes.append(
            f"{covariate.formula} = {values[-1]:g}, its median on the most processors;"
            " --given sets another value"
        )
    return tuple(values)


def _given(covariate: Variable, given: Mapping[str, float]) -> float:
    """The value of a covariate, computed from given values of its columns."""
    missing = sorted(set(covariate.columns) - set(given))
    if missing:
        found, expected = f"{covariate.formula} without {', '.join(missing)}", "all of its columns"
        raise InputError(Fault(where="--given", found=found, expected=expected))
    try:
        value = covariate.value(given)
    except ValueError as error:
        raise InputError(Fault(where="--given", found=str(error))) from error
    if not value > 0:
        found = f"{covariate.formula} = {value:g}"
        raise InputError(Fault(where="--given", found=found, expected="above zero"))
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
    request: ForecastRequest,
    covariates: Sequence[float],
) -> tuple[ForecastAt, ...]:
    """Forecasts by the model as fitted, and by the model widened by its back-test."""
    model, wide = models
    if model is None or wide is None or not request.sizes:
        return ()
    pairs = list(itertools.product(to, request.sizes))
    at = points(
        [p for p, _ in pairs], [s for _, s in pairs], [[x] * len(pairs) for x in covariates]
    )
    return (
        ForecastAt(
            points=at,
            widened=forecast(wide, at, request.level),
            regression=forecast(model, at, request.level),
        ),
    )


def _stage(
    runs: Runs, keep: float, to: float, generation: generation_plan.SelfGeneration
) -> generation_plan.Stage:
    plan = generation_plan.GenerationPlan(time=keep, processors=to, runs=generation)
    return self_generated.next_stage(runs, plan)


def _regions(runs: Runs, column: str | None) -> list[tuple[str, Runs]]:
    if column is None:
        return [("", runs)]
    if column not in runs.fields:
        raise InputError(unknown_name("--each", "column", column, runs.fields))
    values = sorted(set(runs.fields[column]), key=lambda value: (isinstance(value, str), value))
    return [
        (f"{column} = {value}", runs.take(focal.meets(runs, column, (value,)))) for value in values
    ]
