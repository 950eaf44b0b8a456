"""CSV of any tool, T4 and Kernel Tuner results: what is a parameter, what was measured."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.tables.table import MeasurementTable
from autotune.errors import InputError
from autotune.files.parsing import separated_values, text_content
from autotune.files.tables import Columns, read, read_one, read_table

DATA = Path(__file__).parents[4] / "shared" / "data"
PLAIN = "n,flags,time_ms\n8,-O2,1\n16,-O3,2\n8,-O3,4\n"


def write(tmp_path: Path, text: str, name: str = "m.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def one(tmp_path: Path, text: str, **options: object) -> MeasurementTable:
    return read_one(write(tmp_path, text), **options)


def test_the_last_column_is_the_response_and_its_title_states_the_unit(tmp_path: Path) -> None:
    table = one(tmp_path, PLAIN)
    assert table.inputs.names == ("n", "flags")
    assert table.inputs.rows == ((8, "-O2"), (16, "-O3"), (8, "-O3"))
    np.testing.assert_allclose(table.response, [1e-3, 2e-3, 4e-3])
    assert (table.quantity, table.unit, table.name) == ("time", "s", "m")
    assert table.treated == ()


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_leave_the_comma_to_decimals(tmp_path: Path, separator: str) -> None:
    text = "x,y,performance\n0.5,1,2.5\n1.5,2,3\n".replace(",", separator).replace(".", ",")
    table = one(tmp_path, text)
    assert table.inputs.rows == ((0.5, 1), (1.5, 2))
    np.testing.assert_allclose(table.response, [2.5, 3.0])
    assert table.unit == ""


def test_a_response_may_be_named_with_or_without_its_unit(tmp_path: Path) -> None:
    text = "n,energy,time_us,m\n8,3,1,5\n16,4,2,6\n"
    for name in ("time_us", "time"):
        table = one(tmp_path, text, response=name, wanted=Columns(without=("energy",)))
        assert table.inputs.names == ("n", "m")
        assert table.treated == ("left out as asked: energy",)
    with pytest.raises(InputError, match=r"unknown column 'tine'.*did you mean time_us"):
        one(tmp_path, text, response="tine")
    with pytest.raises(InputError, match="unknown column 'x'"):
        one(tmp_path, text, wanted=Columns(without=("x",)))


def test_what_was_measured_with_the_response_is_no_parameter(tmp_path: Path) -> None:
    text = "n,wall_time2,wall_time\n8,3.5,1\n16,4.5,2\n"
    table = one(tmp_path, text)
    assert table.inputs.names == ("n",)
    assert table.treated == ("wall_time2: named like the response wall_time, so left out",)


def test_an_index_that_the_header_does_not_name_is_left_out(tmp_path: Path) -> None:
    table = one(tmp_path, "n,m,time\n17,8,1,1.5\n4,16,2,2.5\n")
    assert table.inputs.rows == ((8, 1), (16, 2))
    assert "column 1 has no name" in table.treated[0]
    table = one(tmp_path, ",n,m,time\n17,8,1,1.5\n4,16,2,2.5\n")
    assert table.inputs.rows == ((8, 1), (16, 2))


def test_an_analytical_model_stands_beside(tmp_path: Path) -> None:
    text = "n,predicted_s,time_ms\n8,0.001,1\n16,,2\n32,0.004,5\n"
    table = one(tmp_path, text)
    assert table.inputs.names == ("n",)
    np.testing.assert_allclose(table.inputs.analytical, [1e-3, np.nan, 4e-3])
    named = one(tmp_path, text.replace("predicted_s", "ecm"), wanted=Columns(analytical="ecm"))
    assert named.inputs.analytical is not None
    # a column without a unit is in the unit of the response
    np.testing.assert_allclose(named.inputs.analytical[0], 1e-6)


def test_numbers_may_be_codes_of_categories(tmp_path: Path) -> None:
    text = "n,solver,time\n8,0,1\n16,3,2\n32,0,4\n"
    table = one(tmp_path, text, wanted=Columns(categories=("solver",)))
    assert table.inputs.parameter("solver").values == ("0", "3")
    assert table.inputs.parameter("n").numeric
    with pytest.raises(InputError, match=r"unknown parameter 'slover'.*did you mean solver"):
        one(tmp_path, text, wanted=Columns(categories=("slover",)))


def test_failures_missing_values_and_repetitions_are_said(tmp_path: Path) -> None:
    text = (
        "n,m,status,time\n8,1,ok,1\n8,1,ok,2\n16,1,crashed,\n16,2,ok,\n32,,ok,3\n32,2,ok,fast\n"
        "64,1,ok,-1\n64,2,ok,8\n"
    )
    table = one(tmp_path, text)
    assert table.inputs.rows == ((8, 1), (64, 2))
    assert table.repetitions == ((1.0, 2.0), (8.0,))
    said = "\n".join(table.treated)
    assert "1 row that is not ok left out: line 4 (crashed)" in said
    assert "3 rows without a positive, finite time left out: line 5 (empty)" in said
    assert "line 7 (fast), line 8 (-1)" in said
    assert "1 row with a missing value left out: line 6 (m)" in said
    assert "1 row repeats the values of another" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("n,time\n", "no rows"),
        ("time\n1\n", "columns: time; expected parameters"),
        ("1,2\n3,4\n", "no header"),
        ("n,n,time\n1,2,3\n", "two columns named n"),
        ("n,m,time\n1,2,3\n1,2\n", r"m.csv:3: 2 values; expected 3, as the header"),
        ('n,time\n1,"2\n', "not CSV"),
        ("n,time\n1,nan\n2,0\n3,inf\n", "3 rows without a positive, finite time"),
        ("n,time\n1,2\n1,3\n", "the same values in every row; expected a parameter"),
        ("n,status,time\n1,crashed,\n", "1 row that is not ok"),
    ],
)
def test_wrong_files_say_where_and_what(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        one(tmp_path, text)


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "none.csv")
    with pytest.raises(InputError, match="a folder"):
        read(tmp_path)
    binary = tmp_path / "b.csv"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not text in UTF-8"):
        read(binary)
    packed = tmp_path / "p.csv.gz"
    packed.write_bytes(gzip.compress(PLAIN.encode())[:-9])
    with pytest.raises(InputError, match="cut off or damaged"):
        read(packed)


def test_giant_files_are_refused_before_they_are_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_table, "LARGEST", 1 << 20)
    bomb = tmp_path / "bomb.csv.gz"
    bomb.write_bytes(gzip.compress(b"n,time\n" + b"1,2\n" * (1 << 19)))
    assert bomb.stat().st_size < 1 << 20
    with pytest.raises(InputError, match="too large; expected at most 1 MiB, unpacked"):
        read(bomb)
    large = write(tmp_path, "n,time\n" + "1,2\n" * (1 << 18) * 2)
    with pytest.raises(InputError, match="too large"):
        read(large)
    assert text_content.LARGEST >= read_table.LARGEST


def test_too_many_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separated_values, "_MOST_ROWS", 2)
    with pytest.raises(InputError, match=r"more than 2 rows or .* values; expected a random part"):
        one(tmp_path, PLAIN)


def test_gzipped_and_forced_formats(tmp_path: Path) -> None:
    packed = tmp_path / "m.csv.gz"
    packed.write_bytes(gzip.compress(PLAIN.encode()))
    assert read_one(packed).name == "m"
    with pytest.raises(InputError, match="not well-formed XML"):
        one(tmp_path, PLAIN, format="spl-conqueror")
    with pytest.raises(InputError, match="unknown statistic 'maen'"):
        one(tmp_path, PLAIN, statistic="maen")


T4 = {
    "schema_version": "1.0.0",
    "metadata": {"timeunit": "milliseconds"},
    "results": [
        {
            "configuration": {"tile": tile, "vector": tile > 8, "kind": None, "fixed": 1},
            "times": {"runtimes": [tile, tile + 2]},
            "invalidity": "correct" if tile < 64 else "compile",
            "correctness": 1,
            "measurements": [{"name": "time", "value": tile + 1, "unit": ""}],
        }
        for tile in (8, 16, 32, 64)
    ],
}


def test_t4_results_come_with_samples_and_failures(tmp_path: Path) -> None:
    table = read_one(write(tmp_path, json.dumps(T4), "t4.json"))
    assert table.inputs.names == ("tile", "vector")
    assert table.inputs.rows == ((8, 0), (16, 1), (32, 1))
    np.testing.assert_allclose(table.response, [9e-3, 17e-3, 33e-3])
    assert (table.unit, table.statistic) == ("s", "as given")
    assert table.repetitions[0] == pytest.approx((8e-3, 10e-3))
    assert "1 of 4 candidates failed (1 build-failed): left out" in table.treated
    assert ("kind", "none") in table.constants
    with pytest.raises(InputError, match="columns of CSV only"):
        read_one(tmp_path / "t4.json", wanted=Columns(without=("tile",)))


def test_a_kernel_tuner_cache_that_is_still_open(tmp_path: Path) -> None:
    entries = [f'"{n}": {{"n": {n}, "time": {n}.5, "times": [{n}.5]}}' for n in (1, 2, 4)]
    head = '{"device_name": "a", "kernel_name": "k", "problem_size": [1],\n'
    head += '"tune_params_keys": ["n"], "tune_params": {"n": [1, 2, 4]},\n"cache": {\n'
    text = head + ",\n".join(entries) + ","
    assert len(read_one(write(tmp_path, text, "cache.json"))) == 3


numbers = st.one_of(
    st.integers(-(10**6), 10**6), st.floats(allow_nan=False, allow_infinity=False, width=32)
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(numbers, st.sampled_from(["a", "b c", 'd"e', "f,g"]), st.floats(1e-6, 1e6)),
        min_size=2,
        max_size=20,
        unique_by=lambda row: (float(row[0]), row[1]),
    )
)
def test_whatever_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, str, float]]
) -> None:
    from autotune.files.tables.writers import to_csv

    folder = tmp_path_factory.mktemp("round")
    table = made(rows)
    if table is None:
        return
    again = read_one(write(folder, to_csv(table)))
    assert again.inputs.rows == table.inputs.rows
    np.testing.assert_array_equal(again.response, table.response)


def made(rows: list[tuple[float, str, float]]) -> MeasurementTable | None:
    from autotune.files.tables.cleaning import Heading, Record, assemble

    records = [
        Record(place="p", settings={"n": n, "kind": kind}, times=(time,)) for n, kind, time in rows
    ]
    try:
        return assemble(records, Heading(name="t", where="w", source="s", unit="s"))
    except InputError:
        return None


@pytest.mark.skipif(not DATA.is_dir(), reason="optional: the shared data are not here")
def test_the_shared_tables() -> None:
    dune = read_one(DATA / "replay" / "dune.csv")
    assert (len(dune), len(dune.parameters)) == (2304, 9)
    amg = read_one(DATA / "learned" / "amg_stampede2.csv.gz")
    assert "wall_time2" not in amg.inputs.names
    assert amg.inputs.names[0] == "nxP"
    assert any("no name" in note for note in amg.treated)
