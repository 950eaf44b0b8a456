"""Outliers among samples of communication: by hand, where repeats or neighbours tell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.measuring.network.outliers import SamplePoints, far_off, outliers, spread


def points(*rows: tuple[float, float, int]) -> SamplePoints:
    """Size, time, repeat of each sample; taken in that order."""
    x, y, repeat = (np.array(column) for column in zip(*rows, strict=True))
    taken = np.arange(len(x), dtype=np.float64) + 0.5
    return SamplePoints(x.astype(np.float64), y.astype(np.float64), repeat.astype(np.intp), taken)


def repeated(times: dict[float, list[float]]) -> SamplePoints:
    return points(*((x, y, k) for x, ys in times.items() for k, y in enumerate(ys)))


def line(*times: float) -> SamplePoints:
    """One sample for each power of two."""
    return points(*((2.0**k, y, 0) for k, y in enumerate(times)))


STEADY = {8.0: [1.0, 1.01, 0.99, 1.0, 1.02], 16.0: [2.0, 2.02, 1.98, 2.0, 2.01]}


def test_a_sample_far_from_the_others_of_its_size_is_far_off() -> None:
    samples = repeated({**STEADY, 32.0: [4.0, 4.02, 9.0, 3.99, 4.0]})
    assert np.flatnonzero(far_off(samples)).tolist() == [12]


def test_samples_within_a_fifth_are_never_far_off() -> None:
    """However steady the others are: exp(0.2) = 1.22."""
    steady = {8.0: [1.0] * 4 + [1.2], 16.0: [2.0] * 4 + [2.5]}
    assert np.flatnonzero(far_off(repeated(steady))).tolist() == [9]


def test_what_is_far_is_judged_by_the_scatter_of_all_sizes() -> None:
    scattered = {x: [x, 1.3 * x, x / 1.3, 1.3 * x, x / 1.3, 2 * x] for x in (8.0, 16.0, 32.0)}
    assert not far_off(repeated(scattered)).any()


def test_a_second_mode_is_how_the_system_behaves() -> None:
    """Of three and more of the samples of a size, or of a launch, none is an outlier."""
    by_size = {**STEADY, 32.0: [4.0, 4.0, 9.0, 9.1, 4.0]}
    assert not far_off(repeated(by_size)).any()
    by_launch = {x: [x, x, x, x, 3 * x] for x in (8.0, 16.0, 32.0, 64.0)}
    assert not far_off(repeated(by_launch)).any()


def test_three_samples_of_a_size_are_judged_by_their_median() -> None:
    samples = repeated({8.0: [1.0, 1.01, 0.99], 16.0: [2.0, 2.02, 1.98], 32.0: [4.0, 9.0, 4.02]})
    assert np.flatnonzero(far_off(samples)).tolist() == [7]


def test_two_samples_of_a_size_say_nothing_of_the_others() -> None:
    """They deviate from their median alike: neither their scatter nor their number counts."""
    pairs = {2.0**k: [2.0**k, 3 * 2.0**k] for k in range(5, 12)}
    samples = repeated({8.0: [1.0, 2.0, 1.01, 0.99, 1.0], **pairs})
    assert np.flatnonzero(far_off(samples)).tolist() == [1]
    scattered = np.exp([0.0, 0.1, -0.1, 0.1, -0.1, 0.5]).tolist()
    assert not far_off(repeated({8.0: scattered, **pairs})).any()


def test_single_samples_are_judged_by_the_line_between_their_neighbours() -> None:
    straight = [1.4**k for k in range(10)]
    assert not far_off(line(*straight)).any()
    for k in range(2, 8):
        spoilt = straight.copy()
        spoilt[k] *= 6
        assert np.flatnonzero(far_off(line(*spoilt))).tolist() == [k]
        spoilt[k] /= 36
        assert np.flatnonzero(far_off(line(*spoilt))).tolist() == [k]


def test_a_jump_to_another_protocol_is_no_spike() -> None:
    assert not far_off(line(1.0, 1.1, 1.2, 5.0, 5.5, 6.0)).any()


def test_four_single_samples_are_too_few_to_leave_one_out() -> None:
    assert not far_off(line(1.0, 50.0, 1.2, 1.3)).any()


@settings(max_examples=30)
@given(st.integers(0, 1000), st.floats(1e-9, 1e3), st.permutations(range(15)))
def test_units_and_order_do_not_matter(seed: int, factor: float, order: list[int]) -> None:
    chance = np.random.default_rng(seed)
    samples = repeated({x: (x * np.exp(chance.standard_t(2, 5) / 10)).tolist() for x in (1, 2, 4)})
    far = far_off(samples)
    moved = samples.only(np.ones(15, dtype=bool))
    turned = SamplePoints(
        moved.x[order], factor * moved.y[order], moved.repeat[order], moved.taken[order]
    )
    assert far_off(turned).tolist() == far[order].tolist()


# --- what is said of them -----------------------------------------------------------------------


def test_an_outlier_is_told_over_the_median_of_its_size() -> None:
    samples = repeated({8.0: [1.0, 1.1, 4.4, 0.9, 1.2]})
    (outlier,) = outliers(samples, samples.y > 4)
    assert (outlier.bytes, outlier.seconds, outlier.repeat) == (8, 4.4, 2)
    assert outlier.ratio == pytest.approx(4.0)
    assert outlier.taken == 2.5


def test_a_single_outlier_is_told_over_the_time_between_its_neighbours() -> None:
    """Linear in the size, of logarithms of times: at 24 of 16 to 32 the geometric mean."""
    samples = points((16.0, 1.0, 0), (24.0, 20.0, 0), (32.0, 4.0, 0))
    (outlier,) = outliers(samples, np.array([False, True, False]))
    assert outlier.ratio == pytest.approx(10.0)


def test_outliers_come_by_size_and_time() -> None:
    samples = repeated({16.0: [9.0, 1.0, 5.0], 8.0: [7.0, 1.0, 1.0]})
    told = outliers(samples, samples.y > 4)
    assert [(o.bytes, o.seconds) for o in told] == [(8, 7.0), (16, 5.0), (16, 9.0)]
    assert outliers(samples, np.zeros(6, dtype=bool)) == ()


# --- repeats ------------------------------------------------------------------------------------


def test_the_spread_between_repeats_is_the_median_coefficient_of_variation() -> None:
    """Repeats 1 and 3: sqrt(2) / 2; 1 and 1: 0; 2 and 4: sqrt(2) / 3. Their median is the last."""
    samples = points(
        (8.0, 1.0, 0), (8.0, 3.0, 1), (16.0, 1.0, 0), (16.0, 1.0, 1), (32.0, 2.0, 0),
        (32.0, 4.0, 1),
    )  # fmt: skip
    assert spread(samples) == pytest.approx(np.sqrt(2) / 3)


def test_a_repeat_counts_by_its_median() -> None:
    samples = points((8.0, 1.0, 0), (8.0, 1.0, 0), (8.0, 99.0, 0), (8.0, 3.0, 1))
    assert spread(samples) == pytest.approx(np.sqrt(2) / 2)


def test_a_single_repeat_has_no_spread() -> None:
    assert spread(points((8.0, 1.0, 0), (16.0, 2.0, 0))) is None
