"""The legal combinations of the parameters of a program, without looking at all combinations.

Parameters get their values one after the other. A constraint that is false whatever the others
become ends a branch (``language/condition_bounds.py``), so that the work grows with the legal
combinations, not with the product of all values. Where there are very many legal ones they are
counted and drawn part by part: parameters that no constraint joins, directly or through others, are
independent. A part with too many combinations of its own is drawn from by descents with parameters
in random order, then shaken: parameter after parameter gets a random legal value, beside which all
combinations that can be reached are equally likely (Gibbs sampling, Geman and Geman 1984). Its size
is estimated by such descents (Knuth 1975).
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from autotune.domain.program import Program, ProgramConstraint
from autotune.domain.variant import Value
from autotune.language.condition_bounds import BoundedCondition, Possible, among
from autotune.workloads.base import Count

Values = dict[str, Value]

LISTED = 50_000
"""Legal combinations that are listed; more are drawn from."""
_VISITED = 400_000
"""Values tried before a walk gives up."""
_DESCENTS = 200
"""Descents for an estimate, and at most so many for a single combination."""
_SHAKES = 3
"""How often each parameter of a drawn combination gets another value, on average."""


class TooManyError(Exception):
    """There are more combinations than can be listed."""


class NothingLegalError(Exception):
    """No combination fulfils all constraints, or none was found."""


class UndecidedError(Exception):
    """A constraint has no value for a combination."""

    def __init__(self, values: Mapping[str, Value], reason: ValueError) -> None:
        super().__init__(str(reason))
        self.values = values
        self.reason = reason


class LegalCombinations:
    """The combinations of a program's parameters that fulfil its constraints."""

    def __init__(self, program: Program, given: Mapping[str, Value]) -> None:
        """``given``: arguments and threads, which constraints may name."""
        self.program = program
        self._domains = program.domains
        self.given = given
        self._rules = tuple(_Rule.of(rule, program) for rule in program.rules)

    # --- all of them ----------------------------------------------------------------------

    def walk(self, names: Sequence[str] | None = None, most: int = LISTED) -> Iterator[Values]:
        """The legal combinations of all parameters, or of some that no constraint joins to others;
        the last parameter varies fastest.

        TooManyError after ``most`` of them, or after very many branches that ended early.
        """
        return self._walk(tuple(self._domains) if names is None else names, most, self._rules)

    def _walk(
        self, names: Sequence[str], most: int, rules: Sequence["_Rule"]
    ) -> Iterator[Values]:
        state = _State(self, names, rules)
        left = [most, _VISITED]

        def extended(depth: int) -> Iterator[Values]:
            if depth == len(names):
                left[0] -= 1
                if left[0] < 0:
                    raise TooManyError
                yield dict(state.values)
                return
            for value in self._domains[names[depth]]:
                left[1] -= 1
                if left[1] < 0:
                    raise TooManyError
                undo = state.put(names[depth], value)
                if undo is not None:
                    yield from extended(depth + 1)
                    state.take_back(names[depth], undo)

        return extended(0) if state.possible_at_all else iter(())

    @cached_property
    def listed(self) -> tuple[Values, ...] | None:
        """All legal combinations; None where there are too many."""
        if not any(rule.names for rule in self._rules) and self.product > LISTED:
            return None
        try:
            return tuple(self.walk())
        except TooManyError:
            return None

    @property
    def product(self) -> int:
        """How many combinations there are, forbidden ones included."""
        return math.prod(len(domain) for domain in self._domains.values())

    @cached_property
    def count(self) -> Count:
        """How many are legal."""
        if self.listed is not None:
            return Count(len(self.listed))
        return math.prod((part.count for part in self._parts), start=Count(1))

    # --- some of them ---------------------------------------------------------------------

    def draw(self, chance: random.Random) -> Values:
        """A legal combination at random, all (nearly) equally likely.

        NothingLegalError where none is found.
        """
        if self.listed is not None:
            if not self.listed:
                raise NothingLegalError
            return dict(chance.choice(self.listed))
        drawn: Values = {}
        for part in self._parts:
            drawn |= part.draw(chance)
        return {name: drawn[name] for name in self._domains}

    def neighbours(self, values: Mapping[str, Value], chance: random.Random) -> Iterator[Values]:
        """Legal combinations that differ in one parameter (and in those whose condition it
        changes), in random order.
        """
        changes = [
            (name, value)
            for name, domain in self._domains.items()
            for value in domain
            if value != values[name] or type(value) is not type(values[name])
        ]
        chance.shuffle(changes)
        for name, value in changes:
            changed = {**values, name: value}
            near = self.program.activated(changed, self.given, chance.choice)
            if self.legal(near):
                yield near

    def legal(self, values: Mapping[str, Value]) -> bool:
        """Whether a combination fulfils all constraints."""
        return self.violated(values) is None

    def violated(self, values: Mapping[str, Value]) -> ProgramConstraint | None:
        """The first constraint that a combination violates; None if it is legal.

        UndecidedError if a constraint cannot be evaluated.
        """
        broken = (rule.constraint for rule in self._rules if not rule.holds(values, self))
        return next(broken, None)

    def forbids(self, number: int, values: Mapping[str, Value]) -> bool:
        """Whether a constraint forbids a combination; False where it cannot be evaluated."""
        try:
            return not self._rules[number].holds(values, self)
        except UndecidedError:
            return False

    def contradictory(self, constraints: int) -> bool:
        """Whether the first so many constraints leave nothing."""
        try:
            return next(self._walk(tuple(self._domains), 1, self._rules[:constraints]), None) is None
        except TooManyError:
            return False

    # --- parts ----------------------------------------------------------------------------

    @cached_property
    def _parts(self) -> tuple["_Part", ...]:
        """Parameters that constraints join, and each that none names by itself."""
        groups = [{name} for name in self._domains]
        for rule in self._rules:
            joined = [group for group in groups if group & rule.names]
            if len(joined) > 1:
                groups = [group for group in groups if group not in joined]
                groups.append(set().union(*joined))
        order = list(self._domains)
        return tuple(_Part(self, sorted(group, key=order.index)) for group in groups)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A constraint, and the parameters that it names; a flag set stands for all of its flags."""

    constraint: ProgramConstraint
    bounds: BoundedCondition
    names: frozenset[str]

    @classmethod
    def of(cls, constraint: ProgramConstraint, program: Program) -> "_Rule":
        named: set[str] = set()
        for name in constraint.require.names:
            named |= {*program.flag_sets.get(name, ()), *({name} & program.domains.keys())}
        return cls(constraint, BoundedCondition(constraint.require), frozenset(named))

    def holds(self, values: Mapping[str, Value], space: "LegalCombinations") -> bool:
        """Whether values that have all of its names fulfil it; ValueError if that is not known."""
        sizes = {
            name: sum(values[flag] is not None for flag in flags)
            for name, flags in space.program.flag_sets.items()
            if name in self.constraint.require.names
        }
        try:
            return self.constraint.require.holds({**space.given, **values, **sizes})
        except ValueError as error:
            raise UndecidedError(values, error) from error


_Undo = list[tuple[str, Possible]]


class _State:
    """Values of some parameters, and what all others can be; it changes on the way down."""

    def __init__(
        self, space: LegalCombinations, names: Sequence[str], rules: Sequence[_Rule]
    ) -> None:
        program = space.program
        self.values: Values = {}
        self._space = space
        self._possible = {name: among(domain) for name, domain in program.domains.items()}
        self._possible |= {name: among([value]) for name, value in space.given.items()}
        self._sets = {flag: name for name, flags in program.flag_sets.items() for flag in flags}
        for name, flags in program.flag_sets.items():
            self._possible[name] = Possible(None, 0, len(flags))
        member = frozenset(names)
        rules = [rule for rule in rules if rule.names <= member]
        self._rules: dict[str, list[_Rule]] = {name: [] for name in names}
        for rule in rules:
            for name in rule.names:
                self._rules[name].append(rule)
        self.possible_at_all = all(
            rule.bounds.decided(self._possible) is not False for rule in rules
        )

    def put(self, name: str, value: Value) -> _Undo | None:
        """Give a parameter a value; None, and nothing is changed, where no legal combination can
        follow.
        """
        undo = [(name, self._possible[name])]
        self._possible[name] = among((value,))
        if (flags := self._sets.get(name)) is not None:
            before = self._possible[flags]
            undo.append((flags, before))
            on = value is not None
            self._possible[flags] = Possible(None, before.low + on, before.high - (not on))
        self.values[name] = value
        if all(self._may_hold(rule) for rule in self._rules[name]):
            return undo
        self.take_back(name, undo)
        return None

    def _may_hold(self, rule: _Rule) -> bool:
        truth = rule.bounds.decided(self._possible)
        if truth is None and rule.names <= self.values.keys():
            return rule.holds(self.values, self._space)
        return truth is not False

    def take_back(self, name: str, undo: _Undo) -> None:
        """Undo ``put``."""
        del self.values[name]
        for changed, before in undo:
            self._possible[changed] = before


class _Part:
    """Parameters that constraints join, and no constraint to others."""

    def __init__(self, space: LegalCombinations, names: Sequence[str]) -> None:
        self._space = space
        self._names = tuple(names)
        self._domains = {name: space.program.domains[name] for name in names}
        self._bound = any(rule.names & self._domains.keys() for rule in space._rules)

    @cached_property
    def _listed(self) -> tuple[Values, ...] | None:
        try:
            return tuple(self._space.walk(self._names))
        except TooManyError:
            return None

    @cached_property
    def count(self) -> Count:
        """How many combinations of these are legal."""
        if not self._bound:
            return Count(math.prod(map(len, self._domains.values())))
        if self._listed is not None:
            return Count(len(self._listed))
        chance = random.Random(0)
        weights = [self._descent(chance)[1] for _ in range(_DESCENTS)]
        return Count(max(LISTED, round(fmean(weights))), exact=False)

    def draw(self, chance: random.Random) -> Values:
        """One of them at random."""
        if not self._bound:
            return {name: chance.choice(domain) for name, domain in self._domains.items()}
        if self._listed is not None:
            if not self._listed:
                raise NothingLegalError
            return dict(chance.choice(self._listed))
        for _ in range(_DESCENTS):
            values, weight = self._descent(chance)
            if weight:
                return self._shaken(values, chance)
        raise NothingLegalError

    def _descent(self, chance: random.Random) -> tuple[Values, float]:
        """A combination by random values one after the other, and the product of the numbers of
        values that were possible each time; weight 0 where a value was missing.
        """
        state, weight = _State(self._space, self._names, self._space._rules), 1.0
        for name in chance.sample(self._names, len(self._names)):
            able = [value for value in self._domains[name] if _fits(state, name, value)]
            if not able:
                return {}, 0.0
            state.put(name, chance.choice(able))
            weight *= len(able)
        return state.values, weight

    def _shaken(self, values: Values, chance: random.Random) -> Values:
        names = chance.choices(self._names, k=_SHAKES * len(self._names))
        for name in names:
            able = [v for v in self._domains[name] if self._legal({**values, name: v})]
            values = {**values, name: chance.choice(able)}
        return values

    def _legal(self, values: Values) -> bool:
        space = self._space
        joined = (rule for rule in space._rules if rule.names and rule.names <= values.keys())
        return all(rule.holds(values, space) for rule in joined)


def _fits(state: _State, name: str, value: Value) -> bool:
    undo = state.put(name, value)
    if undo is None:
        return False
    state.take_back(name, undo)
    return True
