"""Times of candidates with the drift of the machine removed, where candidates took part in
different rounds.

Where some candidates were launched in many rounds and others in few, their samples are not
comparable: the machine may have been faster in some rounds, and more samples have a smaller lower
quartile. Launches within one round are comparable. The logarithm of a launch's time is modelled as
the sum of a level of the candidate, a level of the round, and noise. Rounds that share candidates
tie all levels together.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray

from autotune.statistics.estimators import location, locations_of
from autotune.statistics.quantiles import MAD_TO_DEVIATION, student_below

Floats = NDArray[np.float64]
Round = TypeVar("Round", bound=Hashable)

NOISE = 0.05
"""Relative spread from launch to launch that is assumed before it is seen; as ``LOCATION`` was
chosen it was 0.07 under load, on an idle host it is a few per cent."""
_WORTH = 4.0
"""So many launches the assumption is worth."""
_WANDER = 0.5
"""Rounds wander by about this much (logarithm); it only ties what shares no round."""
_HUBER = 1.5
"""Residuals beyond so many standard deviations count linearly (Huber 1964)."""
_DENSE = 100_000
"""Tables of candidates and rounds with more entries are held sparsely."""
_SURE = 0.995
_MEDIAN = 1.2533
"""Standard error of a median over that of a mean, for normal noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftFreeTimes:
    """Seconds of each candidate at a common level of the machine, with their errors."""

    times: Mapping[str, float]
    errors: Mapping[str, float]
    """Standard deviation of the logarithm of each time, beside that of another."""
    drift: Mapping[Hashable, float]
    """Logarithm of how much slower the machine was in a round than in those that were named."""
    noise: float
    """Standard deviation of the logarithm of the time of one launch within its round."""


def levels(
    rounds: Mapping[str, Mapping[Round, Sequence[float]]], at: Sequence[Round] = ()
) -> DriftFreeTimes:
    """The time of every candidate at the level of the machine in the rounds ``at``.

    ``rounds``: candidate to round to its accepted times in that round. Without ``at``, or where
    nothing was timed in these rounds, the level is the mean of all rounds. Within a round equally
    many samples of each candidate count. The fit is robust: it uses Huber's weights.
    """
    launches = _launches(rounds)
    if not launches:
        return DriftFreeTimes(times={}, errors={}, drift={}, noise=NOISE)
    names = sorted({name for name, _, _ in launches})
    keys = list(dict.fromkeys(key for _, key, _ in launches))
    row = {name: k for k, name in enumerate(names)}
    column = {key: k for k, key in enumerate(keys)}
    i = np.array([row[name] for name, _, _ in launches])
    j = np.array([column[key] for _, key, _ in launches])
    y = np.array([value for _, _, value in launches])
    level, drift, noise = _fit(i, j, y)
    anchor = [column[key] for key in at if key in column]
    shift = float(np.mean(drift[anchor] if anchor else drift))
    beside = np.bincount(j).astype(float)
    share = np.where(beside > 1, 1 + 1 / np.maximum(beside - 1, 1), 2.0)
    counts = np.bincount(i)
    spread = noise * np.sqrt(np.bincount(i, weights=share[j])) / counts
    return DriftFreeTimes(
        times={name: math.exp(level[k] + shift) for name, k in row.items()},
        errors={name: float(spread[k]) for name, k in row.items()},
        drift={key: float(drift[k] - shift) for key, k in column.items()},
        noise=noise,
    )


def _launches(
    rounds: Mapping[str, Mapping[Round, Sequence[float]]],
) -> list[tuple[str, Hashable, float]]:
    """Candidate, round and logarithm of the location of its times there.

    Within a round, equally many samples of each candidate are used.
    """
    least: dict[Hashable, int] = {}
    for times in rounds.values():
        for key, taken in times.items():
            if len(taken):
                least[key] = min(least.get(key, len(taken)), len(taken))
    alike: dict[int, list[tuple[str, Hashable, Sequence[float]]]] = {}
    for name, times in sorted(rounds.items()):
        for key, taken in times.items():
            if len(taken):
                alike.setdefault(least[key], []).append((name, key, taken[: least[key]]))
    launches = []
    for group in alike.values():
        where = np.log(locations_of([taken for _, _, taken in group])).tolist()
        launches += [(name, key, at) for (name, key, _), at in zip(group, where, strict=True)]
    return launches


