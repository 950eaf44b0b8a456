"""Rival models: other models that fit the points about as well, which shows how far a forecast can
be trusted.

A few points do not determine an exponent: p, p^(5/4) and p^(2/3) log2(p)^2 may all fit, and differ
widely where p is ten times larger. So every model of the family is fitted by least squares of the
relative error. Its rivals are the models that a test at the requested level cannot distinguish from
the best:

    (rrss - least rrss) / s^2 <= F(level; 1, n - k - 1)

    s^2    least rrss / (n - k - 1), or the scatter of the repetitions where that is larger
    n, k   points, coefficients of the best

``rrss`` is the sum of squared relative errors. The test treats the exponent as one more parameter
and gives its confidence region. The interval of a forecast spans the prediction intervals
(Student's t) of all rivals.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.special

from autotune.learning.models.base import Floats
from autotune.learning.pmnf.one_parameter import EXPONENTS, FALLING, Exponents, allowed
from autotune.learning.pmnf.several_parameters import Combined, Form, design, forms
from autotune.statistics.distributions import student_below

Shape = tuple[Form, tuple[Exponents | None, ...]]
Bounds = tuple[Floats, Floats]


_RANK = 1e-12
"""Singular values below this share of the largest are none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rival:
    """One model of the family, fitted to relative errors."""

    form: Form
    exponents: tuple[Exponents | None, ...]
    coefficients: Floats
    inverse: Floats
    """Of the normal matrix of the relative least squares."""
    rrss: float

    def at(self, points: Floats) -> tuple[Floats, Floats]:
        """The values and their variances over s^2 at points (n, parameters)."""
        with np.errstate(over="ignore", invalid="ignore"):
            matrix = design(self.form, self.exponents, points)
            variance = np.einsum("ij,jk,ik->i", matrix, self.inverse, matrix)
            return matrix @ self.coefficients, variance


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rivals:
    """All models of the family, the best first; ``freedom``: the degrees of freedom n - k - 1 of
    the best model.
    """

    models: tuple[Rival, ...]
    freedom: int
    scatter: float
    """s^2, of relative errors."""

    def plausible(self, level: float) -> tuple[Rival, ...]:
        """The models that cannot be distinguished from the best at this level; none without degrees
        of freedom.
        """
        if self.freedom < 1 or not self.models:
            return ()
        limit = self.models[0].rrss + self.scatter * float(
            scipy.special.fdtri(1, self.freedom, level)
        )
        return tuple(model for model in self.models if model.rrss <= limit)

    def values(self, points: Floats, level: float) -> Bounds:
        """The lowest and the highest value of the rivals at points (n, parameters)."""
        predicted = [model.at(points)[0] for model in self.plausible(level)]
        if not predicted:
            return np.full(len(points), -math.inf), np.full(len(points), math.inf)
        return np.min(predicted, axis=0), np.max(predicted, axis=0)

    def interval(self, points: Floats, level: float) -> Bounds:
        """The bounds of the mean time at new points, (n,) each; 0 and inf where the points
        determine nothing.
        """
        low, high = np.full(len(points), math.inf), np.full(len(points), -math.inf)
        rivals = self.plausible(level)
        if not rivals:
            return np.zeros(len(points)), high * -1
        factor = student_below(self.freedom, (1 + level) / 2)
        for rival in rivals:
            value, variance = rival.at(points)
            with np.errstate(over="ignore"):
                half = factor * np.sqrt(self.scatter * (variance + value**2))
            low, high = np.fmin(low, value - half), np.fmax(high, value + half)
        return np.maximum(low, 0.0), np.maximum(high, 0.0)


def rivals(points: Floats, values: Floats, chosen: Combined, noise: float) -> Rivals:
    """The models around the chosen one, fitted to values (n,) at points (n, parameters).

    ``noise``: the relative variance of the values, from repetitions; 0 where it is unknown.
    """
    alternatives = [
        model
        for form, exponents in _family(chosen, points)
        if (model := _fitted(form, exponents, points, values)) is not None
    ]
    alternatives.sort(key=lambda model: model.rrss)
    if not alternatives:
        return Rivals(models=(), freedom=0, scatter=noise)
    freedom = len(values) - len(alternatives[0].coefficients) - 1
    scatter = max(alternatives[0].rrss / freedom, noise) if freedom > 0 else noise
    return Rivals(models=tuple(alternatives), freedom=freedom, scatter=scatter)


def _family(chosen: Combined, points: Floats) -> Iterator[Shape]:
    """The forms and exponents around the chosen model: other exponents, one at a time, and other
    forms of its terms.

    A parameter that has no term in the chosen model is tried as a term of its own.
    """
    exponents = chosen.exponents
    yield (), exponents
    varying = tuple(place for place, pair in enumerate(exponents) if pair is not None)
    if len(varying) > 1:
        yield from ((form, exponents) for form in forms(varying) if form != chosen.form)
    if chosen.form:
        yield chosen.form, exponents
    for place, exponent in enumerate(exponents):
        present = any(place in term for term in chosen.form)
        form = chosen.form if present else (*chosen.form, (place,))
        for pair in allowed(points[:, place], EXPONENTS + FALLING):
            if pair != exponent:
                yield form, (*exponents[:place], pair, *exponents[place + 1 :])


def _fitted(
    form: Form, exponents: tuple[Exponents | None, ...], points: Floats, values: Floats
) -> Rival | None:
    """The model fitted to values (n,); None where its terms cannot be told apart, or are more than
    the points.
    """
    matrix = design(form, exponents, points)
    lengths = np.linalg.norm(matrix, axis=0)
    scaled = matrix / lengths / values[:, None]
    if scaled.shape[1] > len(values):
        return None
    u, sizes, rotation = np.linalg.svd(scaled, full_matrices=False)
    if sizes[-1] <= _RANK * sizes[0]:
        return None
    inverse = rotation.T / sizes @ u.T
    coefficients = inverse.sum(axis=1) / lengths
    errors = matrix @ coefficients / values - 1
    return Rival(
        form=form,
        exponents=exponents,
        coefficients=coefficients,
        inverse=(inverse @ inverse.T) / np.outer(lengths, lengths),
        rrss=float(errors @ errors),
    )
