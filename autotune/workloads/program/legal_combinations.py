"""The legal combinations of the parameters of a program, without looking at all combinations.

Parameters get their values one after the other. A constraint that is false whatever the others
become ends a branch (``partial_combination.py``), so that the work grows with the legal
combinations, not with the product of all values. They are counted part by part: parameters that no
constraint joins, directly or through others, are independent; and branches that what follows cannot
tell apart (as many flags of a set are present, a sum has the same value) are counted once
(``counted_tree.py``). By these counts combinations are drawn evenly. A part that is too large even
for that is drawn from by descents with parameters in random order, then shaken: parameter after
parameter gets a random legal value, beside which all combinations that can be reached are equally
likely (Gibbs sampling, Geman and Geman 1984).
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import zip_longest
from statistics import fmean

from autotune.domain.parameter_values import same, within
from autotune.domain.program import Program, ProgramConstraint
from autotune.domain.variant import Value
from autotune.workloads.base import Count
from autotune.workloads.program.counted_tree import CountedTree, NothingLegalError, TooManyError
from autotune.workloads.program.partial_combination import (
    ConstraintRule,
    PartialCombination,
    UndecidedError,
    Values,
)

LISTED = 50_000
"""Legal combinations that are listed; more are drawn from."""
_DESCENTS = 100
"""Descents at most for a single combination."""
_FEW_DESCENTS = 10
"""Descents at most for one with a given value."""
_MERGING = 3
"""Terms of a sum of whole numbers that make branches alike."""
_LOOKS = 20
"""Descents that tell whether a count is worth trying."""
_FEW = 16
"""Values of a parameter that are all neighbours of each."""
_SEEN = 200
"""Combinations that are drawn to see which values are rare."""
_SELDOM = 2
"""A value in fewer of these is rare."""
_SHAKES = 3
"""How often each parameter of a drawn combination gets another value, on average."""


class LegalCombinations:
    """The combinations of a program's parameters that fulfil its constraints."""

    def __init__(
        self,
        program: Program,
        given: Mapping[str, Value],
        requirements: Sequence[ProgramConstraint] | None = None,
    ) -> None:
        """``given``: arguments and threads, which constraints may name; ``requirements``: those
        of the program's constraints that count, without it all.
        """
        self.program = program
        self._domains = program.domains
        self.given = given
        rules = program.requirements if requirements is None else requirements
        self._rules = tuple(ConstraintRule.of(rule, program) for rule in rules)

    # --- all of them ----------------------------------------------------------------------

    def walk(self) -> Iterator[Values]:
        """The legal combinations; the last parameter varies fastest."""
        state = PartialCombination(self.program, self.given, self._rules, tuple(self._domains))
        names = tuple(self._domains)
        tried = [iter(range(len(self._domains[names[0]])))] if state.possible_at_all else []
        while tried:
            name = names[len(tried) - 1]
            if not any(state.put(name, place) for place in tried[-1]):
                tried.pop()
                if tried:
                    state.take_back(names[len(tried) - 1])
            elif len(tried) == len(names):
                yield dict(state.values)
                state.take_back(name)
            else:
                tried.append(iter(range(len(self._domains[names[len(tried)]]))))

    @cached_property
    def listed(self) -> tuple[Values, ...] | None:
        """All legal combinations; None where there are too many."""
        count = self.count
        return tuple(self.walk()) if count.exact and count.value <= LISTED else None

    @property
    def product(self) -> int:
        """How many combinations there are, forbidden ones included."""
        return math.prod(len(domain) for domain in self._domains.values())

    @cached_property
    def count(self) -> Count:
        """How many are legal; at least ``LISTED`` times the others where a part is too large."""
        if any(not rule.names and not rule.holds({}, self.given) for rule in self._rules):
            return Count(0)
        return math.prod((part.count for part in self._parts), start=Count(1))

    # --- some of them ---------------------------------------------------------------------

    def draw(self, chance: random.Random) -> Values:
        """A legal combination at random, all (nearly) equally likely.

        NothingLegalError where none is found.
        """
        drawn: Values = {}
        for part in self._parts:
            drawn |= part.draw(chance)
        return {name: drawn[name] for name in self._domains}

    def draw_with(self, name: str, place: int, chance: random.Random) -> Values | None:
        """A legal combination at random in which a parameter has the value at a place of its
        domain; None where none is found.
        """
        drawn: Values = {}
        for part in self._parts:
            values = part.draw_with(name, place, chance) if part.has(name) else part.draw(chance)
            if values is None:
                return None
            drawn |= values
        return {name: drawn[name] for name in self._domains}

    def rare(self, chance: random.Random) -> list[tuple[str, int]]:
        """Values, as the parameter and the place in its domain, that hardly ever are drawn, of
        parameters of few values: those of a branch that has few combinations.
        """
        joined = [name for name in self._domains if any(name in r.names for r in self._rules)]
        few = [name for name in joined if len(self._domains[name]) <= _FEW]
        if not few:
            return []
        drawn = [self.draw(chance) for _ in range(_SEEN)]
        return [
            (name, place)
            for name in few
            for place, value in enumerate(self._domains[name])
            if sum(same(values[name], value) for values in drawn) < _SELDOM
        ]

    def neighbours(self, values: Mapping[str, Value], chance: random.Random) -> Iterator[Values]:
        """Legal combinations that differ in one parameter (and in those whose condition it
        changes): one of each parameter, then another of each, and so on.
        """
        changes = [
            [(name, value) for value in _others(domain, values[name], chance)]
            for name, domain in self._domains.items()
        ]
        chance.shuffle(changes)
        for in_turn in zip_longest(*changes):
            for name, value in filter(None, in_turn):
                near = self._activated({**values, name: value}, chance)
                if near != values and self.legal(near):
                    yield near

    def _activated(self, values: Values, chance: random.Random) -> Values:
        try:
            return self.program.activated(values, self.given, chance.choice)
        except ValueError:  # a condition says nothing about them: they are illegal
            return values

    def has(self, values: Mapping[str, Value]) -> bool:
        """Whether values are those of a legal combination."""
        domains = self._domains
        return (
            values.keys() == domains.keys()
            and all(within(value, domains[name]) for name, value in values.items())
            and self.legal(values)
        )

    def legal(self, values: Mapping[str, Value]) -> bool:
        """Whether a combination fulfils all constraints."""
        return self.violated(values) is None

    def violated(self, values: Mapping[str, Value]) -> ProgramConstraint | None:
        """The first constraint that a combination violates, or that cannot be evaluated for it;
        None if it is legal.
        """
        broken = (rule.constraint for rule in self._rules if not rule.fulfilled(values, self.given))
        return next(broken, None)

    def forbids(self, number: int, values: Mapping[str, Value]) -> bool:
        """Whether a constraint forbids a combination; False where it cannot be evaluated."""
        try:
            return not self._rules[number].holds(values, self.given)
        except UndecidedError:
            return False

    def contradiction(self) -> tuple[ProgramConstraint, ...]:
        """Constraints that no combination fulfils together, of which none can be left out; the
        program has no legal combination.
        """
        rules = self.program.requirements
        last = next(k for k in range(len(rules)) if self._contradictory(rules[: k + 1]))
        needed = list(rules[: last + 1])
        for rule in rules[:last]:
            fewer = [other for other in needed if other is not rule]
            if self._contradictory(fewer):
                needed = fewer
        return tuple(needed)

    def _contradictory(self, rules: Sequence[ProgramConstraint]) -> bool:
        try:
            return LegalCombinations(self.program, self.given, rules).count == Count(0)
        except UndecidedError:  # one that was left out had kept it from such a combination
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


