"""Covariance functions of distance, and the terms that sum up to the covariance between points.

The covariance of n points is kept as the m = n (n - 1) / 2 entries above the diagonal, in the order
of ``numpy.triu_indices(n, 1)``, and the n of the diagonal. Matern's functions: Rasmussen and
Williams 2006, eq. 4.17.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ROOT5 = math.sqrt(5.0)

# --- functions of distance --------------------------------------------------------------------


def matern52(away: Floats, variance: float = 1.0) -> Floats:
    """The covariance function Matern-5/2; ``away`` is the root of 5 times the distance over the
    length.
    """
    return matern52_with_slope(away, variance)[0]


def matern52_with_slope(away: Floats, variance: float = 1.0) -> tuple[Floats, Floats]:
    """Matern-5/2, and minus twice its derivative by the squared ratio of distance to length."""
    falling = variance * np.exp(-away)
    return (1 + away + away * away / 3) * falling, (5 / 3) * (1 + away) * falling


def matern52_in_place(squares: Floats, variance: float) -> None:
    """Replace squared ratios of distance to length by their Matern-5/2 covariances, without further
    memory.
    """
    np.sqrt(np.maximum(squares, 0.0, out=squares), out=squares)
    squares *= ROOT5
    falling = np.exp(-squares)
    falling *= variance
    rising = squares / 3
    rising += 1
    squares *= rising
    squares += 1
    squares *= falling


def matern32_exponential(away: Floats, apart: Floats) -> Floats:
    """The product of Matern-3/2 of one distance and the exponential of another.

    ``away``: the root of 3 times the distance over the length. ``apart``: distance over length.
    """
    product: Floats = (1 + away) * np.exp(-away - apart)
    return product


# --- terms of a covariance --------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class TermValue:
    """The value of a covariance term at some hyperparameters."""

    upper: Floats | float
    """(m,) entries above the diagonal."""
    diagonal: Floats | float
    """(n,) entries of the diagonal."""
    gradient: Callable[[Floats, Floats], list[float]]
    """Derivatives of the loss by the logarithms of the hyperparameters.

    Its arguments are twice the derivatives of the loss by the diagonal, (n,), and those by the
    entries above it, (m,); the latter come first.
    """


class KernelTerm(Protocol):
    """One term of the covariance of a list of points."""

    @property
    def count(self) -> int:
        """The number of hyperparameters of the term."""

    def at(self, values: Floats) -> TermValue:
        """The value of the term at its hyperparameters: lengths and standard deviations."""


@dataclass(frozen=True, slots=True, eq=False)
class Matern52:
    """A Matern-5/2 term with a length for each group of columns; hyperparameters: lengths, standard
    deviation.
    """

    squares: Floats
    """(groups, m) squared distances of the points by each group."""

    @property
    def count(self) -> int:
        """The number of hyperparameters: one length for each group, and the standard deviation."""
        return len(self.squares) + 1

    def at(self, values: Floats) -> TermValue:
        """The covariance for these lengths and this standard deviation."""
        lengths, power = values[:-1] ** -2, float(values[-1]) ** 2
        smooth, steep = matern52_with_slope(np.sqrt(lengths @ self.squares) * ROOT5, power)

        def gradient(upper: Floats, diagonal: Floats) -> list[float]:
            by_length = (self.squares @ (upper * steep)) * lengths
            by_power = 2 * float(upper @ smooth) + power * float(diagonal.sum())
            return [*by_length.tolist(), by_power]

        return TermValue(smooth, power, gradient)


@dataclass(frozen=True, slots=True, eq=False)
class LinearTrend:
    """A linear trend; its hyperparameter is the common standard deviation of its coefficients."""

    products: Floats
    """(m,) scalar products of the points."""
    norms: Floats
    """(n,) squared norms of the points."""

    @property
    def count(self) -> int:
        """The number of hyperparameters: one standard deviation."""
        return 1

    def at(self, values: Floats) -> TermValue:
        """The covariance for this standard deviation of the coefficients."""
        power = float(values[0]) ** 2

        def gradient(upper: Floats, diagonal: Floats) -> list[float]:
            both = 2 * float(upper @ self.products) + float(diagonal @ self.norms)
            return [power * both]

        return TermValue(power * self.products, power * self.norms, gradient)


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """A part of the covariance without hyperparameters."""

    upper: Floats | float
    diagonal: Floats | float

    @property
    def count(self) -> int:
        """The number of hyperparameters: none."""
        return 0

    def at(self, values: Floats) -> TermValue:  # noqa: ARG002 - it has none
        """The covariance, which is constant."""
        return TermValue(self.upper, self.diagonal, lambda upper, diagonal: [])  # noqa: ARG005


@dataclass(frozen=True, slots=True)
class White:
    """White noise, independent between points; its hyperparameter is the standard deviation."""

    jitter: float = 0.0
    """A variance that is always added, so that factors exist."""

    @property
    def count(self) -> int:
        """The number of hyperparameters: one standard deviation."""
        return 1

    def at(self, values: Floats) -> TermValue:
        """The covariance for this standard deviation of the noise."""
        power = float(values[0]) ** 2

        def gradient(upper: Floats, diagonal: Floats) -> list[float]:  # noqa: ARG001
            return [power * float(diagonal.sum())]

        return TermValue(0.0, power + self.jitter, gradient)
