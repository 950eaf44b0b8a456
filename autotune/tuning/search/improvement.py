"""Expected improvement: how much faster than the best so far a candidate may be."""

import numpy as np
from scipy.special import ndtr

from autotune.tuning.search.points import Floats

_DRAWS = 48
_AUGMENTED = 0.05
"""Weight of the sum beside the maximum (Knowles 2006, eq. 2)."""


def expected(mean: Floats, sd: Floats, best: float) -> Floats:
    """Expected improvement (Jones, Schonlau and Welch 1998, eq. 15) of log times over ``best``.

    In log time: 0.01 is one per cent. ``best`` is the posterior mean of the incumbent.
    """
    ahead = (best - mean) / sd
    density = np.exp(-0.5 * ahead * ahead) / np.sqrt(2 * np.pi)
    result: Floats = sd * (ahead * ndtr(ahead) + density)
    return result


def scalar(values: Floats, weights: Floats) -> Floats:
    """Augmented Tchebycheff value of normalised objectives, (objectives, ...) to (...).

    Knowles 2006, eq. 2. Smaller values are better.
    """
    weighted = values * weights.reshape(-1, *[1] * (values.ndim - 1))
    result: Floats = weighted.max(axis=0) + _AUGMENTED * weighted.sum(axis=0)
    return result


def expected_scalar(
    mean: Floats, sd: Floats, best: float, weights: Floats, chance: np.random.Generator
) -> Floats:
    """Expected improvement of the scalar of independent normal objectives, (objectives, m)."""
    total = np.zeros(mean.shape[1])
    for draw in chance.standard_normal((_DRAWS, len(mean))):
        total += np.maximum(best - scalar(mean + sd * draw[:, None], weights), 0.0)
    return total / _DRAWS
