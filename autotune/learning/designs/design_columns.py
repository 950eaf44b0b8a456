"""The columns of a linear model over rows of parameter values, coded from -1 to 1."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.table import Floats
from autotune.learning.designs.design_levels import logarithmic
from autotune.learning.designs.row_rules import Row

Terms = Literal["linear", "interactions", "quadratic"]
"""Main effects; also products of two parameters; also squares."""
TERMS: tuple[Terms, ...] = get_args(Terms)

_DEPENDENT = 1e-8
"""Share of a column that the columns before it leave over, below which it is one of theirs."""


@dataclass(frozen=True, slots=True)
class ModelColumns:
    """The columns of a linear model over candidate rows, (candidates, terms), and their names."""

    matrix: Floats
    names: tuple[str, ...]
    dependent: tuple[str, ...]
    """Terms whose columns are combinations of those before them: not in the matrix."""


def model_columns(
    parameters: Sequence[Parameter], rows: Sequence[Row], terms: Terms
) -> ModelColumns:
    """The columns of a linear model: the intercept and the terms.

    A column that is a linear combination of the columns before it is left out.
    """
    named = list(_columns(parameters, rows, terms))
    matrix = np.column_stack([column for _, column in named])
    free = _independent(matrix)
    names = [name for name, _ in named]
    left = [name for name, kept in zip(names, free, strict=True) if not kept]
    return ModelColumns(
        matrix=matrix[:, free],
        names=tuple(name for name, kept in zip(names, free, strict=True) if kept),
        dependent=tuple(dict.fromkeys(left)),
    )


def _columns(
    parameters: Sequence[Parameter], rows: Sequence[Row], terms: Terms
) -> Iterator[tuple[str, Floats]]:
    """The name of each term with its column, lower orders first."""
    blocks = [
        (parameter, _coded(parameter, [row[i] for row in rows]))
        for i, parameter in enumerate(parameters)
        if not parameter.constant
    ]
    yield "1", np.ones(len(rows))
    for parameter, block in blocks:
        for number, column in enumerate(block):
            text = "" if parameter.numeric else f"={parameter.values[number]}"
            yield parameter.name + text, column
    if terms == "linear":
        return
    for (first, ones), (second, others) in combinations(blocks, 2):
        for single, other in product(ones, others):
            yield f"{first.name} * {second.name}", single * other
    if terms == "quadratic":
        for parameter, block in blocks:
            if parameter.numeric:
                yield f"{parameter.name}^2", block[0] ** 2


def _independent(matrix: Floats) -> NDArray[np.bool_]:
    """(terms,) True for the columns that are no linear combination of the columns before them."""
    basis = np.zeros((matrix.shape[0], 0))
    free = np.zeros(matrix.shape[1], dtype=bool)
    for j, column in enumerate(matrix.T):
        left = column - basis @ (basis.T @ column)
        left -= basis @ (basis.T @ left)
        length = float(np.linalg.norm(left))
        free[j] = length > _DEPENDENT * max(1.0, float(np.linalg.norm(column)))
        if free[j]:
            basis = np.column_stack([basis, left / length])
    return free


def _coded(parameter: Parameter, values: Sequence[Value]) -> list[Floats]:
    """The columns of one parameter, coded from -1 to 1.

    A numeric parameter has one column. A category with N values has N - 1 columns, differences from
    the mean.
    """
    if parameter.numeric:
        low, high = parameter.low, parameter.high
        numbers = np.array([float(value) for value in values])
        if logarithmic(parameter):
            low, high, numbers = np.log2(low), np.log2(high), np.log2(numbers)
        return [2 * (numbers - low) / (high - low) - 1]
    last = np.array([float(value == parameter.values[-1]) for value in values])
    return [
        np.array([float(value == category) for value in values]) - last
        for category in parameter.values[:-1]
    ]
