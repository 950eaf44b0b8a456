"""The result of every reader: the unprocessed records for each part of a program and
each quantity.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.domain.metric import Direction
from autotune.domain.tables.table import Statistic
from autotune.files.tables.cleaning import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The records of one response in a file."""

    records: Sequence[Record]
    quantity: str = "time"
    unit: str = ""
    """``s`` where the file states a unit of time; else as stated, or empty."""
    better: Direction = "less"
    """Which of two responses is the better."""
    part: str = ""
    """The call path or phase; empty for the whole program."""
    treated: tuple[str, ...] = ()
    statistic: Statistic | None = None
    """``as given`` where the file says the response beside the repetitions."""

    @property
    def name(self) -> str:
        """The part and the quantity, as users name a response."""
        return f"{self.part}: {self.quantity}" if self.part else self.quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The user's statements about the columns of a file that hold parameters."""

    without: tuple[str, ...] = ()
    """Columns of CSV that are neither parameter nor response."""
    analytical: str | None = None
    """The column of CSV in which an analytical model's predictions stand."""
    categories: tuple[str, ...] = ()
    """Parameters whose numbers are the codes of categories: of no order, no distance."""
    better: Direction | None = None
    """Which of two responses is the better; None: as the file says, else less."""
