"""A Gaussian process on the logarithm of the response, with or without a trend (kriging).

    log2 T = c + x' b + f(x) + noise,   b ~ N(0, t^2),   f ~ GP(0, a^2 Matern-5/2 with a length
    for each parameter)

Source: Rasmussen and Williams 2006, eq. 4.17 and 2.39; a trend whose coefficients have a prior is a
further term of the covariance. With the trend the model is universal kriging: outside the training
box it continues as a product of powers. Without the trend it returns to the mean there. All
categories of a parameter are equally far apart and share one length. The hyperparameters are those
of the greatest posterior density under broad log-normal priors, which a few rows cannot overrule.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.spatial.distance import cdist, pdist

from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.learning.models.base import Explanation, Floats, Indices, Predictor
from autotune.learning.models.effects import total_effects
from autotune.learning.models.encode import Encoder, encoder_of
from autotune.statistics.gaussian_process.evidence import Evidence, LogNormalPriors
from autotune.statistics.gaussian_process.grown_posterior import JITTER, factor_of
from autotune.statistics.gaussian_process.kernels import (
    ROOT5,
    Fixed,
    KernelTerm,
    LinearTrend,
    Matern52,
    White,
    matern52,
)

_FITTED = 150
"""So many rows are enough for the hyperparameters."""
_MOST = 2000
"""So many rows are taken in at most, evenly spread: time grows with their cube."""
_ITERATIONS, _RESUMED = 60, 8
_CONSTANT = 4.0
"""Variance of the constant c, relative to that of the response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KrigingPrior:
    """Medians and spreads (standard deviations of the logarithm) of the hyperparameters.

    Relative to the standard deviations of columns and response. ``length`` is for one parameter and
    grows with the root of their number, as distances do (Hvarfner, Hellsten and Nardi 2024).
    """

    length: float = 2.0
    length_spread: float = 1.0
    amplitude: float = 0.7
    trend: float = 0.5
    noise: float = 0.1
    spread: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StandardisedColumns:
    """Standardises the columns of a matrix; all columns of one of the ``groups`` share a length
    scale.
    """

    encoder: Encoder
    mean: Floats
    scale: Floats
    groups: Indices

    @classmethod
    def of(cls, encoder: Encoder, matrix: Floats) -> "StandardisedColumns":
        """The standardisation of a matrix: numbers get unit variance; categories stay 0 and 1, at
        mutual distance sqrt(2).
        """
        texts = np.array([column.scale == "is" for column in encoder.columns], dtype=bool)
        deviations = matrix.std(axis=0)
        scale = np.where(texts | (deviations == 0), 1.0, deviations)
        return cls(encoder=encoder, mean=matrix.mean(axis=0), scale=scale, groups=encoder.groups())

    def __call__(self, matrix: Floats) -> Floats:
        """The standardised columns of a matrix."""
        standardised: Floats = (matrix - self.mean) / self.scale
        return standardised

    @property
    def lengths(self) -> int:
        """The number of length scales."""
        return int(self.groups.max()) + 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KrigingHyperparameters:
    """The hyperparameters of a Gaussian process: ``lengths`` (parameters,) and standard
    deviations.
    """

    lengths: Floats
    amplitude: float
    trend: float
    noise: float

    @classmethod
    def of(cls, theta: Floats, trend: bool) -> "KrigingHyperparameters":
        """The hyperparameters from their logarithms: lengths, amplitude, noise, and the trend where
        there is one.
        """
        values = np.exp(theta)
        tail = values[-3:] if trend else np.append(values[-2:], 0.0)
        lengths = values[: len(values) - (3 if trend else 2)]
        return cls(
            lengths=lengths, amplitude=float(tail[0]), noise=float(tail[1]), trend=float(tail[2])
        )


def covariance(
    shape: KrigingHyperparameters, groups: Indices, left: Floats, right: Floats
) -> Floats:
    """(len(left), len(right)) covariances without noise between standardised columns of rows."""
    lengths = shape.lengths[groups]
    smooth = matern52(cdist(left / lengths, right / lengths) * ROOT5)
    total: Floats = shape.amplitude**2 * smooth + shape.trend**2 * (left @ right.T) + _CONSTANT
    return total


def _evidence(columns: StandardisedColumns, x: Floats, y: Floats, trend: bool) -> Evidence:
    """The evidence as a function of the logarithms of lengths, amplitude, noise and, with a trend,
    its deviation.

    ``x``: (n, columns), ``y``: (n,), both standardised.
    """
    groups = range(columns.lengths)
    square = np.array([pdist(x[:, columns.groups == g], "sqeuclidean") for g in groups])
    products = (x @ x.T)[np.triu_indices(len(y), 1)]
    linear = [LinearTrend(products, np.einsum("ij,ij->i", x, x))] if trend else []
    terms: list[KernelTerm] = [
        Matern52(square),
        White(JITTER),
        *linear,
        Fixed(_CONSTANT, _CONSTANT),
    ]
    return Evidence(terms, y)


