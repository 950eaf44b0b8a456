"""The terms that an influence model may have: functions of one parameter, and products of them.

As in SPL Conqueror (Siegmund, Grebhahn, Apel and Kästner 2015; Kaltenecker 2016, section 2.2.1) an
interaction is tried only once one of its factors is in the model: a term of the model times a
function of one parameter. Polynomials of higher degree come about in the same way, as x * x.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from autotune.domain.tables.table import ParameterRows
from autotune.learning.models.terms import (
    IS,
    LOG2,
    LOG2_1,
    POWER,
    Factor,
    Product,
    indicator,
    log2,
    parameters,
    power,
    product,
)

Shape = Literal["log2", "linear", "sqrt", "square"]
SHAPES: tuple[Shape, ...] = ("log2", "linear", "sqrt", "square")
"""What a number may enter through. Of shapes that fit equally well the first is taken."""


_POWERS = {"linear": Fraction(1), "sqrt": Fraction(1, 2), "square": Fraction(2)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateTerms:
    """The candidate terms of an influence model: ``singles``, functions of one parameter, and
    products with them.

    ``order``: the largest number of parameters in an interaction. ``degree``: the largest power of
    a parameter or of its logarithm.
    """

    singles: tuple[Factor, ...]
    order: int
    degree: int

    def first(self) -> tuple[Product, ...]:
        """The candidate terms that have one parameter."""
        return tuple(frozenset({single}) for single in self.singles)

    def grown(self, term: Product) -> tuple[Product, ...]:
        """The products of the term with each single factor, without those of too many parameters or
        too high a power.
        """
        products = (product(*sorted(term, key=str), single) for single in self.singles)
        return tuple(made for made in products if made and self._allowed(made, term))

    def _allowed(self, candidate: Product, term: Product) -> bool:
        return (
            candidate != term
            and len(parameters(candidate)) <= self.order
            and all(factor.power <= self.degree for factor in candidate)
        )


def candidates(
    inputs: ParameterRows, shapes: Sequence[Shape] = SHAPES, *, order: int = 2, degree: int = 2
) -> CandidateTerms:
    """The candidate terms for these training rows.

    A parameter with v different values has at most v - 1 shapes: more cannot be told apart. The
    logarithm of a number that may be 0 is that of 1 + x. A number that may be negative has neither
    logarithm nor root.
    """
    singles: list[Factor] = []
    for parameter in inputs.parameters:
        if parameter.numeric:
            numbers = inputs.numbers(parameter.name)
            kept = [s for s in shapes if numbers.min() >= 0 or s in ("linear", "square")]
            distinct = len(set(numbers.tolist()))
            positive = bool(numbers.min() > 0)
            singles += [_factor(parameter.name, s, positive) for s in kept[: distinct - 1]]
        else:
            values = sorted(set(inputs.texts(parameter.name)))
            if len(values) > 1:
                # of two values one is the other's absence
                singles += [indicator(parameter.name, v) for v in values[len(values) == 2 :]]
    return CandidateTerms(singles=tuple(singles), order=order, degree=degree)


def _factor(name: str, shape: Shape, positive: bool) -> Factor:
    if shape == "log2":
        return log2(name) if positive else Factor(LOG2_1, name, Fraction(1))
    return power(name, _POWERS[shape])


def effect(term: Product) -> tuple[str, str] | None:
    """The function and the parameter of a term that is a single factor to the first power, such as
    log2(n); else None.
    """
    if len(term) != 1:
        return None
    factor = next(iter(term))
    simple = factor.function in (LOG2, LOG2_1, POWER) or factor.function.startswith(IS)
    return (factor.function, factor.parameter) if simple and factor.power == 1 else None
