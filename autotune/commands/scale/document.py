"""The document of ``autotune scale --json``.

Sizes are in the unit of the size variable, times in that of the time variable, both named under
``variables``: coefficients mean nothing without them. Relative errors are shares.
"""

from pathlib import Path
from typing import TypedDict

from autotune.learning.scaling.base import (
    RULES,
    Coefficient,
    Deleted,
    Inverse,
    Quality,
    ScalingModel,
)
from autotune.learning.scaling.forecast_accuracy import (
    BackTest,
    Errors,
    expected_mape,
    expected_mdape,
)
from autotune.learning.scaling.generation_plan import Stage
from autotune.learning.scaling.scaling_answers import ForecastAt, Scaled
from autotune.learning.scaling.scaling_runs import Runs
from autotune.learning.scaling.variables import Variable


class VariableRow(TypedDict):
    """What a symbol of the regressions stands for."""

    symbol: str
    """P, SIZE, T, X ..."""
    formula: str
    """Of columns of the file."""
    unit: str
    """Empty: nobody stated one."""
    transformation: str
    """log2: what the regression sees of it."""


class CoefficientRow(TypedDict):
    """One coefficient."""

    response: str
    """T, a component, ``T at P = 64``, or a coefficient that is projected."""
    column: str
    value: float
    standard_error: float | None


class QualityRow(TypedDict):
    """How well a regression fits its own runs; a forecast is another matter, see back_tests."""

    response: str
    n: int
    r2: float | None
    rmse: float | None
    """In log2 of the time."""
    degrees_of_freedom: float
    """Of the n runs that remained."""
    spread_degrees_of_freedom: float
    """Of the rmse and the intervals: deleted runs that are no outliers count in them too."""
    expected_mdape: float | None
    """2^(0.6745 rmse) - 1: what Garren (2010) calls E(MAPE)."""
    expected_mape: float | None
    """The mean in place of the median."""


class InverseRow(TypedDict):
    """The size that takes the time to keep."""

    processors: float
    time: float
    size: float
    column: float | None
    """The size in the size's own column; null where the size is made of several."""
    low: float
    high: float | None
    """Sizes whose widened prediction interval holds the time; null: no size is too large."""
    widened_by: float
    """Half-width in log2 of the time that the back-test adds, in quadrature; 0: nothing."""
    regression_low: float
    regression_high: float | None
    """The interval of the regression alone, which knows nothing of the back-test."""
    rule: str
    notes: list[str]


class ForecastRow(TypedDict):
    """The time of a single run."""

    processors: float
    size: float
    median: float
    low: float
    high: float | None
    """The prediction interval, widened by the back-test."""
    regression_low: float
    regression_high: float | None
    """That of the regression alone."""
    outside: bool
    """Outside the runs: an extrapolation."""


class ErrorsRow(TypedDict):
    """(predicted - observed)/observed."""

    n: int
    mape: float
    """Mean of the absolute values."""
    mdape: float
    """Median of the absolute values."""
    min: float
    quartile_1: float
    median: float
    quartile_3: float
    max: float
    coverage: float | None
    """Share of the observed times within the prediction intervals."""


class BackTestRow(TypedDict):
    """A method on the runs with the most processors, from those on fewer."""

    method: str
    processors: float | None
    below: float | None
    """The most processors of the runs it is forecast from."""
    train: int | None
    drift: float | None
    """Mean of log2(predicted/observed); below zero: forecasts are too short, sizes too large."""
    drift_error: float | None
    """Its standard error; 0 for a single run."""
    errors: ErrorsRow | None
    why_not: str | None


class DeletedRow(TypedDict):
    """A run that is not in the model, by its Cook's distance."""

    response: str
    """The regression that it left: T, ``T at P = 64``, components."""
    processors: float
    size: float
    covariates: list[float]
    time: float


class DiscrepancyRow(TypedDict):
    """What widens the intervals: t(1) * error * log2(P/processors) / distance, in log2 of T."""

    error: float
    """Root of drift squared plus its standard error squared, log2."""
    distance: float
    """Doublings of the processors over which it arose."""
    processors: float


class RecommendedRow(TypedDict):
    """The method with the least median error in the back-test; no proof beyond it."""

    method: str
    mdape: float
    n: int


class DesignRow(TypedDict):
    """A run that a self-generated region asks for."""

    processors: float
    size: float
    column: float | None
    expected: float | None
    """Time."""
    why: str


class StageRow(TypedDict):
    """Where a self-generated region stands."""

    name: str
    """second level, bracket, lower levels, recentre, forecast."""
    asked: list[DesignRow]
    notes: list[str]


class RegionRow(TypedDict):
    """One region of runs with its model."""

    label: str
    runs: int
    levels: list[float]
    """Numbers of processors."""
    treated: list[str]
    """What was done to rows that could not be used."""
    variables: list[VariableRow]
    time_to_keep: float
    level: float
    """Probability of the intervals."""
    method: str
    coefficients: list[CoefficientRow]
    quality: list[QualityRow]
    deleted: list[DeletedRow]
    inverses: list[InverseRow]
    forecasts: list[ForecastRow]
    back_tests: list[BackTestRow]
    discrepancy: DiscrepancyRow | None
    """Null: nothing widens the intervals, for want of a back-test."""
    recommended: RecommendedRow | None
    stage: StageRow | None
    notes: list[str]
    warnings: list[str]


