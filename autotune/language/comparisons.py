"""What a condition compares with what, so that comparisons that can never hold are refused."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autotune.language import syntax
from autotune.language.constraint import WORDS, Condition, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainComparison:
    """A name beside a plain value or another name: ``mode == 'fast'``, ``8 < bi``, ``bi <= bj``."""

    text: str
    name: str
    other: str | None = None
    """The name that it is compared with; None where that is a value."""
    value: Value = None
    """The value that it is compared with; null beside another name."""
    ordered: bool
    """Both have to be numbers: the comparison is one of < <= > >=."""


def plain_comparisons(condition: Condition) -> Iterator[PlainComparison]:
    """The comparisons of a condition that have a name on one side, and a name or a value on the
    other. Of ``in`` there is one for each element of the list.
    """
    tree = syntax.parsed(condition.text, "a condition", len(condition.text))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare):
            continue
        for left, op, right in zip(
            [node.left, *node.comparators[:-1]], node.ops, node.comparators, strict=True
        ):
            ordered = type(op) in syntax.ORDER
            listed = right.elts if isinstance(right, ast.Tuple | ast.List) else [right]
            for element in listed:
                if _simple(left) and _simple(element):
                    second = ast.unparse(element)
                    second = second if element is right else f"(..., {second}, ...)"
                    text = f"{ast.unparse(left)} {syntax.SYMBOLS[type(op)]} {second}"
                    yield from _compared(left, element, ordered, text)


def _compared(
    left: ast.expr, right: ast.expr, ordered: bool, text: str
) -> Iterator[PlainComparison]:
    first, second = _name(left), _name(right)
    if first is not None and second is not None:
        yield PlainComparison(text=text, name=first, other=second, ordered=ordered)
    elif first is not None and _plain(right):
        yield PlainComparison(text=text, name=first, value=_value(right), ordered=ordered)
    elif second is not None and _plain(left):
        yield PlainComparison(text=text, name=second, value=_value(left), ordered=ordered)


def _simple(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Constant)


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) and node.id not in WORDS else None


def _plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id in WORDS)


def _value(node: ast.expr) -> Value:
    if isinstance(node, ast.Name):
        return WORDS[node.id]
    assert isinstance(node, ast.Constant)
    value = node.value
    assert value is None or isinstance(value, str | int | float), "checked when it was made"
    return value
