"""Parameter values as levels, and the distances between the levels of a parameter."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from autotune.tuning.search.points import Floats, Indices, Setting


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParameterLevels:
    """The rows of a search as level numbers, (n, p), with a distance table for each parameter.

    ``tables``: squared distances between the levels of a parameter, (m, m), the largest about 1.
    Numbers lie at the index of their sorted values, evenly in [0, 1]. Truth values and texts are
    one-hot, all equally far apart. Texts among numbers (``none``) are far from all numbers.
    """

    index: Indices
    tables: tuple[Floats, ...]

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return len(self.tables)

    @property
    def sizes(self) -> list[int]:
        """The number of levels of each parameter."""
        return [len(table) for table in self.tables]

    @property
    def starts(self) -> Indices:
        """The index at which each table begins when all are flattened and concatenated."""
        return np.cumsum([0, *(size**2 for size in self.sizes[:-1])], dtype=np.intp)

    def indicator(self, rows: Indices) -> sparse.csr_array:
        """One-hot rows, (len(rows), sum of sizes), which select levels from stacked table rows."""
        offsets = np.cumsum([0, *self.sizes[:-1]])
        places = (self.index[rows] + offsets).ravel()
        bounds = np.arange(len(rows) + 1) * self.parameters
        shape = (len(rows), sum(self.sizes))
        return sparse.csr_array((np.ones(len(places)), places, bounds), shape=shape)

    def changes(self, row: int, rows: Indices) -> Indices:
        """The number of parameters in which each of ``rows`` differs from ``row``."""
        differ: Indices = (self.index[rows] != self.index[row]).sum(axis=1, dtype=np.intp)
        return differ


def levels(rows: Sequence[Sequence[Setting]]) -> ParameterLevels:
    """The levels of a list of rows; parameters with a single value are left out.

    >>> both = levels([(8, "a"), (64, "b"), (16, "a")])
    >>> both.index.tolist(), both.tables[0][0].tolist()
    ([[0, 0], [2, 1], [1, 0]], [0.0, 0.25, 1.0])
    """
    index, tables = [], []
    for column in zip(*rows, strict=True):
        distinct = sorted(set(map(_typed, column)), key=_order)
        if len(distinct) > 1:
            place, distinct = _placed(distinct)
            index.append([place[_typed(value)] for value in column])
            tables.append(_table(distinct))
    if not tables:  # one candidate, or none: a parameter that says nothing
        index, tables = [[0] * len(rows)], [np.zeros((1, 1))]
    return ParameterLevels(index=np.array(index, dtype=np.intp).T, tables=tuple(tables))


_MOST = 128
"""Levels of the numbers of a parameter; of more numbers, neighbours share one."""


Typed = tuple[bool, Setting]
"""Whether a value is a number, and the value: True is not 1."""


def _typed(value: Setting) -> Typed:
    return isinstance(value, int | float) and not isinstance(value, bool), value


def _order(typed: Typed) -> tuple[bool, float, str]:
    number, value = typed
    return number, float(value) if number and value is not None else 0.0, str(value)


def _placed(distinct: Sequence[Typed]) -> tuple[dict[Typed, int], list[Typed]]:
    """The level of each value, and a value of each level; the values are in order."""
    flags = sum(not number for number, _ in distinct)
    numbers = len(distinct) - flags
    share = min(1.0, (_MOST - 1) / max(numbers - 1, 1))
    places = [*range(flags), *(flags + round(share * k) for k in range(numbers))]
    first = {place: value for value, place in reversed(list(zip(distinct, places, strict=True)))}
    return dict(zip(distinct, places, strict=True)), [first[place] for place in sorted(first)]


def _table(distinct: Sequence[Typed]) -> Floats:
    numbers = sum(number for number, _ in distinct)
    flags = len(distinct) - numbers  # the values that are not numbers come first
    place = np.arange(len(distinct)) - flags
    scaled = np.where(place >= 0, place / max(numbers - 1, 1), 0.5)
    apart = np.eye(len(distinct)) * np.sqrt(0.5)
    apart[flags:, flags:] = 0.0
    if flags and numbers:
        apart[flags:, flags] = np.sqrt(0.5)
    squares = (apart**2).sum(axis=1)
    table: Floats = squares[:, None] + squares[None] - 2 * apart @ apart.T
    table += (scaled[:, None] - scaled[None]) ** 2
    return table
