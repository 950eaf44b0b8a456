"""SMG2000: the relaxation of semicoarsening multigrid with nx grid points per side on each process.

    T1D = 2 L_x alpha + 2 L_x beta + 6 nx f
    T2D = 4 L_y (L_x + 1) alpha + 4 nx (L_x + L_y) beta + 20 nx^2 f
    T3D = 4 L_z (1 + 2 L_y (L_x + 1)) alpha + 4 nx^2 (L_z + 2 L_x + 2 L_y) beta + 48 nx^3 f

with L_q = log2(p_q nx) for p_q processes in direction q. Source: Brown, Falgout, Jones:
Semicoarsening multigrid on distributed memory machines, SIAM J. Sci. Comput. 21 (2000), as in
Kaltenecker 2016, section 3.1.2. The terms are the compact form multiplied out: the printed 3-D
expansion has six errors (four nx^2 terms lack beta, 8 log2(nx) alpha must be 4, and
8 log2(nx)^2 log2(px) alpha is missing).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from autotune.learning.formulas.base import Floats, FormulaTerm, Values, column, positive
from autotune.learning.formulas.term_polynomial import Polynomial, log2, power

Dimensions = Literal[1, 2, 3]
_PROCESSES = ("px", "py", "pz")
_COMPACT = {
    1: "2 L_x alpha + 2 L_x beta + 6 nx f",
    2: "4 L_y (L_x + 1) alpha + 4 nx (L_x + L_y) beta + 20 nx^2 f",
    3: "4 L_z (1 + 2 L_y (L_x + 1)) alpha + 4 nx^2 (L_z + 2 L_x + 2 L_y) beta + 48 nx^3 f",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Smg2000:
    """The time of one relaxation, times ``scale``; parameters are nx and px, py, pz as far as the
    dimension needs them.

    Values may also hold ``alpha``, ``beta`` and ``f``, (n,) each, which replace the constants of
    the formula. A sequential run sends no messages: there alpha and beta count as zero.
    """

    dimensions: Dimensions
    alpha: float
    """Seconds per message."""
    beta: float
    """Seconds per double."""
    f: float
    """Seconds per floating-point operation."""
    scale: float = 1.0
    """How many relaxations a run does, and all else that the model leaves out: fitted."""

    def __post_init__(self) -> None:
        positive(self.name, f=self.f, scale=self.scale)
        if min(self.alpha, self.beta) < 0:
            raise ValueError(f"{self.name}: alpha and beta cannot be negative")

    @property
    def name(self) -> str:
        """The name of the formula: ``smg2000-1d``, ``-2d`` or ``-3d``."""
        return f"smg2000-{self.dimensions}d"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters: nx, and the processes in each direction."""
        return ("nx", *_PROCESSES[: self.dimensions])

    def evaluate(self, values: Values) -> Floats:
        """(n,) seconds, by the compact form."""
        nx = column(values, "nx", self.name)
        p = [column(values, name, self.name) for name in self.parameters[1:]]
        parallel = np.prod(np.broadcast_arrays(*p), axis=0) > 1
        alpha = np.where(parallel, values.get("alpha", np.asarray(self.alpha)), 0.0)
        beta = np.where(parallel, values.get("beta", np.asarray(self.beta)), 0.0)
        f = values.get("f", np.asarray(self.f))
        L = [np.log2(processors * nx) for processors in p]
        if self.dimensions == 1:
            time = 2 * L[0] * (alpha + beta) + 6 * nx * f
        elif self.dimensions == 2:
            time = 4 * L[1] * (L[0] + 1) * alpha + 4 * nx * (L[0] + L[1]) * beta + 20 * nx**2 * f
        else:
            messages = 4 * L[2] * (1 + 2 * L[1] * (L[0] + 1))
            doubles = 4 * nx**2 * (L[2] + 2 * L[0] + 2 * L[1])
            time = messages * alpha + doubles * beta + 48 * nx**3 * f
        return np.asarray(self.scale * time, dtype=np.float64)

    def terms(self) -> tuple[FormulaTerm, ...]:
        """The formula expanded in nx, log2(nx), log2(px), ...; alpha, beta, f and scale are numbers
        in the coefficients.

        The terms add up to the time of a parallel run. In a sequential run only the terms with f
        count.
        """
        constants = {"alpha": self.alpha, "beta": self.beta, "f": self.f}
        return (self.scale * expansion(self.dimensions)).at(constants).terms()

    def __str__(self) -> str:
        factor = "" if self.scale == 1 else f"{self.scale:.4g} ("
        logarithms = ", ".join(f"L_{name[1]} = log2({name} nx)" for name in self.parameters[1:])
        return (
            f"T = {factor}{_COMPACT[self.dimensions]}{')' if factor else ''}; {logarithms};"
            f" alpha = {self.alpha:.4g} s, beta = {self.beta:.4g} s, f = {self.f:.4g} s;"
            " with one process alpha and beta are 0"
        )


def expansion(dimensions: Dimensions) -> Polynomial:
    """The formula multiplied out, with alpha, beta and f as parameters.

    >>> print(expansion(1))
    2 alpha log2(nx) + 2 alpha log2(px) + 2 beta log2(nx) + 2 beta log2(px) + 6 f nx
    """
    nx, alpha, beta, f = power("nx"), power("alpha"), power("beta"), power("f")
    x, y, z = (log2(name) + log2("nx") for name in _PROCESSES)
    if dimensions == 1:
        return 2 * x * alpha + 2 * x * beta + 6 * nx * f
    if dimensions == 2:
        return 4 * y * (x + 1) * alpha + 4 * nx * (x + y) * beta + 20 * nx * nx * f
    messages = 4 * z * (1 + 2 * y * (x + 1))
    doubles = 4 * nx * nx * (z + 2 * x + 2 * y)
    return messages * alpha + doubles * beta + 48 * nx * nx * nx * f
