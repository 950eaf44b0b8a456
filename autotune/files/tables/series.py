"""What every reader gives: the records of each part of a program and each quantity, as found."""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.domain.tables.table import Statistic
from autotune.files.tables.cleaning import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The records of one response of a file."""

    records: Sequence[Record]
    quantity: str = "time"
    unit: str = ""
    """``s`` where the file states a unit of time; else as stated, or empty."""
    part: str = ""
    """The call path or phase; empty for the whole program."""
    treated: tuple[str, ...] = ()
    statistic: Statistic | None = None
    """``as given`` where the file says the response beside the repetitions."""

    @property
    def name(self) -> str:
        """Part and quantity, as users name a response."""
        return f"{self.part}: {self.quantity}" if self.part else self.quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What a user says about the parameters of a file, besides which is the response."""

    without: tuple[str, ...] = ()
    """Columns of CSV that are neither parameter nor response."""
    analytical: str | None = None
    """The column of CSV in which an analytical model's predictions stand."""
    categories: tuple[str, ...] = ()
    """Parameters whose numbers are the codes of categories: of no order, no distance."""
