"""Metrics: what a candidate is judged by, with unit and direction."""

import sys
from dataclasses import dataclass
from typing import Literal

from autotune.units import show

Direction = Literal["less", "more"]
"""Which of two values is the better."""
LEAST_COST = sys.float_info.min
"""The cost of 0 where less is better, such as the error of an exact result: costs are positive."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A quantity that candidates are judged by, such as a rate in MB/s of which more is better.

    Searches, races and statistics minimise costs: positive numbers that are smaller for better
    values. The cost is the value itself where less is better, else its reciprocal, so that the
    ratio of two costs is the speed-up, or how many times better the one value is.
    """

    name: str
    unit: str = ""
    better: Direction = "less"

    @property
    def timed(self) -> bool:
        """Whether it is the time."""
        return self.name == TIME.name

    def cost(self, value: float) -> float:
        """The cost of a value; ZeroDivisionError for 0 where more is better."""
        return value if self.better == "less" else 1 / value

    def value(self, cost: float) -> float:
        """The value with this cost, 0 for the least cost where less is better."""
        return 0.0 if cost == LEAST_COST and self.better == "less" else self.cost(cost)

    def interval(self, costs: tuple[float, float]) -> tuple[float, float]:
        """The interval of the values with costs in an interval, the smaller end first.

        >>> Metric("speed", "MB/s", "more").interval((0.002, 0.004))
        (250.0, 500.0)
        """
        low, high = sorted(map(self.value, costs))
        return low, high

    @property
    def title(self) -> str:
        """The title of a column of its values: the name, and the unit in brackets.

        >>> Metric("speed", "MB/s", "more").title, Metric("ratio").title
        ('speed [MB/s]', 'ratio')
        """
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    def show(self, cost: float) -> str:
        """The value with this cost, as text with its unit.

        >>> Metric("speed", "MB/s", "more").show(0.002), TIME.show(0.002)
        ('500 MB/s', '2 ms')
        """
        if self.timed:
            return show(cost, "time")
        return f"{self.value(cost):.4g} {self.unit}".rstrip()

    def figure(self, value: float) -> str:
        """A value as text below a title that has its unit; a time with its own.

        >>> Metric("speed", "MB/s", "more").figure(500), TIME.figure(0.002)
        ('500', '2 ms')
        """
        return self.show(value) if self.timed else f"{value:.4g}"


def positive_cost(metric: Metric, value: float) -> dict[str, float]:
    """The cost of a value by the name of its metric; empty for a value without a positive cost,
    which has no place on a front.

    An exact 0 has the least cost where less is better, but there is no time of 0.

    >>> positive_cost(Metric("error"), 0.5), positive_cost(Metric("rate", better="more"), 0.0)
    ({'error': 0.5}, {})
    """
    if value == 0 and metric.better == "less" and metric.name not in _NEVER_ZERO:
        return {metric.name: LEAST_COST}
    return {metric.name: metric.cost(value)} if value > 0 else {}


TIME = Metric("time", "s")
ENERGY = Metric("energy", "J")
MEMORY = Metric("memory", "B")
_NEVER_ZERO = (TIME.name, ENERGY.name, MEMORY.name)
