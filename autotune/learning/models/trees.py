"""Extremely randomised trees (Geurts, Ernst and Wehenkel 2006) by scikit-learn.

By default they are trained on the logarithm of the response: trees on the response itself follow
the slowest rows. Their predictions cannot leave the range of the training responses, so they do not
extrapolate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.learning.models.base import Explanation, Floats, ModelTerm, Predictor
from autotune.learning.models.encode import Encoder, encoder_of

_TO_TEST = 40
_LARGEST = 1e38
"""Trees compare numbers of single precision."""


class _Tree(Protocol):
    def predict(self, X: NDArray[np.float32]) -> Floats: ...

    def compute_feature_importances(self) -> Floats: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreesPredictor:
    """The mean of several regression trees."""

    encoder: Encoder
    trees: Sequence[_Tree]
    log: bool
    unit: float
    """A power of two that the response was divided by."""
    formula: None = None

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) mean predictions of the trees, in the unit of the response."""
        encoded = _single(self.encoder.matrix(inputs))
        total = np.zeros(len(inputs))
        for tree in self.trees:
            total += tree.predict(encoded)[:, 0]
        mean: Floats = total / len(self.trees)
        return np.exp2(mean) if self.log else self.unit * mean

    def explain(self) -> Explanation:
        """The share of the variance that the splits on each column explain (Breiman 2001)."""
        importances = np.mean([tree.compute_feature_importances() for tree in self.trees], axis=0)
        shares = importances / (importances.sum() or 1.0)
        terms = [
            ModelTerm(text=column.text, coefficient=np.nan, influence=float(share))
            for column, share in zip(self.encoder.columns, shares, strict=True)
        ]
        notes = [f"{name} did not vary in training" for name in self.encoder.constant]
        return Explanation.of(terms, notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """Extremely randomised trees. ``log``: train on the logarithm of the response; ``count``: the
    number of trees.
    """

    name: str = "trees"
    log: bool = True
    count: int = 100
    extrapolates: bool = False

    def train(self, table: MeasurementTable, seed: int = 0) -> TreesPredictor:
        """Train on a table; InputError unless two of its rows differ."""
        return self._train(table, seed, self.count)

    def resume(self, table: MeasurementTable, seed: int, previous: Predictor) -> TreesPredictor:  # noqa: ARG002
        """Train fewer trees than ``train`` does: enough to estimate the error."""
        return self._train(table, seed, min(self.count, _TO_TEST))

    def _train(self, table: MeasurementTable, seed: int, count: int) -> TreesPredictor:
        encoder = encoder_of(table)
        # exact, and the squares of the largest responses stay numbers
        unit = 1.0 if self.log else 2.0 ** int(np.log2(table.response.max()))
        target = np.log2(table.response) if self.log else table.response / unit
        trees = _grown(_single(encoder.matrix(table.inputs)), target, count, seed)
        return TreesPredictor(encoder=encoder, trees=trees, log=self.log, unit=unit)


def _grown(matrix: NDArray[np.float32], target: Floats, count: int, seed: int) -> list[_Tree]:
    """The trees of scikit-learn's forest with this seed, made without a copy of the settings for
    each tree.
    """
    from sklearn.tree import ExtraTreeRegressor  # noqa: PLC0415 - heavy

    column = target.reshape(-1, 1)
    seeds = np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=count)
    return [
        ExtraTreeRegressor(max_features=1.0, random_state=int(tree_seed))
        .fit(matrix, column, check_input=False)
        .tree_
        for tree_seed in seeds
    ]


def _single(matrix: Floats) -> NDArray[np.float32]:
    return np.ascontiguousarray(np.clip(matrix, -_LARGEST, _LARGEST), dtype=np.float32)
