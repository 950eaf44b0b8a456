"""What a condition can still become while some of its names have no value yet.

A search through the combinations of parameters gives values to one name after the other. A
condition that is false whatever the other names become ends a branch early: sums, products and
comparisons are bounded by interval arithmetic, choices by looking at each of them.
"""

import ast
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from autotune.language import syntax
from autotune.language.constraint import Condition, Value, alike

_MOST = 24
"""Values that are looked at one by one; of more, only the ends count."""


@dataclass(frozen=True, slots=True)
class Possible:
    """What an expression can be: one of a few values, or any number of a closed interval.

    ``values``: the few values, or None; then ``low`` and ``high`` are the ends, and both infinite
    where nothing is known, not even that it is a number (``certain`` is False).
    """

    values: tuple[Value, ...] | None
    low: float = -math.inf
    high: float = math.inf
    certain: bool = True
    """Whether it is a number, or one of the values, in any case."""


ANYTHING = Possible(None, certain=False)


def among(domain: Sequence[Value]) -> Possible:
    """One of the values of a domain, of which there is at least one."""
    if len(domain) <= _MOST:
        return Possible(tuple(domain), *_ends(domain))
    low, high = _ends(domain)
    return Possible(None, low, high) if low <= high else ANYTHING


def _ends(values: Iterable[Value]) -> tuple[float, float]:
    """The smallest and largest number; the wrong way round where some value is no number."""
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) != len(list(values)):
        return math.inf, -math.inf
    return min(numbers), max(numbers)


class BoundedCondition:
    """A condition that can be asked before all of its names have values.

    >>> few = BoundedCondition(Condition("a + b + c <= 1"))
    >>> few.decided({"a": among([1]), "b": among([1]), "c": among([0, 1])})
    False
    >>> few.decided({"a": among([0]), "b": among([1]), "c": among([0, 1])}) is None
    True
    """

    def __init__(self, condition: Condition) -> None:
        self.condition = condition
        self.names = condition.names
        root = ast.Expression(syntax.parsed(condition.text, "a condition", len(condition.text)))
        self.skips = any(map(_skips, ast.walk(root)))
        """Whether it may be decided though a part of it has no value."""
        self.sums = tuple(_marked(root, condition.text))
        """Its sums; the bounds of each may be given by its text, as those of a name."""
        apart = (node.id for node in ast.walk(root) if isinstance(node, ast.Name))
        self.apart = frozenset(apart)
        """The names that stand outside of sums."""
        self._evaluate = _bounded(root.body)

    def decided(self, possible: Mapping[str, Possible]) -> bool | None:
        """True or False where it is so for all possible values for which every part has a value;
        None where it is open. A part of ``and`` and ``or`` that has no value decides nothing.
        """
        return _truth(self._evaluate(possible))


def _skips(node: ast.AST) -> bool:
    """Whether the value of a node may be decided without that of one of its parts."""
    if isinstance(node, ast.Compare):
        return len(node.ops) > 1 or isinstance(node.ops[0], ast.In | ast.NotIn)
    return isinstance(node, ast.BoolOp | ast.IfExp)


_Bounded = Callable[[Mapping[str, Possible]], Possible]


@dataclass(frozen=True, slots=True)
class SumTerm:
    """A term of a sum, with its sign."""

    names: frozenset[str]
    sign: int
    bounded: _Bounded

    def bounds(self, possible: Mapping[str, Possible]) -> tuple[int, int] | None:
        """Its least and largest value where these are whole numbers; None elsewhere."""
        bounds = self.bounded(possible)
        low, high = bounds.low, bounds.high
        if not (_numeric(bounds) and isinstance(low, int) and isinstance(high, int)):
            return None
        return (low, high) if self.sign > 0 else (-high, -low)


@dataclass(frozen=True, slots=True)
class WholeSum:
    """A sum or difference in a condition that is no part of another one."""

    text: str
    """What it is called where its bounds are given as a whole."""
    terms: tuple[SumTerm, ...]


class _Given(ast.expr):
    """A sum in a tree: what was given under its text, or what its terms can be."""

    def __init__(self, text: str, node: ast.expr) -> None:
        super().__init__()
        self.text = text
        self.node = node


def _marked(root: ast.Expression, text: str) -> list[WholeSum]:
    """The sums of a condition's tree, in which each is replaced by one that can be given."""
    sums: list[WholeSum] = []
    waiting: list[ast.AST] = [root]
    while waiting:
        node = waiting.pop()
        for name, value in ast.iter_fields(node):
            if not isinstance(value, list):
                setattr(node, name, _replaced(value, text, sums))
            else:
                value[:] = [_replaced(part, text, sums) for part in value]
        waiting += [part for part in ast.iter_child_nodes(node) if not isinstance(part, _Given)]
    return sums


