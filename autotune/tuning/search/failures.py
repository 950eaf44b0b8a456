"""The probability that a candidate runs without failing, judged by similar candidates.

A Gaussian process of binary outcomes (``binary_outcomes``) over the terms that explain times. A
failure lowers the probability of its neighbours, most of all of those that share the values which
failures have in common; how much each parameter matters is learned. The latent value has a constant
of each problem, so that the share that fails is learned too.
"""

import numpy as np
from numpy.typing import NDArray

from autotune.statistics.gaussian_process.binary_outcomes import BinaryEvidence, binary_posterior
from autotune.tuning.search.candidate_covariance import (
    Inputs,
    SearchHyperparameters,
    TermSizes,
    covariance_terms,
    cross,
)
from autotune.tuning.search.gaussian_process import SearchPrior
from autotune.tuning.search.parameter_levels import ParameterLevels
from autotune.tuning.search.points import Floats, Indices

_PRIOR = SearchPrior(
    amplitude=2.0,
    terms=TermSizes(joint=1.0, main=2.0, pairs=1.0),
    length_spread=1.5,
    noise=0.05,
)
"""Latent values that candidates differ by: one failure is a hint, several that share a value are
evidence."""
_MEAN = 3.5
"""Latent mean: with the spread above, some three quarters run before anything is known."""
_CONSTANT = 0.3
"""Standard deviation of the latent constant of all problems, and of each."""
_ITERATIONS = 8
_MOST = 100
_NEVER = 0.98
"""Nothing is held to fail for certain that was not tried."""


class Failures:
    """The probability that each column runs without failing; costs no time before the first
    failure.
    """

    def __init__(
        self, levels: ParameterLevels, group: Indices, columns: Indices, seed: int
    ) -> None:
        count = len(levels.index)
        self._inputs = Inputs(
            levels=levels,
            scale=np.ones(count),
            hints=np.empty((0, count)),
            group=group,
            constant=_CONSTANT,
            weight=0.0,
        )
        self._columns, self._indicator = columns, levels.indicator(columns)
        self._priors = _PRIOR.of(levels.parameters)
        self._theta = self._priors.centre
        self._seed = seed
        self._outcomes: dict[int, bool] = {}
        self._due = 0
        self._current: Floats | None = None
        self._rows: list[int] = []
        self._between: Floats = np.empty((0, len(columns)))
        """Covariances of ``_rows`` with all columns."""

    def learn(self, row: int, failed: bool) -> None:
        """Add an outcome; a later outcome of the same candidate replaces it."""
        if self._outcomes.get(row) != failed:
            self._outcomes[row] = failed
            self._current = None

    def success(self) -> Floats | float:
        """The probability that each column runs, (m,); 1 before the first failure."""
        if not any(self._outcomes.values()):
            return 1.0
        if self._current is None:
            self._current = self._compute()
        return self._current

    def _compute(self) -> Floats:
        rows = self.kept()
        if len(self._outcomes) >= self._due:
            self._fit(rows)
        shape = SearchHyperparameters.of(self._theta)
        between = self._covariances(rows, shape)
        places = np.array(self._rows, dtype=np.intp)
        gram = cross(self._inputs, shape, places, places, self._inputs.levels.indicator(places))
        gram[np.diag_indices(len(rows))] += shape.noise**2
        posterior = binary_posterior(gram, self._ran(self._rows), _MEAN)
        chance = posterior.probability(between, self._inputs.variance(shape, self._columns))
        return np.maximum(chance, 1.0 - _NEVER)

    def _fit(self, rows: list[int]) -> None:
        """Fit the hyperparameters to the outcomes of rows, from their present values."""
        terms = covariance_terms(self._inputs, np.array(rows, dtype=np.intp), 0.0)
        likelihood = BinaryEvidence(terms, self._ran(rows), _MEAN)
        self._theta = self._priors.fitted(likelihood.loss, self._theta, _ITERATIONS)
        self._due = max(len(self._outcomes) + 3, int(1.1 * len(self._outcomes)))
        self._rows, self._between = [], self._between[:0]

    def _ran(self, rows: list[int]) -> NDArray[np.bool_]:
        return np.array([not self._outcomes[row] for row in rows])

    def _covariances(self, rows: list[int], shape: SearchHyperparameters) -> Floats:
        """Covariances of rows with all columns; those that were computed before come first."""
        place_of = {row: place for place, row in enumerate(self._rows)}
        before = [place_of[row] for row in rows if row in place_of]
        added = np.array([row for row in rows if row not in place_of], dtype=np.intp)
        fresh = cross(self._inputs, shape, added, self._columns, self._indicator)
        self._between = np.vstack([self._between[before], fresh])
        self._rows = [*(self._rows[place] for place in before), *added.tolist()]
        return self._between

    def kept(self) -> list[int]:
        """The rows to learn from: all, or of very many a part with the failures first.

        They are in the order in which they were learned.
        """
        rows = list(self._outcomes)
        if len(rows) <= _MOST:
            return rows
        chance = np.random.default_rng([self._seed, len(rows) // 30])
        order = sorted(rows, key=lambda row: (not self._outcomes[row], chance.random()))
        kept = set(order[: _MOST // 2]) | set(chance.permutation(order[_MOST // 2 :])[: _MOST // 2])
        return [row for row in rows if row in kept]
