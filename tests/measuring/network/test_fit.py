"""From samples to curves: selection, validation, intervals, outliers, refusals."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_curves import RUN, planted

from autotune.domain.network import Network
from autotune.errors import InputError
from autotune.measuring.network import curve_fit, curve_validation
from autotune.measuring.network.benchmark_settings import SIZES
from autotune.measuring.network.samples import BenchmarkSample, RecordedRun


def line(size):
    return 4e-7 + size / 5e9


def two(size):
    return line(size) if size < 4096 else 5e-6 + size / 2e9


def three(size):
    return two(size) if size < 300_000 else 2e-4 + size / 5e8


@given(st.sampled_from([(line, 1), (two, 2), (three, 3)]), st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_the_planted_number_of_pieces_is_chosen(what, seed):
    cost, pieces = what
    (found,) = curve_fit.fit([planted(cost, seed=seed)])
    assert len(found.curve.segments) == pieces
    for size in SIZES:
        assert found.curve.at(size) == pytest.approx(cost(size), rel=0.05)
    assert found.chosen.median < 0.05
    assert found.repeats == 4


def test_a_relative_fit_is_good_where_a_plain_line_is_useless():
    (found,) = curve_fit.fit([planted(three)])
    assert found.validated.plain.median > 1
    assert found.validated.errors[1].median > 3 * found.chosen.median


def test_the_interval_holds_nine_samples_of_ten_and_is_that_of_all_repeats():
    recorded = planted(line, repeats=8, noise=0.01, drift=0.2)
    (found,) = curve_fit.fit([recorded])
    low, high = found.curve.residual
    inside = [low <= s.seconds / found.curve.at(s.bytes) <= high for s in recorded.samples]
    assert 0.85 <= np.mean(inside) <= 0.95
    assert high / low > 1.3
    assert found.spread > 0.1


def test_validation_leaves_out_whole_octaves():
    """What is strange about one octave cannot be learnt from its neighbours."""
    recorded = planted(line, noise=0.0)
    strange = [
        dataclasses.replace(s, seconds=s.seconds * 1.5) if 1024 <= s.bytes < 2048 else s
        for s in recorded.samples
    ]
    (clean,), (off,) = curve_fit.fit([recorded]), curve_fit.fit([RecordedRun(RUN, strange)])
    assert clean.validated.errors[4].p90 < 1e-3
    assert off.validated.errors[4].count == 4 * len(SIZES)
    assert off.validated.errors[4].median + off.validated.errors[4].p90 > 0.03
    assert curve_validation.octaves(np.array([8.0, 11.0, 16.0, 1024.0, 1448.0])).tolist() == [
        3, 3, 4, 10, 10,
    ]  # fmt: skip


def test_validation_leaves_out_repeats():
    """Repeats that differ cannot be predicted better than they differ."""
    (found,) = curve_fit.fit([planted(line, noise=0.0, drift=0.3, repeats=8)])
    assert found.chosen.median > 0.1
    (same,) = curve_fit.fit([planted(line, noise=0.0, drift=0.0, repeats=8)])
    assert same.chosen.median < 1e-3


def test_contended_samples_are_left_out_counted_and_used_on_request():
    recorded = planted(line)
    slow = [
        dataclasses.replace(s, seconds=3 * s.seconds, busy=(1.0, 0.6)) if k % 3 == 0 else s
        for k, s in enumerate(recorded.samples)
    ]
    (found,) = curve_fit.fit([RecordedRun(RUN, slow)])
    assert found.contended == sum(k % 3 == 0 for k in range(len(slow)))
    assert found.used == len(slow) - found.contended
    assert found.curve.at(8) == pytest.approx(line(8), rel=0.05)
    assert any("contended" in note for note in found.notes)
    (all_of_them,) = curve_fit.fit([RecordedRun(RUN, slow)], contended=True)
    assert all_of_them.used + len(all_of_them.outliers) == len(slow)


def test_nothing_but_contended_samples():
    busy = [dataclasses.replace(s, busy=(0.5, 0.5)) for s in planted(line).samples]
    with pytest.raises(InputError, match=r"all 328 samples were contended.*--contended"):
        curve_fit.fit([RecordedRun(RUN, busy)])


def test_oversubscribed_ranks_are_judged_by_the_cores_they_share():
    run = dataclasses.replace(RUN, ranks=4, cores=2)
    fair = BenchmarkSample(operation="barrier", bytes=0, seconds=1.0, count=1, busy=(0.5,) * 4)
    robbed = dataclasses.replace(fair, busy=(0.3,) * 4)
    assert not fair.contended(run)
    assert robbed.contended(run)
    assert fair.contended(RUN)
    (found,) = curve_fit.fit([planted(line, run=run)])
    assert any("oversubscribed" in note for note in found.notes)
    assert found.curve.oversubscribed


def test_outliers_are_shown_with_their_reason_and_do_not_bend_the_curve():
    recorded = planted(line)
    where = [k for k, s in enumerate(recorded.samples) if s.bytes in (8, 1024, 65536)][:3]
    for k in where:
        old = recorded.samples[k]
        recorded.samples[k] = dataclasses.replace(old, seconds=20 * old.seconds)
    (found,) = curve_fit.fit([recorded])
    assert sorted(o.bytes for o in found.outliers) == sorted(
        recorded.samples[k].bytes for k in where
    )
    assert all(o.ratio == pytest.approx(20, rel=0.2) for o in found.outliers)
    assert found.curve.at(8) == pytest.approx(line(8), rel=0.05)
    assert found.validated.disturbed[1].p90 >= found.validated.errors[1].p90


def test_one_sample_a_size_a_spike_is_an_outlier_a_jump_is_not():
    samples = planted(two, repeats=1, noise=0.01).samples[: len(SIZES)]
    spiked = list(samples)
    spiked[10] = dataclasses.replace(spiked[10], seconds=5 * spiked[10].seconds)
    (found,) = curve_fit.fit([RecordedRun(RUN, spiked)])
    assert [o.bytes for o in found.outliers] == [SIZES[10]]
    assert any("one repeat" in note for note in found.notes)
    (clean,) = curve_fit.fit([RecordedRun(RUN, samples)])
    assert clean.outliers == ()
    assert len(clean.curve.segments) == 2


def one_sample_a_size(cost, sizes, **times):
    """``times``: size to the factor that its sample is too slow by."""
    return RecordedRun(
        RUN,
        [
            BenchmarkSample(
                operation="pingpong",
                bytes=size,
                seconds=cost(size) * times.get(f"b{size}", 1.0),
                count=1,
            )
            for size in sizes
        ],
    )


POWERS = [1 << k for k in range(3, 24)]


@pytest.mark.filterwarnings("error")
def test_an_octave_of_nothing_but_outliers_has_no_vote():
    (clean,) = curve_fit.fit([one_sample_a_size(three, POWERS)])
    (found,) = curve_fit.fit([one_sample_a_size(three, POWERS, b1024=30.0)])
    assert [o.bytes for o in found.outliers] == [1024]
    assert len(clean.curve.segments) == len(found.curve.segments) == 3
    assert found.chosen.count == len(POWERS) - 1
    assert found.disturbed.count == len(POWERS)
    assert found.chosen.median == pytest.approx(clean.chosen.median, abs=0.05)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sizes", [4, 5, 6])
def test_few_octaves_with_one_of_nothing_but_outliers(sizes):
    (found,) = curve_fit.fit([one_sample_a_size(line, POWERS[:sizes], b16=30.0)])
    assert found.curve.at(POWERS[sizes - 1]) > 0


@pytest.mark.parametrize("factor", [3.0, 10.0, 30.0])
@pytest.mark.parametrize("at", [256, 512, 1024, 8192, 16384])
def test_a_spike_near_a_jump_is_the_outlier_never_its_good_neighbour(factor, at):
    """The jump, six times, is between 2 and 4 KiB: a spike of three behind it may be part of it."""
    (found,) = curve_fit.fit([one_sample_a_size(two, POWERS, **{f"b{at}": factor})])
    hidden = (at, factor) == (8192, 3.0)
    assert [o.bytes for o in found.outliers] == ([] if hidden else [at])


@pytest.mark.parametrize("factor", [1.3, 1.5])
@pytest.mark.parametrize("at", [2048, 4096, 8192])
def test_a_little_noise_at_a_jump_is_no_outlier(factor, at):
    (found,) = curve_fit.fit([one_sample_a_size(two, POWERS, **{f"b{at}": factor})])
    assert found.outliers == ()


def test_a_single_sample_that_is_too_fast_is_an_outlier():
    (found,) = curve_fit.fit([one_sample_a_size(line, POWERS, b1048576=0.1)])
    assert [o.bytes for o in found.outliers] == [1 << 20]


def test_a_second_mode_is_no_outlier_and_counts_as_error():
    recorded = planted(line, repeats=6)
    slow = np.random.default_rng(3).random(len(recorded.samples)) < 0.35
    taken = [
        dataclasses.replace(s, seconds=1.6 * s.seconds) if other else s
        for s, other in zip(recorded.samples, slow, strict=True)
    ]
    (found,) = curve_fit.fit([RecordedRun(RUN, taken)])
    assert found.outliers == ()
    assert found.used == len(taken)
    assert found.chosen == found.disturbed
    assert found.chosen.p90 > 0.15


def test_a_launch_that_is_slow_as_a_whole_is_no_outlier():
    recorded = planted(line, repeats=10)
    taken = [
        dataclasses.replace(s, seconds=2 * s.seconds) if s.launch == 3 else s
        for s in recorded.samples
    ]
    (found,) = curve_fit.fit([RecordedRun(RUN, taken)])
    assert found.outliers == ()


def test_a_barrier_is_a_constant():
    recorded = planted(lambda _: 2e-6, operation="barrier", sizes=[0] * 5)
    (found,) = curve_fit.fit([recorded])
    assert found.curve.measured == (0, 0)
    assert found.curve.segments[0].bandwidth is None
    assert found.curve.at(123) == pytest.approx(2e-6, rel=0.02)
    assert found.chosen.median < 0.05


def test_one_size_leaves_the_slope_open_and_says_so():
    (found,) = curve_fit.fit([planted(line, operation="pingpong", sizes=[64])])
    assert found.curve.at(64) == pytest.approx(line(64), rel=0.05)
    assert found.curve.measured == (64, 64)
    assert "other sizes are uncertain" in " ".join(found.notes)
    network = Network(curves=(found.curve,))
    there, far = (network.cost("pingpong", size, 1, 2).interval for size in (64, 1 << 20))
    assert there[1] / there[0] < 2
    assert far[1] / far[0] > 100


def test_repeats_are_kept_with_the_curve():
    (found,) = curve_fit.fit([planted(line)])
    assert found.curve.repeats == found.repeats == 4


def test_all_faults_at_once():
    recorded = [planted(line, operation=name) for name in ("pingpong", "sparse")]
    others = [RecordedRun(dataclasses.replace(r.run, mpi="another"), r.samples) for r in recorded]
    with pytest.raises(InputError) as caught:
        curve_fit.fit([*recorded, *others])
    assert len(caught.value.faults) == 2


def test_two_sizes_make_a_line_that_nothing_validates():
    (found,) = curve_fit.fit([planted(line, sizes=[64, 1 << 20], noise=0.0)])
    assert found.chosen is None
    assert found.curve.segments[0].latency == pytest.approx(4e-7, rel=1e-4)
    assert found.curve.segments[0].bandwidth == pytest.approx(5e9, rel=1e-4)


def test_a_negative_slope_is_told_and_never_made():
    (found,) = curve_fit.fit([planted(lambda size: 1e-5 * size**-0.1)])
    assert all(s.bandwidth is None or s.bandwidth > 0 for s in found.curve.segments)
    assert any("larger messages were faster" in note for note in found.notes)


def test_beyond_the_measured_sizes_is_extrapolated():
    (found,) = curve_fit.fit([planted(line, sizes=SIZES[4:20])])
    assert found.curve.measured == (SIZES[4], SIZES[19])
    assert not found.curve.extrapolated(SIZES[10])
    assert found.curve.extrapolated(8)
    assert found.curve.extrapolated(1 << 23)


@pytest.mark.parametrize(
    "change",
    [
        {"mpi": "b"},
        {"benchmark": "osu"},
        {"program": "mpi4py"},
        {"machine": "x"},
        {"cores": 1},
        {"buffers": 8},
    ],
)
def test_samples_of_different_conditions_do_not_mix(change):
    other = planted(line, run=dataclasses.replace(RUN, **change))
    with pytest.raises(InputError, match=f"different {next(iter(change))}"):
        curve_fit.fit([planted(line), other])


def test_runs_of_one_kind_are_pooled_and_layouts_kept_apart():
    more = dataclasses.replace(RUN, ranks=4, cores=8)
    found = curve_fit.fit([planted(line), planted(line, seed=2), planted(line, run=more)])
    assert [(f.curve.ranks, f.repeats) for f in found] == [(2, 8), (4, 4)]
