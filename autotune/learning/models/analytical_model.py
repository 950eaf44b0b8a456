"""The analytical model in the interface of a learned model: it predicts without training."""

from dataclasses import dataclass

import numpy as np

from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.learning.models.base import Explanation, Forecast
from autotune.learning.models.encode import Encoder
from autotune.learning.models.hybrid import analytical, rows_with_prediction


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedUntrained:
    """Forecasts that repeat the analytical predictions of the rows; nothing is learned from
    measurements.
    """

    encoder: Encoder
    formula: str | None = None

    def predict(self, inputs: ParameterRows, level: float = 0.9) -> Forecast:  # noqa: ARG002
        """The analytical predictions as a forecast; their interval is infinite at every level."""
        median = analytical(inputs)
        return Forecast(
            median=median,
            low=np.zeros(len(inputs)),
            high=np.full(len(inputs), np.inf),
            outside=self.encoder.outside(inputs),
        )

    def explain(self) -> Explanation:
        """An explanation without terms: the analytical model was not learned."""
        return Explanation.of([])


@dataclass(frozen=True, slots=True, kw_only=True)
class Untrained:
    """The analytical model of a table's rows, in the interface of a model; it learns nothing."""

    name: str = "analytical"
    extrapolates: bool = True

    def fit(self, table: MeasurementTable, seed: int = 0) -> FittedUntrained:  # noqa: ARG002
        """The analytical model of this table; InputError where the table has no analytical
        predictions.
        """
        rows_with_prediction(table)
        return FittedUntrained(encoder=Encoder.fit(table.inputs))
