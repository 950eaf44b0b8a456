"""Numbers in the tables of benchmarks, and what is said of those that are none."""

import pytest

from autotune.measuring.network.text_block import MalformedLine, microseconds, whole


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("1000", 1000), ("007", 7)])
def test_counts_are_whole_numbers(text: str, number: int) -> None:
    assert whole(text, 3) == number


@pytest.mark.parametrize("text", ["", "-1", "1.5", "1e3", "1_000", "x", " 1"])
def test_what_is_no_count_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(MalformedLine) as error:
        whole(text, 17)
    assert str(error.value) == f"{text!r} is not a whole number"
    assert error.value.line == 17


@pytest.mark.parametrize(
    ("text", "seconds"), [("2.5", 2.5e-6), ("1e3", 1e-3), ("0.01", 1e-8), ("1000000", 1.0)]
)
def test_times_are_converted_from_microseconds(text: str, seconds: float) -> None:
    assert microseconds(text, 3) == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("fast", "'fast' is not a time in microseconds"),
        ("", "'' is not a time in microseconds"),
        ("0.00", "a time of 0.00 us is not positive"),
        ("-1.0", "a time of -1.0 us is not positive"),
        ("nan", "a time of nan us is not positive"),
        ("inf", "a time of inf us is not positive"),
    ],
)
def test_what_is_no_time_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(MalformedLine) as error:
        microseconds(text, 4)
    assert str(error.value) == why
    assert error.value.line == 4
