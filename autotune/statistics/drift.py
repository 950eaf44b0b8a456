"""Times of candidates with the drift of the machine removed, where candidates took part in
different rounds.

Where some candidates were launched in many rounds and others in few, their samples are not
comparable: the machine may have been faster in some rounds, and more samples have a smaller lower
quartile. Launches within one round are comparable. The logarithm of a launch's time is modelled as
the sum of a level of the candidate, the drift of the round, and noise. Rounds that share candidates
tie all levels together.

The drift of a round is a random variable whose standard deviation is estimated too. Were the drift
free, luck would pass for it: a candidate that is the fastest so far was lucky, so that the rounds
after it look slow and the next candidate looks faster than it ever was, and so on.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray
from scipy.special import ndtri

from autotune.statistics.distributions import student
from autotune.statistics.launch_times import POLLUTION, LaunchTime, mean_bias, weighted_quantile
from autotune.statistics.quantiles import MAD_TO_DEVIATION

Floats = NDArray[np.float64]
Round = TypeVar("Round", bound=Hashable)

NOISE = 0.03
"""Relative spread from launch to launch that is assumed before it is seen: some per cent."""
_WORTH = 4.0
"""So many launches the assumption is worth."""
DRIFT = 0.1
"""Standard deviation of the drift of rounds of a run (logarithm) before it is seen."""
_DRIFT_WORTH = 4.0
"""So many rounds that assumption is worth."""
_FITS = 10
"""Repetitions of the fit at most."""
_CLOSE = 0.02
"""The standard deviation of the drift is found where it changes by less than this part of it."""
_WANDER = 0.5
"""Runs wander by about this much (logarithm); it only ties what shares no round."""
_HUBER = 1.5
"""Residuals beyond so many standard deviations count linearly (Huber 1964)."""
_LEAST_SHARE = 0.5
"""A launch of a candidate that scatters counts as so much of one that does not, at least."""
_DENSE = 100_000
"""Tables of candidates and rounds with more entries are held sparsely."""
_SPARSE = 10
"""Equations of which at most one entry in so many is other than 0 are solved sparsely."""
SURE = 0.95
"""A winner is declared where it is the fastest of all with this probability."""
_SURE = 0.99
"""Probability of the interval of a contest in a race."""
_MOVES = 0.25
"""Relative to half an interval of 99 %: the standard deviation of the difference between a mean of
some values and that of them and as many more."""
_NORMAL = 1.645
"""Standard deviations on either side of the middle of a 90 % interval."""
MEDIAN = 1.2533
"""Standard error of a median over that of a mean, for normal noise."""
POWER = 0.8
"""Two candidates count as told apart in the rounds in which this share of their contests is
decided (Cohen 1988)."""
MARGIN = float(ndtri(POWER))
"""So many standard errors a ratio must lie beyond half its interval for that."""


@dataclass(frozen=True, slots=True)
class Pollution:
    """What disturbed launches lose besides: a power of the time that they lost."""

    power: float = 0.0
    error: float = POLLUTION
    """Its standard deviation."""


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
    pollution: Pollution = Pollution()
    freedom: int = 0
    """Degrees of freedom of ``noise``, beside the launches that its assumption is worth."""

    def of(self, names: Sequence[str]) -> "DriftFreeTimes":
        """Those of some candidates, in the order of ``names``."""
        return replace(
            self,
            times={name: self.times[name] for name in names},
            errors={name: self.errors[name] for name in names},
        )

    def noise_of(self, freedom: int) -> float:
        """The noise that a fit with other degrees of freedom shows where launches scatter alike.

        The assumption counts the less the more launches there are. It hides no noise: the result is
        at least the scatter that was seen.
        """
        seen = 0.0
        if self.freedom:
            squares = (_WORTH + self.freedom) * self.noise**2 - _WORTH * NOISE**2
            seen = max(0.0, squares) / self.freedom
        elif not freedom:
            return self.noise
        return math.sqrt(max(seen, (_WORTH * NOISE**2 + freedom * seen) / (_WORTH + freedom)))


def time_error(level: DriftFreeTimes, name: str, rounds: Mapping[Round, LaunchTime]) -> float:
    """Standard deviation of the logarithm of a candidate's time, what disturbed launches lose
    besides included; ``rounds``: the times of its launches.
    """
    lost = float(np.mean([launch.lost for launch in rounds.values()]))
    return math.hypot(level.errors[name], level.pollution.error * lost)


def one_run(_: Hashable) -> Hashable:
    """The run of every round, where all rounds are of one."""
    return ""


def levels(
    rounds: Mapping[str, Mapping[Round, LaunchTime]],
    at: Sequence[Round] = (),
    run_of: Callable[[Round], Hashable] = one_run,
) -> DriftFreeTimes:
    """The time of every candidate at the level of the machine in the rounds ``at``.

    ``rounds``: candidate to round to the time of its launch in that round. Without ``at``, or where
    nothing was timed in these rounds, the level is the mean of all rounds. ``run_of``: the run that
    a round belongs to; how much slower one run was than another is known from the candidates that
    both have. The fit is robust: it uses Huber's weights. Disturbed launches are slower than their
    lost time explains, by a power of it that is the same for all launches and is fitted together
    with the levels.
    """
    launches = [
        (name, key, x) for name, times in sorted(rounds.items()) for key, x in times.items()
    ]
    if not launches:
        return DriftFreeTimes(times={}, errors={}, drift={}, noise=NOISE)
    names = sorted({name for name, _, _ in launches})
    keys = list(dict.fromkeys(key for _, key, _ in launches))
    row = {name: k for k, name in enumerate(names)}
    column = {key: k for k, key in enumerate(keys)}
    runs = {run: k for k, run in enumerate(dict.fromkeys(map(run_of, keys)))}
    table = _Launches(
        i=np.array([row[name] for name, _, _ in launches]),
        j=np.array([column[key] for _, key, _ in launches]),
        y=np.array([math.log(x.seconds) for _, _, x in launches]),
        lost=np.array([x.lost for _, _, x in launches]),
        error=np.array([x.error for _, _, x in launches]),
        bias=np.array([x.bias for _, _, x in launches]),
        run=np.array([runs[run_of(key)] for key in keys]),
    )
    fit = _fit(table)
    anchor = [column[key] for key in at if key in column]
    shift = float(np.mean(fit.drift[anchor] if anchor else fit.drift))
    spread = _errors(table, fit)
    return DriftFreeTimes(
        times={name: math.exp(fit.level[k] + shift) for name, k in row.items()},
        errors={name: float(spread[k]) for name, k in row.items()},
        drift={key: float(fit.drift[k] - shift) for key, k in column.items()},
        noise=fit.noise,
        pollution=fit.pollution,
        freedom=fit.freedom,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Launches:
    """All launches as arrays (n,)."""

    i: NDArray[np.intp]
    """Its candidate."""
    j: NDArray[np.intp]
    """Its round."""
    y: Floats
    """Logarithm of its time."""
    lost: Floats
    error: Floats
    bias: Floats
    run: NDArray[np.intp]
    """(rounds,) the run of each round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    level: Floats
    """(candidates,)"""
    drift: Floats
    """(rounds,)"""
    noise: float
    pollution: Pollution
    freedom: int


