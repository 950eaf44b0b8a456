"""Levels, focal regions, weights, components: planted truths and what each method refuses."""

import numpy as np
import planted_scaling as made
import pytest

from autotune.errors import InputError
from autotune.learning.scaling import components, focal, loglinear, per_processors, scaling_methods
from autotune.learning.scaling.base import forecast
from autotune.learning.scaling.scaling_methods import Settings
from autotune.learning.scaling.scaling_runs import Runs, logs, points


def true_time(at, truth=made.TRUTH):
    return 2.0 ** (logs(at) @ np.array(truth))


@pytest.mark.parametrize("method", ["complete", "levels", "focal", "weighted"])
def test_every_method_recovers_a_planted_plane(method):
    runs = made.planted(noise=0.01, each=5)
    model = scaling_methods.fit(runs, Settings(method=method, time=100.0, ratio=0.8))
    at = points([2048], [2.0**31])
    assert forecast(model, at).median == pytest.approx(true_time(at), rel=0.05)
    inverse = model.inverse(2048, float(true_time(at)[0]), (), 0.9)
    assert inverse.size == pytest.approx(2.0**31, rel=0.06)
    assert inverse.low < 2.0**31 < inverse.high


# --- levels -------------------------------------------------------------------------------------


def test_coefficients_that_change_with_the_processors_are_projected():
    """b0 = -13 - 0.9 LP, b1 = 0.95 + 0.01 LP: not one plane."""
    base = made.planted(noise=0.0)
    lp, lsz = np.log2(base.points.processors), np.log2(base.points.size)
    time = 2.0 ** (-13 - 0.9 * lp + (0.95 + 0.01 * lp) * lsz)
    runs = Runs(points=base.points, time=time, variables=base.variables)
    model = per_processors.fitted(runs, name="levels")
    projected = [line.at(np.array([[1.0, 11.0]]))[0] for line in model.projections]
    assert projected == pytest.approx([-13 - 0.9 * 11, 0.95 + 0.01 * 11], abs=1e-6)
    complete = loglinear.fitted(runs, name="complete", delete=False)
    at = points([2048], [2.0**24])
    truth = -13 - 0.9 * 11 + 1.06 * 24
    assert abs(np.log2(forecast(model, at).median[0]) - truth) < 1e-6
    assert abs(np.log2(forecast(complete, at).median[0]) - truth) > 0.05


def test_geometric_weights_follow_the_highest_levels():
    base = made.planted(noise=0.0)
    lp = np.log2(base.points.processors)
    bent = base.time * 2.0 ** (0.3 * np.maximum(lp - 8, 0))  # slower scaling at the top
    runs = Runs(points=base.points, time=bent, variables=base.variables)
    truth = -13 - 0.9 * 11 + 0.3 * 3 + 0.95 * 24
    off = [
        abs(
            np.log2(
                forecast(
                    per_processors.fitted(runs, name="levels", ratio=ratio),
                    points([2048], [2.0**24]),
                ).median[0]
            )
            - truth
        )
        for ratio in (1.0, 0.7, 0.3)
    ]
    assert off[0] > off[1] > off[2]


def test_intervals_of_levels_are_not_too_short():
    at, inside, trials = points([2048], [2.0**31]), 0, 60
    truth = float(np.log2(true_time(at)[0]))
    for seed in range(trials):
        runs = made.planted(noise=0.1, seed=seed, each=4)
        band = per_processors.fitted(runs, name="levels", delete=False).band(at, 0.9)
        run = truth + np.random.default_rng(30_000 + seed).normal(0, 0.1)
        inside += bool(band.low[0] <= run <= band.high[0])
    assert inside / trials > 0.86


def test_levels_with_too_few_runs_are_left_out_and_told():
    runs = made.planted(noise=0.01)
    few = runs.take(~(runs.at_level(32) & (np.arange(len(runs)) != 3)))
    model = per_processors.fitted(few, name="levels")
    assert len(model.fits) == 6
    assert "P = 32 left out: 1 runs for 2 coefficients" in model.notes[0]
    with pytest.raises(InputError, match="1 numbers of processors"):
        per_processors.fitted(runs.take(runs.at_level(64)), name="levels")


