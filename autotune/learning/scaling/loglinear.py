"""The log-linear model log2 T = b0 + b1 log2 P + b2 log2 SIZE (+ b3 log2 X): Garren 2010, eqs. (4),
(9), (11).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from autotune.learning.scaling.base import (
    Band,
    Box,
    Coefficient,
    Deleted,
    Inverse,
    Quality,
    deleted,
)
from autotune.learning.scaling.inversion import no_growth, sized
from autotune.learning.scaling.scaling_runs import Runs, ScalingPoints, Variables, logs
from autotune.learning.scaling.weighted_regression import (
    Bools,
    Floats,
    Regression,
    fit,
    influential,
    recounted,
)
from autotune.statistics.distributions import student

_P, _SIZE = 1, 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogLinear:
    """One log-linear regression over all numbers of processors.

    ``removed``: (n,) True for the runs that were deleted because of their Cook's distance.
    """

    name: str
    variables: Variables
    regression: Regression
    box: Box
    removed: Bools
    deleted: tuple[Deleted, ...] = ()
    notes: tuple[str, ...] = ()
    response: str = field(default="T")

    @property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """The coefficients of the intercept, of processors, size and covariates."""
        return coefficients_of(self.regression, self.response)

    @property
    def quality(self) -> tuple[Quality, ...]:
        """The quality of fit of the one regression."""
        return (quality(self.regression, self.response),)

    @property
    def exponent(self) -> float:
        """The exponent e of SIZE ~ P^e at constant time, -b1/b2. Perfect speed-up of linear work
        has e = 1.
        """
        b = self.regression.coefficients
        return float(-b[_P] / b[_SIZE])

    def band(self, points: ScalingPoints, level: float) -> Band:
        """Expected log2 time at points and its prediction interval (Student's t)."""
        rows = logs(points)
        return student_band(self.regression, rows, level)

    def inverse(
        self, processors: float, time: float, covariates: Sequence[float], level: float
    ) -> Inverse:
        """SIZE = 2^((log2 T - b0 - b1 log2 P)/b2), with the interval of Fieller (1954).

        InputError where the time does not grow with the size.
        """
        base = np.array([1.0, math.log2(processors), 0.0, *(math.log2(x) for x in covariates)])
        gap = math.log2(time) - float(base @ self.regression.coefficients)
        slope = float(self.regression.coefficients[_SIZE])
        if slope <= 0:
            raise no_growth(slope)
        low, high = fieller(self.regression, base, gap, level)
        return sized(self, (processors, time), (gap / slope, low, high), covariates, "Fieller")

    def delta(
        self, processors: float, time: float, covariates: Sequence[float], level: float
    ) -> tuple[float, float]:
        """The interval of the size by the delta method: x +- t s sqrt(1 + x'Cx) / b2 in log2.

        Fieller's interval approaches it where the slope b2 is well known; where it is not, this
        interval is too short.
        """
        base = np.array([1.0, math.log2(processors), 0.0, *(math.log2(x) for x in covariates)])
        slope = float(self.regression.coefficients[_SIZE])
        middle = (math.log2(time) - float(base @ self.regression.coefficients)) / slope
        base[_SIZE] = middle
        reach = student(self.regression.freedom, level) * self.regression.rmse / abs(slope)
        reach *= math.sqrt(1 + float(self.regression.remoteness(base[None, :])[0]))
        return 2.0 ** (middle - reach), 2.0 ** (middle + reach)


def fitted(
    runs: Runs, *, name: str, weights: Floats | None = None, delete: bool = True
) -> LogLinear:
    """The log-linear regression on runs.

    Where ``delete``, runs with Cook's D > 2p/n are deleted, once. ``weights``: (n,) the weight of
    each run. Raises InputError where the columns cannot be told apart.
    """
    rows, response, names = logs(runs.points), np.log2(runs.time), runs.variables.logarithms
    first = fit(rows, response, names, weights)
    removed = deletable(first, rows) if delete else np.zeros(len(runs), dtype=bool)
    notes: list[str] = []
    if removed.any():
        kept, w = ~removed, np.ones(len(runs)) if weights is None else weights
        first = fit(rows[kept], response[kept], names, w[kept])
        first = recounted(first, rows[removed], response[removed], w[removed] / w.max())
        notes.append(f"{int(removed.sum())} of {len(runs)} runs deleted: Cook's D above 2p/n")
    return LogLinear(
        name=name,
        variables=runs.variables,
        regression=first,
        box=Box.of(runs.take(~removed)),
        removed=removed,
        deleted=deleted(runs, removed, "T"),
        notes=tuple(notes),
    )


def deletable(regression: Regression, rows: Floats) -> Bools:
    """(n,) True for the ``influential`` rows; False for all where the other rows could not tell the
    columns apart.
    """
    chosen = influential(regression)
    rest = rows[~chosen]
    enough = len(rest) > rows.shape[1] and np.linalg.matrix_rank(rest) == rows.shape[1]
    return chosen if enough else np.zeros_like(chosen)


def student_band(regression: Regression, rows: Floats, level: float) -> Band:
    """The prediction interval of a single new run at each row, in log2."""
    middle = regression.at(rows)
    if regression.freedom <= 0:
        return Band(middle=middle, low=middle - np.inf, high=middle + np.inf)
    reach = (
        student(regression.freedom, level)
        * regression.rmse
        * np.sqrt(1 + regression.remoteness(rows))
    )
    return Band(middle=middle, low=middle - reach, high=middle + reach)


def fieller(regression: Regression, base: Floats, gap: float, level: float) -> tuple[float, float]:
    """The bounds of the log2 sizes x with |gap - b2 x| <= t s sqrt(1 + z'Cz), z = ``base`` with x
    as its size.

    They solve a quadratic equation in x. They are (-inf, inf) where the slope may be zero at this
    level.
    """
    if regression.freedom <= 0:
        return -math.inf, math.inf
    C, b2 = regression.spread, float(regression.coefficients[_SIZE])
    q = (student(regression.freedom, level) * regression.rmse) ** 2
    a = b2 * b2 - q * float(C[_SIZE, _SIZE])
    if a <= 0:
        return -math.inf, math.inf
    half = b2 * gap + q * float(C[_SIZE] @ base)  # the quadratic is a x^2 - 2 half x + rest
    rest = gap * gap - q * (1 + float(base @ C @ base))
    root = math.sqrt(max(0.0, half * half - a * rest))
    return (half - root) / a, (half + root) / a


def coefficients_of(regression: Regression, response: str) -> tuple[Coefficient, ...]:
    """The coefficients of a regression, in the order of its columns."""
    return tuple(
        Coefficient(
            response=response,
            column=name,
            value=regression.coefficient(name),
            standard_error=regression.standard_error(name),
        )
        for name in regression.names
    )


def quality(regression: Regression, response: str) -> Quality:
    """How well a regression fits its runs."""
    return Quality(
        response=response,
        count=regression.count,
        r2=regression.r2,
        rmse=regression.rmse,
        freedom=regression.freedom - regression.recounted,
        spread_freedom=regression.freedom,
    )
