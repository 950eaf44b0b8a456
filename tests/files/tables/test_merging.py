"""Equal rows merged into one, and tables written for other tools."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.tables.parameter import categorical, numeric
from autotune.domain.tables.record import Heading, Record
from autotune.domain.tables.table import MeasurementTable, ParameterRows, Tables
from autotune.errors import InputError
from autotune.files.parsing.faults import Faults
from autotune.files.tables import extrap_text
from autotune.files.tables.merging import inputs, merged
from autotune.files.tables.series import Series
from autotune.files.tables.writers.extrap_writer import to_extrap
from autotune.files.tables.writers.table_csv import to_csv


def refusal(read, *arguments):
    with pytest.raises(InputError) as raised:
        read(*arguments)
    return str(raised.value)


def faulty(read, text, *arguments):
    """The message of a reader for a text."""
    return refusal(lambda: read(text, Faults("f"), *arguments))


# --- merging --------------------------------------------------------------------------------


def records(*times, **more):
    return [Record(place=str(i), settings={}, times=t, **more) for i, t in enumerate(times)]


HEADING = Heading(name="t", where="f", source="f")


def test_equal_rows_are_repetitions_of_one_in_the_order_of_first_sight():
    notes: list[str] = []
    entries = merged([(2,), (1,), (2,)], records((1.0,), (5.0,), (2.0, 3.0)), HEADING, notes)
    assert list(entries) == [(2,), (1,)]
    assert entries[2,].times == (1.0, 2.0, 3.0)
    assert entries[2,].response == 2.0
    assert notes == [
        "1 row repeats the values of another: merged, the times are repetitions of one row"
        " (up to 200 % apart)"
    ]


def test_a_response_that_the_file_gives_is_the_mean_of_what_it_gives():
    heading = Heading(name="t", where="f", source="f", statistic="as given")
    rows = [
        Record(place="1", settings={}, times=(1.0,), location=10.0),
        Record(place="2", settings={}, times=(1.0,), location=20.0),
        Record(place="3", settings={}, times=(1.0, 4.0)),
    ]
    entries = merged([(1,), (1,), (2,)], rows, heading, [])
    assert [entry.response for entry in entries.values()] == [15.0, 2.5]


def test_predictions_of_repetitions_are_averaged_where_there_are_any():
    rows = [
        Record(place=str(i), settings={}, times=(1.0,), predicted=p)
        for i, p in enumerate((1.0, 3.0, math.nan, math.nan))
    ]
    entries = merged([(1,), (1,), (1,), (2,)], rows, HEADING, [])
    table = inputs([numeric("a", [1, 2])], entries)
    assert table.analytical is not None
    assert table.analytical[0] == 2.0
    assert math.isnan(table.analytical[1])
    bare = inputs([numeric("a", [1])], merged([(1,)], records((1.0,)), HEADING, []))
    assert bare.analytical is None


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0.1, 10)), min_size=1, max_size=12))
def test_no_time_is_lost_or_doubled(pairs):
    rows = [(a,) for a, _ in pairs]
    entries = merged(rows, records(*[(t,) for _, t in pairs]), HEADING, [])
    assert sorted(t for entry in entries.values() for t in entry.times) == sorted(
        t for _, t in pairs
    )
    assert list(entries) == list(dict.fromkeys(rows))


# --- writers --------------------------------------------------------------------------------


def table(name="t", part="", statistic="mean", **more):
    parameters = (numeric("p", [2, 4]), categorical("c", ["x", "y"]))
    rows = ParameterRows(parameters=more.pop("parameters", parameters), rows=((2, "x"), (4, "y")))
    return MeasurementTable(
        name=name,
        inputs=rows,
        response=np.array([2.0, 5.0]),
        repetitions=((1.0, 3.0), (5.0,)),
        part=part,
        statistic=statistic,
        **more,
    )


def test_a_table_in_csv_has_a_line_for_each_repetition():
    text = to_csv(table(constants=(("fixed", 7),)))
    assert text == "p,c,fixed,time_s\n2,x,7,1.0\n2,x,7,3.0\n4,y,7,5.0\n"


def test_a_response_that_is_no_mean_stands_for_its_repetitions():
    text = to_csv(table(statistic="as given", unit="", quantity="flops"))
    assert text == "p,c,flops\n2,x,2.0\n4,y,5.0\n"


def test_extra_p_gets_numbers_over_the_same_points():
    rows = ParameterRows(
        parameters=(numeric("p", [2, 4]), numeric("n", [1.5])), rows=((2, 1.5), (4, 1.5))
    )
    first = MeasurementTable(
        name="a", inputs=rows, response=np.array([1.0, 2.0]), part="main", quantity="flops"
    )
    second = MeasurementTable(name="b", inputs=rows, response=np.array([3.0, 4.0]))
    assert to_extrap(Tables(tables=(first, second))) == (
        "PARAMETER p\nPARAMETER n\nPOINTS ( 2 1.5 )\nPOINTS ( 4 1.5 )\n\n"
        "REGION main\nMETRIC flops\nDATA 1.0\nDATA 2.0\n\n"
        "REGION b\nMETRIC time\nDATA 3.0\nDATA 4.0\n"
    )
    (back, other) = extrap_text.series(to_extrap(Tables(tables=(first, second))), Faults("f"))
    assert [r.settings for r in back.records] == [{"p": 2, "n": 1.5}, {"p": 4, "n": 1.5}]
    assert [r.times for r in other.records] == [(3.0,), (4.0,)]


def test_what_extra_p_cannot_hold_is_named_all_at_once():
    names = ["a b", "c", "d", "e", "f"]
    wide = ParameterRows(
        parameters=(*(numeric(n, [1]) for n in names[:4]), categorical("f", ["x"])),
        rows=((1, 1, 1, 1, "x"),),
    )
    first = MeasurementTable(name="a", inputs=wide, response=np.array([1.0]))
    other = MeasurementTable(
        name="b", inputs=ParameterRows(parameters=(numeric("c", [1]),), rows=((1,),)),
        response=np.array([1.0]),
    )  # fmt: skip
    assert refusal(to_extrap, Tables(tables=(first, other))) == (
        "the name 'a b'; expected names without blanks\n"
        "f is categorical; expected numbers: Extra-P has no categories\n"
        "5 parameters; expected at most 4\n"
        "b has other points than a; expected the same points (write them to files of their own)"
    )


def test_a_series_is_named_by_part_and_quantity():
    assert Series(records=(), quantity="flops").name == "flops"
    assert Series(records=(), quantity="flops", part="main").name == "main: flops"


@pytest.mark.parametrize("name", ["<", "{a", "[1]", " <x"])
def test_a_first_name_that_begins_another_format_is_refused(name):
    rows = ParameterRows(parameters=(numeric(name, [1, 2]),), rows=((1,), (2,)))
    written = MeasurementTable(name="t", inputs=rows, response=np.array([1.0, 2.0]))
    fault = f"t: the first name, {name!r}, which begins another format; expected another name"
    assert fault in refusal(to_csv, written)
