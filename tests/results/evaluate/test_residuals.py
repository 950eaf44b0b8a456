"""Where the model is wrong: a planted error is found, chance is not taken for one."""

import math
import random

import pytest

from autotune.statistics.residual_scales import Observed, by_parameter, worst


def observed(error: float = 0.0, noise: float = 0.05, count: int = 60) -> list[Observed]:
    """Candidates whose time the model gets wrong by ``exp(error)`` where they are tiled."""
    chance = random.Random(4)
    found = []
    for _ in range(count):
        known = {"tile": chance.choice((None, 64, 512)), "order": chance.choice(("ij", "ji"))}
        wrong = error if known["tile"] == 512 else 0.0
        found.append(Observed(parameters=known, residual=wrong + chance.gauss(0.1, noise)))
    return found


def test_a_planted_error_is_the_worst():
    found = by_parameter(observed(0.5))
    (first, *_) = worst(found, 3)
    assert (first.parameter, first.value) == ("tile", 512)
    assert first.excess == pytest.approx(0.5, abs=0.05)
    assert first.factor == pytest.approx(math.exp(0.6), rel=0.05)
    low, high = first.interval
    assert low < 0.6 < high
    assert [r.value for r in found if r.parameter == "tile"] == [None, 64, 512]
    assert sum(r.candidates for r in found if r.parameter == "tile") == 60


def test_without_an_error_nothing_stands_out():
    assert worst(by_parameter(observed()), 3) == ()


def test_what_does_not_vary_and_what_is_alone():
    assert by_parameter([Observed(parameters={"a": 1}, residual=0.1)] * 3) == ()
    one, other = by_parameter(
        [Observed(parameters={"a": v}, residual=r) for v, r in ((True, 0.2), (1, 0.4))]
    )
    assert one.interval is None
    assert {type(one.value), type(other.value)} == {bool, int}
    assert (one.chance, one.clear) == (1.0, False)
