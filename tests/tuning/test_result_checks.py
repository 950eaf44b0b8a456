"""Which candidates computed the same."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.measuring.candidates.base import CHECKSUM_TOLERANCE
from autotune.tuning.result_checks import Checksum, agree, odd_ones_out

A: Checksum = (10.0, 100.0)
B: Checksum = (10.5, 100.0)
C: Checksum = (11.0, 100.0)


@pytest.mark.parametrize(
    ("off", "same"),
    [(0.0, True), (0.9, True), (-0.9, True), (1.1, False), (-1.1, False)],
)
def test_checksums_agree_up_to_rounding_of_the_sum_of_magnitudes(off: float, same: bool) -> None:
    other = (10.0 + off * CHECKSUM_TOLERANCE * 100, 100.0)
    assert agree(A, other) is same
    assert agree(other, A) is same


def test_the_larger_of_two_magnitudes_counts() -> None:
    off = 10.0 + 50 * CHECKSUM_TOLERANCE * 100
    assert agree((10.0, 1.0), (off, 100 * 100.0))


def test_states_of_zeros_agree() -> None:
    assert agree((0.0, 0.0), (0.0, 0.0))


@pytest.mark.parametrize(
    ("checksums", "odd"),
    [
        ({}, set()),
        ({"a": A}, set()),
        ({"a": A, "b": A}, set()),
        ({"a": A, "b": A, "c": B}, {"c"}),
        ({"a": A, "b": B}, {"a", "b"}),
        ({"a": A, "b": B, "c": C}, {"a", "b", "c"}),
        ({"a": A, "b": A, "c": B, "d": B}, {"a", "b", "c", "d"}),
        ({"a": A, "b": A, "c": B, "d": B, "e": C}, {"a", "b", "c", "d", "e"}),
        ({"a": A, "b": B, "c": B, "d": C}, {"a", "d"}),
    ],
)
def test_those_without_the_majority_are_wrong_and_all_where_there_is_none(
    checksums: dict[str, Checksum], odd: set[str]
) -> None:
    assert odd_ones_out(checksums) == odd


@settings(max_examples=40)
@given(st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([A, B, C])), st.randoms())
def test_neither_order_nor_a_common_factor_of_the_states_matters(
    checksums: dict[str, Checksum], chance: random.Random
) -> None:
    names = sorted(checksums)
    chance.shuffle(names)
    scaled = {name: (3 * checksums[name][0], 3 * checksums[name][1]) for name in names}
    assert odd_ones_out(scaled) == odd_ones_out(checksums)
