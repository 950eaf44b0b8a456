"""The fast multipole method: near field (P2P) and multipole to local expansions (M2L).

    T_flop,P2P = 27 q N t_c                                        (8)
    T_flop,M2L = 189 (N/q) k^6 t_c                                 (9)
    T_mem,P2P  = N beta + N L / (Z^(1/3) q^(2/3)) beta             (12)
    T_mem,M2L  = (N/q) k^6 beta + N k^2 L / (q Z^(1/3)) beta       (14)
    T          = sum over phases of max(T_flop, T_mem)             (2), for each phase

N particles, q per leaf cell, order of expansion k; a cache of Z elements in lines of L; t_c seconds
per operation, beta seconds per element. 27 = 3^3 cells are near, 189 = 6^3 - 3^3 well separated.
Source: Ibeid, Meng, Dobon, Olson, Gropp: Learning with Analytical Models, IPDPS workshops 2019,
section IV.B, which states the maximum only for the whole. As f(k) = k^6 counts operations, not
storage, Eq. 13 and 14 overstate the traffic of M2L.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from autotune.learning.formulas.base import Floats, FormulaTerm, Values, column, positive
from autotune.learning.formulas.term_polynomial import Polynomial, power

Phase = Literal["P2P", "M2L"]
PHASES: tuple[Phase, ...] = ("P2P", "M2L")
NEAR = 27
"""Cells of the near field, the own one too."""
SEPARATED = 189
"""Cells of the interaction list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fmm:
    """The time of P2P and M2L on one core, times ``scale``; parameters N, q and k."""

    t_c: float
    """Seconds per operation."""
    beta: float
    """Seconds per element from memory."""
    cache: float
    """Z, elements."""
    line: float
    """L, elements."""
    scale: float = 1.0
    at: Mapping[str, float] = field(default_factory=lambda: {"N": 8192.0, "q": 64.0, "k": 6.0})
    """Where the terms are taken: which side of each maximum counts."""

    def __post_init__(self) -> None:
        positive(
            self.name, t_c=self.t_c, beta=self.beta, cache=self.cache, line=self.line,
            scale=self.scale, **{name: self.at[name] for name in self.parameters},
        )  # fmt: skip

    @property
    def name(self) -> str:
        """The name of the formula, ``fmm``."""
        return "fmm"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters: N, q and k."""
        return ("N", "q", "k")

    def sides(self, phase: Phase) -> tuple[Polynomial, Polynomial]:
        """The polynomials of arithmetic (Eq. 8, 9) and of memory (Eq. 12, 14) of one phase."""
        N, k, per_leaf = power("N"), power("k", 6), power("N") * power("q", -1)
        lines = self.line / self.cache ** (1 / 3)
        if phase == "P2P":
            arithmetic = NEAR * self.t_c * N * power("q")
            return arithmetic, self.beta * (N + lines * N * power("q", -2 / 3))
        arithmetic = SEPARATED * self.t_c * per_leaf * k
        return arithmetic, self.beta * (per_leaf * k + lines * per_leaf * power("k", 2))

    def evaluate(self, values: Values) -> Floats:
        """(n,) seconds of both phases together."""
        given = {name: column(values, name, self.name) for name in self.parameters}
        phases = [[side.evaluate(given) for side in self.sides(phase)] for phase in PHASES]
        return np.asarray(self.scale * sum(np.maximum(*both) for both in phases))

    def terms(self) -> tuple[FormulaTerm, ...]:
        """The terms of the larger side of each phase at the reference point ``at``."""
        terms: list[FormulaTerm] = []
        for phase in PHASES:
            side, larger = self._larger(phase)
            terms += (self.scale * larger).terms(f"{phase} {side}")
        return tuple(terms)

    def __str__(self) -> str:
        factor = "" if self.scale == 1 else f"{self.scale:.4g} "
        phases = (f"max({' , '.join(str(side) for side in self.sides(p))})" for p in PHASES)
        point = ", ".join(f"{name} = {self.at[name]:g}" for name in self.parameters)
        larger = ", ".join(f"{phase} by {self._larger(phase)[0]}" for phase in PHASES)
        return f"T = {factor}({' + '.join(phases)}); at {point}: {larger}"

    def _larger(self, phase: Phase) -> tuple[str, Polynomial]:
        point = {name: np.asarray(self.at[name]) for name in self.parameters}
        arithmetic, memory = self.sides(phase)
        if arithmetic.evaluate(point) >= memory.evaluate(point):
            return "arithmetic", arithmetic
        return "memory", memory
