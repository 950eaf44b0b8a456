"""Sums of products of powers and logarithms: a compact form multiplied out, term by term.

>>> L = log2("p") + log2("n")
>>> print(2 * L * L * power("alpha"))
4 alpha log2(n) log2(p) + 2 alpha log2(n)^2 + 2 alpha log2(p)^2
"""

import functools
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from autotune.learning.formulas.base import (
    Floats,
    FormulaTerm,
    Function,
    Monomial,
    PowerFactor,
    Values,
    column,
    product_text,
)


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of products of factors: the coefficient of each product; coefficients of zero are left
    out.
    """

    coefficients: Mapping[Monomial, float]

    def __add__(self, other: "Polynomial | float") -> "Polynomial":
        coefficients = dict(self.coefficients)
        for factors, number in _polynomial(other).coefficients.items():
            coefficients[factors] = coefficients.get(factors, 0.0) + number
        return Polynomial({factors: number for factors, number in coefficients.items() if number})

    def __mul__(self, other: "Polynomial | float") -> "Polynomial":
        coefficients: dict[Monomial, float] = {}
        for left, a in self.coefficients.items():
            for right, b in _polynomial(other).coefficients.items():
                product = _product(left, right)
                coefficients[product] = coefficients.get(product, 0.0) + a * b
        return Polynomial({factors: number for factors, number in coefficients.items() if number})

    __radd__ = __add__
    __rmul__ = __mul__

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters that the polynomial depends on."""
        return tuple(sorted({f.parameter for factors in self.coefficients for f in factors}))

    def evaluate(self, values: Values) -> Floats:
        """(n,) values for arrays (n,) of the parameters; shape () where the polynomial is a
        constant.
        """
        total: Floats = np.zeros(())
        for factors, number in self.coefficients.items():
            factor_values = [_value(factor, values) for factor in sorted(factors)]
            total = total + number * functools.reduce(operator.mul, factor_values, np.ones(()))
        return total

    def at(self, constants: Mapping[str, float]) -> "Polynomial":
        """The polynomial with numbers in place of some parameters."""
        constant_values = {
            name: np.asarray(value, dtype=np.float64) for name, value in constants.items()
        }
        total = Polynomial({})
        for factors, number in self.coefficients.items():
            kept = frozenset(
                factor for factor in factors if factor.parameter not in constant_values
            )
            value = number
            for factor in sorted(factors - kept):
                value *= float(_value(factor, constant_values))
            total = total + Polynomial({kept: value})
        return total

    def terms(self, text: str = "") -> tuple[FormulaTerm, ...]:
        """The terms of the polynomial, in the order in which it prints."""
        return tuple(
            FormulaTerm(coefficient=number, factors=factors, text=text)
            for factors, number in sorted(self.coefficients.items(), key=_order)
        )

    def __str__(self) -> str:
        return " + ".join(str(term) for term in self.terms()) or "0"


def constant(number: float) -> Polynomial:
    """A polynomial that is one number."""
    return Polynomial({frozenset(): number} if number else {})


def power(parameter: str, exponent: float = 1.0) -> Polynomial:
    """The polynomial ``parameter ** exponent``."""
    return Polynomial({frozenset([PowerFactor("power", parameter, exponent)]): 1.0})


def log2(parameter: str) -> Polynomial:
    """The polynomial that is the logarithm of a parameter to base 2."""
    return Polynomial({frozenset([PowerFactor("log2", parameter, 1.0)]): 1.0})


def total(summands: Iterable[Polynomial]) -> Polynomial:
    """The sum of several polynomials."""
    return functools.reduce(operator.add, summands, Polynomial({}))


def _polynomial(value: Polynomial | float) -> Polynomial:
    return value if isinstance(value, Polynomial) else constant(float(value))


def _product(left: Monomial, right: Monomial) -> Monomial:
    powers: dict[tuple[Function, str], float] = {}
    for function, parameter, exponent in (*left, *right):
        powers[function, parameter] = powers.get((function, parameter), 0.0) + exponent
    return frozenset(PowerFactor(f, p, exponent) for (f, p), exponent in powers.items() if exponent)


def _value(factor: PowerFactor, values: Values) -> Floats:
    base = column(values, factor.parameter, "formula")
    if factor.function == "log2":
        base = np.log2(base)
    return np.asarray(base**factor.power, dtype=np.float64)


def _order(item: tuple[Monomial, float]) -> tuple[int, str]:
    factors, _ = item
    return len(factors) == 0, product_text(factors)