def test_two_levels_project_without_an_interval():
    runs = made.planted(noise=0.01, levels=(512, 1024))
    model = per_processors.fitted(runs, name="levels")
    assert np.isinf(model.band(points([2048], [2.0**22]), 0.9).high[0])
    assert "two levels" in model.notes[-1]


# --- focal regions ------------------------------------------------------------------------------


def test_tolerances_are_those_of_garrens_table():
    """LT0 = 6.5 +- 0.3 is named 23.11 %, 6.65 +- 0.2 is named 14.87 %."""
    for lt0, half, share in ((6.5, 0.3, 0.2311), (6.65, 0.2, 0.1487)):
        times = 2.0 ** np.array([lt0 - half - 0.01, lt0 - half + 0.01, lt0 + half - 0.01])
        assert focal.within(times, 2.0**lt0, share).tolist() == [False, True, True]


def test_regions_by_measured_time_flatten_the_regression():
    """What Garren's SP shows: b2 = .41 in place of .92 on 21 points within 15 % of T0."""
    base = made.planted(noise=0.2, each=301, seed=8)
    slopes = {
        basis: scaling_methods.fit(
            base,
            Settings(method="focal", time=100.0, tolerance=0.15, basis=basis, delete=False),
        )
        .coefficients[2]
        .value
        for basis in ("measured", "fitted")
    }
    assert slopes["measured"] < 0.6 * 0.95
    assert slopes["fitted"] == pytest.approx(0.95, abs=0.2)


def test_the_nearest_runs_of_each_level():
    runs = made.planted(noise=0.0, each=9)
    chosen = focal.nearest(runs, runs.time, 100.0, 3)
    assert all(int((chosen & runs.at_level(p)).sum()) == 3 for p in runs.levels)
    assert np.abs(np.log2(runs.time[chosen] / 100.0)).max() < 0.13


def test_a_region_without_enough_runs_is_refused():
    with pytest.raises(InputError) as caught:
        scaling_methods.fit(made.planted(), Settings(method="focal", time=1e6))
    assert "0 of 21 runs are in the focal region" in caught.value.faults[0].found
    with pytest.raises(InputError, match="without a time"):
        scaling_methods.fit(made.planted(), Settings(method="weighted"))


def test_figure_3_1_grids_near_a_ratio():
    """k = 0: (32, 32) at 1024; (16, 32) and (32, 16) at 512, not (8, 64)."""
    first, second = np.array([32.0, 16, 32, 8, 64]), np.array([32.0, 32, 16, 64, 8])
    assert focal.near_ratio(first, second, 0).tolist() == [True, True, True, False, False]
    assert focal.near_ratio(first, second, 4).tolist() == [False, False, False, False, True]


def test_weights_fall_with_the_distance_from_the_time():
    weights = focal.nearness(np.array([100.0, 150.0, 225.0, 1e9]), 100.0, 0.5)
    assert weights[:3] == pytest.approx([1.0, np.exp(-0.5), np.exp(-2.0)])
    assert weights[3] == 1e-6


@pytest.mark.parametrize("basis", ["fitted", "measured"])
def test_weights_help_where_the_plane_bends(basis):
    """Above T0 the time grows faster than the plane: the weighted fit keeps to the near runs."""
    base = made.planted(noise=0.01, each=15, seed=5)
    above = np.maximum(np.log2(base.time / 100.0), 0)
    bent = base.time * 2.0 ** (2 * above**2)
    runs = Runs(points=base.points, time=bent, variables=base.variables)
    at = points([2048], [2.0 ** ((np.log2(100.0) + 13 + 0.9 * 11) / 0.95)])

    def off(method):
        settings = Settings(method=method, time=100.0, width=0.1, basis=basis, delete=False)
        return abs(float(forecast(scaling_methods.fit(runs, settings), at).median[0]) - 100.0)

    assert off("weighted") < 0.25 * off("complete")


