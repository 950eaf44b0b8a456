"""What each column of measurements is, by its name; both readers of CSV agree on it."""

import pytest

from autotune.files.parsing import column_roles
from autotune.files.parsing.faults import Faults
from autotune.files.recorded import csv_table, read_recorded
from autotune.files.tables import csv_columns
from autotune.files.tables.read_table import read_one
from autotune.files.tables.series import Columns

COMMAS = "tile,order,predicted,time_ms\n8,ijk,1.1,1.0\n16,ijk,0.9,0.8\n8,kij,1.4,1.3\n"
SEMICOLONS = COMMAS.replace(",", ";").replace(".", ",")


def roles(header, **named):
    table = column_roles.DelimitedLines(header.split(","), [], False, [])
    return column_roles.roles_of(table, Faults("f"), **named)


@pytest.mark.parametrize(
    ("header", "parameters", "response", "predicted", "status"),
    [
        ("tile,time_ms", ["tile"], "time_ms", None, None),
        ("tile,predicted,status,time", ["tile"], "time", "predicted", "status"),
        ("tile,predicted_s,predicted,time", ["tile", "predicted"], "time", "predicted_s", None),
        ("tile,predicted_ms,time", ["tile"], "time", "predicted_ms", None),
        ("tile,time,status", ["tile"], "time", None, "status"),
        ("tile,wall_time2,wall_time", ["tile"], "wall_time", None, None),
    ],
)
def test_every_column_has_a_role(header, parameters, response, predicted, status):
    named = roles(header)
    assert list(named.parameters) == parameters
    assert (named.responses, named.predicted, named.status) == ((response,), predicted, status)


def test_a_response_that_is_named_like_a_prediction_is_measured():
    named = roles("tile,predicted_ms,time", response="predicted_ms")
    assert (named.responses, named.predicted) == (("predicted_ms",), None)


@pytest.mark.parametrize(
    "text",
    [
        COMMAS,
        SEMICOLONS,
        "\ufeff" + SEMICOLONS,
        COMMAS.replace(",", "\t"),
        COMMAS.replace("predicted", "predicted_ms"),
        "tile,order,status,predicted,time_ms\n"
        "8,ijk,ok,1.1,1.0\n16,ijk,,0.9,0.8\n8,kij,ok,1.4,1.3\n",
        "tile,time_2,order,predicted,time_ms\n8,7,ijk,1.1,1.0\n16,7,ijk,0.9,0.8\n8,9,kij,1.4,1.3\n",
        ",tile,order,predicted,time_ms\n0,8,ijk,1.1,1.0\n1,16,ijk,0.9,0.8\n2,8,kij,1.4,1.3\n",
    ],
    ids=["commas", "semicolons", "mark", "tabs", "unit", "status", "twin", "index"],
)
def test_a_table_to_learn_from_and_a_recorded_space_are_the_same(text, tmp_path):
    path = tmp_path / "b.csv"
    path.write_text(text, encoding="utf-8")
    table, space = read_one(path), read_recorded.read(path)
    assert table.inputs.names == space.names == ("tile", "order")
    assert tuple(table.inputs.rows) == space.rows == ((8, "ijk"), (16, "ijk"), (8, "kij"))
    assert table.response.tolist() == space.seconds.tolist() == pytest.approx([1e-3, 8e-4, 1.3e-3])
    assert table.inputs.analytical.tolist() == space.predicted.tolist()
    assert space.predicted.tolist() == pytest.approx([1.1e-3, 9e-4, 1.4e-3])
    assert table.unit == space.unit == "s"


@pytest.mark.parametrize("title", ["ms", "time_ms", "time", "GFLOPS", "Time [us]", "seconds"])
def test_both_readers_find_the_same_unit(title):
    text = f"tile,{title}\n8,2\n"
    (series,) = csv_columns.series(text, Faults("f"), None, Columns(), {})
    table = csv_table.candidate_rows(text, Faults("f"))
    assert series.unit == table.unit
    assert series.records[0].times == (table.rows[0].seconds,)


def test_what_was_left_out_of_a_recorded_space_is_named(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text(",tile,time2_s,time_s\n0,8,5,1\n1,16,5,2\n", encoding="utf-8")
    space = read_recorded.read(path)
    assert space.names == ("tile",)
    assert space.source.endswith(
        "(CSV; column 1 has no name: taken as an index and left out;"
        " time2_s: named like the response time_s, so left out)"
    )


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("tile", ""), ("status", "the status of a run"), ("predicted", "an analytical prediction"),
        ("parameter:x", "a column of autotune export"), ("8", "a number"),
        ("predicted_ms", "an analytical prediction"),
        ("Time 2", "a twin of the response"), ("times", ""),
    ],
)  # fmt: skip
def test_names_that_are_read_as_something_else(name, meaning):
    assert column_roles.taken_for(name, "time_s") == meaning


def test_a_table_of_ours_is_told_by_its_header():
    assert column_roles.is_exported('\ufeff"problem",parameter:tile,time_s\r\n')
    assert column_roles.is_exported("problem;parameter:tile;time_s\n")
    assert not column_roles.is_exported("problem,tile\nparameter:x,1\n")
