"""An analytical model among the learned ones: it says what it says, whatever was measured."""

from dataclasses import dataclass

import numpy as np

from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.learning.models.base import Explanation, Forecast
from autotune.learning.models.encode import Encoder
from autotune.learning.models.hybrid import analytical, known


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedUntrained:
    """The analytical predictions of the rows; nothing is learned from what was measured."""

    encoder: Encoder
    formula: str | None = None

    def predict(self, inputs: ParameterRows, level: float = 0.9) -> Forecast:  # noqa: ARG002
        """They come without an interval: it is infinite at every level."""
        median = analytical(inputs)
        return Forecast(
            median=median,
            low=np.zeros(len(inputs)),
            high=np.full(len(inputs), np.inf),
            outside=self.encoder.outside(inputs),
        )

    def explain(self) -> Explanation:
        """Nothing: the analytical model was not learned here."""
        return Explanation.of([])


@dataclass(frozen=True, slots=True, kw_only=True)
class Untrained:
    """The analytical model of a table's rows, as a model that learns nothing."""

    name: str = "analytical"
    extrapolates: bool = True

    def fit(self, table: MeasurementTable, seed: int = 0) -> FittedUntrained:  # noqa: ARG002
        """InputError where there is no analytical model."""
        known(table)
        return FittedUntrained(encoder=Encoder.fit(table.inputs))
