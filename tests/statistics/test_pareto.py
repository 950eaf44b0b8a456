"""The Pareto front against the definition, point by point."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.statistics.pareto import front, not_dominated

VALUES = st.sampled_from([1.0, 2.0, 4.0, 8.0])
CLOUD = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.fixed_dictionaries({"t": VALUES, "m": VALUES, "e": VALUES}),
    min_size=1,
)


def dominated(point: dict[str, float], others: list[dict[str, float]]) -> bool:
    """Whether another one is nowhere worse and somewhere better."""
    return any(
        all(other[k] <= point[k] for k in point) and any(other[k] < point[k] for k in point)
        for other in others
    )


@settings(max_examples=60)
@given(CLOUD)
def test_the_front_is_what_nobody_dominates_one_of_equals_by_name(
    cloud: dict[str, dict[str, float]],
) -> None:
    first_of: dict[tuple[float, ...], str] = {}
    for name in sorted(cloud):
        first_of.setdefault(tuple(cloud[name][k] for k in "tme"), name)
    expected = {
        name for name in first_of.values() if not dominated(cloud[name], list(cloud.values()))
    }
    kept = front(cloud, ("t", "m", "e"))
    assert set(kept) == expected
    assert [cloud[name]["t"] for name in kept] == sorted(cloud[name]["t"] for name in kept)


@settings(max_examples=30)
@given(CLOUD, st.floats(0.1, 10))
def test_the_first_objective_may_have_any_unit(
    cloud: dict[str, dict[str, float]], factor: float
) -> None:
    scaled = {name: {**point, "t": factor * point["t"]} for name, point in cloud.items()}
    assert front(scaled, ("t", "m")) == front(cloud, ("t", "m"))


def test_of_a_single_objective_the_best_is_the_front() -> None:
    assert front({"a": {"t": 2.0}, "b": {"t": 1.0}, "c": {"t": 1.0}}, ("t",)) == ("b",)


def test_a_page_of_memory_less_makes_no_candidate_but_a_shorter_time_does() -> None:
    points = {"a": {"t": 1.0, "m": 1000.0}, "b": {"t": 1.001, "m": 999.9}}
    assert front(points, ("t", "m")) == ("a",)
    assert front(points, ("m", "t")) == ("b",), "now memory counts as it is, and time in steps"
    less = {"a": {"t": 1.0, "m": 1000.0}, "b": {"t": 1.001, "m": 970.0}}
    assert front(less, ("t", "m")) == ("a", "b")
    assert front(points, ("t", "m"), fine=1e-6) == ("a", "b")


def test_candidates_that_lack_an_objective_take_no_part() -> None:
    points = {"a": {"t": 1.0}, "b": {"t": 2.0, "m": 1.0}}
    assert front(points, ("t", "m")) == ("b",)
    assert front(points, ("t", "m", "e")) == ()
    assert front({}, ("t",)) == ()


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_values_that_are_not_positive_numbers_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match=r"^objectives must be positive numbers, not \[1\.0, "):
        front({"a": {"t": 1.0, "m": value}}, ("t", "m"))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8))
def test_points_that_no_other_beats_in_everything(points: list[tuple[int, int]]) -> None:
    kept = [
        place
        for place, (a, b) in enumerate(points)
        if not any(c <= a and d <= b and (c, d) != (a, b) for c, d in points)
    ]
    assert not_dominated(points) == kept
