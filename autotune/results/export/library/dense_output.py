"""The solution between the ends of a step: one interpolant for every method and every code.

    degree 3      y and f at both ends: cubic Hermite
    degree d      f at both ends and at interior nodes, on the polynomial of degree d - 1

A polynomial of degree d has as its derivative the one through f at the d Lobatto nodes of the step.
At one of the interior nodes, the middle one, f is not evaluated: it follows from y at both ends by
Lobatto's quadrature, so that the polynomial has y at both ends. At the other d - 3 it is evaluated
on the polynomial of degree d - 1, at that on the one of degree d - 2, and so on: each is of one
order more than the one before (bootstrapping; Shampine, Interpolation for Runge-Kutta methods, SIAM
J. Numer. Anal. 22, 1985; Enright, Jackson, Norsett, Thomsen, Interpolants for Runge-Kutta formulas,
ACM Trans. Math. Softw. 12, 1986). Stages are not needed, which codes may overwrite.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

Vector = NDArray[np.float64]
_CUBIC = 3
_TOLERANCE = 1e-13
"""Of the conditions of order, from rounding of the weights."""


@dataclass(frozen=True)
class Interpolant:
    """The polynomial of some degree d >= 3 through y and f of a step.

    At theta, from 0 at the beginning of the step to 1 at its end,
    y = y0 + v (y1 - y0) + h sum_i u_i F_i, where F holds f at both ends and at the inner nodes.
    """

    degree: int

    def __post_init__(self) -> None:
        """ValueError where the polynomial has not the order of its degree."""
        if self.degree < _CUBIC:
            raise ValueError(f"degree {self.degree} of an interpolant is below {_CUBIC}")
        for theta in np.linspace(0.0, 1.0, self.degree + 2):
            if not self.exact(theta):
                raise ValueError(f"the interpolant of degree {self.degree} is wrong at {theta}")

    @cached_property
    def inner(self) -> tuple[float, ...]:
        """The d - 3 interior nodes where f is evaluated, between 0 and 1."""
        nodes = _lobatto(self.degree)
        middle = self.degree // 2
        return tuple(float(x) for i, x in enumerate(nodes) if i not in (0, middle, self.degree - 1))

    @property
    def evaluations(self) -> int:
        """Of f inside a step, those of all lower degrees among them."""
        return (self.degree - 3) * (self.degree - 2) // 2

    @cached_property
    def expansion(self) -> Vector:
        """The weights v, u(0), u(1) and u of the inner nodes as sums of Legendre polynomials of
        2 theta - 1, (degree, degree + 1).
        """
        d = self.degree
        nodes = _lobatto(d)
        cardinal = np.linalg.inv(legendre.legvander(2 * nodes - 1, d - 1))
        integrals = legendre.legint(cardinal, lbnd=-1).T / 2
        b = integrals.sum(axis=1)  # at theta = 1 every Legendre polynomial is 1
        middle = d // 2
        v = integrals[middle] / b[middle]
        u = integrals - np.outer(b, v)
        return np.array([v, u[0], u[-1], *(u[i] for i in range(1, d - 1) if i != middle)])

    def weights(self, theta: float) -> Vector:
        """v, u(0), u(1) and u of the inner nodes at theta, (degree,)."""
        return np.asarray(legendre.legval(2 * theta - 1, self.expansion.T))

    def stages(self) -> Iterator[tuple[float, Vector]]:
        """Each evaluation inside a step, in turn: its node, and the weights that give y there, of
        the interpolant of one degree less.
        """
        for degree in range(_CUBIC + 1, self.degree + 1):
            below = Interpolant(degree - 1)
            for node in Interpolant(degree).inner:
                yield node, below.weights(node)

    def exact(self, theta: float) -> bool:
        """Whether polynomials up to the degree are interpolated exactly: the conditions B and C of
        order at theta.

        Where they hold, y1 has no error below h^(degree + 1), and f at the inner nodes none below
        h^degree (so the interpolant of one degree less gives it), y at theta has none below
        h^(degree + 1).
        """
        v, *u = self.weights(theta)
        nodes = np.array([0.0, 1.0, *self.inner])
        values = [v + float(u @ (k * nodes ** (k - 1))) for k in range(1, self.degree + 1)]
        return bool(np.allclose(values, theta ** np.arange(1, self.degree + 1), 0.0, _TOLERANCE))


def _lobatto(count: int) -> Vector:
    """The Lobatto nodes of [0, 1], both ends among them: of a quadrature of order 2 count - 2."""
    last = np.zeros(count)
    last[-1] = 1.0
    inner = legendre.legroots(legendre.legder(last))
    return (np.array([-1.0, *np.sort(inner.real), 1.0]) + 1) / 2
