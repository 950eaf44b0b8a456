"""Recorded spaces of which a share fails, by regions."""

from dataclasses import replace

import numpy as np
from replay_models import effects, levels

from autotune.files.recorded.recorded_space import RecordedSpace


def failing(space: RecordedSpace, share: float, seed: int) -> RecordedSpace:
    """The space with so large a share of failing candidates; those that failed still do.

    Whether one fails depends on its values and pairs of values, so that neighbours fail together.
    The best of the others is the best of the space.
    """
    if not 0 < share < 1:
        raise ValueError(f"the share of failing candidates is in (0, 1), not {share}")
    field = effects(levels(space), np.random.default_rng([seed, 6151]))
    failed = np.array([status != "ok" for status in space.statuses])
    field[failed] = np.inf
    count = max(round(share * len(space)) - int(failed.sum()), 0)
    order = np.argsort(-np.where(failed, -np.inf, field), kind="stable")
    failed[order[: min(count, int((~failed).sum()) - 1)]] = True
    return replace(
        space,
        name=f"{space.name}, {share:.0%} failing, seed {seed}",
        seconds=np.where(failed, np.nan, space.seconds),
        statuses=tuple(
            "crashed" if lost and status == "ok" else status
            for lost, status in zip(failed, space.statuses, strict=True)
        ),
    )
