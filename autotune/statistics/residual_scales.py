"""The residuals of a model by the value of each parameter, which show where the model is wrong."""

import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.stats

from autotune.language.constraint import Value
from autotune.statistics.distributions import student

SHARE = 0.9
"""The intervals hold the mean with this probability."""
_FEWEST = 4
"""Fewer candidates with or without a value do not tell what it stands for: their spread, which the
test rests on, is as often far too small by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One candidate that was both predicted and measured."""

    parameters: Mapping[str, Value]
    residual: float
    """log(measured / predicted): positive where the model is too fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualFactor:
    """Measured over predicted time of the candidates that share one value of a parameter."""

    parameter: str
    value: Value
    factor: float
    """Geometric mean."""
    interval: tuple[float, float] | None
    """90 %; None for a single candidate."""
    candidates: int
    excess: float
    """This factor over that of all other candidates."""
    clear: bool
    """More than chance, all values of all parameters considered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """The mean of log(measured / predicted) over the candidates that share one value of a
    parameter.
    """

    parameter: str
    value: Value
    mean: float
    interval: tuple[float, float] | None
    """90 %, of Student's t; None for a single candidate."""
    candidates: int
    excess: float
    """This mean over that of all the others: what this value stands for in the model's error."""
    chance: float
    """That values without any influence give such an excess (Welch 1947); 1 for single ones."""
    clear: bool = False
    """More than chance, with all the values that were looked at counted (Bonferroni), and of enough
    candidates with the value and without it."""

    @property
    def factor(self) -> float:
        """Measured over predicted time, as a geometric mean over the candidates."""
        return math.exp(self.mean)

    @property
    def factors(self) -> ResidualFactor:
        """The residual as a factor in place of a logarithm."""
        low, high = self.interval or (0.0, 0.0)
        return ResidualFactor(
            parameter=self.parameter,
            value=self.value,
            factor=self.factor,
            interval=(math.exp(low), math.exp(high)) if self.interval else None,
            candidates=self.candidates,
            excess=math.exp(self.excess),
            clear=self.clear,
        )


def by_parameter(observed: Sequence[Observed]) -> tuple[Residual, ...]:
    """A residual for each value of each parameter that has several, in the order of first
    appearance.

    Parameters that were varied together cannot be told apart: the measured candidates are no
    designed experiment.
    """
    names = list(dict.fromkeys(name for residual in observed for name in residual.parameters))
    all_of_them = [group for name in names for group in _of(name, observed)]
    tests = sum(group.chance < 1 for group in all_of_them)
    counts = Counter(name for residual in observed for name in residual.parameters)

    def clear(r: Residual) -> bool:
        enough = _FEWEST <= r.candidates <= counts[r.parameter] - _FEWEST
        return enough and r.chance < 1 and r.chance * tests < 1 - SHARE

    return tuple(replace(r, clear=clear(r)) for r in all_of_them)


def worst(residuals: Sequence[Residual], count: int) -> tuple[Residual, ...]:
    """The values with the largest clear excess, at most ``count``, largest first.

    The two values of a two-valued parameter carry the same information, so only the one with the
    larger residual is returned.
    """
    clear = [r for r in residuals if r.clear]
    clear.sort(key=lambda r: (-abs(r.excess), -abs(r.mean)))
    kept: list[Residual] = []
    for group in clear:
        values = sum(r.parameter == group.parameter for r in residuals)
        if values > 2 or all(r.parameter != group.parameter for r in kept):
            kept.append(group)
    return tuple(kept[:count])


def _of(name: str, observed: Sequence[Observed]) -> Iterator[Residual]:
    # True == 1 as a key: types tell such values apart
    groups: dict[tuple[str, Value], list[float]] = {}
    for residual in observed:
        if name in residual.parameters:
            value = residual.parameters[name]
            groups.setdefault((type(value).__name__, value), []).append(residual.residual)
    if len(groups) < 2:
        return
    for key, group in sorted(groups.items(), key=lambda item: _order(item[0][1])):
        others = [r for other, residuals in groups.items() if other != key for r in residuals]
        yield Residual(
            parameter=name,
            value=key[1],
            mean=float(np.mean(group)),
            interval=_interval(group),
            candidates=len(group),
            excess=float(np.mean(group) - np.mean(others)),
            chance=_chance(group, others),
        )


def _order(value: Value) -> tuple[int, float, str]:
    """The sort key of a value: absent values and truth values first, then numbers by size, then
    words.
    """
    if value is None or isinstance(value, bool):
        return 0, float(bool(value)), ""
    return (2, 0.0, value) if isinstance(value, str) else (1, float(value), "")


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    if len(values) < 2:
        return None
    mean, error = float(np.mean(values)), float(scipy.stats.sem(values))
    half = error * student(len(values) - 1, SHARE)
    return mean - half, mean + half


def _chance(values: Sequence[float], others: Sequence[float]) -> float:
    if min(len(values), len(others)) < 2:
        return 1.0
    if np.ptp(values) == 0 and np.ptp(others) == 0:
        return 1.0 if values[0] == others[0] else 0.0
    with warnings.catch_warnings():
        # a group whose values are nearly the same: its spread is lost in rounding, and is nothing
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(scipy.stats.ttest_ind(values, others, equal_var=False).pvalue)
