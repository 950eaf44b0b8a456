"""Extremely randomised trees (Geurts, Ernst and Wehenkel 2006) by scikit-learn.

On the logarithm of the response by default: trees on the response itself follow the slowest rows.
They cannot leave the range of what they have seen, and so do not extrapolate.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from autotune.learn.base import Explanation, Floats, Predictor, Term
from autotune.learn.encode import Encoder, encoder_of
from autotune.learn.table import Inputs, Table

_TO_TEST = 40


class _Forest(Protocol):
    @property
    def feature_importances_(self) -> Floats: ...

    def fit(self, X: Floats, y: Floats) -> object: ...

    def predict(self, X: Floats) -> Floats: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreesPredictor:
    """The mean of the trees."""

    encoder: Encoder
    forest: _Forest
    log: bool
    formula: None = None

    def predict(self, inputs: Inputs) -> Floats:
        """See Predictor."""
        found = np.asarray(self.forest.predict(self.encoder.matrix(inputs)), dtype=np.float64)
        return np.exp2(found) if self.log else found

    def explain(self) -> Explanation:
        """The share of the variance that the splits by a column explain (Breiman 2001)."""
        shares = self.forest.feature_importances_
        terms = [
            Term(text=column.text, coefficient=np.nan, influence=float(share))
            for column, share in zip(self.encoder.columns, shares, strict=True)
        ]
        notes = [f"{name} did not vary in training" for name in self.encoder.constant]
        return Explanation.of(terms, notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """Extra trees; ``log``: on the logarithm of the response; ``count``: how many trees."""

    name: str = "trees"
    log: bool = True
    count: int = 100
    extrapolates: bool = False

    def train(self, table: Table, seed: int = 0) -> TreesPredictor:
        """Needs two rows that differ."""
        return self._train(table, seed, self.count)

    def resume(self, table: Table, seed: int, previous: Predictor) -> TreesPredictor:  # noqa: ARG002
        """With fewer trees: enough to tell how wrong they are."""
        return self._train(table, seed, min(self.count, _TO_TEST))

    def _train(self, table: Table, seed: int, count: int) -> TreesPredictor:
        from sklearn.ensemble import ExtraTreesRegressor  # noqa: PLC0415 - heavy

        encoder = encoder_of(table)
        matrix = encoder.matrix(table.inputs)
        forest = ExtraTreesRegressor(n_estimators=count, random_state=seed)
        forest.fit(matrix, np.log2(table.response) if self.log else table.response)
        return TreesPredictor(encoder=encoder, forest=forest, log=self.log)
