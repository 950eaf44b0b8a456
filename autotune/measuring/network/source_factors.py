"""How much the times of one operation differ between the benchmarks that measured it.

Tools time one operation differently: the mean over the ranks or the slowest, with or without
barriers between, on warm or fresh buffers. Each tool gets a factor over their common level, from
the sizes that all of them cover; a curve is fitted to the times divided by it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autotune.measuring.network.piecewise_regression import Floats

JOINED = ("osu", "imb")
"""Benchmarks that time the same operations of the same ranks: ping-pong, Allgather, Barrier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFactor:
    """The times of one benchmark over the level that all benchmarks of a curve have in common."""

    benchmark: str
    factor: float
    """Median over the common sizes."""
    lowest: float
    highest: float
    """Over single sizes."""
    sizes: int
    """Number of common sizes."""


class NoCommonSizes(ValueError):
    """Raised for benchmarks whose sizes do not overlap."""


def source_factors(x: Floats, y: Floats, source: Sequence[str]) -> tuple[SourceFactor, ...]:
    """The factor of every benchmark, by name.

    ``x``, ``y``: (n,) sizes and seconds of the samples; ``source``: (n,) their benchmarks. Medians
    of a size are interpolated in logarithms between sizes of a benchmark.
    """
    tables = {name: _medians(x, y, np.array(source) == name) for name in sorted(set(source))}
    low = max(sizes[0] for sizes, _ in tables.values())
    high = min(sizes[-1] for sizes, _ in tables.values())
    every = np.unique(np.concatenate([sizes for sizes, _ in tables.values()]))
    common = every[(every >= low) & (every <= high)]
    if not len(common):
        raise NoCommonSizes("no size lies within what every one of them measured")
    at = np.log(np.maximum(common, 1.0))
    logs = {
        name: np.interp(at, np.log(np.maximum(sizes, 1.0)), np.log(seconds))
        for name, (sizes, seconds) in tables.items()
    }
    level = np.mean(np.array(list(logs.values())), axis=0)
    return tuple(_factor(name, values - level) for name, values in logs.items())


def without_factors(y: Floats, source: Sequence[str], factors: Sequence[SourceFactor]) -> Floats:
    """The seconds (n,) at the common level."""
    by_name: Mapping[str, float] = {f.benchmark: f.factor for f in factors}
    level: Floats = y / np.array([by_name[name] for name in source])
    return level


def _medians(x: Floats, y: Floats, where: np.ndarray) -> tuple[Floats, Floats]:
    sizes = np.unique(x[where])
    return sizes, np.array([np.median(y[where & (x == size)]) for size in sizes])


def _factor(name: str, logs: Floats) -> SourceFactor:
    ratios = np.exp(logs)
    return SourceFactor(
        benchmark=name,
        factor=float(np.median(ratios)),
        lowest=float(ratios.min()),
        highest=float(ratios.max()),
        sizes=len(ratios),
    )
