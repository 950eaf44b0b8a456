"""Outcomes that are one of two, explained by a Gaussian process: expectation propagation.

A latent value f is normal with a mean m and a covariance K, and an outcome is positive with
probability Phi(f). Each outcome is replaced by a normal factor of f with the precision ``tau`` and
the precision times mean ``nu`` that leave the moments as they are (Rasmussen and Williams 2006,
sections 3.6 and 5.5.2). All factors are renewed at once, and damped. Probabilities are closer to
what happens than by Laplace's approximation (Kuss and Rasmussen 2005).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import log_ndtr, ndtr

from autotune.statistics.gaussian_process.evidence import terms_at
from autotune.statistics.gaussian_process.grown_posterior import factor_of
from autotune.statistics.gaussian_process.kernels import Floats, KernelTerm

_SWEEPS = 60
_DAMPED = 0.8
"""The share of a change of the factors that is made."""
_CLOSE = 1e-4
_LEAST = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinaryPosterior:
    """The approximate posterior of the latent values after n outcomes."""

    mean: float
    """The prior mean m."""
    weights: Floats
    """(n,) by which covariances with the outcomes add up to the posterior mean less m."""
    root: Floats
    """(n,) square roots of ``tau``, the precisions of the factors."""
    nu: Floats
    """(n,) their precisions times means."""
    factor: Floats
    """(n, n) lower Cholesky factor of 1 + root K root."""
    evidence: float
    """The approximate log marginal likelihood (eq. 3.65)."""

    def probability(self, between: Floats, variance: Floats) -> Floats:
        """(N,) the probability of a positive outcome at other places (eq. 3.82).

        ``between``: (n, N) prior covariances with them. ``variance``: (N,) their prior variances.
        """
        left = variance - _explained(self.factor, self.root, between)
        latent = self.mean + self.weights @ between
        result: Floats = ndtr(latent / np.sqrt(1.0 + np.maximum(left, _LEAST)))
        return result

    @property
    def evidence_slopes(self) -> Floats:
        """(n, n) derivatives of the evidence by the covariance (eq. 5.27)."""
        inverse = self.root[:, None] * cho_solve((self.factor, True), np.diag(self.root))
        result: Floats = 0.5 * (np.outer(self.weights, self.weights) - inverse)
        return result


def binary_posterior(
    covariance: Floats,
    positive: NDArray[np.bool_],
    mean: float,
    like: BinaryPosterior | None = None,
) -> BinaryPosterior:
    """The posterior after some outcomes.

    ``covariance``: (n, n) prior covariance of the latent values. ``positive``: (n,) outcomes.
    ``like``: that of the same outcomes with another covariance, to begin with.
    """
    signs = np.where(positive, 1.0, -1.0)
    tau, nu = np.zeros((2, len(signs))) if like is None else (like.root**2, like.nu)
    for sweep in range(_SWEEPS):
        root = np.sqrt(tau)
        factor = factor_of(np.eye(len(tau)) + root[:, None] * covariance * root)
        solved = cho_solve((factor, True), root * (covariance @ nu), check_finite=False)
        weights = nu - root * solved
        variance = np.diag(covariance) - _explained(factor, root, covariance)
        latent = covariance @ weights
        rest = 1 / variance - tau  # precision without the outcome itself
        centre = (latent / variance - nu) / rest
        wide = np.sqrt(1 + 1 / rest)
        ahead = signs * (mean + centre) / wide
        likelihood = log_ndtr(ahead)
        ratio = np.exp(-0.5 * ahead * ahead - likelihood) / math.sqrt(2 * math.pi)
        moved = centre + signs * ratio / (rest * wide)
        left = 1 / rest - ratio * (ahead + ratio) / (rest * wide) ** 2
        new_tau = np.maximum(1 / left - rest, _LEAST)
        new_nu = moved / left - rest * centre
        evidence = (
            float(likelihood.sum() - np.log(np.diag(factor)).sum())
            + 0.5 * float(np.log1p(tau / rest).sum() + nu @ latent)
            + 0.5 * float(((rest * centre * (tau * centre - 2 * nu) - nu**2) / (rest + tau)).sum())
        )
        if max(np.abs(new_tau - tau).max(), np.abs(new_nu - nu).max()) < _CLOSE:
            break
        share = _DAMPED if sweep or like else 1.0
        tau, nu = tau + share * (new_tau - tau), nu + share * (new_nu - nu)
    return BinaryPosterior(
        mean=mean, weights=weights, root=root, nu=nu, factor=factor, evidence=evidence
    )


def _explained(factor: Floats, root: Floats, between: Floats) -> Floats:
    """(N,) what the outcomes take from the variance at places with these covariances, (n, N)."""
    taken = solve_triangular(factor, root[:, None] * between, lower=True, check_finite=False)
    result: Floats = np.einsum("ij,ij->j", taken, taken)
    return result


class BinaryEvidence:
    """The negative log marginal likelihood of hyperparameters, with its gradient."""

    def __init__(
        self, terms: Sequence[KernelTerm], positive: NDArray[np.bool_], mean: float
    ) -> None:
        """Set up the evidence from the terms of the covariance of the latent values.

        Hyperparameters come in the order of the terms. ``positive``: (n,) outcomes. ``mean``: that
        of the latent values.
        """
        self._terms = tuple(terms)
        self._positive, self._mean = positive, mean
        self._upper = np.triu_indices(len(positive), 1)
        self._last: BinaryPosterior | None = None

    def loss(self, theta: Floats) -> tuple[float, Floats]:
        """The loss and its derivatives by the logarithms of the hyperparameters."""
        parts = terms_at(self._terms, theta)
        count = len(self._positive)
        covariance = np.zeros((count, count))
        covariance[self._upper] = sum(part.upper for part in parts)
        covariance += covariance.T
        covariance[np.diag_indices(count)] = sum(part.diagonal for part in parts)
        posterior = binary_posterior(covariance, self._positive, self._mean, self._last)
        self._last = posterior
        twice = -2.0 * posterior.evidence_slopes
        upper, diagonal = twice[self._upper], np.diag(twice)
        slopes = [slope for part in parts for slope in part.gradient(upper, diagonal)]
        return -posterior.evidence, np.array(slopes, dtype=np.float64)
