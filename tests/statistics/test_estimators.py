"""The statistics, on numbers whose answers are known."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.statistics import estimators, rank_correlation
from autotune.statistics.launch_times import LaunchTime

times = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=12)


def rounds_of(table: Mapping[str, Sequence[float]]) -> dict[str, dict[int, LaunchTime]]:
    """A launch in each round of every candidate."""
    return {name: {r: LaunchTime(t) for r, t in enumerate(row)} for name, row in table.items()}


class TestLocation:
    @given(times, st.floats(0.1, 10))
    def test_scales_and_lies_within(self, values: list[float], factor: float):
        found = estimators.location(values)
        assert min(values) <= found <= max(values) * (1 + 1e-12)
        assert estimators.location([factor * v for v in values]) == pytest.approx(factor * found)
        assert estimators.location(sorted(values)) == found

    @pytest.mark.parametrize("values", [[], [1.0, 0.0], [1.0, -1.0], [math.nan], [math.inf]])
    def test_refuses_what_is_no_time(self, values: list[float]):
        with pytest.raises(ValueError, match=r"samples|positive"):
            estimators.location(values)

    def test_one_disturbed_sample_does_not_matter(self):
        assert estimators.location([1.0, 1.01, 1.02, 50.0]) < 1.05


class TestComparison:
    def test_ratio_cancels_drift(self):
        first = {r: LaunchTime(1.0 * (r + 1)) for r in range(5)}
        second = {r: LaunchTime(2.0 * (r + 1)) for r in range(1, 7)}
        assert estimators.ratio(first, second) == pytest.approx(0.5)
        assert estimators.ratio({0: LaunchTime(1.0)}, {1: LaunchTime(1.0)}) is None

    def test_ratio_is_the_median_of_the_common_rounds(self):
        first = {r: LaunchTime(t) for r, t in ((1, 1.0), (2, 3.0), (3, 9.0))}
        second = {r: LaunchTime(t) for r, t in ((0, 1.0), (1, 2.0), (2, 3.0), (3, 3.0))}
        assert estimators.ratio(first, second) == 1.0
        assert estimators.ratio({}, {}) is None

    def test_loss(self):
        assert estimators.loss(1.2, 1.0) == pytest.approx(0.2)
        assert estimators.loss(6.0, 4.0) == 0.5
        for chosen, best in ((1.0, 0.0), (0.0, 1.0), (-1.0, 1.0), (1.0, -1.0)):
            with pytest.raises(ValueError, match=f"positive, not {chosen} and {best}"):
                estimators.loss(chosen, best)

    def test_deviation_is_relative_to_what_was_measured(self):
        assert estimators.deviation(3.0, 2.0) == 0.5
        assert estimators.deviation(1.0, 2.0) == -0.5


class TestNoiseFloor:
    def test_no_noise_no_floor(self):
        rounds = rounds_of({"a": [1.0] * 4, "b": [2.0] * 4})
        assert estimators.noise_floor(rounds) == estimators.NoiseFloor(0.0, 0.0)

    def test_drift_for_all_alike_is_no_noise(self):
        rounds = rounds_of(
            {n: [f * (1 + r) for r in range(6)] for n, f in (("a", 1.0), ("b", 1.1))}
        )
        floor = estimators.noise_floor(rounds)
        assert floor is not None
        assert floor.maximum == 0

    def test_a_changed_winner_is_noise(self):
        """a wins early by 10 %, b late by 20 %; the middle round is left out."""
        rounds = rounds_of({"a": [1.0, 1.0, 9.0, 1.2, 1.2], "b": [1.1, 1.1, 1.0, 1.0, 1.0]})
        floor = estimators.noise_floor(rounds)
        assert floor is not None
        assert floor.maximum == pytest.approx(0.2)
        assert floor.mean == pytest.approx(0.15)

    def test_needs_two_rounds_and_two_candidates(self):
        assert estimators.noise_floor({}) is None
        assert estimators.noise_floor(rounds_of({"a": [1.0], "b": [1.0]})) is None
        late = {"a": {0: LaunchTime(1.0), 1: LaunchTime(1.0)}, "b": {1: LaunchTime(1.0)}}
        assert estimators.noise_floor(late) is None


class TestPrediction:
    def test_kendall(self):
        assert rank_correlation.kendall([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
        assert rank_correlation.kendall([3, 2, 1], [10, 20, 30]) == pytest.approx(-1)
        # 5 pairs: 4 in order, 1 tied among the predictions (tau-b = 5 / sqrt(5 * 6))
        assert rank_correlation.kendall([1, 1, 2, 3], [1, 2, 3, 4]) == pytest.approx(
            5 / math.sqrt(5 * 6)
        )
        assert rank_correlation.kendall([1, 2], [2, 1]) == pytest.approx(-1)
        assert rank_correlation.kendall([1], [1]) is None
        assert rank_correlation.kendall([1, 1], [1, 2]) is None

    def test_ordered_pairs(self):
        measured = [1.0, 1.04, 2.0]
        assert estimators.ordered_pairs([2, 1, 3], measured) == 1  # the near pair does not count
        assert estimators.ordered_pairs([3, 1, 2], measured) == 0.5
        assert estimators.ordered_pairs([1, 1, 1], measured) == 0.5
        assert estimators.ordered_pairs([1, 2], [1.0, 1.01]) is None
        assert estimators.ordered_pairs([1, 2], [2.0, 2.5], apart=0.25) is None
        assert estimators.ordered_pairs([1, 2], [2.0, 2.6], apart=0.25) == 1
        # of three pairs one in order, one reversed, one predicted as equal
        assert estimators.ordered_pairs([1, 1, 0], [1.0, 2.0, 3.0]) == pytest.approx(0.5 / 3)

    @given(st.permutations(range(6)), st.floats(0.1, 10))
    def test_ranking_measures_ignore_scale_and_order(self, order: list[int], factor: float):
        predicted = np.array([3.0, 1.0, 2.0, 5.0, 4.0, 6.0])
        measured = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        for figure in (
            rank_correlation.kendall,
            estimators.ordered_pairs,
            lambda a, b: rank_correlation.top_loss(a, b, 2),
        ):
            assert figure(factor * predicted[order], measured[order]) == pytest.approx(
                figure(predicted, measured)
            )

    def test_top_loss(self):
        predicted, measured = [1.0, 2.0, 3.0], [1.5, 1.2, 1.0]
        assert [
            rank_correlation.top_loss(predicted, measured, k) for k in (1, 2, 3, 9)
        ] == pytest.approx([0.5, 0.2, 0.0, 0.0])
        assert rank_correlation.top_loss([1.0, 1.0], [2.0, 1.0], 1) == 1.0  # the first of equals
        assert rank_correlation.top_loss([2.0, 1.0], [4.0, 6.0], 1) == 0.5
        assert rank_correlation.top_loss([], [], 1) is None
        with pytest.raises(ValueError, match="2 predictions do not pair with 2 times"):
            rank_correlation.top_loss([[1.0, 2.0]], [[1.0, 2.0]], 1)
        with pytest.raises(ValueError, match="finite"):
            rank_correlation.top_loss([1.0], [math.inf], 1)
        with pytest.raises(ValueError, match="do not pair"):
            rank_correlation.top_loss([1.0], [1.0, 2.0], 1)
        with pytest.raises(ValueError, match="finite"):
            rank_correlation.top_loss([math.nan], [1.0], 1)
        with pytest.raises(ValueError, match="at least 1, not 0"):
            rank_correlation.top_loss([1.0], [1.0], 0)
        with pytest.raises(ValueError, match="must be positive"):
            rank_correlation.top_loss([1.0], [0.0], 1)


TABLE = {
    "p": {"a": 1.0, "b": 1.2, "c": 2.0},
    "q": {"a": 1.5, "b": 1.2, "c": 1.0},
    "r": {"a": 1.0, "b": 1.1, "c": 1.5},
}


class TestSkill:
    def test_the_best_constant_rule(self):
        # mean losses over all: a (0 + .5 + 0)/3, b (.2 + .2 + .1)/3, c (1 + 0 + .5)/3
        assert estimators.constant_rule(TABLE, 1) in (("a",), ("b",))
        assert estimators.constant_rule(TABLE, 2) == ("a", "c")
        assert estimators.constant_rule(TABLE, 9) == ("a", "b", "c")

    def test_it_is_chosen_on_other_problems(self):
        assert estimators.constant_rule(TABLE, 1, leave_out="q") == ("a",)
        assert estimators.constant_losses(TABLE, 1)["q"] == pytest.approx(0.5)
        assert estimators.constant_rule({"p": {"a": 1.0}}, 1, leave_out="p") == ()
        assert estimators.constant_losses({"p": {"a": 1.0}}, 1) == {}

    def test_only_what_was_measured_everywhere(self):
        table = {"p": {"a": 1.0, "x": 0.5}, "q": {"a": 1.0, "y": 0.5}}
        assert estimators.constant_rule(table, 1) == ("a",)
        assert estimators.constant_losses(table, 1) == {"p": 1.0, "q": 1.0}

    def test_many_variants_grow_the_list(self):
        generator = np.random.default_rng(1)
        table = {
            p: {f"v{i:02}": float(t) for i, t in enumerate(generator.uniform(1, 2, 60))}
            for p in "pqrs"
        }
        rule = estimators.constant_rule(table, 5)
        assert len(set(rule)) == 5
        assert set(estimators.constant_rule(table, 1)) <= set(rule)

    def test_skill(self):
        assert estimators.skill([0.1, 0.1], [0.2, 0.2]) == pytest.approx(0.5)
        assert estimators.skill([0.0], [0.2]) == 1
        assert estimators.skill([0.4], [0.2]) == pytest.approx(-1)
        assert estimators.skill([0.0], [0.0]) == 0
        assert estimators.skill([0.1], [0.0]) is None
        assert estimators.skill([], []) is None
        with pytest.raises(ValueError, match="do not compare"):
            estimators.skill([0.1], [0.1, 0.2])
