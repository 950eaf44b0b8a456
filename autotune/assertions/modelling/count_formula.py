"""Expressions for counts as functions that are evaluated often, and their sums over an index.

A formula is an expression of ``autotune.language.counts``, and in totals also ``sum(i, n, body)``:
the sum of ``body`` over i = 0, 1, ..., n - 1.
"""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from autotune.language import counts, expression
from autotune.language.counts import Value
from autotune.language.expression import Bin, Call, Cond, Expr, Neg, Num, Sym

SUM = "sum"
"""The function that stands for a sum: its arguments are the index, the trips and the body."""
MOST_TRIPS = 10_000_000
"""Terms of a sum that are added one by one."""

Evaluated = Callable[[Mapping[str, Value]], Value]


@dataclass(frozen=True, slots=True)
class CountFormula:
    """An expression with the function that evaluates it."""

    expr: Expr
    evaluated: Evaluated = field(repr=False, compare=False)
    symbols: frozenset[str]

    @classmethod
    def of(cls, expr: Expr) -> "CountFormula":
        """An expression as a formula."""
        return cls(expr, compiled(expr), free_symbols(expr))

    def at(self, values: Mapping[str, Value]) -> Value:
        """Its value by the values of its symbols; ValueError as of ``counts.exact``."""
        try:
            value = _reduced(self.evaluated(values))
        except OverflowError as error:
            raise ValueError(f"{self} is too large") from error
        except KeyError as error:
            (name,) = error.args
            defined = ", ".join(sorted(values)) or "none"
            text = f"variable {name!r} has no value; variables with one: {defined}"
            raise ValueError(text) from None
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{self} is too large")
        return value

    def __str__(self) -> str:
        return expression.show(self.expr)


def parse(text: str) -> CountFormula:
    """The formula of a text; ValueError naming the offending part and its column."""
    return CountFormula.of(counts.parse(text))


def summed(index: str, trips: Expr, body: Expr) -> Expr:
    """The sum of a body over an index from 0 to trips - 1."""
    return Call(SUM, (Sym(index), trips, body))


def free_symbols(expr: Expr) -> frozenset[str]:
    """The symbols of an expression without the indices of its sums."""
    match expr:
        case Sym(name=name):
            return frozenset({name})
        case Call(function="sum", arguments=(Sym(name=index), trips, body)):
            return free_symbols(trips) | (free_symbols(body) - {index})
        case _:
            parts = map(free_symbols, expression.children(expr))
            return frozenset().union(*parts)


