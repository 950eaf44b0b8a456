"""Sums of products of powers and logarithms: arithmetic, evaluation, text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.errors import InputError
from autotune.learning.formulas.base import FormulaTerm, PowerFactor, combined
from autotune.learning.formulas.term_polynomial import Polynomial, constant, log2, power, total

NAMES = ("n", "p", "q")
POWERS = [power(name, exponent) for name in NAMES for exponent in (-1, 0.5, 1, 2)]
FACTORS = st.sampled_from(POWERS + [log2(name) for name in NAMES])
PRODUCTS = st.tuples(st.integers(-5, 5), FACTORS, FACTORS).map(lambda t: t[0] * t[1] * t[2])
SUMS = st.lists(PRODUCTS, max_size=4).map(total)
VALUES = {"n": np.array([2.0, 30.0]), "p": np.array([4.0, 1.0]), "q": np.array([3.0, 8.0])}


def at(polynomial: Polynomial) -> np.ndarray:
    """Its values, (2,) also where it is a constant."""
    return np.broadcast_to(polynomial.evaluate(VALUES), (2,))


@settings(max_examples=50, deadline=None)
@given(SUMS, SUMS)
def test_evaluation_follows_the_arithmetic(a: Polynomial, b: Polynomial) -> None:
    assert at(a + b) == pytest.approx(at(a) + at(b), rel=1e-12, abs=1e-9)
    assert at(a * b) == pytest.approx(at(a) * at(b), rel=1e-12, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(SUMS)
def test_terms_add_up(a: Polynomial) -> None:
    each = [Polynomial({term.factors: term.coefficient}) for term in a.terms()]
    assert at(total(each)) == pytest.approx(at(a), rel=1e-12, abs=1e-9)
    assert combined(a.terms()) == dict(a.coefficients)


@settings(max_examples=50, deadline=None)
@given(SUMS)
def test_numbers_in_place_of_parameters(a: Polynomial) -> None:
    fixed = a.at({"p": 4.0})
    assert "p" not in fixed.parameters
    found = np.broadcast_to(fixed.evaluate(VALUES), (2,))[0]
    assert found == pytest.approx(at(a)[0], rel=1e-12, abs=1e-9)


def test_what_cancels_is_gone() -> None:
    n = power("n")
    assert (n + -1 * n).coefficients == {}
    assert (n * power("n", -1)).coefficients == {frozenset(): 1.0}
    assert str(n + -1 * n) == "0"
    assert constant(0).coefficients == {}


def test_text_is_in_a_fixed_order() -> None:
    found = 3 * log2("p") * power("n", 2) + 1 + 2 * log2("p")
    assert str(found) == "2 log2(p) + 3 n^2 log2(p) + 1"
    assert found.parameters == ("n", "p")


def test_a_missing_parameter_names_the_nearest() -> None:
    with pytest.raises(InputError, match="no values of px") as caught:
        power("px").evaluate({"py": np.ones(1)})
    assert "did you mean py" in str(caught.value)


def test_the_class_of_a_term_is_its_parameters() -> None:
    term = FormulaTerm(
        coefficient=2.0,
        factors=frozenset([PowerFactor("power", "n", 1.0), PowerFactor("log2", "p", 1.0)]),
    )
    assert term.parameters == {"n", "p"}
    assert str(term) == "2 n log2(p)"
