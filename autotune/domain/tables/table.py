"""The data that models learn from: rows of parameter values, and the response of each.

Inputs ── rows of parameter values, and what an analytical model predicts for each row
Table  ── inputs, the response of each row with its repetitions, quantity, unit, source
Tables ── the tables of one file: one for each part of a program and each metric
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from autotune.domain.metric import Direction, Metric
from autotune.domain.tables.parameter import (
    Parameter,
    Value,
    categorical,
    interval,
    is_number,
    numeric,
)
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.errors import Fault, InputError, unknown_name

__all__ = [
    "STATISTICS",
    "Floats",
    "Indices",
    "MeasurementTable",
    "Parameter",
    "ParameterConstraint",
    "ParameterRows",
    "Statistic",
    "Tables",
    "Value",
    "categorical",
    "interval",
    "location",
    "numeric",
    "positions",
]  # fmt: skip
Floats = NDArray[np.float64]
Indices = Sequence[int] | NDArray[np.intp] | NDArray[np.bool_]
Statistic = Literal["mean", "median", "minimum", "as given"]
STATISTICS: tuple[Statistic, ...] = ("mean", "median", "minimum")
"""How a response can be made of repetitions; else it is as its source gives it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParameterRows:
    """Rows of parameter values, for which a model predicts.

    ``rows``: (n,) tuples, a value for each parameter: finite numbers if it is numeric, text if it
    is categorical. They may lie outside the domains; a model decides how to treat that.
    ``analytical``: (n,) what an analytical model predicts in the unit of the response, nan where it
    cannot predict; None without such a model.
    """

    parameters: tuple[Parameter, ...]
    rows: tuple[tuple[Value, ...], ...]
    analytical: Floats | None = None

    def __post_init__(self) -> None:
        names = self.names
        if len(set(names)) != len(names):
            raise ValueError("two parameters have the same name")
        if any(len(row) != len(names) for row in self.rows):
            raise ValueError("every row has a value for each parameter")
        for place, parameter in enumerate(self.parameters):
            for value in {row[place] for row in self.rows}:
                if is_number(value) != parameter.numeric:
                    raise ValueError(f"{parameter.name}: {value!r} is not {parameter.kind}")
        if self.analytical is None:
            return
        if self.analytical.shape != (len(self.rows),):
            raise ValueError("the analytical model says one number for each row")
        if not (np.isnan(self.analytical) | np.isfinite(self.analytical)).all():
            raise ValueError("an analytical prediction is finite, or nan where there is none")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of the values of a row."""
        return tuple(parameter.name for parameter in self.parameters)

    def place(self, name: str) -> int:
        """The index of a parameter in a row; InputError for an unknown name."""
        if name not in self.names:
            raise InputError(unknown_name("", "parameter", name, self.names))
        return self.names.index(name)

    def parameter(self, name: str) -> Parameter:
        """The parameter with this name; InputError for an unknown name."""
        return self.parameters[self.place(name)]

    def column(self, name: str) -> Floats | tuple[str, ...]:
        """The values of a parameter: an array (n,) of numbers, or a tuple of text."""
        return self.numbers(name) if self.parameter(name).numeric else self.texts(name)

    def numbers(self, name: str) -> Floats:
        """The values of a numeric parameter, (n,); InputError for a categorical one."""
        place = self.place(name)
        if not self.parameters[place].numeric:
            found = f"{name} is categorical"
            raise InputError(Fault(where="", found=found, expected="a numeric parameter"))
        return np.array([row[place] for row in self.rows], dtype=np.float64)

    def texts(self, name: str) -> tuple[str, ...]:
        """The values of a parameter as text, (n,)."""
        place = self.place(name)
        return tuple(str(row[place]) for row in self.rows)

    def values(self, row: int) -> dict[str, Value]:
        """The values of a row, by parameter."""
        return dict(zip(self.names, self.rows[row], strict=True))

    def take(self, indices: Indices) -> "ParameterRows":
        """Selected rows, by number or by a mask, in the order given."""
        chosen = positions(indices, len(self))
        guess = None if self.analytical is None else self.analytical[chosen]
        rows = tuple(self.rows[i] for i in chosen)
        return replace(self, rows=rows, analytical=guess)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasurementTable:
    """Measurements: for each row of parameter values the response, with its repetitions.

    ``response``: (n,) the ``statistic`` of the repetitions in ``unit``; finite and positive.
    ``repetitions``: (n,) tuples of any length, at least one value each; by default each holds only
    the response.
    """

    name: str
    inputs: ParameterRows
    response: Floats
    repetitions: tuple[tuple[float, ...], ...] = ()
    quantity: str = "time"
    unit: str = "s"
    """Empty where the source states none: then only ratios mean anything."""
    better: Direction = "less"
    """Which of two responses is the better."""
    source: str = ""
    constraints: tuple[ParameterConstraint, ...] = ()
    treated: tuple[str, ...] = ()
    """What was done to rows and columns that no model can use, in words."""
    constants: tuple[tuple[str, Value], ...] = ()
    """Columns of one value, which are no parameters here."""
    statistic: Statistic = "mean"
    part: str = ""
    """The call path or phase of the program that was measured; empty for the whole."""

    def __post_init__(self) -> None:
        if self.response.shape != (len(self.inputs),):
            raise ValueError(f"{self.response.shape} responses for {len(self.inputs)} rows")
        if not (np.isfinite(self.response) & (self.response > 0)).all():
            raise ValueError("a response is finite and positive")
        if not self.repetitions:
            object.__setattr__(self, "repetitions", tuple((float(r),) for r in self.response))
        if len(self.repetitions) != len(self.inputs) or not all(self.repetitions):
            raise ValueError("every row has at least one repetition")

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def metric(self) -> Metric:
        """The response as a metric."""
        return Metric(self.quantity, self.unit, self.better)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the rows."""
        return self.inputs.parameters

    def take(self, indices: Indices) -> "MeasurementTable":
        """Selected rows, by number or by a mask, in the order given; the domains stay."""
        chosen = positions(indices, len(self))
        return replace(
            self,
            inputs=self.inputs.take(chosen),
            response=self.response[chosen],
            repetitions=tuple(self.repetitions[i] for i in chosen),
        )

    def split(self, count: int, seed: int = 0) -> "tuple[MeasurementTable, MeasurementTable]":
        """``count`` random rows, and the remaining rows; the same for the same seed.

        InputError unless 1 <= count < n.
        """
        if not 1 <= count < len(self):
            expected = f"from 1 to {len(self) - 1}, for some rows must be left to score on"
            found = f"{count} rows to train on, of {len(self)}"
            raise InputError(Fault(where=self.name, found=found, expected=expected))
        order = np.random.default_rng(seed).permutation(len(self))
        return self.take(order[:count]), self.take(order[count:])

    def groups(self, name: str) -> dict[Value, NDArray[np.intp]]:
        """The row numbers for each value of a parameter; a split by group leaves out one of
        them.
        """
        place = self.inputs.place(name)
        rows_of: dict[Value, list[int]] = {}
        for i, row in enumerate(self.inputs.rows):
            rows_of.setdefault(row[place], []).append(i)
        ordered = sorted(rows_of, key=lambda value: (isinstance(value, str), value))
        return {value: np.array(rows_of[value], dtype=np.intp) for value in ordered}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables of one source, one for each part of a program and each metric."""

    tables: tuple[MeasurementTable, ...]

    def __post_init__(self) -> None:
        if not self.tables:
            raise ValueError("there is at least one table")
        if len(set(self.names)) != len(self.tables):
            raise ValueError("two tables have the same name")

    def __iter__(self) -> Iterator[MeasurementTable]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(table.name for table in self.tables)

    def table(self, name: str) -> MeasurementTable:
        """The table with this name; InputError for an unknown name."""
        for table in self.tables:
            if table.name == name:
                return table
        raise InputError(unknown_name(self.tables[0].source, "response", name, self.names))


def location(values: Sequence[float], statistic: Statistic) -> float:
    """Mean, median or minimum of repetitions; the mean if the source names none.

    >>> location([2.0, 3.0, 7.0], "mean"), location([2.0, 3.0, 7.0], "median")
    (4.0, 3.0)
    """
    if statistic == "median":
        return float(np.median(values))
    return min(values) if statistic == "minimum" else math.fsum(values) / len(values)


def positions(indices: Indices, count: int) -> NDArray[np.intp]:
    """Row numbers from row numbers or a mask; ValueError for a mask of another length."""
    chosen = np.asarray(indices)
    if chosen.dtype == np.bool_:
        if chosen.shape != (count,):
            raise ValueError(f"a mask of {chosen.shape} for {count} rows")
        return np.flatnonzero(chosen)
    return chosen.astype(np.intp)
