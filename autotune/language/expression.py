"""Kernel bodies: a restricted arithmetic language, parsed through ``ast`` and never evaluated.

    number        2, 0.25, 1e-3
    symbol        N, h, c                      a named number
    reference     y[j-N], A[l][i]              an array element
    operators     + - * / % //, unary minus    ``%`` and ``//`` of whole numbers
    power         x**2                         a small whole exponent
    functions     see ``FUNCTIONS``
    condition     a if t < b else c            one comparison

The nodes are frozen and compare by value, so they may be keys of dictionaries.
"""

import ast
import sys
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass

from autotune.language import syntax
from autotune.language.syntax import outside

FUNCTIONS: Mapping[str, int] = {
    "sin": 1, "cos": 1, "tan": 1, "exp": 1, "log": 1, "sqrt": 1, "abs": 1, "tanh": 1,
    "min": 2, "max": 2,
}  # fmt: skip
"""Allowed functions and their number of arguments."""


@dataclass(frozen=True, slots=True)
class Num:
    """A number; an ``int`` stays exact."""

    value: float | int


@dataclass(frozen=True, slots=True)
class Sym:
    """A named number: a size, a constant, a loop variable, the time."""

    name: str


@dataclass(frozen=True, slots=True)
class Ref:
    """An array element, one expression per dimension: ``A[l][i]``."""

    array: str
    indices: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class Neg:
    """The negative of an expression (unary minus)."""

    operand: "Expr"


@dataclass(frozen=True, slots=True)
class Bin:
    """A binary operation; ``op`` is one of ``+ - * / % // **``."""

    op: str
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of ``FUNCTIONS``."""

    function: str
    arguments: tuple["Expr", ...]


@dataclass(frozen=True, slots=True)
class Cond:
    """``then if left op right else other``; ``op`` is one of ``< <= > >=``."""

    left: "Expr"
    op: str
    right: "Expr"
    then: "Expr"
    other: "Expr"


Expr = Num | Sym | Ref | Neg | Bin | Call | Cond

_LEAVES = (Num, Sym)

_DEEPEST = 200
"""Levels of nesting that every function here can walk."""

_LONGEST = 20_000
"""Characters of an expression."""
_LARGEST = sys.float_info.max
"""Numbers beyond are refused, whole ones too."""


def parse(
    text: str, functions: Mapping[str, int] = FUNCTIONS, *, any_exponent: bool = False
) -> Expr:
    """The expression of a text that may call ``functions``.

    ``any_exponent``: an exponent may be any expression, not only a whole number from 0 to 8.
    Raises ValueError naming the offending part and its column for anything outside the language.

    >>> parse("y[j-1]")
    Ref(array='y', indices=(Bin(op='-', left=Sym(name='j'), right=Num(value=1)),))
    """
    tree = syntax.parsed(text, "an expression", _LONGEST)
    try:
        expr = _Reading(functions, any_exponent).convert(tree)
    except RecursionError as error:
        raise ValueError("the expression is nested too deeply") from error
    if syntax.deeper(expr, children, _DEEPEST):
        raise ValueError(f"the expression is nested more than {_DEEPEST} levels deep")
    return expr


@dataclass(frozen=True, slots=True)
class _Reading:
    """Which functions and exponents the expression that is read may have."""

    functions: Mapping[str, int]
    any_exponent: bool

    def convert(self, node: ast.expr) -> Expr:
        """The expression of a syntax tree."""
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                if not abs(value) <= _LARGEST:
                    raise outside(node, "the number is too large")
                return Num(value)
            case ast.Name(id=name):
                return Sym(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Neg(self.convert(operand))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.convert(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in syntax.ARITHMETIC:
                symbol = syntax.ARITHMETIC[type(op)]
                if symbol == "**" and not (self.any_exponent or _small_whole(right)):
                    raise outside(node, "an exponent must be a whole number from 0 to 8")
                return Bin(symbol, self.convert(left), self.convert(right))
            case ast.Subscript():
                return self._reference(node)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._call(node, name, arguments)
            case ast.IfExp(test=ast.Compare(left=left, ops=[op], comparators=[right])) if (
                type(op) in syntax.ORDER
            ):
                return Cond(
                    self.convert(left), syntax.ORDER[type(op)], self.convert(right),
                    self.convert(node.body), self.convert(node.orelse),
                )  # fmt: skip
            case ast.BinOp(op=ast.BitXor()):
                raise outside(node, "a power is written **")
        raise outside(node, "only arithmetic, array references, conditions and known functions")

    def _call(self, node: ast.Call, name: str, arguments: list[ast.expr]) -> Expr:
        if name not in self.functions:
            known = ", ".join(self.functions)
            raise outside(node, f"unknown function {name!r}; known: {known}")
        if len(arguments) != self.functions[name]:
            raise outside(node, f"{name} takes {self.functions[name]} argument(s)")
        return Call(name, tuple(self.convert(argument) for argument in arguments))

    def _reference(self, node: ast.Subscript) -> Expr:
        indices: list[Expr] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Subscript):
            indices.append(self.convert(inner.slice))
            inner = inner.value
        if not isinstance(inner, ast.Name):
            raise outside(node, "only a named array can be indexed")
        return Ref(inner.id, tuple(reversed(indices)))


def _small_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and 0 <= node.value <= 8


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct parts of a node."""
    match expr:
        case Num() | Sym():
            return ()
        case Ref(indices=indices):
            return indices
        case Neg(operand=operand):
            return (operand,)
        case Bin(left=left, right=right):
            return (left, right)
        case Call(arguments=arguments):
            return arguments
        case Cond(left=left, right=right, then=then, other=other):
            return (left, right, then, other)


