"""Few contenders for all cells, so that an application ships few and loses little.

The fewest contenders such that in every cell one of them is within the tolerance of the winner
(greedy set cover, Chvatal 1979, with redundant ones dropped). Then, for each number of threads, the
ranges of sizes with the fewest changes of contender (shortest path).
"""

import numpy as np

from autotune.tuning.maps.map_prior import Cells, Flags, Floats, Whole

_CHANGE = 0.25
"""Of the tolerance: a change of the contender between neighbouring sizes must save more than
this."""


def merged(cells: Cells, mean: Floats, legal: Flags, tolerance: float) -> Whole:
    """(C,): a contender for each cell, from expected log times (K, C).

    In each cell its expected time is within the tolerance of the least time.
    """
    times = np.where(legal, mean, np.inf)
    excess = times - times.min(axis=0)
    near = excess <= np.log1p(tolerance)
    kept = _cover(near, np.where(near, excess, 0.0))
    costs = np.where(near[kept], excess[kept], np.inf)
    choice = np.zeros(len(cells), dtype=np.intp)
    teams = len(cells.threads)
    for row in range(teams):
        choice[row::teams] = kept[_path(costs[:, row::teams], _CHANGE * np.log1p(tolerance))]
    return choice


def _cover(near: Flags, excess: Floats) -> Whole:
    """The numbers of the contenders that are kept, ascending."""
    left = np.ones(near.shape[1], dtype=np.bool_)
    kept: list[int] = []
    while left.any():
        counts = near[:, left].sum(axis=1)
        best = np.flatnonzero(counts == counts.max())
        kept.append(int(best[excess[np.ix_(best, left)].sum(axis=1).argmin()]))
        left &= ~near[kept[-1]]
    for contender in tuple(kept):
        rest = [k for k in kept if k != contender]
        if rest and near[rest].any(axis=0).all():
            kept = rest
    return np.array(sorted(kept), dtype=np.intp)


def _path(costs: Floats, change: float) -> Whole:
    """(n,): the row of the costs (k, n) to take in each column, if each change of row costs
    extra.
    """
    total = costs[:, 0]
    before: list[Whole] = []
    for column in costs.T[1:]:
        cheapest = int(total.argmin())
        stay = total <= total[cheapest] + change
        before.append(np.where(stay, np.arange(len(total)), cheapest))
        total = np.where(stay, total, total[cheapest] + change) + column
    path = [int(total.argmin())]
    for came in reversed(before):
        path.append(int(came[path[-1]]))
    return np.array(path[::-1], dtype=np.intp)
