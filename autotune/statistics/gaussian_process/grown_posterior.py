"""The posterior of a Gaussian process at fixed places, updated by one observation at a time.

The factor L of the observations' covariance and V = L^-1 k(observed, places) are kept: an
observation appends a row to both, so that it costs O(n N) instead of O(n^2 N) (n observed, N
places; Rasmussen and Williams 2006, algorithm 2.1).
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from autotune.statistics.gaussian_process.kernels import Floats

JITTER = 1e-8
"""Variance that is added to every observation, so that factors exist."""
_LEAST = 1e-12
"""Smallest variance: a value that is known exactly is known to 1e-6."""


def factor_of(covariance: Floats) -> Floats:
    """The lower Cholesky factor of a covariance, (n, n)."""
    return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)


class GrownPosterior:
    """The posterior mean and standard deviation at N places after some observations."""

    def __init__(self, variance: Floats, white: float) -> None:
        """Start without observations.

        ``variance``: (N,) prior variances at the places. ``white``: the variance of the white noise
        that all observations have.
        """
        self.count = 0
        """Observations."""
        self._factor: Floats = np.empty((0, 0))
        self._solved: Floats = np.empty((0, len(variance)))
        self._variance = variance
        self._white = white
        self._expected: list[tuple[int, Floats]] = []

    def rebuild(self, covariance: Floats, between: Floats, variance: Floats, white: float) -> None:
        """Replace the posterior by that of all these observations; LinAlgError where the covariance
        has no factor.

        ``covariance``: (n, n) of the observations, with their noise. ``between``: (n, N)
        covariances with the places. ``variance``, ``white``: as in ``__init__``.
        """
        self._white = white
        count = len(covariance)
        self._factor, self.count, self._expected = factor_of(covariance), count, []
        room = np.empty((_room(count), between.shape[1]))
        room[:count] = solve_triangular(
            self._factor, between, lower=True, check_finite=False, overwrite_b=True
        )
        self._solved = room
        taken = room[:count]
        self._variance = variance - np.einsum("ij,ij->j", taken, taken)

    def append(self, place: int, between: Floats, noise: float) -> None:
        """Take in one observation at a place.

        ``between``: (N,) its covariances with the places. ``noise``: the variance of its own noise,
        in addition to the white noise.
        """
        count = self.count
        self._expected = []
        added, diagonal = self._row(place, between, noise)
        if count == len(self._solved):
            room = np.empty((_room(count), len(between)))
            room[:count] = self._solved
            self._solved = room
        factor = np.zeros((count + 1, count + 1))
        factor[:count, :count] = self._factor
        factor[count, :count] = self._solved[:count, place]
        factor[count, count] = diagonal
        self._solved[count] = added
        self._factor, self.count = factor, count + 1
        self._variance = self._variance - added * added

    def _row(self, place: int, between: Floats, noise: float) -> tuple[Floats, float]:
        """The row that a further observation appends to V, and its entry of the diagonal of L."""
        column = self._solved[: self.count, place]
        remains = max(float(self._variance[place]), _LEAST) + noise + self._white + JITTER
        diagonal = float(np.sqrt(remains))
        added: Floats = (between - column @ self._solved[: self.count]) / diagonal
        return added, diagonal

    def mean(self, values: Floats) -> Floats:
        """(N,) the posterior mean, where ``values`` (n,) are the observed values."""
        if not len(values):
            return np.zeros(len(self._variance))
        weights = solve_triangular(self._factor, values, lower=True, check_finite=False)
        mean: Floats = weights @ self._solved[: len(values)]
        return mean

    def sd(self, expected: list[int], between: Callable[[int], tuple[int, Floats]]) -> Floats:
        """(N,) posterior standard deviation.

        ``expected``: the numbers by which the caller knows the pending observations. A pending
        observation counts as made, with its posterior mean as value, which leaves all means as they
        are (Ginsbourger et al. 2010, kriging believer). ``between`` maps such a number to the place
        of the observation and its covariances with all places.
        """
        variance = self._variance
        if expected:
            variance = variance.copy()
            if [number for number, _ in self._expected] != expected[: len(self._expected)]:
                self._expected = []
            for number in expected[len(self._expected) :]:
                self._expected.append((number, self._believed(*between(number))))
            for _, added in self._expected:
                variance -= added * added
        return np.sqrt(np.maximum(variance, _LEAST))

    def _believed(self, place: int, between: Floats) -> Floats:
        added, diagonal = self._row(place, between, 0.0)
        square = diagonal**2
        added *= diagonal
        for _, earlier in self._expected:
            added -= earlier[place] * earlier
            square -= earlier[place] ** 2
        believed: Floats = added / np.sqrt(max(square, JITTER))
        return believed


def _room(count: int) -> int:
    """The number of rows to keep free for further observations."""
    return count + max(16, count // 8)
