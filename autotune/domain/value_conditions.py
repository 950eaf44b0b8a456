"""Conditions on parameters: where a parameter has a value, and which conditions can never hold."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from autotune.domain.misfit import Keys, Misfit
from autotune.domain.parameter_domain import Domain, FlagSet, flattened
from autotune.domain.parameter_values import misfit_of, within
from autotune.language.comparisons import PlainComparison, plain_comparisons
from autotune.language.condition_bounds import BoundedCondition, Possible, among
from autotune.language.constraint import Condition, Value

_NUMBER = "a number"
_TRIED = 20_000
"""Combinations that are tried for one where a condition is true."""


def conditional(parameters: Mapping[str, Domain]) -> dict[str, Condition]:
    """The condition of every parameter, set of flags, and flag that has one."""
    conditions = {name: d.when for name, d in parameters.items() if d.when is not None}
    for domain in parameters.values():
        if isinstance(domain, FlagSet):
            conditions |= domain.conditions
    return conditions


def required(name: str, domain: Domain) -> Iterator[tuple[str, Condition]]:
    """The conditions on all values that follow from those of a parameter or a set of flags, each
    with its reason.
    """
    when = domain.when
    if when is not None:
        optional = isinstance(domain, FlagSet) or None in domain.values
        absent = f"{name} == 0" if isinstance(domain, FlagSet) else f"{name} == null"
        text = f"({when.text}) or {absent}" if optional else f"(not ({when.text})) == ({absent})"
        verb = "has flags" if isinstance(domain, FlagSet) else "has a value"
        yield f"{name} {verb} only when {when.text}", Condition(text)
    for flag, condition in domain.conditions.items() if isinstance(domain, FlagSet) else ():
        yield (
            f"{flag} is set only when {condition.text}",
            Condition(f"({condition.text}) or {flag} == null"),
        )


def activated(
    parameters: Mapping[str, Domain],
    values: Mapping[str, Value],
    arguments: Mapping[str, Value],
    choose: Callable[[Sequence[Value]], Value],
) -> dict[str, Value]:
    """The values, with none for parameters and flags whose condition is false, and with a chosen
    one for parameters whose condition is true and that had none.
    """
    made = dict(values)
    for _ in flattened(parameters):  # conditions may hang on one another
        before = dict(made)
        for name, domain in parameters.items():
            made |= _activated(
                name, domain, {**arguments, **made, **_sizes(parameters, made)}, choose
            )
        if made == before:
            break
    return made


def _activated(
    name: str,
    domain: Domain,
    values: Mapping[str, Value],
    choose: Callable[[Sequence[Value]], Value],
) -> dict[str, Value]:
    """What changes of the values of a parameter, or of the flags of a set."""
    active = domain.when is None or domain.when.holds(values)
    if isinstance(domain, FlagSet):
        return {
            flag: None
            for flag in domain.flags
            if not active
            or (flag in domain.conditions and not domain.conditions[flag].holds(values))
        }
    if not active:
        return {name: None}
    absent = domain.when is not None and values[name] is None and None not in domain.values
    return {name: choose(domain.values)} if absent else {}


def _sizes(parameters: Mapping[str, Domain], values: Mapping[str, Value]) -> dict[str, int]:
    """How many flags of each set are present."""
    return {
        name: sum(values[flag] is not None for flag in domain.flags)
        for name, domain in parameters.items()
        if isinstance(domain, FlagSet)
    }


def dependent(parameters: Mapping[str, Domain]) -> str | None:
    """A parameter or flag whose condition depends on itself, directly or through others; None if
    there is none. A set of flags depends on all of its flags.
    """
    names_of = {name: set(condition.names) for name, condition in conditional(parameters).items()}
    for name, domain in parameters.items():
        if isinstance(domain, FlagSet):
            inherited = names_of.get(name, set())
            names_of |= {flag: names_of.get(flag, set()) | inherited for flag in domain.flags}
            names_of[name] = set(domain.flags)
    for start in names_of:
        reached: set[str] = set()
        waiting = list(names_of[start])
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += names_of.get(name, ())
        if start in reached:
            return start
    return None


def never_true(parameters: Mapping[str, Domain]) -> Iterator[tuple[str, Condition]]:
    """The conditions of parameters, sets and flags that no values of the others make true.

    Left out are conditions that name arguments, because problems set these, those on which too many
    values would have to be tried, and those with comparisons that are refused themselves.
    """
    conditions, domains = conditional(parameters), flattened(parameters)
    if not all(domains.values()):
        return
    for name, condition in conditions.items():
        if any(wrong_comparisons((), condition, parameters)):
            continue
        joined, waiting = set[str](), list(condition.names)
        while waiting:
            other = waiting.pop()
            if other not in joined:
                joined.add(other)
                waiting += conditions[other].names if other in conditions else ()
        rules = [c for n in joined if n in parameters for _, c in required(n, parameters[n])]
        if _impossible(condition, rules, sorted(joined), parameters, domains):
            yield name, condition


def _impossible(
    condition: Condition,
    rules: Sequence[Condition],
    names: Sequence[str],
    parameters: Mapping[str, Domain],
    domains: Mapping[str, Sequence[Value]],
) -> bool:
    sets = {
        n: Possible(None, 0, len(d.flags)) for n, d in parameters.items() if isinstance(d, FlagSet)
    }
    possible = {**sets, **{name: among(domains[name]) for name in names if name in domains}}
    if BoundedCondition(condition).decided(possible) is False:
        return True
    if not domains.keys() >= set(names) or prod(len(domains[n]) for n in names) > _TRIED:
        return False
    combinations = (
        dict(zip(names, choice, strict=True)) for choice in product(*(domains[n] for n in names))
    )
    try:
        return not any(all(c.holds(values) for c in (*rules, condition)) for values in combinations)
    except ValueError:  # a condition that has no value somewhere is refused where it is needed
        return False


def wrong_comparisons(
    keys: Keys, condition: Condition, parameters: Mapping[str, Domain]
) -> Iterator[Misfit]:
    """Comparisons of a condition with values that a parameter does not have: text that is none of
    its values, and what is of another type than all of them.
    """
    domains = {**flattened(parameters)} | {
        name: tuple(range(len(domain.flags) + 1))
        for name, domain in parameters.items()
        if isinstance(domain, FlagSet)
    }
    for comparison in plain_comparisons(condition):
        if domains.get(comparison.name):
            yield from _wrong_comparison(keys, comparison, domains)


def _wrong_comparison(
    keys: Keys, comparison: PlainComparison, domains: Mapping[str, tuple[Value, ...]]
) -> Iterator[Misfit]:
    name, value = comparison.name, comparison.value
    domain = domains[name]
    kinds = {_kind(v) for v in domain} - {"null"}
    if comparison.other is not None:
        others = {_kind(v) for v in domains.get(comparison.other, ())} - {"null"}
        if kinds and others and not kinds & others:
            found = f"{comparison.text}: {_words(name, kinds)}, {_words(comparison.other, others)}"
            yield Misfit(keys, found, "two of the same type")
    elif comparison.ordered and _NUMBER not in kinds:
        yield Misfit(keys, f"{comparison.text}: {_words(name, kinds)}", "a number on both sides")
    elif comparison.ordered and _kind(value) != _NUMBER:
        yield Misfit(keys, f"{comparison.text}: {value!r} is no number", "a number on both sides")
    elif (
        value is not None
        and not within(value, domain)
        and (isinstance(value, str) or _kind(value) not in kinds)
    ):
        present = tuple(v for v in domain if v is not None)
        yield misfit_of(keys, comparison.text, value, present)


def _words(name: str, kinds: set[str]) -> str:
    return f"{name} is {' or '.join(sorted(kinds)) or 'always null'}"


def _kind(value: Value) -> str:
    """The type of a value in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    return "text" if isinstance(value, str) else _NUMBER
