"""Which candidates a search looks at where there are very many."""

from collections.abc import Iterable

import numpy as np

from autotune.tuning.search.points import Indices, Points
from autotune.tuning.search.policy import Policy


def columns(points: Points, policy: Policy, always: Iterable[int], seed: int) -> Indices:
    """All candidates; of more than ``policy.most`` the best by prediction and some of the rest.

    Best is relative to the best prediction of the same problem. Without predictions, and among
    those that have none, they are drawn at random. ``always`` are in, and so is one of each problem
    at least. Ascending.
    """
    count = len(points)
    if count <= policy.most:
        return np.arange(count)
    chance = np.random.default_rng([seed, 1])
    behind = np.full(count, np.inf)
    chosen = set(always)
    for group in range(points.groups):
        members = points.members(group)
        times = points.predicted[members]
        if not np.isnan(times).all():
            behind[members] = np.nan_to_num(times / np.nanmin(times), nan=np.inf)
            chosen.add(int(members[np.nanargmin(times)]))
        elif members.size:
            chosen.add(int(members[0]))
    order = np.lexsort((chance.random(count), behind))
    rest = chance.permutation(order[policy.most :])[: int(policy.beyond * policy.most)]
    together = {*chosen, *order[: policy.most].tolist(), *rest.tolist()}
    return np.array(sorted(together), dtype=np.intp)
