"""Rules that rows fulfil, and what they say where they have no answer."""

from collections.abc import Mapping

import pytest

from autotune.domain.tables.parameter import Value
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.errors import InputError
from autotune.learning.designs.row_rules import Members, fulfils

ROWS = ((1, "x"), (2, "y"), (1, "x"))


def test_only_given_rows_are_members_whatever_else_is_set() -> None:
    rule = Members(("a", "c"), ROWS)
    assert rule.holds({"a": 1, "c": "x"})
    assert rule.holds({"c": "y", "a": 2, "b": 9})
    assert not rule.holds({"a": 1, "c": "y"})


def test_whole_numbers_and_floats_of_the_same_size_are_the_same_value() -> None:
    assert Members(("a",), ((1,),)).holds({"a": 1.0})


def test_members_say_how_many_different_rows_they_are() -> None:
    assert str(Members(("a", "c"), ROWS)) == "one of 2 given rows"


@pytest.mark.parametrize(
    ("values", "expected"), [({"a": 2, "b": 3}, True), ({"a": 3, "b": 2}, False)]
)
def test_a_constraint_is_fulfilled_or_not(values: Mapping[str, Value], expected: bool) -> None:
    assert fulfils(ParameterConstraint("a < b"), values) is expected


def test_a_constraint_without_an_answer_is_an_input_error_with_the_values() -> None:
    with pytest.raises(InputError) as error:
        fulfils(ParameterConstraint("a / b > 1"), {"a": 1, "b": 0, "c": 5})
    (fault,) = error.value.faults
    assert fault.where == "constraint a / b > 1"
    assert fault.found.endswith(" for a=1, b=0")
    assert fault.expected == "true or false for all values of the parameters"
    assert isinstance(error.value.__cause__, ValueError)
