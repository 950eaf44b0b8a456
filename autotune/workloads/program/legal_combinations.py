"""The legal combinations of the parameters of a program, without looking at all combinations.

Parameters get their values one after the other. A constraint that is false whatever the others
become ends a branch (``language/condition_bounds.py``), so that the work grows with the legal
combinations, not with the product of all values. They are counted part by part: parameters that no
constraint joins, directly or through others, are independent; and branches that what follows cannot
tell apart (as many flags of a set are present) are counted once. By these counts combinations are
drawn evenly. A part that is too large even for that is drawn from by descents with parameters in
random order, then shaken: parameter after parameter gets a random legal value, beside which all
combinations that can be reached are equally likely (Gibbs sampling, Geman and Geman 1984).
"""

import math
import random
import sys
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from statistics import fmean

from autotune.domain.parameter_values import same, within
from autotune.domain.program import Program, ProgramConstraint
from autotune.domain.variant import Value
from autotune.language.condition_bounds import BoundedCondition, Possible, among
from autotune.workloads.base import Count

Values = dict[str, Value]

LISTED = 50_000
"""Legal combinations that are listed; more are drawn from."""
_VISITED = 100_000
"""Values tried before a walk or a count gives up."""
_DESCENTS = 100
"""Descents at most for a single combination."""
_LOOKS = 20
"""Descents that tell whether a count is worth trying."""
_FEW = 16
"""Values of a parameter that are all neighbours of each."""
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

    def __init__(
        self, program: Program, given: Mapping[str, Value], constraints: int | None = None
    ) -> None:
        """``given``: arguments and threads, which constraints may name; ``constraints``: how many
        of them count, from the first on.
        """
        self.program = program
        self._domains = program.domains
        self.given = given
        self._rules = tuple(_Rule.of(rule, program) for rule in program.requirements[:constraints])
        deep = 8 * len(self._domains) + 1000  # a way down has some calls for each parameter
        sys.setrecursionlimit(max(sys.getrecursionlimit(), deep))

    # --- all of them ----------------------------------------------------------------------

    def walk(self) -> Iterator[Values]:
        """The legal combinations; the last parameter varies fastest."""
        names = tuple(self._domains)
        state = _State(self, names)

        def extended(depth: int) -> Iterator[Values]:
            if depth == len(names):
                yield dict(state.values)
                return
            name = names[depth]
            for place in range(len(self._domains[name])):
                if state.put(name, place):
                    yield from extended(depth + 1)
                    state.take_back(name)

        return extended(0) if state.possible_at_all else iter(())

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
        if any(not rule.names and not rule.holds({}, self) for rule in self._rules):
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
        broken = (rule.constraint for rule in self._rules if not rule.fulfilled(values, self))
        return next(broken, None)

    def forbids(self, number: int, values: Mapping[str, Value]) -> bool:
        """Whether a constraint forbids a combination; False where it cannot be evaluated."""
        try:
            return not self._rules[number].holds(values, self)
        except UndecidedError:
            return False

    def contradictory(self, constraints: int) -> bool:
        """Whether the first so many constraints leave nothing."""
        return LegalCombinations(self.program, self.given, constraints).count == Count(0)

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
    alone: frozenset[str]
    """Those named one by one."""
    sets: Mapping[str, tuple[str, ...]]
    """The flags of each set that it names as a whole."""
    names: frozenset[str]

    @classmethod
    def of(cls, constraint: ProgramConstraint, program: Program) -> "_Rule":
        named = frozenset(constraint.require.names)
        alone = named & program.domains.keys()
        sets = {name: flags for name, flags in program.flag_sets.items() if name in named}
        bounds = BoundedCondition(constraint.require)
        return cls(constraint, bounds, alone, sets, alone.union(*sets.values()))

    def fulfilled(self, values: Mapping[str, Value], space: "LegalCombinations") -> bool:
        """Whether values are known to fulfil it."""
        try:
            return self.holds(values, space)
        except UndecidedError:
            return False

    def holds(self, values: Mapping[str, Value], space: "LegalCombinations") -> bool:
        """Whether values that have all of its names fulfil it; UndecidedError if it has no value
        for them.
        """
        sizes = {
            name: sum(values[flag] is not None for flag in flags)
            for name, flags in self.sets.items()
        }
        try:
            return self.constraint.require.holds({**space.given, **values, **sizes})
        except ValueError as error:
            raise UndecidedError(values, error) from error


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


