"""Predictions as formulas of the size, in words."""

from collections.abc import Sequence

from autotune.learning.formulas.ecm_formula import Ecm


def text(found: Sequence[tuple[Sequence[str], Ecm]]) -> str:
    """Each formula below its candidate; n is the number of components or points."""
    return "\n\n".join(f"{', '.join(candidates)}\n  {formula}" for candidates, formula in found)
