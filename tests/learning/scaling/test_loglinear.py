"""The regression over all processors: planted truths, Garren's points, intervals and inverses."""

import math

import numpy as np
import planted_scaling as made
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.errors import InputError
from autotune.learning.scaling import loglinear
from autotune.learning.scaling.base import forecast
from autotune.learning.scaling.inversion import by_band
from autotune.learning.scaling.scaling_runs import Runs, logs, points

BT = Runs(  # Garren 2010, table 4.8; SIZE is the edge length
    points=points([1024] * 3 + [484] * 3, [1166, 1060, 954, 935, 850, 765]),
    time=np.array([116.00, 101.10, 69.34, 124.34, 101.98, 69.16]),
    variables=made.variables(),
)


def fit(runs, **options):
    return loglinear.fitted(runs, name="complete", **options)


def test_the_published_coefficients_of_bt():
    found = fit(BT, delete=False)
    assert found.regression.coefficients == pytest.approx([-12.71, -0.85, 2.76], abs=0.005)
    sizes = [found.inverse(p, 101.05, (), 0.9).size for p in (16, 36, 64, 100, 256)]
    assert [round(size) for size in sizes] == [304, 389, 464, 533, 711]


def test_planted_coefficients_lie_within_their_standard_errors():
    found = fit(made.planted(noise=0.05, each=9), delete=False)
    for coefficient, truth in zip(found.coefficients, made.TRUTH, strict=True):
        assert abs(coefficient.value - truth) < 3 * coefficient.standard_error
    assert found.quality[0].rmse == pytest.approx(0.05, rel=0.3)
    assert found.exponent == pytest.approx(0.9 / 0.95, abs=0.05)


def test_prediction_intervals_cover_what_they_say():
    inside, trials = 0, 150
    at = points([2048], [2.0**31])
    x = logs(at)[0]
    for seed in range(trials):
        band = fit(made.planted(noise=0.1, seed=seed), delete=False).band(at, 0.9)
        run = x @ np.array(made.TRUTH) + np.random.default_rng(10_000 + seed).normal(0, 0.1)
        inside += bool(band.low[0] <= run <= band.high[0])
    assert inside / trials == pytest.approx(0.9, abs=0.073)  # three standard errors


def test_fieller_intervals_cover_the_size_of_a_run_that_took_the_time():
    """A run of the true size takes T0 only on average: the interval is for a single run."""
    covered, trials = 0, 150
    for seed in range(trials):
        rng = np.random.default_rng(20_000 + seed)
        model = fit(made.planted(noise=0.1, seed=seed, each=2), delete=False)
        size = 31.0
        time = 2.0 ** (np.array([1.0, 11.0, size]) @ np.array(made.TRUTH) + rng.normal(0, 0.1))
        found = model.inverse(2048, time, (), 0.9)
        covered += bool(found.low <= 2.0**size <= found.high)
    assert covered / trials == pytest.approx(0.9, abs=0.073)


def test_fieller_is_where_the_bounds_take_the_time():
    model = fit(made.planted(noise=0.2, seed=3))
    closed, solved = model.inverse(2048, 100.0, (), 0.9), by_band(model, 2048, 100.0, (), 0.9)
    assert (closed.rule, solved.rule) == ("Fieller", "band")
    assert closed.size == pytest.approx(solved.size, rel=1e-9)
    assert (closed.low, closed.high) == pytest.approx((solved.low, solved.high), rel=1e-6)
    told = forecast(model, points([2048] * 2, [closed.low, closed.high]))
    assert (told.high[0], told.low[1]) == pytest.approx((100.0, 100.0))


def test_the_delta_method_agrees_where_the_slope_is_known_well():
    model = fit(made.planted(noise=0.01))
    found, (low, high) = model.inverse(2048, 100.0, (), 0.9), model.delta(2048, 100.0, (), 0.9)
    assert (low, high) == pytest.approx((found.low, found.high), rel=1e-3)


def test_a_slope_that_may_be_zero_excludes_no_size():
    runs = made.planted((5.0, 0.0, 0.02), noise=0.8, seed=5)
    model = fit(runs, delete=False)
    assert 0 < model.regression.coefficients[2] < model.regression.standard_error("log2(SIZE)")
    found = model.inverse(2048, 100.0, (), 0.9)
    assert (found.low, found.high) == (0.0, math.inf)
    assert "no size is excluded" in " ".join(found.notes)


def test_a_time_that_does_not_grow_with_the_size_has_no_inverse():
    model = fit(made.planted((30.0, -0.9, -0.95), noise=0.01))
    with pytest.raises(InputError, match="no size takes that time"):
        model.inverse(2048, 100.0, (), 0.9)


def test_three_runs_make_a_line_without_an_interval():
    runs = made.planted().take(np.array([0, 1, 4]))
    told = forecast(fit(runs), points([64], [2.0**16]))
    assert (told.low[0], told.high[0]) == (0.0, math.inf)
    assert fit(runs).inverse(64, 100.0, (), 0.9).high == math.inf


def test_what_lies_outside_the_runs_is_said():
    model = fit(made.planted())
    inside = points([64], [2.0 ** float(model.box.low[1] + 1)])
    assert not forecast(model, inside).outside.any()
    far = forecast(model, points([4096], [2.0 ** float(model.box.high[1])]))
    assert far.outside.all()
    assert "extrapolated: log2(P) lies 2 above" in far.notes[0]
    assert "more than one doubling" in far.notes[-1]


def test_an_influential_run_is_deleted_once_and_told():
    runs = made.planted(noise=0.02, seed=2)
    spoilt = runs.time.copy()
    spoilt[-1] *= 3.0  # the largest size on the most processors
    bad = Runs(points=runs.points, time=spoilt, variables=runs.variables)
    kept, cleaned = fit(bad, delete=False), fit(bad)
    assert cleaned.removed[-1]
    assert "Cook's D above 2p/n" in cleaned.notes[0]
    assert abs(cleaned.regression.coefficients[2] - 0.95) < 0.06
    assert abs(kept.regression.coefficients[2] - 0.95) > 0.06


@given(st.floats(-15, -5), st.floats(-1.2, 0.3), st.floats(0.3, 3.0), st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_the_inverse_takes_the_time(b0, b1, b2, seed):
    model = fit(made.planted((b0, b1, b2), noise=0.02, seed=seed))
    found = model.inverse(2048, 80.0, (), 0.9)
    told = forecast(model, points([2048], [found.size]))
    assert told.median[0] == pytest.approx(80.0)
    assert found.low <= found.size <= found.high
