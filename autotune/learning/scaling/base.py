"""The interface of scaling models: forecast times, and find the size that takes a given time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from autotune.learning.models.base import Forecast
from autotune.learning.scaling.scaling_runs import Runs, ScalingPoints, Variables, logs
from autotune.learning.scaling.weighted_regression import Bools, Floats
from autotune.units import Unbounded

Rule = Literal["Fieller", "band"]
RULES: dict[Rule, str] = {
    "Fieller": "sizes whose prediction interval holds the time, in closed form (Fieller 1954)",
    "band": "sizes whose prediction interval holds the time, where its bounds take it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inverse:
    """The size that takes ``time`` on ``processors``, with an interval of sizes.

    ``low`` and ``high``: for every size between them, ``time`` is within the prediction interval of
    the given level; 0 and inf where no size is excluded. In the unit of the size variable.
    ``widened``: half-width, in log2 of the time, that a back-test adds. ``regression``: the
    interval without this addition; None where it is the same.
    """

    processors: float
    time: float
    size: float
    low: float
    high: Unbounded
    rule: Rule
    notes: tuple[str, ...] = ()
    widened: float = 0.0
    regression: tuple[float, Unbounded] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.size <= self.high:
            raise ValueError("the size must lie within its interval")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Band:
    """Expected log2 of the time at points, (n,), with bounds of the prediction interval; inf where
    unknown.
    """

    middle: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """One coefficient of a regression.

    ``response``: what the regression predicts (time, a component, or the time at a number of
    processors). ``column``: the column that the coefficient multiplies.
    """

    response: str
    column: str
    value: float
    standard_error: Unbounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """How well a regression fits its own runs.

    ``count``: the runs that were not deleted; ``freedom``: their degrees of freedom. ``rmse``: in
    log2 of the time, with ``spread_freedom`` degrees of freedom, nan where there are none; deleted
    runs that are no outliers count in it.
    """

    response: str
    count: int
    r2: Unbounded
    rmse: Unbounded
    freedom: float
    spread_freedom: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """A run that was deleted from a regression because of its Cook's distance.

    ``response``: what this regression predicts.
    """

    response: str
    processors: float
    size: float
    covariates: tuple[float, ...]
    time: float


def deleted(runs: Runs, gone: Bools, response: str) -> tuple[Deleted, ...]:
    """The runs at which the mask ``gone`` (n,) is True, as deleted from the regression of
    ``response``.
    """
    at = runs.points
    return tuple(
        Deleted(
            response=response,
            processors=float(at.processors[i]),
            size=float(at.size[i]),
            covariates=tuple(float(values[i]) for values in at.covariates),
            time=float(runs.time[i]),
        )
        for i in np.flatnonzero(gone)
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Box:
    """The smallest and largest log2 of each regressor over the runs of a model."""

    names: tuple[str, ...]
    low: Floats
    high: Floats

    @classmethod
    def of(cls, runs: Runs) -> "Box":
        """The box of the runs that a model was fitted to."""
        rows = logs(runs.points)[:, 1:]
        names = runs.variables.logarithms[1:]
        return cls(names=names, low=rows.min(axis=0), high=rows.max(axis=0))

    def outside(self, points: ScalingPoints) -> Bools:
        """(n,) True for points outside the box of the runs: there a model extrapolates."""
        rows = logs(points)[:, 1:]
        beyond = (rows < self.low - 1e-9) | (rows > self.high + 1e-9)
        return np.asarray(beyond.any(axis=1), dtype=np.bool_)

    def notes(self, points: ScalingPoints) -> tuple[str, ...]:
        """One sentence for each regressor on how far the farthest point lies beyond the runs."""
        rows = logs(points)[:, 1:]
        sentences = []
        for k, name in enumerate(self.names):
            above, below = rows[:, k].max() - self.high[k], self.low[k] - rows[:, k].min()
            farthest = max(above, below)
            if farthest > 1e-9:
                side = "above" if above >= below else "below"
                sentences.append(
                    f"extrapolated: {name} lies {farthest:.2g} {side} that of the runs"
                )
        beyond = float(rows[:, 0].max() - self.high[0])
        if beyond > 1 + 1e-9:
            sentences.append(
                "more than one doubling of the processors beyond the runs: the source of the method"
                " never tested such forecasts"
            )
        return tuple(sentences)


class ScalingModel(Protocol):
    """A model of the time as a function of processors and size, fitted to runs."""

    @property
    def name(self) -> str:
        """The name of the method."""
        ...

    @property
    def variables(self) -> Variables:
        """The meaning of processors, size and time: formulas, units, transformations."""
        ...

    @property
    def box(self) -> Box:
        """The ranges of processors and sizes that the fitted runs span."""
        ...

    @property
    def coefficients(self) -> Sequence[Coefficient]:
        """The coefficients of all regressions of the model."""
        ...

    @property
    def quality(self) -> Sequence[Quality]:
        """The quality of fit of each regression of the model."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Sentences on what was left out or decided during the fit."""
        ...

    @property
    def deleted(self) -> Sequence[Deleted]:
        """The runs that were deleted because of their Cook's distance."""
        ...

    def band(self, points: ScalingPoints, level: float) -> Band:
        """Expected log2 time at points and its prediction interval of this level."""
        ...

    def inverse(
        self, processors: float, time: float, covariates: Sequence[float], level: float
    ) -> Inverse:
        """The size that takes ``time`` on ``processors``; InputError where the time does not grow
        with the size.
        """
        ...


def forecast(model: ScalingModel, points: ScalingPoints, level: float = 0.9) -> Forecast:
    """Median times of single runs with prediction intervals, in the unit of the time variable.

    The median is 2 to the power of the expected logarithm; it is not the mean.
    """
    band = model.band(points, level)
    with np.errstate(over="ignore"):
        return Forecast(
            median=np.exp2(band.middle),
            low=np.exp2(band.low),
            high=np.exp2(band.high),
            outside=model.box.outside(points),
            notes=model.box.notes(points),
        )
