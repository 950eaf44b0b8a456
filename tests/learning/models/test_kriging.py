"""Kriging against the dense solution written out, and how it continues beyond the rows."""

import math
from itertools import product

import numpy as np
import pytest
import scipy.special

from autotune.domain.tables.parameter import categorical, numeric
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.learning.models.base import Floats
from autotune.learning.models.encode import Encoder
from autotune.learning.models.kriging import (
    Kriging,
    KrigingHyperparameters,
    ProcessPredictor,
    StandardisedColumns,
    covariance,
)
from autotune.statistics.gaussian_process.grown_posterior import JITTER

N, ORDER = numeric("n", [1, 2, 4, 8, 16, 1024]), categorical("order", ["ijl", "jli", "lij"])
ROWS = tuple(product((1, 2, 4, 8, 16), ("ijl", "jli", "lij")))


def rows(*values: tuple[int, str]) -> ParameterRows:
    return ParameterRows(parameters=(N, ORDER), rows=values)


def law(n: float, order: str) -> float:
    return 0.01 * n**2 * {"ijl": 1.0, "jli": 3.0, "lij": 1.5}[order]


def trained(trend: bool, noise: float = 0.05) -> ProcessPredictor:
    chance = np.random.default_rng(3)
    response = np.array([law(*row) for row in ROWS]) * np.exp(noise * chance.normal(size=15))
    table = MeasurementTable(name="made", inputs=rows(*ROWS), response=response)
    return Kriging(trend=trend).train(table)


def matern52(distance: Floats) -> Floats:
    """By Bessel functions: Rasmussen and Williams 2006, eq. 4.14."""
    away = np.maximum(math.sqrt(5) * distance, 1e-6)
    values = 2**-1.5 / math.gamma(2.5) * away**2.5 * scipy.special.kv(2.5, away)
    return np.asarray(values, dtype=np.float64)


def dense(model: ProcessPredictor, inputs: ParameterRows) -> tuple[Floats, Floats]:
    """Mean and standard deviation of log2 of the time: eq. 2.25 and 2.26 there."""
    shape = KrigingHyperparameters.of(model.theta, model.trend)
    lengths = shape.lengths[model.columns.groups]

    def cross(a: Floats, b: Floats) -> Floats:
        apart = np.linalg.norm((a[:, None] - b[None]) / lengths, axis=2)
        total: Floats = shape.amplitude**2 * matern52(apart) + shape.trend**2 * a @ b.T + 4.0
        return total

    target = np.log2(model.table.response)
    y = (target - target.mean()) / target.std()
    x = model.columns(model.columns.encoder.matrix(inputs))
    gram = cross(model.x, model.x) + (shape.noise**2 + JITTER) * np.eye(len(y))
    between = cross(x, model.x)
    mean = target.mean() + target.std() * between @ np.linalg.solve(gram, y)
    left = np.diag(cross(x, x)) - np.sum(between * np.linalg.solve(gram, between.T).T, axis=1)
    return mean, target.std() * np.sqrt(left)


ASKED = rows((1, "ijl"), (16, "jli"), (4, "lij"), (1024, "jli"))


@pytest.mark.parametrize("trend", [False, True])
def test_predictions_are_those_of_the_dense_solution(trend: bool) -> None:
    model = trained(trend)
    mean, sd = dense(model, ASKED)
    assert np.log2(model.predict(ASKED)) == pytest.approx(mean, abs=1e-6)
    assert model.sd(ASKED) == pytest.approx(sd, rel=1e-4, abs=1e-6)


def test_the_covariance_has_a_length_for_each_group_a_trend_and_a_constant() -> None:
    """Two columns of the first group, one of the second: lengths 2 and 0.5."""
    shape = KrigingHyperparameters(lengths=np.array([2.0, 0.5]), amplitude=3.0, trend=0.7, noise=9)
    left, right = np.array([[1.0, 0.0, 0.2]]), np.array([[0.0, 2.0, 0.7]])
    apart = math.sqrt((1 / 2) ** 2 + (2 / 2) ** 2 + (0.5 / 0.5) ** 2)
    expected = 9 * matern52(np.array([[apart]])) + 0.49 * (0.2 * 0.7) + 4.0
    assert covariance(shape, np.array([0, 0, 1]), left, right) == pytest.approx(expected)