def _fit(i: NDArray[np.intp], j: NDArray[np.intp], y: Floats) -> tuple[Floats, Floats, float]:
    """The levels of candidates, the levels of rounds, and the noise, by iteratively reweighted
    least squares.
    """
    n, m = int(i.max()) + 1, int(j.max()) + 1
    free = max(0, len(y) - n - m + 1)
    weights = np.ones(len(y))
    noise = NOISE
    solution = np.zeros(n + m)
    for _ in range(6):
        solution = _solve(i, j, y, weights, (noise / _WANDER) ** 2)
        residual = y - solution[i] - solution[n + j]
        size = np.abs(residual)
        if free:
            # a share free/len of the spread is left after the fit
            seen = MAD_TO_DEVIATION * float(np.median(size)) * math.sqrt(len(y) / free)
            noise = math.sqrt((_WORTH * NOISE**2 + free * seen**2) / (_WORTH + free))
        before, weights = weights, np.minimum(1.0, _HUBER * noise / np.maximum(size, 1e-12))
        if np.abs(weights - before).max() < 1e-3:
            break
    return solution[:n], solution[n:], noise


def _solve(
    i: NDArray[np.intp], j: NDArray[np.intp], y: Floats, weights: Floats, ridge: float
) -> Floats:
    """Weighted least squares for the levels; the more numerous of candidates and rounds are
    eliminated first.
    """
    n, m = int(i.max()) + 1, int(j.max()) + 1
    diagonal, right = _sums(i, weights), _sums(i, weights * y)
    shared, left = _sums(j, weights) + ridge, _sums(j, weights * y)
    if n >= m:
        drift, levels_ = _eliminated((shared, left, j), (diagonal, right, i), weights)
    else:
        levels_, drift = _eliminated((diagonal, right, i), (shared, left, j), weights)
    return np.concatenate([levels_, drift])


def _sums(where: NDArray[np.intp], values: Floats) -> Floats:
    return np.asarray(np.bincount(where, values), dtype=np.float64)


_Side = tuple[Floats, Floats, NDArray[np.intp]]
"""Diagonal, right-hand side, and where each launch belongs."""


def _eliminated(kept: _Side, gone: _Side, weights: Floats) -> tuple[Floats, Floats]:
    """The solution of [[K, T], [T', G]] (x, y) = (r, l) with diagonal K and G, by the Schur
    complement of G.
    """
    (diagonal, right, i), (other, left, j) = kept, gone
    n, m = len(diagonal), len(other)
    if n * m <= _DENSE:
        dense = np.zeros((n, m))
        np.add.at(dense, (i, j), weights)
        scaled = dense / other
        x = scipy.linalg.solve(
            np.diag(diagonal) - scaled @ dense.T, right - scaled @ left, assume_a="pos"
        )
        return x, (left - x @ dense) / other
    table = scipy.sparse.csr_matrix((weights, (i, j)), shape=(n, m))
    thin = table @ scipy.sparse.diags(1 / other)
    x = scipy.linalg.solve(
        np.diag(diagonal) - (thin @ table.T).toarray(), right - thin @ left, assume_a="pos"
    )
    return x, (left - table.T @ x) / other


# --- one candidate against another ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Contest:
    """The time of one candidate over that of another, with an interval, from the rounds
    they share.
    """

    ratio: float
    low: float
    high: float
    """The ratio lies between these with 99 %."""
    rounds: int

    @property
    def slower(self) -> bool:
        """Whether the first candidate is clearly slower than the second."""
        return self.low > 1

    @property
    def faster(self) -> bool:
        """Whether the first candidate is clearly faster than the second."""
        return self.high < 1

    @property
    def width(self) -> float:
        """Half the width of the interval, relative to the ratio."""
        return math.sqrt(self.high / self.low) - 1


def contest(
    first: Mapping[Hashable, Sequence[float]],
    second: Mapping[Hashable, Sequence[float]],
    noise: float,
) -> Contest | None:
    """The median over rounds of the ratio of two candidates' times, with its interval; None without
    a common round.

    ``noise`` is the spread of one launch, estimated from all candidates, since few rounds do not
    determine it. Where the ratios scatter by more than the noise, their own scatter is used.
    Student's quantiles with two degrees of freedom more than rounds allow for heavy tails.
    """
    ratios = []
    for key in first.keys() & second.keys():
        count = min(len(first[key]), len(second[key]))
        if count:
            ratios.append(math.log(location(first[key][:count]) / location(second[key][:count])))
    if not ratios:
        return None
    middle = float(np.median(ratios))
    spread = math.sqrt(2) * noise
    if len(ratios) > 3:
        spread = max(spread, MAD_TO_DEVIATION * float(np.median(np.abs(np.array(ratios) - middle))))
    error = spread / math.sqrt(len(ratios)) * (_MEDIAN if len(ratios) > 2 else 1.0)
    half = student_below(len(ratios) + 2, _SURE) * error
    return Contest(math.exp(middle), math.exp(middle - half), math.exp(middle + half), len(ratios))