def substituted(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """An expression with symbols replaced by expressions; indices of sums stay."""
    match expr:
        case Call(function="sum", arguments=(Sym(name=index), trips, body)):
            inner = {name: value for name, value in values.items() if name != index}
            return summed(index, substituted(trips, values), substituted(body, inner))
        case Sym(name=name):
            return values.get(name, expr)
        case Call(function=function, arguments=arguments):
            return Call(function, tuple(substituted(a, values) for a in arguments))
        case Bin(op=op, left=left, right=right):
            return Bin(op, substituted(left, values), substituted(right, values))
        case Neg(operand=operand):
            return Neg(substituted(operand, values))
        case Cond(left=left, op=op, right=right, then=then, other=other):
            return Cond(
                substituted(left, values), op, substituted(right, values),
                substituted(then, values), substituted(other, values),
            )  # fmt: skip
        case _:
            return expr


def compiled(expr: Expr) -> Evaluated:
    """The function that evaluates an expression, equal to ``counts.exact``.

    Products and sums of totals may be larger than that allows. KeyError for an unknown symbol.
    """
    match expr:
        case Num(value=value):
            return lambda _: value
        case Sym(name=name):
            return operator.itemgetter(name)
        case Bin(op="+" | "-" as op, left=left, right=Num(value=value)):
            return _shifted(compiled(left), value if op == "+" else -value)
        case Bin(op="+" | "-" | "*" as op, left=left, right=right):
            return _arithmetic(op, compiled(left), compiled(right))
        case Bin(op="//" | "%" as op, left=left, right=right):
            return _division(expr, op, compiled(left), compiled(right))
        case Bin(op=op, left=left, right=right):
            return _binary(expr, op, compiled(left), compiled(right))
        case Neg(operand=operand):
            inner = compiled(operand)
            return lambda values: -inner(values)
        case Cond(left=left, op=op, right=right, then=then, other=other):
            return _condition(op, compiled(left), compiled(right), compiled(then), compiled(other))
        case Call(function="sum", arguments=(Sym(name=index), trips, body)):
            return _sum(index, compiled(trips), compiled(body), index in free_symbols(body))
        case Call(function=function, arguments=arguments):
            return _call(function, tuple(map(compiled, arguments)))
        case _:
            raise ValueError(f"{expression.show(expr)} is an array element, not a number")


def _reduced(value: Value) -> Value:
    """A fraction that is whole as ``int``."""
    if type(value) is Fraction and value.denominator == 1:
        return int(value)
    return value


def _shifted(left: Evaluated, number: int | float) -> Evaluated:
    return lambda values: left(values) + number


def _arithmetic(op: str, left: Evaluated, right: Evaluated) -> Evaluated:
    match op:
        case "+":
            return lambda values: left(values) + right(values)
        case "-":
            return lambda values: left(values) - right(values)
    return lambda values: left(values) * right(values)


def _division(expr: Expr, op: str, left: Evaluated, right: Evaluated) -> Evaluated:
    divide = operator.floordiv if op == "//" else operator.mod

    def divided(values: Mapping[str, Value]) -> Value:
        try:
            result: Value = divide(left(values), right(values))
        except ZeroDivisionError:
            raise ValueError(f"division by zero in {expression.show(expr)}") from None
        return result

    return divided


def _binary(expr: Expr, op: str, left: Evaluated, right: Evaluated) -> Evaluated:
    """A quotient or a power, as ``counts.exact`` computes it of two numbers."""
    shape = Bin(op, Sym("left"), Sym("right"))

    def operation(values: Mapping[str, Value]) -> Value:
        operands = {"left": left(values), "right": right(values)}
        try:
            return _of_two(shape, operands)
        except ValueError as error:
            text = str(error).replace(expression.show(shape), expression.show(expr))
            raise ValueError(text) from error

    return operation


def _of_two(shape: Bin, operands: Mapping[str, Value]) -> Value:
    left, right = operands["left"], operands["right"]
    if shape.op == "/" and isinstance(left, int | Fraction) and isinstance(right, int | Fraction):
        if not right:
            raise ValueError(f"division by zero in {expression.show(shape)}")
        return _reduced(Fraction(left) / Fraction(right))
    return counts.exact(shape, operands)


def _condition(
    op: str, left: Evaluated, right: Evaluated, then: Evaluated, other: Evaluated
) -> Evaluated:
    match op:
        case "<":
            return lambda values: then(values) if left(values) < right(values) else other(values)
        case "<=":
            return lambda values: then(values) if left(values) <= right(values) else other(values)
        case ">":
            return lambda values: then(values) if left(values) > right(values) else other(values)
    return lambda values: then(values) if left(values) >= right(values) else other(values)


def _sum(index: str, trips: Evaluated, body: Evaluated, varies: bool) -> Evaluated:
    def total(values: Mapping[str, Value]) -> Value:
        count = whole(trips(values), f"the number of terms of the sum over {index}")
        if not varies:
            return _reduced(count * body(values)) if count else 0
        if count > MOST_TRIPS:
            raise ValueError(f"the sum over {index} has {count} terms, more than {MOST_TRIPS}")
        inner = dict(values)
        result: Value = 0
        for number in range(count):
            inner[index] = number
            result += body(inner)
        return _reduced(result)

    return total


def whole(value: Value, noun: str) -> int:
    """A count that is whole and not negative; ValueError for any other."""
    if value < 0:
        raise ValueError(f"{noun} is negative: {shown(value)}")
    if value != int(value):
        raise ValueError(f"{noun} is no whole number: {shown(value)}")
    return int(value)


def shown(value: Value) -> str:
    """A number as a person reads it: ``7/2``, ``1.5``."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _call(function: str, arguments: tuple[Evaluated, ...]) -> Evaluated:
    if function in ("max", "min"):
        first, second = arguments
        if function == "max":
            return lambda values: max(first(values), second(values))
        return lambda values: min(first(values), second(values))
    names = tuple(f"x{place}" for place in range(len(arguments)))
    shape = Call(function, tuple(map(Sym, names)))

    def called(values: Mapping[str, Value]) -> Value:
        given = [argument(values) for argument in arguments]
        try:
            return counts.exact(shape, dict(zip(names, given, strict=True)))
        except ValueError as error:
            text = str(error)
            for name, value in zip(names, given, strict=True):
                text = text.replace(name, shown(value))
            raise ValueError(text) from error

    return called
