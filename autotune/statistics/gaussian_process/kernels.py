"""Covariance functions of distance, and the terms that a covariance between points is the sum of.

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
    """Matern-5/2 of ``away``, the root of 5 times the distance over the length."""
    return matern52_with_slope(away, variance)[0]


def matern52_with_slope(away: Floats, variance: float = 1.0) -> tuple[Floats, Floats]:
    """Matern-5/2, and minus twice its derivative by the squared distance over squared length."""
    falling = variance * np.exp(-away)
    return (1 + away + away * away / 3) * falling, (5 / 3) * (1 + away) * falling


def matern52_in_place(squares: Floats, variance: float) -> None:
    """Squared distances over squared lengths become covariances, without further memory."""
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
    """A term at some hyperparameters."""

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
    """A term of the covariance of a list of points."""

    @property
    def count(self) -> int:
        """How many hyperparameters it has."""

    def at(self, values: Floats) -> TermValue:
        """The term for its hyperparameters: lengths, and standard deviations."""


@dataclass(frozen=True, slots=True, eq=False)
class Matern52:
    """Matern-5/2 with a length for each group of columns; hyperparameters: lengths, deviation."""

    squares: Floats
    """(groups, m) squared distances of the points by each group."""

    @property
    def count(self) -> int:
        """See KernelTerm."""
        return len(self.squares) + 1

    def at(self, values: Floats) -> TermValue:
        """See KernelTerm."""
        lengths, power = values[:-1] ** -2, float(values[-1]) ** 2
        smooth, steep = matern52_with_slope(np.sqrt(lengths @ self.squares) * ROOT5, power)

        def gradient(upper: Floats, diagonal: Floats) -> list[float]:
            by_length = (self.squares @ (upper * steep)) * lengths
            by_power = 2 * float(upper @ smooth) + power * float(diagonal.sum())
            return [*by_length.tolist(), by_power]

        return TermValue(smooth, power, gradient)


@dataclass(frozen=True, slots=True, eq=False)
class LinearTrend:
    """A linear trend whose coefficients have a common standard deviation, the hyperparameter."""

    products: Floats
    """(m,) scalar products of the points."""
    norms: Floats
    """(n,) squared norms of the points."""

    @property
    def count(self) -> int:
        """See KernelTerm."""
        return 1

    def at(self, values: Floats) -> TermValue:
        """See KernelTerm."""
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
        """See KernelTerm."""
        return 0

    def at(self, values: Floats) -> TermValue:  # noqa: ARG002 - it has none
        """See KernelTerm."""
        return TermValue(self.upper, self.diagonal, lambda upper, diagonal: [])  # noqa: ARG005


@dataclass(frozen=True, slots=True)
class White:
    """Independent noise; the hyperparameter is its standard deviation."""

    jitter: float = 0.0
    """A variance that is always added, so that factors exist."""

    @property
    def count(self) -> int:
        """See KernelTerm."""
        return 1

    def at(self, values: Floats) -> TermValue:
        """See KernelTerm."""
        power = float(values[0]) ** 2

        def gradient(upper: Floats, diagonal: Floats) -> list[float]:  # noqa: ARG001
            return [power * float(diagonal.sum())]

        return TermValue(0.0, power + self.jitter, gradient)
