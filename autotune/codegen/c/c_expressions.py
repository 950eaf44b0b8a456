"""Prints expressions as C: whole numbers are ``long``, all other values are ``double``.

The value is that of the expression language: ``/`` divides truly, and ``%`` and ``//`` take whole
numbers, whose quotient they round down, as Python does.
"""

import math
import re
from collections.abc import Mapping
from typing import Literal

from autotune.language.expression import (
    FUNCTIONS,
    Bin,
    Call,
    Cond,
    Expr,
    Neg,
    Num,
    Ref,
    Sym,
    children,
    number,
    references,
    show,
    symbols,
    walk,
)

Kind = Literal["long", "double"]
Kinds = Mapping[str, Kind]
"""The type of each symbol; what is not listed is a double."""

SIZES: Kinds = {"N": "long", "n": "long", "j": "long"}

_INT = 2**31 - 1
_LEVEL = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "//": 2}
_POWERS = range(2, 9)
_ZERO = (Num(0), Num(0.0))
_FLOORED = {"%": "modulo", "//": "floored"}
"""What rounds down where C rounds towards zero."""
_FUNCTIONS = {"abs": "fabs", "min": "smaller", "max": "larger"}
_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while asm typeof linux unix main
    first last from to row head tail start lower upper smaller larger positive step thread
    lag distance reach flags neighbours relax
    layer corner above below top bottom strip strip_width plane_size margin ceiling
    power2 power3 power4 power5 power6 power7 power8
    modulo floored
    multiple aligned rest within eight strip of_line end to_line stream_line INDEPENDENT PREFETCH
    SCALAR SHORT SUM PRAGMA
    sin cos tan exp log sqrt tanh fabs fmin fmax pow floor ceil gamma y0 y1 yn j0 j1 jn
    signgam NULL EOF INFINITY NAN HUGE_VAL
"""
_RESERVED = frozenset(_WORDS.split())

_HELPERS = {
    "smaller": "double smaller(double a, double b) { return b < a ? b : a; }",
    "larger": "double larger(double a, double b) { return b > a ? b : a; }",
    # max(x, 0), exactly; without a branch that gcc would carry into the arithmetic around it
    "positive": "double positive(double x) { return 0.5*(x + fabs(x)); }",
    "modulo": "long modulo(long a, long b) { return (a % b + b) % b; }",
    "floored": "long floored(long a, long b) { return a / b - (a % b && (a < 0) != (b < 0)); }",
    **{
        f"power{k}": f"double power{k}(double x) {{ return {'*'.join('x' * k)}; }}" for k in _POWERS
    },
}


def support(text: str) -> list[str]:
    """The headers and helper functions that C text with printed expressions needs before it."""
    calls = set(re.findall(r"\b([a-z]+[0-9]?)\(", text))
    lines = []
    if calls & ({_FUNCTIONS.get(f, f) for f in FUNCTIONS} | {"positive"}):
        lines.append("#include <math.h>")
    if "labs" in calls:
        lines.append("#include <stdlib.h>")
    lines += [f"static inline {helper}" for call, helper in _HELPERS.items() if call in calls]
    return [*lines, ""] if lines else []


def name(symbol: str) -> str:
    """A name as a C identifier that differs from all names of C and of the generated code."""
    return symbol + "_" if symbol in _RESERVED or symbol.startswith("_") else symbol


def kind(expr: Expr, kinds: Kinds) -> Kind:
    """The C type of the value, from the form of the expression: ``long`` or ``double``."""
    match expr:
        case Num(value=value):
            return "long" if isinstance(value, int) else "double"
        case Sym(name=symbol):
            return kinds.get(symbol, "double")
        case Neg(operand=operand):
            return kind(operand, kinds)
        case Bin(op="/") | Ref():
            return "double"
        case Bin(left=left, right=right):
            return _common((left, right), kinds)
        case Call(function="min" | "max" | "abs", arguments=arguments):
            return _common(arguments, kinds)
        case Cond(then=then, other=other):
            return _common((then, other), kinds)
    return "double"


def _common(parts: tuple[Expr, ...], kinds: Kinds) -> Kind:
    return "long" if all(kind(part, kinds) == "long" for part in parts) else "double"


def whole_symbols(expr: Expr) -> frozenset[str]:
    """The symbols that must be whole numbers: those in indices and beside ``%`` and ``//``."""
    names: set[str] = set()
    for ref in references(expr):
        for index in ref.indices:
            names |= {e.name for e in walk(index) if isinstance(e, Sym)}
    for node in walk(expr):
        if isinstance(node, Bin) and node.op in ("%", "//"):
            names |= {e.name for e in walk(node) if isinstance(e, Sym)}
    return frozenset(names)


