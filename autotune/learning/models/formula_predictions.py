"""The predictions of analytical formulas for the rows of tables, and the terms of formulas for
comparison.
"""

from dataclasses import replace

import numpy as np

from autotune.domain.tables.table import Floats, MeasurementTable, ParameterRows
from autotune.errors import Fault, InputError, one_of
from autotune.learning.formulas.base import Formula, combined
from autotune.learning.models.terms import Factor, Product


def terms_of(formula: Formula) -> dict[Product, float]:
    """The formula as a sum of terms, in the form in which ``syntactic_score.score`` compares
    models.
    """
    return {
        frozenset(Factor(*factor) for factor in factors): coefficient
        for factors, coefficient in combined(formula.terms()).items()
    }


def predictions(formula: Formula, inputs: ParameterRows) -> Floats:
    """(n,) seconds that the formula predicts for each row; nan where it has no finite value.

    The formula receives every numeric parameter of the rows. Raises InputError where it needs
    others.
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
    """The table with the predictions of the formula as its analytical predictions."""
    return replace(
        table, inputs=replace(table.inputs, analytical=predictions(formula, table.inputs))
    )
