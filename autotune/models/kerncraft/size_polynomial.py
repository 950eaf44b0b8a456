"""Polynomials of sizes with integer coefficients, evaluated over arrays without rounding."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

_EXACT = 2.0**62


@dataclass(frozen=True, slots=True)
class SizePolynomial:
    """A sum of terms, each a coefficient and powers of the sizes.

    >>> rows = SizePolynomial(((32, (("N", 1),)), (-16, ())))
    >>> rows.at({"N": np.array([1, 100])}, 2).tolist()
    [16, 3184]
    """

    terms: tuple[tuple[int, tuple[tuple[str, int], ...]], ...]

    def at(self, sizes: Mapping[str, Integers], count: int) -> Integers:
        """(count,): the values at arrays of sizes, exact even beyond 64 bits."""
        if self._bound(sizes) >= _EXACT:
            return self._sum({name: s.astype(object) for name, s in sizes.items()}, count, object)
        return self._sum(sizes, count, np.int64)

    def _sum(self, sizes: Mapping[str, Integers], count: int, kind: type) -> Integers:
        total: Integers = np.zeros(count, dtype=kind)
        for coefficient, powers in self.terms:
            factors = [sizes[name] for name, power in powers for _ in range(power)]
            if not factors:
                total += coefficient
                continue
            product = factors[0] * coefficient
            for factor in factors[1:]:
                product = product * factor
            total += product
        return total

    def _bound(self, sizes: Mapping[str, Integers]) -> float:
        largest = {name: float(np.abs(s).max(initial=0)) for name, s in sizes.items()}
        total = 0.0
        for coefficient, powers in self.terms:
            product = float(abs(coefficient))
            for name, power in powers:
                product *= max(1.0, largest[name]) ** power
            total += product
        return total
