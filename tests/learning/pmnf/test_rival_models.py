"""The rivals of a model: weighted least squares written out, F and t from tables."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from autotune.learning.models.base import Floats
from autotune.learning.pmnf.goodness_of_fit import figures
from autotune.learning.pmnf.one_parameter import EXPONENTS, FALLING, Exponents
from autotune.learning.pmnf.rival_models import Rival, Rivals, rivals
from autotune.learning.pmnf.several_parameters import Combined

LINEAR = Exponents(Fraction(1), 0)
ROOT = Exponents(Fraction(1, 2), 0)
POINTS = np.array([[2.0], [4.0], [8.0], [16.0], [32.0], [64.0]])


def combined(form: tuple[tuple[int, ...], ...], *exponents: Exponents | None) -> Combined:
    """A chosen model: only its form matters to the family."""
    some = np.ones(3)
    return Combined(
        form=form, exponents=exponents, coefficients=(), figures=figures(some, some, terms=1)
    )


def noisy(law: Floats, sigma: float = 0.02, seed: int = 4) -> Floats:
    return np.asarray(law * (1 + sigma * np.random.default_rng(seed).normal(size=len(law))))


def alone(value: float, variance: float, rrss: float = 0.0) -> Rival:
    """A constant that is known with some variance, over s^2."""
    return Rival(
        form=(),
        exponents=(None,),
        coefficients=np.array([value]),
        inverse=np.array([[variance]]),
        rrss=rrss,
    )


def of(family: Rivals, pair: Exponents) -> Rival:
    return next(m for m in family.models if m.form and m.exponents == (pair,))


# --- the family ---------------------------------------------------------------------------------


def test_the_family_of_one_parameter_is_the_constant_and_every_pair() -> None:
    family = rivals(POINTS, noisy(5 + POINTS[:, 0]), combined(((0,),), LINEAR), 0.0)
    shapes = [(model.form, model.exponents) for model in family.models]
    expected = [((), (LINEAR,))] + [(((0,),), (pair,)) for pair in EXPONENTS + FALLING]
    assert len(shapes) == len(set(shapes)) == len(expected)
    assert set(shapes) == set(expected)


def test_the_best_comes_first() -> None:
    family = rivals(POINTS, 5 + 3 * POINTS[:, 0], combined(((0,),), ROOT), 0.0)
    assert family.models[0].exponents == (LINEAR,)
    assert [m.rrss for m in family.models] == sorted(m.rrss for m in family.models)


def test_pairs_with_a_logarithm_need_points_above_1() -> None:
    points = POINTS / 16
    family = rivals(points, noisy(5 + points[:, 0]), combined(((0,),), LINEAR), 0.0)
    assert all(pair is None or pair.log == 0 for m in family.models for pair in m.exponents)


def test_a_parameter_without_a_term_enters_alone() -> None:
    points = np.array([(float(p), float(q)) for p in (2, 4, 8) for q in (2, 4, 8)])
    family = rivals(points, noisy(5 + points[:, 0]), combined(((0,),), LINEAR, None), 0.0)
    entered = [m for m in family.models if m.form == ((0,), (1,))]
    assert {m.exponents[0] for m in entered} == {LINEAR}
    assert {m.exponents[1] for m in entered} == {*EXPONENTS, *FALLING}


def test_terms_that_points_cannot_tell_apart_make_no_rival() -> None:
    """Both parameters are the same in every run: their sum has one coefficient too many."""
    points = np.repeat(POINTS, 2, axis=1)
    family = rivals(points, noisy(5 + POINTS[:, 0]), combined(((0,), (1,)), LINEAR, LINEAR), 0.0)
    assert ((0,), (1,)) not in {m.form for m in family.models if set(m.exponents) == {LINEAR}}
    assert ((0, 1),) in {m.form for m in family.models}


# --- one of them ----------------------------------------------------------------------------


def test_a_rival_is_the_least_squares_of_relative_errors() -> None:
    values = noisy(5 + 3 * POINTS[:, 0])
    rival = of(rivals(POINTS, values, combined(((0,),), LINEAR), 0.0), LINEAR)
    matrix = np.column_stack([np.ones(6), POINTS[:, 0]]) / values[:, None]
    expected, (rrss,), *_ = np.linalg.lstsq(matrix, np.ones(6), rcond=None)
    assert rival.coefficients == pytest.approx(expected)
    assert rival.rrss == pytest.approx(rrss)
    assert rival.inverse == pytest.approx(np.linalg.inv(matrix.T @ matrix), rel=1e-9)


def test_its_variance_elsewhere_is_that_of_linear_regression() -> None:
    values = noisy(5 + 3 * POINTS[:, 0])
    rival = of(rivals(POINTS, values, combined(((0,),), LINEAR), 0.0), LINEAR)
    matrix = np.column_stack([np.ones(6), POINTS[:, 0]]) / values[:, None]
    beyond = np.array([[128.0], [1.0]])
    predicted, variance = rival.at(beyond)
    rows = np.column_stack([np.ones(2), beyond[:, 0]])
    expected = [row @ np.linalg.inv(matrix.T @ matrix) @ row for row in rows]
    assert variance == pytest.approx(expected, rel=1e-9)
    assert predicted == pytest.approx(rows @ rival.coefficients)


# --- which are plausible ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "freedom", "limit"), [(0.9, 3, 5.5383), (0.95, 3, 10.128), (0.9, 10, 3.2850)]
)
def test_rivals_are_told_apart_by_the_f_of_tables(level: float, freedom: int, limit: float) -> None:
    scatter = 0.01
    models = tuple(alone(1.0, 0.1, rrss=1 + scatter * k) for k in (0, 0.99 * limit, 1.01 * limit))
    family = Rivals(models=models, freedom=freedom, scatter=scatter)
    assert family.plausible(level) == models[:2]


def test_the_scatter_is_that_of_the_best_or_of_the_repetitions() -> None:
    values = noisy(5 + 3 * POINTS[:, 0])
    chosen = combined(((0,),), LINEAR)
    family = rivals(POINTS, values, chosen, 0.0)
    assert family.freedom == 6 - 2 - 1
    assert family.scatter == pytest.approx(family.models[0].rrss / 3)
    assert rivals(POINTS, values, chosen, 0.7).scatter == 0.7


def test_more_noise_leaves_more_rivals() -> None:
    chosen, law = combined(((0,),), LINEAR), 5 + 3 * POINTS[:, 0]
    counts = [
        len(rivals(POINTS, noisy(law, sigma), chosen, 0.0).plausible(0.9))
        for sigma in (0.0005, 0.02, 0.3)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[2]


def test_without_degrees_of_freedom_nothing_is_known() -> None:
    family = Rivals(models=(alone(2.0, 0.1),), freedom=0, scatter=0.01)
    points = np.ones((2, 1))
    assert family.plausible(0.9) == ()
    low, high = family.interval(points, 0.9)
    assert (low.tolist(), high.tolist()) == ([0.0, 0.0], [math.inf, math.inf])
    low, high = family.values(points, 0.9)
    assert (low.tolist(), high.tolist()) == ([-math.inf] * 2, [math.inf] * 2)


# --- intervals ----------------------------------------------------------------------------------


def test_the_interval_of_one_rival_is_students() -> None:
    """t(5) at 95 % below is 2.0150; variance of the value and of a further time: s^2 (v + c^2)."""
    family = Rivals(models=(alone(10.0, 25.0),), freedom=5, scatter=0.01)
    low, high = family.interval(np.ones((1, 1)), 0.9)
    half = 2.0150 * 0.1 * math.sqrt(25 + 100)
    assert (low[0], high[0]) == pytest.approx((10 - half, 10 + half), rel=1e-4)


def test_the_interval_spans_those_of_all_rivals_and_is_not_below_0() -> None:
    family = Rivals(models=(alone(1.0, 400.0), alone(30.0, 0.0)), freedom=5, scatter=0.01)
    low, high = family.interval(np.ones((1, 1)), 0.9)
    assert low[0] == 0
    assert high[0] == pytest.approx(30 * (1 + 2.0150 * 0.1), rel=1e-4)
    least, most = family.values(np.ones((1, 1)), 0.9)
    assert (least[0], most[0]) == (1.0, 30.0)


def test_the_interval_of_points_holds_new_times_as_often_as_it_says() -> None:
    """Times of a known law with 5 % noise; a new one at a point between those that were seen."""
    chance, runs, held = np.random.default_rng(6), 60, 0
    law = 5 + 3 * POINTS[:, 0]
    for _ in range(runs):
        values = law * (1 + 0.05 * chance.normal(size=6))
        family = rivals(POINTS, values, combined(((0,),), LINEAR), 0.0)
        low, high = family.interval(np.array([[24.0]]), 0.9)
        held += low[0] <= (5 + 3 * 24) * (1 + 0.05 * chance.normal()) <= high[0]
    assert held >= scipy.stats.binom.ppf(0.01, runs, 0.9)
