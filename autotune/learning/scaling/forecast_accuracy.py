"""The accuracy of forecasts: relative errors, their expected size, and a back-test on measured
runs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.special

from autotune.errors import Fault, InputError
from autotune.learning.comparison.measures import mape, mdape
from autotune.learning.scaling.base import ScalingModel, forecast
from autotune.learning.scaling.scaling_runs import Runs
from autotune.learning.scaling.weighted_regression import Bools, Floats
from autotune.statistics.distributions import NORMAL_QUARTILE
from autotune.units import Unbounded


def expected_mdape(rmse: float, quartile: float = NORMAL_QUARTILE) -> float:
    """The median absolute relative error of unbiased log-normal forecasts, as a share.

    2^(0.675 rmse) - 1, ``rmse`` in log2 of the time: Garren 2010, section 3.1, prints it as E(MAPE)
    and means the median. It holds for runs like those of the fit, not for extrapolated ones.

    >>> round(100 * expected_mdape(0.260, 0.675), 2)
    12.94
    """
    return float(2.0 ** (quartile * rmse) - 1)


def expected_mape(rmse: float) -> float:
    """The mean absolute relative error of unbiased log-normal forecasts, as a share.

    E|2^(rmse Z) - 1| = exp(s^2/2) (2 Phi(s) - 1) with s = rmse ln 2, Z standard normal.
    """
    s = rmse * math.log(2)
    return float(math.exp(s * s / 2) * (2 * scipy.special.ndtr(s) - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """The distribution of (predicted - observed)/observed over forecasts, as shares: the columns of
    Garren's Table 4.1.

    ``mape`` is the mean of their absolute values, ``mdape`` the median. ``coverage``: the share of
    the observed times within the prediction intervals of ``level``; nan where there were no
    intervals.
    """

    count: int
    mape: float
    mdape: float
    least: float
    lower_quartile: float
    median: float
    upper_quartile: float
    most: float
    coverage: Unbounded = math.nan
    level: Unbounded = math.nan


def errors(predicted: Floats, observed: Floats) -> Errors:
    """The distribution of the relative errors of predictions, (n,) each, n at least 1."""
    relative = (predicted - observed) / observed
    points = np.percentile(relative, [0, 25, 50, 75, 100])
    return Errors(
        count=len(relative),
        mape=mape(predicted, observed),
        mdape=mdape(predicted, observed),
        least=float(points[0]),
        lower_quartile=float(points[1]),
        median=float(points[2]),
        upper_quartile=float(points[3]),
        most=float(points[4]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BackTest:
    """The errors of forecasting the runs on the most processors from the runs on fewer.

    ``below``: the largest number of processors among the runs on fewer. ``drift``: mean of
    log2(predicted/observed), below zero where forecasts are too short. ``drift_error``: the
    standard error of the drift, 0 for a single run.
    """

    processors: float
    below: float
    train: int
    errors: Errors
    drift: float
    drift_error: float

    @property
    def distance(self) -> float:
        """The distance in doublings of processors from the fitted runs to the forecast runs."""
        return math.log2(self.processors / self.below)


def back_test(
    runs: Runs,
    fit: Callable[[Runs], ScalingModel],
    scored: Bools | None = None,
    level: float = 0.9,
) -> BackTest:
    """Fit to the runs on fewer processors and forecast the runs on the most.

    ``scored``: (n,) True for the runs whose error counts, such as those near T0; None: all runs.
    Residuals of a fit do not measure the error of a forecast; a back-test does. Raises InputError
    where there are too few numbers of processors, or no run to score.
    """
    if len(runs.levels) < 3:
        raise InputError(
            Fault(
                where="",
                found=f"{len(runs.levels)} numbers of processors",
                expected="at least three for a back-test: the last is forecast from the others",
            )
        )
    top = runs.at_level(runs.levels[-1])
    held = top if scored is None else top & scored
    if not held.any():
        found = f"no run on {runs.levels[-1]:g} processors is near the time asked for"
        raise InputError(Fault(where="", found=found))
    train = runs.take(~top)
    held_runs = runs.take(held)
    forecasts = forecast(fit(train), held_runs.points, level)
    inside = (held_runs.time >= forecasts.low) & (held_runs.time <= forecasts.high)
    coverage = float(inside.mean()) if np.isfinite(forecasts.high).all() else math.nan
    off = np.log2(forecasts.median / held_runs.time)
    return BackTest(
        processors=runs.levels[-1],
        below=runs.levels[-2],
        train=len(train),
        errors=replace(errors(forecasts.median, held_runs.time), coverage=coverage, level=level),
        drift=float(off.mean()),
        drift_error=float(off.std(ddof=1) / math.sqrt(len(off))) if len(off) > 1 else 0.0,
    )
