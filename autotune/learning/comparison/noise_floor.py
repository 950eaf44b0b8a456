"""The noise floor: the score of predicting one half of the repeated measurements by the other half.

No model can be expected to be nearer to a time than a second measurement of it. The halves are the
earlier and the later repetitions of each row, as far apart in time as they were taken. Each half
predicts the other once, and the two scores are averaged. The top-1 loss of this score is the noise
floor.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.tables.table import MeasurementTable, location
from autotune.learning.models.base import Floats, Indices


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Halves:
    """The times of each row in the earlier and in the later half of its repetitions, (n,); nan
    where there is none.
    """

    early: Floats
    late: Floats

    def __post_init__(self) -> None:
        if self.early.shape != self.late.shape or self.early.ndim != 1:
            raise ValueError("every row has a time in each half, or nan")

    @property
    def pairs(self) -> int:
        """The number of rows that have a time in both halves."""
        return int((np.isfinite(self.early) & np.isfinite(self.late)).sum())

    def take(self, rows: Indices) -> "Halves":
        """The halves of the chosen rows only."""
        return Halves(early=self.early[rows], late=self.late[rows])


def halves_of(table: MeasurementTable) -> Halves | None:
    """The repeated measurements of a table split into an earlier and a later half, in the order of
    the table.

    None where no row has two measurements.
    """
    pairs = [_halved(repetitions, table) for repetitions in table.repetitions]
    halves = Halves(early=np.array([a for a, _ in pairs]), late=np.array([b for _, b in pairs]))
    return halves if halves.pairs else None


def _halved(repetitions: Sequence[float], table: MeasurementTable) -> tuple[float, float]:
    half = len(repetitions) // 2
    if not half:
        return np.nan, np.nan
    statistic = "median" if table.statistic == "as given" else table.statistic
    return location(repetitions[:half], statistic), location(repetitions[-half:], statistic)
