"""Losses that noise does not flatter: chosen by some rounds of a run, scored in others.

Who takes the fastest of many noisy times, and scores it by those very times, finds a best that no
one can reach. Here two sets of rounds without a common one are drawn from each run in every way:
the first chooses, the second scores.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autotune.statistics.launch_times import LaunchTime, candidate_time

Floats = npt.NDArray[np.float64]
LEAST_ROUNDS = 4
"""Two choose, two score."""
ALPHA = 0.2
"""The part of the measured times that an 80 % interval misses."""


@dataclass(frozen=True, slots=True)
class Folds:
    """The times of all candidates of one run, split in every way."""

    choosing: Floats
    """(splits, candidates): seconds by the rounds that choose."""
    scoring: Floats
    """(splits, candidates): seconds by the rounds that score."""

    def excess(self, chosen: Sequence[int]) -> float:
        """The mean loss of the best of ``chosen`` against choosing among all by measurement.

        Both are chosen by the first rounds of a split and timed by its second ones, so that the
        noise floor is subtracted; below 0 where ``chosen`` is better than measuring so few rounds.
        """
        few = self._scored(list(chosen))
        return float(np.mean(few / self._scored(list(range(self.choosing.shape[1]))) - 1))

    def floor(self) -> float:
        """The noise floor: the mean loss of choosing by measurement."""
        everything = list(range(self.choosing.shape[1]))
        return float(np.mean(self._scored(everything) / self.scoring.min(axis=1) - 1))

    def _scored(self, chosen: list[int]) -> Floats:
        best = np.argmin(self.choosing[:, chosen], axis=1)
        return self.scoring[np.arange(len(best)), np.array(chosen)[best]]


def folds(launches: Sequence[Mapping[int, LaunchTime]]) -> Folds:
    """The folds of candidates that all have the same rounds; ValueError for fewer than four."""
    rounds = sorted(launches[0])
    if len(rounds) < LEAST_ROUNDS:
        raise ValueError(f"{len(rounds)} rounds cannot choose and score: {LEAST_ROUNDS} are needed")
    half = len(rounds) // 2
    pairs = [
        (first, second)
        for first in itertools.combinations(rounds, half)
        for second in itertools.combinations([r for r in rounds if r not in first], half)
    ]
    part = {
        numbers: np.array([candidate_time([each[n] for n in numbers]) for each in launches])
        for numbers in {numbers for pair in pairs for numbers in pair}
    }
    return Folds(
        choosing=np.array([part[first] for first, _ in pairs]),
        scoring=np.array([part[second] for _, second in pairs]),
    )


def constant_rule(
    times: Sequence[Mapping[str, float]], known: Sequence[str], k: int
) -> tuple[str, ...]:
    """The list of ``k`` of the variants ``known`` with the smallest mean loss on other problems.

    ``times``: of every other problem, seconds by variant. A variant that a problem lacks counts
    there with the median loss of that problem, so that spaces need not be equal; one that less
    than half of the problems have is no rule. The list grows by the best addition.
    """
    common = [v for v in known if 2 * sum(v in table for table in times) >= max(1, len(times))]
    if not (times and common):
        return ()
    losses = np.array([_losses(table, common) for table in times])
    chosen: list[int] = []
    while len(chosen) < min(k, len(common)):
        rest = [i for i in range(len(common)) if i not in chosen]
        chosen.append(min(rest, key=lambda i: float(losses[:, [*chosen, i]].min(axis=1).mean())))
    return tuple(common[i] for i in chosen)


def _losses(table: Mapping[str, float], wanted: Sequence[str]) -> list[float]:
    best, middle = min(table.values()), float(np.median(list(table.values())))
    return [table.get(variant, middle) / best - 1 for variant in wanted]


def interval_score(low: Floats, high: Floats, measured: Floats) -> Floats:
    """The score of 80 % intervals of logarithms of times: width and misses, less is better.

    Gneiting, Raftery, JASA 102 (2007), equation 43: the width, and 2/alpha times the distance by
    which the measured one lies outside. All arrays (n,), positive.
    """
    under = np.maximum(np.log(low / measured), 0.0)
    over = np.maximum(np.log(measured / high), 0.0)
    return np.log(high / low) + 2 / ALPHA * (under + over)


def skill(
    excess: Sequence[float], rule: Sequence[float], subjects: Sequence[str], draws: int = 2000
) -> tuple[float, float, float] | None:
    """The skill 1 - mean excess / mean excess of the rule, and its 90 % interval.

    The interval is that of a bootstrap over problems. None where the rule loses nothing.
    """
    problems = {subject: k for k, subject in enumerate(dict.fromkeys(subjects))}
    sums = np.zeros((len(problems), 2))
    for subject, losses in zip(subjects, zip(excess, rule, strict=True), strict=True):
        sums[problems[subject]] += losses
    ours, fixed = sums.sum(axis=0)
    if fixed <= 0:
        return None
    drawn = np.random.default_rng(1).integers(len(sums), size=(draws, len(sums)))
    totals = sums[drawn].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        known = np.where(totals[:, 1] > 0, 1 - totals[:, 0] / totals[:, 1], -np.inf)
    low, high = np.quantile(known, (0.05, 0.95), method="nearest")
    return float(1 - ours / fixed), float(low), float(high)
