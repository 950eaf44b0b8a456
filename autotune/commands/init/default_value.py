"""The default of an argument, as the statement that reads it from the command line states it.

Only numbers and what is computed of numbers alone are taken: an expression is never run.
"""

import ast
import operator
import re
from collections.abc import Callable

from autotune.commands.init.yaml_text import number_of

_CAST = re.compile(
    r"\(\s*(?:(?:unsigned|signed|long|short|int|float|double|s?size_t|u?int\d+_t)\s*)+\)"
)
_SUFFIX = re.compile(
    r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]{1,3}\b"
    r"|((?:\b\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\b\d+[eE][-+]?\d+)[fFlL]\b"
)
_COMMENT = re.compile(r"/\*.*?\*/|//.*|#.*")
_BEHIND = re.compile(r"(?<!:):(?!:)|\belse\b")
_CHOSEN_BEFORE = re.compile(r"\?([^?]*?)(?<!:):(?!:)|^\s*(.+?)\s+if\b.*\belse\b")
_LONGEST = 80
"""Characters of an expression that is read."""
_WIDEST = 62
"""Bits that a number is shifted by at most."""
_HIGHEST = 18
"""The largest exponent of a power."""

Number = int | float


def stated_default(before: str, behind: str) -> tuple[str, bool]:
    """The default of an argument, empty if it is no plain number, and whether there is one at all.

    ``before``, ``behind``: the statement from its ``=`` to the argument, and from there on.

    >>> stated_default("argc > 1 ? atoi(", ") : 1 << 20, m = 3;")
    ('1048576', True)
    >>> stated_default("argc > 1 ? atoi(", ") : LENGTH;"), stated_default("atoi(", ");")
    (('', True), ('', False))
    """
    chosen = _CHOSEN_BEFORE.search(before)
    if chosen is not None:
        return _number_text(next(filter(None, chosen.groups()), "")), True
    rest = _statement(before, behind)
    mark = _BEHIND.search(rest)
    return (_number_text(_balanced(rest[mark.end() :])), True) if mark else ("", False)


def constant(text: str) -> Number | None:
    """The value of an expression of numbers alone in C or Python; None for anything else.

    >>> constant("4 * (1ul << 20)"), constant("1e6"), constant("getpid()"), constant("010")
    (4194304, 1000000.0, None, None)
    """
    parted = re.sub(r"(?<=\d)'(?=\d)", "", text)
    plain = _SUFFIX.sub(r"\1\2", _CAST.sub(" ", parted)).strip()
    if not plain or len(plain) > _LONGEST:
        return None
    try:
        return _value(ast.parse(plain, mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


def _number_text(text: str) -> str:
    """A default as a number in decimal notation; empty for what is none."""
    words = _COMMENT.sub(" ", text).strip()
    value = constant(words)
    if value is None or number_of(str(value)) is None:
        return ""
    return words if number_of(words) is not None else str(value)


def _statement(before: str, behind: str) -> str:
    """What follows an argument in its statement, up to the next declared name."""
    depth = before.count("(") - before.count(")")
    for place, letter in enumerate(behind):
        depth += (letter == "(") - (letter == ")")
        if letter in ";\n" or depth < 0 or (letter == "," and not depth):
            return behind[:place]
    return behind


def _balanced(text: str) -> str:
    """The text up to the first bracket that closes what was opened before it."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return text[:place]
    return text


def _shifted_left(left: Number, right: Number) -> Number:
    if not (isinstance(left, int) and isinstance(right, int) and 0 <= right <= _WIDEST):
        raise ValueError(f"{left} << {right}")
    return left << right


def _shifted_right(left: Number, right: Number) -> Number:
    if not (isinstance(left, int) and isinstance(right, int) and 0 <= right <= _WIDEST):
        raise ValueError(f"{left} >> {right}")
    return left >> right


def _power(left: Number, right: Number) -> Number:
    if not (isinstance(right, int) and 0 <= right <= _HIGHEST):
        raise ValueError(f"{left} ** {right}")
    return number if isinstance(number := left**right, int) else float(number)


_OPERATIONS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: _shifted_left,
    ast.RShift: _shifted_right,
    ast.Pow: _power,
}
"""Division is none of them: of whole numbers C and Python differ."""


def _value(node: ast.expr) -> Number:
    """The value of a node; ValueError for what is no number and no operation on numbers."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _value(inner)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            value = _OPERATIONS[type(op)](_value(left), _value(right))
            if abs(value) < 1 << 64:
                return value
    raise ValueError(ast.dump(node))
