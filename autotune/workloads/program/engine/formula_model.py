"""Predicts programs by a formula: the seconds of a run as a sum of terms."""

from collections.abc import Sequence

from autotune.domain.program_model import FormulaModel
from autotune.domain.results import Part, Prediction
from autotune.domain.variant import Candidate
from autotune.units import Seconds
from autotune.workloads.program.engine.formula_facts import FormulaValues
from autotune.workloads.program.engine.program_engine import NAME, finished, unknown

_TERMS_NAMED = 3
"""Number of terms that a reason names."""


class FormulaRoute:
    """Predicts candidates by the terms of a formula."""

    name = NAME

    def __init__(self, model: FormulaModel, facts: FormulaValues) -> None:
        self._model = model
        self._facts = facts

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; without a time, a reason is given."""
        return [self._predict(candidate) for candidate in candidates]

    def _predict(self, candidate: Candidate) -> Prediction:
        try:
            values = self._facts.of(candidate, self._model.where)
            terms = {
                name: self._facts.least(formula, values, 0.0, name)
                for name, formula in self._model.terms.items()
            }
        except ValueError as error:
            return unknown(f"the formula gives no time: {error}")
        seconds = sum(terms.values())
        if seconds <= 0:
            return unknown(f"the formula gives {seconds:g} s, which is no time")
        made = Prediction(
            seconds=Seconds(seconds),
            interval=None,
            parts=tuple(
                Part(sweep=name, kind="sweep", seconds=Seconds(value), kernel=name)
                for name, value in terms.items()
                if value > 0
            ),
            engine=NAME,
            reason=_reason(terms, seconds),
            notes=(f"by a formula, stated to {100 * self._model.accuracy:.0f} %",),
        )
        return finished(made, self._model.accuracy)


def _reason(terms: dict[str, float], seconds: float) -> str:
    if len(terms) == 1:
        return "by its formula"
    order = sorted(terms.items(), key=lambda item: -item[1])[:_TERMS_NAMED]
    return "by formulas: " + "; ".join(f"{n} {100 * v / seconds:.0f} %" for n, v in order)
