"""Ranking: order, ties, candidates without a prediction, finding by name."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.problem import Problem
from autotune.domain.ranking import UNDECIDED, differences, odds, rank
from autotune.domain.results import Part, Prediction, Uncertainty
from autotune.domain.variant import Candidate, Variant
from autotune.files import config

PROBLEM = Problem(
    ivp=config.ivp("heat2d"), method=config.method("radau-iia-5"), correctors=4, size=32
)


def candidate(number: int, problem: Problem = PROBLEM) -> Candidate:
    variant = Variant(skeleton="pirk", transformations=(), parameters={"order": f"v{number}"})
    return Candidate(variant=variant, problem=problem)


def prediction(seconds: float | None) -> Prediction:
    interval = None if seconds is None else (seconds / 2, seconds * 2)
    return Prediction(seconds=seconds, interval=interval, parts=(), engine="reuse", reason="")


@settings(deadline=None)
@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=12), st.randoms(), st.floats(0.1, 10))
def test_ranking_is_invariant_under_order_and_common_scale(
    times: list[float], generator: random.Random, scale: float
) -> None:
    pairs = [(candidate(number), seconds) for number, seconds in enumerate(times)]
    first = rank([c for c, _ in pairs], [prediction(s) for _, s in pairs])[0]
    generator.shuffle(pairs)
    second = rank([c for c, _ in pairs], [prediction(s) for _, s in pairs])[0]
    assert [e.candidate.id for e in first.entries] == [e.candidate.id for e in second.entries]
    factor = 2.0 ** round(scale)  # exact, so that no tie is made or broken
    third = rank([c for c, _ in pairs], [prediction(s * factor) for _, s in pairs])[0]
    assert [e.candidate.id for e in first.entries] == [e.candidate.id for e in third.entries]


def test_candidates_without_a_prediction_come_last_and_have_no_rank() -> None:
    ranking = rank([candidate(0), candidate(1)], [prediction(None), prediction(1.0)])[0]
    assert [entry.rank for entry in ranking.entries] == [1, None]
    assert ranking.entries[0].candidate == candidate(1)


def test_each_problem_has_a_ranking_of_its_own() -> None:
    other = PROBLEM.at(64)
    rankings = rank(
        [candidate(0), candidate(0, other), candidate(1)],
        [prediction(2.0), prediction(5.0), prediction(1.0)],
    )
    assert [r.problem.size for r in rankings] == [32, 64]
    assert [e.rank for e in rankings[0].entries] == [1, 2]


def test_a_candidate_is_found_by_id_identity_label_and_unique_beginning() -> None:
    ranking = rank([candidate(0), candidate(11)], [prediction(1.0), prediction(2.0)])[0]
    wanted = candidate(11)
    for name in (wanted.id, wanted.identity, wanted.label, wanted.label[:3]):
        assert [entry.candidate for entry in ranking.matching(name)] == [wanted]
    shorter = candidate(1)  # its variant's label is the beginning of the other's
    ranking = rank([shorter, candidate(11)], [prediction(1.0), prediction(2.0)])[0]
    assert [e.candidate for e in ranking.matching(shorter.variant.label)] == [shorter]
    assert len(ranking.matching("v")) == 2
    assert ranking.matching("nothing") == []


def test_differences_name_the_largest_first() -> None:
    def parts(lc: float, rhs: float) -> Prediction:
        return Prediction(
            seconds=lc + rhs,
            interval=None,
            parts=(
                Part(sweep="lc", kind="L3", seconds=lc),
                Part(sweep="rhs", kind="T_OL", seconds=rhs),
            ),
            engine="reuse",
            reason="",
        )

    rows = differences(parts(1.0, 2.0), parts(4.0, 2.5))
    assert [(row.sweep, row.first, row.second) for row in rows] == [
        ("LC", 1.0, 4.0),
        ("RHS", 2.0, 2.5),
    ]


def test_a_prediction_outside_its_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        Prediction(seconds=3.0, interval=(1.0, 2.0), parts=(), engine="reuse", reason="")


# --- who is told apart from whom -----------------------------------------------------------------


def unsure(seconds: float, own: float = 0.0, **shared: float) -> Prediction:
    return Prediction(
        seconds=seconds, interval=None, parts=(), engine="reuse", reason="",
        uncertainty=Uncertainty(shared=shared, independent=own),
    )  # fmt: skip


def test_the_odds_are_those_of_a_normal_distribution() -> None:
    """Two logarithms one standard deviation of their difference apart."""
    first, second = unsure(1.0, 0.3), unsure(math.exp(0.5), 0.4)
    assert odds(first, second) == pytest.approx(0.8413, abs=1e-4)
    assert odds(second, first) == pytest.approx(0.1587, abs=1e-4)


def test_what_is_wrong_for_both_does_not_matter() -> None:
    first, second = unsure(1.0, 0.01, MEM=0.5), unsure(1.05, 0.01, MEM=0.5)
    assert odds(first, second) > 0.999
    other = unsure(1.05, 0.01, L3=0.5)
    assert odds(first, other) < 0.55


def test_candidates_within_the_uncertainty_form_a_group() -> None:
    times = (1.0, 1.02, 1.05, 2.0, 2.04, 5.0)
    found = rank(
        [candidate(k) for k in range(7)], [*(unsure(t, 0.05) for t in times), prediction(None)]
    )[0].entries
    assert [entry.group for entry in found] == [1, 1, 1, 2, 2, 3, None]
    assert [entry.undecided for entry in found] == [True, True, True, False, False, False, False]
    assert found[0].apart == 0.5
    assert found[-1].apart is None
    aparts = [entry.apart for entry in found[:-1]]
    assert aparts == sorted(aparts)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0.5, 2.0), st.floats(0.0, 0.4), st.floats(-0.4, 0.4)),
        min_size=1,
        max_size=25,
    )
)
def test_a_group_is_all_that_is_left_and_not_told_apart_from_its_fastest(
    stated: list[tuple[float, float, float]],
) -> None:
    predictions = [unsure(seconds, own, MEM=shared) for seconds, own, shared in stated]
    found = rank([candidate(k) for k in range(len(stated))], predictions)[0].entries
    left, groups, number = list(found), dict[str, int](), 0
    while left:
        number += 1
        first, *others = left
        near = [e for e in others if (odds(first.prediction, e.prediction) or 0) <= 1 - UNDECIDED]
        groups |= {entry.candidate.identity: number for entry in (first, *near)}
        left = [entry for entry in others if entry not in near]
    assert {entry.candidate.identity: entry.group for entry in found} == groups


def test_where_an_engine_does_not_say_nothing_is_told_apart() -> None:
    found = rank([candidate(0), candidate(1)], [prediction(1.0), prediction(2.0)])[0].entries
    assert [(entry.apart, entry.group, entry.undecided) for entry in found] == [
        (None, None, False)
    ] * 2
    assert odds(prediction(1.0), prediction(None)) is None