# --- components ---------------------------------------------------------------------------------


def test_planted_components_are_recovered_and_their_sum_is_the_time():
    runs = made.split()
    model = components.fitted(runs, name="complete")
    assert model.computation.coefficients == pytest.approx([-14.0, -0.95, 1.0], abs=0.15)
    assert model.communication.coefficients == pytest.approx([-8.0, 0.4, 0.5], abs=0.15)
    assert model.discrepancy == pytest.approx(0.02, abs=1e-6)
    at = points([2048], [2.0**27])
    truth = (2.0 ** (-14 - 0.95 * 11 + 27) + 2.0 ** (-8 + 0.4 * 11 + 13.5)) / 0.98
    assert forecast(model, at).median == pytest.approx([truth], rel=0.03)
    without = components.fitted(runs, name="complete", rest="none")
    assert forecast(without, at).median == pytest.approx([0.98 * truth], rel=0.03)


def test_the_inverse_of_components_takes_the_time():
    model = components.fitted(made.split(), name="complete")
    found = model.inverse(2048, 120.0, (), 0.9)
    assert forecast(model, points([2048], [found.size])).median == pytest.approx([120.0])
    bounds = forecast(model, points([2048] * 2, [found.low, found.high]))
    assert (bounds.high[0], bounds.low[1]) == pytest.approx((120.0, 120.0))


def test_intervals_of_components_cover():
    inside, trials = 0, 120
    at = points([2048], [2.0**27])
    parts = np.array([-14 - 0.95 * 11 + 27, -8 + 0.4 * 11 + 13.5])
    for seed in range(trials):
        model = components.fitted(made.split(noise=0.1, seed=seed), name="x", delete=False)
        band = model.band(at, 0.9)
        run = 2.0 ** (parts + np.random.default_rng(40_000 + seed).normal(0, 0.1, 2))
        inside += bool(band.low[0] <= np.log2(run.sum() / 0.98) <= band.high[0])
    assert inside / trials == pytest.approx(0.9, abs=0.08)


def test_components_are_taken_apart_where_communication_is_most_of_the_time():
    light = made.split(communication=(-16.0, 0.4, 0.5))
    heavy = made.split(communication=(-4.0, 0.4, 0.5))
    assert components.share_of_communication(light) < 0.5 < components.share_of_communication(heavy)
    assert isinstance(scaling_methods.fit(light, Settings()), loglinear.LogLinear)
    assert isinstance(scaling_methods.fit(heavy, Settings()), components.ComponentShares)
    with pytest.raises(InputError, match="one regression per number of processors"):
        scaling_methods.fit(heavy, Settings(method="levels", apart="always"))
    with pytest.raises(InputError, match="no computation and no communication"):
        scaling_methods.fit(made.planted(), Settings(apart="always"))


def test_runs_without_communication_are_left_out_and_told():
    runs = made.split()
    comm = runs.parts["communication"].copy()
    comm[:4] = 0.0
    single = Runs(
        points=runs.points,
        time=runs.time,
        variables=runs.variables,
        parts={"computation": runs.parts["computation"], "communication": comm},
    )
    model = components.fitted(single, name="complete")
    assert "4 of 28 runs left out: a component of them is zero" in model.notes[0]
    assert any("sum to 2.0% less than the time" in note for note in model.notes)


def test_a_focal_region_of_one_size_per_level_says_why_it_carries_no_model():
    """Perfectly weak-scaled runs near T0 do not tell the processors and the size apart."""
    p = np.repeat([16.0, 32.0, 64.0, 128.0], 3)
    s = p * np.tile([1e5, 1e6, 1e7], 4)
    base = made.planted(noise=0.0)
    runs = Runs(points=points(p, s), time=1e-4 * s / p, variables=base.variables)
    with pytest.raises(InputError, match="4 of 12 runs are in the focal region, and"):
        scaling_methods.fit(runs, Settings(method="focal", time=100.0))
