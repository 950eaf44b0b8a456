"""The posterior of model constants, given measured times that the model predicts from them.

    measured_i = predicted_i(x) exp(b_group + e_i),   x ~ N(0, sigma^2) within bounds,
    b ~ N(0, tau^2 / 2),   e ~ t(4) with scale^2 = noise_i^2 + tau^2 / 2

``x`` are shifts of the constants from their measured values, ``noise`` is the relative spread of
the samples, and ``tau`` is the error of the model itself, which is estimated. Candidates of one
kernel share half of its variance, ``b``; without it a hundred candidates would count as a hundred
independent observations. The model is linearised by central differences about the present estimate
(Gauss-Newton). Student's t is treated as a scale mixture of normals, so that a candidate far off
counts less (Lange, Little, Taylor 1989, section 3).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Model = Callable[[Floats], Floats]
"""Shifts of all constants to the logarithm of the predicted time of each row."""

FREEDOM = 4.0
"""Degrees of freedom of Student's t: robust, yet no outlier is thrown away."""
SHARED = 0.5
"""Share of the variance of the model's error that a kernel's candidates have in common: an
engineering choice."""
LEAST_ERROR = 0.01
"""Smallest error that the model is assumed to have, whatever the residuals."""
INFORMED = 0.9
"""A constant is informed by the data if its posterior variance is below this share of the prior
one."""
_ROUNDS = 8
_HALVINGS = 5
_TURNS = 50
_UNSEEN = 1e-4
"""Relative change of predictions, by a prior deviation, below which they do not depend on a
constant."""
_SETTLED = 0.02
"""Share of a prior deviation; smaller steps end the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinementData:
    """The measurements of a fit, one row per candidate."""

    logs: Floats
    """Logarithms of the measured seconds."""
    noise: Floats
    """Standard deviation of each logarithm, from its samples."""
    groups: tuple[str, ...]
    """The kernel of each row; rows of a kernel share a part of the model's error."""

    def __post_init__(self) -> None:
        if not len(self.logs) == len(self.noise) == len(self.groups):
            raise ValueError("times, noise and groups must have equal length")

    def only(self, selected: Mask) -> "RefinementData":
        """The rows for which ``selected`` is true."""
        groups = tuple(g for g, keep in zip(self.groups, selected, strict=True) if keep)
        return RefinementData(logs=self.logs[selected], noise=self.noise[selected], groups=groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftPrior:
    """The prior of the shifts: normal about 0, within bounds."""

    sigma: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftPosterior:
    """The posterior of the shifts, and how well the model with these shifts fits."""

    shift: Floats
    sigma: Floats
    """Standard deviation of each shift; that of the prior where the data have no information."""
    informed: Mask
    error: float
    """tau: relative error of the model, estimated."""
    residual: Floats
    """Logarithm of measured over predicted, per row."""
    weight: Floats
    """Robust weight of each row: 1 and more where the model fits, small for outliers."""


def fit(model: Model, data: RefinementData, prior: ShiftPrior) -> ShiftPosterior:
    """The posterior mode of the shifts with its normal approximation.

    Constants that do not affect any prediction keep their prior exactly: they are left out and the
    others are fitted again. Raises ValueError for no rows.
    """
    if len(data.logs) == 0:
        raise ValueError("no measured times to fit to")
    everything = np.arange(len(prior.sigma))
    first = _search(model, data, prior, everything)
    informed = everything[first.informed]
    return first if len(informed) == len(everything) else _search(model, data, prior, informed)


def _search(
    model: Model, data: RefinementData, prior: ShiftPrior, active: Indices
) -> ShiftPosterior:
    """The result of Gauss-Newton iterations over the active constants; the other constants keep
    their values.
    """
    x = np.zeros(len(prior.sigma))
    residual = data.logs - model(x)
    spread = _spread(residual, data, None, 0.0)
    slopes = np.zeros((len(residual), len(active)))
    relevant = np.isin(active, list(_effective_constants(model, prior, active)))
    for _ in range(_ROUNDS if len(active) else 0):
        slopes[:, relevant] = _slopes(model, x, prior, active[relevant])
        used = _used_freedom(slopes, spread.precision, prior, active)
        spread = _spread(residual, data, spread.error, used)
        aim = _step(slopes, residual, spread.precision, prior, x, active)
        moved, residual = _backtracked(model, data, prior, spread.precision, x, aim)
        settled = np.all(np.abs(moved - x) <= _SETTLED * prior.sigma)
        x = moved
        if settled:
            break
    curvature = slopes.T @ spread.precision @ slopes + np.diag(prior.sigma[active] ** -2.0)
    sigma = prior.sigma.copy()
    sigma[active] = np.sqrt(np.diag(_inverse(curvature)))
    return ShiftPosterior(
        shift=x,
        sigma=sigma,
        informed=sigma**2 < INFORMED * prior.sigma**2,
        error=spread.error,
        residual=residual,
        weight=spread.weight,
    )


def _slopes(model: Model, x: Floats, prior: ShiftPrior, active: Indices) -> Floats:
    """Derivatives of the logarithms of predictions by the active constants: (rows, active).

    Central differences with half a prior deviation to both sides. So where another term becomes the
    maximum within this range, its slope counts in part.
    """
    columns = []
    for index in active:
        above, below = x.copy(), x.copy()
        above[index] = _above(x[index], prior, index)
        below[index] = max(x[index] - prior.sigma[index] / 2, prior.lower[index])
        width = above[index] - below[index]
        columns.append((model(above) - model(below)) / width if width > 0 else 0.0 * model(x))
    return np.stack(columns, axis=1) if columns else np.zeros((len(model(x)), 0))


def _above(at: float, prior: ShiftPrior, index: int) -> float:
    return float(min(at + prior.sigma[index] / 2, prior.upper[index]))


def _effective_constants(model: Model, prior: ShiftPrior, among: Indices) -> Iterator[int]:
    """The constants that affect any prediction, found by bisection: a half without effect is not
    searched further.
    """
    if len(among) == 0:
        return
    start, moved = np.zeros(len(prior.sigma)), np.zeros(len(prior.sigma))
    for index in among:
        moved[index] = _above(0.0, prior, index) or prior.lower[index] / 2
    if np.abs(model(moved) - model(start)).max() <= _UNSEEN / 2:
        return
    if len(among) == 1:
        yield int(among[0])
        return
    half = len(among) // 2
    yield from _effective_constants(model, prior, among[:half])
    yield from _effective_constants(model, prior, among[half:])


def _step(
    slopes: Floats,
    residual: Floats,
    precision: Floats,
    prior: ShiftPrior,
    x: Floats,
    active: Indices,
) -> Floats:
    """The mode of the linearised model within the bounds; constants are fixed at their bounds one
    after another.
    """
    pull = np.diag(prior.sigma[active] ** -2.0)
    matrix = slopes.T @ precision @ slopes + pull
    target = slopes.T @ precision @ (residual + slopes @ x[active])
    lower, upper = prior.lower[active], prior.upper[active]
    step = np.zeros(len(active))
    fixed = np.zeros(len(active), dtype=bool)
    for _ in range(len(active) + 1):
        free = ~fixed
        if free.any():
            right = target[free] - matrix[np.ix_(free, fixed)] @ step[fixed]
            step[free] = np.linalg.solve(matrix[np.ix_(free, free)], right)
        outside = free & ((step < lower) | (step > upper))
        if not outside.any():
            break
        step = np.clip(step, lower, upper)
        fixed |= outside
    moved = x.copy()
    moved[active] = step
    return moved


def _backtracked(
    model: Model, data: RefinementData, prior: ShiftPrior, precision: Floats, x: Floats, aim: Floats
) -> tuple[Floats, Floats]:
    """The farthest of the points 1, 1/2, 1/4 ... of the way to ``aim`` that has a better posterior
    than ``x``.
    """

    def badness(where: Floats, error: Floats) -> float:
        return float(error @ precision @ error + np.sum((where / prior.sigma) ** 2))

    stay = data.logs - model(x)
    for halving in range(_HALVINGS):
        there = x + (aim - x) * 0.5**halving
        error = data.logs - model(there)
        if badness(there, error) < badness(x, stay):
            return there, error
    return x, stay


def _inverse(matrix: Floats) -> Floats:
    result: Floats = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    return result


def _used_freedom(slopes: Floats, precision: Floats, prior: ShiftPrior, active: Indices) -> float:
    """The degrees of freedom that the fit uses: the trace of its hat matrix."""
    information = slopes.T @ precision @ slopes
    whole = information + np.diag(prior.sigma[active] ** -2.0)
    return float(np.trace(np.linalg.solve(whole, information))) if len(active) else 0.0


@dataclass(frozen=True, slots=True)
class _Spread:
    """The error of the model, and the weights of the rows that follow from it."""

    error: float
    """tau: relative error of the model."""
    weight: Floats
    precision: Floats
    """Inverse covariance of the rows."""


def _spread(residual: Floats, data: RefinementData, error: float | None, used: float) -> _Spread:
    """The model error tau, weights and shared errors by expectation-maximisation, iterated until
    they are stable.

    ``used``: degrees of freedom that the constants took.
    """
    names = np.unique(np.array(data.groups), return_inverse=True)[1]
    groups = int(names.max()) + 1
    start = 2.2 * float(np.median(residual**2)) if error is None else error**2
    variance = max(start, LEAST_ERROR**2)
    weight = np.ones(len(residual))
    for _ in range(_TURNS):
        independent = (1 - SHARED) * variance + data.noise**2
        common = np.bincount(names, weight / independent * residual)
        common = common / (1 / (SHARED * variance) + np.bincount(names, weight / independent))
        apart = residual - common[names]
        weight = (FREEDOM + 1.0) / (FREEDOM + apart**2 / independent)
        explained = weight * apart**2 * variance / independent
        grown = float(np.sum(explained) + np.sum(common**2) / SHARED)
        grown = max(grown / max(len(residual) + groups - used, 1.0), LEAST_ERROR**2)
        settled = abs(grown - variance) <= 1e-3 * variance
        variance = grown
        if settled:
            break
    covariance = np.where(names[:, None] == names[None, :], SHARED * variance, 0.0)
    covariance += np.diag(((1 - SHARED) * variance + data.noise**2) / weight)
    return _Spread(float(np.sqrt(variance)), weight, _inverse(covariance))
