"""Sums of products of symbols and functions: how formulas are simplified and summed over loops.

A term is a coefficient times atoms to whole powers. An atom is what cannot be multiplied out: a
symbol, a function, a remainder, a condition, a sum. Where the original formula has a value, the
simplified one has the same.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from autotune.assertions.modelling import count_formula
from autotune.assertions.modelling.count_formula import SUM, free_symbols
from autotune.language import counts, expression
from autotune.language.counts import Value
from autotune.language.expression import Bin, Call, Cond, Expr, Neg, Num, Sym

Powers = tuple[tuple[str, int], ...]
"""Atoms by their text, sorted, with their exponents; none is 0."""
_MOST_TERMS = 400
"""A product with more terms is not multiplied out."""
_HIGHEST = 8
"""So is a power with a higher exponent."""


@dataclass(frozen=True, slots=True)
class CountPolynomial:
    """Terms by the powers of their atoms."""

    terms: Mapping[Powers, Value]
    atoms: Mapping[str, Expr]
    """By their text."""

    def __add__(self, other: "CountPolynomial") -> "CountPolynomial":
        """The sum."""
        terms = dict(self.terms)
        for powers, coefficient in other.terms.items():
            terms[powers] = terms.get(powers, 0) + coefficient
        return _polynomial(terms, {**self.atoms, **other.atoms})

    def __mul__(self, other: "CountPolynomial") -> "CountPolynomial":
        """The product, multiplied out."""
        terms: dict[Powers, Value] = {}
        for powers, coefficient in self.terms.items():
            for others, factor in other.terms.items():
                product = _joined(powers, others)
                terms[product] = terms.get(product, 0) + coefficient * factor
        return _polynomial(terms, {**self.atoms, **other.atoms})

    def scaled(self, factor: Value) -> "CountPolynomial":
        """Each term times a number."""
        return _polynomial({p: factor * c for p, c in self.terms.items()}, self.atoms)

    @property
    def number(self) -> Value | None:
        """The value of a polynomial without atoms; None with atoms."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    def reciprocal(self) -> "CountPolynomial":
        """One over a polynomial of one term; of several, they become an atom."""
        if len(self.terms) == 1:
            ((powers, coefficient),) = self.terms.items()
            inverse = tuple((atom, -exponent) for atom, exponent in powers)
            return _polynomial({inverse: _quotient(1, coefficient)}, self.atoms)
        base = self.expr()
        text = expression.show(base)
        return _polynomial({((text, -1),): 1}, {text: base})

    def power(self, exponent: int) -> "CountPolynomial":
        """The polynomial to a whole power."""
        if exponent < 0:
            return self.reciprocal().power(-exponent)
        result = constant(1)
        for _ in range(exponent):
            result *= self
        return result

    def expr(self) -> Expr:
        """The polynomial as an expression, with what all terms share in front."""
        if not self.terms:
            return Num(0)
        shared, content = self._shared()
        if len(self.terms) == 1 or not (shared or content != 1):
            return self._sum(self.terms)
        inverse = tuple((atom, -exponent) for atom, exponent in shared)
        rest = {_joined(p, inverse): _quotient(c, content) for p, c in self.terms.items()}
        return _product_of(self._term(shared, content), self._sum(rest))

    def primitive(self) -> "tuple[CountPolynomial, CountPolynomial]":
        """What all terms share, and the polynomial without it."""
        if not self.terms:
            return constant(1), self
        shared, content = self._shared()
        inverse = tuple((atom, -exponent) for atom, exponent in shared)
        rest = {_joined(p, inverse): _quotient(c, content) for p, c in self.terms.items()}
        front = _polynomial({shared: content}, self.atoms)
        return front, _polynomial(rest, self.atoms)

    def _shared(self) -> tuple[Powers, Value]:
        """The atoms and the number that divide all terms."""
        every = [dict(powers) for powers in self.terms]
        names = set(every[0]).intersection(*every[1:])
        shared = tuple(
            (name, least)
            for name in sorted(names)
            if (least := min(powers[name] for powers in every)) > 0
        )
        coefficients = list(self.terms.values())
        if any(isinstance(c, float) for c in coefficients):
            return shared, 1
        divisor = reduce(math.gcd, (Fraction(c).numerator for c in coefficients))
        multiple = reduce(math.lcm, (Fraction(c).denominator for c in coefficients))
        return shared, _quotient(divisor, multiple)

    def _sum(self, terms: Mapping[Powers, Value]) -> Expr:
        ordered = sorted(terms.items(), key=lambda item: _order(item[0]))
        place = next((place for place, (_, c) in enumerate(ordered) if c > 0), 0)
        first = ordered.pop(place)
        result = self._term(*first)
        for powers, coefficient in ordered:
            op = "-" if coefficient < 0 else "+"
            result = Bin(op, result, self._term(powers, _size(coefficient)))
        return result

    def _term(self, powers: Powers, coefficient: Value) -> Expr:
        over = [_powered(self.atoms[name], e) for name, e in powers if e > 0]
        under = [_powered(self.atoms[name], -e) for name, e in powers if e < 0]
        sign, size = coefficient < 0, _size(coefficient)
        if isinstance(size, Fraction):
            if size.denominator != 1:
                under.insert(0, Num(size.denominator))
            size = size.numerator
        if size != 1 or not over:
            over.insert(0, Num(size))
        result = reduce(lambda a, b: Bin("*", a, b), over)
        if under:
            result = Bin("/", result, reduce(lambda a, b: Bin("*", a, b), under))
        return Neg(result) if sign else result

    def summed(self, index: str, trips: "CountPolynomial") -> "CountPolynomial":
        """The sum over an index from 0 to trips - 1, in closed form where the terms allow it."""
        total = constant(0)
        for powers, coefficient in self.terms.items():
            free = tuple((a, e) for a, e in powers if index not in free_symbols(self.atoms[a]))
            bound = tuple((a, e) for a, e in powers if index in free_symbols(self.atoms[a]))
            outer = _polynomial({free: coefficient}, self.atoms)
            total += outer * self._summed_term(index, trips, bound)
        return total

    def _summed_term(
        self, index: str, trips: "CountPolynomial", bound: Powers
    ) -> "CountPolynomial":
        exponents = dict(bound)
        if set(exponents) <= {index} and 0 <= exponents.get(index, 0) < len(_POWER_SUMS):
            return _power_sum(exponents.get(index, 0), trips)
        body = _polynomial({bound: 1}, self.atoms).expr()
        return atom(count_formula.summed(index, trips.expr(), body))