def real(expr: Expr, kinds: Kinds = SIZES, outer: int = 0) -> str:
    """The expression as C text of type ``double``."""
    if isinstance(expr, Num):
        return _literal(float(expr.value), outer)
    if kind(expr, kinds) == "long":
        if not symbols(expr):
            return _literal(float(number(expr, {})), outer)
        return _converted(expr, kinds, outer)
    match expr:
        case Sym(name=symbol):
            return name(symbol)
        case Ref(array=array, indices=indices):
            return name(array) + "".join(f"[{whole(index, kinds)}]" for index in indices)
        case Neg(operand=operand):
            return _bracket(f"-{real(operand, kinds, 3)}", outer > 0)
        case Bin(op="**", left=left, right=right):
            assert isinstance(right, Num)
            return _power(left, int(right.value), kinds, outer)
        case Bin(op="%" | "//"):
            raise ValueError(f"{show(expr)}: % and // need whole numbers")
        case Bin(op=op, left=left, right=right):
            level = _LEVEL[op]
            return _binary(op, real(left, kinds, level), real(right, kinds, level + 1), outer)
        case Call(function="max", arguments=(first, second)) if first in _ZERO or second in _ZERO:
            return f"positive({real(second if first in _ZERO else first, kinds)})"
        case Call(function=function, arguments=arguments):
            inside = ", ".join(real(argument, kinds) for argument in arguments)
            return f"{_FUNCTIONS.get(function, function)}({inside})"
        case Cond(then=then, other=other):
            test = _test(expr, kinds)
            return f"({test} ? {real(then, kinds, 1)} : {real(other, kinds, 1)})"
    raise AssertionError(expr)


def _converted(expr: Expr, kinds: Kinds, outer: int) -> str:
    """C text that converts a whole number to ``double``.

    Only j is converted in expressions that depend on j: sums and products of whole numbers below
    2^53 are the same in doubles, and only the conversion of 32 bits is a vector instruction on
    every machine. (The number of components is below 2^31.)
    """
    if "j" not in symbols(expr):
        return f"(double){whole(expr, kinds, 9)}"
    match expr:
        case Sym():
            return "(double)(int)j"
        case Neg(operand=operand):
            return _bracket(f"-{real(operand, kinds, 3)}", outer > 0)
        case Bin(op="+" | "-" | "*" as op, left=left, right=right):
            return _binary(
                op, real(left, kinds, _LEVEL[op]), real(right, kinds, _LEVEL[op] + 1), outer
            )
    return f"(double){whole(expr, kinds, 9)}"


def _binary(op: str, left: str, right: str, outer: int) -> str:
    gap = " " if _LEVEL[op] == 1 else ""
    return _bracket(f"{left}{gap}{op}{gap}{right}", _LEVEL[op] < outer)


def _power(base: Expr, exponent: int, kinds: Kinds, outer: int) -> str:
    if exponent == 0:
        return "1.0"
    if exponent == 1:
        return real(base, kinds, outer)
    if isinstance(base, Sym | Ref):
        return _bracket("*".join([real(base, kinds, 3)] * exponent), outer > 2)
    return f"power{exponent}({real(base, kinds)})"


def whole(expr: Expr, kinds: Kinds = SIZES, outer: int = 0) -> str:
    """The expression as C text of type ``long``; values that are not whole by their form are
    truncated.
    """
    if kind(expr, kinds) == "double":
        return f"(long)({real(expr, kinds)})"
    if not symbols(expr):
        value = int(number(expr, {}))
        suffix = "L" if abs(value) > _INT else ""
        return _bracket(f"{value}{suffix}", value < 0 and outer > 0)
    match expr:
        case Sym(name=symbol):
            return name(symbol)
        case Neg(operand=operand):
            return _bracket(f"-{whole(operand, kinds, 3)}", outer > 0)
        case Bin(op="**", left=left, right=right):
            assert isinstance(right, Num)
            factors = [whole(left, kinds, 3)] * int(right.value) or ["1"]
            return _bracket("*".join(factors), len(factors) > 1 and outer > 2)
        case Bin(op="%" | "//" as op, left=left, right=right) if not _natural(left, right):
            return f"{_FLOORED[op]}({whole(left, kinds)}, {whole(right, kinds)})"
        case Bin(op=op, left=left, right=right):
            level = _LEVEL[op]
            sign = "/" if op == "//" else op
            return _binary(sign, whole(left, kinds, level), whole(right, kinds, level + 1), outer)
        case Call(function="abs", arguments=(first,)):
            return f"labs({whole(first, kinds)})"
        case Call(function=function, arguments=(first, second)):
            sign = "<" if function == "min" else ">"
            a, b = whole(first, kinds, 3), whole(second, kinds, 3)
            return f"({b} {sign} {a} ? {b} : {a})"
        case Cond(then=then, other=other):
            test = _test(expr, kinds)
            return f"({test} ? {whole(then, kinds, 1)} : {whole(other, kinds, 1)})"
    raise AssertionError(expr)


def _natural(*parts: Expr) -> bool:
    """Whether whole numbers are not negative by their form."""
    for part in parts:
        match part:
            case Num(value=value):
                natural = value >= 0
            case Sym(name=symbol):
                natural = symbol in SIZES
            case Call(function="abs"):
                natural = True
            case Bin(op="-") | Neg():
                natural = False
            case Cond(then=then, other=other):
                natural = _natural(then, other)
            case _:
                natural = _natural(*children(part))
        if not natural:
            return False
    return True


def _test(cond: Cond, kinds: Kinds) -> str:
    show_ = whole if _common((cond.left, cond.right), kinds) == "long" else real
    return f"{show_(cond.left, kinds, 1)} {cond.op} {show_(cond.right, kinds, 1)}"


def _literal(value: float, outer: int) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number that C can write")
    return _bracket(repr(value), value < 0 and outer > 0)


def _bracket(text: str, needed: bool) -> str:
    return f"({text})" if needed else text
