"""The document of ``autotune learn show``: what a file or a study holds to learn from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autotune.commands.learn.document import TableSource
from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.table import MeasurementTable, Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """The table of one response, in a few numbers."""

    data: TableSource
    part: str
    """Call path or phase; empty: the whole program."""
    statistic: Statistic
    """What makes the response of the repetitions; ``as given``: the source does."""
    smallest: float
    """Of the response, in its unit."""
    largest: float
    repetitions_least: int
    repetitions_most: int
    analytical: int
    """Rows for which an analytical model says a time."""
    parameters: tuple[Parameter, ...]
    constants: Mapping[str, Value]
    """Columns of one value."""
    constraints: tuple[str, ...]

    @classmethod
    def of(cls, table: MeasurementTable) -> "TableSummary":
        """The summary of a table."""
        counts = [len(times) for times in table.repetitions]
        predictions = table.inputs.analytical
        return cls(
            data=TableSource.of(table),
            part=table.part,
            statistic=table.statistic,
            smallest=float(table.response.min()),
            largest=float(table.response.max()),
            repetitions_least=min(counts),
            repetitions_most=max(counts),
            analytical=0
            if predictions is None
            else sum(not math.isnan(value) for value in predictions),
            parameters=table.parameters,
            constants=dict(table.constants),
            constraints=tuple(map(str, table.constraints)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementsDocument:
    """``autotune learn show --json``: the tables of one source."""

    schema: Literal["autotune.learn.show/1"] = "autotune.learn.show/1"
    source: str
    tables: tuple[TableSummary, ...]


def measurements(tables: Sequence[MeasurementTable]) -> MeasurementsDocument:
    """The document of the tables of one source."""
    return MeasurementsDocument(
        source=tables[0].source, tables=tuple(TableSummary.of(table) for table in tables)
    )
