"""Conditions: what they give, what they refuse in words, and that nothing is ever evaluated."""

import contextlib
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.language.condition_bounds import BoundedCondition, among
from autotune.language.constraint import Condition, alike

VALUES = {"a": 8, "b": 0.5, "kind": "static", "fast": True, "u": None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a * a - 1", 63),
        ("a // 3 + a % 3", 4),
        ("-a + +1", -7),
        ("2 ** 0.5", math.sqrt(2)),
        ("min(a, 3, b) + max(a, 1)", 8.5),
        ("ceil(b) + floor(b) + abs(-1)", 2),
        ("sqrt(4) + exp(0) + log(1) + log2(a)", 6),
        ("a if fast else b", 8),
        ("kind", "static"),
    ],
)
def test_expressions_give_values(text: str, expected: object) -> None:
    assert Condition(text).value(VALUES) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4 <= a < 9 != b", True),
        ("a in (1, 8) and kind not in ('guided', 'dynamic')", True),
        ("fast == true and u == null", True),
        ("fast == 1", False),
        ("a == 8.0", True),
        ("u != null and u < 3", False),
        ("not fast or kind == 'static'", True),
    ],
)
def test_conditions_hold_or_not(text: str, expected: bool) -> None:
    assert Condition(text).holds(VALUES) is expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("u < 3", "'u' is None, not a number"),
        ("kind < 'x'", "'kind' is 'static', not a number"),
        ("a and fast", "'a' is 8, neither true nor false"),
        ("a + 1", "is 9, neither true nor false"),
        ("c < 1", "unknown name 'c'"),
        ("a / 0 < 1", "division by zero"),
        ("a ** 65 < 1", "an exponent must be from -64 to 64"),
        ("9 ** 9 ** 9 ** 9 < 1", "'9 ** 9 ** 9': an exponent must be from -64 to 64"),
        ("10 ** 10 ** 8 < 1", "an exponent must be from -64 to 64"),
        ("(((9 ** 64) ** 64) ** 64) ** 64 < 1", "'9 ** 64' is too large"),
        ("'a' * 1000000000 == 'b'", "is 'a', not a number"),
        ("(a * 1e17) ** 64 < 1", "out of range"),
        ("(a * 10 ** 17) ** 64 < 1", "too large, or not a number"),
        ("(-1) ** b < 1", "too large, or not a number"),
        ("log(0) < 1", "'log(0)'"),
        ("exp(1e6) < 1", "range"),
    ],
)
def test_what_gives_no_answer_says_why(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        Condition(text).holds(VALUES)


@pytest.mark.parametrize(
    "text",
    [
        *("", "a <", "a = 1", "a; b", "lambda: 1", "[x for x in a]", "f'{a}'", "a.b", "a[0]"),
        *("open('x')", "__import__('os')", "min()", "sqrt(1, 2)", "max(*a)", "b'x'", "1j", "..."),
        *("a in 3", "(x := 1)", "a < " + "1" * 30, "1e400", "-" * 60 + "a", "a + " * 20_000 + "a"),
        *("(" * 500 + "a" + ")" * 500, "lambda: " + "-" * 1900 + "a", "a\0"),
        *("1 << 1000000000", "1 >> a", "a" * 60_000),
    ],
)
def test_all_else_is_refused_when_it_is_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Condition(text)


@pytest.mark.parametrize("operator", ["+", "-", "*", "and", "or"])
def test_a_chain_is_one_level_however_long(operator: str) -> None:
    term = "a" if operator in "+-*" else "a == 8"
    text = f" {operator} ".join([term] * 500)
    expected = {"+": 500 * 8, "-": -498 * 8, "*": 1, "and": True, "or": True}[operator]
    values = VALUES if operator != "*" else {"a": 1}
    assert Condition(text).value(values) == expected
    assert BoundedCondition(Condition(f"({text}) == {str(expected).lower()}")).decided(
        {"a": among((values["a"],))}
    )


def test_a_part_of_a_long_chain_is_shown_as_it_is_written_and_cut() -> None:
    text = " + ".join(["a"] * 300)
    with pytest.raises(ValueError, match=r"'a \+ a \+ .* \.\.\.' is 2400, neither true nor false"):
        Condition(text).holds(VALUES)
    with pytest.raises(ValueError, match="the functions are"):
        Condition(f"odd({text})")


def test_names_come_in_reading_order_without_functions_and_words() -> None:
    assert Condition("max(b, a) > 0 and kind == null or a").names == ("b", "a", "kind")


@given(st.text(max_size=40))
def test_any_text_is_a_condition_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        Condition(text).holds(VALUES)


def test_truth_is_no_number() -> None:
    assert alike(2, 2.0)
    assert not alike(True, 1)
    assert alike(None, None)
