"""Allowed combinations of parameter values: a condition on parameters of any name."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from autotune.domain.tables.parameter import Value
from autotune.language.constraint import Condition


@dataclass(frozen=True, slots=True)
class ParameterConstraint:
    """A condition that every row fulfils, in the language of ``autotune.language.constraint``.

    ``aliases``: pairs of a name in the condition and the parameter that it stands for, for
    parameters whose own name is not an identifier. Raises ValueError, with the faulty part, for
    text outside the language.

    >>> ParameterConstraint("bi * bj <= 1024").holds({"bi": 64, "bj": 32})
    False
    """

    text: str
    aliases: tuple[tuple[str, str], ...] = ()
    fixed: tuple[tuple[str, Value], ...] = ()
    """Values of parameters that do not vary, and need not be given."""
    _condition: Condition = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_condition", Condition(self.text))

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters in the condition, without those that are fixed."""
        named, fixed = dict(self.aliases), dict(self.fixed)
        every = (named.get(name, name) for name in self._condition.names)
        return tuple(name for name in every if name not in fixed)

    def holds(self, values: Mapping[str, Value]) -> bool:
        """Whether values, given by parameter, fulfil the condition.

        ValueError, in words, if a parameter is missing or the condition is neither true nor false.
        """
        all_values = {**dict(self.fixed), **values}
        more = {alias: all_values[name] for alias, name in self.aliases if name in all_values}
        return self._condition.holds({**all_values, **more})

    def fix(self, values: Mapping[str, Value]) -> "ParameterConstraint":
        """The same constraint with given parameters fixed; others than its own are ignored."""
        mine = {name: values[name] for name in self.names if name in values}
        return replace(self, fixed=(*self.fixed, *mine.items()))

    def __str__(self) -> str:
        named = dict(self.aliases)
        return re.sub(r"\w+", lambda match: named.get(match.group(), match.group()), self.text)
