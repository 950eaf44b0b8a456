"""The values of a parameter at the levels of a design, by our rule and by SPL Conqueror's."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import cast

import numpy as np

from autotune.domain.tables.parameter import Parameter, Value


def at_levels(parameter: Parameter, count: int) -> tuple[Value, ...]:
    """The values at levels 0 .. count-1: evenly spread, with the first and the last value at the
    ends.

    A level stands for the value at the nearest index, the lower one of a tie. Where there are fewer
    values than levels, several levels stand for one value, equally many for each up to one.

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
    """The values at levels as SPL Conqueror chooses them; the last gap differs from the others.

    They are the minimum, the maximum and every ``off``-th value, with ``off`` = (N - 1)/(count - 1)
    rounded half to even, clamped to the last value. Where there are fewer values than levels, all
    values are taken and random ones added. These differ from SPL Conqueror's, which uses the
    generator of .NET.

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
    """The value at index N

    2 of N values; the middle of an interval.

    With an even number of values it is the first one beyond the middle, as in SPL Conqueror.
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
    """The value of a numeric parameter that is nearest to a number; the lower one of a tie."""
    if parameter.continuous:
        return min(max(target, parameter.low), parameter.high)
    return min(parameter.values, key=lambda value: (abs(float(value) - target), float(value)))


def snapped_up(parameter: Parameter, target: float) -> Value:
    """The first value not below ``target``, else the last value: how SPL Conqueror reads a step
    function.

    Numbers are compared with three decimals, as SPL Conqueror does. (Where its variability model
    lists values one by one, SPL Conqueror rounds to the nearest value too.)
    """
    if parameter.continuous:
        return nearest(parameter, target)
    above = (value for value in parameter.values if round(float(value), 3) >= target)
    return next(above, parameter.values[-1])


def position(parameter: Parameter, value: Value) -> float:
    """The position of a value in the domain of its parameter, from 0 to 1: by index, or by size in
    an interval.
    """
    if parameter.constant:
        return 0.0
    if not parameter.continuous:
        ascending = cast("Sequence[float]", parameter.values)  # or text: all of one kind
        return bisect_left(ascending, cast(float, value)) / (len(ascending) - 1)
    return (float(value) - parameter.low) / (parameter.high - parameter.low)


def logarithmic(parameter: Parameter) -> bool:
    """Whether a numeric parameter is better seen on a logarithmic scale: all positive, and spanning
    more than a factor of 8.
    """
    return parameter.low > 0 and math.log2(parameter.high / parameter.low) >= 3


def is_flag(parameter: Parameter) -> bool:
    """Whether the parameter is an option that is on or off: its values are 0 and 1, or one of the
    two.
    """
    return bool(parameter.values) and set(parameter.values) <= {0, 1}