class ScaleDocument(TypedDict):
    """Everything that the command found."""

    schema: str
    """autotune.scale/1"""
    file: str
    regions: list[RegionRow]


def document(file: Path, found: list[Scaled]) -> ScaleDocument:
    """The document of a file of runs."""
    return {
        "schema": "autotune.scale/1",
        "file": str(file),
        "regions": [_region(one) for one in found],
    }


def _region(one: Scaled) -> RegionRow:
    model = one.model
    return {
        "label": one.label,
        "runs": len(one.runs),
        "levels": list(one.runs.levels),
        "treated": list(one.runs.treated),
        "variables": [_variable(v) for v in variables(one.runs)],
        "time_to_keep": one.keep,
        "level": one.level,
        "method": one.settings.method if one.stage is None else "self-generated",
        "coefficients": [] if model is None else [_coefficient(c) for c in model.coefficients],
        "quality": [] if model is None else [_quality(q) for q in model.quality],
        "deleted": [] if model is None else [_deleted(d) for d in model.deleted],
        "inverses": [_inverse(i, one.runs) for i in one.inverses],
        "forecasts": [row for f in one.forecasts for row in _forecasts(f)],
        "back_tests": [_back_test(method, test) for method, test in one.back_tests],
        "discrepancy": _discrepancy(one),
        "recommended": _recommended(one),
        "stage": None if one.stage is None else _stage(one.stage),
        "notes": notes(one.notes, model),
        "warnings": list(one.warnings),
    }


def variables(runs: Runs) -> list[Variable]:
    """All variables of runs, the response last."""
    v = runs.variables
    return [v.processors, v.size, *v.covariates, v.time]


def notes(own: tuple[str, ...], model: ScalingModel | None) -> list[str]:
    """What was decided for the user, then what the model left out."""
    return [*own, *(() if model is None else model.notes)]


def _variable(v: Variable) -> VariableRow:
    return {
        "symbol": v.symbol,
        "formula": v.formula,
        "unit": v.unit,
        "transformation": v.transformation,
    }


def _coefficient(c: Coefficient) -> CoefficientRow:
    return {
        "response": c.response,
        "column": c.column,
        "value": c.value,
        "standard_error": c.standard_error,
    }


def _quality(q: Quality) -> QualityRow:
    return {
        "response": q.response,
        "n": q.count,
        "r2": q.r2,
        "rmse": q.rmse,
        "degrees_of_freedom": q.freedom,
        "spread_degrees_of_freedom": q.spread_freedom,
        "expected_mdape": expected_mdape(q.rmse),
        "expected_mape": expected_mape(q.rmse),
    }


def _deleted(d: Deleted) -> DeletedRow:
    return {
        "response": d.response,
        "processors": d.processors,
        "size": d.size,
        "covariates": list(d.covariates),
        "time": d.time,
    }


def _discrepancy(one: Scaled) -> DiscrepancyRow | None:
    known = one.discrepancy
    if known is None:
        return None
    return {"error": known.error, "distance": known.distance, "processors": known.top}


def _recommended(one: Scaled) -> RecommendedRow | None:
    if one.recommended is None:
        return None
    method, test = one.recommended
    return {"method": method, "mdape": test.errors.mdape, "n": test.errors.count}


def _inverse(i: Inverse, runs: Runs) -> InverseRow:
    own = i.regression or (i.low, i.high)
    return {
        "processors": i.processors,
        "time": i.time,
        "size": i.size,
        "column": runs.variables.size.column(i.size),
        "low": i.low,
        "high": i.high,
        "widened_by": i.widened,
        "regression_low": own[0],
        "regression_high": own[1],
        "rule": RULES[i.rule],
        "notes": list(i.notes),
    }


def _forecasts(found: ForecastAt) -> list[ForecastRow]:
    told, own = found.told, found.regression
    return [
        {
            "processors": float(found.points.processors[k]),
            "size": float(found.points.size[k]),
            "median": float(told.median[k]),
            "low": float(told.low[k]),
            "high": float(told.high[k]),
            "regression_low": float(own.low[k]),
            "regression_high": float(own.high[k]),
            "outside": bool(told.outside[k]),
        }
        for k in range(len(told))
    ]


def _back_test(method: str, test: BackTest | str) -> BackTestRow:
    if isinstance(test, str):
        return {
            "method": method,
            "processors": None,
            "below": None,
            "train": None,
            "drift": None,
            "drift_error": None,
            "errors": None,
            "why_not": test,
        }
    return {
        "method": method,
        "processors": test.processors,
        "below": test.below,
        "train": test.train,
        "drift": test.drift,
        "drift_error": test.drift_error,
        "errors": _errors(test.errors),
        "why_not": None,
    }


def _errors(e: Errors) -> ErrorsRow:
    return {
        "n": e.count,
        "mape": e.mape,
        "mdape": e.mdape,
        "min": e.least,
        "quartile_1": e.lower_quartile,
        "median": e.median,
        "quartile_3": e.upper_quartile,
        "max": e.most,
        "coverage": e.coverage,
    }


def _stage(stage: Stage) -> StageRow:
    return {
        "name": stage.name,
        "asked": [
            {
                "processors": p.processors,
                "size": p.size,
                "column": p.column,
                "expected": p.expected,
                "why": p.why,
            }
            for p in stage.asked
        ],
        "notes": list(stage.notes),
    }
