"""From the levels of a design to the values of a parameter, ours and SPL Conqueror's."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import cast

import numpy as np

from autotune.domain.tables.parameter import Parameter, Value


def at_levels(parameter: Parameter, count: int) -> tuple[Value, ...]:
    """The values of levels 0 .. count-1: evenly spread, the first and the last at the ends.

    The value of a level is the one at the nearest index, the lower of two as near; of fewer values
    than levels each stands for as many levels as any other, but for one.

    >>> from autotune.domain.tables.parameter import numeric
    >>> at_levels(numeric("x", range(1, 101)), 3), at_levels(numeric("x", [0, 1]), 3)
    ((1, 50, 100), (0, 0, 1))
    """
    if parameter.continuous:
        width = parameter.high - parameter.low
        return tuple(parameter.low + width * level / (count - 1) for level in range(count))
    size = len(parameter.values)
    if size < count:
        return tuple(parameter.values[level * size // count] for level in range(count))
    gaps, last = count - 1, size - 1
    places = (-((gaps - 2 * level * last) // (2 * gaps)) for level in range(count))
    return tuple(parameter.values[place] for place in places)


def conqueror_levels(
    parameter: Parameter, count: int, rng: np.random.Generator
) -> tuple[Value, ...]:
    """The values of levels as SPL Conqueror chooses them: the last gap differs from the others.

    Minimum, maximum and every ``off``-th value, ``off`` = (N - 1)/(count - 1) rounded half to
    even, clamped to the last value. Of fewer values than levels all, then random ones: other
    random ones than there, whose generator is that of .NET.

    >>> from autotune.domain.tables.parameter import numeric
    >>> rng = np.random.default_rng(1)
    >>> conqueror_levels(numeric("x", range(1, 101)), 3, rng)
    (1, 51, 100)
    >>> conqueror_levels(numeric("x", range(1, 5)), 3, rng)
    (1, 3, 4)
    """
    if parameter.continuous:
        return at_levels(parameter, count)
    values, last = parameter.values, len(parameter.values) - 1
    if len(values) <= count:
        more = (values[int(rng.integers(len(values)))] for _ in range(count - len(values)))
        return (*values, *more)
    off = round(last / (count - 1))
    inner = (min(off * step, last) for step in range(1, count - 1))
    return tuple(values[place] for place in (0, *inner, last))


def centre(parameter: Parameter) -> Value:
    """The value at index N // 2, the middle of an interval.

    Of an even number of values it is the first beyond the middle, as in SPL Conqueror.
    """
    if parameter.continuous:
        return (parameter.low + parameter.high) / 2
    return parameter.values[len(parameter.values) // 2]


def extremes(parameter: Parameter) -> tuple[Value, Value]:
    """The first and the last value of a parameter."""
    if parameter.continuous:
        return parameter.low, parameter.high
    return parameter.values[0], parameter.values[-1]


def nearest(parameter: Parameter, target: float) -> Value:
    """The value of a numeric parameter next to a number, the lower of two as near."""
    if parameter.continuous:
        return min(max(target, parameter.low), parameter.high)
    return min(parameter.values, key=lambda value: (abs(float(value) - target), float(value)))


def snapped_up(parameter: Parameter, target: float) -> Value:
    """The first value not below a number, else the last: how SPL Conqueror reads a step function.

    Numbers are compared with three decimals, as there. (Values that a variability model lists one
    by one are rounded to the nearest there too.)
    """
    if parameter.continuous:
        return nearest(parameter, target)
    above = (value for value in parameter.values if round(float(value), 3) >= target)
    return next(above, parameter.values[-1])


def position(parameter: Parameter, value: Value) -> float:
    """Where a value of the domain lies in it, from 0 to 1: by index, or by size in an interval."""
    if parameter.constant:
        return 0.0
    if not parameter.continuous:
        ascending = cast("Sequence[float]", parameter.values)  # or text: all of one kind
        return bisect_left(ascending, cast(float, value)) / (len(ascending) - 1)
    return (float(value) - parameter.low) / (parameter.high - parameter.low)


def logarithmic(parameter: Parameter) -> bool:
    """Whether a numeric parameter is better seen in logarithms: positive, over a factor of 8."""
    return parameter.low > 0 and math.log2(parameter.high / parameter.low) >= 3


def is_flag(parameter: Parameter) -> bool:
    """Whether it is an option that is chosen or not: the numbers 0 and 1, or one of them."""
    return bool(parameter.values) and set(parameter.values) <= {0, 1}
