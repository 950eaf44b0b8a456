"""Estimators for samples of times: location, intervals, losses, the noise floor, skill.

They are pure functions over numbers. A *time* is always in seconds per time step; smaller is
better.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from autotune.statistics.launch_times import LaunchTime, candidate_time
from autotune.statistics.rank_correlation import pair
from autotune.statistics.waiting import LOW

TOPS = (1, 3, 5)
"""The k of the losses of the predicted top k."""

APART = 0.05
"""Two times nearer than this share of the smaller are not told apart."""

_RULES = 20_000


# --- samples of one candidate ---------------------------------------------------------------


def location(times: ArrayLike) -> float:
    """The lower quartile: what stands for values that disturbances can only increase.

    Raises ValueError for no values and for values that are not positive numbers.

    >>> location([1.0, 1.1, 1.2, 1.3, 9.0])
    1.1
    """
    return float(np.quantile(_checked(times), LOW))


# --- candidates against each other ----------------------------------------------------------


def ratio(first: Mapping[int, LaunchTime], second: Mapping[int, LaunchTime]) -> float | None:
    """Time of ``first`` over time of ``second``: the median of the ratios within rounds.

    Both map the round to the time there; drift of the machine from round to round cancels. None
    without a common round.
    """
    ratios = [first[k].seconds / second[k].seconds for k in sorted(first.keys() & second.keys())]
    return float(np.median(ratios)) if ratios else None


def deviation(predicted: float, measured: float) -> float:
    """The relative error (predicted - measured) / measured."""
    return (predicted - measured) / measured


def loss(chosen: float, best: float) -> float:
    """The relative loss (time of the chosen - time of the best) / time of the best."""
    if not (best > 0 and chosen > 0):
        raise ValueError(f"times must be positive, not {chosen} and {best}")
    return (chosen - best) / best


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """The loss of choosing by measurement: a candidate is chosen by one half of the rounds and
    scored in the other.
    """

    mean: float
    maximum: float


def noise_floor(rounds: Mapping[str, Mapping[int, LaunchTime]]) -> NoiseFloor | None:
    """The noise floor of one run, from the time of each candidate in each round.

    The rounds are split into an earlier and a later half, as far apart in time as the run allows;
    with an odd number the middle one is left out. Each half chooses once. Only candidates with
    samples in both halves take part; None when there are fewer than two of them, or two rounds.
    """
    numbers = sorted({number for times in rounds.values() for number in times})
    half = len(numbers) // 2
    if half == 0:
        return None
    early, late = (
        {
            name: candidate_time(launches)
            for name, times in rounds.items()
            if (launches := [times[number] for number in part if number in times])
        }
        for part in (numbers[:half], numbers[-half:])
    )
    both = sorted(early.keys() & late.keys())
    if len(both) < 2:
        return None
    losses = []
    for choose, score in ((early, late), (late, early)):
        chosen = min(both, key=lambda name: choose[name])
        losses.append(loss(score[chosen], min(score[name] for name in both)))
    return NoiseFloor(mean=float(np.mean(losses)), maximum=max(losses))


# --- predicted against measured -------------------------------------------------------------


def ordered_pairs(predicted: ArrayLike, measured: ArrayLike, apart: float = APART) -> float | None:
    """The share of the pairs with measured times more than ``apart`` apart that are predicted in
    the measured order.

    A pair that is predicted as equal counts half. None when no pair is so far apart.
    """
    a, b = pair(predicted, measured)
    first, second = np.triu_indices(len(a), k=1)
    far = np.maximum(b[first], b[second]) > (1 + apart) * np.minimum(b[first], b[second])
    if not np.any(far):
        return None
    agree = np.sign(a[first] - a[second]) * np.sign(b[first] - b[second])
    return float(np.mean((agree[far] + 1) / 2))


Table = Mapping[str, Mapping[str, float]]
"""Problem to variant to its time."""


def constant_rule(table: Table, k: int, leave_out: str | None = None) -> tuple[str, ...]:
    """The fixed list of ``k`` variants with the smallest mean loss over all problems but
    ``leave_out``.

    Only variants that were measured on every problem, also on the one left out, can be in the list.
    All lists are tried where there are few enough; else the list grows by the best addition. Empty
    when there is no other problem or no such variant.
    """
    others = [problem for problem in sorted(table) if problem != leave_out]
    common = sorted(set.intersection(*map(set, table.values()))) if table else []
    if not (others and common):
        return ()
    times = np.array([[table[problem][variant] for variant in common] for problem in others])
    losses = times / np.array([[min(table[problem].values())] for problem in others]) - 1

    def mean_loss(chosen: Sequence[int]) -> float:
        return float(losses[:, list(chosen)].min(axis=1).mean())

    k = min(k, len(common))
    if math.comb(len(common), k) <= _RULES:
        best: Sequence[int] = min(itertools.combinations(range(len(common)), k), key=mean_loss)
    else:
        grown: list[int] = []
        while len(grown) < k:
            rest = [i for i in range(len(common)) if i not in grown]
            grown.append(min(rest, key=lambda i: mean_loss([*grown, i])))
        best = grown
    return tuple(common[i] for i in best)


def constant_losses(table: Table, k: int) -> dict[str, float]:
    """The loss on each problem of the constant rule that was chosen on all other problems.

    Empty where there is no rule: with one problem only, or without a variant that was measured
    everywhere.
    """
    losses: dict[str, float] = {}
    for problem in sorted(table):
        rule = constant_rule(table, k, leave_out=problem)
        if rule:
            chosen = min(table[problem][variant] for variant in rule)
            losses[problem] = loss(chosen, min(table[problem].values()))
    return losses


def skill(losses: Sequence[float], constant: Sequence[float]) -> float | None:
    """The skill 1 - mean loss / mean loss of the best constant rule, on the same problems in the
    same order.

    1: never a loss; 0: no better than a fixed list. Where the fixed list never loses, nothing can
    be gained: the skill is 0 if there is no loss either, else None (it would be minus infinity).
    None without problems. Raises ValueError for unequal numbers of problems.
    """
    if len(losses) != len(constant):
        raise ValueError(f"{len(losses)} losses do not compare with {len(constant)}")
    if not losses:
        return None
    loss, fixed = float(np.mean(losses)), float(np.mean(constant))
    if fixed == 0:
        return 0.0 if loss == 0 else None
    return 1 - loss / fixed


def _checked(times: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(times, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError("no samples")
    if not np.all(np.isfinite(values)) or np.any(values <= 0):
        raise ValueError("times must be positive numbers")
    return values
