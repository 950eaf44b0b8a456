"""Conditions on parameter values: a restricted language, parsed through ``ast``, never evaluated.

    values        8, 0.5, 'static', true, false, null
    names         parameters and arguments
    arithmetic    + - * / // % **, min(a, b, ...), max(a, b, ...), and of one number each:
                  abs, ceil, floor, sqrt, exp, log, log2
    comparisons   == != < <= > >=, also chained: 8 <= bi <= bj; tile in (16, 32), not in
    logic         and, or, not, a if c else b

Text is compared with text and numbers with numbers; only == and != take any pair of values.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from autotune.language import syntax
from autotune.language.syntax import outside

Value = str | int | float | bool | None
"""What a parameter or an argument may be."""

_Evaluation = Callable[[Mapping[str, Value]], Value]
_Truth = Callable[[Mapping[str, Value]], bool]
_Number = Callable[[Mapping[str, Value]], float | int]

_LONGEST = 50_000
"""Characters of a condition: a sum of hundreds of terms has some ten thousand."""
_DEEPEST = 40
"""Levels of nesting; a chain of operations such as ``a + b - c`` is one."""
_LARGEST = 1e18
"""Numbers beyond are refused, so that no power takes forever."""
WORDS: Mapping[str, Value] = {"true": True, "false": False, "null": None}
"""Names that are values."""

_OF_ONE = ("abs", "ceil", "exp", "floor", "log", "log2", "sqrt")
_FUNCTIONS = (*_OF_ONE, "max", "min")
_OPERATORS = (
    *(*syntax.ARITHMETIC, *syntax.ORDER, ast.Eq, ast.NotEq, ast.In, ast.NotIn),
    *(ast.And, ast.Or, ast.Not, ast.USub, ast.UAdd),
)
_NODES = (
    *(ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.BoolOp),
    *(ast.Compare, ast.IfExp, ast.Tuple, ast.List, ast.Call, *_OPERATORS),
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition given by its text; equal texts are equal conditions.

    >>> Condition("bi * bj * 8 <= 32768 and bi % 4 == 0").holds({"bi": 64, "bj": 32})
    True

    Construction raises ValueError, naming the part and its column, for what is not of the language.
    """

    text: str
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The parameters and arguments that it names, in reading order."""
    _evaluate: "_Evaluation" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        tree = syntax.parsed(self.text, "a condition", _LONGEST)
        if _too_deep(tree):
            raise ValueError(f"the condition is nested more than {_DEEPEST} levels deep")
        for node in ast.walk(tree):
            _check(node)
        object.__setattr__(self, "names", _names(tree))
        object.__setattr__(self, "_evaluate", _Compiler(self.text).compiled(tree))

    def value(self, values: Mapping[str, Value]) -> Value:
        """The value of the condition for given values; ValueError, in words, if it has none."""
        return self._evaluate(values)

    def holds(self, values: Mapping[str, Value]) -> bool:
        """Whether the condition is fulfilled; ValueError if it is neither true nor false."""
        value = self.value(values)
        if not isinstance(value, bool):
            shown = syntax.short(self.text)
            raise ValueError(f"{shown!r} is {value!r}, neither true nor false")
        return value


def _too_deep(tree: ast.AST) -> bool:
    return syntax.deeper(tree, syntax.parts, _DEEPEST)


def _names(tree: ast.expr) -> tuple[str, ...]:
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    ordered = sorted(nodes, key=lambda name: (name.lineno, name.col_offset))
    identifiers = (name.id for name in ordered if name.id not in (*_FUNCTIONS, *WORDS))
    return tuple(dict.fromkeys(identifiers))


def _check(node: ast.AST) -> None:
    match node:
        case ast.Constant(value=int() | float() as number) if not abs(number) <= _LARGEST:
            raise outside(node, f"numbers are at most {_LARGEST:g}")
        case ast.Constant(value=str() | int() | float() | None):
            return
        case ast.Call(func=ast.Name(id=name), args=[_, *more], keywords=[]) if name in _FUNCTIONS:
            if name in _OF_ONE and more:
                raise outside(node, f"{name} takes one number")
            return
        case ast.Call():
            raise outside(node, f"the functions are {', '.join(_FUNCTIONS)}")
        case ast.Constant():
            raise outside(node, "neither a number nor text")
    if not isinstance(node, _NODES):
        raise outside(node, "only values, names, arithmetic, comparisons, and, or, not")


class _Compiler:
    """Makes functions that compute the values of checked nodes of a text from values by name."""

    def __init__(self, text: str) -> None:
        self._text = text

    def compiled(self, node: ast.expr) -> _Evaluation:
        """A function that computes the value of a node."""
        match node:
            case ast.Constant(value=str() | int() | float() | None as value):
                return lambda _values: value
            case ast.Name(id=name):
                return lambda values: _named(name, values)
            case ast.BoolOp(op=op, values=parts):
                return _logic([self._truth(part) for part in parts], isinstance(op, ast.Or))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self._truth(operand)
                return lambda values: not truth(values)
            case ast.UnaryOp(op=op, operand=operand):
                number, sign = self._number(operand), -1 if isinstance(op, ast.USub) else 1
                return lambda values: sign * number(values)
            case ast.BinOp():
                return self._arithmetic(node)
            case ast.Compare(left=left, ops=ops, comparators=others):
                pairs = zip([left, *others[:-1]], ops, others, strict=True)
                return _logic([self._comparison(*pair) for pair in pairs], False)
            case ast.IfExp(test=test, body=body, orelse=other):
                holds, then = self._truth(test), self.compiled(body)
                otherwise = self.compiled(other)
                return lambda values: (then if holds(values) else otherwise)(values)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(node, name, arguments)
        raise outside(node, "has no value here")

    def _truth(self, node: ast.expr) -> _Truth:
        evaluate = self.compiled(node)

        def truth(values: Mapping[str, Value]) -> bool:
            value = evaluate(values)
            if not isinstance(value, bool):
                shown = self._shown(node)
                raise ValueError(f"{shown} is {value!r}, neither true nor false")
            return value

        return truth

    def _number(self, node: ast.expr) -> _Number:
        evaluate = self.compiled(node)

        def number(values: Mapping[str, Value]) -> float | int:
            value = evaluate(values)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"{self._shown(node)} is {value!r}, not a number")
            return value

        return number

    def _arithmetic(self, node: ast.BinOp) -> _Number:
        first, operations = syntax.chain(node)
        start, steps = self._number(first), [self._step(operation) for operation in operations]

        def calculated(values: Mapping[str, Value]) -> float | int:
            result = start(values)
            for step in steps:
                result = step(result, values)
            return result

        return calculated

    def _step(self, node: ast.BinOp) -> Callable[[float | int, Mapping[str, Value]], float | int]:
        """An operation of a chain, on the result of those before it."""
        right = self._number(node.right)
        operation = syntax.bounded(syntax.ARITHMETIC[type(node.op)], _LARGEST)
        power = isinstance(node.op, ast.Pow)

        def calculated(first: float | int, values: Mapping[str, Value]) -> float | int:
            second = right(values)
            if power and not -64 <= second <= 64:
                raise ValueError(f"{self._shown(node)}: an exponent must be from -64 to 64")
            try:
                return operation(first, second)
            except syntax.TooLargeError as error:
                raise ValueError(f"{self._shown(node)} is too large, or not a number") from error
            except (ZeroDivisionError, OverflowError) as error:
                raise ValueError(f"{self._shown(node)}: {error}") from error

        return calculated

    def _call(self, node: ast.expr, name: str, arguments: Sequence[ast.expr]) -> _Number:
        given = [self._number(argument) for argument in arguments]
        if name not in _OF_ONE:
            choose: Callable[[Sequence[float]], float] = min if name == "min" else max
            return lambda values: choose([compiled(values) for compiled in given])
        function, only = syntax.FUNCTIONS[name], given[0]

        def called(values: Mapping[str, Value]) -> float | int:
            try:
                return function(only(values))
            except (ArithmeticError, ValueError) as error:
                raise ValueError(f"{self._shown(node)}: {error}") from error

        return called

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> _Truth:
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(right, ast.Tuple | ast.List):
                raise outside(right, "in needs a list such as (1, 2)")
            wanted, left_value = isinstance(op, ast.In), self.compiled(left)
            listed = [self.compiled(element) for element in right.elts]
            return lambda values: (
                any(alike(left_value(values), e(values)) for e in listed) is wanted
            )
        if isinstance(op, ast.Eq | ast.NotEq):
            equal, first, second = isinstance(op, ast.Eq), self.compiled(left), self.compiled(right)
            return lambda values: alike(first(values), second(values)) is equal
        holds = syntax.COMPARISONS[syntax.ORDER[type(op)]]
        less, more = self._number(left), self._number(right)
        return lambda values: holds(less(values), more(values))

    def _shown(self, node: ast.expr) -> str:
        return repr(syntax.short(syntax.source(self._text, node)))


def _named(name: str, values: Mapping[str, Value]) -> Value:
    if name in values:
        return values[name]
    if name in WORDS:
        return WORDS[name]
    raise ValueError(f"unknown name {name!r}")


def _logic(parts: Sequence[_Truth], either: bool) -> _Truth:
    """A function for ``and`` or ``or`` of nodes; evaluation stops when the result is decided."""
    if either:
        return lambda values: any(part(values) for part in parts)
    return lambda values: all(part(values) for part in parts)


def alike(first: Value, second: Value) -> bool:
    """Whether two values are equal; true and false are not numbers, 2 and 2.0 are the same."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    return first == second
