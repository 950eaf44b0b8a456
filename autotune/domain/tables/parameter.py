"""A parameter of a computation: its name, whether it is a number or a category, its domain."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeGuard

from autotune.units import Unbounded

Value = int | float | str
"""A value of a parameter. Truth values are the numbers 0 and 1; nothing is the text ``none``."""
Kind = Literal["numeric", "categorical"]
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter and its domain.

    ``values``: the allowed values, numbers ascending and text sorted. They are empty for a numeric
    parameter that may be any number in [``low``, ``high``]. If there are values, ``low`` and
    ``high`` are the smallest and the largest of them. Both are nan for a categorical parameter.

    >>> Parameter(name="bi", kind="numeric", values=(16, 32, 64)).high
    64.0
    """

    name: str
    kind: Kind
    values: tuple[Value, ...] = ()
    low: Unbounded = math.nan
    high: Unbounded = math.nan

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a parameter has a name")
        if self.kind == "categorical":
            _check_categories(self)
        else:
            _check_numbers(self)

    @property
    def numeric(self) -> bool:
        """Whether the parameter's values are numbers."""
        return self.kind == "numeric"

    @property
    def constant(self) -> bool:
        """Whether the domain has only one value."""
        return len(self.values) == 1 or self.low == self.high

    @property
    def continuous(self) -> bool:
        """Whether the parameter may be any number between its bounds."""
        return self.numeric and not self.values

    def __contains__(self, value: object) -> bool:
        """Whether a value belongs to the domain; 2 and 2.0 are the same value."""
        if self.values:
            return not isinstance(value, bool) and value in self.values
        return is_number(value) and self.low <= value <= self.high


def numeric(name: str, values: Sequence[int | float]) -> Parameter:
    """A numeric parameter whose domain is these numbers, in any order, with or without repetition.

    >>> numeric("bi", [64, 16, 64]).values
    (16, 64)
    """
    return Parameter(name=name, kind="numeric", values=tuple(sorted(set(values))))


def interval(name: str, low: float, high: float) -> Parameter:
    """A numeric parameter that may be any number from ``low`` to ``high``."""
    return Parameter(name=name, kind="numeric", low=float(low), high=float(high))


def categorical(name: str, values: Sequence[str]) -> Parameter:
    """A categorical parameter with these values, in any order, with or without repetition."""
    return Parameter(name=name, kind="categorical", values=tuple(sorted(set(values))))


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a finite number; truth values are not numbers."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):  # faster than a union
        return False
    return abs(value) <= _LARGEST  # also of integers that no float holds; nan is not


def _check_categories(parameter: Parameter) -> None:
    name, texts = parameter.name, [v for v in parameter.values if isinstance(v, str)]
    if not texts or len(texts) != len(parameter.values):
        raise ValueError(f"{name}: a categorical parameter has text as values, at least one")
    if texts != sorted(set(texts)):
        raise ValueError(f"{name}: the values of a domain are sorted, each once")


def _check_numbers(parameter: Parameter) -> None:
    name, numbers = parameter.name, [v for v in parameter.values if is_number(v)]
    if len(numbers) != len(parameter.values):
        raise ValueError(f"{name}: a numeric parameter has finite numbers as values")
    if numbers:
        if numbers != sorted(set(numbers)):
            raise ValueError(f"{name}: the values of a domain ascend, each once")
        object.__setattr__(parameter, "low", float(numbers[0]))
        object.__setattr__(parameter, "high", float(numbers[-1]))
    if not (math.isfinite(parameter.low) and math.isfinite(parameter.high)):
        raise ValueError(f"{name}: a numeric parameter has values, or finite bounds")
    if parameter.high - parameter.low > _LARGEST:
        raise ValueError(f"{name}: from {parameter.low} to {parameter.high} is too wide for floats")
    if parameter.low > parameter.high:
        raise ValueError(f"{name}: from {parameter.low} to {parameter.high} there is nothing")
