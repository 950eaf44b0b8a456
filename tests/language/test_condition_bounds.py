"""Conditions asked before all of their names have values agree with all that can follow."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.language.condition_bounds import BoundedCondition, Possible, among
from autotune.language.constraint import Condition

DOMAINS = {
    "a": (0, 1, 2),
    "b": (-2, 0, 3),
    "c": tuple(range(1, 40)),
    "u": (None, 4, 8),
    "m": ("fast", "safe"),
    "on": (False, True),
}
TEXTS = [
    "a + b + c <= 1",
    "a * b * c > 30",
    "a - b == 4",
    "c % 4 == 0",
    "c // 4 == 3",
    "c / (a + 1) < 5",
    "2 ** a > 3",
    "min(a, b) >= 1 or max(b, c) < 3",
    "abs(b) <= a",
    "sqrt(c) <= 2",
    "log2(c) >= 4 and on",
    "u != null and u <= 4",
    "u == null or u * a < 8",
    "m == 'fast'",
    "m in ('safe', 'odd') or not on",
    "c not in (1, 2, 3)",
    "1 <= a < b",
    "(a if on else c) > 1",
    "(m == 'fast') != (u == null)",
    "-c < -20",
    "ceil(c / 8) == floor(c / 8)",
]


@pytest.mark.parametrize("text", TEXTS)
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_is_decided_is_so_for_all_values_that_are_left(text, data):
    condition = Condition(text)
    left = {
        name: data.draw(
            st.lists(st.sampled_from(DOMAINS[name]), min_size=1, unique_by=repr), label=name
        )
        for name in condition.names
    }
    truths = set()
    for values in product(*left.values()):
        try:
            truths.add(condition.holds(dict(zip(left, values, strict=True))))
        except ValueError:
            truths.add(None)
    decided = BoundedCondition(condition).decided(
        {name: among(tuple(values)) for name, values in left.items()}
    )
    if decided is not None:
        assert truths <= {decided, None}
    if all(len(values) == 1 for values in left.values()):
        assert truths == {decided}


def test_wide_domains_are_bounded_by_their_ends():
    few = BoundedCondition(Condition("a * b <= 100"))
    wide = among(tuple(range(20, 1000)))
    assert few.decided({"a": wide, "b": wide}) is False
    assert few.decided({"a": Possible(None, 0, 1000), "b": among((0,))}) is True
    assert few.decided({"a": Possible(None, 0, 1000), "b": among((1,))}) is None


def test_texts_and_numbers_are_never_compared_by_their_ends():
    mixed = among((*range(100), "none"))
    assert BoundedCondition(Condition("a < 1000")).decided({"a": mixed}) is None
    assert BoundedCondition(Condition("a == 'none'")).decided({"a": mixed}) is None