def _replaced(value: object, text: str, sums: list[WholeSum]) -> object:
    if not (isinstance(value, ast.expr) and _adds(value)):
        return value
    whole = WholeSum(syntax.source(text, value), tuple(_terms(value)))
    sums.append(whole)
    return _Given(whole.text, value)


def _terms(node: ast.expr) -> Iterable[SumTerm]:
    while isinstance(node, ast.BinOp) and _adds(node):
        yield _term(node.right, 1 if isinstance(node.op, ast.Add) else -1)
        node = node.left
    yield _term(node, 1)


def _adds(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)


def _term(node: ast.expr, sign: int) -> SumTerm:
    names = frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
    return SumTerm(names, sign, _bounded(node))


def _truth(bounds: Possible) -> bool | None:
    if bounds.values is None or not all(isinstance(value, bool) for value in bounds.values):
        return None
    return bool(bounds.values[0]) if len(set(bounds.values)) == 1 else None


_TRUE, _FALSE, _OPEN = among((True,)), among((False,)), among((True, False))
_WORDS = {"true": _TRUE, "false": _FALSE, "null": among((None,))}


def _as_possible(truth: bool | None) -> Possible:
    return _OPEN if truth is None else _TRUE if truth else _FALSE


def _bounded(node: ast.expr) -> _Bounded:
    """A function that bounds a node of a condition, which was checked before."""
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            constant = among([value])
            return lambda _possible: constant
        case ast.Name(id=name):
            return lambda possible: possible.get(name) or _WORDS.get(name, ANYTHING)
        case ast.BoolOp(op=op, values=parts):
            return _logic([_bounded(part) for part in parts], isinstance(op, ast.Or))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _negation(_bounded(operand))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _bounded(operand)
            return lambda possible: _moved(inner(possible), lambda x: -x)
        case ast.UnaryOp(operand=operand):
            return _bounded(operand)
        case ast.BinOp():
            return _arithmetic(node)
        case _Given(text=text, node=whole):
            evaluate = _bounded(whole)
            return lambda possible: possible.get(text) or evaluate(possible)
        case ast.Compare(left=left, ops=ops, comparators=others):
            pairs = zip([left, *others[:-1]], ops, others, strict=True)
            return _logic([_comparison(*pair) for pair in pairs], False)
        case ast.IfExp(test=test, body=body, orelse=other):
            return _choice(_bounded(test), _bounded(body), _bounded(other))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, [_bounded(argument) for argument in arguments])
    return lambda _possible: ANYTHING


def _logic(parts: Sequence[_Bounded], either: bool) -> _Bounded:
    def decided(possible: Mapping[str, Possible]) -> Possible:
        open_ = False
        for part in parts:
            truth = _truth(part(possible))
            if truth is either:
                return _as_possible(either)
            open_ = open_ or truth is None
        return _OPEN if open_ else _as_possible(not either)

    return decided


def _negation(inner: _Bounded) -> _Bounded:
    def negated(possible: Mapping[str, Possible]) -> Possible:
        truth = _truth(inner(possible))
        return _OPEN if truth is None else _as_possible(not truth)

    return negated


def _choice(test: _Bounded, then: _Bounded, otherwise: _Bounded) -> _Bounded:
    def chosen(possible: Mapping[str, Possible]) -> Possible:
        truth = _truth(test(possible))
        if truth is not None:
            return (then if truth else otherwise)(possible)
        first, second = then(possible), otherwise(possible)
        if first.values is not None and second.values is not None:
            return among(tuple(dict.fromkeys((*first.values, *second.values))))
        if not (_numeric(first) and _numeric(second)):
            return ANYTHING
        return Possible(None, min(first.low, second.low), max(first.high, second.high))

    return chosen


def _numeric(bounds: Possible) -> bool:
    """Whether it is a number in any case."""
    return bounds.certain and bounds.low <= bounds.high


def _interval(ends: Iterable[float]) -> Possible:
    """The interval of some ends; anything where one is not a number."""
    numbers = list(ends)
    if any(math.isnan(number) for number in numbers):
        return ANYTHING
    return Possible(None, min(numbers), max(numbers))


def _moved(bounds: Possible, function: Callable[[float], float]) -> Possible:
    """A function that rises or falls everywhere, of what is possible."""
    if not _numeric(bounds):
        return ANYTHING
    try:
        if bounds.values is not None:
            return among([function(float_of(value)) for value in bounds.values])
        ends = (function(bounds.low), function(bounds.high))
    except (ArithmeticError, ValueError):
        return ANYTHING
    return _interval(ends)


