"""A posterior grown by single observations against the dense solution of all of them."""

from collections.abc import Callable

import numpy as np
import pytest

from autotune.statistics.gaussian_process.grown_posterior import (
    JITTER,
    GrownPosterior,
    factor_of,
)
from autotune.statistics.gaussian_process.kernels import Floats, matern52

PLACES = np.linspace(0, 5, 40)
PRIOR = matern52(np.sqrt(5) * np.abs(PLACES[:, None] - PLACES[None]), 1.5)
WHITE = 0.01


def dense(places: list[int], noise: list[float], values: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation: Rasmussen and Williams 2006, eq. 2.25 and 2.26."""
    gram = PRIOR[np.ix_(places, places)] + np.diag(np.array(noise) + WHITE + JITTER)
    between = PRIOR[:, places]
    mean = between @ np.linalg.solve(gram, values)
    variance = np.diag(PRIOR) - np.sum(between * np.linalg.solve(gram, between.T).T, axis=1)
    return mean, np.sqrt(variance)


def grown(places: list[int], noise: list[float]) -> GrownPosterior:
    posterior = GrownPosterior(np.diag(PRIOR).copy(), WHITE)
    for place, variance in zip(places, noise, strict=True):
        posterior.append(place, PRIOR[place], variance)
    return posterior


def rebuilt(places: list[int], noise: list[float]) -> GrownPosterior:
    posterior = GrownPosterior(np.diag(PRIOR).copy(), 0.5)
    gram = PRIOR[np.ix_(places, places)] + np.diag(np.array(noise) + WHITE + JITTER)
    posterior.rebuild(gram, PRIOR[places].copy(), np.diag(PRIOR).copy(), WHITE)
    return posterior


def observed(count: int, seed: int = 0) -> tuple[list[int], list[float], Floats]:
    chance = np.random.default_rng(seed)
    places = chance.permutation(len(PLACES))[:count].tolist()
    return places, chance.uniform(0, 0.05, count).tolist(), chance.normal(size=count)


def between(places: dict[int, int]) -> Callable[[int], tuple[int, Floats]]:
    """The place of a running observation, and its covariances."""
    return lambda number: (places[number], PRIOR[places[number]])


def test_before_any_observation_it_is_the_prior() -> None:
    posterior = GrownPosterior(np.array([4.0, 9.0]), WHITE)
    assert posterior.count == 0
    assert posterior.mean(np.empty(0)).tolist() == [0.0, 0.0]
    assert posterior.sd([], between({})).tolist() == [2.0, 3.0]


@pytest.mark.parametrize("make", [grown, rebuilt])
@pytest.mark.parametrize("count", [1, 2, 16, 17, 35])
def test_it_is_the_dense_solution(
    make: Callable[[list[int], list[float]], GrownPosterior], count: int
) -> None:
    """Also beyond the 16 rows that are kept free at first."""
    places, noise, values = observed(count)
    posterior = make(places, noise)
    mean, sd = dense(places, noise, values)
    assert posterior.count == count
    assert posterior.mean(values) == pytest.approx(mean, abs=1e-9)
    assert posterior.sd([], between({})) == pytest.approx(sd, rel=1e-6)


def test_observations_come_in_any_order() -> None:
    places, noise, values = observed(9)
    backwards = grown(places[::-1], noise[::-1])
    assert backwards.mean(values[::-1]) == pytest.approx(grown(places, noise).mean(values))


def test_growth_goes_on_after_all_were_taken_in_at_once() -> None:
    places, noise, values = observed(20)
    posterior = rebuilt(places[:12], noise[:12])
    for place, variance in zip(places[12:], noise[12:], strict=True):
        posterior.append(place, PRIOR[place], variance)
    mean, sd = dense(places, noise, values)
    assert posterior.mean(values) == pytest.approx(mean, abs=1e-9)
    assert posterior.sd([], between({})) == pytest.approx(sd, rel=1e-6)


def test_one_observation_by_hand() -> None:
    """Prior variance 4, noise 1: the mean moves by 4/5 of the value, the variance to 4/5."""
    posterior = GrownPosterior(np.array([4.0, 4.0]), 0.25)
    posterior.append(0, np.array([4.0, 2.0]), 0.75)
    assert posterior.mean(np.array([10.0])) == pytest.approx([8.0, 4.0], rel=1e-7)
    assert posterior.sd([], between({})) ** 2 == pytest.approx([4 - 16 / 5, 4 - 4 / 5], rel=1e-7)


def test_a_place_observed_twice_is_known_better() -> None:
    once, twice = grown([7], [0.04]), grown([7, 7], [0.04, 0.04])
    assert twice.sd([], between({}))[7] < once.sd([], between({}))[7]
    expected = 1 / (1 / 1.5 + 2 / (0.04 + WHITE + JITTER))
    assert twice.sd([], between({}))[7] ** 2 == pytest.approx(expected, rel=1e-6)


def test_a_value_known_exactly_keeps_a_standard_deviation() -> None:
    posterior = GrownPosterior(np.array([1.0]), 0.0)
    for _ in range(3):
        posterior.append(0, np.array([1.0]), 0.0)
    assert 1e-6 <= posterior.sd([], between({}))[0] < 2e-4


def test_what_is_under_way_counts_as_observed_without_noise_of_its_own() -> None:
    places, noise, values = observed(8)
    posterior = grown(places[:5], noise[:5])
    running = dict(enumerate(places[5:]))
    mean = posterior.mean(values[:5])
    sd = posterior.sd([0, 1, 2], between(running))
    _, expected = dense(places, [*noise[:5], 0.0, 0.0, 0.0], values)
    assert sd == pytest.approx(expected, rel=1e-6)
    assert posterior.mean(values[:5]).tolist() == mean.tolist(), "the mean is believed already"


def test_what_is_under_way_may_change_between_questions() -> None:
    places, noise, _ = observed(6)
    posterior = grown(places[:3], noise[:3])
    running = dict(enumerate(places[3:]))
    posterior.sd([0, 1], between(running))
    for asked in ([1], [1, 0], [2, 0, 1], []):
        fresh = grown(places[:3], noise[:3])
        assert posterior.sd(asked, between(running)) == pytest.approx(
            fresh.sd(asked, between(running)), rel=1e-9
        )


def test_an_observation_makes_what_was_under_way_be_asked_again() -> None:
    places, noise, values = observed(6)
    posterior = grown(places[:3], noise[:3])
    running = {0: places[4], 1: places[5]}
    posterior.sd([0, 1], between(running))
    posterior.append(places[3], PRIOR[places[3]], noise[3])
    _, expected = dense([*places[:4], places[5]], [*noise[:4], 0.0], values[:5])
    assert posterior.sd([1], between(running)) == pytest.approx(expected, rel=1e-6)


def test_what_is_no_covariance_has_no_factor() -> None:
    broken = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(np.linalg.LinAlgError):
        factor_of(broken)
    posterior = GrownPosterior(np.ones(40), WHITE)
    with pytest.raises(np.linalg.LinAlgError):
        posterior.rebuild(broken, PRIOR[:2].copy(), np.ones(40), WHITE)


def test_a_factor_is_the_lower_one() -> None:
    factor = factor_of(np.array([[4.0, 2.0], [2.0, 5.0]]))
    assert factor.tolist() == [[2.0, 0.0], [1.0, 2.0]]


def test_intervals_of_draws_from_the_prior_hold_what_they_should() -> None:
    """Of functions drawn from the prior, 95 % lie within 1.96 standard deviations, everywhere."""
    chance = np.random.default_rng(9)
    root = np.linalg.cholesky(PRIOR + 1e-9 * np.eye(len(PLACES)))
    inside = []
    for run in range(60):
        truth = root @ chance.normal(size=len(PLACES))
        places, noise, _ = observed(6, seed=run)
        values = truth[places] + chance.normal(0, np.sqrt(np.array(noise) + WHITE))
        posterior = grown(places, noise)
        off = (truth - posterior.mean(values)) / posterior.sd([], between({}))
        inside.append(np.mean(np.abs(off) < 1.96))
    assert 0.91 < np.mean(inside) < 0.985
