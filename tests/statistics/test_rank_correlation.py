"""Orders of predictions against counting all pairs."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.statistics.rank_correlation import kendall, pair, top_loss

PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=8)


@settings(max_examples=60)
@given(PAIRS)
def test_tau_b_is_pairs_in_order_less_those_out_of_order(pairs: list[tuple[int, int]]) -> None:
    """(C - D) / sqrt((C + D + Tx)(C + D + Ty)): Kendall 1945, The treatment of ties."""
    signs = [(np.sign(a - c), np.sign(b - d)) for (a, b), (c, d) in combinations(pairs, 2)]
    agree = sum(int(x * y) for x, y in signs)
    first, second = sum(x != 0 for x, _ in signs), sum(y != 0 for _, y in signs)
    value = kendall([a for a, _ in pairs], [b for _, b in pairs])
    if not first or not second:
        assert value is None
    else:
        assert value == pytest.approx(agree / math.sqrt(first * second))


@settings(max_examples=40)
@given(PAIRS)
def test_tau_is_symmetric_and_turns_with_the_order(pairs: list[tuple[int, int]]) -> None:
    a, b = (list(side) for side in zip(*pairs, strict=True))
    value = kendall(a, b)
    back, turned = kendall(b, a), kendall([-x for x in a], b)
    if value is None:
        assert back is turned is None
    else:
        assert back == pytest.approx(value)
        assert turned == pytest.approx(-value)
        assert -1 <= value <= 1


@settings(max_examples=40)
@given(PAIRS, st.integers(1, 9))
def test_the_top_loss_falls_with_k_to_nothing(pairs: list[tuple[int, int]], k: int) -> None:
    predicted, measured = (list(side) for side in zip(*pairs, strict=True))
    order = sorted(range(len(pairs)), key=lambda i: predicted[i])
    expected = min(measured[i] for i in order[:k]) / min(measured) - 1
    value = top_loss(predicted, measured, k)
    assert value == pytest.approx(expected)
    assert top_loss(predicted, measured, len(pairs)) == 0


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1.0], [1.0, 2.0], "1 predictions do not pair with 2 times"),
        ([[1.0]], [[1.0]], "1 predictions do not pair with 1 times"),
        ([1.0], [math.inf], "predictions and times must be finite; leave out what has none"),
        ([math.nan], [1.0], "predictions and times must be finite; leave out what has none"),
    ],
)
def test_what_does_not_pair_is_refused(
    first: list[float], second: list[float], message: str
) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message follows
        pair(first, second)
    assert str(error.value) == message
