"""Several objectives at once: a surface for each, improvement of a randomly weighted scalar.

Each step draws weights and takes the greatest expected improvement of the augmented Tchebycheff
value of the log objectives, each normalised to its range over the Pareto front so far (ParEGO,
Knowles 2006, but with a process for each objective instead of one for the scalar, so that
predictions of time can be used).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from autotune.statistics.pareto import not_dominated
from autotune.tuning.search.improvement import expected_scalar, scalar
from autotune.tuning.search.points import Floats, Indices
from autotune.tuning.search.surface import Observation, Posterior, Surface

_LEAST_RANGE = 0.02
"""Objectives that differ by less than 2 % along the front are the same."""


_LEAST = 1e-30
"""Smaller values, such as the cost of an exact result, are so small to the surfaces."""


class Objectives:
    """The objectives besides time, by name; those without any value are ignored."""

    def __init__(self, names: Sequence[str], time: Surface, seed: int) -> None:
        unknown = np.full(len(time.predicted), np.nan)
        self._surfaces = {
            name: Surface(
                levels=time.levels,
                group=time.group,
                columns=time.columns,
                predicted=unknown,
                sigma=unknown,
                seed=seed + number,
            )
            for number, name in enumerate(names, start=1)
        }

    def learn(self, row: int, values: Mapping[str, float], noise: float) -> None:
        """Add the values of a candidate's objectives besides time."""
        for name, surface in self._surfaces.items():
            if name in values:
                value = float(np.log(max(values[name], _LEAST)))
                surface.learn(Observation(row=row, value=value, noise=noise))

    def improvement(
        self, time: Posterior, places: Indices, measured: Indices, chance: np.random.Generator
    ) -> Floats | None:
        """Expected improvement at ``places`` over the best of the columns ``measured``, (m,).

        In log units of the objectives' mean range; None if time is the only objective.
        """
        nothing = np.empty(0, dtype=np.intp)
        posteriors = [s.posterior(nothing) for s in self._surfaces.values() if s.count]
        if not posteriors:
            return None
        every = [time, *posteriors]
        front = np.stack([posterior.mean[measured] for posterior in every])
        kept = front[:, not_dominated(front.T.tolist())]
        ideal = front.min(axis=1)[:, None]
        span = np.maximum(kept.max(axis=1)[:, None] - ideal, _LEAST_RANGE)
        weights = chance.dirichlet(np.ones(len(every)))
        mean = (np.stack([posterior.mean[places] for posterior in every]) - ideal) / span
        sd = np.stack([posterior.sd[places] for posterior in every]) / span
        best = float(scalar((front - ideal) / span, weights).min())
        expected: Floats = expected_scalar(mean, sd, best, weights, chance) * float(span.mean())
        return expected
