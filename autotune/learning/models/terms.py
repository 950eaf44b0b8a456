"""Terms of performance models: functions of one parameter, products of them, and sums of products.

    Factor   one function of one parameter       x^(3/2), log2(y)^2, [precon = ssor]
    Product  some of them multiplied             x^(3/2) * log2(y); empty: the constant 1
    Sum      products with their coefficients    1.4 + 6.7*log2(y) + 0.04*x^(3/2)*log2(y)

Influence models, models in performance model normal form and analytical formulas are all sums, so
that they evaluate, print and compare alike.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from autotune.domain.tables.parameter import Value
from autotune.domain.tables.table import ParameterRows

Floats = NDArray[np.float64]
Columns = Mapping[str, Floats | tuple[str, ...]]
"""The values of each parameter, (n,): numbers, or text where it is categorical."""

POWER = "power"
LOG2 = "log2"
LOG2_1 = "log2(1 + .)"
"""For numbers that may be 0."""
IS = "is "
"""Begins the name of an indicator: 1 where a parameter has the value that follows, else 0."""

_DIGITS = 5


class Factor(NamedTuple):
    """A function of one parameter to a power: ``x ** power``, ``log2(x) ** power``, or the
    indicator of a value.

    It equals the plain tuple of its three fields: ``("log2", "n", 1)`` names the same factor.

    >>> str(power("n", "3/2")), str(log2("n")), str(indicator("precon", "ssor"))
    ('n^(3/2)', 'log2(n)', '[precon = ssor]')
    """

    function: str
    parameter: str
    power: Fraction | int | float = 1

    def __str__(self) -> str:
        if self.function.startswith(IS):
            return f"[{self.parameter} = {self.function[len(IS) :]}]"
        exponent = _fraction(self.power)
        if self.function == POWER:
            if exponent == Fraction(1, 2):
                return f"sqrt({self.parameter})"
            return self.parameter + _raised(exponent)
        name = self.function if self.function == LOG2_1 else f"{self.function}(.)"
        return name.replace(".", self.parameter) + _raised(exponent)

    def evaluate(self, values: Columns) -> Floats:
        """The factor at each row, (n,); nan where it has no real value, as log2 of 0.

        KeyError where the parameter has no values, ValueError for an unknown function.
        """
        column = values[self.parameter]
        if self.function.startswith(IS):
            wanted = self.function[len(IS) :]
            return np.array([str(value) == wanted for value in column], dtype=np.float64)
        if isinstance(column, tuple):
            return np.full(len(column), math.nan)
        base = np.asarray(column, dtype=np.float64)
        if self.function == LOG2_1:
            base = _log2(1 + base)
        elif self.function == LOG2:
            base = _log2(base)
        elif self.function != POWER:
            raise ValueError(f"unknown function {self.function!r} of {self.parameter}")
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            raised = base ** float(self.power)
        return np.where(np.isfinite(raised), raised, math.nan)


Product = frozenset[Factor]
Sum = Mapping[Product, float]
CONSTANT: Product = frozenset()
"""The empty product: the constant."""


def power(parameter: str, exponent: Fraction | float | str = 1) -> Factor:
    """A power of a parameter; the exponent may be written as a fraction, ``"3/2"``."""
    return Factor(POWER, parameter, _fraction(exponent))


def log2(parameter: str, exponent: int = 1) -> Factor:
    """A power of the logarithm of a parameter to base 2."""
    return Factor(LOG2, parameter, Fraction(exponent))


def indicator(parameter: str, value: Value) -> Factor:
    """A factor that is 1 where a parameter has this value, else 0."""
    return Factor(f"{IS}{value}", parameter, Fraction(1))


def product(*factors: Factor) -> Product | None:
    """The product of factors: equal functions of a parameter are joined and their powers added.

    An indicator times itself is itself. None for two different values of one parameter, since their
    product is always 0.

    >>> text(product(power("n"), power("n", 2), log2("m")))
    'log2(m) * n^3'
    """
    powers: dict[tuple[str, str], Fraction] = {}
    for function, parameter, exponent in factors:
        key = (parameter, function)
        if function.startswith(IS):
            others = [f for p, f in powers if p == parameter and f.startswith(IS)]
            if others and function not in others:
                return None
            powers[key] = Fraction(1)
        else:
            powers[key] = powers.get(key, Fraction(0)) + _fraction(exponent)
    return frozenset(Factor(f, p, e) for (p, f), e in powers.items() if e)


def parameters(term: Iterable[tuple[str, str, object]]) -> frozenset[str]:
    """The parameters that occur in a product."""
    return frozenset(parameter for _, parameter, _ in term)


def columns(inputs: ParameterRows) -> Columns:
    """The values of each parameter over the rows."""
    return {name: inputs.column(name) for name in inputs.names}


def matrix(terms: Sequence[Product], values: Columns, rows: int) -> Floats:
    """The value of each product at each row, (n, terms); nan where a product has no real value."""
    evaluated: dict[Factor, Floats] = {}
    result = np.ones((rows, len(terms)))
    for place, term in enumerate(terms):
        for factor in sorted(term, key=str):
            if factor not in evaluated:
                evaluated[factor] = factor.evaluate(values)
            result[:, place] *= evaluated[factor]
    return result


def evaluate(terms: Sum, values: Columns, rows: int) -> Floats:
    """The value of a sum at each row, (n,); nan where a term has no real value."""
    coefficients = np.array(list(terms.values()), dtype=np.float64)
    return np.asarray(matrix(list(terms), values, rows) @ coefficients, dtype=np.float64)


# --- as text ----------------------------------------------------------------------------------


def text(term: Iterable[Factor] | None) -> str:
    """A product as one line of arithmetic, its factors in the order of their parameters."""
    ordered = sorted(term or (), key=lambda f: (f.parameter, f.function != POWER, f.function))
    return " * ".join(str(factor) for factor in ordered) or "1"


def show(number: float, digits: int = _DIGITS) -> str:
    """A number as text with at most this many significant digits, without trailing zeros."""
    return f"{number:.{digits}g}"


def formula(terms: Sum, digits: int = _DIGITS) -> str:
    """A sum as one line of arithmetic, its terms in the order of the mapping.

    >>> formula({CONSTANT: 2.0, product(power("n", 2)): -0.5})
    '2 - 0.5 * n^2'
    """
    line = ""
    for term, coefficient in terms.items():
        size = show(abs(coefficient), digits)
        part = f"{size} * {text(term)}" if term else size
        negative = coefficient < 0
        line += (" - " if negative else " + ") + part if line else ("-" if negative else "") + part
    return line or "0"


def _raised(exponent: Fraction) -> str:
    if exponent == 1:
        return ""
    return f"^{exponent}" if exponent.denominator == 1 and exponent > 0 else f"^({exponent})"


def _fraction(exponent: Fraction | int | float | str) -> Fraction:
    """The exponent as a fraction; a float becomes the nearest fraction of a small denominator."""
    if isinstance(exponent, float):
        return Fraction(exponent).limit_denominator(1000)
    return Fraction(exponent)


def _log2(numbers: Floats) -> Floats:
    return np.log2(numbers, out=np.full_like(numbers, math.nan), where=numbers > 0)
