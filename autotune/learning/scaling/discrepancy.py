"""Widens intervals by the errors of a back-test: a power law may be wrong, which its own fit cannot
show.

    w(P) = t(1; level) |e| log2(P/P_top) / log2(P_top/P_below)

``w(P)`` is the half-width, in log2 of the time, that the back-test adds. ``e`` is the log2 error of
forecasting the runs on the most processors, P_top, from runs on P_below and fewer: the root of the
sum of its squared mean over the runs and the squared standard error of this mean. The error is
assumed to grow with the distance in doublings. A single back-test is one draw from a normal
distribution of unknown spread, hence Student's t with one degree of freedom, 6.3 at 90 %. The
half-width of the log2 time is the root of the sum of w(P)^2 and the squared half-width of the
regression. Nothing is added on P_top or fewer. A law that bends faster than the assumed growth,
such as a term in proportion to P far beyond P_top, is still missed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from autotune.learning.scaling.base import (
    Band,
    Box,
    Coefficient,
    Deleted,
    Inverse,
    Quality,
    ScalingModel,
)
from autotune.learning.scaling.forecast_accuracy import BackTest
from autotune.learning.scaling.inversion import by_band
from autotune.learning.scaling.scaling_runs import ScalingPoints, Variables
from autotune.statistics.distributions import student


@dataclass(frozen=True, slots=True, kw_only=True)
class Discrepancy:
    """The error of forecasts on ``top`` processors from runs ``distance`` doublings below.

    ``error``: in log2 of the time, zero or more.
    """

    error: float
    distance: float
    top: float

    def __post_init__(self) -> None:
        if not (self.error >= 0 and self.distance > 0 and self.top > 0):
            raise ValueError("an error of zero or more, a distance and processors above zero")

    @classmethod
    def of(cls, test: BackTest) -> "Discrepancy":
        """The discrepancy that a back-test shows."""
        return cls(
            error=math.hypot(test.drift, test.drift_error),
            distance=test.distance,
            top=test.processors,
        )

    def reach(self, processors: float, level: float) -> float:
        """The half-width in log2 of the time that the discrepancy alone gives an interval at
        ``level``.
        """
        beyond = max(0.0, math.log2(processors / self.top))
        return student(1.0, level) * self.error * beyond / self.distance


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Widened:
    """A scaling model whose intervals are widened by the discrepancy of a back-test."""

    model: ScalingModel
    discrepancy: Discrepancy

    @property
    def name(self) -> str:
        """The name of the method of the inner model."""
        return self.model.name

    @property
    def variables(self) -> Variables:
        """The variables of the inner model."""
        return self.model.variables

    @property
    def box(self) -> Box:
        """The box of the inner model."""
        return self.model.box

    @property
    def coefficients(self) -> Sequence[Coefficient]:
        """The coefficients of the inner model."""
        return self.model.coefficients

    @property
    def quality(self) -> Sequence[Quality]:
        """The quality of fit of the inner model."""
        return self.model.quality

    @property
    def notes(self) -> Sequence[str]:
        """The notes of the inner model."""
        return self.model.notes

    @property
    def deleted(self) -> Sequence[Deleted]:
        """The runs that were deleted when the inner model was fitted."""
        return self.model.deleted

    def band(self, points: ScalingPoints, level: float) -> Band:
        """The band of the inner model, with each half widened by ``Discrepancy.reach``."""
        narrow = self.model.band(points, level)
        added = np.array([self.discrepancy.reach(float(p), level) for p in points.processors])
        return Band(
            middle=narrow.middle,
            low=narrow.middle - np.hypot(narrow.middle - narrow.low, added),
            high=narrow.middle + np.hypot(narrow.high - narrow.middle, added),
        )

    def inverse(
        self, processors: float, time: float, covariates: Sequence[float], level: float
    ) -> Inverse:
        """The size of the inner model with a widened interval; its own interval is kept as
        ``regression``.
        """
        narrow = self.model.inverse(processors, time, covariates, level)
        added = self.discrepancy.reach(processors, level)
        if added == 0:
            return narrow
        wide = by_band(self, processors, time, covariates, level)
        return replace(
            narrow,
            low=min(narrow.low, wide.low),
            high=max(narrow.high, wide.high),
            rule=wide.rule,
            widened=added,
            regression=(narrow.low, narrow.high),
            notes=tuple(dict.fromkeys((*narrow.notes, *wide.notes))),
        )
