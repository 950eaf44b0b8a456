import numpy as np
import pytest

from autotune.domain.tables.table import ParameterRows, categorical, numeric
from autotune.learning.models import terms
from autotune.learning.models.terms import CONSTANT, Factor, indicator, log2, power, product, text

INPUTS = ParameterRows(
    parameters=(numeric("n", [0, 4, 16]), categorical("order", ["jil", "jli"])),
    rows=((0, "jil"), (4, "jli"), (16, "jil")),
)


def test_factors_read_as_arithmetic() -> None:
    factors = [
        power("n"), power("n", 2), power("n", "1/2"), power("n", "3/2"), power("n", -1),
        log2("n"), log2("n", 2), Factor(terms.LOG2_1, "n"), indicator("order", "jil"),
    ]  # fmt: skip
    assert [str(factor) for factor in factors] == [
        "n", "n^2", "sqrt(n)", "n^(3/2)", "n^(-1)",
        "log2(n)", "log2(n)^2", "log2(1 + n)", "[order = jil]",
    ]  # fmt: skip


def test_products_merge_powers() -> None:
    assert product(power("n"), power("n", 2)) == frozenset({power("n", 3)})
    assert product(power("n"), power("n", -1)) == CONSTANT
    assert product(indicator("o", "a"), indicator("o", "a")) == frozenset({indicator("o", "a")})
    assert product(indicator("o", "a"), indicator("o", "b")) is None
    assert text(product(log2("m"), power("n", 2), power("m"))) == "m * log2(m) * n^2"
    assert text(CONSTANT) == "1"


def test_a_sum_is_evaluated_and_printed() -> None:
    total = {
        CONSTANT: 2.0,
        frozenset({power("n")}): -0.5,
        frozenset({indicator("order", "jil")}): 1.0,
    }
    assert terms.evaluate(total, terms.columns(INPUTS), 3).tolist() == [3, 0, -5]
    assert terms.formula(total) == "2 - 0.5 * n + 1 * [order = jil]"
    assert terms.formula({}) == "0"
    assert terms.formula({frozenset({power("n")}): -1.5}) == "-1.5 * n"


def test_what_has_no_real_value_is_nan() -> None:
    products = [frozenset({f}) for f in (log2("n"), power("n", -1), Factor(terms.LOG2_1, "n"))]
    matrix = terms.matrix(products, terms.columns(INPUTS), 3)
    assert np.isnan(matrix).tolist() == [[True, True, False], [False] * 3, [False] * 3]
    assert np.isnan(power("order").evaluate(terms.columns(INPUTS))).all()


def test_an_unknown_function_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown function 'sin' of n"):
        Factor("sin", "n").evaluate(terms.columns(INPUTS))
