"""The document of ``autotune learn design``: which rows to measure."""

import math
from collections.abc import Sequence
from typing import TypedDict

from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.parameter_space import Space
from autotune.learning.designs import Design


class ParameterRow(TypedDict):
    """A parameter of the space."""

    name: str
    kind: str
    """numeric or categorical"""
    values: list[Value]
    """Empty: any number from low to high."""
    low: float | None
    high: float | None


class DesignRow(TypedDict):
    """One row to measure."""

    values: dict[str, Value]
    points: int
    """How many points of the design fell on it."""
    candidate: str | None
    """Of a config: the id of the candidate, as ``autotune measure`` takes it."""


class DesignDocument(TypedDict):
    """A design of experiments."""

    schema: str
    """autotune.learn.design/1"""
    kind: str
    source: str
    """Where the parameters come from."""
    parameters: list[ParameterRow]
    settings: dict[str, str | int | float | None]
    """Of this kind: rows, levels, seed, terms, illegal (repair or drop), compatibility; of a
    D-optimal design also what it reached: candidates, efficiency, efficiency_random."""
    points: int
    """Of the design before constraints; rows + dropped + repeated."""
    moved: int
    """Points moved to the nearest allowed row."""
    dropped: int
    """Points left out, for no row near them is allowed, or because that was asked for."""
    repeated: int
    """Points that fell on a row before them."""
    notes: list[str]
    """What to know before trusting it: aliased parameters, moved points, ..."""
    rows: list[DesignRow]


def design(found: Design, space: Space, candidates: Sequence[str] = ()) -> DesignDocument:
    """The document of a design; ``candidates``: an id for each row, or none."""
    ids: Sequence[str | None] = candidates or [None] * len(found)
    return DesignDocument(
        schema="autotune.learn.design/1",
        kind=found.kind,
        source=space.source,
        parameters=[_parameter(parameter) for parameter in found.parameters],
        settings=dict(found.settings),
        points=found.points,
        moved=found.moved,
        dropped=found.dropped,
        repeated=found.repeated,
        notes=[*space.notes, *found.notes],
        rows=[
            DesignRow(values=found.values(i), points=found.replicates[i], candidate=ids[i])
            for i in range(len(found))
        ],
    )


def _parameter(parameter: Parameter) -> ParameterRow:
    return ParameterRow(
        name=parameter.name,
        kind=parameter.kind,
        values=list(parameter.values),
        low=None if math.isnan(parameter.low) else parameter.low,
        high=None if math.isnan(parameter.high) else parameter.high,
    )
