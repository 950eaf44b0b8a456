"""Bad rows and columns have a stated treatment, or a clear error: never a silent one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.tables.parameter import numeric
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.domain.tables.table import MeasurementTable, Statistic
from autotune.errors import InputError
from autotune.files.tables.cleaning import Cell, Heading, Record, assemble

GOOD = [({"n": 8, "c": "a"}, 1.0), ({"n": 16, "c": "b"}, 2.0), ({"n": 32, "c": "a"}, 4.0)]


def records(*more: tuple[dict[str, Cell], float]) -> list[Record]:
    return [
        Record(place=f"line {i}", settings=settings, times=(time,))
        for i, (settings, time) in enumerate([*GOOD, *more], 2)
    ]


def made(*more: tuple[dict[str, Cell], float], **heading: object) -> MeasurementTable:
    return assemble(records(*more), Heading(name="t", where="file", source="file", **heading))


def test_good_rows_are_taken_as_they_are() -> None:
    table = made()
    assert table.treated == ()
    assert table.inputs.names == ("n", "c")
    assert table.inputs.parameter("n").values == (8, 16, 32)
    assert table.inputs.parameter("c").values == ("a", "b")
    np.testing.assert_array_equal(table.response, [1, 2, 4])
    assert table.inputs.analytical is None


@pytest.mark.parametrize("time", [0.0, -1.0, math.nan, math.inf])
def test_impossible_times_are_left_out_and_named(time: float) -> None:
    table = made(({"n": 64, "c": "a"}, time))
    assert len(table) == 3
    (note,) = table.treated
    assert "1 row without a positive, finite time left out" in note
    assert f"line 5 ({time:g})" in note


def test_a_column_of_text_where_a_time_should_be_is_quoted() -> None:
    bad = Record(place="line 5", settings={"n": 4, "c": "a"}, times=(math.nan,), found="timeout")
    table = assemble([*records(), bad], Heading(name="t", where="f", source="f"))
    assert "line 5 (timeout)" in table.treated[0]


def test_bad_repetitions_of_a_good_row_are_left_out() -> None:
    times = (1.0, 0.0, 3.0, math.nan, 1e308, 1e-200)  # the squares of the last two are none
    bad = Record(place="line 5", settings={"n": 4, "c": "a"}, times=times)
    table = assemble([*records(), bad], Heading(name="t", where="f", source="f"))
    assert table.repetitions[-1] == (1.0, 3.0)
    assert table.response[-1] == 2.0
    assert (
        "repetitions of a row that are not positive and finite left out: line 5"
        in (table.treated[0])
    )


@pytest.mark.parametrize("cell", [None, math.nan, math.inf, 10**400])
def test_rows_with_a_missing_value_are_left_out(cell: Cell) -> None:
    table = made(({"n": cell, "c": "a"}, 1.0))
    assert len(table) == 3
    assert table.treated == ("1 row with a missing value left out: line 5 (n)",)


def test_many_bad_rows_are_counted_and_the_first_few_named() -> None:
    table = made(*(({"n": 64 + i, "c": "a"}, 0.0) for i in range(10)))
    assert table.treated[0].startswith("10 rows without")
    assert table.treated[0].endswith("line 7 (0) and 7 more")


def test_rows_with_the_same_values_are_repetitions() -> None:
    table = made(({"n": 8.0, "c": "a"}, 3.0), ({"n": 8, "c": "a"}, 2.0))
    assert len(table) == 3
    assert table.repetitions[0] == (1.0, 3.0, 2.0)
    assert table.response[0] == 2.0
    assert "2 rows repeat the values of another" in table.treated[0]
    assert "up to 200 % apart" in table.treated[0]


@pytest.mark.parametrize(
    ("statistic", "expected"), [("mean", 2.0), ("median", 1.5), ("minimum", 1.0)]
)
def test_the_statistic_makes_the_response(statistic: Statistic, expected: float) -> None:
    row = Record(place="line 2", settings={"n": 1}, times=(1.0, 1.0, 2.0, 4.0))
    other = Record(place="line 3", settings={"n": 2}, times=(9.0,))
    heading = Heading(name="t", where="f", source="f", statistic=statistic)
    assert assemble([row, other], heading).response[0] == expected


def test_a_given_response_stands_beside_its_repetitions() -> None:
    row = Record(place="line 2", settings={"n": 1}, times=(1.0, 5.0), location=2.0)
    other = Record(place="line 3", settings={"n": 2}, times=(9.0,))
    heading = Heading(name="t", where="f", source="f", statistic="as given")
    np.testing.assert_array_equal(assemble([row, other], heading).response, [2.0, 9.0])


def test_constant_columns_are_set_aside() -> None:
    rows = [({**s, "fixed": 3, "same": "x"}, t) for s, t in GOOD]
    found = [Record(place="p", settings=s, times=(t,)) for s, t in rows]
    table = assemble(found, Heading(name="t", where="f", source="f"))
    assert table.inputs.names == ("n", "c")
    assert table.constants == (("fixed", 3), ("same", "x"))
    assert table.treated == ("the same in every row, so no parameter: fixed = 3, same = x",)


def test_mixed_columns_are_categorical_and_truth_values_numbers() -> None:
    table = made(({"n": "auto", "c": "a"}, 5.0))
    assert table.inputs.parameter("n").values == ("16", "32", "8", "auto")
    assert "n holds numbers (8) and text ('auto')" in table.treated[0]
    rows = [Record(place="p", settings={"f": f}, times=(1.0,)) for f in (True, False)]
    flags = assemble(rows, Heading(name="t", where="f", source="f"))
    assert flags.inputs.parameter("f").values == (0, 1)


def test_a_model_gives_domains_and_what_lies_outside_is_said() -> None:
    domains = {"n": numeric("n", [8, 16, 64])}
    table = made(domains=domains)
    assert table.inputs.parameter("n") == domains["n"]
    assert table.treated == ("n: not in the domain of the model: 32",)
    stuck = [Record(place="p", settings={"n": 8, "c": c}, times=(1.0,)) for c in "ab"]
    heading = Heading(name="t", where="f", source="f", domains=domains)
    assert assemble(stuck, heading).treated == (
        "n is 8 in every row: nothing can be learnt about it",
    )
    with pytest.raises(InputError, match=r"n is 'auto'.*a number, as the model says"):
        made(({"n": "auto", "c": "a"}, 1.0), domains=domains)


def test_rows_that_break_a_constraint_are_counted() -> None:
    table = made(constraints=(ParameterConstraint("n <= 16"),))
    assert len(table) == 3
    assert table.treated == ("1 row breaks the constraint n <= 16; kept",)
    with pytest.raises(InputError, match="constraint m == 1: unknown name 'm'"):
        made(constraints=(ParameterConstraint("m == 1"),))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no rows"),
        ([({"n": 1}, 0.0), ({"n": 2}, math.nan)], "2 rows without a positive"),
        ([({"n": 1}, 1.0), ({"n": 1}, 2.0)], "the same values in every row"),
        ([({"n": 1}, 1.0), ({"m": 1}, 2.0)], "line 3: no n; expected the parameters of the first"),
        ([({"n": 1}, 1.0), ({"n": 1, "m": 1}, 2.0)], "line 3: also m"),
    ],
)
def test_nothing_to_learn_from_is_an_error(
    rows: list[tuple[dict[str, Cell], float]], said: str
) -> None:
    found = [
        Record(place=f"line {i}", settings=settings, times=(time,))
        for i, (settings, time) in enumerate(rows, 2)
    ]
    with pytest.raises(InputError, match=said):
        assemble(found, Heading(name="t", where="file", source="file"))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-3, 3), st.floats(), st.booleans(), st.just("x")),
            st.floats(),
        ),
        max_size=12,
    )
)
def test_whatever_the_rows_a_table_is_sound_or_an_error_is_raised(
    rows: list[tuple[Cell, float]],
) -> None:
    found = [Record(place="p", settings={"n": n}, times=(time,)) for n, time in rows]
    try:
        table = assemble(found, Heading(name="t", where="f", source="f"))
    except InputError:
        return
    usable = [time for n, time in rows if n is not None and math.isfinite(time) and time > 0]
    assert len(table) <= len(usable)
    assert len(set(table.inputs.rows)) == len(table)
    if sum(map(len, table.repetitions)) < len(rows):
        assert table.treated