def _errors(launches: _Launches, fit: _Fit) -> Floats:
    """(candidates,) the standard deviation of each level."""
    beside = np.bincount(launches.j).astype(float)
    share = np.where(beside > 1, 1 + 1 / np.maximum(beside - 1, 1), 2.0)
    precision = 1 / (fit.noise**2 * share[launches.j] + launches.error**2)
    total = np.bincount(launches.i, weights=precision)
    lost = np.bincount(launches.i, weights=precision * launches.lost) / total
    apart = (lost - lost.mean()) * fit.pollution.error
    # alike in all launches: the deviation whose 90 % interval are the bounds
    bias = np.bincount(launches.i, weights=precision * launches.bias) / total / _NORMAL
    return np.asarray(np.sqrt(1 / total + apart**2 + bias**2), dtype=np.float64)


def _fit(launches: _Launches) -> _Fit:
    """Levels, drift and noise by reweighted least squares."""
    i, j, y, lost = launches.i, launches.j, launches.y, launches.lost
    n, m = int(i.max()) + 1, int(j.max()) + 1
    free = max(0, len(y) - n - m + 1)
    robust = np.ones(len(y))
    noise, wander, pollution, precision = NOISE, _WANDER, 0.0, 1 / POLLUTION**2
    solution = np.zeros(n + m)
    disturbed = bool(lost.any())
    for _ in range(_FITS):
        weights = robust / (1 + (launches.error / noise) ** 2)
        pull = _Pull(launches.run, (noise / wander) ** 2, (noise / _WANDER) ** 2)
        both = np.column_stack([y, lost]) if disturbed else y[:, None]
        solved = _solve(i, j, both, weights, pull)
        solution = solved[:, 0]
        if disturbed:
            moved = solved[:, 1]
            rest, column = y - solution[i] - solution[n + j], lost - moved[i] - moved[n + j]
            precision = float(weights @ column**2) / noise**2 + 1 / POLLUTION**2
            pollution = float(weights @ (column * rest)) / noise**2 / precision
            solution = solution - pollution * moved
        residual = y - pollution * lost - solution[i] - solution[n + j]
        size = np.abs(residual) / np.sqrt(1 + (launches.error / noise) ** 2)
        if free:
            # a share of the spread is left after the fit, the more the less the drift is free
            left = len(y) - n - max(0.0, _determined(_sums(j, weights), pull.within) - 1)
            seen = MAD_TO_DEVIATION * float(np.median(size)) * math.sqrt(len(y) / left)
            noise = math.sqrt((_WORTH * NOISE**2 + free * seen**2) / (_WORTH + free))
        before, robust = robust, _robust(launches, size, noise)
        wandered, wander = wander, _wander(launches, solution[n:], weights, pull.within)
        if np.abs(robust - before).max() < 1e-3 and abs(wander / wandered - 1) < _CLOSE:
            break
    return _Fit(
        level=solution[:n],
        drift=solution[n:],
        noise=_noise_within(launches, residual, robust, free),
        pollution=Pollution(pollution, 1 / math.sqrt(precision)),
        freedom=free,
    )


