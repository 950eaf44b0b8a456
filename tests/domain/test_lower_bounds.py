"""Lower bounds of predicted times: by hand, as properties, and where there are none."""

from dataclasses import replace

import fabricated as made
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.lower_bounds import lower_bounds, ranking_bounds
from autotune.domain.ranking import Ranking, rank
from autotune.domain.results import Part, Prediction
from autotune.models.engines.ecm_arithmetic import combine
from autotune.units import Seconds

Kinds = dict[str, float]


def predicted(*sweeps: Kinds, more: float = 0.0) -> Prediction:
    """A step of sweeps with the stated seconds of each kind, and ``more`` seconds of barriers."""
    parts = [
        Part(sweep=f"sweep{k}", kind=kind, seconds=Seconds(seconds))
        for k, kinds in enumerate(sweeps)
        for kind, seconds in kinds.items()
    ]
    if more:
        parts.append(Part(sweep="barrier", kind="barrier", seconds=Seconds(more)))
    total = Seconds(more + sum(kinds.get("sweep", 0.0) for kinds in sweeps))
    return replace(made.prediction(1.0), seconds=total, interval=None, parts=tuple(parts))


def ranking(prediction: Prediction) -> Ranking:
    return rank([made.candidate()], [prediction])[0]


def bounds_of(prediction: Prediction) -> Kinds:
    return {bound.resource: bound.seconds for bound in lower_bounds(prediction)}


def test_the_core_takes_the_larger_part_of_every_sweep_and_levels_add_up() -> None:
    first = {"T_OL": 3.0, "T_nOL": 1.0, "L2": 2.0, "entry": 0.5, "sweep": 3.5}
    second = {"T_OL": 1.0, "T_nOL": 2.0, "L2": 1.0, "MEM": 6.0, "sweep": 9.0}
    bounds = lower_bounds(predicted(first, second, more=0.5))
    assert [(b.resource, b.seconds) for b in bounds] == [("MEM", 6.0), ("core", 5.0), ("L2", 3.0)]


def test_the_ratio_is_the_time_over_the_largest_bound() -> None:
    best = ranking_bounds(ranking(predicted({"T_OL": 4.0, "MEM": 8.0, "sweep": 9.0}, more=1.0)))
    assert best.limit is not None
    assert best.limit.resource == "MEM"
    assert best.seconds == 10.0
    assert best.ratio == pytest.approx(1.25)
    assert best.candidate == made.candidate().id
    assert not best.reason


def of_two(first: Prediction, second: Prediction) -> Ranking:
    return rank([made.candidate("jli"), made.candidate("ijl")], [first, second])[0]


def test_the_least_of_each_resource_is_over_all_candidates() -> None:
    light = predicted({"T_OL": 4.0, "MEM": 1.0, "sweep": 5.0})
    lean = predicted({"T_OL": 2.0, "L2": 1.0, "MEM": 8.0, "sweep": 9.0})
    least = ranking_bounds(of_two(light, lean)).least
    found = [(b.resource, b.seconds) for b in least]
    assert found == [("core", 2.0), ("L2", 1.0), ("MEM", 1.0)], "what MEM sends passes L2"


def test_a_candidate_without_parts_leaves_the_least_open() -> None:
    assert not ranking_bounds(
        of_two(predicted({"T_OL": 4.0, "sweep": 5.0}), predicted(more=1.0))
    ).least


def test_barriers_and_messages_are_no_bound() -> None:
    assert not lower_bounds(predicted(more=1.0))


def test_parts_without_the_time_of_their_sweep_bound_nothing() -> None:
    best = ranking_bounds(ranking(predicted({"T_OL": 4.0, "MEM": 8.0}, more=1.0)))
    assert best.bounds == ()
    assert best.ratio is None
    assert best.limit is None
    assert best.reason == "engine reuse does not say what the core and levels take"


def test_without_a_predicted_time_there_is_a_reason() -> None:
    best = ranking_bounds(ranking(made.prediction(None, reason="no loop")))
    assert (best.candidate, best.seconds, best.bounds) == (None, None, ())
    assert best.reason == "no candidate has a predicted time"


TIMES = st.floats(1e-9, 1e3)
SWEEPS = st.lists(st.tuples(TIMES, TIMES, TIMES, TIMES, st.floats(0, 1)), min_size=1, max_size=5)


@given(SWEEPS, st.floats(0, 1))
def test_no_time_of_the_ecm_model_is_below_a_bound(
    sweeps: list[tuple[float, float, float, float, float]], barrier: float
) -> None:
    steps = [
        {
            "T_OL": work,
            "T_nOL": loads,
            "L2": near,
            "MEM": far,
            "sweep": float(combine(work, loads, near + far, share * (near + far))),
        }
        for work, loads, near, far, share in sweeps
    ]
    best = ranking_bounds(ranking(predicted(*steps, more=barrier)))
    assert best.ratio is not None
    assert best.ratio >= 1 - 1e-9


@given(SWEEPS, st.floats(0.1, 10))
def test_bounds_scale_with_the_times(
    sweeps: list[tuple[float, float, float, float, float]], factor: float
) -> None:
    steps = [{"T_OL": a, "T_nOL": b, "L2": c, "sweep": a + b + c} for a, b, c, _, _ in sweeps]
    scaled = [{kind: factor * value for kind, value in step.items()} for step in steps]
    expected = {name: factor * value for name, value in bounds_of(predicted(*steps)).items()}
    assert bounds_of(predicted(*scaled)) == pytest.approx(expected)
