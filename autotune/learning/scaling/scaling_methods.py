"""The methods of scaling by name: which runs are used, with which weights, in which regressions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from autotune.errors import Fault, InputError
from autotune.learning.scaling import components, focal, loglinear, per_processors
from autotune.learning.scaling.base import ScalingModel
from autotune.learning.scaling.scaling_runs import Runs, logs
from autotune.learning.scaling.separable import check_separable
from autotune.learning.scaling.weighted_regression import Bools, Floats, check

Method = Literal["complete", "levels", "focal", "weighted"]
METHODS: Mapping[Method, str] = {
    "complete": "one regression on all runs (Garren 2010, section 3.1)",
    "levels": "one regression per number of processors, coefficients projected (section 3.4.2.1)",
    "focal": "one regression on the runs near the time asked for (section 3.2)",
    "weighted": "one regression on all runs, weighted by nearness to the time (proposed there)",
}
Apart = Literal["auto", "always", "never"]
_ROUNDS = 6
"""Regressions at most until what is near no longer changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a scaling model is fitted to the runs.

    ``time``: T0, the time to keep, needed by the methods ``focal`` and ``weighted``. ``tolerance``:
    a share; the region holds the runs from T0/(1 + tolerance) to T0 (1 + tolerance). ``nearest``:
    instead, the region holds this many runs at each number of processors. ``width``: a run that is
    a factor of 1 + width from T0 is one sigma away in the weights. ``ratio``: the weight of a
    number of processors over that of the next larger one. ``delete``: delete runs with a Cook's
    distance above 2p/n, once.
    """

    method: Method = "complete"
    apart: Apart = "auto"
    rest: components.Rest = "ratio"
    time: float | None = None
    tolerance: float = 0.25
    nearest: int | None = None
    width: float = 0.5
    basis: focal.Basis = "fitted"
    ratio: float = 1.0
    delete: bool = True

    def __post_init__(self) -> None:
        if self.tolerance <= 0 or self.width <= 0:
            raise ValueError("the tolerance and the width of a region are positive shares")
        if self.nearest is not None and self.nearest < 1:
            raise ValueError("at least one run at each number of processors")


def fit(runs: Runs, settings: Settings) -> ScalingModel:
    """The scaling model of the runs by the method of the settings.

    Raises InputError where the runs do not determine it: too few runs, collinear columns, or a
    missing column that the method needs.
    """
    if len(runs.levels) < 2:
        raise InputError(
            Fault(
                where="--processors",
                found=f"all runs are on {runs.levels[0]:g}",
                expected="runs on at least two numbers of processors",
                hint="--method self-generated says which run to do next",
            )
        )
    check_separable(runs)
    split = settings.apart == "always" or (
        settings.apart == "auto" and settings.method != "levels" and components.advised(runs)
    )
    if settings.method == "levels":
        if split:
            raise InputError(
                Fault(
                    where="--components",
                    found="components with one regression per number of processors",
                    expected="one of the two: there are too many coefficients for both",
                )
            )
        return per_processors.fitted(
            runs, name="levels", ratio=settings.ratio, delete=settings.delete
        )
    weights: Floats | None = None
    if settings.method == "focal":
        runs = _region(runs, settings)
    elif settings.method == "weighted":
        weights = focal.nearness(_times(runs, settings), _focus(settings), settings.width)
    name: str = settings.method
    if split:
        return components.fitted(
            runs, name=name, rest=settings.rest, weights=weights, delete=settings.delete
        )
    return loglinear.fitted(runs, name=name, weights=weights, delete=settings.delete)


def near(runs: Runs, settings: Settings) -> Bools | None:
    """(n,) True for the runs whose measured time is in the region; None where the settings have no
    time.
    """
    if settings.time is None:
        return None
    return focal.within(runs.time, settings.time, settings.tolerance)


def _region(runs: Runs, settings: Settings) -> Runs:
    times, focus = _times(runs, settings), _focus(settings)
    if settings.nearest is not None:
        chosen = focal.nearest(runs, times, focus, settings.nearest)
        region = f"the {settings.nearest} of each number of processors nearest to {focus:g}"
    else:
        chosen = focal.within(times, focus, settings.tolerance)
        region = f"those within {settings.tolerance:.0%} of {focus:g}"
    rows = logs(runs.points)[chosen]
    least = rows.shape[1] + 1
    found = f"{len(rows)} of {len(runs)} runs are in the focal region"
    where = "--tolerance" if settings.nearest is None else "--nearest"
    hint = "widen the region, or use --method weighted: it drops no run"
    if len(rows) < least:
        expected = f"at least {least}"
        raise InputError(Fault(where=where, found=found, expected=expected, hint=hint))
    try:
        check(rows, runs.variables.logarithms)
        check_separable(runs.take(chosen))
    except InputError as error:
        found = f"{found}, and {error.faults[0].found}"
        raise InputError(Fault(where=where, found=found, hint=hint)) from error
    by = "fitted" if settings.basis == "fitted" else "measured"
    return runs.take(chosen, f"{int(chosen.sum())} of {len(runs)} runs: {region}, by {by} time")


def _times(runs: Runs, settings: Settings) -> Floats:
    """The times that decide which runs are near T0: the measured ones, or those of a regression
    valid near T0.

    The first regression is over all runs; later ones weight the runs by the nearness of the time
    that the last one expects. Where another law holds far from T0, the first regression alone would
    select the wrong runs.
    """
    if settings.basis == "measured":
        return runs.time
    width = settings.width if settings.method == "weighted" else settings.tolerance
    rows, weights = logs(runs.points), None
    expected: Floats = np.zeros(len(runs))
    for _ in range(_ROUNDS):
        model = loglinear.fitted(runs, name="near", weights=weights, delete=settings.delete)
        before, expected = expected, np.exp2(model.regression.at(rows))
        if np.allclose(before, expected, rtol=1e-3):
            break
        weights = focal.nearness(expected, _focus(settings), width)
    return expected


def _focus(settings: Settings) -> float:
    if settings.time is None or not settings.time > 0:
        raise InputError(
            Fault(
                where="--keep",
                found=f"the method {settings.method} without a time",
                expected="the time that is to be kept, above zero",
            )
        )
    return settings.time
