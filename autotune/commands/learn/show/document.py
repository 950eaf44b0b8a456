"""The document of ``autotune learn show``: what a file or a study holds to learn from."""

import math
from collections.abc import Sequence
from typing import TypedDict

from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.table import Table


class ParameterRow(TypedDict):
    """A parameter with its domain."""

    name: str
    kind: str
    """numeric or categorical"""
    values: list[Value]
    """Empty: any number from low to high."""
    low: float | None
    high: float | None


class TableRow(TypedDict):
    """The table of one response."""

    name: str
    part: str
    """Call path or phase; empty: the whole program."""
    quantity: str
    unit: str
    """``s``; empty: the source states none."""
    rows: int
    smallest: float
    """Of the response, in its unit."""
    largest: float
    statistic: str
    """What makes the response of the repetitions; ``as given``: the source does."""
    repetitions_least: int
    repetitions_most: int
    analytical: int
    """Rows for which an analytical model says a time."""
    parameters: list[ParameterRow]
    constants: dict[str, Value]
    """Columns of one value."""
    constraints: list[str]
    treated: list[str]
    """What was done to rows and columns that no model can use."""


class MeasurementsDocument(TypedDict):
    """What there is to learn from."""

    schema: str
    """autotune.learn.show/1"""
    source: str
    tables: list[TableRow]


def measurements(tables: Sequence[Table]) -> MeasurementsDocument:
    """The document of the tables of one source."""
    return MeasurementsDocument(
        schema="autotune.learn.show/1",
        source=tables[0].source,
        tables=[_table(table) for table in tables],
    )


def _table(table: Table) -> TableRow:
    counts = [len(times) for times in table.repetitions]
    said = table.inputs.analytical
    return TableRow(
        name=table.name,
        part=table.part,
        quantity=table.quantity,
        unit=table.unit,
        rows=len(table),
        smallest=float(table.response.min()),
        largest=float(table.response.max()),
        statistic=table.statistic,
        repetitions_least=min(counts),
        repetitions_most=max(counts),
        analytical=0 if said is None else sum(not math.isnan(value) for value in said),
        parameters=[_parameter(parameter) for parameter in table.parameters],
        constants=dict(table.constants),
        constraints=[str(constraint) for constraint in table.constraints],
        treated=list(table.treated),
    )


def _parameter(parameter: Parameter) -> ParameterRow:
    return ParameterRow(
        name=parameter.name,
        kind=parameter.kind,
        values=list(parameter.values),
        low=None if math.isnan(parameter.low) else parameter.low,
        high=None if math.isnan(parameter.high) else parameter.high,
    )
