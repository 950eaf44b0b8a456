"""What is written is read back: by our readers, and as Extra-P describes its text."""

from pathlib import Path

import numpy as np
import pytest

from autotune.errors import InputError
from autotune.learn.readers import read, read_one
from autotune.learn.table import Inputs, Table, Tables, categorical, numeric
from autotune.learn.writers import to_csv, to_extrap

POINTS = ((4, 1.5), (8, 1.5), (8, 2.5))
TIMES = ((1.0, 1.5), (2.0, 2.5), (3.0, 4.0))


def table(part: str = "", **changes: object) -> Table:
    inputs = Inputs(
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
    return Table(**(values | changes))


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
    inputs = Inputs(parameters=(categorical("a b", ["x", "y"]),), rows=(("x",), ("y",)))
    words = Table(name="t", inputs=inputs, response=np.array([1.0, 2.0]))
    with pytest.raises(InputError, match=r"a b is categorical.*\n.*'a b'; expected names without"):
        to_extrap(words)
    many = Inputs(
        parameters=tuple(numeric(f"p{i}", [1, 2]) for i in range(5)), rows=((1,) * 5, (2,) * 5)
    )
    with pytest.raises(InputError, match="5 parameters; expected at most 4"):
        to_extrap(Table(name="t", inputs=many, response=np.array([1.0, 2.0])))
    with pytest.raises(InputError, match="io has other points than solve"):
        to_extrap(Tables(tables=(table("solve"), table("io").take([0, 1]))))
