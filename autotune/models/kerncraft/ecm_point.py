"""ECM time, saturation and scaling for one choice of layer conditions, with exactly kerncraft's
doubles.

The order of operations is that of kerncraft 0.8.18. ``sum`` and ``round`` are the interpreter's, as
in kerncraft (from Python 3.12 on, ``sum`` of floats compensates its rounding).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from autotune.models.kerncraft.kerncraft_record import KerncraftRecord

_PREFIXES = (1e3, 1e6, 1e9, 1e13, 1e16, 1e19, 1e21, 1e24, 1.0)
"""Prefixes of kerncraft's quantities; those from tera on are off by ten there."""


@dataclass(frozen=True)
class EcmPoint:
    """The ECM model of one kernel under given layer conditions; ``chosen`` is the condition of each
    level.
    """

    record: KerncraftRecord
    chosen: tuple[int, ...]

    @cached_property
    def transfers(self) -> tuple[float, ...]:
        """Cycles per line of work, by level."""
        options = self.record.options
        return tuple(options[k].cycles[level] for level, k in enumerate(self.chosen))

    @property
    def memory(self) -> float:
        """T_Mem: cycles per line of work between the last cache and memory."""
        return self.transfers[-1]

    @property
    def memory_lines(self) -> float:
        """Lines per line of work that determine the memory time."""
        return self.record.options[self.chosen[-1]].memory_lines

    @property
    def bandwidth(self) -> float:
        """Memory bandwidth that kerncraft uses, in bytes per second."""
        return self.record.options[self.chosen[-1]].bandwidth

    @cached_property
    def T_ECM(self) -> float:
        """Cycles per line of work on one core."""
        record, overlapping = self.record, [self.record.T_OL]
        one_by_one: list[float] = []
        for cycles, overlaps in zip(
            (record.T_nOL, *self.transfers), record.overlapping, strict=True
        ):
            (overlapping if overlaps else one_by_one).append(cycles)
        penalty = record.options[self.chosen[-1]].penalty
        if penalty != 0.0:
            one_by_one.append(penalty)
        return float(max(sum(one_by_one), *overlapping))

    @cached_property
    def _interface(self) -> tuple[Sequence[float], float]:
        """The utilisation u(c) of the memory for c = 1 ... cores of a domain, and the first c that
        saturates it.
        """
        T, M = self.T_ECM, self.memory
        u, saturation = [0.0], math.inf
        for c in range(1, self.record.domain_cores + 1):
            waiting = T + u[c - 1] * (c - 1) * M / 2
            if c * M > waiting:
                u.append(1.0)
                saturation = min(saturation, float(c))
            else:
                u.append(c * M / waiting)
        return u[1:], saturation

    @property
    def saturation(self) -> float:
        """The number of cores that saturate the memory; inf where none does, or without memory
        traffic.
        """
        return self._interface[1] if self.memory != 0.0 else math.inf

    def scaling(self, cores: int) -> float:
        """Cycles per line of work of ``cores`` cores together."""
        T, M = self.T_ECM, self.memory
        if M == 0.0:
            return T / cores
        domain = self.record.domain_cores
        single = T / (T / M) if cores <= self.saturation else M
        if cores <= domain:
            return reduced(single / self._interface[0][cores - 1])
        return reduced(reduced(reduced(single / self._interface[0][-1]) * domain) / cores)


def reduced(value: float) -> float:
    """A quantity after kerncraft has divided it by a unit prefix and multiplied it again.

    kerncraft takes the largest prefix that shows the quantity exactly with two decimals. Dividing
    and multiplying by the prefix may change the last bit.
    """
    best = 1.0
    for prefix in _PREFIXES:
        shown = round(value / prefix, 2)
        if shown * prefix == value and abs(shown) >= 0.9:
            best = max(best, prefix)
    return value / best * best
