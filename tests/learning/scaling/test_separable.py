"""Weak scaling alone does not tell the size from the processors, however noisy the sizes are."""

import math

import numpy as np
import planted_scaling as made
import pytest

from autotune.errors import InputError
from autotune.learning.scaling import scaling_methods
from autotune.learning.scaling.scaling_methods import Settings
from autotune.learning.scaling.scaling_runs import Runs, points
from autotune.learning.scaling.separable import check_separable, inflation


def weak(wobble: float, each: int = 3) -> Runs:
    """SIZE in proportion to P but for a wobble; communication that grows with log2 P."""
    rng = np.random.default_rng(5)
    p = np.repeat([4.0, 8.0, 16.0, 32.0, 64.0], each)
    size = 1e6 * p * np.exp(rng.normal(0, wobble, len(p)))
    time = (1e-4 * size / p + 3 * np.log2(p)) * np.exp(rng.normal(0, 0.01, len(p)))
    base = made.planted()
    return Runs(points=points(p.tolist(), size.tolist()), time=time, variables=base.variables)


def test_the_inflation_of_plain_designs():
    p, s = np.meshgrid([1.0, 2.0, 4.0, 8.0], [1e5, 1e6, 1e7])
    base = made.planted()
    grid = Runs(
        points=points(p.ravel().tolist(), s.ravel().tolist()),
        time=np.ones(12),
        variables=base.variables,
    )
    assert inflation(grid) == pytest.approx(1.0)
    assert math.isinf(inflation(weak(0.0)))
    assert 1000 < inflation(weak(0.005)) < 1e6
    rows = weak(0.05)
    x, y = np.log2(rows.points.processors), np.log2(rows.points.size)
    r2 = np.corrcoef(x, y)[0, 1] ** 2
    assert inflation(rows) == pytest.approx(1 / (1 - r2))


@pytest.mark.parametrize("wobble", [0.0, 1e-6, 0.003])
@pytest.mark.parametrize("method", scaling_methods.METHODS)
def test_weak_scaling_alone_is_refused_by_every_method(
    wobble: float, method: scaling_methods.Method
):
    with pytest.raises(InputError, match="sizes grow with P") as caught:
        scaling_methods.fit(weak(wobble), Settings(method=method, time=100.0))
    assert "add runs of another size at the same P" in str(caught.value)


def test_sizes_around_a_weak_series_are_enough():
    check_separable(made.planted(each=3))
    scaling_methods.fit(weak(0.1), Settings())