_POWER_SUMS: tuple[tuple[Fraction, ...], ...] = (
    (Fraction(0), Fraction(1)),
    (Fraction(0), Fraction(-1, 2), Fraction(1, 2)),
    (Fraction(0), Fraction(1, 6), Fraction(-1, 2), Fraction(1, 3)),
    (Fraction(0), Fraction(0), Fraction(1, 4), Fraction(-1, 2), Fraction(1, 4)),
    (Fraction(0), Fraction(-1, 30), Fraction(0), Fraction(1, 3), Fraction(-1, 2), Fraction(1, 5)),
)
"""Coefficients of n^0, n^1, ... in the sum of i^k over i = 0 ... n - 1, by k (Faulhaber)."""


def _power_sum(exponent: int, trips: CountPolynomial) -> CountPolynomial:
    total, power = constant(0), constant(1)
    for coefficient in _POWER_SUMS[exponent]:
        total += power.scaled(coefficient)
        power *= trips
    return total


def _polynomial(terms: Mapping[Powers, Value], atoms: Mapping[str, Expr]) -> CountPolynomial:
    kept = {powers: _whole(c) for powers, c in terms.items() if c}
    names = {name for powers in kept for name, _ in powers}
    return CountPolynomial(kept, {name: atoms[name] for name in names})


def _size(value: Value) -> Value:
    return -value if value < 0 else value


def _whole(value: Value) -> Value:
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def _quotient(over: Value, under: Value) -> Value:
    if isinstance(over, float) or isinstance(under, float):
        return over / under
    return _whole(Fraction(over) / Fraction(under))


def _joined(first: Powers, second: Powers) -> Powers:
    exponents = dict(first)
    for name, exponent in second:
        exponents[name] = exponents.get(name, 0) + exponent
    return tuple(sorted((name, e) for name, e in exponents.items() if e))


def _order(powers: Powers) -> tuple[object, ...]:
    """Higher degrees first, then by the names of the atoms."""
    return (-sum(e for _, e in powers if e > 0), tuple(name for name, _ in powers), powers)


