"""Emulated models: what a model with a known error would have predicted for a recorded space."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from autotune.files.recorded.recorded_space import Floats, RecordedSpace

Kind = Literal["independent", "systematic", "correlation"]
KINDS: tuple[Kind, ...] = ("independent", "systematic", "correlation")


def emulated(space: RecordedSpace, kind: Kind, size: float, seed: int) -> Floats:
    """Predicted times of a model with a known error.

    ``independent``: the logarithm is off by ``size`` (standard deviation over the space), each
    candidate by itself. ``systematic``: by effects of each value of each parameter and of each pair
    of values, so that similar candidates are wrong together. ``correlation``: the logarithm is
    correlated with that of the true time by ``size`` in [-1, 1]; the rest is systematic, and the
    spread is that of the space. A candidate that failed is predicted as an ordinary one.
    """
    generator = np.random.default_rng([seed, 7919])
    good = space.seconds[~np.isnan(space.seconds)]
    drawn = generator.choice(good, len(space))
    truth = np.log(np.where(np.isnan(space.seconds), drawn, space.seconds))
    if kind == "independent":
        error = generator.normal(size=len(space))
    else:
        error = effects(levels(space), generator)
    error = (error - error.mean()) / error.std()
    if kind == "correlation":
        middle, spread = truth.mean(), truth.std()
        standard = (truth - middle) / spread
        error -= standard * (error @ standard) / (standard @ standard)
        mixed = size * standard + np.sqrt(1 - size**2) * error / error.std()
        return np.asarray(np.exp(middle + spread * mixed))
    return np.asarray(np.exp(truth + error * size))


def levels(space: RecordedSpace) -> NDArray[np.intp]:
    """The position of each row's value among the values of its parameter, (n, p)."""
    places = [{v: i for i, v in enumerate(values)} for values in space.parameters.values()]
    return np.array([[p[v] for p, v in zip(places, row, strict=True)] for row in space.rows])


def effects(level: NDArray[np.intp], generator: np.random.Generator) -> Floats:
    """(n,) a sum of random effects of each value of a parameter and of each pair of values."""
    count, parameters = level.shape
    sizes = level.max(axis=0) + 1
    total = np.zeros(count)
    for a in range(parameters):
        total += generator.normal(size=sizes[a])[level[:, a]]
        for b in range(a):
            total += generator.normal(size=(sizes[a], sizes[b]))[level[:, a], level[:, b]]
    return total
