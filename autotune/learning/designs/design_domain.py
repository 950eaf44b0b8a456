"""The space that a design chooses from: parameters and the allowed combinations of their values.

    parameters  a b c d e        constraints  a * b <= 64, c != "x" or b > 2
    components  {a b c} {d} {e}  tied together by constraints, so free of one another

The allowed combinations of each component are listed where that is possible. Then the allowed
rows are the product of these lists: they are counted and drawn from exactly, however many.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.parameter_space import RowRule
from autotune.errors import Fault, InputError, unknown_name
from autotune.learning.designs.allowed_listing import listed, size_of
from autotune.learning.designs.row_rules import Row, fulfils
from autotune.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A group of parameters that constraints tie together.

    ``rows``: the allowed combinations of their values, the last parameter varying fastest; None
    where there are too many to list, or where a parameter is an interval.
    """

    places: tuple[int, ...]
    rules: tuple[RowRule, ...]
    rows: tuple[Row, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """Parameters and constraints, split into independent components; InputError where no
    combination is allowed.
    """

    parameters: tuple[Parameter, ...]
    rules: tuple[RowRule, ...] = ()
    components: tuple[Component, ...] = field(init=False)
    progress: Progress | None = field(default=None, compare=False, repr=False)
    """Told while combinations are listed, and by designs that look at many."""

    def __post_init__(self) -> None:
        _check(self.parameters, self.rules)
        components = tuple(_components(self.parameters, self.rules, self.progress))
        object.__setattr__(self, "components", components)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of the values of a row."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def varied(self) -> tuple[int, ...]:
        """The places of the parameters that have more than one value."""
        return tuple(i for i, parameter in enumerate(self.parameters) if not parameter.constant)

    @property
    def combinations(self) -> int | None:
        """The number of combinations of values, allowed or not; None where a parameter is an
        interval.
        """
        return size_of(self.parameters)

    @property
    def count(self) -> int | None:
        """The number of allowed combinations; None where it is not known."""
        total = 1
        for component in self.components:
            if component.rows is None:
                return None
            total *= len(component.rows)
        return total

    def values(self, row: Row) -> dict[str, Value]:
        """The values of one row by parameter."""
        return dict(zip(self.names, row, strict=True))

    def allows(self, row: Row) -> bool:
        """Whether a row fulfils every constraint."""
        values = self.values(row)
        return all(fulfils(rule, values) for rule in self.rules)

    def __iter__(self) -> Iterator[Row]:
        """Every allowed row, component by component; ValueError where the allowed rows are not
        counted.
        """
        listed = [component.rows for component in self.components if component.rows is not None]
        if len(listed) < len(self.components):
            raise ValueError("the allowed combinations are not listed")
        for parts in product(*listed):
            yield self.join(parts)

    def join(self, parts: Sequence[Row]) -> Row:
        """The row made of one combination of each component."""
        row: list[Value] = [0] * len(self.parameters)
        for component, part in zip(self.components, parts, strict=True):
            for place, value in zip(component.places, part, strict=True):
                row[place] = value
        return tuple(row)

    def part(self, component: Component, row: Row) -> Row:
        """The values of a row that belong to one component."""
        return tuple(row[place] for place in component.places)

    def draw(self, rng: np.random.Generator, tries: int) -> tuple[Row | None, int]:
        """A random allowed row and the number of tries that it took; all rows are equally likely.

        Components that are not listed are drawn until they are allowed. The row is None after
        ``tries`` failed draws.
        """
        parts, used = [], 1
        for component in self.components:
            if component.rows is not None:
                parts.append(component.rows[int(rng.integers(len(component.rows)))])
                continue
            part, more = drawn_part(self.parameters, component, rng, tries - used)
            used += more
            if part is None:
                return None, used
            parts.append(part)
        return self.join(parts), used


def _check(parameters: Sequence[Parameter], rules: Sequence[RowRule]) -> None:
    names = [parameter.name for parameter in parameters]
    if not names:
        raise InputError(Fault(where="", found="no parameters", expected="at least one"))
    if len(set(names)) < len(names):
        again = sorted({name for name in names if names.count(name) > 1})
        found = f"two parameters named {', '.join(again)}"
        raise InputError(Fault(where="", found=found, expected="each name once"))
    for rule in rules:
        for name in rule.names:
            if name not in names:
                raise InputError(unknown_name(f"constraint {rule}", "parameter", name, names))


def _components(
    parameters: Sequence[Parameter], rules: Sequence[RowRule], progress: Progress | None
) -> Iterator[Component]:
    places = {parameter.name: place for place, parameter in enumerate(parameters)}
    for rule in rules:
        if not rule.names and not fulfils(rule, {}):
            raise _nothing([rule])
    group = {place: {place} for place in range(len(parameters))}
    for rule in rules:
        tied = set().union(*(group[places[name]] for name in rule.names))
        for place in tied:
            group[place] = tied
    for first in range(len(parameters)):
        if min(group[first]) < first:
            continue
        together = tuple(sorted(group[first]))
        component_rules = tuple(
            rule for rule in rules if rule.names and places[rule.names[0]] in together
        )
        rows = listed([parameters[place] for place in together], component_rules, progress)
        if rows is not None and not rows:
            raise _nothing(component_rules)
        yield Component(places=together, rules=component_rules, rows=rows)


def _nothing(rules: Sequence[RowRule]) -> InputError:
    return InputError(
        Fault(
            where="constraints",
            found="no combination of the values is allowed",
            expected="at least one",
            hint="; ".join(str(rule) for rule in rules[:3]),
        )
    )


def drawn_part(
    parameters: Sequence[Parameter], component: Component, rng: np.random.Generator, tries: int
) -> tuple[Row | None, int]:
    """A random allowed combination of one component and the number of tries that it took.

    All combinations are equally likely. The combination is None after ``tries`` failed draws.
    """
    members = [parameters[place] for place in component.places]
    names = [parameter.name for parameter in members]
    for used in range(tries + 1):
        row = tuple(drawn_value(parameter, float(rng.random())) for parameter in members)
        values = dict(zip(names, row, strict=True))
        if all(fulfils(rule, values) for rule in component.rules):
            return row, used
    return None, max(tries, 0)


def drawn_value(parameter: Parameter, unit: float) -> Value:
    """The value of a parameter at ``unit``, a number in [0, 1); every value has an equal share of
    [0, 1).

    >>> from autotune.domain.tables.parameter import numeric
    >>> drawn_value(numeric("bi", [16, 32, 64]), 0.5)
    32
    """
    if parameter.continuous:
        return parameter.low + unit * (parameter.high - parameter.low)
    return parameter.values[min(int(unit * len(parameter.values)), len(parameter.values) - 1)]
