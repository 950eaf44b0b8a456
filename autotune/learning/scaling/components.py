"""Separate regressions of computation and communication: Garren 2010, eqs. (7), (8), sections
3.4.2.3, 4.4.

    log2 Tcomp = b0 + b1 log2 P + b2 log2 SIZE        computation falls with the processors
    log2 Tcomm = c0 + c1 log2 P + c2 log2 SIZE        communication rises
    T          = rho (Tcomp + Tcomm),  log2 rho = r0 + r1 log2 P + r2 log2 SIZE

Measured components do not sum to the measured time: Garren's differ from it by 1-2 %, some by 10 %
and more, which he leaves uncorrected. Here the ratio rho of the time to their sum has a regression
of its own; the logarithm allows it to be below or above 1. Without this regression rho is 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from autotune.errors import Fault, InputError
from autotune.learning.scaling.base import (
    Band,
    Box,
    Coefficient,
    Deleted,
    Inverse,
    Quality,
    deleted,
)
from autotune.learning.scaling.inversion import by_band
from autotune.learning.scaling.loglinear import coefficients_of, deletable, quality
from autotune.learning.scaling.scaling_runs import Runs, ScalingPoints, Variables, logs
from autotune.learning.scaling.weighted_regression import Bools, Floats, Regression, fit, recounted
from autotune.statistics.distributions import student

COMPUTATION, COMMUNICATION = "computation", "communication"
Rest = Literal["ratio", "none"]
SHARE = 0.5
"""Garren 2010, section 3.4.2.3: apart only where more of the time at most processors than this is
communication; else one regression of the whole serves."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComponentShares:
    """A regression of each component, and a regression of the ratio of the time to their sum, or
    None.

    ``covariance``: (k, k) covariance in log2 of the residuals of one run. ``discrepancy``: median
    over the runs of 1 - (sum of the components)/time, a share.
    """

    name: str
    variables: Variables
    box: Box
    computation: Regression
    communication: Regression
    ratio: Regression | None
    covariance: Floats
    discrepancy: float
    notes: tuple[str, ...] = ()
    deleted: tuple[Deleted, ...] = ()

    @property
    def _named(self) -> tuple[tuple[str, Regression], ...]:
        named = ((COMPUTATION, self.computation), (COMMUNICATION, self.communication))
        return named if self.ratio is None else (*named, ("time over their sum", self.ratio))

    @property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """The coefficients of each component's regression, then of the regression of the ratio."""
        return tuple(
            coefficient
            for name, regression in self._named
            for coefficient in coefficients_of(regression, name)
        )

    @property
    def quality(self) -> tuple[Quality, ...]:
        """The quality of each component's regression, then of the regression of the ratio."""
        return tuple(quality(regression, name) for name, regression in self._named)

    def shares(self, points: ScalingPoints) -> Floats:
        """The expected share of communication in the sum of the components, (n,)."""
        rows = logs(points)
        comm, comp = self.communication.at(rows), self.computation.at(rows)
        share: Floats = 1 / (1 + np.exp2(comp - comm))
        return share

    def band(self, points: ScalingPoints, level: float) -> Band:
        """Expected log2 time at points and its prediction interval by the delta method.

        d log2 T = (1 - q) d log2 Tcomp + q d log2 Tcomm + d log2 rho, where q is the share of
        communication. The covariance of the residuals of the components is part of it.
        """
        rows, q = logs(points), self.shares(points)
        middle = np.logaddexp2(self.computation.at(rows), self.communication.at(rows))
        gradient = [1 - q, q]
        if self.ratio is not None:
            middle = middle + self.ratio.at(rows)
            gradient.append(np.ones(len(points)))
        g = np.column_stack(gradient)
        variance = np.einsum("ni,ij,nj->n", g, self.covariance, g)
        freedom = min(regression.freedom for _, regression in self._named)
        if freedom <= 0:
            return Band(middle=middle, low=middle - np.inf, high=middle + np.inf)
        remote = self.computation.remoteness(rows)
        reach = student(freedom, level) * np.sqrt(variance * (1 + remote))
        return Band(middle=middle, low=middle - reach, high=middle + reach)

    def inverse(
        self, processors: float, time: float, covariates: Sequence[float], level: float
    ) -> Inverse:
        """The size that takes ``time``, with an interval by the bounds of the
        prediction interval.
        """
        return by_band(self, processors, time, covariates, level)


