"""Measurements in CSV: cells, lines, and what each column is taken for."""

import math

import pytest

from autotune.domain.tables.parameter import numeric
from autotune.errors import InputError
from autotune.files.parsing.faults import Faults
from autotune.files.tables import csv_columns
from autotune.files.tables.format_of_text import detect
from autotune.files.tables.series import Columns


def refusal(read, *arguments):
    with pytest.raises(InputError) as raised:
        read(*arguments)
    return str(raised.value)


def faulty(read, text, *arguments):
    """The message of a reader for a text."""
    return refusal(lambda: read(text, Faults("f"), *arguments))


# --- which format ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<results/>", "spl-conqueror"),
        ("  \n<?xml version='1.0'?>", "spl-conqueror"),
        ('{"parameters": ["p"], "measurements": {}}', "extra-p-json"),
        ('{"results": [], "measurements": {}}', "recorded"),
        ('{"cache": {}}', "recorded"),
        ('{"cache": {"8": {"a', "recorded"),
        ("[1]", "recorded"),
        ('{"params": {"p": 1}, "value": 2}', "json-lines"),
        ('{"params": {"p": 1}, "value": 2}\n{"params": {"p": 2}, "value": 2}', "json-lines"),
        ('{"a": 1}\n{"b": 2}', "json-lines"),
        ('{"parameters": {"p": 1}; "value": 2}', "talpas"),
        ("PARAMETER p\nPOINTS 1 2", "extra-p"),
        ("# a remark\n\nPARAMETER p", "extra-p"),
        ("PARAMETER,p\n1,2", "csv"),
        ("DATA;time\n1;2", "csv"),
        ("tile,time\n8,1", "csv"),
        ("\ufefftile,time\n8,1", "csv"),
    ],
)
def test_a_format_is_told_by_its_content(text, kind):
    assert detect(text, Faults("f")) == kind


def test_an_empty_file_has_no_format():
    for text in ("", " \n\t", "\ufeff"):
        message = faulty(detect, text)
        assert message.startswith("f: the file is empty; expected CSV, SPL Conqueror XML, Extra-P")


# --- columns of CSV -------------------------------------------------------------------------


def columns(text, response=None, wanted=None, domains=None):
    return csv_columns.series(text, Faults("f"), response, wanted or Columns(), domains or {})


def test_the_last_column_is_measured_and_the_others_are_set():
    (series,) = columns("tile,flags,time_ms\n8,-O2,2\n16,-O3,\n")
    assert (series.quantity, series.unit, series.name) == ("time", "s", "time")
    good, empty = series.records
    assert (good.place, good.settings, good.times) == (
        "line 2", {"tile": 8, "flags": "-O2"}, (2e-3,),
    )  # fmt: skip
    assert math.isnan(empty.times[0])
    assert empty.found == "empty"


def test_a_text_where_a_time_should_be_is_kept_for_the_message():
    (series,) = columns("tile,time\n8,fast\n")
    assert series.records[0].found == "fast"


def test_rows_that_are_not_ok_are_left_out_and_counted():
    (series,) = columns("a,status,time\n1,ok,1\n2,crashed,\n3,timed-out,\n4,,2\n")
    assert [r.settings["a"] for r in series.records] == [1, 4]
    assert series.treated == (
        "2 rows that are not ok left out: line 3 (crashed), line 4 (timed-out)",
    )
    message = refusal(columns, "a,status,time\n1,crashed,\n")
    assert (
        message == "f: 1 row that is not ok left out: line 2 (crashed); expected a row that is ok"
    )


@pytest.mark.parametrize(
    ("title", "predicted", "value"),
    [
        ("time_ms", "predicted_s", 3.0), ("time_ms", "predicted", 3e-3), ("time", "predicted", 3.0),
        ("time_s", "predicted", 3.0), ("time_s", "predicted_ms", 3e-3), ("ms", "predicted", 3e-3),
    ],
)  # fmt: skip
def test_a_prediction_has_its_own_unit_or_that_of_the_times(title, predicted, value):
    (series,) = columns(f"a,{predicted},{title}\n1,3,2\n2,-1,2\n3,,2\n")
    first, *others = [r.predicted for r in series.records]
    assert first == pytest.approx(value)
    assert all(math.isnan(guess) for guess in others)


def test_a_twin_of_the_response_is_no_parameter():
    (series,) = columns("tile,wall_time2,wall_time\n8,5,1\n")
    assert series.records[0].settings == {"tile": 8}
    assert series.treated == ("wall_time2: named like the response wall_time, so left out",)


def test_columns_may_be_left_out_and_another_be_the_response():
    text = "a,b,time_ms,energy\n1,2,3,4\n"
    (series,) = columns(text, "time", Columns(without=("b",)))
    assert (series.quantity, series.records[0].times) == ("time", (3e-3,))
    assert series.records[0].settings == {"a": 1, "energy": 4}
    assert series.treated == ("left out as asked: b",)


@pytest.mark.parametrize(
    ("text", "response", "without", "fault"),
    [
        ("a,b\n1,2\n", "c", (), "f:1: unknown column 'c'; expected one of a, b"),
        ("tile,b\n1,2\n", None, ("tiel",),
         "f:1: unknown column 'tiel'; expected one of b, tile (did you mean tile?)"),
        ("a,b\n1,2\n", None, ("a",),
         "f:1: no column is a parameter; expected at least one beside the response"),
        ("a,b\n1,2\n", None, ("a", "b"),
         "f:1: no column is left; expected parameters and what was measured"),
    ],
)  # fmt: skip
def test_columns_that_are_not_there_are_named(text, response, without, fault):
    assert refusal(columns, text, response, Columns(without=without)) == fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a,b\n", "f: no rows; expected at least one measurement"),
        ("a,b\n1\n2,3\n4,5,6\n", "f:2: 1 values; expected 2, as the header (cut off?)\n"
         "f:4: 3 values; expected 2, as the header (cut off?)"),
    ],
    ids=range(2),
)  # fmt: skip
def test_lines_of_another_length_are_all_named(text, fault):
    assert refusal(columns, text) == fault


def test_with_a_model_every_other_column_is_measured():
    domains = {"a": numeric("a", [1, 2])}
    series = columns("a,x,y_ms\n1,2,3\n", domains=domains)
    assert [(s.quantity, s.records[0].times) for s in series] == [("x", (2.0,)), ("y", (3e-3,))]
    (only,) = columns("a,x,y_ms\n1,2,3\n", "y", domains=domains)
    assert only.treated == ("x: no option of the model, so left out",)
