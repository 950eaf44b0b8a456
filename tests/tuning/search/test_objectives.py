"""Several objectives: whose improvement is expected, and when time stands alone."""

import itertools

import numpy as np
import pytest

from autotune.tuning.search.objectives import Objectives
from autotune.tuning.search.parameter_levels import levels
from autotune.tuning.search.points import Floats
from autotune.tuning.search.surface import Observation, Surface

ROWS = tuple(itertools.product(range(5), "ab"))
COUNT = len(ROWS)
EVERY = np.arange(COUNT)
MEASURED = np.array([0, 3, 4, 7])
TIMES = np.exp(np.array([0.1 * n for n, _ in ROWS]))
ENERGIES = np.exp(np.array([0.5 - 0.1 * n for n, _ in ROWS]))
"""What is fast takes more energy."""


def made(names: tuple[str, ...] = ("energy",), seed: int = 1) -> tuple[Surface, Objectives]:
    unknown = np.full(COUNT, np.nan)
    time = Surface(
        levels=levels(ROWS),
        group=np.zeros(COUNT, dtype=np.intp),
        columns=EVERY,
        predicted=unknown,
        sigma=unknown,
        seed=seed,
    )
    for row in MEASURED.tolist():
        time.learn(Observation(row=row, value=float(np.log(TIMES[row])), noise=1e-4))
    return time, Objectives(names, time, seed)


def improvement(
    time: Surface, objectives: Objectives, places: np.ndarray = EVERY, seed: int = 3
) -> Floats | None:
    nobody = np.empty(0, dtype=np.intp)
    chance = np.random.default_rng(seed)
    return objectives.improvement(time.posterior(nobody), places, MEASURED, chance)


def test_where_nothing_but_time_was_told_time_stands_alone() -> None:
    time, objectives = made()
    assert improvement(time, objectives) is None
    objectives.learn(0, {}, 1e-4)
    objectives.learn(0, {"memory": 5.0}, 1e-4)
    assert improvement(time, objectives) is None, "of memory nobody asked"
    assert improvement(*made(names=())) is None


def test_an_improvement_is_expected_at_each_place_and_never_negative() -> None:
    time, objectives = made()
    for row in MEASURED.tolist():
        objectives.learn(row, {"energy": float(ENERGIES[row])}, 1e-4)
    places = np.array([1, 5, 9])
    expected = improvement(time, objectives, places)
    assert expected is not None
    assert expected.shape == (3,)
    assert np.all(expected >= 0)
    assert expected.max() > 0


def test_more_is_expected_where_nothing_was_measured() -> None:
    time, objectives = made()
    for row in MEASURED.tolist():
        objectives.learn(row, {"energy": float(ENERGIES[row])}, 1e-4)
    draws = []
    for seed in range(12):
        drawn = improvement(time, objectives, seed=seed)
        assert drawn is not None
        draws.append(drawn)
    mean = np.mean(draws, axis=0)
    assert mean[MEASURED].mean() < np.delete(mean, MEASURED).mean()


def test_equal_chances_give_equal_expectations() -> None:
    first, second = made(), made()
    for _, objectives in (first, second):
        objectives.learn(0, {"energy": 1.0}, 1e-4)
        objectives.learn(7, {"energy": 2.0}, 1e-4)
    assert improvement(*first) == pytest.approx(improvement(*second), abs=0)
    other = improvement(*first, seed=4)
    assert other is not None
    assert other.tolist() != pytest.approx(improvement(*second))


def test_the_weights_decide_which_objective_is_bettered() -> None:
    """Over many steps both ends of the front are looked for, the fast and the frugal."""
    time, objectives = made()
    for row in MEASURED.tolist():
        objectives.learn(row, {"energy": float(ENERGIES[row])}, 1e-4)
    best = set()
    for seed in range(25):
        drawn = improvement(time, objectives, seed=seed)
        assert drawn is not None
        best.add(ROWS[int(np.argmax(drawn))][0])
    assert min(best) <= 1
    assert max(best) >= 3
