"""Encodes rows of parameter values as numbers: log2 of positive numbers, one-hot categories.

A numeric parameter becomes log2(x) where all its training values are positive, log2(1 + x) where
none is negative, and stays x otherwise. A category becomes one column for each of its values; a
value that was not seen is zero in all of them. Where at least three of the values are positive
numbers, as in ``none, 16, 64, 256``, a further column holds their log2, since neighbours behave
alike; other values have the mean of these logarithms. A parameter that does not vary in training
has no column. The training box is the range of each numeric parameter and the set of values of each
categorical parameter.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from autotune.domain.tables.table import MeasurementTable, ParameterRows, Value
from autotune.errors import Fault, InputError
from autotune.learning.models.base import Bools, Floats, Indices

Scale = Literal["log2(x)", "log2(1 + x)", "x", "is", "log2 of texts"]
_NUMBERS = 3
"""So many values of a category that are numbers have an order."""
_SMALLEST = 5e-324
"""The smallest positive number."""
_LARGEST = 1e100
"""Of numbers that are taken as they are: sums of their squares are numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of the encoded matrix: a transformed number, or the indicator of a value of a
    category.
    """

    parameter: str
    scale: Scale
    value: str = ""
    """The category; empty for a number."""
    other: float = 0.0
    """Where texts are numbers, what stands for those that are none."""

    @property
    def text(self) -> str:
        """The name of the column as formulas print it."""
        if self.scale == "is":
            return f"[{self.parameter} = {self.value}]"
        if self.scale == "log2 of texts":
            return f"log2({self.parameter})"
        return self.scale.replace("x", self.parameter)

    def of(self, values: Sequence[Value]) -> Floats:
        """The column for these values of the parameter, (n,).

        Numbers beyond what the scale can take are clipped to its edge.
        """
        if self.scale == "is":
            return np.array([str(value) == self.value for value in values], float)
        if self.scale == "log2 of texts":
            return np.array([_log2(str(value), self.other) for value in values])
        numbers = np.array(values, dtype=np.float64)
        if self.scale == "log2(x)":
            column: Floats = np.log2(np.maximum(numbers, _SMALLEST))
        elif self.scale == "log2(1 + x)":
            column = np.log2(1 + np.maximum(numbers, 0.0))
        else:
            column = np.clip(numbers, -_LARGEST, _LARGEST)
        return column


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """Encodes rows as numbers, and tells which rows lie in the training box.

    >>> from autotune.domain.tables.parameter import categorical, numeric
    >>> from autotune.domain.tables.table import ParameterRows
    >>> parameters = (numeric("n", [4, 16]), categorical("order", ["jil", "jli", "lij"]))
    >>> rows = ParameterRows(parameters=parameters, rows=((4, "jil"), (16, "jli")))
    >>> encoder = Encoder.fit(rows)
    >>> encoder.matrix(rows).tolist()
    [[2.0, 1.0, 0.0], [4.0, 0.0, 1.0]]
    >>> later = ParameterRows(parameters=parameters, rows=((8, "jil"), (8, "lij")))
    >>> encoder.outside(later).tolist()
    [False, True]
    """

    columns: tuple[Column, ...]
    ranges: tuple[tuple[str, float, float], ...]
    seen: tuple[tuple[str, frozenset[str]], ...]
    constant: tuple[str, ...]
    """Parameters of one value in training: nothing can be learned about them."""

    @classmethod
    def fit(cls, inputs: ParameterRows) -> "Encoder":
        """The encoder for these training rows, with the box that they span."""
        columns: list[Column] = []
        constant: list[str] = []
        ranges: list[tuple[str, float, float]] = []
        seen: list[tuple[str, frozenset[str]]] = []
        values = _by_parameter(inputs)
        for parameter in inputs.parameters:
            name, distinct = parameter.name, set(values[parameter.name])
            if parameter.numeric and distinct:
                ranges.append((name, float(min(distinct)), float(max(distinct))))
            elif not parameter.numeric:
                seen.append((name, frozenset(map(str, distinct))))
            encoded = _columns(name, distinct, parameter.numeric)
            columns += encoded
            constant += [] if encoded else [name]
        return cls(
            columns=tuple(columns),
            ranges=tuple(ranges),
            seen=tuple(seen),
            constant=tuple(constant),
        )

    def matrix(self, inputs: ParameterRows) -> Floats:
        """(n, columns) the encoded rows; an unseen category is zero in all columns of its
        parameter.
        """
        matrix = np.empty((len(inputs), len(self.columns)))
        values = _by_parameter(inputs)
        for place, column in enumerate(self.columns):
            matrix[:, place] = column.of(values[column.parameter])
        return matrix

    def groups(self) -> Indices:
        """(columns,) the group of each column, numbered from 0: the columns of one category are a
        group, and so is each numeric column.
        """
        keys = [(column.parameter, column.scale == "is") for column in self.columns]
        order = list(dict.fromkeys(keys))
        return np.array([order.index(key) for key in keys], dtype=np.intp)

    def freedom(self) -> int:
        """The number of independent columns: all but one of each category, since the columns of a
        category add up to one.
        """
        categories = {column.parameter for column in self.columns if column.scale == "is"}
        return len(self.columns) - len(categories)

    def outside(self, inputs: ParameterRows) -> Bools:
        """(n,) True where a number is outside its range in training or a category was not seen
        there.
        """
        return self.outside_varied(inputs) | self.outside_constant(inputs)

    def outside_varied(self, inputs: ParameterRows) -> Bools:
        """(n,) True where some parameter that varied in training lies outside the values seen
        there.
        """
        names = {column.parameter for column in self.columns}
        return self._out(inputs, names)

    def outside_constant(self, inputs: ParameterRows) -> Bools:
        """(n,) True where some parameter that was constant in training has another value, whose
        effect is unknown.
        """
        return self._out(inputs, set(self.constant))

    def _out(self, inputs: ParameterRows, names: Collection[str]) -> Bools:
        outside = np.zeros(len(inputs), dtype=bool)
        for name, low, high in self.ranges:
            if name in names:
                numbers = inputs.numbers(name)
                outside |= (numbers < low) | (numbers > high)
        for name, values in self.seen:
            if name in names:
                outside |= np.array([text not in values for text in inputs.texts(name)], dtype=bool)
        return outside

    def unseen(self, inputs: ParameterRows) -> tuple[str, ...]:
        """Sentences on which values of these rows were not seen in training."""
        words = [
            f"{name} = {value} was not seen in training ({count} rows)"
            for name, values in self.seen
            for value, count in _counts(inputs.texts(name))
            if value not in values
        ]
        for name, low, high in self.ranges:
            numbers = inputs.numbers(name)
            count = int(((numbers < low) | (numbers > high)).sum())
            if count:
                words.append(f"{name} was {low:g} to {high:g} in training ({count} outside)")
        return tuple(words)


def encoder_of(table: MeasurementTable, least: int = 2) -> Encoder:
    """The encoder of a table; InputError for fewer than ``least`` rows, or where no parameter
    varies.
    """
    where = table.source or table.name
    if len(table) < least:
        found, expected = f"{len(table)} rows to learn from", f"at least {least}"
        raise InputError(Fault(where=where, found=found, expected=expected))
    encoder = Encoder.fit(table.inputs)
    if not encoder.columns:
        found = "no parameter varies: " + ", ".join(encoder.constant or ("there are none",))
        expected = "a parameter with two values at least"
        raise InputError(Fault(where=where, found=found, expected=expected))
    return encoder


def _by_parameter(inputs: ParameterRows) -> dict[str, tuple[Value, ...]]:
    """The values of each parameter, (n,)."""
    empty: tuple[Value, ...] = ()
    columns = zip(*inputs.rows, strict=True) if inputs.rows else [empty] * len(inputs.names)
    return dict(zip(inputs.names, columns, strict=True))


def _columns(name: str, distinct: Collection[Value], numeric: bool) -> list[Column]:
    if len(distinct) < 2:
        return []
    if numeric:
        return [Column(parameter=name, scale=_scale(min(map(float, distinct))))]
    values = sorted(map(str, distinct))
    columns = [Column(parameter=name, scale="is", value=value) for value in values]
    logarithms = [x for x in (_log2(value, math.nan) for value in values) if not math.isnan(x)]
    if len(logarithms) >= _NUMBERS:
        other = math.fsum(logarithms) / len(logarithms)
        columns.append(Column(parameter=name, scale="log2 of texts", other=other))
    return columns


def _log2(text: str, other: float) -> float:
    """log2 of a text that is a positive number; ``other`` for any other text."""
    try:
        number = float(text)
    except ValueError:
        return other
    return math.log2(number) if 0 < number < math.inf else other


def _scale(least: float) -> Scale:
    if least > 0:
        return "log2(x)"
    return "x" if least < 0 else "log2(1 + x)"


def _counts(texts: Sequence[str]) -> list[tuple[str, int]]:
    values = list(texts)
    return [(value, values.count(value)) for value in sorted(set(values))]
