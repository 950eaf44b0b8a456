"""From times back to sizes: the sizes at which the bounds of a prediction interval equal a given
time.

The result is the set of sizes whose prediction interval holds the time. For a single regression it
is Fieller's interval in closed form; here the bounds are solved for numerically, for any model.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy.optimize

from autotune.errors import Fault, InputError
from autotune.learning.scaling.base import Inverse, Rule, ScalingModel
from autotune.learning.scaling.scaling_runs import ScalingPoints, points

_FARTHEST = 64.0
"""Doublings of the size beyond the runs within which a solution is looked for."""


def by_band(
    model: ScalingModel, processors: float, time: float, covariates: Sequence[float], level: float
) -> Inverse:
    """The size that takes ``time``, with an interval from the bounds of the model's prediction
    interval.

    Raises InputError where the expected time never equals ``time`` as the size grows.
    """
    target = math.log2(time)
    place = model.box.names.index(model.variables.size.logarithm)
    start = float(model.box.low[place] + model.box.high[place]) / 2

    def at(x: float) -> ScalingPoints:
        return points([processors], [2.0**x], [[value] for value in covariates])

    def middle(x: float) -> float:
        return float(model.band(at(x), level).middle[0]) - target

    x = _crossing(middle, start)
    if x is None:
        step = middle(start + 1) - middle(start)
        raise no_growth(step)

    def upper(x: float) -> float:
        return float(model.band(at(x), level).high[0]) - target

    def lower(x: float) -> float:
        return float(model.band(at(x), level).low[0]) - target

    least, most = _edge(upper, x, -1), _edge(lower, x, +1)
    return sized(model, (processors, time), (x, least, most), covariates, "band")


def sized(
    model: ScalingModel,
    wanted: tuple[float, float],
    sizes: tuple[float, float, float],
    covariates: Sequence[float],
    rule: Rule,
) -> Inverse:
    """The inverse for ``wanted``, a pair of processors and time, from log2 of a size and of its
    bounds.

    Raises InputError where the size is no positive finite number.
    """
    processors, time = wanted
    size, low, high = (_power(x) for x in sizes)
    if not 0 < size < math.inf:
        raise InputError(
            Fault(
                where="",
                found=f"{time:g} on {processors:g} processors takes a size of 2^{sizes[0]:.4g}",
                expected="a time and processors in reach of the runs",
            )
        )
    notes = [*model.box.notes(points([processors], [size], [[x] for x in covariates]))]
    if math.isinf(high) or low == 0:
        notes.append(
            "no size is excluded: too few runs, a back-test far off, or a time that hardly follows"
            " the size"
        )
    return Inverse(
        processors=processors,
        time=time,
        size=size,
        low=min(low, size),
        high=max(high, size),
        rule=rule,
        notes=tuple(notes),
    )


def no_growth(slope: float) -> InputError:
    """The error for a model whose time does not grow with the size."""
    return InputError(
        Fault(
            where="",
            found=f"no size takes that time: with the size the time goes as SIZE^{slope:.3g}",
            expected="runs in which a larger size takes longer",
            hint="two runs with the same processors and different sizes show it",
        )
    )


def _crossing(at: Callable[[float], float], start: float) -> float | None:
    """The zero nearest to ``start`` of a function that grows there; None where there is none."""
    step = 1.0 if at(start) < 0 else -1.0
    near, far = start, start + step
    while at(far) * step < 0:
        near, far = far, far + step
        if abs(far - start) > _FARTHEST:
            return None
    if at(near + 0.01) <= at(near - 0.01):
        return None
    return float(scipy.optimize.brentq(at, min(near, far), max(near, far), xtol=1e-12))


def _edge(bound: Callable[[float], float], start: float, side: int) -> float:
    """The log2 size at which a bound of the interval equals the time, searched from ``start``
    outwards; inf if there is none.
    """
    if not np.isfinite(bound(start)):
        return side * math.inf
    near, step = start, 0.05
    while step <= _FARTHEST:
        far = start + side * step
        if bound(far) * side >= 0:
            low, high = min(near, far), max(near, far)
            return float(scipy.optimize.brentq(bound, low, high, xtol=1e-12))
        near, step = far, 1.5 * step
    return side * math.inf


def _power(x: float) -> float:
    return math.inf if x > 1000 else 0.0 if x < -1000 else 2.0**x