def _priors(columns: StandardisedColumns, prior: KrigingPrior, trend: bool) -> LogNormalPriors:
    count = columns.lengths
    tail = [prior.amplitude, prior.noise, *([prior.trend] if trend else [])]
    long = prior.length * math.sqrt(max(count, 1))
    return LogNormalPriors(
        centre=np.log([*[long] * count, *tail]),
        spread=np.array([*[prior.length_spread] * count, *[prior.spread] * len(tail)]),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProcessPredictor:
    """The posterior of a Gaussian process on log2 of the response; see the module kriging."""

    columns: StandardisedColumns
    theta: Floats
    trend: bool
    x: Floats
    """(n, columns) what it was trained on, standardised."""
    factor: Floats
    solved: Floats
    """(n,) the inverse covariance times the standardised response."""
    mean: float
    scale: float
    """Of log2 of the response."""
    table: MeasurementTable
    formula: None = None

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) predictions of the response: 2 to the power of the posterior mean."""
        between = self._between(inputs)
        predicted: Floats = np.exp2(
            np.clip(self.mean + self.scale * (between @ self.solved), -1e3, 1e3)
        )
        return predicted

    def sd(self, inputs: ParameterRows) -> Floats:
        """(n,) posterior standard deviation of log2 of the response, without the noise."""
        shape = KrigingHyperparameters.of(self.theta, self.trend)
        x = self.columns(self.columns.encoder.matrix(inputs))
        prior_variance = (
            shape.amplitude**2 + shape.trend**2 * np.einsum("ij,ij->i", x, x) + _CONSTANT
        )
        taken = solve_triangular(
            self.factor, self._between(inputs).T, lower=True, check_finite=False
        )
        variance = prior_variance - np.einsum("ij,ij->j", taken, taken)
        deviation: Floats = self.scale * np.sqrt(np.maximum(variance, 0.0))
        return deviation

    def _between(self, inputs: ParameterRows) -> Floats:
        x = self.columns(self.columns.encoder.matrix(inputs))
        return covariance(
            KrigingHyperparameters.of(self.theta, self.trend), self.columns.groups, x, self.x
        )

    def explain(self) -> Explanation:
        """Total effects of the parameters, the strongest first."""
        return total_effects(self.predict, self.table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kriging:
    """Gaussian process regression, with ``trend`` universal kriging; see the module kriging."""

    name: str = "gp"
    trend: bool = False
    prior: KrigingPrior = field(default_factory=KrigingPrior)

    @property
    def extrapolates(self) -> bool:
        """Whether the model has a trend, without which it cannot extrapolate."""
        return self.trend

    def train(self, table: MeasurementTable, seed: int = 0) -> ProcessPredictor:
        """Train on a table; InputError unless two of its rows differ."""
        return self._train(table, seed, None, _ITERATIONS)

    def resume(self, table: MeasurementTable, seed: int, previous: Predictor) -> ProcessPredictor:
        """Train on a table; the search for hyperparameters starts from those of the previous
        predictor.
        """
        start = previous.theta if isinstance(previous, ProcessPredictor) else None
        return self._train(table, seed, start, _ITERATIONS if start is None else _RESUMED)

    def _train(
        self, table: MeasurementTable, seed: int, start: Floats | None, iterations: int
    ) -> ProcessPredictor:
        chance = np.random.default_rng(seed)
        if len(table) > _MOST:
            table = table.take(np.sort(chance.permutation(len(table))[:_MOST]))
        encoder = encoder_of(table)
        matrix = encoder.matrix(table.inputs)
        columns = StandardisedColumns.of(encoder, matrix)
        x, target = columns(matrix), np.log2(table.response)
        mean, scale = float(target.mean()), float(target.std()) or 1.0
        y = (target - mean) / scale
        some = chance.permutation(len(y))[:_FITTED]
        evidence = _evidence(columns, x[some], y[some], self.trend)
        priors = _priors(columns, self.prior, self.trend)
        if start is None or len(start) != len(priors.centre):
            start = priors.centre
        theta = priors.fitted(evidence.loss, start, iterations)
        shape = KrigingHyperparameters.of(theta, self.trend)
        gram = covariance(shape, columns.groups, x, x)
        gram[np.diag_indices(len(y))] += shape.noise**2 + JITTER
        factor = factor_of(gram)
        return ProcessPredictor(
            columns=columns,
            theta=theta,
            trend=self.trend,
            x=x,
            factor=factor,
            solved=cho_solve((factor, True), y, check_finite=False),
            mean=mean,
            scale=scale,
            table=table,
        )