def _robust(launches: _Launches, size: Floats, noise: float) -> Floats:
    """The weights of launches, by the sizes of their residuals (n,): Huber's, less for candidates
    that scatter by more than the noise of all, such as one whose time depends on its memory pages.
    """
    huber = np.minimum(1.0, _HUBER * noise / np.maximum(size, 1e-12))
    squares = _sums(launches.i, huber * size**2)
    scatter = (_WORTH * noise**2 + squares) / (_WORTH + np.bincount(launches.i))
    return np.asarray(
        huber * np.clip(noise**2 / scatter, _LEAST_SHARE, 1.0)[launches.i], dtype=np.float64
    )


def _noise_within(launches: _Launches, residual: Floats, robust: Floats, free: int) -> float:
    """The noise of launches beside others of their rounds, by their residuals (n,).

    What all launches of a round have in common is none, also where the drift was pulled from it.
    """
    if not free:
        return NOISE
    j, size = launches.j, len(residual)
    weights = robust / (1 + (launches.error / NOISE) ** 2)
    common = _sums(j, weights * residual) / _sums(j, weights)
    apart = np.abs(residual - common[j]) / np.sqrt(1 + (launches.error / NOISE) ** 2)
    seen = MAD_TO_DEVIATION * float(np.median(apart)) * math.sqrt(size / free)
    return math.sqrt((_WORTH * NOISE**2 + free * seen**2) / (_WORTH + free))


def _determined(precision: Floats, within: float) -> float:
    """How many rounds have a drift that their launches determine, of ``precision`` (m,) in all."""
    return float((precision / (precision + within)).sum())


def _wander(launches: _Launches, drift: Floats, weights: Floats, within: float) -> float:
    """The standard deviation of the drift of rounds within a run, from a fit in which the drift was
    pulled towards the mean of its run with the precision ``within``.

    The fixed point of MacKay (1992): the squares of the drift over the number of rounds whose drift
    the launches determine.
    """
    run, precision = launches.run, _sums(launches.j, weights)
    apart = drift - (_sums(run, drift) / np.bincount(run))[run]
    determined = _determined(precision, within)
    squares = _DRIFT_WORTH * DRIFT**2 + float(apart @ apart)
    return math.sqrt(squares / (_DRIFT_WORTH + determined))


@dataclass(frozen=True, slots=True)
class _Pull:
    """What is known of the drift beforehand, as precisions relative to that of a launch."""

    run: NDArray[np.intp]
    """(rounds,) the run of each round."""
    within: float
    """Towards the mean of the run."""
    between: float
    """Of that mean towards 0."""

    def side(self, weights: Floats, right: Floats, place: NDArray[np.intp]) -> "_Side":
        """The rounds in the equations, by the sums of the weights of their launches (m,)."""
        sizes = np.bincount(self.run).astype(float)
        member = np.zeros((len(self.run), len(sizes)))
        member[np.arange(len(self.run)), self.run] = 1.0
        return _Side(
            weights + self.within, right, place, member, (self.within - self.between) / sizes
        )


