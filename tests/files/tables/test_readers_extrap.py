"""The five inputs of Extra-P give the same table; wrong ones say where and what."""

import json
from pathlib import Path

import numpy as np
import pytest

from autotune.domain.tables.table import MeasurementTable, Tables
from autotune.errors import InputError
from autotune.files.tables import read, read_one

DATA = Path(__file__).parents[4] / "shared" / "data" / "learned" / "extrap"
POINTS = [(16, 1), (32, 1), (16, 2), (32, 2)]
TIMES = {
    ("main->solve", "time"): [[1.0, 1.2], [2.0, 2.2], [1.5, 1.5], [3.0, 3.2]],
    ("main->io", "time"): [[0.5, 0.6], [0.5, 0.5], [0.7, 0.8], [0.7, 0.7]],
}

TEXT = """\
# a remark
PARAMETER p
PARAMETER n
POINTS ( 16 1 ) ( 32 1 )
POINTS (16 2)(32 2)

REGION main->solve
METRIC time
DATA 1.0 1.2
DATA 2.0 2.2
DATA 1.5 1.5
DATA 3.0 3.2

REGION main->io
DATA 0.5 0.6
DATA 0.5 0.5
DATA 0.7 0.8
DATA 0.7 0.7
"""


def new_json() -> str:
    tree: dict[str, dict[str, list[object]]] = {}
    for (part, metric), times in TIMES.items():
        points = [{"point": p, "values": v} for p, v in zip(POINTS, times, strict=True)]
        tree.setdefault(part, {})[metric] = points
    return json.dumps({"parameters": ["p", "n"], "measurements": tree}, indent=1)


def old_json() -> str:
    parts = list(dict.fromkeys(part for part, _ in TIMES))
    coordinates = [
        {
            "id": i,
            "parameter_value_pairs": [
                {"parameter_id": 2, "parameter_value": str(n)},
                {"parameter_id": 1, "parameter_value": str(p)},
            ],
        }
        for i, (p, n) in enumerate(POINTS, 1)
    ]
    measurements = [
        {"coordinate_id": i, "callpath_id": parts.index(part) + 1, "metric_id": 1, "value": value}
        for (part, _), times in TIMES.items()
        for i, values in enumerate(times, 1)
        for value in values
    ]
    return json.dumps(
        {
            "parameters": [{"id": 1, "name": "p"}, {"id": 2, "name": "n"}],
            "callpaths": [{"id": i, "name": name} for i, name in enumerate(parts, 1)],
            "metrics": [{"id": 1, "name": "time"}],
            "coordinates": coordinates,
            "measurements": measurements,
        }
    )


def lines(parameters: str) -> str:
    return "\n".join(
        json.dumps(
            {
                parameters: {"p": p, "n": n},
                "callpath": part,
                "metric": metric,
                "value": value,
            }
        )
        for (part, metric), times in TIMES.items()
        for (p, n), values in zip(POINTS, times, strict=True)
        for value in values
    )


def talpas() -> str:
    return lines("parameters").replace(", ", ";")


FILES = {
    "extra-p": ("a.txt", TEXT),
    "extra-p-json": ("a.json", new_json()),
    "old": ("old.json", old_json()),
    "json-lines": ("a.jsonl", lines("params")),
    "talpas": ("talpas.txt", talpas()),
}


def write(tmp_path: Path, text: str, name: str = "a.txt") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", FILES)
def test_every_input_gives_the_same_tables(tmp_path: Path, kind: str) -> None:
    name, text = FILES[kind]
    found = read(write(tmp_path, text, name))
    assert isinstance(found, Tables)
    assert found.names == ("main->solve: time", "main->io: time")
    for table, ((part, metric), times) in zip(found, TIMES.items(), strict=True):
        assert (table.part, table.quantity) == (part, metric)
        values = [table.inputs.values(i) for i in range(len(table))]
        assert [(v["p"], v["n"]) for v in values] == POINTS
        assert [list(each) for each in table.repetitions] == times
        np.testing.assert_allclose(table.response, np.mean(times, axis=1))  # as Extra-P fits


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("response", ["main->io: time", "main->io"])
def test_a_response_is_chosen_by_name(tmp_path: Path, kind: str, response: str) -> None:
    name, text = FILES[kind]
    table = read_one(write(tmp_path, text, name), response=response)
    assert table.part == "main->io"
    with pytest.raises(InputError, match=r"2 responses; expected one of main->solve: time"):
        read_one(write(tmp_path, text, name))
    with pytest.raises(InputError, match=r"no response 'main->i'.*did you mean main->io"):
        read_one(write(tmp_path, text, name), response="main->i")


def test_one_parameter_needs_no_brackets(tmp_path: Path) -> None:
    text = "PARAMETER p\nPOINTS 4 8 16\nDATA 1\nDATA 2 2\nDATA 3\n"
    table = read(write(tmp_path, text))
    assert isinstance(table, MeasurementTable)
    assert table.inputs.rows == ((4,), (8,), (16,))
    assert table.repetitions == ((1.0,), (2.0, 2.0), (3.0,))
    assert (table.part, table.quantity, table.unit) == ("", "time", "")


