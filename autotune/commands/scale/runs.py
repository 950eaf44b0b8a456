"""The runs of a scaling study from a table: variables from its columns, one region of its rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autotune.commands.scale.scale_options import ScalingColumns
from autotune.domain.tables.parameter import Value
from autotune.domain.tables.table import MeasurementTable
from autotune.errors import Fault, InputError, unknown_name
from autotune.files.parsing.separated_values import UNITS, quantity
from autotune.learning.scaling import focal
from autotune.learning.scaling.components import COMMUNICATION, COMPUTATION
from autotune.learning.scaling.scaling_runs import Runs, ScalingPoints, Variables
from autotune.learning.scaling.variables import Variable, variable

Floats = NDArray[np.float64]
_Rows = Sequence[dict[str, Value]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSelection:
    """Which runs are considered: by values of columns, and by shapes of the processor grid."""

    conditions: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    grid: tuple[str, str] | None = None
    """Two dimensions of the grid of processors."""
    ratio: float = 0.0
    """log2 of the first over the second; those at most 1 away are taken."""
    each: str | None = None
    """A column: one model for each of its values."""


def runs_of(table: MeasurementTable, columns: ScalingColumns) -> Runs:
    """The runs in a table. InputError for a formula with unknown columns or unusable values."""
    rows = [{**dict(table.constants), **table.inputs.values(i)} for i in range(len(table))]
    names = list(rows[0])
    formulas = columns.covariate or ()
    covariates = zip(_symbols(len(formulas)), formulas, strict=True)
    variables = Variables(
        processors=variable("P", columns.processors, where="--processors", columns=names),
        size=variable("SIZE", columns.size, where="--size", columns=names, unit=columns.size_unit),
        time=Variable(symbol="T", formula=columns.time or "T", unit=table.unit, plain=True),
        covariates=tuple(
            variable(symbol, text, where="--covariate", columns=names)
            for symbol, text in covariates
        ),
    )
    given = ScalingPoints(
        processors=_positive(rows, variables.processors, "--processors"),
        size=_positive(rows, variables.size, "--size"),
        covariates=tuple(_positive(rows, v, "--covariate") for v in variables.covariates),
    )
    parts = {}
    for name, column in (
        (COMPUTATION, columns.computation),
        (COMMUNICATION, columns.communication),
    ):
        if column is not None:
            parts[name] = _part(rows, column, f"--{name}") * _seconds(column, table.unit)
    return Runs(
        points=given,
        time=table.response,
        variables=variables,
        parts=parts,
        fields={name: tuple(row[name] for row in rows) for name in names},
        treated=table.treated,
        source=table.source,
    )


def selected(runs: Runs, region: RunSelection) -> Runs:
    """The runs of a region. InputError where there are none."""
    for name, values in region.conditions:
        kept = focal.meets(runs, name, values)
        shown = ",".join(str(value) for value in values)
        runs = runs.take(kept, f"{int(kept.sum())} of {len(runs)} runs: {name} = {shown}")
    if region.grid is not None:
        first, second = (_dimension(runs, name) for name in region.grid)
        kept = focal.near_ratio(first, second, region.ratio)
        condition = f"log2({region.grid[0]}/{region.grid[1]}) = {region.ratio:g} +- 1"
        if not kept.any():
            ratios = np.log2(first / second)
            expected = f"a ratio from {ratios.min():g} to {ratios.max():g}"
            raise InputError(
                Fault(where="--ratio", found=f"no run has {condition}", expected=expected)
            )
        runs = runs.take(kept, f"{int(kept.sum())} of {len(runs)} runs: {condition}")
    if not len(runs):
        raise InputError(Fault(where="--condition", found="no run meets all conditions"))
    return runs


def _positive(rows: _Rows, variable: Variable, where: str) -> Floats:
    """The values of a variable, (n,); InputError unless all are above zero."""
    values = []
    for number, row in enumerate(rows):
        numbers = {name: v for name, v in row.items() if not isinstance(v, str)}
        text = [name for name in variable.columns if name not in numbers]
        if text:
            found = f"{text[0]} is text: {row[text[0]]!r}"
            raise InputError(Fault(where=where, found=found, expected="a column of numbers"))
        try:
            value = variable.value(numbers)
        except ValueError as error:
            raise InputError(Fault(where=where, found=str(error))) from error
        if not value > 0:
            found = f"{variable.formula} = {value:g} in row {number + 1}"
            hint = "the logarithm of it is taken"
            raise InputError(Fault(where=where, found=found, expected="above zero", hint=hint))
        values.append(value)
    return np.array(values, dtype=np.float64)


def _part(rows: _Rows, name: str, where: str) -> Floats:
    if name not in rows[0]:
        raise InputError(unknown_name(where, "column", name, rows[0]))
    values = [row[name] for row in rows]
    bad = next((v for v in values if isinstance(v, str) or v < 0), None)
    if bad is not None:
        found, expected = f"{name} = {bad}", "times, zero or more"
        raise InputError(Fault(where=where, found=found, expected=expected))
    return np.array(values, dtype=np.float64)


def _seconds(column: str, unit: str) -> float:
    """The factor from the unit of a column, such as ``comm_ms``, to a time in seconds."""
    stated = quantity(column)[1]
    return UNITS[stated] if unit == "s" and stated else 1.0


def _dimension(runs: Runs, name: str) -> Floats:
    if name not in runs.fields:
        raise InputError(unknown_name("--grid", "column", name, runs.fields))
    values = runs.fields[name]
    if any(isinstance(v, str) or v <= 0 for v in values):
        found, expected = f"{name} is not a number above zero everywhere", "processors along a side"
        raise InputError(Fault(where="--grid", found=found, expected=expected))
    return np.array(values, dtype=np.float64)


def _symbols(count: int) -> list[str]:
    return ["X"] if count == 1 else [f"X{k}" for k in range(1, count + 1)]
