"""Where the model is wrong: a planted error is found, chance is not taken for one."""

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats

from autotune.language.constraint import Value
from autotune.statistics.residual_scales import Observed, Residual, by_parameter, worst


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


def of_values(**residuals: Sequence[float]) -> tuple[Residual, ...]:
    """Residuals by the values of a single parameter."""
    return by_parameter(
        [
            Observed(parameters={"p": value}, residual=residual)
            for value, group in residuals.items()
            for residual in group
        ]
    )


def residual(parameter: str, value: Value, *, mean: float, excess: float) -> Residual:
    return Residual(
        parameter=parameter, value=value, mean=mean, interval=None, candidates=1,
        excess=excess, chance=0.0, clear=True,
    )  # fmt: skip


def test_mean_interval_and_excess_by_hand():
    """Student's t of 2 degrees of freedom is 2.920 at 90 %, of 1 degree 6.314."""
    a, b = of_values(a=[0.1, 0.2, 0.3], b=[0.5, 0.9])
    assert (a.mean, a.excess, a.candidates) == (pytest.approx(0.2), pytest.approx(-0.5), 3)
    assert (b.mean, b.excess, b.candidates) == (pytest.approx(0.7), pytest.approx(0.5), 2)
    half = 2.920 * 0.1 / math.sqrt(3)
    assert a.interval == pytest.approx((0.2 - half, 0.2 + half), abs=1e-4)
    assert b.interval == pytest.approx((0.7 - 6.314 * 0.2, 0.7 + 6.314 * 0.2), abs=1e-4)


def test_an_excess_is_over_the_mean_of_all_others_together():
    a, _, _ = of_values(a=[1.0, 2.0], b=[0.0], c=[0.3, 0.3, 0.6])
    assert a.excess == pytest.approx(1.5 - 1.2 / 4)


def test_chance_is_that_of_welch():
    """Unequal variances: t = difference / sqrt(u + v), freedom by Welch and Satterthwaite."""
    a, b = of_values(a=[0.1, 0.2, 0.3], b=[0.5, 0.9])
    u, v = 0.01 / 3, 0.08 / 2
    freedom = (u + v) ** 2 / (u**2 / 2 + v**2 / 1)
    expected = 2 * scipy.stats.t.sf(0.5 / math.sqrt(u + v), freedom)
    assert a.chance == pytest.approx(expected)
    assert b.chance == pytest.approx(expected)


@pytest.mark.parametrize(
    ("second", "chance"), [([0.2, 0.2], 0.0), ([0.1, 0.1], 1.0), ([0.2], 1.0), ([0.1], 1.0)]
)
def test_values_without_spread_differ_for_certain_or_not_at_all(second: list[float], chance: float):
    a, b = of_values(a=[0.1, 0.1], b=second)
    assert (a.chance, b.chance) == (chance, chance)
    assert not a.clear
    a, b = of_values(a=[0.1] * 4, b=second * 2)
    assert (a.clear, b.clear) == (chance == 0, chance == 0)


def test_a_value_of_few_candidates_is_not_clear_however_close_they_are():
    many = [0.1, 0.11, 0.09, 0.1, 0.12, 0.08]
    few = of_values(a=many, b=[1.2, 1.2001, 1.1999])
    assert few[1].chance < 1e-6
    assert worst(few, 3) == ()
    (named, *_) = worst(of_values(a=many, b=[1.2, 1.2001, 1.1999, 1.2]), 3)
    assert named.candidates in (4, 6)


def test_chance_counts_all_values_that_were_looked_at():
    """A chance of 4 % is clear (10 %) where two values were compared, and not where four were."""
    apart = {"a": [0.0, 0.1, 0.2], "b": [0.2, 0.3, 0.4]}
    two = of_values(**apart)
    assert two[0].chance == pytest.approx(0.0705, abs=1e-4)
    assert not two[0].clear
    low, high = [0.0, 0.1, 0.1, 0.2], [0.15, 0.25, 0.25, 0.35]
    wider = of_values(a=low, b=high)
    assert wider[0].chance == pytest.approx(0.0406, abs=1e-3)
    assert [r.clear for r in wider] == [True, True]
    also = [
        Observed(parameters={"p": r, "q": n % 2}, residual=value)
        for r, group in (("a", low), ("b", high))
        for n, value in enumerate(group)
    ]
    assert not any(r.clear for r in by_parameter(also))


