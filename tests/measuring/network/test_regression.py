"""Planted lines in pieces are found again; no slope is negative, no cost is."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.measuring.network import piecewise_regression
from autotune.measuring.network.benchmark_settings import SIZES

X = np.array(SIZES, dtype=np.float64)

latencies = st.floats(1e-7, 1e-4)
bandwidths = st.floats(1e7, 1e11)


@given(latencies, bandwidths, st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_a_planted_line_is_found(latency, bandwidth, seed):
    noise = np.exp(np.random.default_rng(seed).normal(0, 0.01, 3 * len(X)))
    x = np.tile(X, 3)
    (found,) = piecewise_regression.pieces(x, (latency + x / bandwidth) * noise, 1)[0]
    fitted, truth = found.intercept + found.slope * X, latency + X / bandwidth
    assert fitted == pytest.approx(truth, rel=0.02)


@given(
    latencies,
    bandwidths,
    st.integers(5, 34),
    st.floats(2.0, 20.0),
    st.floats(0.2, 5.0),
    st.integers(0, 2**31),
)
@settings(max_examples=80, deadline=None)
def test_a_planted_jump_is_found_where_it_is(latency, bandwidth, at, jump, faster, seed):
    """A protocol changes at a size: the cost jumps there, and goes on with another slope."""
    edge = float(X[at])
    level = jump * (latency + edge / bandwidth)

    def cost(x):
        above = level + (x - edge) / (faster * bandwidth)
        return np.where(x < edge, latency + x / bandwidth, above)

    noise = np.exp(np.random.default_rng(seed).normal(0, 0.01, 4 * len(X)))
    x = np.tile(X, 4)
    found = piecewise_regression.pieces(x, cost(x) * noise, 2)[1]
    _, joint = piecewise_regression.joints(found)
    assert X[at - 1] < joint <= edge
    assert piecewise_regression.evaluate(found, X) == pytest.approx(cost(X), rel=0.03)


@given(
    st.lists(st.floats(1e-8, 1e2), min_size=2, max_size=30),
    st.integers(1, 4),
    st.integers(0, 100),
)
@settings(max_examples=150, deadline=None)
def test_whatever_the_samples_cost_is_positive_and_never_falls_within_a_piece(times, most, seed):
    order = np.random.default_rng(seed).permutation(len(times))
    x = 8.0 * 2.0 ** (np.arange(len(times))[order] / 2)
    for found in piecewise_regression.pieces(x, np.array(times), most):
        assert all(piece.slope >= 0 for piece in found)
        lowers = piecewise_regression.joints(found)
        assert lowers == sorted(set(lowers))
        assert found[0].intercept >= -1e-12 * max(times)
        inside = np.array([*lowers[1:], *x])
        assert np.all(piecewise_regression.evaluate(found, inside) > 0)


@given(st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_more_pieces_never_fit_worse_and_one_piece_is_the_weighted_line(seed):
    generator = np.random.default_rng(seed)
    y = np.exp(generator.normal(-10, 1, len(X)))
    errors = [
        float(np.sum((piecewise_regression.evaluate(found, X) / y - 1) ** 2))
        for found in piecewise_regression.pieces(X, y, 1)
    ]
    design = np.column_stack([1 / y, X / y])
    (intercept, slope), *_ = np.linalg.lstsq(design, np.ones(len(X)), rcond=None)
    if slope > 0 and intercept > 0:
        best = float(np.sum((design @ [intercept, slope] - 1) ** 2))
        assert errors[0] == pytest.approx(best, rel=1e-6, abs=1e-12)


def test_two_pieces_are_the_best_of_all_splits():
    """Against trying every split with a general solver."""
    generator = np.random.default_rng(5)
    x = X[::2]
    y = np.where(x < 3000, 2e-6, 1e-5 + x / 1e9) * np.exp(generator.normal(0, 0.2, len(x)))

    def error(part):
        design = np.column_stack([1 / y[part], x[part] / y[part]])
        solution, *_ = np.linalg.lstsq(design, np.ones(len(x[part])), rcond=None)
        if solution[1] < 0 or solution[0] < 0:
            return math.inf
        return float(np.sum((design @ solution - 1) ** 2))

    splits = {k: error(slice(0, k)) + error(slice(k, None)) for k in range(3, len(x) - 2)}
    best = min(splits, key=lambda k: splits[k])
    found = piecewise_regression.pieces(x, y, 2)[1]
    mine = sum(
        float(np.sum(((p.intercept + p.slope * x[part]) / y[part] - 1) ** 2))
        for p, part in zip(found, [x <= found[0].last, x > found[0].last], strict=True)
    )
    assert mine <= splits[best] * (1 + 1e-9)


def test_falling_times_become_a_constant_and_are_told():
    (found,) = piecewise_regression.pieces(X, 1e-5 / (1 + X / 1e6), 1)[0]
    assert found.slope == 0
    assert found.free_slope < 0


def test_too_few_sizes():
    with pytest.raises(ValueError, match="two different sizes"):
        piecewise_regression.pieces(np.array([8.0, 8.0]), np.array([1.0, 2.0]), 2)
    assert len(piecewise_regression.pieces(np.array([8.0, 16.0]), np.array([1.0, 2.0]), 4)) == 1
    assert len(piecewise_regression.pieces(X[:7], X[:7], 4)) == 2
