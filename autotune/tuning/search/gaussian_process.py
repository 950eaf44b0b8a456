"""A Gaussian process over all candidates, grown by one observation at a time.

The factor L of the observations' covariance and V = L^-1 k(observed, candidates) are kept: an
observation appends a row to both, so that a step costs O(n N) instead of O(n^2 N) (n observed, N
candidates; Rasmussen and Williams 2006, algorithm 2.1). The hyperparameters are those of the
greatest posterior density, fitted again whenever the observations have grown by a tenth.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from autotune.tuning.search.candidate_covariance import Evidence, Inputs, Shape, cross
from autotune.tuning.search.points import Floats, Indices

_JITTER = 1e-8
_FITTED = 150
"""So many observations are enough for the hyperparameters."""
_LEAST = 1e-12
"""Smallest variance: what is known exactly is known to 1e-6."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """Log-normal priors of the hyperparameters: medians, standard deviations of the logarithms."""

    amplitude: float
    """Log seconds that candidates are apart."""
    joint: float = 1.0
    """The term in all parameters, relative to the amplitude; so are the next two."""
    main: float = 0.7
    pairs: float = 0.5
    amplitude_spread: float = 0.7
    length: float = 1.0
    """The distance of levels at which candidates differ; 1 is the whole range of a parameter."""
    length_spread: float = 1.0
    noise: float = 0.02
    noise_spread: float = 0.7

    def centre(self, parameters: int) -> Floats:
        """The medians as logarithms, in the order of ``Shape.of``."""
        terms = [self.amplitude * share for share in (self.joint, self.main, self.pairs)]
        return np.log([*[self.length] * parameters, *terms, self.noise])

    def spread(self, parameters: int) -> Floats:
        """The standard deviations, in the same order."""
        lengths, amplitudes = [self.length_spread] * parameters, [self.amplitude_spread] * 3
        return np.array([*lengths, *amplitudes, self.noise_spread])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observations:
    """What was observed, in order, (n,) each.

    ``rows``: candidates. ``noise``: variances of the log time. ``foreign``: of another machine,
    off by a common factor. ``values``: what the process explains, centred.
    """

    rows: Indices
    noise: Floats
    foreign: Floats
    values: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def pick(self, places: Indices | slice) -> "Observations":
        """Those at some places."""
        return Observations(
            rows=self.rows[places],
            noise=self.noise[places],
            foreign=self.foreign[places],
            values=self.values[places],
        )

    def some(self, most: int) -> "Observations":
        """At most so many of them, evenly in order, the latest included."""
        if len(self) <= most:
            return self
        return self.pick(np.linspace(0, len(self) - 1, most).astype(np.intp))


class Process:
    """The posterior of one quantity at ``columns``, the candidates that may be suggested."""

    def __init__(self, inputs: Inputs, columns: Indices, prior: Prior, offset: float) -> None:
        """``offset``: standard deviation of the factor between machines."""
        count = inputs.levels.parameters
        self.shape = Shape.of(prior.centre(count))
        self._theta = prior.centre(count)
        self._inputs = inputs
        self._columns = columns
        self._indicator = inputs.levels.indicator(columns)
        self._place = np.full(len(inputs.levels.index), -1, dtype=np.intp)
        self._place[columns] = np.arange(len(columns))
        self._prior = prior
        self._offset = offset
        self._rows = np.empty(0, dtype=np.intp)
        self._factor: Floats = np.empty((0, 0))
        self._solved: Floats = np.empty((0, len(columns)))
        self._variance = self._fresh()
        self._pending: list[tuple[int, Floats]] = []

    # --- growing ----------------------------------------------------------------------------

    def fit(self, observed: Observations, iterations: int) -> None:
        """Hyperparameters of the greatest posterior density, from where they are, then afresh."""
        part = observed.some(_FITTED)
        extra = self._shared(part) + np.diag(part.noise + _JITTER)
        evidence = Evidence(self._inputs, part.rows, extra, part.values)
        count = self._inputs.levels.parameters
        centre, spread = self._prior.centre(count), self._prior.spread(count)

        def loss(theta: Floats) -> tuple[float, Floats]:
            value, gradient = evidence.loss(theta)
            off = (theta - centre) / spread
            return value + 0.5 * float(off @ off), gradient + off / spread

        found = minimize(
            loss,
            self._theta,
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(centre - 5 * spread, centre + 5 * spread, strict=True)),
            options={"maxiter": iterations, "maxfun": iterations + 5},
        )
        self._theta = np.asarray(found.x, dtype=np.float64)
        self.shape = Shape.of(self._theta)
        self.rebuild(observed)

    def rebuild(self, observed: Observations) -> None:
        """Take in all observations at once."""
        rows = observed.rows
        self._rows, self._pending = rows.copy(), []
        indicator = self._inputs.levels.indicator(rows)
        gram = cross(self._inputs, self.shape, rows, rows, indicator) + self._shared(observed)
        gram[np.diag_indices(len(rows))] += observed.noise + self.shape.noise**2 + _JITTER
        self._factor = np.asarray(np.linalg.cholesky(gram), dtype=np.float64)
        between = cross(self._inputs, self.shape, rows, self._columns, self._indicator)
        room = np.empty((_room(len(rows)), len(self._columns)))
        room[: len(rows)] = solve_triangular(
            self._factor, between, lower=True, check_finite=False, overwrite_b=True
        )
        self._solved = room
        taken = room[: len(rows)]
        self._variance = self._fresh() - np.einsum("ij,ij->j", taken, taken)

    def append(self, observed: Observations) -> bool:
        """Take in the last of the observations; False where only a rebuild can."""
        row, count = int(observed.rows[-1]), len(self._rows)
        place = self._place[row]
        if place < 0 or observed.foreign[-1] or len(observed) != count + 1:
            return False
        self._pending = []
        added, diagonal = self._row(row, count, float(observed.noise[-1]))
        if count == len(self._solved):
            room = np.empty((_room(count), len(self._columns)))
            room[:count] = self._solved
            self._solved = room
        factor = np.zeros((count + 1, count + 1))
        factor[:count, :count] = self._factor
        factor[count, :count] = self._solved[:count, place]
        factor[count, count] = diagonal
        self._solved[count] = added
        self._factor, self._rows = factor, np.append(self._rows, row)
        self._variance = self._variance - added * added
        return True

    def follows(self, observed: Observations) -> bool:
        """Take in what is new, one by one; False where what is known is not what comes first."""
        count = len(self._rows)
        if len(observed) < count or not np.array_equal(observed.rows[:count], self._rows):
            return False
        return all(self.append(observed.pick(slice(n + 1))) for n in range(count, len(observed)))

    def _row(self, row: int, count: int, noise: float) -> tuple[Floats, float]:
        """What a further observation appends to the solved rows and to the diagonal."""
        place = self._place[row]
        rows = np.array([row])
        between = cross(self._inputs, self.shape, rows, self._columns, self._indicator)[0]
        own = self._solved[:count, place]
        remains = max(float(self._variance[place]), _LEAST) + noise + self.shape.noise**2 + _JITTER
        diagonal = float(np.sqrt(remains))
        added: Floats = (between - own @ self._solved[:count]) / diagonal
        return added, diagonal

    def _fresh(self) -> Floats:
        return self._inputs.variance(self.shape, self._columns)

    def _shared(self, observed: Observations) -> Floats:
        """Covariance of what is off between machines."""
        shared: Floats = self._offset**2 * np.outer(observed.foreign, observed.foreign)
        return shared

    # --- asking -----------------------------------------------------------------------------

    def mean(self, values: Floats) -> Floats:
        """Posterior mean at the columns of what was observed with these values."""
        if not len(values):
            return np.zeros(len(self._columns))
        weights = solve_triangular(self._factor, values, lower=True, check_finite=False)
        mean: Floats = weights @ self._solved[: len(values)]
        return mean

    def sd(self, running: Indices) -> Floats:
        """Posterior standard deviation at the columns.

        ``running`` candidates count as measured at their posterior mean, which leaves all means as
        they are (Ginsbourger et al. 2010, kriging believer).
        """
        variance = self._variance
        if running.size:
            variance = variance.copy()
            count = len(self._rows)
            if [row for row, _ in self._pending] != running[: len(self._pending)].tolist():
                self._pending = []
            for row in running[len(self._pending) :].tolist():
                added = self._believed(row, count)
                self._pending.append((row, added))
            for _, added in self._pending:
                variance -= added * added
        return np.sqrt(np.maximum(variance, _LEAST))

    def _believed(self, row: int, count: int) -> Floats:
        place = self._place[row]
        added, diagonal = self._row(row, count, 0.0)
        square = diagonal**2
        added *= diagonal
        for _, earlier in self._pending:
            added -= earlier[place] * earlier
            square -= earlier[place] ** 2
        found: Floats = added / np.sqrt(max(square, _JITTER))
        return found


def _room(count: int) -> int:
    """Rows to keep free for further observations."""
    return count + max(16, count // 8)
