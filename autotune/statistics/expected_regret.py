"""The expected regret of a choice among candidates whose times are known with errors."""

from collections.abc import Mapping

import numpy as np
from scipy.special import ndtr

ALIKE = 0.01
"""Choices whose expected regrets differ by no more than this are about as good."""
_REACH = 8.0
"""Standard deviations on either side over which a time is integrated."""
_STEPS = 4001
_LEAST = 1e-9
"""Smallest standard deviation."""


def expected_regrets(times: Mapping[str, float], errors: Mapping[str, float]) -> dict[str, float]:
    """How much more time a choice is expected to cost than the candidate that truly is the fastest.

    ``times``: the middle of the time of each candidate, whose logarithm is normally distributed
    with the standard deviation ``errors``, independent of the others. The result of candidate i is
    E[T_i] / E[min_j T_j] - 1, where the mean of the minimum is the integral of the probability that
    all are slower.

    >>> regrets = expected_regrets({"a": 1.0, "b": 1.0, "c": 2.0}, {"a": 0.1, "b": 0.1, "c": 0.1})
    >>> {name: round(regret, 3) for name, regret in regrets.items()}
    {'a': 0.06, 'b': 0.06, 'c': 1.119}
    """
    names = list(times)
    middle = np.log([times[name] for name in names])
    spread = np.maximum([errors[name] for name in names], _LEAST)
    ends = float((middle - _REACH * spread).min()), float((middle + _REACH * spread).min())
    at = np.linspace(*ends, _STEPS)
    slower = ndtr((middle[:, None] - at) / spread[:, None]).prod(axis=0)
    moments = np.exp(at)
    fastest = float(moments[0] + np.trapezoid(slower, moments))
    mean = np.exp(middle + spread**2 / 2).tolist()
    return {name: max(0.0, m / fastest - 1) for name, m in zip(names, mean, strict=True)}


def choosable(regrets: Mapping[str, float]) -> list[str]:
    """The candidates about as good as that with the least expected regret, which is one of them.

    >>> choosable({"a": 0.002, "b": 0.011, "c": 0.02})
    ['a', 'b']
    """
    least = min(regrets.values())
    return [name for name, regret in regrets.items() if regret <= least + ALIKE]
