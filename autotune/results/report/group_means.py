"""The effect of a parameter's values on measured times, among candidates otherwise alike.

Candidates that agree in all other parameters form a block. Values are compared within blocks. Two
values that never occur in one block are compared through values that occur with both (intra-block
analysis of incomplete block designs, Yates 1936). If two values are not linked in this way, blocks
agree only in the other parameters that are known to matter. If they are still not linked, one block
holds all candidates. Then the difference is that of the geometric means, which shows a direction
and proves nothing.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from autotune.domain.tables.parameter import Value
from autotune.domain.tables.table import MeasurementTable
from autotune.learning.models.base import Floats
from autotune.statistics.distributions import student

LEVEL = 0.99
"""Of the intervals, two-sided, where one parameter is asked about."""
_LINKED = 1e-9
"""Of a contrast, what may be missing of it in the span of the blocks' differences."""
_FEW = 3
"""So many candidates for each value of a number can show what another parameter does beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDifference:
    """A difference of mean log2 times, and half of its interval.

    The interval is infinite for too few candidates. ``balanced``: the difference is among
    candidates alike in what matters. Otherwise another parameter may cause it, and it never counts
    as more than chance.

    >>> difference = GroupDifference(mean=1.0, half=0.5)
    >>> difference.clear, difference.holds(1.6)
    (True, False)
    """

    mean: float
    half: float
    balanced: bool = True

    @property
    def clear(self) -> bool:
        """Whether the difference is larger than half of its interval, so not just chance."""
        return self.balanced and abs(self.mean) > self.half

    def holds(self, change: float) -> bool:
        """Whether a change lies within the interval of the difference."""
        return abs(change - self.mean) <= self.half


@dataclass(frozen=True)
class _Blocks:
    """Log times grouped in blocks, for the effect of each value within the blocks."""

    logs: Floats
    codes: NDArray[np.intp]
    block: NDArray[np.intp]
    balanced: bool
    level: float
    """Of the intervals."""

    @cached_property
    def _counts(self) -> Floats:
        """(blocks, values) how many candidates of each block have each value."""
        counts = np.zeros((int(self.block.max()) + 1, int(self.codes.max()) + 1))
        np.add.at(counts, (self.block, self.codes), 1.0)
        return counts

    @cached_property
    def _information(self) -> Floats:
        """(values, values) the matrix of the intra-block normal equations."""
        of_block = self._counts.sum(axis=1)
        spread = np.diag(self._counts.sum(axis=0))
        return np.asarray(spread - self._counts.T @ (self._counts / of_block[:, None]))

    @cached_property
    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.pinv(self._information, rcond=1e-9, hermitian=True))

    @cached_property
    def _within(self) -> Floats:
        """(n,) the log times minus the mean of their block."""
        return self._centred(self.logs)

    def _centred(self, numbers: Floats) -> Floats:
        of_block = self._counts.sum(axis=1)
        means = np.bincount(self.block, numbers, len(of_block)) / of_block
        return np.asarray(numbers - means[self.block])

    @cached_property
    def _solved(self) -> tuple[Floats, float, int]:
        """The effects of the values, the residual sum of squares, its degrees of freedom."""
        blocks, values = self._counts.shape
        within = self._within
        totals = np.bincount(self.codes, within, values)
        effects = self._inverse @ totals
        rank = int(np.linalg.matrix_rank(self._information, tol=1e-9, hermitian=True))
        rest = max(0.0, float(within @ within - effects @ totals))
        return effects, rest, len(self.logs) - blocks - rank

    def change(self, start: int, to: int) -> GroupDifference | None:
        """The difference of mean log times between two values; None if they are not linked."""
        contrast = np.zeros(self._counts.shape[1])
        contrast[[start, to]] = -1.0, 1.0
        solved = self._inverse @ contrast
        if float(np.abs(self._information @ solved - contrast).max()) > _LINKED:
            return None
        effects, rest, freedom = self._solved
        half = math.inf
        if freedom > 0:
            error = math.sqrt(max(0.0, float(contrast @ solved)) * rest / freedom)
            half = error * student(freedom, self.level)
        return GroupDifference(mean=float(contrast @ effects), half=half, balanced=self.balanced)

    def varies(self, numbers: Floats) -> bool:
        """Whether numbers, (n,), differ within a block."""
        at = self._centred(numbers)
        return float(at @ at) >= _LINKED

    def trend(self, numbers: Floats) -> GroupDifference | None:
        """Rise of the least-squares line over numbers, (n,), from 0 to 1; None if all are equal."""
        at = self._centred(numbers)
        weight = float(at @ at)
        freedom = len(at) - len(self._counts) - 1
        if weight < _LINKED or freedom <= 0:
            return None
        slope = float(at @ self._within) / weight
        rest = self._within - slope * at
        error = math.sqrt(float(rest @ rest) / freedom / weight)
        return GroupDifference(mean=slope, half=error * student(freedom, self.level))


@dataclass(frozen=True, slots=True)
class GroupMeans:
    """Mean times for the values of a parameter, balanced over the other parameters."""

    values: dict[Value, int]
    tiers: tuple[_Blocks, ...]

    @classmethod
    def of(
        cls,
        table: MeasurementTable,
        name: str,
        matters: Collection[str],
        where: tuple[str, Value] | None = None,
        level: float = LEVEL,
    ) -> "GroupMeans":
        """The group means of a table, or of its rows where another parameter has a value.

        ``matters``: the parameters that blocks agree in if agreement in all parameters links no
        values. ``level``: of the intervals.
        """
        names = table.inputs.names
        place, rows = table.inputs.place(name), list(enumerate(table.inputs.rows))
        if where is not None:
            other = table.inputs.place(where[0])
            rows = [(n, row) for n, row in rows if row[other] == where[1]]
        values: dict[Value, int] = {}
        codes = np.array([values.setdefault(row[place], len(values)) for _, row in rows], np.intp)
        logs = np.log2(table.response[[n for n, _ in rows]])
        tiers = []
        for agree, balanced in ((names, True), (tuple(matters), True), ((), False)):
            kept = [
                k
                for k, parameter_name in enumerate(names)
                if parameter_name in agree and k != place
            ]
            blocks: dict[tuple[Value, ...], int] = {}
            block = [blocks.setdefault(tuple(r[k] for k in kept), len(blocks)) for _, r in rows]
            tiers.append(_Blocks(logs, codes, np.array(block, np.intp), balanced, level))
        return cls(values, tuple(tiers))

    def change(self, start: Value, to: Value) -> GroupDifference | None:
        """The difference from one value to another, in the strictest blocks that link them.

        None if no blocks link them. A difference with a finite interval takes precedence over one
        with too few candidates. Between the ends of a range of numbers without repetition it is the
        rise of the line through all values.
        """
        if start not in self.values or to not in self.values:
            return None
        linked = [tier.change(self.values[start], self.values[to]) for tier in self.tiers]
        linked.insert(-1, self._trend(start, to))
        changes = [change for change in linked if change is not None]
        balanced_change = next((c for c in changes if c.balanced and math.isfinite(c.half)), None)
        return balanced_change or self._trend(start, to) or (changes[0] if changes else None)

    def _trend(self, start: Value, to: Value) -> GroupDifference | None:
        numbers = [float(v) for v in self.values if not isinstance(v, str)]
        if isinstance(start, str) or isinstance(to, str) or len(numbers) < len(self.values):
            return None
        low, high = float(start), float(to)
        if (low, high) != (min(numbers), max(numbers)) or low == high:
            return None
        scaled = np.log2(numbers) if low > 0 else np.array(numbers)
        share = (scaled - scaled.min()) / (scaled.max() - scaled.min())
        lines = (tier.trend(share[tier.codes]) for tier in self.tiers if tier.balanced)
        return next((line for line in lines if line is not None), None)

    def fastest(self) -> Value:
        """The value with the least mean time, by its mean difference from each other value."""
        return min(self.values, key=self._behind)

    def _behind(self, value: Value) -> float:
        changes = (self.change(other, value) for other in self.values if other != value)
        means = [change.mean for change in changes if change is not None]
        return round(float(np.mean(means or [0.0])), 9)  # equal ones stay in their order


def confounded(table: MeasurementTable, name: str, start: Value, to: Value) -> tuple[str, ...]:
    """The parameters that changed together with this one, so that what it does between two values
    and what they do are not told apart: no candidates alike in one of them show the change.
    """
    columns = dict(zip(table.inputs.names, zip(*table.inputs.rows, strict=True), strict=True))
    values = list(dict.fromkeys(columns[name]))
    codes = np.array([values.index(value) for value in columns[name]], np.intp)
    numbers = [float(v) for v in columns[name] if not isinstance(v, str)]
    together = []
    for other in columns.keys() - {name}:
        block = _few_groups(columns[other])
        blocks = _Blocks(np.log2(table.response), codes, block, balanced=True, level=LEVEL)
        along = len(numbers) == len(codes) and blocks.varies(np.array(numbers))
        if not along and blocks.change(values.index(start), values.index(to)) is None:
            together.append(other)
    return tuple(sorted(together, key=table.inputs.names.index))


def _few_groups(column: Sequence[Value]) -> NDArray[np.intp]:
    """(n,) the group of each value: equal ones, or of many different numbers the two halves."""
    numbers = [float(value) for value in column if not isinstance(value, str)]
    if len(numbers) == len(column) and _FEW * len(set(numbers)) > len(numbers):
        ordered, middle = np.array(numbers), np.median(numbers)
        above = ordered > middle
        return np.asarray(above if above.any() else ordered >= middle, np.intp)
    values = list(dict.fromkeys(column))
    return np.array([values.index(value) for value in column], np.intp)
