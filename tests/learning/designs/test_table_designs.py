"""Designs whose rows are those of a table."""

import pytest

from autotune.domain.tables.parameter import categorical, numeric
from autotune.domain.tables.table import ParameterRows
from autotune.learning.designs.base import Design
from autotune.learning.designs.table_designs import chosen, members
from autotune.learning.designs.uniform import random

A, C = numeric("a", [1, 2, 4]), categorical("c", ["x", "y"])
INPUTS = ParameterRows(parameters=(A, C), rows=((4, "x"), (1, "x"), (2, "y"), (1, "y")))


def design(*rows: tuple[str, int]) -> Design:
    """A design whose parameters have another order than the table."""
    return Design(kind="random", parameters=(C, A), rows=rows, replicates=(1,) * len(rows))


def test_a_design_finds_its_rows_in_its_order() -> None:
    assert chosen(design(("y", 1), ("x", 4)), INPUTS).tolist() == [3, 0]


def test_a_row_that_the_table_lacks_is_named() -> None:
    with pytest.raises(ValueError, match=r"^the design holds \(2, 'x'\), which is none of 4 rows$"):
        chosen(design(("y", 1), ("x", 2)), INPUTS)


def test_the_rows_of_the_table_are_the_allowed_ones() -> None:
    rule = members(INPUTS)
    assert rule.names == ("a", "c")
    assert rule.holds({"a": 2, "c": "y"})
    assert not rule.holds({"a": 2, "c": "x"})


def test_a_design_of_all_members_is_the_whole_table() -> None:
    everything = random([A, C], [members(INPUTS)], rows=4)
    assert sorted(chosen(everything, INPUTS).tolist()) == [0, 1, 2, 3]


def test_of_rows_that_are_in_the_table_twice_the_later_is_taken() -> None:
    twice = ParameterRows(parameters=(A, C), rows=((1, "x"), (2, "y"), (1, "x")))
    assert chosen(design(("x", 1)), twice).tolist() == [2]
