"""Recorded spaces of which a share fails, by regions or beyond a limit."""

from dataclasses import replace

import numpy as np
from replay_models import effects, levels

from autotune.files.recorded.recorded_space import Floats, RecordedSpace

_PARAMETERS = 3
"""At most so many parameters decide where a limit is."""


def failing(space: RecordedSpace, share: float, seed: int) -> RecordedSpace:
    """The space with so large a share of failing candidates; those that failed still do.

    Whether one fails depends on its values and pairs of values, so that neighbours fail together.
    The best of the others is the best of the space.
    """
    field = effects(levels(space), np.random.default_rng([seed, 6151]))
    return _beyond(space, field, share, seed)


def limited(space: RecordedSpace, share: float, seed: int) -> RecordedSpace:
    """As ``failing``, but those fail that are beyond a limit, as where a resource runs out.

    The limit is on a weighted sum of the places of at most three parameters.
    """
    generator = np.random.default_rng([seed, 6163])
    places = levels(space)
    count = min(places.shape[1], int(generator.integers(1, _PARAMETERS + 1)))
    chosen = generator.choice(places.shape[1], count, replace=False)
    field = places[:, chosen] / places[:, chosen].max(axis=0) @ generator.normal(size=count)
    return _beyond(space, field, share, seed)


def _beyond(space: RecordedSpace, field: Floats, share: float, seed: int) -> RecordedSpace:
    """The space in which those with the greatest values fail."""
    if not 0 < share < 1:
        raise ValueError(f"the share of failing candidates is in (0, 1), not {share}")
    failed = np.array([status != "ok" for status in space.statuses])
    field = np.where(failed, np.inf, field)
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