def _others(domain: Sequence[Value], value: Value, chance: random.Random) -> list[Value]:
    """Other values of a domain, in random order; of many those at 1, 2, 4, ... places from the
    value, and as many at random.
    """
    place = next(k for k, other in enumerate(domain) if same(other, value))
    places = [k for k in range(len(domain)) if k != place]
    if len(places) > _FEW:
        steps = [sign << power for power in range(len(domain).bit_length()) for sign in (1, -1)]
        near = [place + step for step in steps if 0 <= place + step < len(domain)]
        places = list(dict.fromkeys([*near, *chance.sample(places, _FEW)]))
    chance.shuffle(places)
    return [domain[k] for k in places if k != place]


class _Part:
    """Parameters that constraints join, and no constraint to others."""

    def __init__(self, space: LegalCombinations, names: Sequence[str]) -> None:
        self._space = space
        self._names = tuple(names)
        self._domains = {name: space.program.domains[name] for name in names}
        self._rules = [rule for rule in space._rules if rule.names & self._domains.keys()]

    @cached_property
    def count(self) -> Count:
        """How many combinations of these are legal."""
        if not self._rules:
            return Count(math.prod(map(len, self._domains.values())))
        tree = self._tree
        return Count(LISTED, exact=False) if tree is None else Count(tree.count)

    @cached_property
    def _start(self) -> PartialCombination:
        return PartialCombination(self._space.program, self._space.given, self._rules, self._names)

    @cached_property
    def _tree(self) -> CountedTree | None:
        """All combinations as a tree with counts; None where it is too large."""
        wholes = [whole for rule in self._rules for whole in rule.bounds.sums]
        merges = any(rule.sets for rule in self._rules) or any(
            len(whole.terms) >= _MERGING and all(map(self._start.ends_of, whole.terms))
            for whole in wholes
        )
        if not merges and math.prod(map(len, self._domains.values())) > 100 * LISTED:
            chance = random.Random(0)
            looks = [self._weight(chance) for _ in range(_LOOKS)]
            if fmean(looks) > 100 * LISTED:
                return None
        try:
            return CountedTree(self._start.fresh(), self._rules)
        except TooManyError:
            return None

    def draw(self, chance: random.Random) -> Values:
        """One of them at random."""
        if not self._rules:
            return {name: chance.choice(domain) for name, domain in self._domains.items()}
        if self._tree is not None:
            return self._tree.draw(chance)
        for _ in range(_DESCENTS):
            names = chance.sample(self._names, len(self._names))
            state = self._descent(self._start.fresh(), names, chance)
            if state is not None:
                return self._shaken(state, chance, self._names)
        raise NothingLegalError

    def has(self, name: str) -> bool:
        """Whether a parameter is one of these."""
        return name in self._domains

    def draw_with(self, name: str, place: int, chance: random.Random) -> Values | None:
        """One of them at random in which a parameter has the value at a place of its domain; None
        where none is found.
        """
        for _ in range(_FEW_DESCENTS):
            state, others = self._start.fresh(), self._by_distance(name, chance)
            with suppress(UndecidedError):
                if not state.put(name, place):
                    return None
                down = self._descent(state, others, chance)
                if down is not None:
                    return self._shaken(down, chance, others)
        return None

    def _by_distance(self, name: str, chance: random.Random) -> list[str]:
        """The other parameters in random order, those first that a constraint joins with one, then
        those that are joined with these, and so on: a branch is chosen before what lies in it.
        """
        order = [name]
        while len(order) < len(self._names):
            met = set(order)
            joined = set().union(*(rule.names for rule in self._rules if rule.names & met)) - met
            near = [other for other in self._names if other in joined]
            order += chance.sample(near, len(near))
        return order[1:]

    def _weight(self, chance: random.Random) -> float:
        """The product of the numbers of values that are possible one after the other, on a random
        way down, whose mean is the number of combinations (Knuth 1975); 0 where no value is left.
        """
        state, weight = self._start.fresh(), 1.0
        for name in self._names:
            places = range(len(self._domains[name]))
            able = [place for place in places if _fits(state, name, place)]
            if not able:
                return 0.0
            state.put(name, chance.choice(able))
            weight *= len(able)
        return weight

    def _descent(
        self, state: PartialCombination, names: Sequence[str], chance: random.Random
    ) -> PartialCombination | None:
        """A combination by random values of one open parameter after the other; None where no value
        is left.
        """
        for name in names:
            count = len(self._domains[name])
            if not any(state.put(name, place) for place in chance.sample(range(count), count)):
                return None
        return state

    def _shaken(
        self, state: PartialCombination, chance: random.Random, names: Sequence[str]
    ) -> Values:
        """The combination after the given parameters got other legal values in random order."""
        for name in chance.choices(names, k=_SHAKES * len(names)) if names else ():
            count = len(self._domains[name])
            state.take_back(name)
            while not _certain(
                state, name, chance.randrange(count)
            ):  # the one that it had is legal
                pass
        return state.values


def _certain(state: PartialCombination, name: str, place: int) -> bool:
    """Give a parameter a value beside those of all others; False where it is not known as legal."""
    try:
        return state.put(name, place)
    except UndecidedError:
        state.take_back(name)
        return False


def _fits(state: PartialCombination, name: str, place: int) -> bool:
    fits = state.put(name, place)
    if fits:
        state.take_back(name)
    return fits
