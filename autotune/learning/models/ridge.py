"""Log-log ridge regression: a product of powers, with the penalty of the least leave-one-out error.

    log2 T = b0 + sum b_j x_j,   minimised   |log2 T - b0 - X b|^2 + penalty |b|^2

with standardised columns x_j. Without penalty this is the regression of Garren (2010, section 2.2).
The penalty is the one with the least leave-one-out error. A singular value decomposition gives this
error for all penalties at once (Golub, Heath and Wahba 1979). The penalty makes the coefficients
unique where there are fewer rows than terms, or terms that cannot be told apart; a note of the
explanation then says so.
"""

from dataclasses import dataclass

import numpy as np

from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.learning.models.base import Explanation, Floats, ModelTerm
from autotune.learning.models.encode import Encoder, encoder_of

_PENALTIES = np.geomspace(1e-6, 1e3, 46)
"""Per row, relative to the variance of a standardised column."""
_RANK = 1e-10
"""Singular values below this share of the largest are none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linear:
    """A linear regression on standardised columns; ``coefficients`` are in the units of the
    original columns.
    """

    intercept: float
    coefficients: Floats
    penalty: float
    rank: int
    held_out: Floats
    """(n,) errors of each row when it is left out."""

    def predict(self, matrix: Floats) -> Floats:
        """(n,) intercept + matrix @ coefficients."""
        predicted: Floats = self.intercept + matrix @ self.coefficients
        return predicted


def fit(matrix: Floats, target: Floats) -> Linear:
    """The ridge regression whose penalty has the least leave-one-out error."""
    mean, scale = matrix.mean(axis=0), matrix.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    centre = float(target.mean())
    u, s, vt = np.linalg.svd((matrix - mean) / scale, full_matrices=False)
    count = len(target)
    explained = u.T @ (target - centre)
    best: Linear | None = None
    for penalty in _PENALTIES * count:
        kept = s**2 / (s**2 + penalty)
        leverage = 1 / count + (u**2) @ kept
        error = (target - centre - u @ (kept * explained)) / np.maximum(1 - leverage, 1e-9)
        if best is None or float(error @ error) < float(best.held_out @ best.held_out):
            slopes = (vt.T @ (s / (s**2 + penalty) * explained)) / scale
            best = Linear(
                intercept=centre - float(mean @ slopes),
                coefficients=slopes,
                penalty=float(penalty),
                rank=int((s > _RANK * s.max(initial=0.0)).sum()) if s.size else 0,
                held_out=error,
            )
    assert best is not None
    return best


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RidgePredictor:
    """A product of powers of the parameters; see the module ridge."""

    encoder: Encoder
    linear: Linear
    deviations: Floats
    """(columns,) standard deviations of the training columns."""
    rows: int
    quantity: str

    @property
    def formula(self) -> str:
        """The formula as text: ``time = 0.01 * n^1.1 * 0.9^[order = jli]``."""
        factors = [f"{2.0**self.linear.intercept:.4g}"]
        for column, slope in zip(self.encoder.columns, self.linear.coefficients, strict=True):
            if column.scale == "log2(x)":
                factors.append(f"{column.parameter}^{slope:.3g}")
            elif column.scale == "log2(1 + x)":
                factors.append(f"(1 + {column.parameter})^{slope:.3g}")
            else:
                factors.append(f"{2.0**slope:.4g}^{column.text}")
        return f"{self.quantity} = {' * '.join(factors)}"

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) predictions of the response; nan where there is none."""
        predicted: Floats = np.exp2(np.clip(self.linear.predict(self._matrix(inputs)), -1000, 1000))
        return predicted

    def _matrix(self, inputs: ParameterRows) -> Floats:
        return self.encoder.matrix(inputs)

    def explain(self) -> Explanation:
        """One term for each column with its exponent, or with log2 of its factor for a category."""
        variances = (self.linear.coefficients * self.deviations) ** 2
        total = float(variances.sum()) or 1.0
        terms = [
            ModelTerm(text=column.text, coefficient=float(slope), influence=float(variance) / total)
            for column, slope, variance in zip(
                self.encoder.columns, self.linear.coefficients, variances, strict=True
            )
        ]
        return Explanation.of(terms, self._notes())

    def _notes(self) -> list[str]:
        notes = [f"{name} did not vary in training" for name in self.encoder.constant]
        terms = self.encoder.freedom()
        if self.rows < terms + 1:
            notes.append(f"{self.rows} rows for {terms + 1} terms: the penalty decides")
        elif self.linear.rank < terms:
            notes.append(
                f"of {terms} terms only {self.linear.rank} can be told apart: coefficients of those"
                " that vary together are shared among them"
            )
        return notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Ridge:
    """Log-log ridge regression; see the module ridge."""

    name: str = "ridge"
    extrapolates: bool = True

    def train(self, table: MeasurementTable, seed: int = 0) -> RidgePredictor:  # noqa: ARG002
        """Train on a table, without randomness; InputError unless two of its rows differ."""
        encoder = encoder_of(table)
        matrix = encoder.matrix(table.inputs)
        return RidgePredictor(
            encoder=encoder,
            linear=fit(matrix, np.log2(table.response)),
            deviations=matrix.std(axis=0),
            rows=len(table),
            quantity=table.quantity,
        )