def test_several_parameters_on_a_line_and_points_without_data(tmp_path: Path) -> None:
    text = "PARAMETER p n\nPOINTS (4 1) (8 1) (8 2)\nMETRIC flops\nDATA 1\nDATA 2\n"
    table = read(write(tmp_path, text))
    assert isinstance(table, MeasurementTable)
    assert table.quantity == "flops"
    assert table.treated[0] == "the last 1 of 3 point has no DATA: left out"
    assert table.constants == (("n", 1),)


def test_a_metric_that_no_model_can_use_is_named(tmp_path: Path) -> None:
    text = TEXT + "\nMETRIC bytes\nDATA 0\nDATA 0\nDATA 0\nDATA 0\n"
    found = read(write(tmp_path, text))
    assert isinstance(found, Tables)
    assert len(found) == 2
    for table in found:
        assert any("main->io: bytes left out: 4 rows without" in note for note in table.treated)


def test_one_json_line_and_defaults(tmp_path: Path) -> None:
    text = '{"params": {"p": 2}, "value": 1.5}\n{"params": {"p": 4}, "value": 2.5}\n\n'
    table = read(write(tmp_path, text, "x.jsonl"))
    assert isinstance(table, MeasurementTable)
    assert (table.part, table.quantity) == ("", "time")
    with pytest.raises(InputError, match="the same values in every row"):
        read(write(tmp_path, text.splitlines()[0], "y.jsonl"))


def test_talpas_keeps_semicolons_inside_of_names(tmp_path: Path) -> None:
    row = '{"parameters": {"p": %d};"callpath": "a;b";"metric": "time";"value": 1.0}'
    table = read(write(tmp_path, f"{row % 2}\n{row % 4}\n"))
    assert isinstance(table, MeasurementTable)
    assert table.part == "a;b"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("PARAMETER p\nPOINTS (4) (x)\nDATA 1\n", r"a.txt:2: the point \(x\); expected 1 numbers"),
        ("PARAMETER p n\nPOINTS (4 1) (4)\nDATA 1\n", r"a.txt:2: the point \(4\); expected 2"),
        ("PARAMETER p\nPOINTS (4)\nDATA 1\nDATA 2\n", "a.txt:4: DATA line 2.*expected 1, one"),
        ("POINTS (4)\nDATA 1\n", "a.txt:1: POINTS without a PARAMETER"),
        ("PARAMETER p\nPOINTS (4)\nDATE 1\n", "a.txt:3: 'DATE'; expected one of PARAMETER"),
        ("PARAMETER p\nPOINTS (4) (8)\n", "no DATA"),
        ("PARAMETER p\nPOINTS (4) (8)\nDATA nan\nDATA 0\n", r"line 3 \(nan\), line 4 \(0\)"),
        ("PARAMETER p\nPOINTS (4) (8)\nDATA a\nDATA b\n", r"line 3 \(a\)"),
    ],
)
def test_wrong_text_says_where_and_what(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"parameters": [], "measurements": {}}', "parameters .a list of names."),
        ('{"parameters": ["p"], "measurements": {}}', "no measurement"),
        ('{"parameters": ["p"], "measurements": {"m": []}}', r"measurements.m: list; .*object"),
        (
            '{"parameters": ["p"], "measurements": {"m": {"t": [{"point": [1, 2], "values": 1}]}}}',
            r"measurements.m.t\[0\]: keys point, values; expected point \(1 numbers\)",
        ),
        ('{"measurements": []}\n{"a": 1}', "a.json:1: keys measurements; expected params"),
        ('{"params": {"p": 1}, "value": 2}\nnonsense', "a.json:2: 'nonsense'|not JSON"),
        ('{"parameters": ["p"], "measurements": {"m": {', "not JSON"),
        ("[1, 2]", "a list at its top"),
        (old_json().replace('"callpath_id": 1', '"callpath_id": 9'), "an unknown id"),
        (old_json().replace('"parameter_id": 2', '"parameter_id": 9'), "unknown parameter_id"),
    ],
)
def test_wrong_json_says_where_and_what(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(write(tmp_path, text, "a.json"))


@pytest.mark.skipif(not DATA.is_dir(), reason="optional: the shared data are not here")
def test_extra_p_s_own_samples() -> None:
    example = read_one(DATA / "input.txt")
    assert example.inputs.rows == ((4,), (8,), (16,), (32,), (64,))
    np.testing.assert_allclose(example.response[0], (8.31 + 8.02 + 8.14) / 3)
    assert len(read_one(DATA / "two_parameter_1.txt")) == 25
    many = read(DATA / "one_parameter_2.txt")
    assert isinstance(many, Tables)
    assert many.names[0] == "main: time"
