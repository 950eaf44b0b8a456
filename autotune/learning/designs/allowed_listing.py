"""Listing the allowed combinations of parameters that constraints tie together."""

import math
from collections.abc import Sequence

from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.parameter_space import RowRule
from autotune.learning.designs.row_rules import Members, Row, fulfils
from autotune.progress import Progress

LISTED = 500_000
"""Combinations that are looked at, one by one."""
PROGRESS_EVERY = 10_000
"""Combinations between two words of progress."""
_VISITED = 100_000
"""Steps of a listing that may stop before it has seen all combinations."""


def listed(
    parameters: Sequence[Parameter], rules: Sequence[RowRule], progress: Progress | None = None
) -> tuple[Row, ...] | None:
    """The allowed combinations of values; None where there are too many to list."""
    size = size_of(parameters)
    if size is None:
        return None
    whole = _given(parameters, rules)
    if whole is not None:
        return whole
    if not rules and len(parameters) == 1:
        return tuple((value,) for value in values_of(parameters[0]))
    return _walked(parameters, rules, LISTED * 2 if size <= LISTED else _VISITED, progress)


def _given(parameters: Sequence[Parameter], rules: Sequence[RowRule]) -> tuple[Row, ...] | None:
    """The allowed rows where one of the rules lists all of them; None where no rule does."""
    names = [parameter.name for parameter in parameters]
    for rule in rules:
        if not isinstance(rule, Members) or set(rule.names) != set(names):
            continue
        order = [rule.names.index(name) for name in names]
        rest = [other for other in rules if other is not rule]
        projected = dict.fromkeys(tuple(row[i] for i in order) for row in rule.rows)
        return tuple(
            row
            for row in projected
            if all(value in allowed for value, allowed in zip(row, parameters, strict=True))
            and all(fulfils(other, dict(zip(names, row, strict=True))) for other in rest)
        )
    return None


def _walked(
    parameters: Sequence[Parameter], rules: Sequence[RowRule], limit: int, progress: Progress | None
) -> tuple[Row, ...] | None:
    """The allowed combinations, built up parameter by parameter; None above the limit.

    A constraint is checked as soon as all parameters that it names have values.
    """
    names = [parameter.name for parameter in parameters]
    due: list[list[RowRule]] = [[] for _ in names]
    for rule in rules:
        due[max(names.index(name) for name in rule.names)].append(rule)
    partial: list[dict[str, Value]] = [{}]
    visited = 0
    for depth, parameter in enumerate(parameters):
        longer = []
        for values in partial:
            for value in values_of(parameter):
                visited += 1
                if visited > limit:
                    return None
                if progress is not None and visited % PROGRESS_EVERY == 0:
                    progress("list the allowed combinations", visited, limit)
                more = {**values, parameter.name: value}
                if all(fulfils(rule, more) for rule in due[depth]):
                    longer.append(more)
        partial = longer
    return tuple(tuple(values[name] for name in names) for values in partial)


def size_of(parameters: Sequence[Parameter]) -> int | None:
    """The number of combinations of values; None where a parameter is an interval."""
    if any(parameter.continuous and not parameter.constant for parameter in parameters):
        return None
    return math.prod(len(values_of(parameter)) for parameter in parameters)


def values_of(parameter: Parameter) -> tuple[Value, ...]:
    """The values of a parameter; a single value for an interval of length zero."""
    return parameter.values or (parameter.low,)
