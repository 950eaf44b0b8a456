"""Measurements in the text and the JSON of Extra-P: each shape, each mistake with its place."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import InputError
from autotune.files.parsing.faults import Faults
from autotune.files.tables import extrap_json, extrap_text


def refusal(read, *arguments):
    with pytest.raises(InputError) as raised:
        read(*arguments)
    return str(raised.value)


def faulty(read, text, *arguments):
    """The message of a reader for a text."""
    return refusal(lambda: read(text, Faults("f"), *arguments))


def test_the_text_of_extra_p_has_a_series_for_each_region_and_metric():
    text = """\
# made by hand
PARAMETER p n
POINTS ( 2 10 ) ( 4 10 )
REGION main  loop
METRIC time
DATA 1 2 3
DATA 4 5 x
METRIC flops
DATA 7
"""
    time, flops = extrap_text.series(text, Faults("f"))
    assert (time.part, time.quantity, time.name) == ("main loop", "time", "main loop: time")
    assert [r.settings for r in time.records] == [{"p": 2, "n": 10}, {"p": 4, "n": 10}]
    assert [r.place for r in time.records] == ["line 6", "line 7"]
    assert time.records[0].times == (1.0, 2.0, 3.0)
    assert time.records[1].found == "4 5 x"
    assert math.isnan(time.records[1].times[2])
    assert flops.treated == ("the last 1 of 2 point has no DATA: left out",)


@pytest.mark.parametrize("points", ["2 4 8", "(2) (4) (8)", "( 2 )(4)( 8 )", "2\nPOINTS 4 8"])
def test_points_of_one_parameter_need_no_parentheses(points):
    text = f"PARAMETER p\nPOINTS {points}\nDATA 1\nDATA 2\nDATA 3\n"
    (series,) = extrap_text.series(text, Faults("f"))
    assert [r.settings["p"] for r in series.records] == [2, 4, 8]
    assert (series.part, series.quantity) == ("", "time")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("PARAMETER p\nPOINT 1\n",
         "f:2: 'POINT'; expected one of PARAMETER, POINTS, REGION, METRIC, DATA"),
        ("PARAMETER p p\nPOINTS (1 2)\nDATA 1\n",
         "f:1: PARAMETER p again; expected each parameter once"),
        ("POINTS 1\n", "f:1: POINTS without a PARAMETER; expected PARAMETER first"),
        ("PARAMETER p\nPOINTS 1\nPARAMETER q\n",
         "f:3: PARAMETER after POINTS; expected all parameters first"),
        ("PARAMETER p q\nPOINTS (1 2) 3\nDATA 1\n",
         "f:2: points (1 2) 3; expected every point between its own parentheses"),
        ("PARAMETER p q\nPOINTS (1) (2 x)\n",
         "f:2: the point (1); expected 2 numbers, one for each parameter\n"
         "f:2: the point (2 x); expected 2 numbers, one for each parameter"),
        ("PARAMETER p\nPOINTS 1\nREGION r\nDATA 1\nDATA 2\n",
         "f:5: DATA line 2 of r; expected 1, one for each of the POINTS"),
        ("PARAMETER p\nDATA 1\n",
         "f:2: DATA line 1 of the program; expected 0, one for each of the POINTS"),
        ("PARAMETER p\nPOINTS 1 2\n",
         "f: no DATA; expected a DATA line for each of the POINTS"),
    ],
)  # fmt: skip
def test_wrong_text_of_extra_p_is_refused_with_its_line(text, fault):
    assert faulty(extrap_text.series, text) == fault


NEW = {
    "parameters": ["p", "n"],
    "measurements": {"main": {"time": [{"point": [2, 1.0], "values": [1, 2.5]}]}},
}


def test_a_json_document_of_extra_p_is_read():
    (series,) = extrap_json.document(NEW, Faults("f"))
    assert series.name == "main: time"
    (record,) = series.records
    assert (record.place, record.settings, record.times) == (
        "measurements.main.time[0]", {"p": 2, "n": 1}, (1.0, 2.5),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"parameters": "p"}, "f: keys parameters, measurements; expected parameters"
         " (a list of names) and measurements (an object)"),
        ({"parameters": ["p", "p"]},
         'f:parameters: ["p", "p"]; expected a list of names, each once'),
        ({"parameters": [1]}, "f:parameters: [1]; expected a list of names, each once"),
        ({"measurements": {}}, "f: no measurement; expected at least one point with a value"),
        ({"measurements": {"main": []}}, "f:measurements.main: list; expected an object"),
        ({"measurements": {"main": {"time": {}}}},
         "f:measurements.main.time: dict; expected a list"),
        ({"measurements": {"main": {"time": [5]}}},
         "f:measurements.main.time[0]: int; expected an object"),
        ({"measurements": {"main": {"time": [{"point": [2], "values": [1]}]}}},
         "f:measurements.main.time[0]: keys point, values; expected point (2 numbers) and values"),
        ({"measurements": {"main": {"time": [{"point": [2, 1], "value": 1}]}}},
         "f:measurements.main.time[0]: keys point, value; expected point (2 numbers) and values"),
    ],
)  # fmt: skip
def test_a_wrong_document_of_extra_p_is_refused_with_its_place(change, fault):
    assert faulty(extrap_json.document, {**NEW, **change}) == fault


def old(**change):
    return {
        "parameters": [{"id": 1, "name": "p"}, {"id": "b", "name": "n"}],
        "callpaths": [{"id": 1, "name": "main"}],
        "metrics": [{"id": 1, "name": "time"}],
        "coordinates": [
            {"id": i, "parameter_value_pairs": [
                {"parameter_id": 1, "parameter_value": str(p)},
                {"parameter_id": "b", "parameter_value": 10},
            ]}
            for i, p in ((7, 2), (8, 4))
        ],
        "measurements": [
            {"coordinate_id": c, "callpath_id": 1, "metric_id": 1, "value": v}
            for c, v in ((7, "1.5"), (8, 4), (7, 2))
        ],
    } | change  # fmt: skip


def test_the_old_document_gathers_the_repetitions_of_a_point():
    (series,) = extrap_json.document(old(), Faults("f"))
    assert [(r.settings, r.times) for r in series.records] == [
        ({"p": 2, "n": 10}, (1.5, 2.0)), ({"p": 4, "n": 10}, (4.0,)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"metrics": []}, "f:metrics: nothing; expected at least one, with id and name"),
        ({"metrics": 5}, "f:metrics: int; expected a list"),
        ({"metrics": [{"id": 1, "name": 5}]},
         "f:metrics[0]: the name 5; expected text, each name once"),
        ({"metrics": [{"id": 1, "name": "a"}, {"id": 2, "name": "a"}]},
         "f:metrics[1]: the name 'a'; expected text, each name once"),
        ({"metrics": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}]},
         "f:metrics[1]: the id 1 again; expected each id once"),
        ({"coordinates": [{"id": 1, "parameter_value_pairs": [{"parameter_id": 9}]}]},
         "f:coordinates[0]: an unknown parameter_id; expected the id of a parameter, each once"),
        ({"coordinates": [{"id": 1, "parameter_value_pairs": [{"parameter_id": 1}] * 2}]},
         "f:coordinates[0]: p twice; expected the id of a parameter, each once"),
        ({"measurements": [{"coordinate_id": 7, "callpath_id": 1, "metric_id": 5, "value": 1}]},
         "f:measurements[0]: an unknown id; expected ids of a coordinate, a call path and a"
         " metric"),
    ],
)  # fmt: skip
def test_a_wrong_old_document_is_refused_with_its_place(change, fault):
    assert faulty(extrap_json.document, old(**change)) == fault


def test_an_object_on_each_line():
    text = (
        '{"params": {"p": 2}, "value": 1}\n\n'
        '{"params": {"p": 2}, "value": "3", "callpath": "main", "metric": "flops"}\n'
        '{"params": {"p": 4}, "value": null}\n'
    )
    whole, part = extrap_json.lines(text, "json-lines", Faults("f"))
    assert (whole.name, part.name) == ("time", "main: flops")
    assert [r.place for r in whole.records] == ["line 1", "line 4"]
    assert part.records[0].times == (3.0,)
    assert whole.records[1].found == "[null]"


def test_talpas_writes_semicolons_for_commas_but_not_inside_of_text():
    line = '{"parameters": {"p": 2; "q": "a;b\\";c"}; "metric": "t"; "value": 1}'
    parsed = extrap_json.parse_line(line, "talpas", Faults("f"))
    assert parsed == {"parameters": {"p": 2, "q": 'a;b";c'}, "metric": "t", "value": 1}
    assert extrap_json.parse_line(line, "json-lines", Faults("f")) is None
    assert extrap_json.parse_line("[1]", "talpas", Faults("f")) is None


def test_wrong_lines_of_json_are_all_named():
    text = '{"params": {"p": 2}, "value": 1}\nnothing\n{"params": 5, "value": 1}\n{"params": {}}\n'
    assert refusal(extrap_json.lines, text, "json-lines", Faults("f")) == (
        "f:2: 'nothing'; expected a JSON object on each line\n"
        "f:3: keys params, value; expected params (an object) and value\n"
        "f:4: keys params; expected params (an object) and value"
    )


@given(st.dictionaries(st.text('abc;"\\{}', min_size=1, max_size=4), st.integers(), max_size=3))
def test_talpas_is_json_with_other_separators(settings):
    line = json.dumps({"parameters": settings, "value": 1}, separators=(";", ":"))
    parsed = extrap_json.parse_line(line, "talpas", Faults("f"))
    assert parsed == {"parameters": settings, "value": 1}
