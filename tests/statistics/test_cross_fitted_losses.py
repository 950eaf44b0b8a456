"""Losses of the accuracy benchmark: noise does not flatter them, rules come from other problems."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from autotune.files import config
from autotune.statistics.launch_times import LaunchTime

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def crossed(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "accuracy_folds", raising=False)
    return importlib.import_module("accuracy_folds")


def launches(times: np.ndarray) -> list[dict[int, LaunchTime]]:
    """Of times (candidates, rounds)."""
    return [{k: LaunchTime(float(t)) for k, t in enumerate(row)} for row in times]


def test_without_noise_the_excess_is_the_loss(crossed) -> None:
    folds = crossed.folds(launches(np.outer([1.0, 1.1, 1.3], np.ones(4))))
    assert folds.choosing.shape == (6, 3)
    assert folds.excess([2]) == pytest.approx(0.3)
    assert folds.excess([2, 1]) == pytest.approx(0.1)
    assert folds.excess([0]) == pytest.approx(0.0)
    assert folds.floor() == pytest.approx(0.0)


def test_noise_alone_is_no_excess(crossed) -> None:
    """Equal candidates: the best by all rounds seems faster, but no choice loses."""
    generator = np.random.default_rng(3)
    found, floors = [], []
    for _ in range(200):
        folds = crossed.folds(launches(np.exp(0.05 * generator.standard_normal((30, 4)))))
        found.append(folds.excess([0]))
        floors.append(folds.floor())
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found)) < 4 * error
    assert np.mean(floors) > 0.03


def test_an_odd_number_of_rounds_leaves_one_out_in_turn(crossed) -> None:
    assert crossed.folds(launches(np.ones((2, 5)))).scoring.shape == (30, 2)


def test_three_rounds_are_refused(crossed) -> None:
    with pytest.raises(ValueError, match="3 rounds cannot choose and score: 4 are needed"):
        crossed.folds(launches(np.ones((2, 3))))


def test_a_rule_is_the_best_list_of_other_problems(crossed) -> None:
    others = [{"a": 1.0, "b": 1.2, "c": 2.0}, {"a": 1.5, "b": 1.1, "c": 1.0}]
    assert crossed.constant_rule(others, ["a", "b", "c"], 1) == ("b",)
    assert set(crossed.constant_rule(others, ["a", "c"], 2)) == {"a", "c"}
    assert crossed.constant_rule([], ["a"], 1) == ()


def test_a_variant_that_few_problems_have_is_no_rule(crossed) -> None:
    others = [{"a": 1.0, "b": 1.0}, {"a": 1.2, "b": 1.0}, {"a": 1.2, "b": 1.0, "c": 0.5}]
    assert crossed.constant_rule(others, ["a", "c"], 1) == ("a",)


def test_the_interval_score_adds_ten_times_what_is_missed(crossed) -> None:
    low, high = np.array([1.0, 1.0, 1.0]), np.array([np.e, np.e, np.e])
    score = crossed.interval_score(low, high, np.array([1.5, np.e**1.1, np.e**-0.2]))
    assert score.tolist() == pytest.approx([1.0, 2.0, 3.0])


def test_skill_compares_with_the_rule_and_says_how_sure_it_is(crossed) -> None:
    names = ["p", "q", "r"]
    assert crossed.skill([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], names) == pytest.approx((0, 0, 0))
    middle, low, high = crossed.skill([0.0, 0.0, 0.3], [0.2, 0.2, 0.2], names)
    assert middle == pytest.approx(0.5)
    assert low < middle < high
    assert crossed.skill([0.1], [0.0], ["p"]) is None


GENERATED = (*BENCHMARKS.glob("unseen/ivp/*.yaml"), *BENCHMARKS.glob("unseen/stencil/*.yaml"))


@pytest.mark.parametrize("path", sorted(GENERATED), ids=lambda p: p.stem)
def test_problems_of_the_benchmark_are_none_that_are_shipped(path) -> None:
    read = config.ivp if path.parent.name == "ivp" else config.stencil
    assert read(path).title
    shipped = BENCHMARKS.parent / "kernels" / path.parent.name
    assert path.name not in {other.name for other in shipped.glob("*.yaml")}
