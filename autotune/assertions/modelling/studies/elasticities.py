"""How strongly totals follow variables: elasticities d ln f / d ln x, and growth at 2x and 10x.

The derivative is a quotient of differences between the nearest valid values below and above, within
a factor of two where there are any: for powers of two from half to twice.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.assertions.modelling import variable_domains
from autotune.assertions.modelling.binding import ModelBinding, neighbours, valid
from autotune.assertions.modelling.parsed_model import ParsedModel
from autotune.assertions.modelling.studies.scaling_study import number
from autotune.assertions.modelling.tree_walk import METRICS, Metric, rank_counts
from autotune.domain.assertion_record import Count
from autotune.language.counts import Value
from autotune.units import Unbounded

FACTORS = (2, 10)
"""Alam and Vetter 2006, figures 15 and 16, show x1 to x10."""
_STEP = 0.01
"""A whole or real variable changes by about so much to either side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalGrowth:
    """A total for a larger variable."""

    factor: float
    """Of the variable: the nearest valid one to 2 or 10."""
    ratio: Unbounded
    """Of the total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elasticity:
    """How a total of one rank follows one variable, the others unchanged."""

    variable: str
    metric: Metric
    low: Count
    high: Count
    """The values between which the difference was taken."""
    elasticity: Unbounded
    """d ln f / d ln x: 1 is proportional; not a number where a total is 0 at an end."""
    growth: tuple[TotalGrowth, ...]


def elasticities(
    binding: ModelBinding, rank: int = 0, variables: Sequence[str] = ()
) -> tuple[Elasticity, ...]:
    """The elasticity of every total that is not 0 by every input that may vary, the largest first.

    Inputs that are 0, and those without another valid value, are left out.
    """
    results = []
    here = {m: t for m, t in _totals(binding, binding.given, rank).items() if t}
    for name in variables or binding.model.inputs:
        ends = _ends(binding, name)
        if ends is None:
            continue
        below, above = (_totals(binding, {**binding.given, name: end}, rank) for end in ends)
        larger = {
            value: _totals(binding, {**binding.given, name: value}, rank)
            for factor in FACTORS
            if (value := _near(binding, name, factor)) is not None
        }
        for metric, total in here.items():
            growth = tuple(
                TotalGrowth(
                    factor=float(value / binding.given[name]),
                    ratio=_ratio(totals[metric], total),
                )
                for value, totals in larger.items()
            )
            change = _ratio(above[metric], below[metric])
            slope = math.log(change) / math.log(ends[1] / ends[0]) if change > 0 else math.nan
            results.append(
                Elasticity(
                    variable=name,
                    metric=metric,
                    low=number(ends[0]),
                    high=number(ends[1]),
                    elasticity=slope,
                    growth=growth,
                )
            )
    return tuple(sorted(results, key=lambda e: (list(here).index(e.metric), -abs(e.elasticity))))


def _totals(binding: ModelBinding, values: Mapping[str, Value], rank: int) -> dict[Metric, Value]:
    bound = ModelBinding(model=binding.model, given=values)
    counts = rank_counts(bound, min(rank, bound.ranks - 1))
    return {metric: counts[metric] for metric in METRICS}


def _ratio(over: Value, under: Value) -> float:
    return float(over) / float(under) if under else math.nan


def _ends(binding: ModelBinding, name: str) -> tuple[Value, Value] | None:
    """Two valid values around that of a variable; None where there is no second one."""
    value = binding.given[name]
    if value <= 0:
        return None
    low, high = (_stepped(binding, name, factor) for factor in (1 - _STEP, 1 + _STEP))
    low, high = low if low is not None else value, high if high is not None else value
    return (low, high) if 0 < low < high else None


def _stepped(binding: ModelBinding, name: str, factor: float) -> Value | None:
    """The nearest valid value beyond a factor, on the side of the factor."""
    model, value = binding.model, binding.given[name]
    domain = domain_of(model, name, value)
    if not domain.discrete:
        moved = float(value) * factor
        return moved if valid(model, {**binding.given, name: moved}) else None
    edge = (
        min(value - 1, int(value * factor) + 1)
        if factor < 1
        else max(value + 1, int(value * factor))
    )
    candidates = domain.down(edge + 1) if factor < 1 else domain.up(edge - 1)
    return next((v for v in candidates if v > 0 and valid(model, {**binding.given, name: v})), None)


def domain_of(model: ParsedModel, name: str, value: Value) -> variable_domains.VariableDomain:
    """The domain of a variable; whole numbers where none is stated and the value is whole."""
    stated = model.domains.get(name)
    if stated is not None:
        return stated
    return variable_domains.domain("whole" if isinstance(value, int) else "")


def _near(binding: ModelBinding, name: str, factor: int) -> Value | None:
    """The valid value that is nearest to a multiple; None where it is not nearer to it than 1x."""
    target = binding.given[name] * factor
    values = {**binding.given, name: target}
    if valid(binding.model, values):
        return target
    choices = neighbours(binding.model, values, name)
    larger = [value for value in choices if value > binding.given[name]]
    return min(larger, key=lambda value: abs(float(value - target)), default=None)
