"""The coefficients of a method as arrays, by the names that skeletons give them."""

from collections.abc import Mapping, Sequence

from autotune.domain.problem import ButcherTableau

Coefficients = Mapping[str, Sequence[float] | Sequence[Sequence[float]]]
"""Arrays of the method by name: A, b, c, and b_hat where it has embedded weights."""


def tables(method: ButcherTableau) -> Coefficients:
    """All coefficient arrays of a method."""
    plain: Coefficients = {"A": method.A, "b": method.b, "c": method.c}
    return plain if method.embedded is None else {**plain, "b_hat": method.embedded}
