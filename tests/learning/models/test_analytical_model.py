"""The analytical model among the learned ones learns nothing and promises nothing."""

import math

import numpy as np
import pytest

from autotune.domain.tables.parameter import numeric
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.errors import InputError
from autotune.learning.models.analytical_model import Untrained

N = (1, 2, 4, 8)


def table(analytical: list[float] | None) -> MeasurementTable:
    guess = None if analytical is None else np.array(analytical)
    inputs = ParameterRows(
        parameters=(numeric("n", N),), rows=tuple((n,) for n in N), analytical=guess
    )
    return MeasurementTable(name="made", inputs=inputs, response=np.array([9.0, 8.0, 7.0, 6.0]))


def test_it_says_what_the_analytical_model_says_whatever_was_measured() -> None:
    made = table([1.0, 2.0, 4.0, 8.0])
    forecast = Untrained().fit(made).predict(made.inputs)
    assert forecast.median.tolist() == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_its_interval_is_infinite_at_every_level(level: float) -> None:
    made = table([1.0, 2.0, 4.0, 8.0])
    forecast = Untrained().fit(made).predict(made.inputs, level)
    assert forecast.low.tolist() == [0.0] * 4
    assert forecast.high.tolist() == [math.inf] * 4


def test_rows_of_which_it_says_nothing_have_no_median() -> None:
    made = table([1.0, math.nan, -4.0, 0.0])
    forecast = Untrained().fit(made).predict(made.inputs)
    assert forecast.median[0] == 1.0
    assert np.isnan(forecast.median[1:]).all()
    assert forecast.high.tolist() == [math.inf] * 4


def test_rows_outside_of_what_was_measured_are_told() -> None:
    model = Untrained().fit(table([1.0, 2.0, 4.0, 8.0]).take([1, 2]))
    rows = ParameterRows(
        parameters=(numeric("n", N),), rows=((1,), (3,), (8,)), analytical=np.ones(3)
    )
    assert model.predict(rows).outside.tolist() == [True, False, True]


def test_there_is_nothing_to_explain_and_no_formula() -> None:
    model = Untrained().fit(table([1.0, 2.0, 4.0, 8.0]))
    assert model.explain().terms == ()
    assert model.formula is None


@pytest.mark.parametrize(
    ("analytical", "found"),
    [
        (None, "no analytical model"),
        ([math.nan] * 4, "an analytical model that predicts none of 4 rows"),
    ],
)
def test_without_an_analytical_model_there_is_none(
    analytical: list[float] | None, found: str
) -> None:
    with pytest.raises(InputError) as error:
        Untrained().fit(table(analytical))
    assert str(error.value) == (
        f"made: {found}; expected an analytical prediction of the rows to learn from"
        " (ridge, kriging, trees and the pool need none)"
    )


def test_it_may_answer_beyond_the_rows() -> None:
    assert Untrained().extrapolates
    assert Untrained().name == "analytical"
