"""Fedorov's exchange algorithm: replaces rows by candidates while that raises det(X'X).

V. V. Fedorov, Theory of Optimal Experiments, 1972.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from autotune.domain.tables.table import Floats

_EXCHANGES = 2000
FRESH = 50
"""Exchanges after which rounding errors are swept out."""
GAIN = 1e-6
"""Exchanges that raise the determinant by less end the search."""


@dataclass(slots=True)
class _Exchange:
    """The state of the exchange: the chosen rows among candidates F, (N, p), with matrices kept up
    to date.

    With M = X'X of the chosen rows it keeps F M^-1, d (the diagonal of F M^-1 F') and F M^-1 X'.
    """

    matrix: Floats
    rows: NDArray[np.intp]
    spread: Floats = field(init=False)
    across: Floats = field(init=False)
    d: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Compute all matrices anew.

        A small multiple of the unit matrix is added to M, so that it has an inverse for poor rows
        too.
        """
        chosen = self.matrix[self.rows]
        regular = 1e-6 * len(self.rows) * np.eye(chosen.shape[1])
        self.spread = self.matrix @ np.linalg.inv(chosen.T @ chosen + regular)
        self.across = self.spread @ chosen.T
        self.d = np.einsum("ij,ij->i", self.spread, self.matrix)

    def best(self) -> tuple[int, int, float]:
        """The exchange of a chosen row for a candidate that raises det(M) most: place i, candidate
        j and gain.

        The exchange multiplies det(M) by 1 + d_j - d_i - (d_i d_j - d_ij^2) with d = x' M^-1 x.
        """
        variances = self.d[self.rows]
        gain = self.across**2
        gain -= self.d[:, None] * variances
        gain += self.d[:, None]
        gain -= variances
        gain[self.rows] = -np.inf
        j, i = np.unravel_index(int(gain.argmax()), gain.shape)
        return int(i), int(j), float(gain[j, i])

    def swap(self, i: int, j: int) -> None:
        """Replace the chosen row at place i by candidate j, with two updates of rank one."""
        self._update(j, 1.0)
        self._update(int(self.rows[i]), -1.0)
        self.rows[i] = j
        self.across[:, i] = self.matrix @ self.spread[j]

    def _update(self, row: int, sign: float) -> None:
        spread_of_row, others = self.spread[row].copy(), self.across[row].copy()
        weight = self.matrix @ spread_of_row
        scaled = weight * (sign / (1 + sign * self.d[row]))
        self.spread -= np.outer(scaled, spread_of_row)
        self.across -= np.outer(scaled, others)
        self.d -= scaled * weight


def exchanged(matrix: Floats, start: NDArray[np.intp], report: Callable[[int], None]) -> list[int]:
    """The rows after Fedorov's exchange, which at each step swaps the pair that raises the
    determinant most.
    """
    state = _Exchange(matrix, start.copy())
    for step in range(_EXCHANGES):
        i, j, gain = state.best()
        if gain < GAIN:
            break
        state.swap(i, j)
        if step % FRESH == FRESH - 1:
            state.refresh()
        report(step)
    return sorted(int(row) for row in state.rows)
