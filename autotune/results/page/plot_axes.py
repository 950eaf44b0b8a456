"""Axes of plots: their ends, their round ticks, and the place of a value between the ends."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from autotune.units import show as in_units

_MOST = 6
"""Ticks that fit beside one another on a phone."""
_APART = 0.14
"""Share of an axis between ticks that are not equally far apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotAxis:
    """An axis from ``low`` to ``high``; ``ticks``: values and their labels."""

    title: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()
    log: bool = False

    def share(self, value: float) -> float:
        """Where a value lies between the ends, from 0 to 1; values beyond lie at an end."""
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(max(at, self.low))
        return min(1.0, max(0.0, (at - low) / (high - low)))


def linear(
    title: str,
    values: Iterable[float],
    show: Callable[[float], str],
    *,
    zero: bool = False,
    whole: bool = False,
    unit: float = 1.0,
) -> PlotAxis:
    """An axis that holds all values with a margin; ``zero``: it begins at 0.

    ``whole``: only whole numbers are ticks. Ticks are round in multiples of ``unit``.
    """
    low, high = _ends(values)
    margin = 0.04 * (high - low or abs(high) or 1.0)
    low, high = 0.0 if zero else low - margin, high + margin
    step = unit * _step((high - low) / unit / _MOST, whole=whole)
    first = math.ceil(low / step - 1e-9)
    ticks = [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
    return PlotAxis(title=title, low=low, high=high, ticks=tuple((t, show(t)) for t in ticks))


def _step(least: float, *, whole: bool) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= least * (1 - 1e-9))
    return max(1.0, step) if whole else step


def logarithmic(title: str, values: Iterable[float], show: Callable[[float], str]) -> PlotAxis:
    """A logarithmic axis that holds all values with a margin."""
    low, high = _ends(values)
    margin = max(1.04, (high / low) ** 0.04)
    low, high = low / margin, high * margin
    bare = PlotAxis(title=title, low=low, high=high, log=True)
    kept: list[float] = []
    for tick in round_values(low, high):
        if not kept or bare.share(tick) - bare.share(kept[-1]) >= _APART:
            kept.append(tick)
    return replace(bare, ticks=tuple((tick, show(tick)) for tick in kept))


def _ends(values: Iterable[float]) -> tuple[float, float]:
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    return min(finite), max(finite)


def round_values(low: float, high: float) -> list[float]:
    """1, 2, 5 (or only 1) times powers of ten between two limits; finer if only few fit."""
    powers = [10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    tenths = tuple(1 + k / 10 for k in range(90))
    hundredths = tuple(1 + k / 50 for k in range(450))
    values: list[float] = []
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), tenths[::2], hundredths):
        values = [step * power for power in powers for step in steps if low <= step * power <= high]
        if len(values) >= 4:
            return values
    return values


def powers_of_two(title: str, sizes: Iterable[float]) -> PlotAxis:
    """A logarithmic axis of bytes whose ticks are powers of two."""
    low, high = _ends(sizes)
    margin = max(1.04, (high / low) ** 0.03)
    exponents = [e for e in range(48) if low <= 2.0**e <= high]
    ticks = exponents[:: 1 + max(0, len(exponents) - 1) // _MOST]
    return PlotAxis(
        title=title,
        low=low / margin,
        high=high * margin,
        ticks=tuple((2.0**e, in_units(2**e, "size")) for e in ticks),
        log=True,
    )