def test_values_come_without_one_first_then_truth_numbers_and_words():
    values: list[Value] = ["b", 10, True, "a", 9.5, False, None]
    found = by_parameter(
        [Observed(parameters={"p": v}, residual=float(n)) for n, v in enumerate(values)]
    )
    order = [r.value for r in found]
    assert set(order[:2]) == {None, False}
    assert order[2:] == [True, 9.5, 10, "a", "b"]
    assert order[2] is True


def test_a_parameter_that_only_some_have_is_compared_among_those():
    found = by_parameter(
        [
            Observed(parameters={"p": 1}, residual=0.0),
            Observed(parameters={"p": 2, "q": 1}, residual=1.0),
            Observed(parameters={"p": 2, "q": 1}, residual=1.0),
        ]
    )
    assert [(r.parameter, r.value) for r in found] == [("p", 1), ("p", 2)]


def test_factors_are_the_exponentials():
    a, b = of_values(a=[0.1, 0.2, 0.3], b=[0.7])
    factors = a.factors
    assert a.interval is not None
    assert factors.factor == a.factor == pytest.approx(math.exp(0.2))
    assert factors.interval == pytest.approx(tuple(math.exp(end) for end in a.interval))
    assert factors.excess == pytest.approx(math.exp(-0.5))
    assert (factors.parameter, factors.value, factors.candidates) == ("p", "a", 3)
    assert b.factors.interval is None


def test_the_worst_are_the_largest_excesses_of_either_sign():
    three = [
        residual("p", 1, mean=0.1, excess=0.2),
        residual("p", 2, mean=0.1, excess=-0.9),
        residual("p", 3, mean=-0.4, excess=0.2),
    ]
    assert [r.value for r in worst(three, 9)] == [2, 3, 1]
    assert [r.value for r in worst(three, 2)] == [2, 3]
    assert worst(three, 0) == ()


def test_of_two_values_the_one_with_the_larger_residual_stands_for_both():
    two = [residual("p", 1, mean=0.1, excess=-0.5), residual("p", 2, mean=0.6, excess=0.5)]
    other = residual("q", 1, mean=0.2, excess=0.1)
    assert [(r.parameter, r.value) for r in worst([*two, other], 9)] == [("p", 2), ("q", 1)]


def candidates(chance: np.random.Generator, effect: float = 0.0) -> list[Observed]:
    """Forty candidates of two parameters; ``order`` a is slower by the effect."""
    orders, tiles = chance.choice(list("abcd"), 40).tolist(), chance.integers(0, 4, 40).tolist()
    return [
        Observed(
            parameters={"order": order, "tile": tile},
            residual=float(chance.normal(0, 0.1)) + effect * (order == "a"),
        )
        for order, tile in zip(orders, tiles, strict=True)
    ]


def test_chance_is_taken_for_more_in_at_most_one_study_of_ten():
    """Eight values are looked at: without Bonferroni it would be every second study."""
    chance = np.random.default_rng(30)
    studies = 25
    wrong = sum(any(r.clear for r in by_parameter(candidates(chance))) for _ in range(studies))
    assert wrong <= scipy.stats.binom.ppf(0.99, studies, 0.1)


def test_a_planted_effect_of_four_deviations_is_clear_in_every_study():
    chance = np.random.default_rng(31)
    for _ in range(5):
        (largest, *_) = worst(by_parameter(candidates(chance, effect=0.4)), 3)
        assert (largest.parameter, largest.value) == ("order", "a")
        assert largest.excess == pytest.approx(0.4, abs=0.15)
