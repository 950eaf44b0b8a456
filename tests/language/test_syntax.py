"""Formulas read as trees, errors with their column, and arithmetic that ends in time."""

import ast
import math
import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.language.syntax import (
    ARITHMETIC,
    COMPARISONS,
    FUNCTIONS,
    ORDER,
    TooLargeError,
    bounded,
    deeper,
    outside,
    parsed,
)

# --- texts ------------------------------------------------------------------------------------


def test_a_formula_is_read_without_the_space_around_it() -> None:
    assert ast.unparse(parsed("  a+ b*2\n", "a formula", 100)) == "a + b * 2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a +", r"'a \+' is not a formula: "),
        ("", "'' is not a formula: "),
        ("a = 1", "'a = 1' is not a formula: "),
        ("a; b", "'a; b' is not a formula: "),
        ("a\0b", r"'a\\x00b' is not a formula: "),
    ],
)
def test_what_is_no_expression_is_refused_with_its_text(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{message}"):
        parsed(text, "a formula", 100)


def test_long_texts_are_refused_unread_and_shown_in_part() -> None:
    assert parsed("1" + "+1" * 49, "a formula", 99)
    with pytest.raises(ValueError, match=r"^a formula has at most 99 characters, not 101$"):
        parsed("1" + "+1" * 50, "a formula", 99)
    with pytest.raises(ValueError, match=rf"^'{'a ' * 100} \.\.\.' is not a formula: "):
        parsed("a " * 400, "a formula", 1000)


def test_brackets_beyond_what_the_parser_takes_are_no_formula() -> None:
    with pytest.raises(ValueError, match="is not a formula"):
        parsed("(" * 3000 + "1" + ")" * 3000, "a formula", 10_000)


def test_an_error_names_the_part_and_where_it_begins() -> None:
    tree = parsed("a + f(b, 2)", "a formula", 100)
    assert isinstance(tree, ast.BinOp)
    assert str(outside(tree.right, "no function of two")) == (
        "'f(b, 2)' (column 5): no function of two"
    )
    assert str(outside(ast.MatMult(), "no such operator")) == (
        "'MatMult' (column 1): no such operator"
    )


# --- depth ------------------------------------------------------------------------------------


def nested(levels: int) -> ast.expr:
    """A name below so many signs."""
    return parsed("-" * levels + "a", "a formula", 1000)


def operands(node: ast.AST) -> Iterator[ast.AST]:
    return (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


@pytest.mark.parametrize("levels", [1, 2, 5, 40])
def test_a_tree_is_deeper_than_one_level_less(levels: int) -> None:
    tree: ast.AST = nested(levels)
    assert deeper(tree, operands, levels - 1)
    assert not deeper(tree, operands, levels)
    assert not deeper(tree, operands, 10 * levels)


def test_the_longest_branch_counts_and_a_wide_tree_is_not_deep() -> None:
    wide: ast.AST = parsed("f(" + ", ".join("a" * 30) + ", -b)", "a formula", 1000)
    assert deeper(wide, operands, 1)
    assert not deeper(wide, operands, 2)


# --- arithmetic -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("symbol", "first", "second", "value"),
    [
        ("+", 2, 3, 5),
        ("-", 2, 3, -1),
        ("*", 2, 3, 6),
        ("/", 1, 4, 0.25),
        ("%", -7, 3, 2),
        ("//", -7, 3, -3),
        ("**", 2, 10, 1024),
        ("**", 2, -1, 0.5),
        ("**", 4, 0.5, 2.0),
        ("**", 1, 10**9, 1),
        ("**", -1, 10**9, 1),
        ("**", 0, 10**9, 0),
    ],
)
def test_operations_are_pythons_within_bounds(
    symbol: str, first: float, second: float, value: float
) -> None:
    assert bounded(symbol, 1e6)(first, second) == value


@pytest.mark.parametrize(
    ("symbol", "first", "second"),
    [
        ("+", 1e6, 1.0),
        ("-", -1e6, 1.0),
        ("*", 1001, 1000),
        ("**", 10, 7),
        ("**", -8, 0.5),  # no real number
        ("**", 9**8, 9**8),
        ("*", 10**3000, 10**3000),
        ("+", math.inf, 1.0),
        ("-", math.inf, math.inf),  # no number at all
    ],
)
def test_results_beyond_the_bound_are_refused(symbol: str, first: float, second: float) -> None:
    with pytest.raises(TooLargeError):
        bounded(symbol, 1e6)(first, second)


def test_divisions_by_zero_and_overflows_are_those_of_python() -> None:
    for symbol in ("/", "//", "%"):
        with pytest.raises(ZeroDivisionError):
            bounded(symbol, 1e6)(1, 0)
    with pytest.raises(ZeroDivisionError):
        bounded("**", 1e6)(0, -1)
    with pytest.raises(OverflowError):
        bounded("**", math.inf)(10.0, 400.0)


def test_a_tower_of_powers_takes_no_time() -> None:
    begin = time.process_time()
    power = bounded("**", math.inf)
    with pytest.raises(TooLargeError):
        power(power(power(9, 8), 8), 99_999)
    assert time.process_time() - begin < 0.1


@settings(max_examples=40, derandomize=True)
@given(
    symbol=st.sampled_from(sorted(ARITHMETIC.values())),
    first=st.integers(-(10**9), 10**9),
    second=st.integers(-30, 30),
)
def test_whole_numbers_are_computed_exactly_or_refused(
    symbol: str, first: int, second: int
) -> None:
    """Against Python's own value where it stays within the bound."""
    largest = 1e30
    try:
        value = bounded(symbol, largest)(first, second)
    except TooLargeError:
        assert abs(eval(f"({first}) {symbol} ({second})")) > largest
    except ZeroDivisionError:
        assert second == 0 or (symbol == "**" and first == 0 > second)
    else:
        assert value == eval(f"({first}) {symbol} ({second})")
        assert abs(value) <= largest


# --- names of operators and functions -------------------------------------------------------------


def test_operators_have_the_symbols_that_python_writes() -> None:
    for kind, symbol in ARITHMETIC.items():
        tree = parsed(f"a {symbol} b", "a formula", 10)
        assert isinstance(tree, ast.BinOp)
        assert isinstance(tree.op, kind)
    for order, symbol in ORDER.items():
        tree = parsed(f"a {symbol} b", "a formula", 10)
        assert isinstance(tree, ast.Compare)
        assert isinstance(tree.ops[0], order)
        assert COMPARISONS[symbol](1, 2) == eval(f"1 {symbol} 2")


def test_functions_are_those_of_one_number() -> None:
    assert {name: round(f(2.25), 4) for name, f in FUNCTIONS.items()} == {
        "abs": 2.25, "ceil": 3, "cos": -0.6282, "exp": 9.4877, "floor": 2, "log": 0.8109,
        "log2": 1.1699, "sin": 0.7781, "sqrt": 1.5, "tan": -1.2386, "tanh": 0.978,
    }  # fmt: skip
    assert all(re.fullmatch("[a-z0-9]+", name) for name in FUNCTIONS)
