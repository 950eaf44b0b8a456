"""Points of a design with every combination of the other parameters."""

import pytest

from autotune.domain.tables.parameter import categorical, interval, numeric
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.errors import InputError
from autotune.learning.designs.crossed import crossed
from autotune.learning.designs.design_domain import Domain

A, B, C = numeric("a", range(5)), numeric("b", [1, 2]), categorical("c", ["x", "y"])


def test_every_point_comes_with_every_combination_in_the_order_of_the_parameters() -> None:
    rows = crossed(Domain(parameters=(C, A, B)), [1], [(0,), (4,)])
    assert rows == [(c, a, b) for c in "xy" for b in (1, 2) for a in (0, 4)]


def test_a_design_of_all_parameters_stays_as_it_is() -> None:
    points = [(3, 1), (0, 2)]
    assert crossed(Domain(parameters=(A, B)), [0, 1], points) == points


def test_the_places_of_a_point_are_those_that_are_named() -> None:
    assert crossed(Domain(parameters=(A, B)), [1, 0], [(2, 4)]) == [(4, 2)]


def test_combinations_that_no_allowed_row_has_are_left_out() -> None:
    """x is allowed with b = 2 only; a point may be forbidden all the same."""
    domain = Domain(parameters=(A, B, C), rules=(ParameterConstraint("c == 'y' or b == 2"),))
    assert crossed(domain, [0], [(1,)]) == [(1, 1, "y"), (1, 2, "x"), (1, 2, "y")]


def test_where_the_allowed_are_not_listed_all_combinations_are_taken() -> None:
    domain = Domain(parameters=(interval("t", 0, 1), B, C), rules=(ParameterConstraint("t < b"),))
    rows = crossed(domain, [0], [(0.5,)])
    assert sorted(rows) == [(0.5, b, c) for b in (1, 2) for c in "xy"]


def test_parameters_of_one_value_are_set_to_it() -> None:
    assert crossed(Domain(parameters=(numeric("n", [7]), A)), [1], [(2,)]) == [(7, 2)]


def test_more_rows_than_a_design_may_have_are_refused() -> None:
    others = [numeric(f"p{k}", range(100)) for k in range(3)]
    domain = Domain(parameters=(A, numeric("n", [7]), *others))
    with pytest.raises(InputError) as error:
        crossed(domain, [0], [(1,), (2,)])
    assert str(error.value) == (
        "parameters: 2 points for each combination of p0, p1, p2 are 2000000 rows;"
        " expected at most 1000000"
        " (a Plackett-Burman, Sobol, random or D-optimal design needs fewer)"
    )
