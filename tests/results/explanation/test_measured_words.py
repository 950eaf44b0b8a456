"""What was measured of two candidates stands before what was predicted of them."""

from dataclasses import replace

import fabricated
import pytest

from autotune.results.evaluate.comparable import ComparableRun
from autotune.results.explanation.measured_words import measured_pair, sentences
from autotune.statistics.drift import levels
from autotune.statistics.launch_times import LaunchTime

WOBBLE = (1.0, 1.01, 0.99, 1.0, 1.01, 0.99)
ORIGIN = ("quick", "2026-11-27T12:14:40.123456+00:00")


def run_of(a: float, b: float, *, chosen: str = "ab") -> ComparableRun:
    """A run that measured both; ``chosen``: those with enough rounds to win."""
    table = {
        name: {number: LaunchTime(seconds * wobble) for number, wobble in enumerate(WOBBLE)}
        for name, seconds in (("a", a), ("b", b))
    }
    level = levels(table)
    return ComparableRun(
        run="1",
        rounds={name: table[name] for name in chosen},
        level=level,
        times=level.times,
        intervals={name: (0.98 * time, 1.02 * time) for name, time in level.times.items()},
    )


def predictions(a: float | None, b: float | None):
    return fabricated.prediction(a), fabricated.prediction(b)


@pytest.mark.parametrize("chosen", ["ab", "a", "b"])
@pytest.mark.parametrize(
    ("measured", "predicted", "agreement", "words"),
    [
        (
            (1.2e-3, 1e-3),
            (1.5e-3, 1e-3),
            "agrees",
            "x is 1.20 x slower than y (1.2 ms",
        ),
        (
            (1e-3, 1.2e-3),
            (1e-3, 1.5e-3),
            "agrees",
            "x is 1.20 x faster than y (1 ms",
        ),
        ((1.2e-3, 1e-3), (1e-3, 1.5e-3), "contradicts", "x is 1.20 x slower than y"),
        ((1e-3, 1e-3), (1e-3, 1.5e-3), "open", "x and y are not told apart"),
        ((1.2e-3, 1e-3), (1e-3, 1e-3), "open", "x is 1.20 x slower than y"),
        ((1.2e-3, 1e-3), (0.995e-3, 1e-3), "open", "x is 1.20 x slower than y"),  # "the same time"
        ((1.2e-3, 1e-3), (None, 1e-3), "open", "x is 1.20 x slower than y"),
    ],
)
def test_the_measurement_says_whether_the_prediction_agrees(
    measured, predicted, agreement, words, chosen
) -> None:
    run = run_of(*measured, chosen=chosen)
    pair = measured_pair(run, ORIGIN, ("a", "b"), predictions(*predicted))
    assert pair is not None
    assert pair.prediction == agreement
    first, second = sentences(pair, "x", "y")
    assert first.startswith(f"Measured: {words}")
    assert "90 % interval of this run" in first
    assert first.endswith("study quick, 2026-11-27 12:14 UTC).")
    assert ("contradicts the prediction, which" in second) == (agreement == "contradicts")
    low, high = pair.interval
    assert low <= measured[0] / measured[1] <= high


def test_a_run_of_other_candidates_says_nothing() -> None:
    assert measured_pair(run_of(1, 2), ORIGIN, ("a", "c"), predictions(1, 2)) is None


def test_without_common_rounds_nothing_is_decided() -> None:
    pair = measured_pair(run_of(1.2, 1.0, chosen=""), ORIGIN, ("a", "b"), predictions(2, 1))
    assert pair == replace(pair, interval=None, prediction="open")
    assert "no interval is known" in sentences(pair, "x", "y")[0]