def float_of(value: Value) -> float:
    """A number as it is; TypeError for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return value


def _arithmetic(node: ast.BinOp) -> _Bounded:
    first, operations = syntax.chain(node)
    start = _bounded(first)
    steps = [(_operation(step.op), _bounded(step.right)) for step in operations]

    def bounded(possible: Mapping[str, Possible]) -> Possible:
        result = start(possible)
        for combined, right in steps:
            if not _numeric(result):
                return ANYTHING
            result = combined(result, right(possible))
        return result

    return bounded


def _operation(op: ast.operator) -> Callable[[Possible, Possible], Possible]:
    """What an operation of two numbers can give."""
    operation = syntax.bounded(syntax.ARITHMETIC[type(op)], math.inf)
    by_ends = isinstance(op, ast.Add | ast.Sub | ast.Mult)
    divides = isinstance(op, ast.Div | ast.FloorDiv)

    def bounded(first: Possible, second: Possible) -> Possible:
        if not (_numeric(first) and _numeric(second)):
            return ANYTHING
        try:
            if first.low == first.high and second.low == second.high:
                result = operation(first.low, second.low)
                return Possible((result,), result, result)
            if first.values and second.values and len(first.values) * len(second.values) <= _MOST:
                pairs = product(first.values, second.values)
                return among([operation(float_of(a), float_of(b)) for a, b in pairs])
            if by_ends or (divides and second.low * second.high > 0):
                ends = product((first.low, first.high), (second.low, second.high))
                return _interval(operation(a, b) for a, b in ends)
            if isinstance(op, ast.Mod) and second.low > 0:
                return Possible(None, 0, second.high)
        except (ArithmeticError, ValueError, syntax.TooLargeError):
            return ANYTHING
        return ANYTHING

    return bounded


def _call(name: str, arguments: Sequence[_Bounded]) -> _Bounded:
    if name in ("min", "max"):
        choose: Callable[[Iterable[float]], float] = min if name == "min" else max

        def extreme(possible: Mapping[str, Possible]) -> Possible:
            bounds = [argument(possible) for argument in arguments]
            if not all(map(_numeric, bounds)):
                return ANYTHING
            return Possible(None, choose(f.low for f in bounds), choose(f.high for f in bounds))

        return extreme
    inner, function = arguments[0], syntax.FUNCTIONS[name]
    if name != "abs":
        return lambda possible: _moved(inner(possible), function)

    def magnitude(possible: Mapping[str, Possible]) -> Possible:
        bounds = inner(possible)
        if not _numeric(bounds):
            return ANYTHING
        ends = (abs(bounds.low), abs(bounds.high))
        return Possible(None, 0 if bounds.low < 0 < bounds.high else min(ends), max(ends))

    return magnitude


def _comparison(left: ast.expr, op: ast.cmpop, right: ast.expr) -> _Bounded:
    if isinstance(op, ast.In | ast.NotIn):
        assert isinstance(right, ast.Tuple | ast.List), "checked when the condition was made"
        return _membership(
            _bounded(left), [_bounded(e) for e in right.elts], isinstance(op, ast.In)
        )
    first, second = _bounded(left), _bounded(right)
    if isinstance(op, ast.Eq | ast.NotEq):
        return _membership(first, [second], isinstance(op, ast.Eq))
    strict, up = isinstance(op, ast.Lt | ast.Gt), isinstance(op, ast.Lt | ast.LtE)

    def ordered(possible: Mapping[str, Possible]) -> Possible:
        less, more = first(possible), second(possible)
        if not (_numeric(less) and _numeric(more)):
            return _OPEN
        if not up:
            less, more = more, less
        if less.high < more.low or (less.high == more.low and not strict):
            return _TRUE
        if less.low > more.high or (less.low == more.high and strict):
            return _FALSE
        return _OPEN

    return ordered


def _membership(left: _Bounded, listed: Sequence[_Bounded], wanted: bool) -> _Bounded:
    """Whether a value is equal to one of others."""

    def inside(possible: Mapping[str, Possible]) -> Possible:
        bounds = left(possible)
        truths = [_equal(bounds, other(possible)) for other in listed]
        if True in truths:
            return _as_possible(wanted)
        return _OPEN if None in truths else _as_possible(not wanted)

    return inside


def _equal(first: Possible, second: Possible) -> bool | None:
    """Whether two are equal in any case, in none (False), or in some (None)."""
    if first.values is not None and second.values is not None:
        if len(first.values) * len(second.values) > _MOST:
            return None
        truths = {alike(a, b) for a, b in product(first.values, second.values)}
        return truths.pop() if len(truths) == 1 else None
    if not (first.certain and second.certain):
        return None
    apart = _numeric(first) and _numeric(second)
    return False if apart and (first.high < second.low or second.high < first.low) else None
