"""What the documents of ``autotune learn`` share: where the measurements come from."""

from dataclasses import dataclass

from autotune.domain.metric import Direction
from autotune.domain.tables.table import MeasurementTable


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSource:
    """A table of measurements without its rows: its name, response and source."""

    table: str
    """Its name."""
    source: str
    rows: int
    quantity: str
    unit: str
    """``s``, or that of another metric; empty: the source states none."""
    treated: tuple[str, ...]
    """What was done to rows and columns that no model can use."""
    better: Direction = "less"
    """Which of two responses is the better."""

    @classmethod
    def of(cls, table: MeasurementTable) -> "TableSource":
        """The source part of a document for a table."""
        return cls(
            table=table.name,
            source=table.source,
            rows=len(table),
            quantity=table.quantity,
            unit=table.unit,
            better=table.better,
            treated=table.treated,
        )
