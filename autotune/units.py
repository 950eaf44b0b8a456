"""Quantities with units: text to SI numbers and back.

Inside the package every number is in SI units (seconds, bytes, hertz, bytes per second) or in the
unit that its type or name states (bytes per cycle, cycles). Text carries the unit. KiB, MiB,
GiB and TiB are binary; kB, MB and GB are decimal.
"""

import math
import re
from decimal import Decimal
from typing import Annotated, Literal, NewType

Seconds = NewType("Seconds", float)
Bytes = NewType("Bytes", int)
Hertz = NewType("Hertz", float)
BytesPerSecond = NewType("BytesPerSecond", float)
BytesPerCycle = NewType("BytesPerCycle", float)
Cycles = NewType("Cycles", float)
Unbounded = Annotated[float, "null in a document where it is infinite or not a number"]
"""A number that need not be finite: JSON has no infinity."""

Dimension = Literal["time", "size", "frequency", "bandwidth", "throughput", "cycles"]

_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_SMALL = {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9, "p": 1e-12}

_FACTORS: dict[Dimension, dict[str, float]] = {
    "time": {f"{prefix}s": factor for prefix, factor in _SMALL.items()}
    | {"min": 60.0, "h": 3600.0},
    "size": {f"{p}B": f for p, f in (_DECIMAL | _BINARY).items()},
    "frequency": {f"{p}Hz": f for p, f in _DECIMAL.items()},
    "bandwidth": {f"{p}B/s": f for p, f in (_DECIMAL | _BINARY).items()},
    "throughput": {"B/cy": 1.0},
    "cycles": {"cy": 1.0},
}

_STEPS = {
    "time": (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)),
    "bandwidth": (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0)),
}
"""Readable prefixes, the largest first."""

_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s.].*?)\s*")


def parse(text: str, dimension: Dimension) -> float:
    """The SI value of a quantity such as ``"2.3 GHz"`` or ``"32 KiB"``.

    Raises ValueError, in words, unless the text is a number with a unit of ``dimension``.

    >>> parse("32 KiB", "size")
    32768.0
    """
    units = _FACTORS[dimension]
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a number with a unit of {dimension}: {_examples(units)}")
    number, unit = match.groups()
    if unit not in units:
        raise ValueError(f"{unit!r} is not a unit of {dimension}: {_examples(units)}")
    value = float(number) * units[unit]
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is too large")
    return value


def show(value: float, dimension: Dimension) -> str:
    """A quantity as text with a readable prefix, four significant digits; a size with a binary
    one.

    >>> show(32768, "size")
    '32 KiB'
    """
    if dimension in ("throughput", "cycles"):
        return f"{value:.4g} {next(iter(_FACTORS[dimension]))}"
    if dimension == "time":
        return _scaled(value, [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)])
    if dimension == "size":
        binary = [("TiB", 2.0**40), ("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10)]
        return _scaled(value, [*binary, ("B", 1.0)])
    unit = {"frequency": "Hz", "bandwidth": "B/s"}[dimension]
    return _scaled(value, [("G" + unit, 1e9), ("M" + unit, 1e6), ("k" + unit, 1e3), (unit, 1.0)])


def counted(count: int, noun: str) -> str:
    """A count with its noun, which takes an s unless the count is one.

    >>> counted(1, "run"), counted(0, "run"), counted(3, "run")
    ('1 run', '0 runs', '3 runs')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def number_of_many(count: int) -> str:
    """A count in digits, from 1e9 on with two of them.

    >>> number_of_many(4553), number_of_many(3_636_683_754 * 10**51)
    ('4553', '3.6e+60')
    """
    if abs(count) < 1e9:
        return str(count)
    return f"{float(count):.2g}" if abs(count) < 10**308 else f"{Decimal(count):.2g}".lower()


def rough_percent(share: float) -> str:
    """A share that is not below 0 in percent, with two significant digits at most.

    >>> [rough_percent(share) for share in (0.0, 5e-8, 0.00312, 0.0712, 12.3)]
    ['0 %', 'below 0.1 %', '0.31 %', '7.1 %', '1230 %']
    """
    value = 100 * share
    if 0 < value < 0.1:
        return "below 0.1 %"
    return f"{value:.2g} %" if value < 99.5 else f"{value:.0f} %"


def readable(value: float, dimension: Literal["time", "bandwidth"]) -> str:
    """A quantity with a readable prefix and at most six digits, as curves are rounded.

    >>> readable(2.30356e-07, "time")
    '230.356 ns'
    """
    steps = _STEPS[dimension]
    unit, factor = next((step for step in steps if abs(value) >= step[1]), steps[-1])
    return f"{value / factor:.6g} {unit}"


def exact(value: float, dimension: Dimension) -> str:
    """The shortest text of a quantity that ``parse`` reads back as the same number.

    >>> exact(2.3e9, "frequency"), exact(1 / 3, "time"), exact(2.30356e-07, "time")
    ('2.3 GHz', '0.3333333333333333 s', '230.356 ns')
    """
    if dimension in ("time", "bandwidth"):
        text = readable(value, dimension)
        if parse(text, dimension) == value:
            return text
    texts = [f"{value / factor!r} {unit}" for unit, factor in _FACTORS[dimension].items()]
    texts = [text.replace(".0 ", " ") for text in texts]
    return min((text for text in texts if parse(text, dimension) == value), key=len)


def _scaled(value: float, steps: list[tuple[str, float]]) -> str:
    for unit, factor in steps:
        if abs(value) >= factor:
            return f"{value / factor:.4g} {unit}"
    unit, factor = steps[-1]
    return f"{value / factor:.4g} {unit}"


def _examples(units: dict[str, float]) -> str:
    return "one of " + ", ".join(units)
