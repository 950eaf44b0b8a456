"""One regression for each number of processors, with coefficients extrapolated over log2 P: Garren
2010, eq. (6).

at each P_j:   log2 T = b0j + b1j log2 SIZE (+ b2j log2 X)
over the P_j:  b_k = g_k + h_k log2 P, with weights 1 for the most processors, r for the next
               lower number of processors, then r^2 ...
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
from autotune.learning.scaling.weighted_regression import Bools, Floats, Regression, fit
from autotune.statistics.distributions import student

_WITHIN = (0, 2)
"""Columns of the regression of one level, before the covariates: the intercept and the size."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Projected:
    """Regressions at each of L numbers of processors ("levels"), and lines through each of their
    coefficients.

    ``levels``: log2 of the processors, (L,). ``weights``: (L,) of the levels in the lines.
    ``spread``: pooled standard deviation of the runs about the regression of their level, with
    ``freedom`` degrees of freedom.
    """

    name: str
    variables: Variables
    box: Box
    levels: Floats
    fits: tuple[Regression, ...]
    weights: Floats
    spread: float
    freedom: float
    notes: tuple[str, ...] = ()
    deleted: tuple[Deleted, ...] = ()

    @property
    def projections(self) -> tuple[Regression, ...]:
        """The lines of the coefficients over log2 P, one for each column of the regressions."""
        design = np.column_stack([np.ones(len(self.levels)), self.levels])
        names = ("1", self.variables.processors.logarithm)
        return tuple(
            fit(design, np.array([f.coefficients[k] for f in self.fits]), names, self.weights)
            for k in range(len(self.fits[0].names))
        )

    @property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """The coefficients of the regression of each level, then of the lines through them."""
        coefficients = [
            coefficient
            for p, f in self._by_level()
            for coefficient in coefficients_of(f, f"T at P = {p:g}")
        ]
        names = self.fits[0].names
        for name, line in zip(names, self.projections, strict=True):
            coefficients += coefficients_of(line, f"coefficient of {name}")
        return tuple(coefficients)

    @property
    def quality(self) -> tuple[Quality, ...]:
        """The quality of fit of the regression of each number of processors."""
        return tuple(quality(f, f"T at P = {p:g}") for p, f in self._by_level())

    def band(self, points: ScalingPoints, level: float) -> Band:
        """Expected log2 time at points and its prediction interval.

        For one size, the L regressions give L times, and the model is the line through them over
        log2 P. The interval combines their scatter about the line, with L - 2 degrees of freedom,
        and the scatter of runs about the regression of their level. The uncertainty of each
        regression is part of the first, so the interval is rather too wide.
        """
        rows = logs(points)
        within = rows[:, _columns(rows)]
        curves = within @ np.array([f.coefficients for f in self.fits]).T  # (n, L)
        design = np.column_stack([np.ones(len(self.levels)), self.levels])
        names = ("1", self.variables.processors.logarithm)
        middle, reach = np.empty(len(points)), np.empty(len(points))
        for i, curve in enumerate(curves):
            line = fit(design, curve, names, self.weights)
            at = rows[i : i + 1, :2]
            middle[i] = line.at(at)[0]
            reach[i] = self._reach(line, at, level)
        return Band(middle=middle, low=middle - reach, high=middle + reach)

    def inverse(
        self, processors: float, time: float, covariates: Sequence[float], level: float
    ) -> Inverse:
        """The size that takes ``time``, with an interval by the bounds of the
        prediction interval.
        """
        return by_band(self, processors, time, covariates, level)

    def _reach(self, line: Regression, at: Floats, level: float) -> float:
        """The half-width of the interval; the degrees of freedom of the sum are after Satterthwaite
        (1946).
        """
        if line.freedom <= 0 or self.freedom <= 0:
            return float("inf")
        between = line.rmse**2 * (1 + float(line.remoteness(at)[0]))
        variance = self.spread**2
        total = between + variance
        if total == 0:
            return 0.0
        freedom = total**2 / (between**2 / line.freedom + variance**2 / self.freedom)
        return student(freedom, level) * float(np.sqrt(total))

    def _by_level(self) -> list[tuple[float, Regression]]:
        return [(2.0**x, f) for x, f in zip(self.levels, self.fits, strict=True)]


def fitted(runs: Runs, *, name: str, ratio: float = 1.0, delete: bool = True) -> Projected:
    """A regression for each number of processors with enough runs, extrapolated over log2 P.

    ``ratio``: the weight of a number of processors over that of the next larger one; 1 for equal
    weights. Raises InputError for fewer than two numbers of processors with enough runs.
    """
    if not 0 < ratio <= 1:
        found = f"a level weight of {ratio}"
        raise InputError(Fault(where="", found=found, expected="above 0, at most 1"))
    levels, fits, used, notes = [], [], np.zeros(len(runs), dtype=bool), []
    removed: list[Deleted] = []
    for p in runs.levels:
        rows = runs.at_level(p)
        try:
            here = runs.take(rows)
            regression, kept = _level(here, delete)
        except InputError as error:
            notes.append(f"P = {p:g} left out: {error.faults[0].found}")
            continue
        levels.append(np.log2(p))
        fits.append(regression)
        used[np.flatnonzero(rows)[kept]] = True
        removed += deleted(here, ~kept, f"T at P = {p:g}")
    if len(levels) < 2:
        raise InputError(
            Fault(
                where="",
                found=f"{len(levels)} numbers of processors have runs enough for their own fit",
                expected="at least two, and three for an interval",
                hint="; ".join(notes) or "add runs of other sizes",
            )
        )
    if removed:
        total = int(used.sum()) + len(removed)
        notes.append(f"{len(removed)} of {total} runs deleted: Cook's D above 2p/n of a level")
    if len(levels) == 2:
        notes.append("two levels: their coefficients are projected exactly, without an interval")
    squares = sum(float(f.residuals @ f.residuals) for f in fits)
    freedom = float(sum(f.count - len(f.names) for f in fits))
    return Projected(
        name=name,
        variables=runs.variables,
        box=Box.of(runs.take(used)),
        levels=np.array(levels),
        fits=tuple(fits),
        weights=ratio ** np.arange(len(levels) - 1, -1, -1, dtype=np.float64),
        spread=float(np.sqrt(squares / freedom)) if freedom > 0 else float("nan"),
        freedom=freedom,
        notes=tuple(notes),
        deleted=tuple(removed),
    )


def _level(runs: Runs, delete: bool) -> tuple[Regression, Bools]:
    """The regression of the runs at one number of processors, and a mask of the runs
    that it uses.
    """
    rows = logs(runs.points)
    chosen = _columns(rows)
    names = tuple(runs.variables.logarithms[k] for k in chosen)
    design, response = rows[:, chosen], np.log2(runs.time)
    regression = fit(design, response, names)
    gone = (
        deletable(regression, design)
        if delete and regression.freedom > 0
        else np.zeros(len(runs), bool)
    )
    if gone.any():
        regression = fit(design[~gone], response[~gone], names)
    return regression, ~gone


def _columns(rows: Floats) -> list[int]:
    """The indices of the columns that a regression at one number of processors has: all but the
    processors.
    """
    return [*_WITHIN, *range(3, rows.shape[1])]