def fitted(
    runs: Runs,
    *,
    name: str,
    rest: Rest = "ratio",
    weights: Floats | None = None,
    delete: bool = True,
) -> ComponentShares:
    """Regressions of both components on the same runs.

    Runs without communication or computation time (one processor) are left out. A run that Cook's
    distance deletes from one component is left out of both. Raises InputError where a component was
    not measured.
    """
    usable = _usable(runs)
    chosen, notes = runs.take(usable), []
    removed: tuple[Deleted, ...] = ()
    if not usable.all():
        without = int((~usable).sum())
        notes.append(f"{without} of {len(runs)} runs left out: a component of them is zero")
    w = None if weights is None else weights[usable]
    responses = _responses(chosen, rest)
    rows, names = logs(chosen.points), runs.variables.logarithms
    fits = [fit(rows, response, names, w) for response in responses]
    if delete:
        gone = np.logical_or.reduce([deletable(regression, rows) for regression in fits])
        kept = ~gone
        if gone.any() and int(kept.sum()) > rows.shape[1]:
            w = np.ones(len(chosen)) if w is None else w
            fits = [fit(rows[kept], response[kept], names, w[kept]) for response in responses]
            fits = [
                recounted(regression, rows[gone], response[gone], w[gone] / w.max())
                for regression, response in zip(fits, responses, strict=True)
            ]
            w = w[kept]
            removed = deleted(chosen, gone, "components")
            chosen = chosen.take(kept)
            notes.append(f"{int(gone.sum())} runs deleted: Cook's D above 2p/n of a component")
    discrepancy = float(np.median(1 - sum(chosen.parts.values()) / chosen.time))
    notes.append(_sum_note(discrepancy, rest))
    return ComponentShares(
        name=name,
        variables=runs.variables,
        box=Box.of(chosen),
        computation=fits[0],
        communication=fits[1],
        ratio=fits[2] if rest == "ratio" else None,
        covariance=_covariance(fits, w),
        discrepancy=discrepancy,
        notes=tuple(notes),
        deleted=removed,
    )


def share_of_communication(runs: Runs) -> float:
    """The median share of the time that is communication, over the runs on the most processors."""
    top = runs.at_level(runs.levels[-1])
    return float(np.median(runs.parts[COMMUNICATION][top] / runs.time[top]))


def advised(runs: Runs) -> bool:
    """Whether separate regressions are advised: components were measured, and communication is over
    half of the time.
    """
    has_parts = {COMPUTATION, COMMUNICATION} <= set(runs.parts)
    return has_parts and share_of_communication(runs) > SHARE


def _usable(runs: Runs) -> Bools:
    missing = [name for name in (COMPUTATION, COMMUNICATION) if name not in runs.parts]
    if missing:
        raise InputError(
            Fault(
                where="--components",
                found=f"the runs have no {' and no '.join(missing)} time",
                hint="name the columns: --computation, --communication",
            )
        )
    usable: Bools = (runs.parts[COMPUTATION] > 0) & (runs.parts[COMMUNICATION] > 0)
    if not usable.any():
        raise InputError(
            Fault(
                where="--components",
                found="a component is zero in every run",
                expected="runs with computation and communication, or --components never",
            )
        )
    return usable


def _responses(runs: Runs, rest: Rest) -> list[Floats]:
    comp, comm = runs.parts[COMPUTATION], runs.parts[COMMUNICATION]
    responses = [np.log2(comp), np.log2(comm)]
    return [*responses, np.log2(runs.time / (comp + comm))] if rest == "ratio" else responses


def _covariance(fits: Sequence[Regression], weights: Floats | None) -> Floats:
    """The covariance of the residuals of one run: their correlations times each regression's
    standard deviation.
    """
    residuals = np.array([regression.residuals for regression in fits])
    w = np.ones(residuals.shape[1]) if weights is None else weights
    products = (residuals * w) @ residuals.T
    size = np.sqrt(np.diag(products))
    size[size == 0] = 1.0
    spread = np.array([regression.rmse for regression in fits])
    covariance: Floats = products / np.outer(size, size) * np.outer(spread, spread)
    return covariance


def _sum_note(discrepancy: float, rest: Rest) -> str:
    side = "less" if discrepancy >= 0 else "more"
    treated = "a regression of its own" if rest == "ratio" else "left as it is"
    return f"the components sum to {abs(discrepancy):.1%} {side} than the time (median): {treated}"
