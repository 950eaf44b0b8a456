"""Parameters of which some have values: what the constraints say before all others have theirs.

A constraint that is false whatever the others become (``language/condition_bounds.py``) forbids all
combinations that begin with these values.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from autotune.domain.program import Program, ProgramConstraint
from autotune.domain.variant import Value
from autotune.language.condition_bounds import BoundedCondition, Possible, SumTerm, among

Values = dict[str, Value]

_LONG = 8
"""Terms of a sum whose bounds are kept up, not computed again and again."""


class UndecidedError(Exception):
    """A constraint has no value for a combination."""

    def __init__(self, values: Mapping[str, Value], reason: ValueError) -> None:
        super().__init__(str(reason))
        self.values = values
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ConstraintRule:
    """A constraint, and the parameters that it names; a flag set stands for all of its flags."""

    constraint: ProgramConstraint
    bounds: BoundedCondition
    alone: frozenset[str]
    """Those named one by one."""
    sets: Mapping[str, tuple[str, ...]]
    """The flags of each set that it names as a whole."""
    names: frozenset[str]

    @classmethod
    def of(cls, constraint: ProgramConstraint, program: Program) -> "ConstraintRule":
        named = frozenset(constraint.require.names)
        alone = named & program.domains.keys()
        sets = {name: flags for name, flags in program.flag_sets.items() if name in named}
        bounds = BoundedCondition(constraint.require)
        return cls(constraint, bounds, alone, sets, alone.union(*sets.values()))

    def fulfilled(self, values: Mapping[str, Value], given: Mapping[str, Value]) -> bool:
        """Whether values are known to fulfil it; ``given``: arguments and threads."""
        try:
            return self.holds(values, given)
        except UndecidedError:
            return False

    def holds(self, values: Mapping[str, Value], given: Mapping[str, Value]) -> bool:
        """Whether values that have all of its names fulfil it; UndecidedError if it has no value
        for them.
        """
        sizes = {
            name: sum(values[flag] is not None for flag in flags)
            for name, flags in self.sets.items()
        }
        try:
            return self.constraint.require.holds({**given, **values, **sizes})
        except ValueError as error:
            raise UndecidedError(values, error) from error


class PartialCombination:
    """Values of some parameters, and what all others can be; it changes on the way down."""

    def __init__(
        self,
        program: Program,
        given: Mapping[str, Value],
        rules: Sequence[ConstraintRule],
        names: Sequence[str],
    ) -> None:
        """``names``: the parameters that get values; rules that name others do not count."""
        self.values: Values = {}
        self.names = tuple(names)
        self.domains = {name: program.domains[name] for name in names}
        self._given = given
        self._single = {n: [among((v,)) for v in domain] for n, domain in self.domains.items()}
        self._open = {name: among(domain) for name, domain in program.domains.items()}
        arguments = {name: among((value,)) for name, value in given.items()}
        sets = {name: Possible(None, 0, len(flags)) for name, flags in program.flag_sets.items()}
        self._possible = {**self._open, **arguments, **sets}
        self._sets = {flag: name for name, flags in program.flag_sets.items() for flag in flags}
        self._rules: dict[str, list[ConstraintRule]] = {name: [] for name in names}
        joined = [rule for rule in rules if rule.names <= self._rules.keys()]
        for rule in joined:
            for name in rule.names:
                self._rules[name].append(rule)
        self._sums = self._long_sums(joined)
        self.possible_at_all = all(
            rule.bounds.decided(self._possible) is not False for rule in joined
        )

    def _long_sums(
        self, rules: Sequence[ConstraintRule]
    ) -> Mapping[str, Sequence[tuple[str, SumTerm]]]:
        """The terms of long sums in which each parameter stands, with the texts of the sums, whose
        bounds are noted.
        """
        sums: dict[str, list[tuple[str, SumTerm]]] = {}
        wholes = {whole.text: whole for rule in rules for whole in rule.bounds.sums}
        for whole in wholes.values():
            bounds = [term.bounds(self._possible) for term in whole.terms]
            if len(bounds) < _LONG or None in bounds:
                continue
            low, high = (sum(ends) for ends in zip(*filter(None, bounds), strict=True))
            self._possible[whole.text] = _between(low, high)
            for term in whole.terms:
                for name in term.names & self.domains.keys():
                    sums.setdefault(name, []).append((whole.text, term))
        return sums

    def fresh(self) -> "PartialCombination":
        """A state of the same parameters in which none has a value; this one has none either."""
        state = copy(self)
        state.values, state._possible = {}, dict(self._possible)
        return state

    def put(self, name: str, place: int) -> bool:
        """Give a parameter the value at a place of its domain; False, and nothing is changed, where
        no legal combination can follow. UndecidedError where a constraint that is not false for all
        of its values has no value for these.
        """
        self.assign(name, place)
        for rule in self._rules[name]:
            truth = rule.bounds.decided(self._possible)
            unsure = truth is None or (truth and rule.bounds.skips)
            if unsure and rule.names <= self.values.keys():
                truth = rule.holds(self.values, self._given)
            if truth is False:
                self.take_back(name)
                return False
        return True

    def assign(self, name: str, place: int) -> None:
        """Give a parameter a value that is known to be possible."""
        value = self.domains[name][place]
        self._become(name, self._single[name][place])
        if name in self._sets:
            self._count(self._sets[name], value is not None, 1)
        self.values[name] = value

    def take_back(self, name: str) -> None:
        """Undo ``put``."""
        value = self.values.pop(name)
        self._become(name, self._open[name])
        if name in self._sets:
            self._count(self._sets[name], value is not None, -1)

    def _become(self, name: str, possible: Possible) -> None:
        """Change what a parameter can be, and with it the long sums in which it stands."""
        for text, term in self._sums.get(name, ()):
            self._add(text, term, -1)
        self._possible[name] = possible
        for text, term in self._sums.get(name, ()):
            self._add(text, term, 1)

    def _add(self, text: str, term: SumTerm, times: int) -> None:
        """Add a term to a sum (``times`` 1), or take it from there (-1)."""
        whole, bounds = self._possible.get(text), term.bounds(self._possible)
        if whole is not None and bounds is not None:
            low, high = bounds
            self._possible[text] = _between(whole.low + times * low, whole.high + times * high)
        elif whole is not None:  # the term is no whole number: the sum is bounded term by term
            del self._possible[text]

    def present(self, flags: str) -> float:
        """How many flags of a set are present so far."""
        return self._possible[flags].low

    def ends(self, text: str) -> tuple[float, float] | None:
        """The least and the largest value of a long sum, beside which those of its open terms tell
        what the others add up to; None where they are not kept up.
        """
        whole = self._possible.get(text)
        return None if whole is None else (whole.low, whole.high)

    def ends_of(self, term: SumTerm) -> tuple[int, int] | None:
        """The least and largest value of a term of a sum; None where it may be another number."""
        return term.bounds(self._possible)

    def _count(self, flags: str, present: bool, by: int) -> None:
        """Count a flag of a set as present or absent (``by`` 1), or no longer (-1)."""
        before = self._possible[flags]
        low, high = before.low + by * present, before.high - by * (not present)
        self._possible[flags] = Possible(None, low, high)


def _between(low: float, high: float) -> Possible:
    return Possible((low,) if low == high else None, low, high)