@dataclass(frozen=True, slots=True)
class _Side:
    """Levels of candidates or of rounds in the equations: the matrix is the diagonal less the outer
    product of each column of ``member`` with itself, times ``share``.
    """

    diagonal: Floats
    """(n,)"""
    right: Floats
    """(n, k) right-hand sides."""
    place: NDArray[np.intp]
    """Where each launch belongs."""
    member: Floats
    """(n, r); the columns are nowhere both other than 0."""
    share: Floats
    """(r,)"""


def _solve(
    i: NDArray[np.intp], j: NDArray[np.intp], values: Floats, weights: Floats, pull: _Pull
) -> Floats:
    """Weighted least squares for the levels of candidates and then rounds, of each column of
    ``values``, (n, k); the more numerous of candidates and rounds are eliminated first, unless the
    equations are far sparser the other way.
    """
    weighted = weights[:, None] * values
    total = _sums(i, weights)
    none = np.zeros((len(total), 0))
    candidates = _Side(total, _column_sums(i, weighted), i, none, np.zeros(0))
    rounds = pull.side(_sums(j, weights), _column_sums(j, weighted), j)
    if _candidates_first(np.bincount(i), np.bincount(j)):
        drift, levels_ = _eliminated(rounds, candidates, weights)
    else:
        levels_, drift = _eliminated(candidates, rounds, weights)
    return np.concatenate([levels_, drift])


def _candidates_first(launches: NDArray[np.intp], beside: NDArray[np.intp]) -> bool:
    """Whether candidates are eliminated before rounds, by the launches of each candidate and those
    in each round: these are tied to one another where it is eliminated.
    """
    n, m = len(launches), len(beside)
    ties = {True: float(launches @ launches) / m**2, False: float(beside @ beside) / n**2}
    sparser = ties[True] < ties[False]
    return sparser if n * m > _DENSE and _SPARSE * ties[sparser] <= 1 else n >= m


def _sums(where: NDArray[np.intp], values: Floats) -> Floats:
    return np.asarray(np.bincount(where, values), dtype=np.float64)


def _column_sums(where: NDArray[np.intp], values: Floats) -> Floats:
    return np.column_stack([_sums(where, column) for column in values.T])


def _eliminated(kept: _Side, gone: _Side, weights: Floats) -> tuple[Floats, Floats]:
    """The solutions of [[K, T], [T', G]] (x, y) = (r, l) for the two sides, by the Schur complement
    of G, whose inverse is that of its diagonal and an outer product (Sherman and Morrison 1950).
    """
    n, m = len(kept.diagonal), len(gone.diagonal)
    scaled = gone.member / gone.diagonal[:, None]
    factor = gone.share / (1 - gone.share * (gone.member * scaled).sum(axis=0))
    table = scipy.sparse.csr_matrix((weights, (kept.place, gone.place)), shape=(n, m))
    tied = np.asarray(table @ scaled, dtype=np.float64)
    right = kept.right - table @ (gone.right / gone.diagonal[:, None])
    right = right - (tied * factor) @ (scaled.T @ gone.right)
    if n * m <= _DENSE:
        dense = table.toarray()
        x = _dense_solution(kept, (dense / gone.diagonal) @ dense.T, tied, factor, right)
    else:
        product = scipy.sparse.csc_matrix(table @ scipy.sparse.diags(1 / gone.diagonal) @ table.T)
        if product.nnz * _SPARSE <= n * n:
            x = _sparse_solution(kept, product, tied, factor, right)
        else:
            x = _dense_solution(kept, product.toarray(), tied, factor, right)
    rest = gone.right - table.T @ x
    return x, rest / gone.diagonal[:, None] + (scaled * factor) @ (scaled.T @ rest)


def _dense_solution(
    kept: _Side, product: Floats, tied: Floats, factor: Floats, right: Floats
) -> Floats:
    """The solution for the matrix of one side less ``product`` (n, n) and less the outer product of
    each column of ``tied`` (n, q) with itself, times ``factor`` (q,).
    """
    matrix = np.diag(kept.diagonal) - (kept.member * kept.share) @ kept.member.T
    matrix = matrix - product - (tied * factor) @ tied.T
    return np.asarray(scipy.linalg.solve(matrix, right, assume_a="pos"), dtype=np.float64)


