"""A Gaussian process over all candidates that grows by one observation at a time.

The hyperparameters have the greatest posterior density. They are fitted again whenever the number
of observations has grown by a tenth.
"""

from dataclasses import astuple, dataclass

import numpy as np

from autotune.statistics.gaussian_process.evidence import LogNormalPriors
from autotune.statistics.gaussian_process.grown_posterior import JITTER, GrownPosterior
from autotune.tuning.search.candidate_covariance import (
    Inputs,
    SearchHyperparameters,
    TermSizes,
    cross,
    evidence,
)
from autotune.tuning.search.points import Floats, Indices

_FITTED = 150
"""So many observations are enough for the hyperparameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPrior:
    """Log-normal priors of the hyperparameters: medians, standard deviations of the logarithms."""

    amplitude: float
    """Log seconds that candidates are apart."""
    terms: TermSizes = TermSizes(joint=1.0, main=0.7, pairs=0.5)
    """Relative to the amplitude."""
    amplitude_spread: float = 0.7
    length: float = 1.0
    """The distance of levels at which candidates differ; 1 is the whole range of a parameter."""
    length_spread: float = 1.0
    noise: float = 0.005
    """Beside what each observation states of its own noise."""
    noise_spread: float = 0.5

    def of(self, parameters: int) -> LogNormalPriors:
        """The priors for a number of parameters, in the order of ``SearchHyperparameters.of``."""
        terms = [self.amplitude * share for share in astuple(self.terms)]
        lengths, amplitudes = [self.length_spread] * parameters, [self.amplitude_spread] * 3
        return LogNormalPriors(
            centre=np.log([*[self.length] * parameters, *terms, self.noise]),
            spread=np.array([*lengths, *amplitudes, self.noise_spread]),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observations:
    """Observations in their order, (n,) each.

    ``rows``: candidates. ``noise``: variances of the log time. ``foreign``: whether from another
    machine, whose times differ by a common factor. ``values``: the residuals to explain, centred.
    """

    rows: Indices
    noise: Floats
    foreign: Floats
    values: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def pick(self, places: Indices | slice) -> "Observations":
        """The observations at given indices."""
        return Observations(
            rows=self.rows[places],
            noise=self.noise[places],
            foreign=self.foreign[places],
            values=self.values[places],
        )

    def some(self, most: int) -> "Observations":
        """At most ``most`` observations, evenly spaced in order, including the latest."""
        if len(self) <= most:
            return self
        return self.pick(np.linspace(0, len(self) - 1, most).astype(np.intp))


class Process:
    """The posterior of one quantity at ``columns``, the candidates that may be suggested."""

    def __init__(self, inputs: Inputs, columns: Indices, prior: SearchPrior, offset: float) -> None:
        """``offset``: standard deviation of the factor between machines."""
        self._priors = prior.of(inputs.levels.parameters)
        self._theta = self._priors.centre
        self.shape = SearchHyperparameters.of(self._theta)
        self._inputs = inputs
        self._columns = columns
        self._indicator = inputs.levels.indicator(columns)
        self._place = np.full(len(inputs.levels.index), -1, dtype=np.intp)
        self._place[columns] = np.arange(len(columns))
        self._offset = offset
        self._rows = np.empty(0, dtype=np.intp)
        self._posterior = GrownPosterior(self._fresh(), self.shape.noise**2)
        self._observed: Observations | None = None
        self._stale = False

    # --- growing ----------------------------------------------------------------------------

    def fit(self, observed: Observations, iterations: int) -> None:
        """Fit the hyperparameters to the greatest posterior density, then use all observations.

        The fit starts from their present values.
        """
        part = observed.some(_FITTED)
        extra = self._shared(part) + np.diag(part.noise + JITTER)
        likelihood = evidence(self._inputs, part.rows, extra, part.values)
        self._theta = self._priors.fitted(likelihood.loss, self._theta, iterations)
        self.shape = SearchHyperparameters.of(self._theta)
        self.rebuild(observed)

    def rebuild(self, observed: Observations) -> None:
        """Use all observations at once; the posterior is computed when it is asked for."""
        self._observed, self._stale = observed, True

    def append(self, observed: Observations) -> bool:
        """Add the last of the observations; False if a rebuild is needed."""
        count = 0 if self._observed is None else len(self._observed)
        in_columns = self._place[observed.rows[-1]] >= 0
        if not in_columns or observed.foreign[-1] or len(observed) != count + 1:
            return False
        self._observed = observed
        return True

    def follows(self, observed: Observations) -> bool:
        """Add new observations one by one; False if the list does not begin with the known ones."""
        count = len(self._rows)
        if len(observed) < count or not np.array_equal(observed.rows[:count], self._rows):
            return False
        return all(self.append(observed.pick(slice(n + 1))) for n in range(count, len(observed)))

    def _current(self) -> GrownPosterior:
        """The posterior with all observations."""
        observed = self._observed
        if observed is None:
            return self._posterior
        if self._stale:
            rows = observed.rows
            between = cross(self._inputs, self.shape, rows, self._columns, self._indicator)
            gram = self._gram(observed)
            self._posterior.rebuild(gram, between, self._fresh(), self.shape.noise**2)
            self._stale = False
        else:
            for place in range(len(self._rows), len(observed)):
                row, noise = int(observed.rows[place]), float(observed.noise[place])
                self._posterior.append(*self._between(row), noise)
        self._rows = observed.rows.copy()
        return self._posterior

    def _gram(self, observed: Observations) -> Floats:
        """The covariance of the observations, with their noise, (n, n)."""
        rows = observed.rows
        indicator = self._inputs.levels.indicator(rows)
        gram = cross(self._inputs, self.shape, rows, rows, indicator) + self._shared(observed)
        gram[np.diag_indices(len(rows))] += observed.noise + self.shape.noise**2 + JITTER
        return gram

    def _between(self, row: int) -> tuple[int, Floats]:
        """The column of a candidate, and its covariances with all columns."""
        rows = np.array([row])
        between = cross(self._inputs, self.shape, rows, self._columns, self._indicator)[0]
        return int(self._place[row]), between

    def _fresh(self) -> Floats:
        return self._inputs.variance(self.shape, self._columns)

    def _shared(self, observed: Observations) -> Floats:
        """Covariance from the common factor between machines."""
        shared: Floats = self._offset**2 * np.outer(observed.foreign, observed.foreign)
        return shared

    # --- asking -----------------------------------------------------------------------------

    def mean(self, values: Floats) -> Floats:
        """Posterior mean at the columns if the observations have these values."""
        return self._current().mean(values)

    def sd(self, running: Indices) -> Floats:
        """Posterior standard deviation at the columns.

        ``running`` candidates count as measured at their posterior mean.
        """
        return self._current().sd(running.tolist(), self._between)
