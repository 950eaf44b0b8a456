"""Intervals that know of the back-test: a power law that does not hold is not believed."""

import math

import numpy as np
import planted_scaling as made
import pytest

from autotune.commands.scale import checks
from autotune.learning.scaling import loglinear, scaling_methods
from autotune.learning.scaling.base import forecast
from autotune.learning.scaling.discrepancy import Discrepancy, Widened
from autotune.learning.scaling.forecast_accuracy import back_test
from autotune.learning.scaling.scaling_methods import Settings
from autotune.learning.scaling.scaling_runs import Runs, points


def fit(runs):
    return loglinear.fitted(runs, name="complete", delete=False)


def serial(term: float = 0.0, noise: float = 0.01) -> Runs:
    """T = 7e-5 SIZE/P + 1e-7 SIZE + term P: no power law of the processors."""
    p = np.repeat([4.0, 8.0, 16.0, 32.0, 64.0], 6)
    size = p * 4e6 * np.tile(2.0 ** (np.arange(6) / 2.5 - 1), 5)
    exact = 7e-5 * size / p + 1e-7 * size + term * p
    time = exact * np.exp(np.random.default_rng(3).normal(0, noise, len(p)))
    base = made.planted()
    return Runs(points=points(p.tolist(), size.tolist()), time=time, variables=base.variables)


def widened(runs: Runs) -> Widened:
    return Widened(model=fit(runs), discrepancy=Discrepancy.of(back_test(runs, fit)))


def test_the_reach_is_students_t_of_one_level_grown_with_the_doublings():
    known = Discrepancy(error=0.05, distance=1.0, top=64.0)
    t = math.tan(math.pi * 0.9 / 2)  # of one degree of freedom: Cauchy
    assert known.reach(512, 0.9) == pytest.approx(3 * 0.05 * t)
    assert known.reach(128, 0.9) == pytest.approx(0.05 * t)
    assert known.reach(64, 0.9) == known.reach(16, 0.9) == 0.0
    near = Discrepancy(error=0.05, distance=0.5, top=64.0)
    assert near.reach(128, 0.9) == pytest.approx(2 * 0.05 * t)
    with pytest.raises(ValueError, match="zero or more"):
        Discrepancy(error=0.05, distance=0.0, top=64.0)


def test_a_wrong_power_law_is_caught_by_the_widened_interval_only():
    truth = 100.0 / (7e-5 / 512 + 1e-7)
    found = widened(serial()).inverse(512, 100.0, (), 0.9)
    assert found.low < truth < found.high
    assert found.regression is not None
    low, high = found.regression
    assert truth < low < found.size < high
    own = fit(serial()).inverse(512, 100.0, (), 0.9)
    assert (own.size, own.low, own.high) == (found.size, low, high)


def test_a_worse_law_widens_more():
    milder, worse = (widened(serial(term)).inverse(512, 100.0, (), 0.9) for term in (0.0, 0.3))
    assert worse.widened > 1.5 * milder.widened
    assert worse.high / worse.low > 2 * milder.high / milder.low


def test_halves_add_in_quadrature_and_the_middle_stays():
    model = widened(serial())
    at = points([512, 64], [4e8, 1e8])
    own, wide = model.model.band(at, 0.9), model.band(at, 0.9)
    assert wide.middle == pytest.approx(own.middle)
    half = math.hypot(own.high[0] - own.middle[0], model.discrepancy.reach(512, 0.9))
    assert wide.high[0] - wide.middle[0] == wide.middle[0] - wide.low[0] == pytest.approx(half)
    assert wide.high[1] == own.high[1]
    assert forecast(model, at).high[0] > forecast(model.model, at).high[0]


def test_the_interval_takes_the_time_at_its_bounds():
    model = widened(serial())
    found = model.inverse(512, 100.0, (), 0.9)
    bounds = forecast(model, points([512] * 2, [found.low, found.high]))
    assert (bounds.high[0], bounds.low[1]) == pytest.approx((100.0, 100.0))


def test_where_the_law_holds_the_widened_interval_covers_as_it_says_or_more():
    inside, own, trials, at = 0, 0, 80, points([4096], [2.0**22])
    truth = float(np.dot(made.TRUTH, [1, 12, 22]))
    for seed in range(trials):
        model = widened(made.planted(noise=0.1, seed=seed))
        new = truth + np.random.default_rng(10_000 + seed).normal(0, 0.1)
        wide, narrow = model.band(at, 0.9), model.model.band(at, 0.9)
        inside += bool(wide.low[0] <= new <= wide.high[0])
        own += bool(narrow.low[0] <= new <= narrow.high[0])
    assert own <= inside
    assert inside / trials >= 0.87


def test_the_drift_has_the_sign_of_the_error():
    short = back_test(serial(), fit)
    assert short.drift < -2 * short.drift_error < 0
    assert (short.below, short.processors, short.distance) == (32.0, 64.0, 1.0)
    alone = back_test(made.planted(each=2), fit, made.planted(each=2).time > 0)
    assert alone.drift_error > 0


def test_a_back_test_rests_on_all_runs_of_the_level_unless_enough_are_near():
    runs = serial()
    counts = {}
    for keep, tolerance in ((100.0, 0.25), (300.0, 2.0)):
        settings = Settings(time=keep, tolerance=tolerance)
        near = scaling_methods.near(runs, settings)
        assert near is not None
        held = int((near & runs.at_level(64.0)).sum())
        test = dict(checks.back_tests(runs, settings, 0.9))["complete"]
        assert not isinstance(test, str)
        counts[held] = test.errors.count
    few, many = sorted(counts)
    assert few < checks.ENOUGH <= many
    assert (counts[few], counts[many]) == (6, many)


def test_a_back_test_from_few_runs_is_warned_of():
    runs = made.planted(each=3)
    tests = checks.back_tests(runs, Settings(time=100.0), 0.9)
    (told,) = checks.warnings(runs, 100.0, tests)
    assert "the back-test is from n = 3 runs on 1024 processors" in told
    many = made.planted(each=6)
    assert checks.warnings(many, 100.0, checks.back_tests(many, Settings(time=100.0), 0.9)) == ()


@pytest.mark.parametrize(("keep", "warned"), [(100.0, False), (100e3, True), (0.1, True)])
def test_a_time_far_outside_the_measured_ones_is_warned_of(keep: float, warned: bool):
    told = checks.warnings(made.planted(each=6), keep, ())
    assert any("is its unit right?" in line for line in told) is warned
