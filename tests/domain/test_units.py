"""Quantities: text to SI numbers and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune import units

DIMENSIONS = ["time", "size", "frequency", "bandwidth", "throughput", "cycles"]
positive = st.floats(min_value=1e-12, max_value=1e15, allow_nan=False)


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("32 KiB", "size", 32768),
        ("32 kB", "size", 32000),
        ("1MiB", "size", 1048576),
        ("2.3 GHz", "frequency", 2.3e9),
        ("51 GB/s", "bandwidth", 51e9),
        ("32 B/cy", "throughput", 32),
        ("0.3 us", "time", 3e-7),
        ("2 min", "time", 120),
        ("1e-3 s", "time", 1e-3),
        (".5 s", "time", 0.5),
        ("-5 ms", "time", -5e-3),
        ("28 cy", "cycles", 28),
    ],
)
def test_quantities_are_read_into_si(text, dimension, value):
    assert units.parse(text, dimension) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("5 GHz", "size"),
        ("5", "time"),
        ("fast", "frequency"),
        ("", "time"),
        ("1 2 s", "time"),
        ("1e999 s", "time"),
        ("5 KB", "size"),
        ("5 gb/s", "bandwidth"),
        ("nan s", "time"),
        ("inf s", "time"),
    ],
)
def test_anything_else_is_refused_in_words(text, dimension):
    with pytest.raises(ValueError, match=r"unit of|too large"):
        units.parse(text, dimension)


@given(positive, st.sampled_from(DIMENSIONS))
def test_exact_text_reads_back_as_the_same_number(value, dimension):
    assert units.parse(units.exact(value, dimension), dimension) == value


@given(st.integers(min_value=1, max_value=2**48))
def test_whole_bytes_read_back_exactly(value):
    assert units.parse(units.exact(value, "size"), "size") == value


@given(positive, st.sampled_from(DIMENSIONS))
def test_shown_text_reads_back_to_four_digits(value, dimension):
    assert units.parse(units.show(value, dimension), dimension) == pytest.approx(value, rel=6e-4)


@pytest.mark.parametrize(
    ("value", "dimension", "text"),
    [
        (20 * 2**20, "size", "20 MiB"),
        (1000, "size", "1000 B"),
        (3_000_001, "size", "2.861 MiB"),
        (0, "size", "0 B"),
        (0.0025, "time", "2.5 ms"),
        (51e9, "bandwidth", "51 GB/s"),
        (27.5, "throughput", "27.5 B/cy"),
    ],
)
def test_quantities_are_shown_with_a_readable_prefix(value, dimension, text):
    assert units.show(value, dimension) == text
