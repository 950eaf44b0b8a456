"""The domain of a variable: which values it may have, and which valid ones lie next to a value.

A domain is ``power of two``, ``square``, ``whole``, ``even`` or a range ``[1, 64]``; several are
joined by ``;`` and must all hold. An end of a range that is left out is open: ``[1, ]``.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from autotune.language.counts import Value

KINDS = ("power of two", "square", "whole", "even")
_RANGE = re.compile(r"\[\s*([-+\d.eE]*)\s*,\s*([-+\d.eE]*)\s*\]")
_TRIES = 20_000
"""Candidates on either side among which a neighbour is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableDomain:
    """The values that a variable may have."""

    kinds: frozenset[str] = frozenset()
    """Some of ``KINDS``."""
    low: float = -math.inf
    high: float = math.inf

    @property
    def discrete(self) -> bool:
        """Whether only whole numbers are valid."""
        return bool(self.kinds)

    def holds(self, value: Value) -> bool:
        """Whether a value is valid."""
        if not self.low <= value <= self.high:
            return False
        if not self.kinds:
            return True
        if value != int(value):
            return False
        return all(_TESTS[kind](int(value)) for kind in self.kinds)

    def down(self, value: Value) -> Iterator[Value]:
        """The valid values below a value, the nearest first."""
        return self._filtered(self._steps(value, up=False))

    def up(self, value: Value) -> Iterator[Value]:
        """The valid values above a value, the nearest first."""
        return self._filtered(self._steps(value, up=True))

    def _filtered(self, values: Iterator[Value]) -> Iterator[Value]:
        return (value for value in itertools.islice(values, _TRIES) if self.holds(value))

    def _steps(self, value: Value, *, up: bool) -> Iterator[Value]:
        """Candidates on one side of a value: those of the sparsest kind."""
        if not self.kinds:
            end = self.high if up else self.low
            beyond = math.isfinite(end) and (value < end if up else value > end)
            return iter((_whole(end),) if beyond else ())
        start = _clamped(value, self.low, self.high, up=up)
        if "power of two" in self.kinds:
            return _powers(start, up=up)
        if "square" in self.kinds:
            return _squares(start, up=up)
        return _wholes(start, up=up)


def _whole(value: float) -> Value:
    return int(value) if value == int(value) else value


def _clamped(value: Value, low: float, high: float, *, up: bool) -> Value:
    """The value, moved next to the range where it lies outside of it."""
    if up and value < low:
        return math.ceil(low) - 1
    if not up and value > high:
        return math.floor(high) + 1
    return value


def _wholes(value: Value, *, up: bool) -> Iterator[Value]:
    number = math.floor(value) + 1 if up else math.ceil(value) - 1
    for _ in range(_TRIES):
        yield number
        number += 1 if up else -1


def _squares(value: Value, *, up: bool) -> Iterator[Value]:
    root = math.isqrt(max(0, math.floor(value)))
    for number in itertools.count(root) if up else range(root, -1, -1):
        if number**2 > value if up else number**2 < value:
            yield number**2


def _powers(value: Value, *, up: bool) -> Iterator[Value]:
    for exponent in range(63) if up else range(62, -1, -1):
        if 2**exponent > value if up else 2**exponent < value:
            yield 2**exponent


_TESTS: dict[str, Callable[[int], bool]] = {
    "power of two": lambda n: n > 0 and n & (n - 1) == 0,
    "square": lambda n: n >= 0 and math.isqrt(n) ** 2 == n,
    "whole": lambda _: True,
    "even": lambda n: n % 2 == 0,
}


def domain(text: str) -> VariableDomain:
    """The domain that a text states; ValueError naming the part that is none.

    >>> domain("power of two; [2, 64]").holds(32)
    True
    """
    kinds, low, high = set(), -math.inf, math.inf
    for part in (p.strip() for p in text.split(";")):
        if match := _RANGE.fullmatch(part):
            low = max(low, _end(match[1], -math.inf, part))
            high = min(high, _end(match[2], math.inf, part))
        elif part in KINDS:
            kinds.add(part)
        elif part:
            allowed = ", ".join(KINDS)
            raise ValueError(f"{part!r} is no domain; allowed: {allowed}, a range [1, 64]")
    if low > high:
        raise ValueError(f"{text!r}: no value is in the range")
    return VariableDomain(kinds=frozenset(kinds), low=low, high=high)


def _end(text: str, default: float, part: str) -> float:
    if not text:
        return default
    try:
        return float(Fraction(text))
    except ValueError as error:
        raise ValueError(f"{part!r} is no range of two numbers") from error
