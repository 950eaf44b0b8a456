"""The performance-influence model: which options and which interactions of options determine the
time.

    raw:  T      = b0 + sum b_j phi_j(c)       as published (Siegmund et al. 2015)
    log:  log2 T = b0 + sum b_j phi_j(c)       the default: a term multiplies the time

Times span orders of magnitude and their relative errors matter. A sum fitted to the times
themselves mostly fits the slowest rows, so the logarithm is the default.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.learning.influence.candidate_terms import SHAPES, Shape, candidates, effect
from autotune.learning.influence.forward_selection import (
    Error,
    ForwardSelection,
    Round,
    StoppingRule,
    select,
)
from autotune.learning.models.base import Explanation, Floats, ModelTerm
from autotune.learning.models.encode import Encoder, encoder_of
from autotune.learning.models.terms import (
    IS,
    LOG2,
    LOG2_1,
    Product,
    columns,
    formula,
    matrix,
    parameters,
    text,
)

Target = Literal["log", "raw"]
_WORDS = 12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InfluencePredictor:
    """A fitted influence model; ``terms``: coefficients by product, the constant first."""

    target: Target
    terms: dict[Product, float]
    selection: ForwardSelection
    encoder: Encoder
    spans: dict[Product, tuple[float, float]]
    """From which to which value each term goes in training."""
    quantity: str
    unit: str

    @property
    def formula(self) -> str:
        """The formula as text: ``time = 0.01 * n^1.1 * 0.9^[order = jli] * 2^(0.1 * n * m)``, or a
        sum.

        It holds where each term is within its range in training.
        """
        if self.target == "raw":
            return f"{self.quantity} = {formula(self.terms)}"
        return f"{self.quantity} = {_as_product(self.terms)}"

    def predict(self, inputs: ParameterRows) -> Floats:
        """(n,) predictions. Each term is clipped to its range in training.

        Beyond this range, such as where all parameters are at their largest together, the product
        was not seen. A model of the raw target, which is a sum, may predict a negative time.
        """
        values = matrix(list(self.terms), columns(inputs), len(inputs))
        low, high = (np.array(bounds) for bounds in zip(*self.spans.values(), strict=True))
        predicted = np.clip(values, low, high) @ np.array(list(self.terms.values()))
        return np.asarray(
            predicted if self.target == "raw" else np.exp2(np.clip(predicted, -999, 999))
        )

    def explain(self) -> Explanation:
        """The terms by what each explains beyond the terms selected before it; the constant has no
        influence.

        The notes describe each term in words.
        """
        shares = {step.term: step.share for step in self.selection.rounds}
        terms = [
            ModelTerm(text=text(term), coefficient=coefficient, influence=shares.get(term, 0.0))
            for term, coefficient in self.terms.items()
        ]
        notes = [f"{name} did not vary in training" for name in self.encoder.constant]
        notes += [
            f"{text(other)} follows from {_about(self.selection, place)} in these rows: what is"
            f" said of {_about(self.selection, place)} may be its doing"
            for place, step in enumerate(self.selection.rounds)
            for other in step.stands_for
        ]
        if self.selection.exhausted:
            notes.append("too few rows for more terms: what else matters cannot be told")
        return Explanation.of(terms, notes)

    def words(self) -> tuple[str, ...]:
        """One sentence for each term on what makes the program fast or slow, the most influential
        term first.
        """
        steps = sorted(self.selection.rounds, key=lambda step: -step.share)
        return tuple(self._sentence(step.term) + _beside(step) for step in steps[:_WORDS])

    def _sentence(self, term: Product) -> str:
        slope, (low, high), influence = self.terms[term], self.spans[term], effect(term)
        if self.target == "log" and influence and influence[0] == LOG2:
            return f"doubling {influence[1]} multiplies the {self.quantity} by {2**slope:.3g}"
        if influence and influence[0].startswith(IS):
            name = f"{influence[1]} = {influence[0][len(IS) :]}"
            return f"{name} {self._change(slope)}"
        return f"{text(term)}, from {low:.4g} to {high:.4g}, {self._change(slope * (high - low))}"

    def _change(self, change: float) -> str:
        if self.target == "log":
            return f"multiplies the {self.quantity} by {2.0 ** float(np.clip(change, -99, 99)):.3g}"
        verb = "adds" if change >= 0 else "takes"
        return f"{verb} {abs(change):.4g} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """Stepwise forward selection of readable terms; see the modules influence_model and
    forward_selection.

    ``order``: the largest number of parameters in an interaction. ``degree``: the largest power.
    """

    name: str = "influence"
    extrapolates: bool = False
    target: Target = "log"
    rule: StoppingRule = field(default_factory=StoppingRule)
    shapes: tuple[Shape, ...] = SHAPES
    order: int = 2
    degree: int = 2

    @classmethod
    def published(cls) -> "Influence":
        """As in SPL Conqueror: raw target, training error, interactions of any order."""
        shapes: tuple[Shape, ...] = ("linear", "square", "sqrt", "log2")
        rule = StoppingRule(criterion="training")
        return cls(name="influence-raw", target="raw", rule=rule, shapes=shapes, order=9, degree=9)

    def train(self, table: MeasurementTable, seed: int = 0) -> InfluencePredictor:  # noqa: ARG002
        """Train on a table, without randomness; InputError for fewer than two rows."""
        encoder = encoder_of(table, 2)
        columns_of = columns(table.inputs)
        candidate_terms = candidates(
            table.inputs, self.shapes, order=self.order, degree=self.degree
        )
        raw = self.target == "raw"
        selection = select(
            table.response if raw else np.log2(table.response),
            lambda terms: matrix(terms, columns_of, len(table)),
            candidate_terms.first(),
            candidate_terms.grown,
            _relative(table.response) if raw else _ratio,
            self.rule,
        )
        values = matrix(selection.terms, columns_of, len(table))
        spans = zip(values.min(axis=0).tolist(), values.max(axis=0).tolist(), strict=True)
        return InfluencePredictor(
            target=self.target,
            terms=dict(zip(selection.terms, selection.coefficients.tolist(), strict=True)),
            selection=selection,
            encoder=encoder,
            spans=dict(zip(selection.terms, spans, strict=True)),
            quantity=table.quantity,
            unit=table.unit,
        )


def _beside(step: Round) -> str:
    others = ", ".join(text(term) for term in step.stands_for)
    return f" ({others} cannot be told from it here)" if others else ""


def _about(selection: ForwardSelection, place: int) -> str:
    """The parameters of all terms added up to this round, as text."""
    names = {name for step in selection.rounds[: place + 1] for name in parameters(step.term)}
    return ", ".join(sorted(names))


def _ratio(residuals: Floats) -> Floats:
    """(models,) mean relative error from residuals log2 measured - log2 predicted."""
    ratios = np.exp2(-np.clip(residuals, -50, 50))
    return np.asarray(np.abs(ratios - 1).mean(axis=0))


def _relative(response: Floats) -> Error:
    """A function that gives the mean relative error of residuals in the unit of the response."""
    return lambda residuals: np.asarray((np.abs(residuals) / response[:, None]).mean(axis=0))


def _as_product(terms: dict[Product, float]) -> str:
    factors: list[str] = []
    rest: dict[Product, float] = {}
    for term, slope in terms.items():
        influence = effect(term)
        if not term:
            factors.append(f"{2.0**slope:.5g}")
        elif influence and influence[0] == LOG2:
            factors.append(f"{influence[1]}^{_signed(slope)}")
        elif influence and influence[0] == LOG2_1:
            factors.append(f"(1 + {influence[1]})^{_signed(slope)}")
        elif influence and influence[0].startswith(IS):
            factors.append(f"{2.0**slope:.5g}^{text(term)}")
        else:
            rest[term] = slope
    if rest:
        factors.append(f"2^({formula(rest)})")
    return " * ".join(factors)


def _signed(slope: float) -> str:
    return f"{slope:.4g}" if slope >= 0 else f"({slope:.4g})"
