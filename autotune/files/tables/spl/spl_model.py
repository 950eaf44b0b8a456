"""Reads variability models of SPL Conqueror: options with their domains, and the constraints on
them.

    <vm name="...">
      <binaryOptions> <configurationOption> name, parent, optional, impliedOptions, excludedOptions
      <numericOptions> <configurationOption> name, minValue, maxValue, stepFunction or values
      <booleanConstraints>, <nonBooleanConstraints>, <mixedConstraints>: <constraint>

Format: SPL Conqueror (Siegmund et al. 2015), its example files and readers. Binary options are the
numbers 0 and 1; those of every configuration have the domain 1.
"""

import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from autotune.domain.tables.parameter import Parameter, interval, numeric
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.errors import nearest
from autotune.files.parsing import text_content
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import to_number
from autotune.files.parsing.xml_tree import Element, parse
from autotune.files.tables.spl.spl_language import Language, option_names
from autotune.language.constraint import Condition

ROOT = "root"
_LARGEST = 1 << 26
_MOST_VALUES = 100_000
"""A numeric option of more values is taken as any number between its bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariabilityModel:
    """The options of a configurable program, with their domains and constraints."""

    name: str
    parameters: tuple[Parameter, ...]
    constraints: tuple[ParameterConstraint, ...]
    notes: tuple[str, ...] = ()
    """What could not be taken word for word."""


def read_model(path: Path) -> VariabilityModel:
    """The variability model in an XML file; InputError with every mistake that was found."""
    faults = Faults(str(path))
    root = parse(text_content.text(path, faults, "a variability model in XML", _LARGEST), faults)
    if root.tag != "vm":
        raise faults.fail(str(root.line), f"<{root.tag}>", "<vm>, a variability model")
    binary = [_option(element, faults) for element in _options(root, "binaryOptions")]
    notes: list[str] = []
    domains = [_domain(e, faults, notes) for e in _options(root, "numericOptions")]
    numbers = [domain for domain in domains if domain is not None]
    _check_names([*(o.name for o in binary), *(p.name for p in numbers)], root, faults)
    always = _always(binary)
    flags = [numeric(o.name, [1] if o.name in always else [0, 1]) for o in binary if o.name]
    language = Language.of([o.name for o in binary], [p.name for p in numbers])
    constraints = [*_tree(binary, language, faults), *_stated(root, language, faults)]
    faults.settle()
    return VariabilityModel(
        name=root.attributes.get("name", "model"),
        parameters=(*flags, *numbers),
        constraints=tuple(constraints),
        notes=tuple(notes),
    )


# --- options --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Option:
    """A binary option of the model."""

    name: str
    line: int
    parent: str
    optional: bool
    implied: tuple[tuple[str, ...], ...]
    """Of each entry at least one."""
    excluded: tuple[str, ...]


def _options(root: Element, tag: str) -> list[Element]:
    group = root.child(tag)
    children = group.children if group is not None else []
    return [child for child in children if child.tag == "configurationOption"]


def _option(element: Element, faults: Faults) -> _Option:
    name = element.content("name")
    if not name:
        faults.add(str(element.line), "an option without a name", "<name>")
    return _Option(
        name=name,
        line=element.line,
        parent=element.content("parent"),
        optional=element.content("optional").lower() == "true",
        implied=_listed(element, "impliedOptions"),
        excluded=tuple(itertools.chain(*_listed(element, "excludedOptions"))),
    )


def _listed(element: Element, tag: str) -> tuple[tuple[str, ...], ...]:
    """The entries of a list; an entry is one option, or several separated by bars,
    which mean or.
    """
    group = element.child(tag)
    children = group.children if group is not None else []
    entries = (child.text.split("|") for child in children)
    named = (tuple(name.strip() for name in entry if name.strip()) for entry in entries)
    return tuple(names for names in named if names)


def _check_names(names: list[str], root: Element, faults: Faults) -> None:
    if not names:
        faults.add(str(root.line), "no options", "at least one option")
    for name in sorted(name for name, count in Counter(names).items() if count > 1):
        faults.add("", f"two options named {name!r}", "each name once")


def _always(options: list[_Option]) -> set[str]:
    """The options that are part of every configuration, including the root."""
    option_of = {option.name: option for option in options}
    always = {"", ROOT} - option_of.keys()
    for option in options:
        chain: dict[str, None] = {}
        name = option.name
        while name in option_of and name not in always and name not in chain:
            if option_of[name].optional or option_of[name].excluded:
                break
            chain[name] = None
            name = option_of[name].parent
        if name in always:
            always |= chain.keys()
    return always


def _domain(element: Element, faults: Faults, notes: list[str]) -> Parameter | None:
    """The parameter for a numeric option; None, with a fault added, where its domain cannot be
    read.
    """
    name, place = element.content("name"), str(element.line)
    if not name:
        faults.add(place, "an option without a name", "<name>")
        return None
    listed = element.content("values")
    if listed:
        values = [_number(text) for text in re.split(r"[;\s]+", listed.strip("; "))]
        numbers = [value for value in values if value is not None]
        if len(numbers) < len(values):
            faults.add(place, f"{name}: values {listed!r}", "numbers between semicolons")
        return numeric(name, numbers) if numbers else None
    low, high = _number(element.content("minValue")), _number(element.content("maxValue"))
    if low is None or high is None or low > high:
        faults.add(place, f"{name}: no range", "<minValue> and a <maxValue> not below it")
        return None
    step = element.content("stepFunction").replace(",", ".")
    try:
        stepped = _sequence(low, high, step) if step else None
    except ValueError as error:
        faults.add(place, f"{name}: {error}", "a step function such as n + 2 or n * 2")
        return None
    if stepped is None:
        many = f"has more than {_MOST_VALUES} values" if step else "has no step function"
        notes.append(f"{name} {many}: any number in [{low:g}, {high:g}]")
        return interval(name, low, high)
    return numeric(name, stepped)


def _number(text: str) -> int | float | None:
    value = to_number(text.replace(",", "."))
    return _plain(value) if value is not None and math.isfinite(value) else None


def _plain(value: float) -> int | float:
    return int(value) if float(value).is_integer() else float(value)


def _sequence(low: float, high: float, step: str) -> list[int | float] | None:
    """The values from ``low`` to ``high``; each is the step function applied to the previous one.

    None where there are too many; ValueError where they do not grow. Values are rounded to three
    digits after each step, as in SPL Conqueror: 0.1 + 0.1 + 0.1 is 0.3.
    """
    condition = Condition(step)
    if len(condition.names) != 1:
        raise ValueError(f"{step!r} is not a function of the value before it")
    values: list[int | float] = []
    value = low
    while value <= high:
        values.append(_plain(value))
        if len(values) > _MOST_VALUES:
            return None
        following = condition.value({condition.names[0]: value})
        if isinstance(following, bool) or not isinstance(following, int | float):
            raise ValueError(f"{step!r} is {following!r} after {value:g}")
        if round(following, 3) <= value:
            raise ValueError(f"{step!r} is {following:g} after {value:g}: it does not grow")
        value = round(following, 3)
    return values


# --- constraints ----------------------------------------------------------------------------


def _tree(options: list[_Option], language: Language, faults: Faults) -> list[ParameterConstraint]:
    """The constraints that follow from parents, alternatives, implied and excluded options."""
    names, always = {option.name for option in options}, _always(options)
    texts: dict[str, None] = {}
    for option in options:
        for name in (*itertools.chain(*option.implied), *option.excluded, option.parent):
            if name and name not in language.aliases and name != ROOT:
                hint = nearest(name, language.aliases)
                faults.add(str(option.line), f"no option {name!r}", option_names(names), hint)
        option_name, parent = language.name(option.name), language.name(option.parent)
        if option.parent in names and option.parent not in always:
            texts[f"{option_name} == 0 or {parent} == 1"] = None
            if not option.optional and not option.excluded:
                texts[f"{parent} == 0 or {option_name} == 1"] = None
        for entry in option.implied:
            any_chosen = " or ".join(f"{language.name(name)} == 1" for name in entry)
            texts[f"{option_name} == 0 or {any_chosen}"] = None
        for name in option.excluded:
            first, second = sorted((option_name, language.name(name)))
            texts[f"{first} == 0 or {second} == 0"] = None
    for members, above in _alternatives(options).items():
        any_chosen = " or ".join(f"{language.name(name)} == 1" for name in members)
        sure = above in always or above not in names
        texts[any_chosen if sure else f"{language.name(above)} == 0 or {any_chosen}"] = None
    return [] if faults.faults else [language.constraint(text) for text in texts]


def _alternatives(options: list[_Option]) -> dict[tuple[str, ...], str]:
    """Groups of mandatory options of one parent that exclude one another, of which one must be
    chosen.
    """
    rules: dict[tuple[str, ...], str] = {}
    siblings: dict[str, set[str]] = {}
    for option in options:
        if not option.optional:
            siblings.setdefault(option.parent, set()).add(option.name)
    for option in options:
        if not option.optional and option.excluded:
            alike = siblings[option.parent]
            members = {option.name, *(name for name in option.excluded if name in alike)}
            rules[tuple(sorted(members))] = option.parent
    return rules


def _stated(root: Element, language: Language, faults: Faults) -> list[ParameterConstraint]:
    """The constraints in the lists of constraints."""
    rules: list[ParameterConstraint] = []
    for tag in ("booleanConstraints", "nonBooleanConstraints", "mixedConstraints"):
        group = root.child(tag)
        for element in group.children if group is not None else []:
            if element.tag != "constraint" or not element.text.strip():
                continue
            try:
                constraint = language.constraint(_condition(tag, element, language))
            except ValueError as error:
                expected = "options with ! | & =>, or a comparison of sums and products"
                faults.add(str(element.line), f"constraint: {error}", expected)
                continue
            for name in language.unknown(constraint):
                hint = nearest(name, language.aliases)
                faults.add(
                    str(element.line), f"no option {name!r}", option_names(language.aliases), hint
                )
            rules.append(constraint)
    return rules


def _condition(tag: str, element: Element, language: Language) -> str:
    if tag == "booleanConstraints":
        return language.logic(element.text)
    required = element.attributes.get("req", "all").strip().lower()
    negated = element.attributes.get("exprKind", "pos").strip().lower() == "neg"
    if required not in ("all", "one"):
        raise ValueError(f"req={required!r}, neither all nor one")
    return language.arithmetic(element.text, required, negated=negated)
