"""The influence of each parameter on models that have no coefficients.

The total effect of a parameter is the share of the variance of log2 of the response that remains
when all other parameters are known (Sobol 1993; estimator of Jansen 1999). It is half the mean
squared change over the variance, over rows in which only the values of this parameter are
exchanged.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.learning.models.base import Explanation, Floats, ModelTerm

_ROWS = 500
ANALYTICAL = "analytical model"
"""How its predictions are called among the parameters."""


def total_effects(
    predict: Callable[[ParameterRows], Floats], table: MeasurementTable, notes: tuple[str, ...] = ()
) -> Explanation:
    """The total effects of the parameters and of the analytical prediction, over the training rows.

    They are scaled to the sum 1, since exchanged values count interactions more than once.
    """
    inputs = table.inputs.take(np.arange(min(len(table), _ROWS)))
    order = np.random.default_rng(0).permutation(len(inputs))
    usual = _log2(predict(inputs))
    effects: dict[str, float] = {}
    for place, name in enumerate(inputs.names):
        effects[name] = _change(usual, _log2(predict(_exchanged(inputs, place, order))))
    if inputs.analytical is not None:
        other = replace(inputs, analytical=inputs.analytical[order])
        effects[ANALYTICAL] = _change(usual, _log2(predict(other)))
    total = sum(effects.values()) or 1.0
    terms = [
        ModelTerm(text=name, coefficient=np.nan, influence=value / total)
        for name, value in effects.items()
        if value > 0
    ]
    return Explanation.of(terms, notes)


def _exchanged(inputs: ParameterRows, place: int, order: np.ndarray) -> ParameterRows:
    rows = tuple(
        (*row[:place], inputs.rows[other][place], *row[place + 1 :])
        for row, other in zip(inputs.rows, order.tolist(), strict=True)
    )
    return replace(inputs, rows=rows)


def _change(usual: Floats, other: Floats) -> float:
    both = np.isfinite(usual) & np.isfinite(other)
    return float(np.mean((usual[both] - other[both]) ** 2)) / 2 if both.any() else 0.0


def _log2(values: Floats) -> Floats:
    positive = np.where(values > 0, values, np.nan)
    logarithm: Floats = np.log2(positive)
    return logarithm
