"""The evidence of a covariance for observed values, and the hyperparameters of greatest posterior
density.

The negative log marginal likelihood is that of Rasmussen and Williams 2006, eq. 5.8, without its
constant. Hyperparameters are lengths and standard deviations, searched for by their logarithms
under independent log-normal priors, which a few observations cannot overrule.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtrs
from scipy.optimize import minimize

from autotune.statistics.gaussian_process.kernels import Floats, KernelTerm, TermValue, White

Loss = Callable[[Floats], tuple[float, Floats]]
_IMPOSSIBLE = 1e10
"""The loss where the covariance has no factor."""
_BOUND = 5.0
"""Hyperparameters stay within so many standard deviations of their priors."""


class Evidence:
    """The negative log marginal likelihood of hyperparameters, with its gradient."""

    def __init__(self, terms: Sequence[KernelTerm], values: Floats) -> None:
        """Set up the evidence from the terms of the covariance and the observed values.

        ``terms``: of the covariance of the observed points; ``values``: (n,), centred.
        Hyperparameters come in the order of the terms. The terms are summed in the same order, with
        white noise last.
        """
        self._terms = tuple(terms)
        self._order = sorted(range(len(terms)), key=lambda k: isinstance(terms[k], White))
        self._values = values
        self._upper = np.triu_indices(len(values), 1)

    def loss(self, theta: Floats) -> tuple[float, Floats]:
        """The loss and its derivatives by the logarithms of the hyperparameters."""
        n, parts = len(self._values), terms_at(self._terms, theta)
        gram = np.empty((n, n), order="F")
        gram[self._upper] = _sum([parts[k].upper for k in self._order])
        gram[np.diag_indices(n)] = _sum([parts[k].diagonal for k in self._order])
        factor, failed = dpotrf(gram, overwrite_a=True, clean=False)
        if failed:
            return _IMPOSSIBLE, np.zeros_like(theta)
        solved, _ = dpotrs(factor, self._values)
        value = 0.5 * float(self._values @ solved) + float(np.log(np.diag(factor)).sum())
        inverse, _ = dpotri(factor, overwrite_c=True)
        first, second = self._upper
        upper = inverse[self._upper] - solved[first] * solved[second]
        diagonal = np.diag(inverse) - solved * solved
        slopes = [slope for part in parts for slope in part.gradient(upper, diagonal)]
        return value, np.array(slopes, dtype=np.float64)


def terms_at(terms: Sequence[KernelTerm], theta: Floats) -> list[TermValue]:
    """The values of terms at the logarithms of their hyperparameters, which come in their order."""
    left, parts = np.exp(theta), []
    for term in terms:
        parts.append(term.at(left[: term.count]))
        left = left[term.count :]
    return parts


def _sum(parts: Sequence[Floats | float]) -> Floats | float:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LogNormalPriors:
    """Independent log-normal priors of hyperparameters: logarithms of the medians, standard
    deviations of the logarithms.
    """

    centre: Floats
    spread: Floats

    def added_to(self, likelihood: Loss) -> Loss:
        """The negative log posterior density: the likelihood with these priors."""

        def loss(theta: Floats) -> tuple[float, Floats]:
            value, gradient = likelihood(theta)
            off = (theta - self.centre) / self.spread
            return value + 0.5 * float(off @ off), gradient + off / self.spread

        return loss

    def fitted(self, likelihood: Loss, start: Floats, iterations: int) -> Floats:
        """The logarithms of the hyperparameters of the greatest posterior density, searched for
        from ``start``.
        """
        low, high = self.centre - _BOUND * self.spread, self.centre + _BOUND * self.spread
        result = minimize(
            self.added_to(likelihood),
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low, high, strict=True)),
            options={"maxiter": iterations, "maxfun": iterations + 5},
        )
        return np.asarray(result.x, dtype=np.float64)


def log_posterior(covariance: Floats, values: Floats, log_prior: float) -> float:
    """The log posterior density of hyperparameters given values, (n,), without its constant.

    ``covariance``: (n, n) of the values, with their noise. ``log_prior``: the log prior density.
    Minus infinity where the covariance has no Cholesky factor.
    """
    factor, failed = dpotrf(covariance, lower=1)
    if failed:
        return -math.inf
    white, _ = dtrtrs(factor, values, lower=1)
    return float(log_prior - 0.5 * white @ white - np.log(np.diag(factor)).sum())
