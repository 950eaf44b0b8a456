"""The figures of Extra-P, by hand and by their laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.learning.pmnf.goodness_of_fit import figures, smape

MEASURED = np.array([1.0, 2.0, 4.0, 5.0])
PREDICTED = np.array([1.5, 2.0, 3.0, 5.0])
PAIRS = st.lists(st.tuples(st.floats(0.1, 100), st.floats(0.1, 100)), min_size=4, max_size=8)


def test_the_figures_by_hand() -> None:
    """Differences 1/2, 0, -1, 0; mean 3, so that the total sum of squares is 10."""
    fit = figures(PREDICTED, MEASURED, terms=1)
    assert fit.rss == pytest.approx(1.25)
    assert fit.rrss == pytest.approx(0.25 + 0.0625)
    assert fit.re == pytest.approx((0.5 + 0.25) / 4)
    assert fit.smape == pytest.approx(100 * (2 * 0.5 / 2.5 + 2 * 1 / 7) / 4)
    assert fit.ar2 == pytest.approx(1 - 1.25 / 10 * 3 / 2)


@pytest.mark.parametrize("terms", [0, 3, 4])
def test_r_squared_is_1_where_there_is_nothing_to_adjust_by(terms: int) -> None:
    """Of a constant, and of as many terms as there are degrees of freedom."""
    assert figures(PREDICTED, MEASURED, terms).ar2 == 1


def test_more_terms_with_the_same_fit_lower_the_adjusted_r_squared() -> None:
    by_terms = [figures(PREDICTED, MEASURED, terms).ar2 for terms in (1, 2)]
    assert by_terms == pytest.approx([1 - 0.125 * 3 / 2, 1 - 0.125 * 3])


def test_times_that_do_not_vary_have_an_r_squared_of_1() -> None:
    same = np.full(5, 2.0)
    assert figures(same * 1.1, same, terms=1).ar2 == 1


def test_an_exact_fit_has_no_error() -> None:
    fit = figures(MEASURED, MEASURED, terms=1)
    assert (fit.smape, fit.rss, fit.rrss, fit.re, fit.ar2) == (0, 0, 0, 0, 1)


def test_smape_of_several_models_is_one_for_each() -> None:
    both = np.column_stack([PREDICTED, MEASURED])
    errors = smape(both, MEASURED[:, None])
    assert errors.tolist() == pytest.approx([float(smape(PREDICTED, MEASURED)), 0.0])


@settings(max_examples=40)
@given(PAIRS, st.floats(1e-3, 1e3))
def test_a_common_factor_changes_only_what_has_a_unit(
    pairs: list[tuple[float, float]], factor: float
) -> None:
    predicted, measured = np.array(pairs).T
    fit, scaled = (figures(f * predicted, f * measured, terms=1) for f in (1.0, factor))
    assert scaled.rss == pytest.approx(factor**2 * fit.rss, rel=1e-9)
    for name in ("smape", "rrss", "re", "ar2"):
        assert getattr(scaled, name) == pytest.approx(getattr(fit, name), rel=1e-6, abs=1e-9)


@settings(max_examples=40)
@given(PAIRS)
def test_smape_is_symmetric_and_at_most_200_percent(pairs: list[tuple[float, float]]) -> None:
    predicted, measured = np.array(pairs).T
    there, back = float(smape(predicted, measured)), float(smape(measured, predicted))
    assert there == pytest.approx(back)
    assert 0 <= there < 200
