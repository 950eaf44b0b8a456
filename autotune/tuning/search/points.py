"""Legal candidates as a search sees them: rows of parameter values, predictions, problems."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Setting = str | int | float | bool | None
"""A value of a parameter."""
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Points:
    """Legal candidates, one row of parameter values each.

    ``names``: the parameters, (p,). ``rows``: their values, (n, p). ``predicted``: seconds, (n,),
    nan without a prediction. ``sigma``: standard deviation of log(measured / predicted) as the
    engine states it, (n,), nan if unknown. ``group``: the problem of each candidate, (n,); the
    fastest is searched in each problem, while all share what is learned. ``prior``: times that a
    model of another machine expects, (n,), in any unit, since only ratios within a problem count;
    nan where it has no expectation.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[Setting, ...], ...]
    predicted: Floats
    sigma: Floats
    group: Indices
    prior: Floats | None = None

    def __post_init__(self) -> None:
        count = len(self.rows)
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"each parameter is named once, not {', '.join(self.names)}")
        for row in self.rows:
            if len(row) != len(self.names):
                raise ValueError(f"a row has {len(row)} values for {len(self.names)} parameters")
        for name in ("predicted", "sigma", "group"):
            if getattr(self, name).shape != (count,):
                raise ValueError(
                    f"{name} has shape {getattr(self, name).shape} for {count} candidates"
                )
        if self.prior is not None and self.prior.shape != (count,):
            raise ValueError(f"prior has shape {self.prior.shape} for {count} candidates")
        for what, times in (("predicted", self.predicted), ("a prior's", self.prior)):
            predicted = np.empty(0) if times is None else times[~np.isnan(times)]
            if not (np.isfinite(predicted).all() and (predicted > 0).all()):
                raise ValueError(f"{what} times must be positive")
        stated = self.sigma[~np.isnan(self.sigma)]
        if not (np.isfinite(stated).all() and (stated >= 0).all()):
            raise ValueError("standard deviations must not be negative")
        if count and self.group.min() < 0:
            raise ValueError("groups are numbered from 0")
        if len(set(zip(self.rows, self.group.tolist(), strict=True))) != count:
            raise ValueError("two candidates of one problem have the same values")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def groups(self) -> int:
        """The number of problems."""
        return int(self.group.max()) + 1 if len(self.rows) else 0

    def members(self, group: int) -> Indices:
        """The candidates of a problem, ascending."""
        return np.flatnonzero(self.group == group)


def points(
    names: tuple[str, ...],
    rows: tuple[tuple[Setting, ...], ...],
    *,
    predicted: Floats | None = None,
    sigma: Floats | None = None,
    group: Indices | None = None,
    prior: Floats | None = None,
) -> Points:
    """Points with default values for missing parts: no prediction, no stated error, one problem.

    >>> len(points(("tile", "flags"), ((8, "-O2"), (16, "-O2"))))
    2
    """
    unknown = np.full(len(rows), np.nan)
    return Points(
        names=names,
        rows=rows,
        predicted=unknown if predicted is None else predicted,
        sigma=unknown if sigma is None else sigma,
        group=np.zeros(len(rows), dtype=np.intp) if group is None else group,
        prior=prior,
    )
