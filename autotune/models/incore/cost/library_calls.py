"""Cycles of calls of the mathematical library.

A calibration measures those of most functions. Where there is none, common figures count: cycles
per call with arguments of moderate size, from throughputs that vendors and libraries publish for
double precision (glibc since 2.28, libmvec; orders of magnitude, +- 50 %). A call in a loop keeps
it from being vectorised unless a vector form exists (``_ZGVdN4v_sin``: four at once).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SPREAD, MEASURED = 0.5, 0.2
"""Relative half-widths of the intervals of common figures, and of measured ones, whose arguments
were others."""

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
    doubt: float
    """Half-width of the interval of ``cycles``."""
    unpriced: tuple[str, ...]
    """Functions without a figure."""


def price(names: Sequence[str], measured: Mapping[str, float] | None = None) -> LibraryCalls:
    """The number and the cycles of the calls of a pass; ``measured``: cycles by function, where
    they are known.

    >>> price(["sin", "sin", "f"], {"sin": 15.0})
    LibraryCalls(count=3, cycles=30.0, doubt=6.0, unpriced=('f',))
    """
    cycles = doubt = 0.0
    unpriced: set[str] = set()
    for name in names:
        figure = _figure(name, measured or {})
        if figure is None:
            unpriced.add(name)
            continue
        cycles += figure.cycles
        doubt += figure.cycles * (MEASURED if figure.measured else SPREAD)
    return LibraryCalls(len(names), cycles, doubt, tuple(sorted(unpriced)))


def notes(names: Sequence[str], measured: Mapping[str, float] | None = None) -> tuple[str, ...]:
    """Sentences that say where the figures of some functions are from; those without a figure are
    left out.
    """
    figures = {name: _figure(name, measured or {}) for name in sorted(set(names))}
    known = ", ".join(name for name, figure in figures.items() if figure and figure.measured)
    common = ", ".join(name for name, figure in figures.items() if figure and not figure.measured)
    sentences = (
        (known, f"priced as measured, with other arguments +- {100 * MEASURED:.0f} %"),
        (common, f"priced by common figures, +- {100 * SPREAD:.0f} %"),
    )
    return tuple(f"calls {listed}: {origin}" for listed, origin in sentences if listed)


@dataclass(frozen=True, slots=True)
class _Figure:
    """Cycles of one call; ``measured``: whether they are those of a calibration."""

    cycles: float
    measured: bool


def _figure(name: str, measured: Mapping[str, float]) -> _Figure | None:
    """The figure of a function; that of a vector form follows from the scalar one."""
    vector = _VECTOR.fullmatch(name)
    bare = vector[2] if vector else re.sub(r"^__|_finite$", "", name)
    single = measured.get(bare, _CYCLES.get(bare))
    if single is None:
        return None
    return _Figure(single * (_PER_VECTOR if vector else 1.0), not vector and bare in measured)
