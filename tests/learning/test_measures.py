import math
from decimal import ROUND_DOWN, Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from autotune.learning.comparison import measures

VALUES = arrays(np.float64, 6, elements=st.floats(0.01, 1e6))
ORDERS = st.sampled_from([1.0, 1.5, 2.0, 3.0, 10.0, math.inf])


def truncated(value: float, decimals: int = 0) -> str:
    """Cut off, not rounded: how Kaltenecker prints."""
    step = Decimal(1).scaleb(-decimals)
    return str(Decimal(repr(value)).quantize(step, rounding=ROUND_DOWN))


def test_kaltenecker_table_4_1_to_every_printed_digit() -> None:
    """x in {1, 50, 100}, y in {0, 24, 50}; 0.5*y in the analytical model."""
    x, y = (grid.ravel() for grid in np.meshgrid([1.0, 50, 100], [0.0, 24, 50]))
    analytical = 3 * x + 0.5 * y + y**2 + 2 * np.log2(x) * y + x * y
    empirical = 5 * x + 0.5 * x**2 + 3 * y + y**2
    found = measures.semantics(
        analytical, empirical, name="empirical", unit="s", convention="kaltenecker"
    )
    assert (found.n, found.unit, found.reference) == (9, "s", "empirical")
    assert found.cosine is not None
    assert found.jaccard is not None
    printed = {
        truncated(100 * found.error_rate, 1): "36.1",
        truncated(100 * found.cosine, 1): "87.8",
        truncated(100 * found.jaccard, 1): "65.9",
        truncated(found.manhattan): "1244",
        truncated(found.euclidean): "4219132",
        truncated(found.minkowski_3): "18170166746",
        truncated(found.chebyshev): "5200",
    }
    assert list(printed) == list(printed.values())


def test_the_textbook_distances_of_the_same_table_have_roots() -> None:
    first, second = np.array([1.0, 2.0]), np.array([4.0, 6.0])
    found = measures.semantics(first, second, name="second", unit="s")
    assert found.manhattan == pytest.approx(7)
    assert found.euclidean == pytest.approx(5)
    assert found.minkowski_3 == pytest.approx((27 + 64) ** (1 / 3))
    assert found.chebyshev == 4


def test_mean_and_median_have_their_own_names() -> None:
    predicted, reference = [1.1, 1.2, 5.0], [1.0, 1.0, 1.0]
    assert measures.mape(predicted, reference) == pytest.approx(4.3 / 3)
    assert measures.mdape(predicted, reference) == pytest.approx(0.2)
    assert measures.error_rate(predicted, reference) == measures.mape(predicted, reference)


@given(VALUES, VALUES, VALUES, ORDERS)
def test_minkowski_is_a_metric(first, second, third, p) -> None:
    def distance(a, b):
        return measures.minkowski(a, b, p)

    assert distance(first, first) == 0
    assert distance(first, second) == distance(second, first)
    detour = distance(first, second) + distance(second, third)
    assert distance(first, third) <= detour * (1 + 1e-9)


@given(VALUES, VALUES)
@settings(max_examples=50)
def test_distances_fall_with_the_order_by_the_textbook(first, second) -> None:
    found = [measures.minkowski(first, second, p) for p in (1, 2, 3, math.inf)]
    assert found == sorted(found, reverse=True) or found == pytest.approx(sorted(found)[::-1])


@given(VALUES, VALUES)
def test_similarities_are_between_0_and_1_and_1_of_itself(first, second) -> None:
    for measure in (measures.cosine, measures.jaccard):
        value = measure(first, second)
        assert value is not None
        assert 0 <= value <= 1 + 1e-12
        assert value == pytest.approx(measure(second, first))
        assert measure(first, first) == pytest.approx(1)


def test_cosine_does_not_see_a_common_factor_but_jaccard_does() -> None:
    values = np.array([1.0, 2.0, 5.0])
    assert measures.cosine(values, 10 * values) == pytest.approx(1)
    assert measures.jaccard(values, 10 * values) == pytest.approx(0.1)


def test_what_has_no_meaning_is_none() -> None:
    assert measures.jaccard([-1.0, 1.0], [1.0, 1.0]) is None
    assert measures.jaccard([0.0], [0.0]) is None
    assert measures.cosine([0.0], [1.0]) is None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: measures.mape([1.0], [0.0]), "never 0"),
        (lambda: measures.mape([1.0, 2.0], [1.0]), "2 values do not pair with 1"),
        (lambda: measures.cosine([], []), "nothing to compare"),
        (lambda: measures.cosine([math.nan], [1.0]), "finite"),
        (lambda: measures.minkowski([1.0], [1.0], 0.5), "at least 1, not 0.5"),
        (lambda: measures.minkowski([1.0], [2.0], 1, "thesis"), "textbook, kaltenecker"),  # type: ignore[arg-type]
    ],
)
def test_wrong_input_says_what_is_wrong(call, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