def walk(expr: Expr) -> Iterator[Expr]:
    """Every node, parents before children, left to right."""
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Bin):  # with the leaves nearly all nodes
            waiting += (node.right, node.left)
        elif not isinstance(node, _LEAVES):
            waiting.extend(reversed(children(node)))


def rebuild(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The same expression with ``change`` applied to every node, children first."""
    match expr:
        case Num() | Sym():
            done: Expr = expr
        case Ref(array=array, indices=indices):
            done = Ref(array, tuple(rebuild(index, change) for index in indices))
        case Neg(operand=operand):
            done = Neg(rebuild(operand, change))
        case Bin(op=op, left=left, right=right):
            done = Bin(op, rebuild(left, change), rebuild(right, change))
        case Call(function=function, arguments=arguments):
            done = Call(function, tuple(rebuild(argument, change) for argument in arguments))
        case Cond(left=left, op=op, right=right, then=then, other=other):
            done = Cond(
                rebuild(left, change), op, rebuild(right, change),
                rebuild(then, change), rebuild(other, change),
            )  # fmt: skip
    return change(done)


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """An expression in which symbols are replaced by expressions."""
    return rebuild(expr, lambda e: values.get(e.name, e) if isinstance(e, Sym) else e)


def symbols(expr: Expr) -> frozenset[str]:
    """The names of all symbols of an expression, also those inside indices."""
    return frozenset(node.name for node in walk(expr) if isinstance(node, Sym))


def references(expr: Expr) -> tuple[Ref, ...]:
    """All array references of an expression in reading order."""
    return tuple(node for node in walk(expr) if isinstance(node, Ref))


def constant_parts(expr: Expr, names: Container[str]) -> Iterator[Expr]:
    """The largest parts that use no array element and no symbols but these; plain numbers left out.

    >>> [show(part) for part in constant_parts(parse("y[j]*log(c - 1) + 2*(3 - 4)"), {"c"})]
    ['log(c - 1)', '2 * (3 - 4)']
    """
    constant: dict[int, bool] = {}
    for node in reversed(tuple(walk(expr))):  # parts before the whole: each is judged once
        match node:
            case Ref():
                constant[id(node)] = False
            case Sym(name=name):
                constant[id(node)] = name in names
            case _:
                constant[id(node)] = all(constant[id(part)] for part in children(node))
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Num | Sym | Ref):
            continue
        if constant[id(node)]:
            yield node
        else:
            waiting.extend(reversed(children(node)))


_OPERATIONS = {symbol: syntax.bounded(symbol, _LARGEST) for symbol in syntax.ARITHMETIC.values()}


def number(expr: Expr, values: Mapping[str, float | int]) -> float | int:
    """The value of a scalar expression; whole numbers stay whole except after ``/`` and functions.

    Raises ValueError for an unknown symbol, an array reference, a division by zero, a function
    outside its domain and a number that is too large.

    >>> number(parse("N*N - 1"), {"N": 4})
    15
    """
    match expr:
        case Num(value=value):
            return value
        case Sym(name=name):
            if name not in values:
                raise ValueError(f"unknown symbol {name!r}; known: {', '.join(sorted(values))}")
            return values[name]
        case Neg(operand=operand):
            return -number(operand, values)
        case Bin(op=op, left=left, right=right):
            try:
                return _OPERATIONS[op](number(left, values), number(right, values))
            except ZeroDivisionError as error:
                raise ValueError(f"division by zero in {show(expr)}") from error
            except (OverflowError, syntax.TooLargeError) as error:
                raise ValueError(f"{show(expr)} is too large") from error
        case Call(function=function, arguments=arguments):
            given = [number(argument, values) for argument in arguments]
            try:
                return _call(function, given)
            except (ValueError, OverflowError) as error:
                raise ValueError(f"{show(expr)} has no value: {error}") from error
        case Cond(left=left, op=op, right=right, then=then, other=other):
            holds = syntax.COMPARISONS[op](number(left, values), number(right, values))
            return number(then if holds else other, values)
        case Ref():
            raise ValueError(f"{show(expr)} is an array element, not a number")


def _call(function: str, arguments: list[float | int]) -> float:
    if function in ("min", "max"):
        return min(arguments) if function == "min" else max(arguments)
    return syntax.FUNCTIONS[function](arguments[0])


_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "//": 2, "**": 4}


def show(expr: Expr) -> str:
    """The expression as text that ``parse`` reads back."""
    return _show(expr, 0)


def _show(expr: Expr, outer: int) -> str:
    match expr:
        case Num(value=value):
            text = repr(value)
            return f"({text})" if value < 0 and outer else text
        case Sym(name=name):
            return name
        case Ref(array=array, indices=indices):
            return array + "".join(f"[{_show(index, 0)}]" for index in indices)
        case Neg(operand=operand):
            text = f"-{_show(operand, 3)}"
            return f"({text})" if outer else text
        case Bin(op=op, left=left, right=right):
            level = _PRECEDENCE[op]
            text = f"{_show(left, level)} {op} {_show(right, level + 1)}"
            if op == "**":
                text = f"{_show(left, level + 1)}**{_show(right, level)}"
            return f"({text})" if level < outer else text
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(_show(argument, 0) for argument in arguments)})"
        case Cond(left=left, op=op, right=right, then=then, other=other):
            condition = f"{_show(left, 1)} {op} {_show(right, 1)}"
            return f"({_show(then, 1)} if {condition} else {_show(other, 1)})"
