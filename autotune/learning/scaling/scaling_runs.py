"""Runs of a parallel program: processors, size, covariates, time, and the times of its
components.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from autotune.learning.scaling.variables import Variable
from autotune.learning.scaling.weighted_regression import Bools, Floats

Indices = NDArray[np.intp] | Bools


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScalingPoints:
    """Points at which a time is forecast, (n,) each: processors, sizes, and the covariates of the
    model.

    All are positive, in the units of the ``Variables``.
    """

    processors: Floats
    size: Floats
    covariates: tuple[Floats, ...] = ()

    def __post_init__(self) -> None:
        for values in (self.processors, self.size, *self.covariates):
            if values.shape != self.processors.shape or values.ndim != 1:
                raise ValueError("processors, sizes and covariates are as many")
            if not (np.isfinite(values) & (values > 0)).all():
                raise ValueError("processors, sizes and covariates are positive numbers")

    def __len__(self) -> int:
        return len(self.processors)

    def take(self, rows: Indices) -> "ScalingPoints":
        """Some of the points, chosen by index or by a mask."""
        return ScalingPoints(
            processors=self.processors[rows],
            size=self.size[rows],
            covariates=tuple(values[rows] for values in self.covariates),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """The meaning of processors, size, time and covariates in a table of runs."""

    processors: Variable
    size: Variable
    time: Variable
    covariates: tuple[Variable, ...] = ()

    @property
    def logarithms(self) -> tuple[str, ...]:
        """The columns of the full regression: 1, log2(P), log2(SIZE), log2 of the covariates."""
        return ("1", *(v.logarithm for v in (self.processors, self.size, *self.covariates)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runs:
    """Measured runs of a parallel program, n of them.

    ``time``: (n,) positive, in the unit of its variable. ``parts``: component to its time, (n,), in
    the same unit, not negative; the components need not sum to ``time``. ``fields``: the other
    columns, for conditions. ``treated``: sentences on what was done to rows that could not be used.
    """

    points: ScalingPoints
    time: Floats
    variables: Variables
    parts: Mapping[str, Floats] = field(default_factory=dict)
    fields: Mapping[str, tuple[int | float | str, ...]] = field(default_factory=dict)
    treated: tuple[str, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        if self.time.shape != (len(self.points),):
            raise ValueError(f"{self.time.shape} times for {len(self.points)} runs")
        if not (np.isfinite(self.time) & (self.time > 0)).all():
            raise ValueError("a time is positive")
        for name, values in self.parts.items():
            if values.shape != self.time.shape or not (np.isfinite(values) & (values >= 0)).all():
                raise ValueError(f"{name}: one time for each run, zero or more")
        if any(len(values) != len(self.points) for values in self.fields.values()):
            raise ValueError("every field has a value for each run")

    def __len__(self) -> int:
        return len(self.points)

    @property
    def levels(self) -> tuple[float, ...]:
        """The numbers of processors of the runs, ascending."""
        return tuple(float(p) for p in np.unique(self.points.processors))

    def at_level(self, processors: float) -> Bools:
        """(n,) True for runs on this number of processors."""
        here: Bools = self.points.processors == processors
        return here

    def take(self, rows: Indices, *notes: str) -> "Runs":
        """The chosen runs, by index or by a mask; the note ``told`` is added to ``treated``."""
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return replace(
            self,
            points=self.points.take(chosen),
            time=self.time[chosen],
            parts={name: values[chosen] for name, values in self.parts.items()},
            fields={name: tuple(v[i] for i in chosen) for name, v in self.fields.items()},
            treated=(*self.treated, *notes),
        )

    def of(self, part: str) -> "Runs":
        """The same runs with the time of one component as their time; all of these must be
        positive.
        """
        return replace(self, time=self.parts[part], parts={})


def logs(points: ScalingPoints) -> Floats:
    """The rows of the full regression, (n, 3 + covariates): 1, log2 P, log2 SIZE, log2 X."""
    columns = [np.ones(len(points)), np.log2(points.processors), np.log2(points.size)]
    return np.column_stack([*columns, *(np.log2(values) for values in points.covariates)])


def points(
    processors: Sequence[float], size: Sequence[float], covariates: Sequence[Sequence[float]] = ()
) -> ScalingPoints:
    """Points made of plain sequences of numbers."""
    return ScalingPoints(
        processors=np.asarray(processors, dtype=np.float64),
        size=np.asarray(size, dtype=np.float64),
        covariates=tuple(np.asarray(values, dtype=np.float64) for values in covariates),
    )
