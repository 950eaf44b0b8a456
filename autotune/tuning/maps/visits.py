"""Which cell to measure next, with which contenders: what lowers the expected loss most.

The gain of measuring the difference of two contenders in a cell is the resulting decrease of the
expected loss of the whole map (knowledge gradient: Frazier, Powell, Dayanik 2009, with the means of
all contenders in all cells moving together). Where the winners are clear, nothing is gained, so
measurements go to the uncertain borders.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.tuning.maps.losses import Verdict
from autotune.tuning.maps.map_posterior import MapPosterior
from autotune.tuning.maps.map_prior import Flags, Floats, Whole

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_RIVALS = 3
"""Contenders that are looked at in each cell, beside its winner."""
_PAIRS = 96
_LEAST = 0.05
"""Of what the first rival of a cell is expected to save: who saves less is none."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A cell and the contenders to measure there, interleaved; the winner so far first."""

    cell: int
    contenders: tuple[int, ...]
    gain: float
    """Expected fall of the loss, mean over the cells of the map."""


def next_visit(
    posterior: MapPosterior,
    mean: Floats,
    verdict: Verdict,
    free: Flags,
    *,
    noise: float,
    cost: Sequence[float],
    size: int,
) -> Visit | None:
    """The visit with the largest gain for its cost; None if no cell has two contenders.

    ``mean`` (K, C) is infinite where a contender is not legal; ``free`` marks contenders that may
    be measured. ``noise``: standard deviation of a measured log time; ``cost``: of a visit, by
    cell; ``size``: the largest number of contenders in a visit.
    """
    first, second, cell = _pairs(verdict, free)
    if not len(first):
        return None
    gains = _gains(mean, posterior.moves(first, second, cell, noise))
    worth = gains / np.asarray(cost)[cell]
    best = int(worth.argmax())
    here = np.flatnonzero(cell == cell[best])
    rivals = sorted(here.tolist(), key=lambda p: (-gains[p], p))
    # a companion is measured for half the price: the winner is measured anyway
    chosen = [p for p in rivals if p == best or gains[p] > 0.3 * gains[best]][: max(1, size - 1)]
    contenders = (int(first[best]), *(int(second[p]) for p in chosen))
    return Visit(int(cell[best]), contenders, float(gains[best]) / len(verdict.winner))


def _pairs(verdict: Verdict, free: Flags) -> tuple[Whole, Whole, Whole]:
    """Winner, rival and cell of the most promising pairs that a measurement may improve."""
    gains = np.where(free, verdict.gains, -1.0)
    cells = np.arange(gains.shape[1])
    gains[verdict.winner, cells] = -1.0
    order = np.argsort(-gains, axis=0, kind="stable")[:_RIVALS]
    rival, cell = order.ravel(), np.tile(cells, len(order))
    worth = gains[rival, cell]
    # measuring the winner against anybody tells something of it: only those who may win count
    worth[worth < _LEAST * worth[: len(cells)][cell]] = -1.0
    keep = np.argsort(-worth, kind="stable")[:_PAIRS]
    keep = keep[(worth[keep] >= 0) & free[verdict.winner, cells][cell[keep]]]
    return verdict.winner[cell[keep]], rival[keep], cell[keep]


def _gains(mean: Floats, moves: Floats) -> Floats:
    """(p,): expected decrease of the least expected log time, summed over the cells."""
    now = mean.min(axis=0)
    after = np.zeros(len(moves))
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        after += weight * (mean + node * moves).min(axis=1).sum(axis=1)
    return np.asarray(np.maximum(now.sum() - after, 0.0))
