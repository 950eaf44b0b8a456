"""Emulated models: what a model with a known error would have predicted for a recorded space."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from autotune.files.recorded.recorded_space import Floats, RecordedSpace

Kind = Literal["independent", "systematic"]


def emulated(space: RecordedSpace, kind: Kind, sigma: float, seed: int) -> Floats:
    """Predicted times whose logarithm is off by ``sigma`` (standard deviation over the space).

    ``independent``: every candidate by itself. ``systematic``: effects of each value of each
    parameter and of each pair of values, so that similar candidates are wrong together. A candidate
    that failed is predicted as an ordinary one.
    """
    generator = np.random.default_rng([seed, 7919])
    good = space.seconds[~np.isnan(space.seconds)]
    drawn = generator.choice(good, len(space))
    truth = np.log(np.where(np.isnan(space.seconds), drawn, space.seconds))
    if kind == "independent":
        error = generator.normal(size=len(space))
    else:
        error = _effects(levels(space), generator)
    return np.asarray(np.exp(truth + (error - error.mean()) / error.std() * sigma))


def levels(space: RecordedSpace) -> NDArray[np.intp]:
    """The position of each row's value among the values of its parameter, (n, p)."""
    places = [{v: i for i, v in enumerate(values)} for values in space.parameters.values()]
    return np.array([[p[v] for p, v in zip(places, row, strict=True)] for row in space.rows])


def _effects(level: NDArray[np.intp], generator: np.random.Generator) -> Floats:
    count, parameters = level.shape
    sizes = level.max(axis=0) + 1
    total = np.zeros(count)
    for a in range(parameters):
        total += generator.normal(size=sizes[a])[level[:, a]]
        for b in range(a):
            total += generator.normal(size=(sizes[a], sizes[b]))[level[:, a], level[:, b]]
    return total
