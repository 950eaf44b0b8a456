"""The space of a design of experiments: parameters, and which combinations are allowed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from autotune.domain.tables.parameter import Parameter, Value


class RowRule(Protocol):
    """A rule that every allowed row fulfils, such as
    ``parameter_constraint.ParameterConstraint``.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters that the rule constrains."""

    def holds(self, values: Mapping[str, Value]) -> bool:
        """Whether values, given by parameter, fulfil the rule; ValueError if that is undefined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignSpace:
    """Parameters with their domains, and which combinations are allowed."""

    name: str
    source: str
    """The file, and what it is."""
    parameters: tuple[Parameter, ...]
    rules: tuple[RowRule, ...] = ()
    notes: tuple[str, ...] = ()
    """What was done to read it, in words."""

    def __post_init__(self) -> None:
        if not self.parameters:
            raise ValueError("a space has parameters")
