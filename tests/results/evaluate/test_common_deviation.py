"""Predictions that miss the times to one side, beside a host that was slower when a run began."""

import pytest

from autotune.results.evaluate.common_deviation import common_deviation, warning

SLOWER = {
    "clock_ratio": 0.74,
    "bandwidth_ratio": 0.756,
    "warning": "when the study began, the clock was 2.11 GHz, 2.85 GHz when the host was"
    " calibrated: what is bound by the core would take 35 % longer than predicted",
}
UNCHANGED = {"clock_ratio": 0.99, "bandwidth_ratio": 1.03}
TOO_SLOW = tuple((ratio, 1.0) for ratio in (1.43, 1.50, 1.58, 1.59, 1.65))


def test_predictions_that_are_all_too_slow_have_their_median() -> None:
    deviation = common_deviation(TOO_SLOW, UNCHANGED)
    assert deviation is not None
    assert (deviation.ratio, deviation.missed, deviation.candidates) == (1.58, 5, 5)


def test_predictions_that_are_all_too_fast_have_their_median() -> None:
    deviation = common_deviation([(measured, slow) for slow, measured in TOO_SLOW], {})
    assert deviation is not None
    assert deviation.ratio == pytest.approx(1 / 1.58)


@pytest.mark.parametrize(
    ("ratios", "common"),
    [
        ((1.4, 1.5, 1.6, 0.9), True),
        ((1.4, 1.5, 1.0, 0.9), False),
        ((1.5, 1.6, 0.5, 0.6), False),
        ((1.10, 1.12, 1.15, 1.19), False),
        ((1.5, 1.6), False),
        ((), False),
    ],
    ids=["most", "half", "both-sides", "little", "two-candidates", "none"],
)
def test_only_what_most_have_in_common_is_told(ratios: tuple[float, ...], common: bool) -> None:
    assert (common_deviation([(r, 1.0) for r in ratios], {}) is not None) is common


def test_what_a_changed_host_explains_is_not_told_again() -> None:
    """A clock of 0.74 of the calibrated one lets times be 1.35 times the predicted ones."""
    longer = [(1.0, time) for time in (1.3, 1.35, 1.4, 1.5)]
    assert common_deviation(longer, SLOWER) is None
    assert common_deviation(longer, UNCHANGED) is not None
    assert common_deviation([(1.0, 2 * time) for _, time in longer], SLOWER) is not None
    faster = [(time, 1.0) for _, time in longer]
    assert common_deviation(faster, {"bandwidth_ratio": 1.41}) is None


def test_a_slower_host_does_not_explain_shorter_times() -> None:
    """The check was disturbed, the runs were not."""
    text = warning(SLOWER, [None, common_deviation(TOO_SLOW, SLOWER)])
    assert text == (
        "when the study began, a short check found the clock at 0.74 and memory bandwidth at 0.76"
        " of the calibrated value; the measured times deviate from the predictions to the other"
        " side, so that other processes may have disturbed this check"
    )
    without = {key: value for key, value in SLOWER.items() if key != "bandwidth_ratio"}
    assert "the clock at 0.74 of" in warning(without, [common_deviation(TOO_SLOW, without)])


def test_a_warning_stays_where_the_times_do_not_speak_against_it() -> None:
    longer = common_deviation([(1.0, 3.0 * time) for _, time in TOO_SLOW], SLOWER)
    assert longer is not None
    for deviations in ([], [None], [longer]):
        assert warning(SLOWER, deviations) == SLOWER["warning"]
    assert warning(UNCHANGED, [longer]) == ""
    other = {"warning": "predicted for haswell, timed on another"}
    assert warning(other, [common_deviation(TOO_SLOW, other)]) == other["warning"]
    lines = {**UNCHANGED, "warning": "a line of another core took 3.0 times the calibrated cycles"}
    assert warning(lines, [common_deviation(TOO_SLOW, lines)]) == lines["warning"]


def test_a_check_is_contradicted_only_where_nothing_agrees_with_it() -> None:
    """A slower clock beside a faster memory explains both; so does one of two problems."""
    too_fast = [(measured, predicted) for predicted, measured in TOO_SLOW]
    both = {**SLOWER, "clock_ratio": 0.9, "bandwidth_ratio": 1.25}
    assert warning(both, [common_deviation(too_fast, both)]) == SLOWER["warning"]
    slow, fast = common_deviation(TOO_SLOW, SLOWER), common_deviation(too_fast, UNCHANGED)
    assert slow is not None
    assert fast is not None
    assert warning(SLOWER, [slow, fast]) == SLOWER["warning"]
