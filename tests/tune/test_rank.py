"""Ranking: order, ties, candidates without a prediction, finding by name."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune import config
from autotune.problem import Problem
from autotune.ranking import differences, rank
from autotune.results import Part, Prediction
from autotune.variant import Candidate, Variant

PROBLEM = Problem(
    ivp=config.ivp("heat2d"), method=config.method("radau-iia-5"), correctors=4, size=32
)


def candidate(number: int, problem: Problem = PROBLEM) -> Candidate:
    variant = Variant(skeleton="pirk", transformations=(), parameters={"order": f"v{number}"})
    return Candidate(variant=variant, problem=problem)


def prediction(seconds: float | None) -> Prediction:
    interval = None if seconds is None else (seconds / 2, seconds * 2)
    return Prediction(seconds=seconds, interval=interval, parts=(), engine="reuse", reason="")


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
        ("lc", 1.0, 4.0),
        ("rhs", 2.0, 2.5),
    ]


def test_a_prediction_outside_its_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        Prediction(seconds=3.0, interval=(1.0, 2.0), parts=(), engine="reuse", reason="")
