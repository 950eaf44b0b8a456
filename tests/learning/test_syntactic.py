from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.learning.comparison.syntactic_score import score
from autotune.learning.models.terms import CONSTANT, Factor, Product, indicator, log2, power

X, Y = power("x"), power("y")


def term(*factors: Factor) -> Product:
    return frozenset(factors)


ANALYTICAL = {
    term(X): 3.0,
    term(Y): 0.4,
    term(power("y", 2)): 1.0,
    term(log2("x"), Y): 2.0,
    term(X, Y): 1.0,
}
EMPIRICAL = {term(X): 5.0, term(power("x", 2)): 0.5, term(Y): 3.0, term(power("y", 2)): 1.0}


def test_the_example_of_kaltenecker_scores_minus_two_thirds() -> None:
    found = score(ANALYTICAL, EMPIRICAL)
    assert found.published == pytest.approx(-2 / 3)
    assert found.normalised == pytest.approx(-2 / 3 / 12)
    assert [(t.term, t.side, round(t.score, 2)) for t in found.terms] == [
        ("x", "both", 1.33),
        ("x^2", "empirical", -1),
        ("y", "both", 1),
        ("y^2", "both", 2),
        ("log2(x) * y", "analytical", -2),
        ("x * y", "analytical", -2),
    ]
    assert found.terms[-1].group == ("x", "y")
    assert found.matched == 3


def test_plain_tuples_are_factors() -> None:
    analytical = {frozenset({("power", "x", 1)}): 3, frozenset({("log2", "x", 1)}): 1}
    empirical = {term(X): 3.0, term(log2("x")): 1.0}
    assert score(analytical, empirical).published == 4  # type: ignore[arg-type]


def test_a_fraction_is_its_float() -> None:
    assert power("x", 1 / 3) == power("x", Fraction(1, 3)) == power("x", "1/3")


def test_constants_count_only_when_asked() -> None:
    """Table 5.6 of Kaltenecker (2016): -4.2 for the printed 1-D model is out of reach without."""
    analytical = {term(log2("px")): 0.01, term(log2("nx")): 0.01, term(power("nx")): 1e-7}
    empirical = {
        CONSTANT: -6.023,
        term(power("px")): -0.023,
        term(log2("nx")): 0.294,
        term(power("px", 2)): 0.014,
    }
    assert -4 < score(analytical, empirical).published < -2
    assert -5 <= score(analytical, empirical, constant=True).published <= -4


def test_zero_means_no_such_term_and_the_denominator_is_absolute() -> None:
    assert score({term(X): 0.0}, {term(X): 1.0}).published == -2
    assert score({term(X): -2.0}, {term(X): -1.0}).published == pytest.approx(1.5)
    assert score({term(X): -2.0}, {term(X): 2.0}).published == 1


def test_indicators_of_one_parameter_are_of_one_class() -> None:
    first, second = indicator("order", "jil"), indicator("order", "jli")
    assert score({term(first): 1.0}, {term(second): 1.0}).published == -2


def test_two_empty_models_are_equal() -> None:
    assert score({}, {CONSTANT: 3.0}).normalised == 1


TERMS = st.sampled_from([term(X), term(Y), term(power("x", 2)), term(log2("x"), Y), term(X, Y)])
MODELS = st.dictionaries(TERMS, st.floats(-9, 9).filter(lambda v: abs(v) > 1e-3), max_size=5)


@given(MODELS, MODELS)
def test_the_normalised_score_is_between_minus_1_and_1(first, second) -> None:
    found = score(first, second)
    assert -1 <= found.normalised <= 1
    assert found.published == pytest.approx(found.normalised * 2 * len(found.terms))
    assert score(first, first).normalised == 1
    assert {t.score for t in found.terms if t.side != "both"} <= {-1.0, -2.0}
