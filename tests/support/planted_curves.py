"""Planted cost curves as samples."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from autotune.measuring.network.benchmark_settings import SIZES
from autotune.measuring.network.samples import BenchmarkRun, BenchmarkSample, RecordedRun

RUN = BenchmarkRun(
    benchmark="autotune", nodes=1, ranks=2, cores=2, mpi="a", program="c", hosts=("h",)
)


def planted(
    cost: Callable[[float], float],
    *,
    operation: str = "allgather",
    sizes: Sequence[int] = SIZES,
    repeats: int = 4,
    noise: float = 0.02,
    drift: float = 0.0,
    seed: int = 1,
    run: BenchmarkRun = RUN,
) -> RecordedRun:
    """Two samples a repeat at each size; ``drift``: between repeats."""
    generator = np.random.default_rng(seed)
    samples = []
    for launch in range(repeats):
        shift = generator.normal(0, drift)
        samples += [
            BenchmarkSample(
                operation=operation,
                bytes=size,
                seconds=cost(size) * math.exp(shift + generator.normal(0, noise)),
                count=100,
                busy=(1.0, 1.0),
                launch=launch,
                round=number,
            )
            for number in range(2)
            for size in sizes
        ]
    return RecordedRun(run, samples)
