"""Expressions for counts (trips, operations, bytes, messages), with exact values.

    operators     + - * / % //, unary minus     ``/`` is exact: 7/2 is a fraction, not 3.5
    power         2**ceil(log2(p)/2)            any exponent
    functions     see ``COUNT_FUNCTIONS``
    condition     a if p > 1 else b             one comparison

Whole numbers and fractions stay exact. ``log2`` of a power of two and ``sqrt`` of a square are
exact; of other numbers they are real numbers, and so is what is computed with these. Rounding a
real number that lies too near a whole one is an error: log(2**29)/log(2) is not 29 in double
precision, so its ``ceil`` would be wrong.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from autotune.language import expression, syntax
from autotune.language.expression import Bin, Call, Cond, Expr, Neg, Num, Ref, Sym

Value = int | float | Fraction
"""A whole number, a fraction (exact) or a real number (rounded to double precision)."""

COUNT_FUNCTIONS: Mapping[str, int] = {
    "abs": 1, "ceil": 1, "exp": 1, "floor": 1, "log": 1, "log2": 1, "max": 2, "min": 2, "sqrt": 1,
}  # fmt: skip
"""Allowed functions and their number of arguments."""

LARGEST = 2**63 - 1
"""Numerators and denominators beyond are refused, as the library in C refuses them."""
_NEAR = 1e-9
"""A real number so near a whole one, relatively, is not rounded."""


def parse(text: str) -> Expr:
    """The expression of a text.

    Raises ValueError naming the offending part and its column for anything outside the language.

    >>> expression.show(parse("2**ceil(log2(p)/2)"))
    '2**ceil(log2(p) / 2)'
    """
    expr = expression.parse(text, COUNT_FUNCTIONS, any_exponent=True)
    for reference in expression.references(expr):
        raise ValueError(f"{expression.show(reference)} is an array element, not a number")
    return expr


def exact(expr: Expr, values: Mapping[str, Value]) -> Value:
    """The value of an expression: an ``int`` or ``Fraction`` where it is exact, else a ``float``.

    Raises ValueError for an unknown symbol, a division by zero, a function outside its domain, a
    number that is too large, and a real number too near a whole one to be rounded.

    >>> exact(parse("2**ceil(log2(p)/2)"), {"p": 8})
    4
    >>> exact(parse("na/4"), {"na": 7})
    Fraction(7, 4)
    """
    match expr:
        case Num(value=value):
            return _reduced(value, expr)
        case Sym(name=name):
            if name not in values:
                defined = ", ".join(sorted(values)) or "none"
                raise ValueError(f"variable {name!r} has no value; variables with one: {defined}")
            return _reduced(values[name], expr)
        case Neg(operand=operand):
            return _reduced(-exact(operand, values), expr)
        case Bin(op=op, left=left, right=right):
            return _operation(expr, op, exact(left, values), exact(right, values))
        case Call(function=function, arguments=arguments):
            try:
                return _reduced(_call(function, [exact(a, values) for a in arguments]), expr)
            except OverflowError as error:
                raise ValueError(f"{expression.show(expr)} is too large") from error
            except _NoValueError as error:
                raise ValueError(f"{expression.show(expr)} has no value: {error}") from error
        case Cond(left=left, op=op, right=right, then=then, other=other):
            holds = _COMPARISONS[op](exact(left, values), exact(right, values))
            return exact(then if holds else other, values)
        case Ref():
            raise ValueError(f"{expression.show(expr)} is an array element, not a number")


_COMPARISONS: Mapping[str, Callable[[Value, Value], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip


class _NoValueError(ArithmeticError):
    """A function or a root outside its domain, or a rounding that is not sure."""


def _operation(expr: Expr, op: str, left: Value, right: Value) -> Value:
    try:
        if op == "**":
            return _reduced(_power(left, right), expr)
        return _reduced(_OPERATIONS[op](left, right), expr)
    except ZeroDivisionError as error:
        raise ValueError(f"division by zero in {expression.show(expr)}") from error
    except (OverflowError, syntax.TooLargeError) as error:
        raise ValueError(f"{expression.show(expr)} is too large") from error
    except _NoValueError as error:
        raise ValueError(f"{expression.show(expr)} has no value: {error}") from error


def _quotient(left: Value, right: Value) -> Value:
    if isinstance(left, float) or isinstance(right, float):
        return float(left) / float(right)
    return Fraction(left) / Fraction(right)


_OPERATIONS: Mapping[str, Callable[[Value, Value], Value]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": _quotient, "//": lambda a, b: a // b, "%": lambda a, b: a % b,
}  # fmt: skip


def _power(base: Value, exponent: Value) -> Value:
    if isinstance(base, float) or not isinstance(exponent, int):
        if base == 0 and exponent < 0:
            raise ZeroDivisionError
        if base < 0 and exponent != int(exponent):
            raise _NoValueError("a root of a negative number")
        return math.pow(base, exponent)
    fraction = Fraction(base)
    if abs(fraction) not in (0, 1) and abs(exponent) > 63:  # no such power fits
        raise syntax.TooLargeError
    return Fraction(fraction**exponent)


def _call(function: str, given: list[Value]) -> Value:
    match function:
        case "min" | "max":
            first, second = given
            if (first <= second) == (function == "min"):
                return first
            return second
        case "abs":
            return -given[0] if given[0] < 0 else given[0]
        case "ceil" | "floor":
            return _rounded(function, given[0])
        case "log2":
            return _log2(given[0])
        case "sqrt":
            return _sqrt(given[0])
    value = float(given[0])
    if function == "log" and value <= 0:
        raise _NoValueError("the logarithm of a number that is not positive")
    return syntax.FUNCTIONS[function](value)


def _rounded(function: str, value: Value) -> int:
    if isinstance(value, float):
        nearest = round(value)
        if abs(value - nearest) <= _NEAR * max(1.0, abs(value)):
            raise _NoValueError(
                f"{value!r} is a rounded number too near {nearest} to be rounded surely;"
                " log2 and sqrt are exact for powers of two and squares"
            )
    return math.ceil(value) if function == "ceil" else math.floor(value)


def _log2(value: Value) -> Value:
    if value <= 0:
        raise _NoValueError("the logarithm of a number that is not positive")
    if not isinstance(value, float):
        top, bottom = Fraction(value).as_integer_ratio()
        if top & (top - 1) == 0 and bottom & (bottom - 1) == 0:
            return top.bit_length() - bottom.bit_length()
    return math.log2(float(value))


def _sqrt(value: Value) -> Value:
    if value < 0:
        raise _NoValueError("the square root of a negative number")
    if not isinstance(value, float):
        top, bottom = Fraction(value).as_integer_ratio()
        roots = math.isqrt(top), math.isqrt(bottom)
        if roots[0] ** 2 == top and roots[1] ** 2 == bottom:
            return Fraction(*roots)
    return math.sqrt(float(value))


def _reduced(value: Value, expr: Expr) -> Value:
    """The value with whole fractions as ``int``; ValueError where it is too large."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{expression.show(expr)} is too large")
        return value
    top, bottom = Fraction(value).as_integer_ratio()
    if abs(top) > LARGEST or bottom > LARGEST:
        raise ValueError(f"{expression.show(expr)} is too large")
    return top if bottom == 1 else Fraction(value)
