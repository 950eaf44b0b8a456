"""Predictions as formulas of the size, in words."""

from collections.abc import Sequence

from autotune.commands.rank.candidate_formula import CandidateFormula


def text(formulas: Sequence[CandidateFormula]) -> str:
    """Each formula below its candidate; n is the number of components or points."""
    return "\n\n".join(
        f"{', '.join(formula.candidates)}\n  {formula.formula}" for formula in formulas
    )
