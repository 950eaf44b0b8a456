"""Cycles of calls of the mathematical library, for use where no measurement exists.

Cycles per call with arguments of moderate size, from throughputs that vendors and libraries publish
for double precision (glibc since 2.28, libmvec; orders of magnitude, +- 50 %). A call in a loop
keeps it from being vectorised unless a vector form exists (``_ZGVdN4v_sin``: four at once).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

SPREAD = 0.5
"""Relative half-width of the interval of these figures."""

_CYCLES = {
    "exp": 22.0, "exp2": 20.0, "expm1": 35.0, "log": 25.0, "log2": 25.0, "log10": 45.0,
    "log1p": 40.0, "pow": 55.0, "sin": 40.0, "cos": 40.0, "sincos": 60.0, "tan": 70.0,
    "sinh": 60.0, "cosh": 50.0, "tanh": 55.0, "asin": 45.0, "acos": 45.0, "atan": 40.0,
    "atan2": 60.0, "sqrt": 20.0, "cbrt": 40.0, "hypot": 25.0, "erf": 50.0, "fmod": 40.0,
    "floor": 4.0, "ceil": 4.0, "fmax": 4.0, "fmin": 4.0,
}  # fmt: skip
PRICED = frozenset(_CYCLES)
"""Functions with a figure."""
_VECTOR = re.compile(r"_ZGV[bcden][NM](\d+)v+_(\w+)")
_PER_VECTOR = 1.5
"""Cycles of a vector form over those of the scalar one."""


@dataclass(frozen=True, slots=True)
class LibraryCalls:
    """The library calls in one pass of a loop: their number, cycles, and functions without a known
    cost.
    """

    count: int
    cycles: float
    """Cycles of the calls with a figure."""
    unpriced: tuple[str, ...]
    """Functions without a figure."""


def price(names: Sequence[str]) -> LibraryCalls:
    """The number and the cycles of the calls of a pass.

    >>> price(["sin", "sin", "f"])
    LibraryCalls(count=3, cycles=80.0, unpriced=('f',))
    """
    cycles = 0.0
    unpriced: set[str] = set()
    for name in names:
        vector = _VECTOR.fullmatch(name)
        bare = vector[2] if vector else re.sub(r"^__|_finite$", "", name)
        if bare in _CYCLES:
            cycles += _CYCLES[bare] * (_PER_VECTOR if vector else 1.0)
        else:
            unpriced.add(name)
    return LibraryCalls(len(names), cycles, tuple(sorted(unpriced)))
