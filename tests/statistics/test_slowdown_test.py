"""The sequential test of a slowdown: its looks, its false alarms, what it detects."""

import random
from pathlib import Path

import numpy as np
import pytest

from autotune.statistics.launch_times import LaunchTime
from autotune.statistics.run_drift import RUN_SHIFT, run_shift
from autotune.statistics.slowdown_test import SlowdownTest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PAIRS = 200


def launches(level: float, rounds: int, noise: float, seed: int) -> dict[int, LaunchTime]:
    chance = np.random.default_rng(seed)
    return {n: LaunchTime(level * float(np.exp(chance.normal(0, noise)))) for n in range(rounds)}


@pytest.mark.parametrize("most", [3, 5, 10, 30, 40, 100])
def test_all_looks_together_spend_the_probability_of_a_false_alarm(most: int) -> None:
    test = SlowdownTest(limit=0.03, most=most, error=0.04)
    spent = [(1 - test.share(look, last=look == most)) / 2 for look in test.looks]
    assert sum(spent) == pytest.approx(0.04)
    assert spent[-1] >= 0.02 - 1e-12
    for cut in (look for look in test.looks if look < most):
        before = [s for look, s in zip(test.looks, spent, strict=True) if look <= cut]
        last = (1 - test.share(cut, last=True)) / 2
        assert sum(before) + last == pytest.approx(0.04)


def test_what_twice_the_time_takes_is_slower_at_the_first_look() -> None:
    test = SlowdownTest(limit=0.03, most=40)
    reading = test.decide(launches(2.0, 40, 0.05, 1), launches(1.0, 40, 0.05, 2))
    assert reading is not None
    assert (reading.outcome, reading.rounds) == ("slower", 5)
    assert reading.low > 1.03
    back = test.decide(launches(1.0, 40, 0.05, 1), launches(2.0, 40, 0.05, 2))
    assert back is not None
    assert (back.outcome, back.rounds) == ("within", 5)


def test_more_rounds_and_less_noise_prove_smaller_slowdowns() -> None:
    def resolution(rounds: int, noise: float) -> float:
        test = SlowdownTest(limit=0.03, most=rounds)
        new, old = (launches(1.0, rounds, noise, seed) for seed in (3, 4))
        reading = test.read(new, old, last=True)
        assert reading is not None
        return reading.resolution

    assert resolution(40, 0.02) < resolution(10, 0.02)
    assert resolution(20, 0.01) < resolution(20, 0.1)
    assert resolution(40, 0.0) > 0.03


def test_without_a_common_round_nothing_is_read() -> None:
    test = SlowdownTest(limit=0.03, most=10)
    assert test.read({0: LaunchTime(1.0)}, {1: LaunchTime(1.0)}, last=True) is None


def test_between_runs_only_large_slowdowns_are_proven() -> None:
    test = SlowdownTest(limit=0.03, most=10)
    assert test.between_runs(1.08, RUN_SHIFT, 4).outcome == "open"
    assert test.between_runs(2.0, RUN_SHIFT, 4).outcome == "slower"
    assert test.between_runs(1.0, RUN_SHIFT, 4).resolution > 0.1
    assert run_shift([0.2] * 20) > 3 * RUN_SHIFT


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"limit": -0.1, "most": 5}, "0 or more"),
        ({"limit": 0.1, "most": 0}, "at least one round"),
        ({"limit": 0.1, "most": 5, "error": 1.0}, "between 0 and 1"),
    ],
)
def test_impossible_tests_are_refused(values: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SlowdownTest(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("most", [10, 20])
def test_false_alarms_on_recorded_noise_are_as_rare_as_stated(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """200 pairs of one program against itself, on a busy host, slower by just what is allowed."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import regression_gate

    _, twins = regression_gate.read_twins(regression_gate.RECORDED)
    test = SlowdownTest(limit=0.03, most=most)
    at_limit, _, _ = regression_gate.outcomes(twins, test, 0.03, PAIRS, seed=7)
    alarms = at_limit["slower"]
    bound = test.error + 2.5 * np.sqrt(test.error * (1 - test.error) / PAIRS)
    assert alarms / PAIRS <= bound, at_limit
    alike, _, _ = regression_gate.outcomes(twins, test, 0.0, 50, seed=8)
    assert alike["slower"] <= 2


def test_twice_the_time_is_always_detected_in_recorded_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import regression_gate

    _, twins = regression_gate.read_twins(regression_gate.RECORDED)
    test = SlowdownTest(limit=0.03, most=20)
    counts, _, _ = regression_gate.outcomes(twins, test, 1.0, 50, seed=9)
    assert counts == {"slower": 50}
    new, old = regression_gate.drawn_pair(twins, 5, 0.5, random.Random(1))
    assert sorted(new) == sorted(old) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("rounds", "outcome"), [(1, "open"), (2, "open"), (3, "slower")])
def test_a_launch_or_two_prove_nothing(rounds: int, outcome: str) -> None:
    """One launch in four of a heavy-tailed host is slow for a reason of its own."""
    new, old = (dict.fromkeys(range(rounds), LaunchTime(s)) for s in (2.0, 1.0))
    reading = SlowdownTest(limit=0.03, most=40).read(new, old, last=True)
    assert reading is not None
    assert reading.outcome == outcome