def _powered(base: Expr, exponent: int) -> Expr:
    return base if exponent == 1 else Bin("**", base, Num(exponent))


def _product_of(left: Expr, right: Expr) -> Expr:
    """A product; a quotient stays behind the other factor: ``x * (a + b) / 2``."""
    if isinstance(left, Bin) and left.op == "/":
        over = right if left.left == Num(1) else Bin("*", left.left, right)
        return Bin("/", over, left.right)
    return Bin("*", left, right)


def constant(value: Value) -> CountPolynomial:
    """A number as a polynomial."""
    return _polynomial({(): value}, {})


def atom(expr: Expr) -> CountPolynomial:
    """An expression that is not multiplied out."""
    text = expression.show(expr)
    return _polynomial({((text, 1),): 1}, {text: expr})


def polynomial(expr: Expr) -> CountPolynomial:
    """The polynomial of an expression.

    >>> expression.show(polynomial(counts.parse("2*(l + 1)*v + 3*l - l")).expr())
    '2 * (l * v + l + v)'
    """
    match expr:
        case Num(value=value):
            return constant(value)
        case Sym():
            return atom(expr)
        case Neg(operand=operand):
            return polynomial(operand).scaled(-1)
        case Bin(op="+", left=left, right=right):
            return polynomial(left) + polynomial(right)
        case Bin(op="-", left=left, right=right):
            return polynomial(left) + polynomial(right).scaled(-1)
        case Bin(op="*", left=left, right=right):
            return _product(polynomial(left), polynomial(right))
        case Bin(op="/", left=left, right=right):
            under = polynomial(right)
            if under.number == 0:
                return _folded(Bin("/", simplified(left), Num(0)))
            return _product(polynomial(left), under.reciprocal())
        case Bin(op="**", left=left, right=right):
            return _power(polynomial(left), polynomial(right))
        case Bin(op=op, left=left, right=right):
            return _folded(Bin(op, simplified(left), simplified(right)))
        case Cond():
            return _folded(_simplified_condition(expr))
        case Call(function="log2", arguments=(Bin(op="**", left=Num(value=2), right=exponent),)):
            return polynomial(exponent)
        case Call(function="sum", arguments=(Sym(name=index), trips, body)):
            return polynomial(body).summed(index, polynomial(trips))
        case Call(function=function, arguments=arguments):
            return _folded(Call(function, tuple(map(simplified, arguments))))
        case _:
            raise ValueError(f"{expression.show(expr)} is an array element, not a number")


def _product(left: CountPolynomial, right: CountPolynomial) -> CountPolynomial:
    if len(left.terms) * len(right.terms) > _MOST_TERMS:
        return atom(left.expr()) * atom(right.expr())
    return left * right


def _power(base: CountPolynomial, exponent: CountPolynomial) -> CountPolynomial:
    number = exponent.number
    if isinstance(number, int) and abs(number) <= _HIGHEST and (number >= 0 or base.terms):
        whole_base = base.number is None or not isinstance(base.number, float)
        if whole_base and max(1, len(base.terms)) ** abs(number) <= _MOST_TERMS:
            return base.power(number)
    return _folded(Bin("**", base.expr(), exponent.expr()))


def _simplified_condition(expr: Cond) -> Cond:
    return Cond(
        simplified(expr.left), expr.op, simplified(expr.right),
        simplified(expr.then), simplified(expr.other),
    )  # fmt: skip


def _folded(expr: Expr) -> CountPolynomial:
    """An atom; the number that it stands for where it has no symbols and is exact."""
    if not free_symbols(expr) and not _has_sum(expr):
        try:
            value = counts.exact(expr, {})
        except ValueError:
            return atom(expr)
        if not isinstance(value, float):
            return constant(value)
    return atom(expr)


def _has_sum(expr: Expr) -> bool:
    return any(isinstance(e, Call) and e.function == SUM for e in expression.walk(expr))


def simplified(expr: Expr) -> Expr:
    """The simplest form of an expression that this algebra finds."""
    return polynomial(expr).expr()


def total(polynomials: Iterable[CountPolynomial]) -> CountPolynomial:
    """The sum of several polynomials."""
    return reduce(lambda a, b: a + b, polynomials, constant(0))
