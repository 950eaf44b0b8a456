"""Estimators for samples of times: location, intervals, losses, the noise floor, skill.

They are pure functions over numbers. A *time* is always in seconds per time step; smaller is
better.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from autotune.domain.results import Sample
from autotune.statistics.rank_correlation import pair

Estimator = Callable[[NDArray[np.float64]], NDArray[np.float64]]

ESTIMATORS: Mapping[str, Estimator] = {
    "minimum": lambda times: np.asarray(np.min(times, axis=-1)),
    "lower quartile": lambda times: np.asarray(np.quantile(times, 0.25, axis=-1)),
    "median": lambda times: np.asarray(np.median(times, axis=-1)),
}
"""The candidates for the one estimator, over the last axis; ``repeatability`` compares them."""

LOCATION = "lower quartile"
"""The estimator that ``location`` uses, everywhere.

``benchmarks/estimator.py`` on a virtual machine of 2 cores under a load of 8, two Heat2D sizes, 1,
2 and 4 launches of 6 samples: spread from launch to launch 6.2-10.8 % for the minimum, 7.0-8.9 %
for the lower quartile, 4.9-10.7 % for the median. The lower quartile has the smallest worst case.
"""

MUST_AGREE = ("threads", "wait", "priority", "leading")
"""Conditions that must be the same in samples that enter one number."""

TOPS = (1, 3, 5)
"""The k of the losses of the predicted top k."""

APART = 0.05
"""Two times nearer than this share of the smaller are not told apart."""

_RULES = 20_000


# --- samples of one candidate ---------------------------------------------------------------


def location(times: ArrayLike) -> float:
    """The location of samples of a time: the one estimator that is used everywhere.

    Raises ValueError for no samples and for times that are not positive numbers.

    >>> location([1.0, 1.1, 1.2, 1.3, 9.0])
    1.1
    """
    return float(ESTIMATORS[LOCATION](_checked(times)))


def locations_of(samples: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """``location`` of each of several rows of equally many samples."""
    rows = np.asarray(samples, dtype=np.float64)
    _checked(rows.reshape(-1))
    return ESTIMATORS[LOCATION](rows)


def repeatability(launches: Sequence[ArrayLike]) -> dict[str, float]:
    """How far the value of each estimator scatters from launch to launch of the same program.

    It is the standard deviation of the logarithm of its values, one per launch: a relative spread.
    Raises ValueError for fewer than two launches or for unequal numbers of samples. The minimum of
    more samples is smaller, so only equal numbers are comparable.
    """
    samples = [_checked(launch) for launch in launches]
    if len(samples) < 2:
        raise ValueError("repeatability needs at least two launches")
    if len({len(s) for s in samples}) != 1:
        raise ValueError("repeatability needs equal numbers of samples in all launches")
    return {
        name: float(np.std([math.log(estimator(s)) for s in samples], ddof=1))
        for name, estimator in ESTIMATORS.items()
    }


def interval(
    launches: Sequence[ArrayLike], *, seed: int = 1, share: float = 0.9, draws: int = 1000
) -> tuple[float, float] | None:
    """The bounds between which the location lies with probability ``share``, by bootstrap over
    launches.

    Launches are drawn with replacement, and the samples of a launch stay together, because launches
    differ by more than the samples within one (Kalibera and Jones 2013). None for fewer than three
    launches, which are too few for an interval.
    """
    samples = [_checked(launch) for launch in launches]
    if len(samples) < 3:
        return None
    generator = np.random.default_rng(seed)
    chosen = generator.integers(len(samples), size=(draws, len(samples)))
    if len({len(launch) for launch in samples}) == 1:
        values = ESTIMATORS[LOCATION](np.stack(samples)[chosen].reshape(draws, -1))
    else:
        drawn = (np.concatenate([samples[i] for i in draw]) for draw in chosen)
        values = np.array([location(times) for times in drawn])
    whole = location(np.concatenate(samples))
    low, high = np.quantile(values, [(1 - share) / 2, (1 + share) / 2])
    return min(float(low), whole), max(float(high), whole)


def by_launch(samples: Sequence[Sample]) -> list[list[float]]:
    """The accepted times of each launch, in order of launches; launches without any are left out.

    Raises ValueError naming the condition when samples were not taken under the same ones.
    """
    return list(_grouped(samples, lambda sample: sample.launch).values())


def by_round(samples: Sequence[Sample]) -> dict[int, list[float]]:
    """The accepted times of each round.

    Raises ValueError naming the condition when samples were not taken under the same ones.
    """
    return _grouped(samples, lambda sample: sample.round)


def _grouped(samples: Sequence[Sample], key: Callable[[Sample], int]) -> dict[int, list[float]]:
    counted = [s for s in samples if s.accepted and not s.warm_up]
    for name in MUST_AGREE:
        values = {s.conditions.get(name) for s in counted}
        if len(values) > 1:
            found = " and ".join(sorted(map(str, values)))
            raise ValueError(f"samples taken with different {name} do not compare: {found}")
    groups: dict[int, list[float]] = {}
    for sample in counted:
        groups.setdefault(key(sample), []).append(sample.seconds)
    return dict(sorted(groups.items()))


# --- candidates against each other ----------------------------------------------------------


def locations(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The location of each candidate's times, from the first samples of each, equally many for all.

    Candidates without samples are left out.
    """
    measured = {name: values for name, values in times.items() if len(values)}
    count = min((len(values) for values in measured.values()), default=0)
    return {name: location(values[:count]) for name, values in measured.items()}


def ratio(
    first: Mapping[int, Sequence[float]], second: Mapping[int, Sequence[float]]
) -> float | None:
    """The time of ``first`` over the time of ``second``: the median of the ratios within rounds.

    Both map the round to its times; drift of the machine from round to round cancels. Within a
    round equally many samples of each count. None without a common round.
    """
    ratios = []
    for number in sorted(first.keys() & second.keys()):
        pair = locations({"first": first[number], "second": second[number]})
        if len(pair) == 2:
            ratios.append(pair["first"] / pair["second"])
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


def noise_floor(rounds: Mapping[str, Mapping[int, Sequence[float]]]) -> NoiseFloor | None:
    """The noise floor of one run, from the times of each candidate in each round.

    The rounds are split into an earlier and a later half, as far apart in time as the run allows;
    of an odd number the middle round is left out. Each half chooses once. Only candidates with
    samples in both halves take part. None where there are fewer than two of them, or fewer than two
    rounds.
    """
    numbers = sorted({number for times in rounds.values() for number in times})
    half = len(numbers) // 2
    if half == 0:
        return None
    early, late = (
        locations({name: _pooled(times, part) for name, times in rounds.items()})
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


def _pooled(times: Mapping[int, Sequence[float]], numbers: Sequence[int]) -> list[float]:
    return [value for number in numbers for value in times.get(number, ())]


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
