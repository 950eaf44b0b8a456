"""The interface of analytical formulas, for code that compares them, learns beside them or prints
them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from autotune.errors import Fault, InputError, nearest

Floats = NDArray[np.float64]
Function = Literal["power", "log2"]
Values = Mapping[str, Floats]


class PowerFactor(NamedTuple):
    """``parameter ** power``, or ``log2(parameter) ** power``."""

    function: Function
    parameter: str
    power: float

    def __str__(self) -> str:
        base = self.parameter if self.function == "power" else f"log2({self.parameter})"
        return base if self.power == 1 else f"{base}^{self.power:g}"


Monomial = frozenset[PowerFactor]
"""A product of factors; empty: the constant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaTerm:
    """A coefficient times a product of powers and logarithms of parameters.

    >>> str(FormulaTerm(coefficient=3.0, factors=frozenset([PowerFactor("log2", "p", 2.0)])))
    '3 log2(p)^2'
    """

    coefficient: float
    factors: Monomial
    text: str = ""
    """Of which part of the formula it is; empty for all of it."""

    @property
    def parameters(self) -> frozenset[str]:
        """The parameters in it: its equivalence class in a syntactic comparison."""
        return frozenset(factor.parameter for factor in self.factors)

    def __str__(self) -> str:
        product = product_text(self.factors)
        return f"{self.coefficient:.4g} {product}" if product else f"{self.coefficient:.4g}"


class Formula(Protocol):
    """An analytical model of a time in seconds, as a formula of parameters."""

    @property
    def name(self) -> str:
        """The short name, with the version where a formula has several."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters whose values ``evaluate`` needs."""

    def evaluate(self, values: Values) -> Floats:
        """(n,) seconds for arrays (n,) of the parameters; InputError where one is missing."""

    def terms(self) -> tuple[FormulaTerm, ...]:
        """The formula as a sum of terms; for a formula that is no sum, the sum near its reference
        point.
        """

    def __str__(self) -> str:
        """The formula as text, with its constants put in."""


def product_text(factors: Monomial) -> str:
    """A product of factors as text, in a fixed order: powers before logarithms, by name.

    >>> product_text(frozenset([PowerFactor("log2", "p", 1.0), PowerFactor("power", "n", 2.0)]))
    'n^2 log2(p)'
    """
    order = sorted(factors, key=lambda f: (f.function == "log2", f.parameter, f.power))
    return " ".join(str(factor) for factor in order)


def combined(terms: Iterable[FormulaTerm]) -> dict[Monomial, float]:
    """The coefficient of every distinct product of factors; syntactic scores compare these."""
    coefficients: dict[Monomial, float] = {}
    for term in terms:
        coefficients[term.factors] = coefficients.get(term.factors, 0.0) + term.coefficient
    return coefficients


def column(values: Values, name: str, formula: str) -> Floats:
    """The values of a parameter; InputError, with the nearest name, where they are missing."""
    if name not in values:
        raise InputError(
            Fault(
                where=formula,
                found=f"no values of {name}",
                expected=f"an array for each parameter, {name} among them",
                hint=nearest(name, values),
            )
        )
    return np.asarray(values[name], dtype=np.float64)


def positive(name: str, **numbers: float) -> None:
    """Raise ValueError unless all these numbers are finite and above zero."""
    for what, number in numbers.items():
        if not (np.isfinite(number) and number > 0):
            raise ValueError(f"{name}: {what} must be above zero, not {number}")
