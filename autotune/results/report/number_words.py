"""Numbers as words: times and values with their unit, shares in percent, intervals."""

from autotune.domain.metric import TIME, Metric

NONE = "-"
"""Stands where there is no number."""
_MOST_PLACES = 6
_MINUTE, _HOUR = 60.0, 3600.0


def seconds(value: float | None, goal: Metric = TIME) -> str:
    """A time as text with a readable unit and four digits; or the value of another goal with this
    cost.

    >>> seconds(0.00188)
    '1.880 ms'
    """
    if value is None:
        return NONE
    if not goal.timed:
        return f"{goal.value(value):#.4g} {goal.unit}".replace(". ", " ").rstrip(" .")
    if value == 0:
        return "0 s"
    unit, factor = time_unit(value)
    return f"{value / factor:#.4g} {unit}".replace(". ", " ")


def span(interval: tuple[float, float] | None, goal: Metric = TIME) -> str:
    """An interval of times as text in one unit; or the values of another goal with these costs.

    >>> span((0.00098, 0.00112))
    '0.980 to 1.12 ms'
    """
    if interval is None:
        return NONE
    unit, factor = time_unit(interval[1]) if goal.timed else (goal.unit, 1.0)
    values = sorted(goal.value(cost) / factor for cost in interval)
    low, high = (f"{value:#.3g}".rstrip(".") for value in values)
    return f"{low} to {high} {unit}".rstrip()


def duration(value: float | None) -> str:
    """A wall time in seconds, minutes or hours.

    >>> duration(0.03096), duration(88.07), duration(360.0)
    ('0.031 s', '88.1 s', '6 min')
    """
    if value is None:
        return NONE
    if value < 1:
        return f"{value:.2g} s"
    if value < 2 * _MINUTE:
        return f"{value:.1f} s"
    return f"{value / _MINUTE:.0f} min" if value < 2 * _HOUR else f"{value / _HOUR:.1f} h"


def interval(costs: tuple[float, float] | None, goal: Metric = TIME) -> str:
    """An interval of times, or of the values of another goal with these costs, in brackets; each
    end has its unit. Empty for None.

    >>> interval((0.00098, 0.00112))
    '[980.0 us, 1.120 ms]'
    """
    if costs is None:
        return ""
    low, high = sorted(costs, key=goal.value)
    return f"[{seconds(low, goal)}, {seconds(high, goal)}]"


def time_unit(value: float) -> tuple[str, float]:
    """A readable unit of time for a value in seconds, and its size in seconds."""
    units = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
    return next(((unit, f) for unit, f in units if abs(value) >= f), ("ns", 1e-9))


def signed(share: float | None) -> str:
    """A deviation in percent, with its sign.

    >>> signed(-0.0312)
    '-3.1 %'
    >>> signed(-0.0001)
    '+0.0 %'
    """
    return NONE if share is None else f"{100 * share:+z.1f} %"


def percent(share: float | None) -> str:
    """A share in percent.

    >>> percent(0.0312), percent(2.5), percent(1e-7), percent(0.0)
    ('3.1 %', '250 %', 'below 0.1 %', '0.0 %')
    """
    if share is None:
        return NONE
    if 0 < share < 0.0005:
        return "below 0.1 %"
    return f"{100 * share:.1f} %" if share < 0.9995 else f"{100 * share:.0f} %"


def ratio(value: float) -> str:
    """A ratio to two places, or to as many as tell it from 1: an end of an interval that is not 1
    is not printed as 1.

    >>> ratio(1.1), ratio(1.0), ratio(1.0031), ratio(0.99998), ratio(123.4)
    ('1.10', '1.00', '1.003', '0.99998', '123')
    """
    if value >= 100:
        return f"{value:.0f}"
    places = 2
    while places < _MOST_PLACES and value != 1 and float(f"{value:.{places}f}") == 1:
        places += 1
    return f"{value:.{places}f}"


def metric(quantity: Metric, value: float | None) -> str:
    """A value of a metric with its unit.

    >>> metric(Metric("ratio", "x", "more"), 3.14159)
    '3.142 x'
    """
    return NONE if value is None else quantity.show(quantity.cost(value))
