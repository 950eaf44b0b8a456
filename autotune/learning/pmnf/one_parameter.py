"""Models of one parameter: T = c0 + c1 p^i log2(p)^j, with exponents chosen by leave-one-out error.

This is the search of Calotoiu, Hoefler, Poke and Wolf (2013) as in Extra-P 4 (modeler "Basic").
Each pair (i, j) is fitted by least squares to the mean times. The pair with the least leave-one-out
SMAPE wins if it beats the SMAPE of the constant; the SMAPE of the constant is that of its fit.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from autotune.learning.models.base import Floats
from autotune.learning.models.terms import Factor, log2, power
from autotune.learning.pmnf.goodness_of_fit import GoodnessOfFit, figures, smape

CONTRIBUTION = 5e-4
"""The least a term contributes to some value, as a share of it; smaller constants count as 0."""

_EQUAL = 1e-28
"""Squared relative differences below this are rounding."""


class Exponents(NamedTuple):
    """The pair (i, j) of p^i log2(p)^j."""

    power: Fraction
    log: int

    def factors(self, parameter: str) -> frozenset[Factor]:
        """The factors of the term, as functions of one parameter."""
        factors = {power(parameter, self.power)} if self.power else set()
        return frozenset(factors | ({log2(parameter, self.log)} if self.log else set()))

    def of(self, points: Floats) -> Floats:
        """The values of the term at the points, (n,)."""
        values: Floats = points ** float(self.power) * np.log2(points) ** self.log
        return values


def _pairs(texts: str, log: int) -> list[Exponents]:
    return [Exponents(Fraction(text), log) for text in texts.split()]


EXPONENTS: tuple[Exponents, ...] = tuple(
    sorted(
        _pairs("1/4 1/3 1/2 2/3 3/4 4/5 1 5/4 4/3 3/2 5/3 7/4 2 9/4 7/3 5/2 8/3 11/4 3", 0)
        + _pairs("0 1/4 1/3 1/2 2/3 3/4 1 5/4 4/3 3/2 2 5/2 3", 1)
        + _pairs("0 1/4 1/3 1/2 2/3 3/4 1 3/2 2 5/2", 2)
    )
)
"""The 42 pairs of Extra-P 4, slowest growth first."""

FALLING: tuple[Exponents, ...] = tuple(
    Exponents(-pair.power, 0) for pair in EXPONENTS if pair.log == 0
)
"""For strong scaling, where a time falls with the parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """The fitted model of one parameter; ``exponents`` is None where a constant fits as well.

    ``figures``: measures over leave-one-out predictions; for a constant over the fit, as in
    Extra-P.
    """

    exponents: Exponents | None
    constant: float
    slope: float
    figures: GoodnessOfFit


def search(
    points: Floats,
    values: Floats,
    exponents: tuple[Exponents, ...] = EXPONENTS,
    *,
    constant_left_out: bool = False,
) -> Single:
    """The best model of values (n,), positive, at distinct positive points (n,), n >= 3.

    Pairs with a logarithm are excluded where a point is below 1, since its logarithm is negative.
    ``constant_left_out``: judge the constant by its leave-one-out error too, which Extra-P does
    not; a rise within the noise is then detected sooner.
    """
    constant = _constant(values, constant_left_out)
    pairs = allowed(points, exponents)
    if constant.figures.rss <= _EQUAL * float(values @ values) or not pairs:
        return constant
    columns = np.column_stack([pair.of(points) for pair in pairs])
    intercepts, slopes = fit(columns, values)
    contribution = np.max(np.abs(slopes * columns) / values[:, None], axis=0)
    held_out = _left_out(columns, values)
    scores = np.where(contribution < CONTRIBUTION, np.inf, smape(held_out, values[:, None]))
    best = int(np.argmin(scores))
    if not scores[best] < constant.figures.smape:
        return constant
    return Single(
        exponents=pairs[best],
        constant=float(intercepts[best]),
        slope=float(slopes[best]),
        figures=figures(held_out[:, best], values, terms=1),
    )


def allowed(points: Floats, exponents: tuple[Exponents, ...]) -> tuple[Exponents, ...]:
    """The pairs of exponents that these points allow: no logarithm where a point is below 1."""
    return tuple(pair for pair in exponents if not pair.log or points.min() >= 1)


def fit(columns: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Least squares of c0 + c1 column for each column (n, pairs): both coefficients, (pairs,)."""
    means = columns.mean(axis=0)
    centred = columns - means
    squares = np.einsum("ij,ij->j", centred, centred)
    slopes = (values - values.mean()) @ centred / np.where(squares > 0, squares, np.inf)
    return values.mean() - slopes * means, slopes


def _left_out(columns: Floats, values: Floats) -> Floats:
    """The prediction of each point by the fit to all other points, (n, pairs)."""
    predicted = np.empty_like(columns)
    for place in range(len(values)):
        others = np.arange(len(values)) != place
        constants, slopes = fit(columns[others], values[others])
        constants[np.abs(constants) < CONTRIBUTION * values[others].min()] = 0.0
        predicted[place] = constants + slopes * columns[place]
    return predicted


def _constant(values: Floats, left_out: bool) -> Single:
    mean, count = float(values.mean()), len(values)
    others = (values.sum() - values) / (count - 1) if left_out else np.full(count, mean)
    return Single(
        exponents=None, constant=mean, slope=0.0, figures=figures(others, values, terms=0)
    )
