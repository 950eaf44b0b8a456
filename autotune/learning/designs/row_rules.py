"""Rules that decide which rows are allowed: constraints, and membership in a list of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autotune.domain.tables.parameter import Value
from autotune.domain.tables.parameter_space import RowRule
from autotune.errors import Fault, InputError

Row = tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The rule that only the listed rows are allowed: those of a table, or the candidates of a
    study.
    """

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    _members: frozenset[Row] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_members", frozenset(self.rows))

    def holds(self, values: Mapping[str, Value]) -> bool:
        """Whether these values form one of the listed rows."""
        return tuple(values[name] for name in self.names) in self._members

    def __str__(self) -> str:
        return f"one of {len(self._members)} given rows"


def only_listed(rules: Sequence[RowRule]) -> bool:
    """Whether the only rules are lists of rows: then a point is not forbidden, but not listed."""
    return bool(rules) and all(isinstance(rule, Members) for rule in rules)


def fulfils(rule: RowRule, values: Mapping[str, Value]) -> bool:
    """Whether values fulfil a rule; InputError, with the values, where the rule cannot be
    evaluated.
    """
    try:
        return rule.holds(values)
    except ValueError as error:
        given = ", ".join(f"{name}={values[name]}" for name in rule.names if name in values)
        raise InputError(
            Fault(
                where=f"constraint {rule}",
                found=f"{error} for {given}",
                expected="true or false for all values of the parameters",
            )
        ) from error
