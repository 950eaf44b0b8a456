"""Reads parameter spaces for designs of experiments from YAML (schema autotune.design/1)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from autotune import paths
from autotune.domain.annotations import Bounds, Text
from autotune.domain.tables.parameter import (
    Parameter,
    Value,
    categorical,
    interval,
    is_number,
    numeric,
)
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.domain.tables.parameter_space import DesignSpace
from autotune.errors import describe, nearest, one_of, unknown_name
from autotune.files.config.facts import FORMS, draft, notation_form
from autotune.files.config.notations import Notation, object_schema
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import shown

SCHEMA = "autotune.design/1"

MOST = 100_000
"""Values of a parameter."""
_KEYS = ("from", "to", "step", "factor")


@dataclass(frozen=True, slots=True)
class _Interval:
    low: float
    high: float


_Values = tuple[Value, ...] | _Interval


def _values(value: object) -> _Values:
    """Values given as a list of numbers or of text, or as a mapping with from, to, and step or
    factor.
    """
    if isinstance(value, list):
        return _list(value)
    if isinstance(value, dict):
        return _range(value)
    raise ValueError(f"{describe(value)} is neither a list of values nor from, to, step")


def _list(values: list[object]) -> tuple[Value, ...]:
    if not values:
        raise ValueError("an empty list: a parameter has at least one value")
    flag = next((v for v in values if isinstance(v, bool)), None)
    if flag is not None:
        raise ValueError(f"{describe(flag)} is no value here: write 0 and 1, or text in quotes")
    if len(values) > MOST:
        raise ValueError(f"{len(values)} values: a parameter has at most {MOST}")
    read: dict[Value, None] = {}
    for value in values:
        if not (is_number(value) or isinstance(value, str)):
            raise ValueError(f"{describe(value)} is neither a number nor text")
        if isinstance(value, str) and not _is_text(value):
            raise ValueError(f"{describe(value)} is neither a finite number nor printable text")
        if isinstance(value, str) != isinstance(values[0], str):
            raise ValueError("a parameter has numbers or text as values, not both")
        if value in read:
            raise ValueError(f"{describe(value)} is there twice")
        read[value] = None
    return tuple(read)


def _is_text(value: str) -> bool:
    """Whether a text can be a category: it is printable, and no number such as nan, inf
    or 1e999.
    """
    try:
        return value.isprintable() and math.isfinite(float(value))
    except ValueError:
        return True


def _range(given: dict[str, object]) -> _Values:
    for key, value in given.items():
        if key not in _KEYS:
            hint = nearest(str(key), _KEYS)
            raise ValueError(f"unknown key {key!r}; {one_of(_KEYS)} {hint and f'({hint})'}".strip())
        if not is_number(value):
            raise ValueError(f"{key}: {describe(value)} is not a number")
    if not {"from", "to"} <= set(given) or len(given) > 3:
        raise ValueError("a range is from, to, and step or factor; from and to alone: any number")
    numbers = {key: value for key, value in given.items() if is_number(value)}
    low, high = numbers["from"], numbers["to"]
    if low >= high:
        raise ValueError(f"from {low} to {high} there is nothing")
    if "step" in numbers:
        return _steps(low, high, numbers["step"])
    if "factor" in numbers:
        return _powers(low, high, numbers["factor"])
    return _Interval(float(low), float(high))


def _steps(low: float, high: float, step: float) -> tuple[Value, ...]:
    if step <= 0:
        raise ValueError(f"step: {step} is not positive")
    if not (float(high) - float(low)) / step < MOST:
        raise ValueError(f"a parameter has at most {MOST} values: take a larger step")
    count = int((high - low) / step * (1 + 1e-12) + 1e-9) + 1
    values = tuple(_short(low + step * i) for i in range(count))
    if len(set(values)) < count:
        raise ValueError(f"step: {step} is lost in the digits of {high}")
    return values


def _powers(low: float, high: float, factor: float) -> tuple[Value, ...]:
    if factor <= 1 or low <= 0:
        raise ValueError("a factor is more than 1, and from is positive")
    values: list[Value] = []
    value = low
    while value <= high * (1 + 1e-12):
        values.append(_short(value))
        if len(values) > MOST or (len(values) > 1 and values[-1] == values[-2]):
            raise ValueError(f"more than {MOST} values: take a larger factor")
        value *= factor
    return tuple(values)


def _short(value: float) -> int | float:
    """The number without the rounding error of adding steps: 0.3, not 0.30000000000000004."""
    return value if isinstance(value, int) else float(f"{value:.12g}")


_RANGE = object_schema({key: {"type": "number"} for key in _KEYS}, ["from", "to"])
FORMS[_Values] = notation_form(
    Notation(
        read=_values,
        stand_in=[0, 1],
        schema={"anyOf": [{"type": "array", "items": {"type": ["number", "string"]}}, _RANGE]},
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignFile:
    """The parameters and constraints in a file for a design of experiments."""

    title: Text | None = None
    parameters: Annotated[Mapping[str, _Values], Bounds(least=1)]
    constraints: tuple[Text, ...] = ()


def read_design(session: Session, path: Path) -> DesignSpace | None:
    """The parameters and constraints in a file; None with faults noted where it cannot be read."""
    faults_before = len(session.faults)
    document = session.open(path, SCHEMA)
    stated = draft(session, document, DesignFile) if document else None
    if document is None or stated is None:
        return None
    parameters = []
    for name, values in stated.parameters.items():
        try:
            parameters.append(_parameter(name, values))
        except ValueError as error:
            session.add(document.key(("parameters", name)), str(error))
    constraints = []
    for i, text in enumerate(stated.constraints):
        where = document.place(("constraints", i))
        try:
            constraint = ParameterConstraint(text)
        except ValueError as error:
            session.add(where, str(error))
            continue
        constraints.append(constraint)
        for name in constraint.names:
            if name not in stated.parameters:
                session.faults.append(unknown_name(where, "parameter", name, stated.parameters))
    if len(session.faults) > faults_before:
        return None
    return DesignSpace(
        name=stated.title or paths.stem(path),
        source=f"{shown(path)} ({SCHEMA})",
        parameters=tuple(parameters),
        rules=tuple(constraints),
    )


def _parameter(name: str, values: _Values) -> Parameter:
    if isinstance(values, _Interval):
        return interval(name, values.low, values.high)
    numbers = [value for value in values if not isinstance(value, str)]
    if numbers:
        return numeric(name, numbers)
    return categorical(name, [str(value) for value in values])
