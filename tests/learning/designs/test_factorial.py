"""Every allowed combination, in the order that is promised."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.tables.parameter import categorical, interval, numeric
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.errors import InputError
from autotune.learning.designs.factorial import full_factorial
from autotune.learning.designs.row_rules import Members

A, B, C = numeric("a", [1, 2, 8]), numeric("b", [10, 20]), categorical("c", ["x", "y"])


def test_the_last_parameter_is_the_fastest() -> None:
    assert full_factorial([A, B, C]).rows == tuple(product((1, 2, 8), (10, 20), "xy"))


def test_the_first_parameter_is_the_fastest_for_spl_conqueror() -> None:
    design = full_factorial([A, B, C], compatibility="spl-conqueror")
    assert design.rows == tuple((a, b, c) for c in "xy" for b in (10, 20) for a in (1, 2, 8))
    assert design.settings == {"compatibility": "spl-conqueror"}


@settings(max_examples=25)
@given(st.integers(5, 200))
def test_it_holds_what_the_constraints_allow_and_nothing_else(limit: int) -> None:
    """Parameters of different components are sorted together all the same."""
    expected = [row for row in product((1, 2, 8), "xy", (10, 20)) if int(row[0]) * row[2] <= limit]
    rules = [ParameterConstraint(f"a * b <= {limit}")]
    if not expected:
        with pytest.raises(InputError, match="no combination of the values is allowed"):
            full_factorial([A, C, B], rules)
        return
    design = full_factorial([A, C, B], rules)
    assert design.rows == tuple(expected)
    few = f"{len(expected)} of 12 combinations are allowed"
    assert design.notes == ((few,) if len(expected) < 12 else ())
    assert set(design.replicates) == {1}


def test_the_rows_of_a_table_are_sorted_too() -> None:
    rows = ((8, "y"), (1, "y"), (8, "x"))
    assert full_factorial([A, C], [Members(("a", "c"), rows)]).rows == (
        (1, "y"), (8, "x"), (8, "y"),
    )  # fmt: skip


def test_a_parameter_of_one_value_is_in_every_row() -> None:
    assert full_factorial([numeric("n", [5]), B]).rows == ((5, 10), (5, 20))
    assert full_factorial([interval("t", 2, 2), B]).rows == ((2.0, 10), (2.0, 20))


def test_an_interval_has_no_values_to_combine() -> None:
    with pytest.raises(InputError) as error:
        full_factorial([A, interval("t", 0, 1)])
    assert str(error.value) == (
        "parameter t: any number from 0.0 to 1.0;"
        " expected values: a full factorial design combines them"
        " (list its values, or take another design)"
    )


def test_more_combinations_than_a_design_may_have_are_refused() -> None:
    many = [numeric(f"p{k}", range(101)) for k in range(3)]
    with pytest.raises(InputError) as error:
        full_factorial(many)
    assert str(error.value) == (
        "parameters: 1030301 combinations; expected at most 1000000"
        " (a random, Sobol or D-optimal design takes few of them)"
    )
