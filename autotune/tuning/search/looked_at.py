"""Which candidates a search considers if there are very many."""

from collections.abc import Iterable

import numpy as np

from autotune.tuning.search.points import Indices, Points
from autotune.tuning.search.policy import Policy


def columns(points: Points, policy: Policy, always: Iterable[int], seed: int) -> Indices:
    """The candidates to consider: all, or the best by prediction and a random part of the rest.

    The limit is ``policy.most``. Predictions are compared with the best prediction of the same
    problem. Without predictions, and among candidates without one, the choice is random. It
    includes ``always`` and at least one candidate of each problem. Ascending.
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
