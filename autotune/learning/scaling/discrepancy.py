"""What a back-test adds to an interval: a power law may be wrong, which its own fit cannot tell.

    w(P) = t(1; level) |e| log2(P/P_top) / log2(P_top/P_below)

``e``: the log2 error of the forecast of the most processors, P_top, from P_below and fewer: the
root of its squared mean over those runs and the squared standard error of it. The error is taken
to grow with the distance in doublings, and the one level to be one draw from a normal distribution
of unknown spread: so Student's t with one degree of freedom, 6.3 at 90 %. The half-width of the
log2 time is the root of the sum of its square and that of the regression. Nothing is added on
P_top or fewer. A law that bends faster than so, a term that grows in proportion to P far beyond
P_top, still escapes.
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
from autotune.statistics.quantiles import student


@dataclass(frozen=True, slots=True, kw_only=True)
class Discrepancy:
    """How wrong a method was on ``top`` processors, ``distance`` doublings beyond its runs.

    ``error`` in log2 of the time, zero or more.
    """

    error: float
    distance: float
    top: float

    def __post_init__(self) -> None:
        if not (self.error >= 0 and self.distance > 0 and self.top > 0):
            raise ValueError("an error of zero or more, a distance and processors above zero")

    @classmethod
    def of(cls, test: BackTest) -> "Discrepancy":
        """The discrepancy that the errors of a back-test show."""
        return cls(
            error=math.hypot(test.drift, test.drift_error),
            distance=test.distance,
            top=test.processors,
        )

    def reach(self, processors: float, level: float) -> float:
        """Half of the interval that it alone makes at ``level``, in log2 of the time."""
        beyond = max(0.0, math.log2(processors / self.top))
        return student(1.0, level) * self.error * beyond / self.distance


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Widened:
    """A model whose intervals know of its back-test."""

    model: ScalingModel
    known: Discrepancy

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
        """The band of the model, its halves widened by ``Discrepancy.reach``."""
        narrow = self.model.band(points, level)
        added = np.array([self.known.reach(float(p), level) for p in points.processors])
        return Band(
            middle=narrow.middle,
            low=narrow.middle - np.hypot(narrow.middle - narrow.low, added),
            high=narrow.middle + np.hypot(narrow.high - narrow.middle, added),
        )

    def inverse(
        self, processors: float, time: float, covariates: Sequence[float], level: float
    ) -> Inverse:
        """The size of the model; its interval widened, the model's own kept as ``regression``."""
        narrow = self.model.inverse(processors, time, covariates, level)
        added = self.known.reach(processors, level)
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
