"""The legal combinations of joined parameters as a tree with counts, from which they are drawn."""

import random
from bisect import bisect
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from autotune.language.condition_bounds import SumTerm
from autotune.workloads.program.partial_combination import (
    ConstraintRule,
    PartialCombination,
    Values,
)

_VISITED = 100_000
"""Values tried before a count gives up."""


class TooManyError(Exception):
    """There are more combinations than can be counted."""


class NothingLegalError(Exception):
    """No combination fulfils all constraints, or none was found."""


@dataclass(slots=True)
class _Branching:
    """The values that may follow one another way down."""

    places: list[int] = field(default_factory=list)
    """Places of the values in the domain of the parameter."""
    counts: list[int] = field(default_factory=list)
    """How many combinations these values and those before them begin."""
    following: list["_Branching"] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many combinations there are."""
        return self.counts[-1] if self.counts else 0

    def add(self, place: int, following: "_Branching") -> None:
        """Add a value, with what may follow it."""
        if following.count:
            self.counts.append(self.count + following.count)
            self.places.append(place)
            self.following.append(following)


_END = _Branching(counts=[1])


@dataclass(frozen=True, slots=True)
class _Remembered:
    """What tells branches of a depth apart: all that constraints with open names still ask for."""

    alone: tuple[str, ...]
    """Parameters whose values they name."""
    sets: tuple[str, ...]
    """Flag sets of which they name how many are present."""
    sums: tuple[tuple[str, tuple[SumTerm, ...]], ...]
    """The text of each sum with its terms without open names, of which only the total counts."""

    @classmethod
    def at(cls, before: Set[str], rules: Sequence[ConstraintRule]) -> "_Remembered":
        """What counts where the parameters ``before`` have values."""
        alone, sets, sums = set[str](), set[str](), list[tuple[str, tuple[SumTerm, ...]]]()
        for rule in rules:
            if rule.names <= before:
                continue
            sets |= rule.sets.keys()
            alone |= rule.bounds.apart
            for whole in rule.bounds.sums:
                done = tuple(term for term in whole.terms if _done(term, rule, before))
                alone.update(*(t.names for t in whole.terms if not _done(t, rule, before)))
                if any(term.names & rule.alone for term in done):
                    sums.append((whole.text, done))
        return cls(tuple(sorted(alone & before)), tuple(sorted(sets)), tuple(sums))

    def key(self, state: PartialCombination) -> tuple[object, ...]:
        """What a combination is known by."""
        values = ((type(v), v) for v in map(state.values.__getitem__, self.alone))
        totals = (state.ends(text) or _total(state, terms) for text, terms in self.sums)
        return tuple(values), tuple(map(state.present, self.sets)), tuple(totals)


def _done(term: SumTerm, rule: ConstraintRule, before: Set[str]) -> bool:
    """Whether all parameters of a term have values; no flag set has one before the end."""
    return not term.names & rule.sets.keys() and term.names & rule.alone <= before


def _total(state: PartialCombination, terms: Sequence[SumTerm]) -> object:
    """The sum of terms that are whole numbers; the values of all their parameters if one is not."""
    ends = [state.ends_of(term) for term in terms]
    numbers = [both[0] for both in ends if both is not None and both[0] == both[1]]
    if len(numbers) == len(ends):
        return sum(numbers)
    names = sorted(set().union(*(term.names for term in terms)) & state.values.keys())
    return tuple((type(state.values[name]), state.values[name]) for name in names)


class CountedTree:
    """The combinations of joined parameters as a tree in which alike branches are one."""

    def __init__(self, state: PartialCombination, rules: Sequence[ConstraintRule]) -> None:
        """``state``: none of its parameters has a value. TooManyError if there are too many."""
        self._start = state
        self._names = state.names
        depths = range(len(self._names) + 1)
        self._remembered = [_Remembered.at(set(self._names[:depth]), rules) for depth in depths]
        self._left = _VISITED
        self._root = self._grown(state.fresh()) if state.possible_at_all else _Branching()

    @property
    def count(self) -> int:
        """How many combinations there are."""
        return self._root.count

    def _grown(self, state: PartialCombination) -> _Branching:
        """The tree below a state in which no parameter has a value."""
        met: dict[tuple[object, ...], _Branching] = {}
        last = len(self._names)
        way = [(0, _Branching(), self._tries(state, 0))]
        while True:
            into, branching, tries = way[-1]
            depth = len(way)
            place = next(tries, None)
            if place is None:
                way.pop()
                if not way:
                    return branching
                depth, place, following = depth - 1, into, branching
            elif depth == last:
                following = _END
            else:
                key = (depth, *self._remembered[depth].key(state))
                if key not in met:
                    met[key] = _Branching()
                    way.append((place, met[key], self._tries(state, depth)))
                    continue
                following = met[key]
            way[-1][1].add(place, following)
            state.take_back(self._names[depth - 1])

    def _tries(self, state: PartialCombination, depth: int) -> Iterator[int]:
        """The places of the values that are possible, of which the state gets one at a time."""
        name = self._names[depth]
        for place in range(len(state.domains[name])):
            self._left -= 1
            if self._left < 0:
                raise TooManyError
            if state.put(name, place):
                yield place

    def draw(self, chance: random.Random) -> Values:
        """A combination at random, all equally likely; NothingLegalError where there is none."""
        if not self.count:
            raise NothingLegalError
        values: Values = {}
        branching = self._root
        for name in self._names:
            chosen = bisect(branching.counts, chance.randrange(branching.count))
            values[name] = self._start.domains[name][branching.places[chosen]]
            branching = branching.following[chosen]
        return values
