"""Tables keep what models rely on: checked domains, matching rows, positive finite responses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.domain.tables.table import (
    MeasurementTable,
    Parameter,
    ParameterRows,
    Tables,
    categorical,
    interval,
    is_number,
    location,
    numeric,
)
from autotune.errors import InputError

SIZE = numeric("size", [64, 16, 32, 64])
FLAGS = categorical("flags", ["-O3", "-O2", "-O3"])


def inputs() -> ParameterRows:
    return ParameterRows(
        parameters=(SIZE, FLAGS),
        rows=((16, "-O2"), (32, "-O3"), (32, "-O2"), (64, "-O3")),
        analytical=np.array([1.0, 2.0, np.nan, 4.0]),
    )


def table() -> MeasurementTable:
    times = ((1.0, 1.2), (2.0,), (3.0, 3.0), (4.0,))
    return MeasurementTable(
        name="t", inputs=inputs(), response=np.array([1.1, 2, 3, 4]), repetitions=times
    )


def test_a_domain_is_sorted_and_says_what_it_holds() -> None:
    assert SIZE.values == (16, 32, 64)
    assert (SIZE.low, SIZE.high, SIZE.numeric, SIZE.continuous) == (16.0, 64.0, True, False)
    assert FLAGS.values == ("-O2", "-O3")
    assert 16.0 in SIZE
    assert 17 not in SIZE
    assert True not in numeric("flag", [0, 1])
    assert "-O1" not in FLAGS
    assert 0.3 in interval("x", 0, 1)
    assert interval("x", 0, 1).continuous
    assert numeric("x", [3]).constant
    assert interval("x", 2, 2).constant


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "", "kind": "numeric", "values": (1,)}, "has a name"),
        ({"name": "x", "kind": "numeric", "values": (2, 1)}, "ascend"),
        ({"name": "x", "kind": "numeric", "values": (1, 1)}, "ascend"),
        ({"name": "x", "kind": "numeric", "values": (1, "a")}, "finite numbers"),
        ({"name": "x", "kind": "numeric", "values": (1, True)}, "finite numbers"),
        ({"name": "x", "kind": "numeric", "values": (float("nan"),)}, "finite numbers"),
        ({"name": "x", "kind": "numeric"}, "values, or finite bounds"),
        ({"name": "x", "kind": "numeric", "low": 2.0, "high": 1.0}, "nothing"),
        ({"name": "x", "kind": "categorical", "values": ()}, "at least one"),
        ({"name": "x", "kind": "categorical", "values": ("b", "a")}, "sorted"),
        ({"name": "x", "kind": "categorical", "values": ("a", 1)}, "text"),
    ],
)
def test_a_wrong_domain_is_refused_in_words(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Parameter(**wrong)


def test_numbers_too_large_for_a_float_are_no_numbers() -> None:
    assert is_number(10**300)
    assert not is_number(10**400)
    assert not is_number(float("inf"))
    assert not is_number(True)


def test_inputs_give_columns_by_name() -> None:
    rows = inputs()
    assert rows.names == ("size", "flags")
    np.testing.assert_array_equal(rows.numbers("size"), [16, 32, 32, 64])
    assert rows.texts("flags") == ("-O2", "-O3", "-O2", "-O3")
    assert isinstance(rows.column("size"), np.ndarray)
    assert rows.column("flags") == rows.texts("flags")
    assert rows.values(1) == {"size": 32, "flags": "-O3"}
    with pytest.raises(InputError, match=r"sise.*did you mean size"):
        rows.numbers("sise")
    with pytest.raises(InputError, match="flags is categorical"):
        rows.numbers("flags")


@pytest.mark.parametrize(
    ("rows", "analytical", "said"),
    [
        (((16, "-O2"), (32,)), None, "a value for each"),
        (((16, 3),), None, "flags: 3 is not categorical"),
        ((("16", "-O2"),), None, "'16' is not numeric"),
        (((float("nan"), "-O2"),), None, "not numeric"),
        (((16, "-O2"),), np.array([1.0, 2.0]), "one number for each row"),
        (((16, "-O2"),), np.array([np.inf]), "finite"),
    ],
)
def test_inputs_that_do_not_match_are_refused(
    rows: tuple[tuple[object, ...], ...], analytical: np.ndarray | None, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        ParameterRows(parameters=(SIZE, FLAGS), rows=rows, analytical=analytical)
    with pytest.raises(ValueError, match="same name"):
        ParameterRows(parameters=(SIZE, SIZE), rows=())


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("inf")])
def test_a_response_is_finite_and_positive(wrong: float) -> None:
    with pytest.raises(ValueError, match="finite and positive"):
        MeasurementTable(name="t", inputs=inputs(), response=np.array([1.0, wrong, 1.0, 1.0]))


def test_a_table_takes_rows_with_all_that_belongs_to_them() -> None:
    part = table().take([3, 0])
    assert part.inputs.rows == ((64, "-O3"), (16, "-O2"))
    assert part.repetitions == ((4.0,), (1.0, 1.2))
    np.testing.assert_array_equal(part.inputs.analytical, [4.0, 1.0])
    assert part.parameters == table().parameters  # the domains stay
    masked = table().take(np.array([True, False, False, True]))
    assert masked.inputs.rows == ((16, "-O2"), (64, "-O3"))
    with pytest.raises(ValueError, match="mask"):
        table().take(np.array([True]))


def test_rows_without_repetitions_have_their_response_as_one() -> None:
    plain = MeasurementTable(name="t", inputs=inputs(), response=np.array([1.0, 2, 3, 4]))
    assert plain.repetitions == ((1.0,), (2.0,), (3.0,), (4.0,))


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 3), st.integers(0, 1000))
def test_a_split_is_seeded_and_loses_nothing(count: int, seed: int) -> None:
    train, rest = table().split(count, seed)
    again, _ = table().split(count, seed)
    assert len(train) == count
    assert train.inputs.rows == again.inputs.rows
    assert sorted(train.inputs.rows + rest.inputs.rows) == sorted(inputs().rows)


@pytest.mark.parametrize("count", [0, 4, 5])
def test_a_split_leaves_rows_to_score_on(count: int) -> None:
    with pytest.raises(InputError, match="from 1 to 3"):
        table().split(count)


def test_groups_are_the_rows_of_each_value() -> None:
    found = {value: rows.tolist() for value, rows in table().groups("size").items()}
    assert found == {16: [0], 32: [1, 2], 64: [3]}
    assert list(table().groups("flags")) == ["-O2", "-O3"]


def test_tables_are_found_by_name() -> None:
    both = Tables(tables=(table(),))
    assert both.table("t").name == "t"
    assert [one.name for one in both] == ["t"]
    with pytest.raises(InputError, match="unknown response 'u'"):
        both.table("u")
    with pytest.raises(ValueError, match="same name"):
        Tables(tables=(table(), table()))


def test_locations() -> None:
    assert location([1.0, 2.0, 6.0], "mean") == 3.0
    assert location([1.0, 2.0, 6.0], "median") == 2.0
    assert location([2.0, 1.0], "minimum") == 1.0


def test_a_constraint_takes_names_that_are_no_identifiers_and_fixed_values() -> None:
    rule = ParameterConstraint("a_b * n <= 64 and on == 1", aliases=(("a_b", "a b"),))
    assert rule.names == ("a b", "n", "on")
    assert rule.holds({"a b": 8, "n": 8, "on": 1})
    assert not rule.holds({"a b": 8, "n": 9, "on": 1})
    fixed = rule.fix({"on": 1, "other": 3})
    assert fixed.names == ("a b", "n")
    assert fixed.holds({"a b": 8, "n": 8})
    assert str(rule) == "a b * n <= 64 and on == 1"
    with pytest.raises(ValueError, match="unknown name"):
        rule.holds({"n": 1})
    with pytest.raises(ValueError, match="not a condition"):
        ParameterConstraint("import os")
