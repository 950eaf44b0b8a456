"""Counts: exact values of expressions, and what is refused."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.language.counts import exact, parse


@pytest.mark.parametrize(
    ("text", "values", "value"),
    [
        ("2**ceil(log2(p)/2)", {"p": 8}, 4),
        ("na/npcols", {"na": 14000, "npcols": 4}, 3500),
        ("na/3", {"na": 7}, Fraction(7, 3)),
        ("sqrt(p)", {"p": 49}, 7),
        ("2**-2", {}, Fraction(1, 4)),
        ("1 if p > 1 else 0", {"p": 1}, 0),
        ("-7//2", {}, -4),
        ("max(a, 3) % 2", {"a": 5}, 1),
        ("4*(0.5*n)", {"n": 3}, 6.0),
    ],
)
def test_values_are_exact(text, values, value):
    result = exact(parse(text), values)
    assert result == value
    assert type(result) is type(value)


@given(st.integers(0, 62))
def test_the_logarithm_of_a_power_of_two_is_exact(k):
    assert exact(parse("log2(p)"), {"p": 2**k}) == k
    assert exact(parse("ceil(log2(p)/2)"), {"p": 2**k}) == -(-k // 2)


@given(st.integers(1, 2**31))
def test_roots_of_squares_are_exact_and_others_are_real(n):
    root = exact(parse("sqrt(n)"), {"n": n})
    assert root == (math.isqrt(n) if math.isqrt(n) ** 2 == n else math.sqrt(n))


@pytest.mark.parametrize(
    ("text", "values", "words"),
    [
        ("ceil(log(p)/log(2))", {"p": 2**29}, "too near 29"),
        ("ceil(log2(p)/2)", {"p": 2**58 + 1}, "too near 29"),
        ("n/m", {"n": 1, "m": 0}, "division by zero in n / m"),
        ("n%m", {"n": 1, "m": 0}, "division by zero"),
        ("0**-1", {}, "division by zero"),
        ("n + 1", {}, "variable 'n' has no value; variables with one: none"),
        ("n*n", {"n": 2**40}, "n * n is too large"),
        ("9**9**9", {}, "too large"),
        ("log2(0)", {}, "not positive"),
        ("sqrt(-1)", {}, "negative"),
        ("(-1)**0.5", {}, "root of a negative number"),
        ("0.0**-1", {}, "division by zero"),
    ],
)
def test_what_has_no_exact_value_is_refused(text, values, words):
    with pytest.raises(ValueError, match=r".*") as error:
        exact(parse(text), values)
    assert words in str(error.value)


@pytest.mark.parametrize("text", ["a[0]", "sin(x)", "2^p", "a if b == c else d", "f()", "'a'"])
def test_other_texts_are_outside_the_language(text):
    with pytest.raises(ValueError, match=r"column|array element"):
        parse(text)
