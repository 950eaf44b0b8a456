import numpy as np
import pytest
from model_conformance import planted

from autotune.domain.tables.table import MeasurementTable, ParameterRows, categorical, numeric
from autotune.errors import InputError
from autotune.learning.models.encode import Encoder, encoder_of


def columns(*parameters, rows) -> ParameterRows:
    return ParameterRows(parameters=parameters, rows=tuple(rows))


def test_positive_numbers_are_logarithms_and_those_with_zero_too() -> None:
    inputs = columns(
        numeric("n", [2, 8]), numeric("pad", [0, 3]), numeric("shift", [-1, 1]),
        rows=[(2, 0, -1), (8, 3, 1)],
    )  # fmt: skip
    encoder = Encoder.fit(inputs)
    assert [column.text for column in encoder.columns] == ["log2(n)", "log2(1 + pad)", "shift"]
    assert encoder.matrix(inputs).tolist() == [[1, 0, -1], [3, 2, 1]]


def test_a_number_that_no_logarithm_can_take_is_cut_off_and_outside() -> None:
    encoder = Encoder.fit(columns(numeric("n", [2, 8]), rows=[(2,), (8,)]))
    asked = columns(numeric("n", [2, 8]), rows=[(0,), (-3,), (4,)])
    assert np.isfinite(encoder.matrix(asked)).all()
    assert encoder.outside(asked).tolist() == [True, True, False]


def test_an_unseen_category_has_no_column() -> None:
    order = categorical("order", ["a", "b", "c"])
    encoder = Encoder.fit(columns(order, rows=[("a",), ("b",)]))
    assert encoder.matrix(columns(order, rows=[("b",), ("c",)])).tolist() == [[0, 1], [0, 0]]
    assert encoder.freedom() == 1


def test_what_does_not_vary_has_no_column_but_bounds_the_box() -> None:
    inputs = columns(numeric("n", [2, 8]), numeric("m", [1, 2]), rows=[(2, 1), (8, 1)])
    encoder = Encoder.fit(inputs)
    assert encoder.constant == ("m",)
    assert encoder.outside(columns(*inputs.parameters, rows=[(2, 2)])).tolist() == [True]
    assert encoder.unseen(columns(*inputs.parameters, rows=[(2, 2)])) == (
        "m was 1 to 1 in training (1 outside)",
    )


def test_columns_of_a_parameter_are_a_group() -> None:
    encoder = Encoder.fit(planted(40).inputs)
    assert encoder.groups().tolist() == [0, 1, 2, 2, 2]


def test_nothing_that_varies_is_an_error_in_words() -> None:
    inputs = columns(numeric("n", [2, 8]), rows=[(2,), (2,)])
    with pytest.raises(InputError, match="no parameter varies: n"):
        encoder_of(MeasurementTable(name="flat", inputs=inputs, response=np.array([1.0, 2.0])))


def test_texts_that_are_numbers_keep_their_order() -> None:
    tile = categorical("tile", ["none", "16", "64", "256"])
    encoder = Encoder.fit(columns(tile, rows=[("none",), ("16",), ("64",), ("256",)]))
    assert encoder.matrix(columns(tile, rows=[("none",), ("64",)]))[:, -1].tolist() == [6, 6]
    assert encoder.matrix(columns(tile, rows=[("128",)]))[0].tolist() == [0, 0, 0, 0, 7]
    assert encoder.groups().tolist() == [0, 0, 0, 0, 1]
    assert encoder.freedom() == 4
