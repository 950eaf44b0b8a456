"""The performance model normal form as a model: forecasts, warnings, shares, refusals."""

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest

from autotune.domain.tables.parameter import categorical, numeric
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.errors import InputError
from autotune.learning.models.terms import CONSTANT, log2, power
from autotune.learning.pmnf.pmnf_model import FittedPmnf, Pmnf

P = (4.0, 8.0, 16.0, 32.0, 64.0)


def rows_of(*rows: Sequence[float]) -> ParameterRows:
    columns = list(zip(*rows, strict=True))
    return ParameterRows(
        parameters=tuple(numeric("pqr"[k], column) for k, column in enumerate(columns)),
        rows=tuple(tuple(row) for row in rows),
    )


def table(law: Callable[..., float], rows: Sequence[Sequence[float]]) -> MeasurementTable:
    return MeasurementTable(
        name="made", inputs=rows_of(*rows), response=np.array([law(*row) for row in rows])
    )


def fitted(law: Callable[[float], float]) -> FittedPmnf:
    return Pmnf().fit(table(law, [(p,) for p in P]))


def test_a_law_of_one_parameter_is_read_off_its_formula() -> None:
    model = fitted(lambda p: 2.5 + 0.25 * p * math.log2(p))
    assert model.formula == "time = 2.5 + 0.25 * p * log2(p)"
    assert model.terms == {
        CONSTANT: pytest.approx(2.5),
        frozenset({power("p"), log2("p")}): pytest.approx(0.25),
    }


def test_a_law_of_two_parameters_predicts_where_nothing_was_measured() -> None:
    def law(p: float, q: float) -> float:
        return 3 + 2 * math.sqrt(p) * math.log2(q)

    model = Pmnf().fit(table(law, list(product(P, P))))
    asked = [(6.0, 50.0), (128.0, 256.0)]
    forecast = model.predict(rows_of(*asked))
    assert forecast.median == pytest.approx([law(*row) for row in asked], rel=1e-6)
    assert forecast.outside.tolist() == [False, True]


def test_the_share_of_the_only_term_is_everything_and_the_constant_has_none() -> None:
    shares = {term.text: term.influence for term in fitted(lambda p: 5 + p**2).explain().terms}
    assert shares == {"p^2": pytest.approx(1.0), "1": 0.0}


def test_shares_of_independent_terms_are_those_of_their_variances() -> None:
    """p and q of a full grid: the variances of 2 p and of q^2 add up to that of the time."""
    model = Pmnf().fit(table(lambda p, q: 7 + 2 * p + q**2 / 10, list(product(P, P))))
    variances = np.array([np.var(2 * np.array(P)), np.var(np.array(P) ** 2 / 10)])
    first, second = (model.contributions[frozenset({power(*f)})] for f in (("p",), ("q", 2)))
    assert [first, second] == pytest.approx(variances / variances.sum(), rel=1e-3)


def test_what_is_asked_beyond_the_points_is_said_with_what_rivals_say_there() -> None:
    chance = np.random.default_rng(1)
    model = fitted(lambda p: (2 + p) * (1 + 0.02 * chance.normal()))
    forecast = model.predict(rows_of((8.0,), (640.0,), (1.0,)))
    (note,) = forecast.notes
    assert note.startswith("p = 640 is 10 times beyond the points seen (4 to 64): ")
    assert " models that fit them about as well say " in note
    inside = model.predict(rows_of((8.0,)))
    assert inside.notes == ()
    assert forecast.half_width[1] > 2 * inside.half_width[0]


def test_numbers_that_no_power_has_are_not_forecast() -> None:
    forecast = fitted(lambda p: 2 + p).predict(rows_of((8.0,), (0.0,), (-4.0,)))
    assert forecast.median[0] == pytest.approx(10)
    assert np.isnan(forecast.median[1:]).all()
    assert forecast.low[1:].tolist() == [0.0, 0.0]
    assert forecast.high[1:].tolist() == [math.inf, math.inf]
    assert "the model is not above 0 in 2 rows: nothing is said of them" in forecast.notes


def test_a_model_that_falls_to_0_says_nothing_there() -> None:
    forecast = fitted(lambda p: 100 - p).predict(rows_of((32.0,), (640.0,)))
    assert forecast.median[0] == pytest.approx(68, rel=0.1)
    assert math.isnan(forecast.median[1])


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 90.0])
def test_a_level_is_a_share(level: float) -> None:
    with pytest.raises(InputError) as error:
        fitted(lambda p: 2 + p).predict(rows_of((8.0,)), level)
    assert str(error.value) == f"level: {level}; expected a share between 0 and 1"


def test_repetitions_of_a_point_are_one_mean_however_they_are_given() -> None:
    law = {p: (0.98 * p, 1.01 * p, 1.04 * p) for p in P}
    inputs = rows_of(*((p,) for p in P))
    together = MeasurementTable(
        name="made",
        inputs=inputs,
        response=np.array([np.mean(law[p]) for p in P]),
        repetitions=tuple(law[p] for p in P),
    )
    apart = MeasurementTable(
        name="made",
        inputs=rows_of(*((p,) for p in P for _ in range(3))),
        response=np.array([time for p in P for time in law[p]]),
    )
    first, second = (Pmnf().fit(t) for t in (together, apart))
    assert first.terms == second.terms
    asked = rows_of((100.0,))
    assert first.predict(asked).high.tolist() == second.predict(asked).high.tolist()


def test_a_parameter_that_did_not_vary_is_said() -> None:
    model = Pmnf().fit(table(lambda p, q: 2 + p, [(p, 3.0) for p in P]))
    assert model.names == ("p",)
    assert model.explain().notes[0] == "q did not vary in training"


HINT = " (a performance model normal form is about how a time grows with a few numbers)"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [(4.0,), (8.0,), (16.0,), (32.0,)],
            "made: 4 points along p; expected at least 5, all other parameters being equal",
        ),
        (
            [(p, q) for p in P for q in (1.0, 2.0)],
            "made: 2 points along q; expected at least 5, all other parameters being equal",
        ),
        (
            [(p,) for p in (0.0, 1.0, 2.0, 3.0, 4.0)],
            "made: p is not always positive; expected values above 0",
        ),
        ([(4.0,)] * 5, "made: 0 parameters vary; expected one to 3"),
    ],
)
def test_what_it_cannot_be_learned_from_is_refused(
    rows: list[tuple[float, ...]], message: str
) -> None:
    with pytest.raises(InputError) as error:
        Pmnf().fit(table(lambda *_: 1.0, rows))
    assert str(error.value) == message + HINT


def test_categories_and_more_than_three_parameters_are_refused() -> None:
    four = MeasurementTable(
        name="made",
        inputs=ParameterRows(
            parameters=tuple(numeric(name, [1, 2]) for name in "abcd"),
            rows=tuple(product((1, 2), repeat=4)),
        ),
        response=np.ones(16),
    )
    with pytest.raises(InputError) as error:
        Pmnf().fit(four)
    assert str(error.value) == "made: 4 parameters vary; expected one to 3" + HINT
    texts = MeasurementTable(
        name="made",
        source="times.csv",
        inputs=ParameterRows(parameters=(categorical("order", ["x", "y"]),), rows=(("x",), ("y",))),
        response=np.ones(2),
    )
    with pytest.raises(InputError) as error:
        Pmnf().fit(texts)
    assert str(error.value) == (
        "times.csv: order is categorical; expected numeric parameters only" + HINT
    )
