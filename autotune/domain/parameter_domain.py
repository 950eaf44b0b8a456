"""What a parameter of a program can be: one of some values, or flags of a compiler that are set."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations
from typing import Literal

from autotune.language.constraint import Condition, Value

DomainKind = Literal["choice", "ordered", "permutation"]
LONGEST_ORDER = 8
"""Things that a permutation puts in order, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterDomain:
    """The values of a parameter.

    ``ordered``: texts that lie between their neighbours, such as low, medium, high.
    ``permutation``: every order of some names, joined by commas.
    """

    values: tuple[Value, ...]
    kind: DomainKind = "choice"
    when: Condition | None = None
    """Where it is false the parameter has no value (null)."""
    dense: bool = False
    """The values stand for all numbers between them: a baseline may be another one."""

    def including(self, value: Value) -> "ParameterDomain":
        """The domain with a value beside the others, where they stand for all numbers between."""
        if not self.dense or isinstance(value, bool) or not isinstance(value, int | float):
            return self
        numbers = [v for v in self.values if isinstance(v, int | float)]
        if value in numbers or not numbers[0] < value < numbers[-1]:
            return self
        return replace(self, values=tuple(sorted([*numbers, value])))

    @property
    def all_values(self) -> tuple[Value, ...]:
        """The values, and null where the parameter may have none."""
        if self.when is None or None in self.values:
            return self.values
        return (None, *self.values)

    def coordinates(self, name: str, value: Value) -> Mapping[str, Value]:
        """The value as a search and a learned model see it, by name: the place of an ordered one;
        of a permutation, for each pair of names, whether the first comes first.
        """
        if value is None or self.kind == "choice":
            return {name: value}
        if self.kind == "ordered":
            return {name: self.values.index(value)}
        order = str(value).split(",")
        pairs = combinations(sorted(order), 2)
        return {f"{name} {a}<{b}": order.index(a) < order.index(b) for a, b in pairs}


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagSet:
    """Flags of a compiler, each absent or in one of its spellings.

    In constraints and formulas the name of a set stands for how many of its flags are present.
    """

    flags: Mapping[str, tuple[str, ...]]
    """Spellings by name: ``finline_limit``: ``-finline-limit=100``, ``-finline-limit=1000``."""
    when: Condition | None = None
    """Where it is false all of them are absent."""
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    """By the name of a flag, where this is false the flag is absent."""


Domain = ParameterDomain | FlagSet


def flag_name(spelling: str) -> str:
    """The name of a flag as a parameter.

    >>> flag_name("-funroll-loops"), flag_name("--param=max-unroll-times=8")
    ('funroll_loops', 'param_max_unroll_times')
    """
    words = spelling.split("=")
    head = "_".join(words[:2] if spelling.startswith("--param") else words[:1])
    return re.sub(r"\W+", "_", head).strip("_")


def orders(names: Sequence[str]) -> tuple[str, ...]:
    """Every order of some names, the given one first."""
    return tuple(",".join(order) for order in permutations(names))


def flattened(parameters: Mapping[str, Domain]) -> dict[str, tuple[Value, ...]]:
    """The values of every parameter; each flag of a set is one, absent (null) first."""
    domains: dict[str, tuple[Value, ...]] = {}
    for name, domain in parameters.items():
        if isinstance(domain, FlagSet):
            domains |= {flag: (None, *spellings) for flag, spellings in domain.flags.items()}
        else:
            domains[name] = domain.all_values
    return domains
