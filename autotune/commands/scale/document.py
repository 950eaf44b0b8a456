"""The document of ``autotune scale --json``.

Sizes are in the unit of the size variable, times in that of the time variable, both named under
``variables``: coefficients mean nothing without them. Relative errors are shares.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autotune.learning.models.base import RowForecast
from autotune.learning.scaling.base import (
    Coefficient,
    Deleted,
    Inverse,
    Quality,
    ScalingModel,
)
from autotune.learning.scaling.discrepancy import Discrepancy
from autotune.learning.scaling.forecast_accuracy import BackTest, expected_mape, expected_mdape
from autotune.learning.scaling.generation_plan import DesignPoint, Stage
from autotune.learning.scaling.scaling_answers import ForecastAt, RegionAnswer
from autotune.learning.scaling.scaling_runs import Runs
from autotune.learning.scaling.variables import Variable
from autotune.units import Unbounded


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedQuality:
    """How well a regression fits its own runs.

    See back_tests for how well it forecasts others.
    """

    fit: Quality
    expected_mdape: Unbounded
    """2^(0.6745 rmse) - 1: what Garren (2010) calls E(MAPE)."""
    expected_mape: Unbounded
    """The mean in place of the median."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSize:
    """The size whose run takes the time to keep."""

    inverse: Inverse
    column: float | None
    """The size in the size's own column; null where the size is made of several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastTime:
    """The forecast time of one run."""

    processors: float
    size: float
    forecast: RowForecast
    """With the prediction interval, widened by the back-test."""
    regression: RowForecast
    """With the interval of the regression alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodTest:
    """A method tested on the runs with the most processors, fitted to those on fewer."""

    method: str
    test: BackTest | None
    why_not: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendedMethod:
    """The method with the least median error in the back-test, which is its only evidence."""

    method: str
    mdape: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReached:
    """The stage that a self-generated region of runs has reached."""

    name: str
    """second level, bracket, lower levels, recentre, forecast."""
    points: tuple[DesignPoint, ...]
    """The runs that it asks for."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledRegion:
    """One region of runs with its model, forecasts and back-tests."""

    label: str
    count: int
    """Runs."""
    levels: tuple[float, ...]
    """Numbers of processors."""
    treated: tuple[str, ...]
    """What was done to rows that could not be used."""
    variables: tuple[Variable, ...]
    time_to_keep: float
    level: float
    """Probability of the intervals."""
    method: str
    coefficients: tuple[Coefficient, ...]
    quality: tuple[ExpectedQuality, ...]
    deleted: tuple[Deleted, ...]
    sizes: tuple[KeptSize, ...]
    """The sizes that take the time to keep."""
    times: tuple[ForecastTime, ...]
    """Forecasts of single runs."""
    back_tests: tuple[MethodTest, ...]
    discrepancy: Discrepancy | None
    """What widens the intervals; null: nothing does, for want of a back-test."""
    recommended: RecommendedMethod | None
    stage: StageReached | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleDocument:
    """``autotune scale --json``: the regions of a file of runs."""

    schema: Literal["autotune.scale/1"] = "autotune.scale/1"
    file: Path
    regions: tuple[ScaledRegion, ...]


def region(scaled: RegionAnswer) -> ScaledRegion:
    """One region of runs as a part of the document."""
    model, runs = scaled.model, scaled.runs
    return ScaledRegion(
        label=scaled.label,
        count=len(runs),
        levels=runs.levels,
        treated=runs.treated,
        variables=tuple(variables(runs)),
        time_to_keep=scaled.keep,
        level=scaled.level,
        method=scaled.settings.method if scaled.stage is None else "self-generated",
        coefficients=() if model is None else tuple(model.coefficients),
        quality=() if model is None else tuple(map(_quality, model.quality)),
        deleted=() if model is None else tuple(model.deleted),
        sizes=tuple(
            KeptSize(inverse=inverse, column=runs.variables.size.column(inverse.size))
            for inverse in scaled.inverses
        ),
        times=tuple(time for at in scaled.forecasts for time in _times(at)),
        back_tests=tuple(_tested(method, test) for method, test in scaled.back_tests),
        discrepancy=scaled.discrepancy,
        recommended=_recommended(scaled),
        stage=None if scaled.stage is None else _stage(scaled.stage),
        notes=tuple(notes(scaled.notes, model)),
        warnings=scaled.warnings,
    )


def variables(runs: Runs) -> list[Variable]:
    """All variables of the runs, the response last."""
    v = runs.variables
    return [v.processors, v.size, *v.covariates, v.time]


def notes(decided: tuple[str, ...], model: ScalingModel | None) -> list[str]:
    """Notes: the choices made for the user, then what the model left out."""
    return [*decided, *(() if model is None else model.notes)]


def _quality(quality: Quality) -> ExpectedQuality:
    return ExpectedQuality(
        fit=quality,
        expected_mdape=expected_mdape(quality.rmse),
        expected_mape=expected_mape(quality.rmse),
    )


def _recommended(scaled: RegionAnswer) -> RecommendedMethod | None:
    if scaled.recommended is None:
        return None
    method, test = scaled.recommended
    return RecommendedMethod(method=method, mdape=test.errors.mdape, n=test.errors.count)


def _times(at: ForecastAt) -> list[ForecastTime]:
    points = zip(at.points.processors, at.points.size, strict=True)
    forecasts = zip(at.widened.rows, at.regression.rows, strict=True)
    return [
        ForecastTime(
            processors=float(processors),
            size=float(size),
            forecast=forecast,
            regression=regression,
        )
        for (processors, size), (forecast, regression) in zip(points, forecasts, strict=True)
    ]


def _tested(method: str, test: BackTest | str) -> MethodTest:
    if isinstance(test, str):
        return MethodTest(method=method, test=None, why_not=test)
    return MethodTest(method=method, test=test, why_not=None)


def _stage(stage: Stage) -> StageReached:
    return StageReached(name=stage.name, points=stage.points, notes=stage.notes)
