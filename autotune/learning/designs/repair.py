"""The allowed row nearest to a point that constraints forbid."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from autotune.domain.tables.parameter import Parameter, Value
from autotune.learning.designs.design_domain import Component, Domain, drawn_part
from autotune.learning.designs.design_levels import position
from autotune.learning.designs.row_rules import Row, fulfils

_LOOKED_AT = 20_000
"""Neighbours of a point that are tried where the allowed ones are not listed."""
_OF_INTERVAL = 9
"""Values of an interval that are tried."""
_CHANGED = 2
"""Parameters that are changed at once where the allowed ones are not listed."""
_AT_MOST = 100_000
"""Neighbours of all points together: about a second."""
_SAMPLES, _TRIES = 500, 20_000
"""Random allowed rows that the others are moved to, and draws for them."""


@dataclass(slots=True)
class Repair:
    """Finds the allowed row nearest to a point.

    The distance is the sum over the parameters of the distance in their domains, by index from 0 to
    1 (by size in an interval); it is 1 between two categories. Of equally near rows the first of
    the domain is taken.

    Where there are too many allowed rows to list, the search covers rows with one or two values
    changed. If none of them is allowed, it takes the nearest of some random allowed rows, and puts
    back each value of the point that is allowed there.
    """

    domain: Domain
    _listed: dict[tuple[int, ...], NDArray[np.float64]] = field(default_factory=dict)
    _samples: dict[tuple[int, ...], list[Row]] = field(default_factory=dict)
    _left: int = _AT_MOST

    def nearest(self, point: Row) -> Row | None:
        """The allowed row nearest to a point; None where the search finds no allowed row."""
        parts = []
        for component in self.domain.components:
            part = self._part(component, self.domain.part(component, point))
            if part is None:
                return None
            parts.append(part)
        return self.domain.join(parts)

    def _part(self, component: Component, part: Row) -> Row | None:
        members = [self.domain.parameters[place] for place in component.places]
        names = [parameter.name for parameter in members]
        if _allowed(component, names, part):
            return part
        if component.rows is None:
            return self._neighbour(members, component, part) or self._towards(
                members, component, part
            )
        if component.places not in self._listed:
            self._listed[component.places] = _positions(members, component.rows)
        return component.rows[_closest(members, self._listed[component.places], part)]

    def _neighbour(
        self, members: Sequence[Parameter], component: Component, part: Row
    ) -> Row | None:
        """The nearest allowed combination with one or two values changed; None where none is found
        within the limit of tries.
        """
        if self._left <= 0:
            return None
        names = [parameter.name for parameter in members]
        for row, _ in zip(_neighbours(members, part), range(_LOOKED_AT), strict=False):
            self._left -= 1
            if _allowed(component, names, row):
                return row
        return None

    def _towards(self, members: Sequence[Parameter], component: Component, part: Row) -> Row | None:
        """A random allowed combination, moved towards the point by putting back the point's values
        one by one.
        """
        if component.places not in self._samples:
            self._samples[component.places] = self._drawn(component)
        samples = self._samples[component.places]
        if not samples:
            return None
        names = [parameter.name for parameter in members]
        row = samples[_closest(members, _positions(members, samples), part)]
        for place, value in enumerate(part):
            nearer = (*row[:place], value, *row[place + 1 :])
            row = nearer if _allowed(component, names, nearer) else row
        return row

    def _drawn(self, component: Component) -> list[Row]:
        rng, tries = np.random.default_rng(0), _TRIES
        rows: list[Row] = []
        while tries > 0 and len(rows) < _SAMPLES:
            row, used = drawn_part(self.domain.parameters, component, rng, tries)
            tries -= used + 1
            if row is not None:
                rows.append(row)
        return rows


def _allowed(component: Component, names: Sequence[str], row: Row) -> bool:
    values = dict(zip(names, row, strict=True))
    return all(fulfils(rule, values) for rule in component.rules)


def _closest(parameters: Sequence[Parameter], positions: NDArray[np.float64], part: Row) -> int:
    """The index of the position nearest to a row."""
    gap = np.abs(positions - _positions(parameters, [part]))
    text = np.array([not parameter.numeric for parameter in parameters])
    return int(np.where(text & (gap > 0), 1.0, gap).sum(axis=1).argmin())


def _positions(parameters: Sequence[Parameter], rows: Sequence[Row]) -> NDArray[np.float64]:
    """The positions of values in their domains, (n, parameters), each from 0 to 1."""
    columns = []
    for i, parameter in enumerate(parameters):
        position_of = {value: position(parameter, value) for value in {row[i] for row in rows}}
        columns.append([position_of[row[i]] for row in rows])
    return np.array(columns, dtype=np.float64).T


def _neighbours(parameters: Sequence[Parameter], part: Row) -> Iterator[Row]:
    """Rows with one value changed, then rows with two values changed; the nearest first in each
    group.
    """
    for changed in range(1, _CHANGED + 1):
        nearby: list[tuple[float, Row]] = []
        for places in combinations(range(len(parameters)), changed):
            others = [_others(parameters[place], part[place]) for place in places]
            for choice in product(*others):
                row = list(part)
                for place, (_, value) in zip(places, choice, strict=True):
                    row[place] = value
                nearby.append((sum(distance for distance, _ in choice), tuple(row)))
                if len(nearby) >= _LOOKED_AT:
                    break
        yield from (row for _, row in sorted(nearby, key=lambda distant: distant[0]))


def _others(parameter: Parameter, value: Value) -> list[tuple[float, Value]]:
    """The other values of a parameter with their distances from the given value."""
    if parameter.continuous:
        steps = np.linspace(parameter.low, parameter.high, _OF_INTERVAL)
        values: list[Value] = [float(step) for step in steps]
    else:
        values = list(parameter.values)
    here = position(parameter, value)
    return [
        (1.0 if not parameter.numeric else abs(position(parameter, other) - here), other)
        for other in values
        if other != value
    ]
