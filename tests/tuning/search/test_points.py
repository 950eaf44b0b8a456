"""Candidates and results that a search takes, and the settings it refuses."""

import math
from collections.abc import Mapping

import numpy as np
import pytest

from autotune.domain.setup import Searching
from autotune.tuning.search.base import SearchResult
from autotune.tuning.search.points import Points, points
from autotune.tuning.search.policy import Policy
from autotune.tuning.search.search_choice import policy

ROWS = ((1, "x"), (2, "x"), (4, "y"))
NAN = math.nan


def of(**parts: object) -> Points:
    return points(("a", "b"), ROWS, **parts)  # type: ignore[arg-type]


def test_problems_are_counted_from_the_highest_number() -> None:
    candidates = of(group=np.array([2, 0, 2]))
    assert (len(candidates), candidates.groups) == (3, 3)
    assert candidates.members(2).tolist() == [0, 2]
    assert candidates.members(1).tolist() == []
    assert points(("a",), ()).groups == 0
    assert of().groups == 1
    assert np.isnan(of().predicted).all()
    assert np.isnan(of().sigma).all()


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"predicted": np.ones(2)}, r"predicted has shape \(2,\) for 3 candidates"),
        ({"sigma": np.ones((3, 1))}, r"sigma has shape \(3, 1\) for 3 candidates"),
        ({"group": np.zeros(4, dtype=np.intp)}, r"group has shape \(4,\) for 3 candidates"),
        ({"prior": np.ones(2)}, r"prior has shape \(2,\) for 3 candidates"),
        ({"predicted": np.array([1.0, 0.0, 1.0])}, "predicted times must be positive"),
        ({"predicted": np.array([1.0, math.inf, 1.0])}, "predicted times must be positive"),
        ({"prior": np.array([1.0, -1.0, NAN])}, "a prior's times must be positive"),
        ({"sigma": np.array([0.1, -0.1, NAN])}, "standard deviations must not be negative"),
        ({"sigma": np.array([0.1, math.inf, NAN])}, "standard deviations must not be negative"),
        ({"group": np.array([0, -1, 0])}, "groups are numbered from 0"),
    ],
)
def test_what_does_not_fit_is_refused(parts: Mapping[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        of(**parts)


def test_unknown_and_exact_values_are_allowed() -> None:
    candidates = of(
        predicted=np.array([NAN, 1e-9, 2.0]),
        sigma=np.array([0.0, NAN, 0.5]),
        prior=np.array([NAN, NAN, 3.0]),
    )
    assert len(candidates) == 3


def test_names_come_once_and_the_same_values_once_in_a_problem() -> None:
    with pytest.raises(ValueError, match="each parameter is named once, not a, a"):
        points(("a", "a"), ((1, 2),))
    with pytest.raises(ValueError, match="a row has 1 values for 2 parameters"):
        points(("a", "b"), ((1, 2), (1,)))
    assert len(points(("a",), ((1,), (1,)), group=np.array([0, 1]))) == 2


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"seconds": 0.0}, "a measured time must be positive, not 0.0"),
        ({"seconds": math.inf}, "a measured time must be positive, not inf"),
        ({"sigma": -0.1}, "a standard deviation must not be negative, but is -0.1"),
        ({"sigma": math.inf}, "a standard deviation must not be negative, but is inf"),
        ({"objectives": {"energy": 0.0}}, "objective energy must be positive, not 0.0"),
        ({"objectives": {"energy": math.inf}}, "objective energy must be positive, not inf"),
    ],
)
def test_a_result_is_positive_and_finite(parts: Mapping[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SearchResult(**{"index": 1, "seconds": 1.0, **parts})  # type: ignore[arg-type]


def test_a_failed_candidate_is_a_result() -> None:
    assert SearchResult(index=0, seconds=None).sigma == 0.0


@pytest.mark.parametrize(
    "name",
    [
        "first",
        "with_prior",
        "start",
        "neighbour_every",
        "explore_every",
        "patience",
        "most",
    ],
)
def test_counts_of_a_policy_are_at_least_one(name: str) -> None:
    assert getattr(Policy(**{name: 1}), name) == 1  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not 0"):
        Policy(**{name: 0})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"residual": "guess"}, "residual must be one of process, pool"),
        ({"stop_below": 1.0}, r"stop_below must be in \[0, 1\)"),
        ({"stop_below": -0.1}, r"stop_below must be in \[0, 1\)"),
        ({"beyond": 1.1}, r"beyond in \[0, 1\]"),
        ({"beyond": -0.1}, r"beyond in \[0, 1\]"),
        ({"explore_doubt": 0.9}, "explore_doubt widens standard deviations: at least 1, not 0.9"),
        ({"doubt": 0.9}, "doubt widens standard deviations: at least 1, not 0.9"),
        ({"objectives": ()}, "there is at least one"),
        ({"objectives": ("time", "time")}, "objectives are named once each"),
    ],
)
def test_a_policy_that_cannot_be_kept_is_refused(parts: Mapping[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Policy(**parts)  # type: ignore[arg-type]


def test_the_ends_of_the_ranges_of_a_policy_are_allowed() -> None:
    Policy(stop_below=0.0, beyond=0.0, doubt=1.0)
    Policy(beyond=1.0)


def test_the_settings_of_a_study_are_a_policy() -> None:
    assert policy(Searching()) == Policy()
    settings = Searching(first=2, stop_below=0.2, patience=7, objectives=("time", "energy"))
    taken = policy(settings)
    assert (taken.first, taken.stop_below, taken.patience) == (2, 0.2, 7)
    assert taken.objectives == ("time", "energy")
