"""The score of a search against random search: how much of the way to the best it is ahead.

Willemsen, Schoonhoven, Filipovič, Tørring, van Nieuwpoort and van Werkhoven 2024, A methodology for
comparing optimization algorithms for auto-tuning, Future Generation Computer Systems 159, 489-504:

    P(t) = (S_random(t) - F(t)) / (S_random(t) - S_opt)

with F(t) the best time after t evaluations, S_random(t) that of random search without replacement,
calculated, and S_opt the best of all; averaged over t up to where random search has come 95 % of
the way from the median to the best. Here t counts evaluations. 0 is random search, 1 finds the best
at once. A candidate that fails counts as the median of those that run.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from autotune.files.recorded.recorded_space import Floats, RecordedSpace

_WAY = 0.95
"""Random search has come so far from the median to the best where the comparison ends."""


def random_curve(times: Floats, evaluations: int) -> Floats:
    """(evaluations,) the expected best of so many of the times, drawn without replacement.

    The k-th smallest of N is the best of t with probability C(N - k, t - 1) / C(N, t).

    >>> random_curve(np.array([1.0, 2.0, 3.0]), 3).round(6).tolist()
    [2.0, 1.333333, 1.0]
    """
    ascending, count = np.sort(times), len(times)
    curve = np.empty(evaluations)
    for drawn in range(1, evaluations + 1):
        slower = count - np.arange(1, count - drawn + 2)
        chance = np.exp(_log_choose(slower, drawn - 1) - _log_choose(count, drawn))
        curve[drawn - 1] = chance @ ascending[: len(chance)]
    return curve


def performance(space: RecordedSpace, order: Sequence[int], budget: int) -> float:
    """P of evaluations in their order, averaged up to the end of the comparison or the budget.

    After the last evaluation its best stays the best; a search that evaluates nothing at all stays
    at the median.
    """
    times, expected = _times(space), expected_curve(space, budget)
    evaluated = times[list(order)] if len(order) else np.array([np.median(times)])
    reached = np.minimum.accumulate(evaluated)[: len(expected)]
    reached = np.pad(reached, (0, len(expected) - len(reached)), mode="edge")
    return float(np.mean((expected - reached) / (expected - times.min())))


def expected_curve(space: RecordedSpace, budget: int) -> Floats:
    """The best times that random search is expected to have, up to the end of the comparison."""
    times = _times(space)
    expected = random_curve(times, min(budget, len(times) - 1))
    middle, best = float(np.median(times)), float(times.min())
    end = 1 + int(np.argmax(np.append(middle - expected, np.inf) >= _WAY * (middle - best)))
    return expected[:end]


def _times(space: RecordedSpace) -> Floats:
    """(n,) the recorded times, the median in place of a failure."""
    return np.where(np.isnan(space.seconds), np.nanmedian(space.seconds), space.seconds)


def _log_choose(total: Floats | int, drawn: int) -> Floats:
    rest = np.asarray(total) - drawn
    return np.asarray(gammaln(np.asarray(total) + 1) - gammaln(drawn + 1) - gammaln(rest + 1))
