"""By what factor benchmarks of one operation differ."""

import numpy as np
import pytest

from autotune.measuring.network.source_factors import (
    NoCommonSizes,
    source_factors,
    without_factors,
)


def samples(factor: float) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Times of two benchmarks whose sizes interleave, one slower by a factor."""
    x = np.array([8.0, 64.0, 512.0, 4096.0, 16.0, 128.0, 1024.0])
    y = np.array([1.0, 2.0, 4.0, 8.0, 0.0, 0.0, 0.0])
    y[4:] = factor * np.exp(np.interp(np.log(x[4:]), np.log(x[:4]), np.log(y[:4])))
    return x, y, ["imb"] * 4 + ["osu"] * 3


def test_a_planted_factor_is_recovered_and_taken_out() -> None:
    x, y, names = samples(1.44)
    imb, osu = source_factors(x, y, names)
    assert (imb.benchmark, osu.benchmark) == ("imb", "osu")
    assert osu.factor / imb.factor == pytest.approx(1.44, rel=1e-6)
    assert osu.factor * imb.factor == pytest.approx(1.0)
    assert osu.lowest <= osu.factor <= osu.highest
    assert osu.sizes == 5, "16 B to 1 KiB: the sizes that both cover"
    level = without_factors(y, names, (imb, osu))
    assert level[0] == pytest.approx(1.2)


def test_alike_benchmarks_have_no_factor() -> None:
    assert [f.factor for f in source_factors(*samples(1.0))] == pytest.approx([1.0, 1.0])


def test_sizes_that_do_not_overlap_cannot_be_compared() -> None:
    with pytest.raises(NoCommonSizes):
        source_factors(np.array([8.0, 64.0, 512.0]), np.ones(3), ["imb", "imb", "osu"])
