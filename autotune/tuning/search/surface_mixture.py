"""The surface of time as a mixture: one surface that follows the predictions, one without them.

A prediction may order candidates worse than no prediction, and a surface that holds it for right is
then worse than one that was never told. Which of the two is right is not known in advance, so both
learn from all observations, and the share w of the one with predictions is learned as well
(stacking of predictive distributions, Yao, Vehtari, Simpson and Gelman 2018, eq. 4, with the mean
of the posterior of w in place of its maximum):

    p(w | observed) ~ w^4 prod_i (w p_i + (1 - w) q_i)

where p_i and q_i are the densities that each surface expects of the observation i from all others.
Before any, the predictions count as if four observations had proved them right. An observation that
one surface holds for impossible counts no more than for the other, so that few never decide.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from autotune.tuning.search.points import Floats, Indices
from autotune.tuning.search.surface import Bend, Observation, Posterior, Surface

_NEGLIGIBLE = 0.1
"""A surface with a smaller share is left out: it would cost time and change little."""
_BELIEF = 4
"""Observations that predictions are worth before anything is measured."""
_SHARES = (np.arange(100) + 0.5) / 100
_LEAST_VARIANCE = 1e-12
_LEAST = 4
"""So many observations say something about the shares."""


class SurfaceMixture:
    """The posterior of time over the columns; without predictions it is one surface alone."""

    def __init__(self, surface: Surface) -> None:
        """``surface``: with the predictions, if there are any.

        A prior is in both surfaces: the process learns how far to follow it.
        """
        self._surfaces = [surface]
        self._predicted = not np.isnan(surface.predicted).all()
        if surface.learner is None and self._predicted:
            self._surfaces.append(surface.without_predictions())
        self.weights = [1.0, 0.0][: len(self._surfaces)]
        """The share of each surface."""

    @property
    def trusts_predictions(self) -> bool:
        """Whether there are predictions, and most of the mixture follows them."""
        return self._predicted and self.weights[0] > 0.5

    @property
    def seen(self) -> Sequence[Observation]:
        """The observations of this machine."""
        return self._surfaces[0].seen

    @property
    def count(self) -> int:
        """The number of observations, from this machine and from others."""
        return self._surfaces[0].count

    @property
    def base(self) -> Floats:
        """Log seconds that are expected before anything is observed, (n,)."""
        return self._surfaces[0].base

    def learn(self, seen: Observation) -> None:
        """Add an observation; a later observation of the same candidate replaces it."""
        for surface in self._surfaces:
            surface.learn(seen)

    def forget(self, row: int) -> None:
        """Remove the observation of a candidate that turned out to fail."""
        for surface in self._surfaces:
            surface.forget(row)

    def posterior(self, running: Indices) -> Posterior:
        """The posterior at all columns; ``running`` candidates count as measured at their mean."""
        self._weigh()
        parts = [
            (weight, surface.posterior(running))
            for weight, surface in zip(self.weights, self._surfaces, strict=True)
            if weight
        ]
        if len(parts) == 1:
            return parts[0][1]
        last = self._surfaces[-1]
        return mixed(parts, last.group[last.columns])

    def _weigh(self) -> None:
        """Bring the surfaces up to date, and their shares whenever one was fitted again."""
        fitted = [surface.update() for surface in self._surfaces]
        if len(self._surfaces) == 1 or not any(fitted) or len(self.seen) < _LEAST:
            return
        with_predictions, without = (s.left_out_densities() for s in self._surfaces)
        weight = share(with_predictions, without)
        weight = round(weight) if min(weight, 1 - weight) < _NEGLIGIBLE else weight
        self.weights = [weight, 1 - weight]


def share(first: Floats, second: Floats) -> float:
    """The posterior mean of the share of the first of two models in a mixture, in (0, 1).

    ``first``, ``second``: (n,) log densities of the same observations.
    """
    parts = np.log(_SHARES)[:, None] + first, np.log(1 - _SHARES)[:, None] + second
    likelihood = np.logaddexp(*parts).sum(axis=1) + _BELIEF * np.log(_SHARES)
    chance = np.exp(likelihood - likelihood.max())
    return float(chance @ _SHARES / chance.sum())


def mixed(parts: Sequence[tuple[float, Posterior]], group: Indices) -> Posterior:
    """The mixture of weighted posteriors, with its mean and standard deviation.

    ``group``: the problem of each column. The mixture is on the compressed scale of the last part;
    the others are not compressed.
    """
    bends = parts[-1][1].bends
    mean, square = np.zeros(len(group)), np.zeros(len(group))
    for weight, part in parts:
        middle, sd = part.mean, part.sd
        if part is not parts[-1][1]:
            middle, sd = _compressed(part, bends, group)
        mean += weight * middle
        square += weight * (sd * sd + middle * middle)
    sd = np.sqrt(np.maximum(square - mean * mean, _LEAST_VARIANCE))
    return Posterior(mean=mean, sd=sd, bends=bends, parts=tuple(parts))


def _compressed(
    part: Posterior, bends: Mapping[int, Bend], group: Indices
) -> tuple[Floats, Floats]:
    """Mean and standard deviation of a posterior on a compressed scale."""
    middle, sd = part.mean.copy(), part.sd.copy()
    for number, bend in bends.items():
        mine = group == number
        middle[mine] = bend.down(part.mean[mine])
        sd[mine] /= bend.steepness(middle[mine])
    return middle, sd