def _sparse_solution(
    kept: _Side, product: scipy.sparse.csc_matrix, tied: Floats, factor: Floats, right: Floats
) -> Floats:
    """The same for a sparse product, by the identity of Woodbury (1950)."""
    sparse = scipy.sparse.csc_matrix(scipy.sparse.diags(kept.diagonal) - product)
    factors = scipy.sparse.linalg.splu(
        sparse, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    outer, share = np.hstack([kept.member, tied]), np.concatenate([kept.share, factor])
    solved = factors.solve(np.hstack([outer, right]))
    columns, x = solved[:, : len(share)], solved[:, len(share) :]
    scaled = share[:, None] * outer.T
    small = np.eye(len(share)) - scaled @ columns
    return np.asarray(x + columns @ np.linalg.solve(small, scaled @ x), dtype=np.float64)


# --- one candidate against another ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Contest:
    """The time of one candidate over that of another, with an interval, from the rounds
    they share.
    """

    ratio: float
    low: float
    high: float
    """The ratio lies between these with the probability that was asked for, 99 % in a race."""
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

    def futile(self, rounds: float) -> bool:
        """Whether even so many rounds in all are not expected to say which of the two is faster.

        The interval becomes narrower with the square root of the number of rounds, and the ratio
        will hardly move away from 1 by more than a quarter of its half.

        >>> Contest(0.95, 0.76, 1.1875, 5).futile(10), Contest(0.95, 0.88, 1.0256, 5).futile(10)
        (True, False)
        """
        half = math.log(self.high / self.low) / 2
        expected = half * math.sqrt(min(1.0, self.rounds / rounds))
        return abs(math.log(self.ratio)) + _MOVES * half < expected


def share_of_each(rivals: int) -> float:
    """The probability of each contest with a rival so that all of them hold with that of ``SURE``.

    By Bonferroni's inequality.

    >>> share_of_each(5)
    0.99
    """
    return 1 - (1 - SURE) / max(1, rivals)


def contest(
    first: Mapping[Round, LaunchTime],
    second: Mapping[Round, LaunchTime],
    noise: float,
    pollution: Pollution = Pollution(),
    share: float = _SURE,
) -> Contest | None:
    """The ratio within rounds with its interval; None without a common round.

    ``noise`` is the spread of one launch and ``pollution`` what disturbed launches lose besides,
    both estimated from all candidates, since few rounds do not determine them. Where the ratios
    scatter by more than the noise, their own scatter is used. Student's quantiles with two degrees
    of freedom more than rounds allow for heavy tails. How the losses of several threads overlap is
    not known of either, however many rounds there are.
    """
    shared = sorted(first.keys() & second.keys(), key=str)
    if not shared:
        return None
    a, b = ([x[key] for key in shared] for x in (first, second))
    lost = np.array([x.lost - y.lost for x, y in zip(a, b, strict=True)])
    ratios = np.array([math.log(x.seconds / y.seconds) for x, y in zip(a, b, strict=True)])
    ratios -= pollution.power * lost
    overlap = np.array([x.error**2 + y.error**2 for x, y in zip(a, b, strict=True)])
    weights = 1 / (2 * noise**2 + overlap)
    middle = weighted_quantile(ratios, weights, 0.5)
    error = 1 / math.sqrt(weights.sum())
    if len(ratios) > 3:
        scatter = MAD_TO_DEVIATION * float(np.median(np.abs(ratios - middle) * np.sqrt(weights)))
        error *= max(1.0, scatter)
    error *= MEDIAN if len(ratios) > 2 else 1.0
    error = math.hypot(error, float(np.average(lost, weights=weights)) * pollution.error)
    bias = mean_bias(a, weights) + mean_bias(b, weights)
    half = student(len(ratios) + 2, share) * error + bias
    return Contest(math.exp(middle), math.exp(middle - half), math.exp(middle + half), len(ratios))


def half_width(rounds: int, noise: float, share: float = _SURE) -> float:
    """Half the interval of the logarithm of the ratio, in a contest of ``rounds`` rounds.

    For undisturbed launches whose ratios scatter by the ``noise`` of a launch and no more. It is
    infinite without rounds.

    >>> round(half_width(10, 0.01), 4)
    0.0171
    """
    return student(rounds + 2, share) * ratio_error(rounds, noise) if rounds else math.inf


def ratio_error(rounds: int, noise: float) -> float:
    """The standard error of the logarithm of the ratio, in a contest of ``rounds`` rounds."""
    return math.sqrt(2 / rounds) * noise * (MEDIAN if rounds > 2 else 1.0)