class _State:
    """Values of some parameters, and what all others can be; it changes on the way down."""

    def __init__(self, space: LegalCombinations, names: Sequence[str]) -> None:
        program = space.program
        self.values: Values = {}
        self._space = space
        self._domains = {name: program.domains[name] for name in names}
        self._single = {n: [among((v,)) for v in domain] for n, domain in self._domains.items()}
        self._open = {name: among(domain) for name, domain in program.domains.items()}
        given = {name: among((value,)) for name, value in space.given.items()}
        sets = {name: Possible(None, 0, len(flags)) for name, flags in program.flag_sets.items()}
        self._possible = {**self._open, **given, **sets}
        self._sets = {flag: name for name, flags in program.flag_sets.items() for flag in flags}
        self._rules: dict[str, list[_Rule]] = {name: [] for name in names}
        joined = [rule for rule in space._rules if rule.names <= self._rules.keys()]
        for rule in joined:
            for name in rule.names:
                self._rules[name].append(rule)
        self.possible_at_all = all(
            rule.bounds.decided(self._possible) is not False for rule in joined
        )

    def fresh(self) -> "_State":
        """A state of the same parameters in which none has a value; this one has none either."""
        state = copy(self)
        state.values, state._possible = {}, dict(self._possible)
        return state

    def put(self, name: str, place: int) -> bool:
        """Give a parameter the value at a place of its domain; False, and nothing is changed, where
        no legal combination can follow.
        """
        self.assign(name, place)
        for rule in self._rules[name]:
            truth = rule.bounds.decided(self._possible)
            if truth is None and rule.names <= self.values.keys():
                truth = rule.holds(self.values, self._space)
            if truth is False:
                self.take_back(name)
                return False
        return True

    def assign(self, name: str, place: int) -> None:
        """Give a parameter a value that is known to be possible."""
        value = self._domains[name][place]
        self._possible[name] = self._single[name][place]
        if name in self._sets:
            self._count(self._sets[name], value is not None, 1)
        self.values[name] = value

    def take_back(self, name: str) -> None:
        """Undo ``put``."""
        value = self.values.pop(name)
        self._possible[name] = self._open[name]
        if name in self._sets:
            self._count(self._sets[name], value is not None, -1)

    def present(self, flags: str) -> float:
        """How many flags of a set are present so far."""
        return self._possible[flags].low

    def _count(self, flags: str, present: bool, by: int) -> None:
        """Count a flag of a set as present or absent (``by`` 1), or no longer (-1)."""
        before = self._possible[flags]
        low, high = before.low + by * present, before.high - by * (not present)
        self._possible[flags] = Possible(None, low, high)


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
    def _start(self) -> _State:
        return _State(self._space, self._names)

    @cached_property
    def _tree(self) -> "_CountedTree | None":
        """All combinations as a tree with counts; None where it is too large."""
        merges = any(rule.sets for rule in self._rules)
        if not merges and math.prod(map(len, self._domains.values())) > 100 * LISTED:
            chance = random.Random(0)
            looks = [self._weight(chance) for _ in range(_LOOKS)]
            if fmean(looks) > 100 * LISTED:
                return None
        try:
            return _CountedTree(self._space, self._names, self._rules)
        except TooManyError:
            return None

    def draw(self, chance: random.Random) -> Values:
        """One of them at random."""
        if not self._rules:
            return {name: chance.choice(domain) for name, domain in self._domains.items()}
        if self._tree is not None:
            return self._tree.draw(chance)
        for _ in range(_DESCENTS):
            values = self._descent(chance)
            if values is not None:
                return self._shaken(values, chance)
        raise NothingLegalError

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

    def _descent(self, chance: random.Random) -> Values | None:
        """A combination by random values of one parameter after the other, in random order; None
        where no value is left.
        """
        state = self._start.fresh()
        for name in chance.sample(self._names, len(self._names)):
            count = len(self._domains[name])
            if not any(state.put(name, place) for place in chance.sample(range(count), count)):
                return None
        return state.values

    def _shaken(self, values: Values, chance: random.Random) -> Values:
        for name in chance.choices(self._names, k=_SHAKES * len(self._names)):
            domain = self._domains[name]
            other = {**values, name: chance.choice(domain)}
            while not self._legal(other):  # the value that it has is legal
                other[name] = chance.choice(domain)
            values = other
        return values

    def _legal(self, values: Values) -> bool:
        return all(rule.fulfilled(values, self._space) for rule in self._rules)


