"""BoomerAMG: a V-cycle of algebraic multigrid, level by level.

    smooth_i   = 6 C_i/P s_i t_i + 3 (p_i alpha + n_i beta)
    restrict_i = 2 C_(i+1)/P s^_i t_i + p^_i alpha + n^_i beta           0 on the coarsest level
    interp_i   = 2 C_(i-1)/P s^_h t_i + p^_h alpha + n^_h beta           0 on level 0

Level i = 0 (finest) to G; C_i unknowns on P processes, s_i non-zeros per row, p_i messages of n_i
doubles in all, t_i seconds per flop; hats (``shat``, ``phat``, ``nhat``) of the operator between
levels. Two versions are printed, and named by their section of Kaltenecker 2016: h = i in 3.2.2,
h = i-1 in 5.4.2. The operator between levels i-1 and i is h = i-1.

Penalties after Gahvari, Baker, Schulz, Yang, Jordan, Gropp: Modeling the performance of an
algebraic multigrid cycle on HPC platforms, ICS 2011:

    distance   alpha -> alpha + (h_i - h_m) gamma    h_i hops of a message, h_m the fewest
    bandwidth  beta  -> (B_max/B [+ m_i/l]) beta     m_i messages at once over l links
    multicore  alpha -> k_i alpha, and gamma if so   k_i = ceil(c P_i / P), P_i active processes

Sources: the baseline is as Kaltenecker prints it, term by term. On the penalties he says only that
Gahvari et al. introduce one of distance, one of bandwidth and one of multicore nodes. The three
formulas above are *not verified against the text of Gahvari et al.*; the shared links are from a
later paper of the same authors (ICPP 2012) and not verified either. No penalty is part of the model
unless it is requested, and the name of the formula lists those that are.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from autotune.learning.formulas.base import Floats, FormulaTerm, Values, column, positive
from autotune.learning.formulas.term_polynomial import Polynomial, constant, power, total

Version = Literal["section-3.2.2", "section-5.4.2"]
VERSIONS: tuple[Version, ...] = ("section-3.2.2", "section-5.4.2")
_OPERATOR = ("s", "p", "n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """The penalty of distance: latency grows with the hops of a message, parameters ``h_i``."""

    gamma: float
    """Seconds per hop beyond the fewest."""
    fewest: float = 1.0
    """h_m."""

    def __post_init__(self) -> None:
        positive("distance penalty", gamma=self.gamma)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """The penalty of bandwidth: a node's bandwidth falls short of its peak; with ``links``,
    messages share them, parameters ``m_i``.
    """

    peak: float
    """B_max, bytes per second of the hardware."""
    measured: float
    """B, bytes per second that beta stands for."""
    links: int | None = None

    def __post_init__(self) -> None:
        positive("bandwidth penalty", peak=self.peak, measured=self.measured)
        if self.links is not None:
            positive("bandwidth penalty", links=self.links)


@dataclass(frozen=True, slots=True, kw_only=True)
class Multicore:
    """The penalty of multicore nodes: the active processes of a node send at once, parameters
    ``P_i``.
    """

    cores: int
    """c, processes per node."""
    distance: bool = False
    """gamma is multiplied too."""

    def __post_init__(self) -> None:
        positive("multicore penalty", cores=self.cores)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoomerAmg:
    """The time of one V-cycle, times ``scale``.

    Parameters: P and, for each level i, C_i, s_i, t_i, p_i, n_i; for each level but the coarsest
    shat_i, phat_i, nhat_i (in ``section-3.2.2`` for the coarsest too); those of the penalties.
    Values may also hold ``alpha`` and ``beta``, (n,) each, which replace the constants of the
    formula.
    """

    levels: int
    """G + 1, the coarsest one included."""
    alpha: float
    """Seconds per message."""
    beta: float
    """Seconds per double."""
    version: Version = "section-5.4.2"
    distance: Distance | None = None
    bandwidth: Bandwidth | None = None
    multicore: Multicore | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        positive(self.name, levels=self.levels, scale=self.scale)
        if min(self.alpha, self.beta) < 0:
            raise ValueError(f"{self.name}: alpha and beta cannot be negative")
        if self.version not in VERSIONS:
            raise ValueError(f"version is one of {', '.join(VERSIONS)}, not {self.version!r}")

    @property
    def name(self) -> str:
        """The name of the formula: ``boomeramg``, the version, and the penalties."""
        return "-".join(["boomeramg", self.version, *self.penalties])

    @property
    def penalties(self) -> tuple[str, ...]:
        """The names of the penalties that are part of the model."""
        every = ("distance", "bandwidth", "multicore")
        given = (self.distance, self.bandwidth, self.multicore)
        return tuple(
            name for name, penalty in zip(every, given, strict=True) if penalty is not None
        )

    @property
    def parameters(self) -> tuple[str, ...]:
        """P, and the parameters of every level, the finest level first."""
        names = ["P"]
        for i in range(self.levels):
            names += [f"{quantity}_{i}" for quantity in ("C", "s", "t", "p", "n")]
            if i in self._operators():
                names += [f"{quantity}hat_{i}" for quantity in _OPERATOR]
            names += [f"h_{i}"] if self.distance else []
            names += [f"m_{i}"] if self.bandwidth and self.bandwidth.links else []
            names += [f"P_{i}"] if self.multicore else []
        return tuple(names)

    def evaluate(self, values: Values) -> Floats:
        """(n,) seconds of all levels together."""
        given = {name: column(values, name, self.name) for name in self.parameters}
        for name, number in (("alpha", self.alpha), ("beta", self.beta)):
            given[name] = values.get(name, np.asarray(number))
        if self.multicore:
            for i in range(self.levels):
                share = self.multicore.cores * given[f"P_{i}"] / given["P"]
                given[f"k_{i}"] = np.maximum(np.ceil(share), 1.0)
        return self.scale * self._whole().evaluate(given)

    def level(self, i: int) -> Polynomial:
        """The time of level i as a polynomial, with alpha and beta as parameters."""
        smooth = self._work(6, f"C_{i}", f"s_{i}", i) + 3 * self._sent("", i, i)
        restrict = interpolate = Polynomial({})
        if i < self.levels - 1:
            restrict = self._work(2, f"C_{i + 1}", f"shat_{i}", i) + self._sent("hat", i, i)
        if i > 0:
            h = self._between(i)
            interpolate = self._work(2, f"C_{i - 1}", f"shat_{h}", i) + self._sent("hat", h, i)
        return smooth + restrict + interpolate

    def terms(self) -> tuple[FormulaTerm, ...]:
        """The formula expanded into terms; with the multicore penalty, k_i stands for ceil(c P_i /
        P), at least 1.
        """
        constants = {"alpha": self.alpha, "beta": self.beta}
        return (self.scale * self._whole()).at(constants).terms()

    def __str__(self) -> str:
        h = "i" if self.version == "section-3.2.2" else "i-1"
        factor = "" if self.scale == 1 else f"{self.scale:.4g} "
        penalties = f"; penalties: {', '.join(self.penalties)}" if self.penalties else ""
        return (
            f"T = {factor}sum over i of 6 C_i/P s_i t_i + 3 (p_i alpha + n_i beta)"
            " + (2 C_(i+1)/P shat_i t_i + phat_i alpha + nhat_i beta but for the last i)"
            " + (2 C_(i-1)/P shat_h t_i + phat_h alpha + nhat_h beta but for i = 0);"
            f" h = {h} ({self.version});"
            f" {self.levels} levels; alpha = {self.alpha:.4g} s, beta = {self.beta:.4g} s"
            f"{penalties}"
        )

    def _whole(self) -> Polynomial:
        return total(self.level(i) for i in range(self.levels))

    def _between(self, i: int) -> int:
        """The index h of the operator that interpolates from level i."""
        return i if self.version == "section-3.2.2" else i - 1

    def _operators(self) -> frozenset[int]:
        """The levels whose interpolation operators are described by parameters."""
        last = self.levels - 1
        return frozenset([*range(last), *(self._between(i) for i in range(1, self.levels))])

    def _work(self, flops: float, unknowns: str, nonzeros: str, i: int) -> Polynomial:
        return flops * power(unknowns) * power("P", -1) * power(nonzeros) * power(f"t_{i}")

    def _sent(self, hat: str, of: int, i: int) -> Polynomial:
        """The time of sending the messages and doubles of one exchange, with the penalties of level
        i.
        """
        return power(f"p{hat}_{of}") * self._latency(i) + power(f"n{hat}_{of}") * self._double(i)

    def _latency(self, i: int) -> Polynomial:
        several = power(f"k_{i}") if self.multicore else constant(1)
        latency = power("alpha") * several
        if self.distance is None:
            return latency
        further = self.distance.gamma * (power(f"h_{i}") + constant(-self.distance.fewest))
        return latency + further * (several if self.multicore and self.multicore.distance else 1)

    def _double(self, i: int) -> Polynomial:
        if self.bandwidth is None:
            return power("beta")
        factor = constant(self.bandwidth.peak / self.bandwidth.measured)
        if self.bandwidth.links:
            factor = factor + (1 / self.bandwidth.links) * power(f"m_{i}")
        return power("beta") * factor
