"""Reading formulas through ``ast``, and arithmetic with bounded numbers, for the small languages.

A text is parsed by Python and never evaluated by it. Texts have a greatest length, trees a greatest
depth and numbers a greatest size, so that no text takes long: ``((9**8)**8)**8 ...`` is refused at
the first power that is too large.
"""

import ast
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

Node = TypeVar("Node")
Operation = Callable[[float, float], float]

ARITHMETIC: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
    ast.Mod: "%", ast.FloorDiv: "//", ast.Pow: "**",
}  # fmt: skip
"""The operators of numbers by their symbols."""
ORDER: Mapping[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
"""The comparisons of numbers by their symbols."""
SYMBOLS: Mapping[type[ast.cmpop], str] = {
    **ORDER, ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
"""All comparisons by their symbols."""
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "abs": abs, "ceil": math.ceil, "cos": math.cos, "exp": math.exp, "floor": math.floor,
    "log": math.log, "log2": math.log2, "sin": math.sin, "sqrt": math.sqrt, "tan": math.tan,
    "tanh": math.tanh,
}  # fmt: skip
"""Functions of one number; a language allows some of them."""

_OPERATIONS: Mapping[str, Operation] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "%": operator.mod, "//": operator.floordiv, "**": operator.pow,
}  # fmt: skip
_BITS = 8192
"""Whole numbers of more bits are not even computed."""

_UNPARSED = 100
"""Levels of a tree that is shown in an error, at most."""
_SHOWN = 200
"""Characters of a text that an error repeats."""


class TooLargeError(ArithmeticError):
    """A number is larger than a language allows, or is not a real number."""


def parsed(text: str, noun: str, longest: int) -> ast.expr:
    """The syntax tree of a text of at most ``longest`` characters; ``noun`` names it in errors.

    Raises ValueError if the text is longer, or is not an expression of Python.
    """
    if len(text) > longest:
        raise ValueError(f"{noun} has at most {longest} characters, not {len(text)}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{short(text)!r} is not {noun}: {error}") from error


def outside(node: ast.AST, why: str) -> ValueError:
    """The error for a part of a tree that the language does not allow, with the part's column."""
    column = getattr(node, "col_offset", 0) + 1
    deep = deeper(node, ast.iter_child_nodes, _UNPARSED)
    simple = isinstance(node, ast.expr) and not deep
    shown = ast.unparse(node) if simple else type(node).__name__
    return ValueError(f"{short(shown)!r} (column {column}): {why}")


def deeper(root: Node, children: Callable[[Node], Iterable[Node]], levels: int) -> bool:
    """Whether a tree has more than a given number of levels below its root."""
    layer = [root]
    while layer and levels >= 0:
        layer = [child for node in layer for child in children(node)]
        levels -= 1
    return bool(layer)


def chain(node: ast.expr) -> tuple[ast.expr, list[ast.BinOp]]:
    """The first operand of a chain such as ``a + b - c``, and its operations from left to right:
    nested to the left, the innermost first.
    """
    operations: list[ast.BinOp] = []
    while isinstance(node, ast.BinOp):
        operations.append(node)
        node = node.left
    return node, operations[::-1]


def parts(node: ast.AST) -> Iterable[ast.AST]:
    """The direct parts of a node; of a chain of operations, all of its operands."""
    if not isinstance(node, ast.BinOp):
        return ast.iter_child_nodes(node)
    first, operations = chain(node)
    return [first, *(operation.right for operation in operations)]


def source(text: str, node: ast.AST) -> str:
    """A part of a text that was parsed, as it is written there."""
    return ast.get_source_segment(text.strip(), node) or type(node).__name__


def bounded(symbol: str, largest: float) -> Operation:
    """The operation of a symbol for results of at most ``largest`` in magnitude.

    It raises TooLargeError for larger results, without computing whole numbers of many digits, and
    ZeroDivisionError and OverflowError as Python does.
    """
    operation = _OPERATIONS[symbol]
    grows = symbol in ("*", "**")

    def calculate(first: float, second: float) -> float:
        if grows and _bits(symbol, first, second) > _BITS:
            raise TooLargeError
        value = operation(first, second)
        if isinstance(value, complex) or not abs(value) <= largest:
            raise TooLargeError
        return value

    return calculate


def _bits(symbol: str, first: float, second: float) -> int:
    """An upper limit of the bits of a product or power of whole numbers; 0 for other numbers."""
    if not (isinstance(first, int) and isinstance(second, int)):
        return 0
    if symbol == "*":
        return first.bit_length() + second.bit_length()
    return first.bit_length() * abs(second) if abs(first) > 1 else 1


def short(text: str) -> str:
    """A text, cut where it is too long for an error."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