class _CountedTree:
    """The combinations of joined parameters as a tree in which alike branches are one.

    A node is known by its depth, the values that constraints with names still open name one by one,
    and how many flags of the sets are present that they name as a whole.
    """

    def __init__(
        self, space: LegalCombinations, names: Sequence[str], rules: Sequence[_Rule]
    ) -> None:
        """TooManyError where there are too many nodes."""
        self._space, self._names = space, names
        self._kept: list[tuple[list[str], list[str]]] = []
        for depth in range(len(names) + 1):
            before = set(names[:depth])
            pending = [rule for rule in rules if rule.names - before]
            alone = set().union(*(rule.alone for rule in pending)) & before
            sets = set().union(*(rule.sets for rule in pending))
            self._kept.append((sorted(alone), sorted(sets)))
        self._nodes: dict[tuple[object, ...], tuple[list[int], list[int]]] = {}
        self._left = _VISITED
        self._start = _State(space, names)
        able = self._start.possible_at_all
        self.count = self._counted(self._start.fresh(), 0) if able else 0

    def _key(self, state: _State, depth: int) -> tuple[object, ...]:
        alone, sets = self._kept[depth]
        values = ((type(v), v) for v in map(state.values.__getitem__, alone))
        return depth, tuple(values), tuple(map(state.present, sets))

    def _counted(self, state: _State, depth: int) -> int:
        """How many combinations begin with the values of a state."""
        if depth == len(self._names):
            return 1
        _, counts = self._branches(state, depth)
        return counts[-1] if counts else 0

    def _branches(self, state: _State, depth: int) -> tuple[list[int], list[int]]:
        """The places of the values that may follow, and how many combinations these and those
        before them begin.
        """
        key = self._key(state, depth)
        if key not in self._nodes:
            name, places, counts, total = self._names[depth], list[int](), list[int](), 0
            for place in range(len(self._space.program.domains[name])):
                self._left -= 1
                if self._left < 0:
                    raise TooManyError
                if state.put(name, place):
                    count = self._counted(state, depth + 1)
                    state.take_back(name)
                    if count:
                        total += count
                        places.append(place)
                        counts.append(total)
            self._nodes[key] = places, counts
        return self._nodes[key]

    def draw(self, chance: random.Random) -> Values:
        """A combination at random, all equally likely; NothingLegalError where there is none."""
        if not self.count:
            raise NothingLegalError
        state = self._start.fresh()
        for depth, name in enumerate(self._names):
            places, counts = self._branches(state, depth)
            state.assign(name, places[bisect(counts, chance.randrange(counts[-1]))])
        return state.values


def _fits(state: _State, name: str, place: int) -> bool:
    fits = state.put(name, place)
    if fits:
        state.take_back(name)
    return fits
