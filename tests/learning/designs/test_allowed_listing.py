"""The listing of allowed combinations against filtering all of them."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.tables.parameter import categorical, interval, numeric
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.errors import InputError
from autotune.learning.designs.allowed_listing import (
    LISTED,
    PROGRESS_EVERY,
    listed,
    size_of,
    values_of,
)
from autotune.learning.designs.row_rules import Members

A, B, C = numeric("a", range(5)), numeric("b", [1, 2, 4]), categorical("c", ["x", "y"])


def test_combinations_are_the_product_of_the_numbers_of_values() -> None:
    assert size_of([A, B, C]) == 30
    assert size_of([]) == 1


def test_an_interval_has_no_number_of_values_unless_it_has_no_length() -> None:
    assert size_of([A, interval("t", 0, 1)]) is None
    assert size_of([A, interval("t", 2, 2)]) == 5
    assert values_of(interval("t", 2, 2)) == (2.0,)
    assert values_of(C) == ("x", "y")


def test_without_rules_all_are_allowed_and_the_last_parameter_is_the_fastest() -> None:
    assert listed([A, B, C], []) == tuple(product(range(5), (1, 2, 4), "xy"))
    assert listed([B], []) == ((1,), (2,), (4,))


def test_what_has_an_interval_is_not_listed() -> None:
    assert listed([A, interval("t", 0, 1)], [ParameterConstraint("a > t")]) is None


@settings(max_examples=40)
@given(st.integers(-1, 20), st.integers(-1, 5), st.sampled_from(["x", "y", "z"]))
def test_the_allowed_ones_are_those_that_fulfil_every_rule(
    product_limit: int, sum_limit: int, text: str
) -> None:
    rules = [
        ParameterConstraint(f"a * b <= {product_limit}"),
        ParameterConstraint(f"a + b >= {sum_limit}"),
        ParameterConstraint(f"c != '{text}' or a > 2"),
    ]
    expected = [
        (a, b, c)
        for a, b, c in product(range(5), (1, 2, 4), "xy")
        if a * b <= product_limit and a + b >= sum_limit and (c != text or a > 2)
    ]
    assert listed([A, B, C], rules) == tuple(expected)


def test_a_rule_is_asked_as_soon_as_its_parameters_are_set() -> None:
    """Of 40^4 combinations 780 pairs are left after two parameters, which decides the rest."""
    many = [numeric(name, range(40)) for name in "abcd"]
    rules = [
        ParameterConstraint("a < b"), ParameterConstraint("c == a"), ParameterConstraint("d == b"),
    ]  # fmt: skip
    rows = listed(many, rules)
    assert rows is not None
    assert len(rows) == 40 * 39 // 2
    assert set(rows) == {(a, b, a, b) for a in range(40) for b in range(a + 1, 40)}


def test_too_many_combinations_to_be_looked_at_are_not_listed() -> None:
    many = [numeric(name, range(60)) for name in "abcd"]
    size = size_of(many)
    assert size is not None
    assert size > LISTED
    assert listed(many, [ParameterConstraint("a + b + c + d < 3")]) is None


def test_words_of_progress_come_while_it_lists() -> None:
    words = []
    many = [numeric(name, range(30)) for name in "abc"]
    listed(many, [ParameterConstraint("a < 29")], lambda *told: words.append(told[:2]))
    assert words
    assert [done for _, done in words] == [PROGRESS_EVERY * (k + 1) for k in range(len(words))]
    assert {stage for stage, _ in words} == {"list the allowed combinations"}


# --- where rows are given ---------------------------------------------------------------------


def test_given_rows_are_the_allowed_ones_in_their_order_each_once() -> None:
    rows = ((2, "y"), (0, "x"), (2, "y"))
    assert listed([A, C], [Members(("a", "c"), rows)]) == ((2, "y"), (0, "x"))


def test_given_rows_may_have_their_parameters_in_another_order() -> None:
    assert listed([A, C], [Members(("c", "a"), (("y", 2), ("x", 0)))]) == ((2, "y"), (0, "x"))


def test_given_rows_keep_to_the_domains_and_the_other_rules() -> None:
    rule = Members(("a", "c"), ((7, "x"), (2, "z"), (3, "y"), (1, "y")))
    assert listed([A, C], [rule, ParameterConstraint("a > 1")]) == ((3, "y"),)


def test_given_rows_of_some_parameters_are_a_rule_like_others() -> None:
    rule = Members(("a", "c"), ((2, "y"), (0, "x")))
    assert listed([A, B, C], [rule]) == tuple(
        (a, b, c) for a, b, c in product(range(5), (1, 2, 4), "xy") if (a, c) in rule.rows
    )


def test_a_rule_without_an_answer_names_the_values() -> None:
    with pytest.raises(InputError, match="division by zero for b=1, a=0; "):
        listed([A, B], [ParameterConstraint("b / a > 1")])
