import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.tuning.search.candidate_covariance import (
    Inputs,
    SearchHyperparameters,
    cross,
    evidence,
)
from autotune.tuning.search.gaussian_process import Observations, Process, SearchPrior
from autotune.tuning.search.parameter_levels import levels

CHANCE = np.random.default_rng(3)
ROWS = [(a, b, c) for a in range(5) for b in "xyz" for c in (False, True)]
EVERY = np.arange(len(ROWS))
LEVELS = levels(ROWS)
INPUTS = Inputs(
    levels=LEVELS,
    scale=CHANCE.uniform(0.5, 2, len(ROWS)),
    hints=CHANCE.normal(size=(2, len(ROWS))),
    group=EVERY % 2,
    constant=0.5,
    weight=0.3,
)
PRIOR = SearchPrior(amplitude=0.4)


def observations(rows: list[int], foreign: int = 0) -> Observations:
    chance = np.random.default_rng(len(rows))
    return Observations(
        rows=np.array(rows, dtype=np.intp),
        noise=chance.uniform(0, 0.01, len(rows)),
        foreign=np.array([float(place < foreign) for place in range(len(rows))]),
        values=chance.normal(size=len(rows)),
    )


def covariance(shape: SearchHyperparameters) -> np.ndarray:
    return cross(INPUTS, shape, EVERY, EVERY, LEVELS.indicator(EVERY))


def direct(observed: Observations, shape: SearchHyperparameters) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation by the textbook (Rasmussen and Williams 2006, eq. 2.25, 2.26)."""
    full, rows = covariance(shape), observed.rows
    gram = full[np.ix_(rows, rows)] + np.outer(observed.foreign, observed.foreign)
    gram += np.diag(observed.noise + shape.noise**2)
    mean = full[:, rows] @ np.linalg.solve(gram, observed.values)
    variance = np.diag(full) - np.einsum(
        "ij,ji->i", full[:, rows], np.linalg.solve(gram, full[rows])
    )
    return mean, np.sqrt(np.maximum(variance, 0))


def process() -> Process:
    return Process(INPUTS, EVERY, PRIOR, 1.0)


@given(st.lists(st.floats(-2, 2), min_size=7, max_size=7))
@settings(max_examples=20, deadline=None)
def test_the_covariance_is_one(theta: list[float]) -> None:
    shape = SearchHyperparameters.of(np.array(theta))
    full = covariance(shape)
    assert full == pytest.approx(full.T)
    assert np.linalg.eigvalsh(full).min() > -1e-8 * full.max()
    assert np.diag(full) == pytest.approx(INPUTS.variance(shape, EVERY))


@given(st.lists(st.floats(-1.5, 1.5), min_size=7, max_size=7))
@settings(max_examples=20, deadline=None)
def test_the_gradient_of_the_likelihood_is_its_slope(theta: list[float]) -> None:
    observed = observations([0, 3, 4, 9, 17, 22, 28])
    rows = observed.rows
    likelihood = evidence(INPUTS, rows, np.diag(observed.noise + 1e-3), observed.values)
    at = np.array(theta)
    _, gradient = likelihood.loss(at)
    step = 1e-5
    for place in range(len(at)):
        moved = np.zeros_like(at)
        moved[place] = step
        slope = (likelihood.loss(at + moved)[0] - likelihood.loss(at - moved)[0]) / (2 * step)
        assert gradient[place] == pytest.approx(slope, rel=1e-3, abs=1e-5)


@given(st.permutations(range(len(ROWS))), st.integers(1, 20), st.integers(0, 3))
@settings(max_examples=20, deadline=None)
def test_the_posterior_is_that_of_the_textbook(order: list[int], count: int, foreign: int) -> None:
    observed = observations(order[:count], foreign)
    one = process()
    one.rebuild(observed)
    mean, sd = direct(observed, one.shape)
    assert one.mean(observed.values) == pytest.approx(mean, abs=1e-5)
    assert one.sd(np.empty(0, dtype=np.intp)) == pytest.approx(sd, abs=1e-3)


def test_growing_one_by_one_is_the_same_as_all_at_once() -> None:
    every = observations([5, 1, 20, 13, 7, 29, 2, 11])
    grown = process()
    for count in range(1, len(every) + 1):
        so_far = Observations(
            rows=every.rows[:count],
            noise=every.noise[:count],
            foreign=every.foreign[:count],
            values=every.values[:count],
        )
        if count == 1:
            grown.rebuild(so_far)
        else:
            assert grown.append(so_far)
    nothing = np.empty(0, dtype=np.intp)
    mean, sd = direct(every, grown.shape)
    assert grown.mean(every.values) == pytest.approx(mean, abs=1e-5)
    assert grown.sd(nothing) == pytest.approx(sd, abs=1e-3)


def test_running_candidates_lower_what_is_unsure_around_them() -> None:
    one = process()
    one.rebuild(observations([5, 1, 20]))
    before = one.sd(np.empty(0, dtype=np.intp))
    running = one.sd(np.array([8, 9]))
    assert (running <= before + 1e-9).all()
    assert running[8] < 0.1 * before[8]
    believed = process()
    believed.rebuild(
        Observations(
            rows=np.array([5, 1, 20, 8, 9]),
            noise=np.append(observations([5, 1, 20]).noise, [0.0, 0.0]),
            foreign=np.zeros(5),
            values=np.zeros(5),
        )
    )
    assert running == pytest.approx(believed.sd(np.empty(0, dtype=np.intp)), abs=1e-4)


def test_lengths_are_learned_from_what_matters() -> None:
    rows = list(range(0, 30, 1))
    values = np.array([0.5 * (row[0] > 2) + 0.3 * (row[1] == "y") for row in ROWS])
    one = process()
    observed = Observations(
        rows=np.array(rows), noise=np.zeros(30), foreign=np.zeros(30), values=values - values.mean()
    )
    one.fit(observed, 40)
    tile, _, last = one.shape.lengths
    assert last > 2 * tile


def test_an_observation_added_later_is_in_the_posterior() -> None:
    """The posterior is computed when it is asked for, with all that was added until then."""
    observed = observations([0, 3, 7, 12])
    late, early = process(), process()
    late.rebuild(observed.pick(slice(2)))
    early.rebuild(observed.pick(slice(2)))
    for count in (3, 4):
        assert late.append(observed.pick(slice(count)))
        assert early.append(observed.pick(slice(count)))
        early.mean(observed.values[:count])
    assert late.mean(observed.values) == pytest.approx(early.mean(observed.values))
    assert late.sd(np.empty(0, dtype=np.intp)) == pytest.approx(
        early.sd(np.empty(0, dtype=np.intp))
    )
