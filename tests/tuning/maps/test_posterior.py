"""The posterior of a map: what is measured is learned, near and alike ones with it."""

import dataclasses

import made_maps
import numpy as np
import pytest

from autotune.tuning.maps.map_posterior import MapObservations, MapPosterior


@pytest.fixture
def made() -> made_maps.Truth:
    return made_maps.truth(3)


def seen(made: made_maps.Truth, contender: int, cells: range, off: float) -> list[MapObservations]:
    """Times that are off by so much from what was predicted."""
    mean = made.prior.mean
    return [MapObservations(contender, c, float(mean[contender, c]) + off, 0.01, c) for c in cells]


def test_before_the_first_time_the_prediction_holds(made: made_maps.Truth) -> None:
    mean, draws = MapPosterior(made.prior).draws(256)
    assert mean == pytest.approx(made.prior.mean)
    spread = (draws - mean).std(axis=0)
    assert 0.2 < spread.mean() < 1.5


def test_what_was_measured_is_learned_and_neighbours_with_it(made: made_maps.Truth) -> None:
    posterior = MapPosterior(made.prior)
    posterior.tell([*seen(made, 1, range(0, 6), 0.3), *seen(made, 2, range(0, 6), -0.3)], 60)
    mean, draws = posterior.draws(512)
    moved = mean - made.prior.mean
    assert moved[1, 2] == pytest.approx(0.3, abs=0.06)
    assert moved[2, 2] == pytest.approx(-0.3, abs=0.06)
    assert moved[1, 6] - moved[2, 6] > 0.2, "one size further"
    assert moved[1, 13] - moved[2, 13] < moved[1, 6] - moved[2, 6], "far away less is known"
    spread = (draws[:, 1] - draws[:, 2]).std(axis=0)
    assert spread[2] < 0.5 * spread[13]


def test_alike_contenders_learn_from_each_other(made: made_maps.Truth) -> None:
    """0, 3 and 6 have one order; 1 and 2 have others."""
    posterior = MapPosterior(made.prior)
    off = {0: 0.4, 3: 0.4, 1: -0.4, 4: -0.4, 2: -0.4, 5: -0.4}
    times = [s for k, value in off.items() for s in seen(made, k, range(0, 14, 3), value)]
    posterior.tell(times, 120)
    moved = posterior.draws(16)[0] - made.prior.mean
    assert moved[6].mean() > moved[7].mean() + 0.1


def test_the_drift_of_a_visit_does_not_move_differences(made: made_maps.Truth) -> None:
    mean = made.prior.mean
    pair = [(k, 4, float(mean[k, 4]) + 0.1) for k in (1, 2)]
    apart = [MapObservations(*one, 0.01, visit) for visit, one in enumerate(pair)]
    together = [MapObservations(*one, 0.01, 0) for one in pair]
    spreads = []
    for times in (apart, together):
        posterior = MapPosterior(made.prior)
        posterior.tell(times, 40)
        draws = posterior.draws(2048)[1]
        spreads.append(float((draws[:, 1, 4] - draws[:, 2, 4]).std()))
    assert spreads[1] < spreads[0]


def test_the_same_seed_gives_the_same_draws(made: made_maps.Truth) -> None:
    found = []
    for seed in (1, 1, 2):
        posterior = MapPosterior(made.prior, seed)
        posterior.tell(seen(made, 1, range(3), 0.2), 6)
        found.append(posterior.draws(16)[1])
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_a_model_that_is_off_by_a_factor_is_learned_from_one_cell(made: made_maps.Truth) -> None:
    """All contenders are slower than predicted by the same: the order stays as it is."""
    posterior = MapPosterior(made.prior)
    times = [MapObservations(k, 4, float(made.prior.mean[k, 4]) + 0.7, 0.01, 0) for k in range(6)]
    posterior.tell(times, 120)
    moved = posterior.draws(16)[0] - made.prior.mean
    assert moved[7, 4] > 0.4
    assert moved[:6, 4].std() < 0.05


def test_shared_figures_move_all_that_depend_on_them(made: made_maps.Truth) -> None:
    shifts = np.zeros((*made.prior.mean.shape, 1))
    shifts[::2, :, 0] = 0.3
    prior = dataclasses.replace(
        made.prior, shifts=shifts, independent=np.full(shifts.shape[:2], 0.05)
    )
    posterior = MapPosterior(prior)
    posterior.tell(
        [
            MapObservations(k, 4, float(prior.mean[k, 4]) + 0.3 * (k % 2 == 0), 0.01, 0)
            for k in (0, 1)
        ]
    )
    moved = posterior.draws(16)[0] - prior.mean
    assert moved[2, 10] - moved[3, 10] > 0.1
