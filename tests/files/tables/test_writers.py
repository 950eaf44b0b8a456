"""What is written is read back: by our readers, and as Extra-P describes its text."""

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autotune.domain.tables.table import (
    MeasurementTable,
    ParameterRows,
    Tables,
    categorical,
    numeric,
)
from autotune.errors import InputError
from autotune.files.tables import Columns, read, read_one
from autotune.files.tables.writers import to_csv, to_extrap

POINTS = ((4, 1.5), (8, 1.5), (8, 2.5))
TIMES = ((1.0, 1.5), (2.0, 2.5), (3.0, 4.0))


def table(part: str = "", **changes: object) -> MeasurementTable:
    inputs = ParameterRows(
        parameters=(numeric("p", [4, 8]), numeric("x", [1.5, 2.5])),
        rows=POINTS,
        analytical=np.array([1.0, np.nan, 3.0]),
    )
    values: dict[str, object] = {
        "name": part or "t",
        "inputs": inputs,
        "response": np.array([1.25, 2.25, 3.5]),
        "repetitions": TIMES,
        "part": part,
        "constants": (("fixed", 3),),
    }
    return MeasurementTable(**(values | changes))


def test_csv_has_a_line_for_each_repetition(tmp_path: Path) -> None:
    text = to_csv(table())
    assert text.splitlines()[:3] == [
        "p,x,fixed,predicted_s,time_s",
        "4,1.5,3,1.0,1.0",
        "4,1.5,3,1.0,1.5",
    ]
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    again = read_one(path)
    assert again.inputs.rows == POINTS
    assert again.repetitions == TIMES
    assert again.constants == (("fixed", 3),)
    np.testing.assert_array_equal(again.response, table().response)
    np.testing.assert_array_equal(again.inputs.analytical, table().inputs.analytical)


TEXTS = st.one_of(
    st.sampled_from(["status", "predicted_s", "time_ms", "time2", "a,b", 'q"r', "two words", "é"]),
    st.sampled_from(
        ["nan", "NaN", "null", "none", "inf", "true", "", " a", "-", "1e5", "1.0", "16"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5),
)
NUMBERS = st.one_of(st.integers(-(10**15), 10**15), st.floats(-1e100, 1e100, allow_nan=False))
TIME = st.floats(1e-12, 1e12)


@st.composite
def any_table(draw: st.DrawFn) -> MeasurementTable:
    """Parameters of any name, each of numbers or of texts."""
    names = draw(st.lists(TEXTS.filter(bool), min_size=1, max_size=3, unique=True))
    kinds = [draw(st.sampled_from([NUMBERS, TEXTS])) for _ in names]
    rows = tuple(dict.fromkeys(draw(st.lists(st.tuples(*kinds), min_size=2, max_size=5))))
    columns = [
        (categorical if kind is TEXTS else numeric)(name, [row[place] for row in rows])
        for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    times = tuple(tuple(draw(st.lists(TIME, min_size=1, max_size=3))) for _ in rows)
    said = np.array([draw(st.one_of(TIME, st.just(math.nan))) for _ in rows])
    return MeasurementTable(
        name="t",
        inputs=ParameterRows(parameters=tuple(columns), rows=rows, analytical=said),
        response=np.array([math.fsum(each) / len(each) for each in times]),
        repetitions=times,
    )


@settings(max_examples=150, deadline=None)
@given(any_table())
def test_csv_comes_back_as_it_was_or_is_refused(given_table: MeasurementTable) -> None:
    varying = [len({row[i] for row in given_table.inputs.rows}) > 1
               for i in range(len(given_table.parameters))]  # fmt: skip
    assume(all(varying))
    try:
        text = to_csv(given_table)
    except InputError:  # below
        return
    words = tuple(p.name for p in given_table.parameters if not p.numeric)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_text(text, encoding="utf-8")
        again = read_one(path, wanted=Columns(categories=words))
    assert again.inputs.names == given_table.inputs.names
    assert again.inputs.rows == given_table.inputs.rows
    assert again.repetitions == given_table.repetitions
    said = again.inputs.analytical
    expected = given_table.inputs.analytical
    if said is None:
        assert expected is not None
        assert np.isnan(expected).all()
    else:
        np.testing.assert_array_equal(said, expected)


def test_names_and_values_with_another_meaning_are_refused() -> None:
    def named(name: str, value: str = "x") -> MeasurementTable:
        inputs = ParameterRows(
            parameters=(categorical(name, [value, "y"]),), rows=((value,), ("y",))
        )
        return MeasurementTable(name="t", inputs=inputs, response=np.array([1.0, 2.0]))

    meanings = {
        "status": "the status of a run",
        "predicted_s": "an analytical prediction",
        "time_ms": "a twin of the response",
        "16": "a number",
        "parameter:tile": "a column of autotune export",
    }
    for name, meaning in meanings.items():
        with pytest.raises(InputError, match=f"{name}', which reads as {meaning}"):
            to_csv(named(name))
    for value in ("nan", "", " x", "true", "1.0"):
        with pytest.raises(InputError, match="which reads as another value or as none"):
            to_csv(named("order", value))
    with pytest.raises(InputError, match="semicolons"):
        to_csv(named("a;b;c"))
    assert to_csv(named("order", "none")).startswith("order,time_s")


@pytest.mark.parametrize("quantity", ["ms", "time_ms"])
def test_a_response_without_a_unit_that_reads_as_a_time_is_refused(quantity: str) -> None:
    with pytest.raises(InputError, match=f"response '{quantity}', which reads as time in ms"):
        to_csv(table(quantity=quantity, unit=""))


def test_a_response_that_is_no_mean_is_written_itself(tmp_path: Path) -> None:
    given = table(response=np.array([1.0, 2.0, 3.0]), statistic="as given")
    path = tmp_path / "t.csv"
    path.write_text(to_csv(given), encoding="utf-8")
    np.testing.assert_array_equal(read_one(path).response, [1.0, 2.0, 3.0])


def test_extra_p_text_of_several_parts(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text(to_extrap(Tables(tables=(table("solve"), table("io")))), encoding="utf-8")
    found = read(path)
    assert isinstance(found, Tables)
    assert found.names == ("solve: time", "io: time")
    for each in found:
        assert each.inputs.rows == POINTS
        assert each.repetitions == TIMES


def test_what_extra_p_cannot_hold_is_refused() -> None:
    inputs = ParameterRows(parameters=(categorical("a b", ["x", "y"]),), rows=(("x",), ("y",)))
    words = MeasurementTable(name="t", inputs=inputs, response=np.array([1.0, 2.0]))
    with pytest.raises(InputError, match=r"a b is categorical.*\n.*'a b'; expected names without"):
        to_extrap(words)
    many = ParameterRows(
        parameters=tuple(numeric(f"p{i}", [1, 2]) for i in range(5)), rows=((1,) * 5, (2,) * 5)
    )
    with pytest.raises(InputError, match="5 parameters; expected at most 4"):
        to_extrap(MeasurementTable(name="t", inputs=many, response=np.array([1.0, 2.0])))
    with pytest.raises(InputError, match="io has other points than solve"):
        to_extrap(Tables(tables=(table("solve"), table("io").take([0, 1]))))
