"""Analytical formulas beside tables: what they predict of each row, and their terms to compare."""

from dataclasses import replace

import numpy as np

from autotune.domain.tables.table import Floats, MeasurementTable, ParameterRows
from autotune.errors import Fault, InputError, one_of
from autotune.learning.formulas.base import Formula, combined
from autotune.learning.models.terms import Factor, Product


def terms_of(formula: Formula) -> dict[Product, float]:
    """The formula as a sum of terms, which ``syntactic.score`` compares with a learned one."""
    return {
        frozenset(Factor(*factor) for factor in factors): coefficient
        for factors, coefficient in combined(formula.terms()).items()
    }


def predictions(formula: Formula, inputs: ParameterRows) -> Floats:
    """(n,) seconds of the formula for each row, nan where it has no finite value.

    Every numeric parameter of the rows is given to it; InputError where it needs others.
    """
    values = {p.name: inputs.numbers(p.name) for p in inputs.parameters if p.numeric}
    missing = [name for name in formula.parameters if name not in values]
    if missing:
        raise InputError(
            Fault(
                where=formula.name,
                found=f"the rows have no {', '.join(missing)}",
                expected=f"numeric parameters {one_of(sorted(formula.parameters))}",
            )
        )
    with np.errstate(all="ignore"):
        predicted = np.broadcast_to(formula.evaluate(values), (len(inputs),))
    return np.where(np.isfinite(predicted), predicted, np.nan)


def with_analytical(table: MeasurementTable, formula: Formula) -> MeasurementTable:
    """The table with the formula's predictions beside its rows."""
    return replace(
        table, inputs=replace(table.inputs, analytical=predictions(formula, table.inputs))
    )
