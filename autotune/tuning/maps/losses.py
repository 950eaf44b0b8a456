"""The winner of each cell, its probability, and the possible loss: from draws of all times.

The loss of a choice in a cell is (its time - the least time of all) / the least time, draw by draw;
its bound is the quantile at the level.
"""

from dataclasses import dataclass

import numpy as np

from autotune.domain.decision_map import Summary
from autotune.tuning.maps.map_prior import Flags, Floats, Whole


@dataclass(frozen=True, slots=True)
class Verdict:
    """Winners of the cells and their losses; S draws, K contenders, C cells."""

    winner: Whole
    """(C,): of the least expected log time."""
    gains: Floats
    """(K, C): expected log time saved by each where it is faster than the winner."""
    losses: Floats
    """(S, C): of the winner."""


def judge(mean: Floats, draws: Floats, legal: Flags) -> Verdict:
    """The winners by expected log times (K, C), and their losses by draws (S, K, C)."""
    reach = np.where(legal, 0.0, np.inf)
    winner = (mean + reach).argmin(axis=0)
    winning = draws[:, winner, np.arange(mean.shape[1])]
    return Verdict(
        winner=winner,
        gains=np.maximum(winning[:, None, :] - (draws + reach), 0.0).mean(axis=0),
        losses=losses(winner, draws, legal),
    )


def chances(draws: Floats, legal: Flags) -> Floats:
    """(K, C): the probability of each contender to be the fastest, from draws (S, K, C)."""
    fastest = (draws + np.where(legal, 0.0, np.inf)).argmin(axis=1)
    return np.stack([(fastest == k).mean(axis=0) for k in range(draws.shape[1])])


def losses(choice: Whole, draws: Floats, legal: Flags) -> Floats:
    """(S, C): the loss of a choice per cell (C,) in every draw."""
    least = (draws + np.where(legal, 0.0, np.inf)).min(axis=1)
    chosen = draws[:, choice, np.arange(draws.shape[2])]
    return np.asarray(np.expm1(chosen - least))


def bounds(losses: Floats, level: float) -> Floats:
    """(C,): an upper bound of the loss of each cell with the probability of the level."""
    return np.asarray(np.quantile(losses, level, axis=0))


def between(choice: Whole, draws: Floats, legal: Flags, teams: int, level: float) -> Floats:
    """(C,): bounds of the loss of a choice for the sizes up to half way to the neighbours.

    Times are interpolated between two cells (log time over log size) at the size where the nearest
    cell changes; the larger bound of both sides counts. Cells are numbered size by size, ``teams``
    for each size. A side on which the choice is not legal in the next cell is ignored.
    """
    largest = np.zeros(len(choice))
    for low in range(len(choice) - teams):
        high = low + teams
        both = legal[:, low] & legal[:, high]
        if not both.any():
            continue
        middle = 0.5 * (draws[:, :, low] + draws[:, :, high])
        least = middle[:, both].min(axis=1)
        for cell in (low, high):
            if both[choice[cell]]:
                loss = np.expm1(middle[:, choice[cell]] - least)
                largest[cell] = max(largest[cell], float(np.quantile(loss, level)))
    return largest


def summary(losses: Floats, level: float) -> Summary:
    """The summary of the losses (S, C) of all cells together."""
    return Summary(
        mean=float(losses.mean()),
        mean_bound=float(np.quantile(losses.mean(axis=1), level)),
        max_bound=float(np.quantile(losses.max(axis=1), level)),
    )