def test_hyperparameters_are_lengths_amplitude_noise_and_the_trend() -> None:
    with_trend = KrigingHyperparameters.of(np.log([1.0, 2.0, 3.0, 4.0, 5.0]), trend=True)
    assert with_trend.lengths == pytest.approx([1.0, 2.0])
    assert (with_trend.amplitude, with_trend.noise, with_trend.trend) == pytest.approx((3, 4, 5))
    without = KrigingHyperparameters.of(np.log([1.0, 2.0, 3.0, 4.0, 5.0]), trend=False)
    assert without.lengths == pytest.approx([1.0, 2.0, 3.0])
    assert (without.amplitude, without.noise, without.trend) == pytest.approx((4, 5, 0))


def test_numbers_have_unit_variance_and_categories_the_distance_of_root_2() -> None:
    inputs = rows(*ROWS)
    encoder = Encoder.fit(inputs)
    matrix = encoder.matrix(inputs)
    columns = StandardisedColumns.of(encoder, matrix)
    x = columns(matrix)
    assert x[:, 0].mean() == pytest.approx(0)
    assert x[:, 0].std() == pytest.approx(1)
    assert np.linalg.norm(x[0, 1:] - x[1, 1:]) == pytest.approx(math.sqrt(2))
    assert columns.lengths == 2
    assert columns.groups.tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("trend", [False, True])
def test_exact_times_are_predicted_where_they_were_measured(trend: bool) -> None:
    model = trained(trend, noise=0.0)
    inputs = rows(*ROWS)
    assert model.predict(inputs) == pytest.approx([law(*row) for row in ROWS], rel=0.05)
    assert model.sd(inputs).max() < model.sd(rows((1024, "ijl")))[0]


def test_with_a_trend_it_goes_on_as_a_product_of_powers() -> None:
    model = trained(trend=True, noise=0.0)
    assert model.predict(rows((1024, "ijl")))[0] == pytest.approx(law(1024, "ijl"), rel=0.6)
    assert Kriging(trend=True).extrapolates


def test_without_a_trend_it_falls_back_towards_the_mean() -> None:
    model = trained(trend=False, noise=0.0)
    far, farther = np.log2(model.predict(rows((2**100, "ijl"), (2**200, "ijl"))))
    seen = np.log2(model.table.response)
    assert far < 20, "the law would be 2^193 s"
    assert seen.min() < farther < seen.max()
    assert not Kriging().extrapolates


def test_a_parameter_that_matters_less_has_a_greater_length() -> None:
    chance = np.random.default_rng(5)
    inputs = ParameterRows(
        parameters=(numeric("a", range(30)), numeric("b", range(30))),
        rows=tuple((int(i), int(j)) for i, j in chance.integers(0, 30, (40, 2))),
    )
    response = np.exp2(np.sin(np.log2(1 + inputs.numbers("a")) * 2))
    model = Kriging().train(MeasurementTable(name="made", inputs=inputs, response=response))
    first, second = KrigingHyperparameters.of(model.theta, trend=False).lengths
    assert second > 3 * first


def test_training_goes_on_from_what_was_learned() -> None:
    model = trained(trend=False)
    again = Kriging().resume(model.table, 0, model)
    assert again.predict(ASKED) == pytest.approx(model.predict(ASKED), rel=0.05)


def test_the_unit_of_the_response_does_not_matter() -> None:
    model = trained(trend=True)
    table = MeasurementTable(
        name="made", inputs=model.table.inputs, response=1e3 * model.table.response
    )
    scaled = Kriging(trend=True).train(table)
    assert scaled.predict(ASKED) == pytest.approx(1e3 * model.predict(ASKED), rel=1e-4)
