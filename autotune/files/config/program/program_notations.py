"""The notations of programs and their models: values, command lines, formulas, shares, reuse."""

from collections.abc import Mapping
from dataclasses import replace

import regex

from autotune.domain.parameter_domain import (
    LONGEST_ORDER,
    Domain,
    DomainKind,
    FlagSet,
    ParameterDomain,
    flag_name,
    orders,
)
from autotune.domain.parameter_values import within
from autotune.domain.program import Command, ProgramConstraint, Template
from autotune.errors import describe, nearest, one_of
from autotune.files.config.notations import (
    NUMBER_OR_TEXT,
    Notation,
    as_share,
    object_schema,
    one_or_list,
)
from autotune.language.constraint import Condition, Value
from autotune.units import parse as parse_quantity

_LARGEST = 1e18
"""Of numbers, whatever their sign: they fit into the integers of C and of databases."""
_STEPS = 4096
"""Values of a domain that is given by its ends."""
_NEVER = "never"
_UNREAD = ()
"""Stands for a domain with a fault: no value of the parameter is compared with it."""


def formula(stated: object) -> Condition:
    """A formula: an expression with a number as value, or a plain number."""
    if isinstance(stated, bool) or not isinstance(stated, str | int | float):
        raise ValueError(f"{describe(stated)} is not a formula")
    try:
        return Condition(str(stated))
    except ValueError as error:
        raise ValueError(str(error).replace("a condition", "a formula")) from error


def terms(stated: object) -> dict[str, Condition]:
    """One formula, or several formulas by name whose values are added up."""
    if not isinstance(stated, dict):
        return {"formula": formula(stated)}
    if not stated:
        raise ValueError("no formula")
    made = {}
    for name, text in stated.items():
        try:
            made[name] = formula(text)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return made


def formula_of_any(stated: object) -> Condition:
    """An expression with any value; a text without operators is a name."""
    if stated is None or isinstance(stated, bool):
        return Condition({None: "null", True: "true", False: "false"}[stated])
    return formula(stated)


def reuse(stated: object) -> Condition | None:
    """A reuse distance: a formula for bytes, or ``never``."""
    return None if stated == _NEVER else formula(stated)


def share(stated: object) -> float:
    """A share above 0, written as ``30 %`` or 0.3."""
    number = as_share(stated)
    if not 0 < number <= 10:
        raise ValueError(f"{describe(stated)} is not a share such as 30 %")
    return number


def element(stated: object) -> int:
    """The bytes of an element: ``4 B``, or a whole number of bytes."""
    number = parse_quantity(stated, "size") if isinstance(stated, str) else stated
    if isinstance(number, bool) or not isinstance(number, int | float) or number != int(number):
        raise ValueError(f"{describe(stated)} is not a whole number of bytes")
    if not 1 <= number <= 64:
        raise ValueError(f"an element has 1 to 64 B, not {int(number)}")
    return int(number)


def sizes(stated: object) -> tuple[Condition, ...]:
    """The size of a grid: one formula, or one for each dimension."""
    if not isinstance(stated, list):
        return (formula(stated),)
    if not 1 <= len(stated) <= 3:
        raise ValueError(f"{len(stated)} sizes: one, or the points of each dimension of a grid")
    return tuple(formula(size) for size in stated)


def value(stated: object) -> Value:
    """A plain value: text, a number, true, false or null."""
    if isinstance(stated, int | float) and not abs(stated) <= _LARGEST:
        raise ValueError(f"{describe(stated)} is beyond {_LARGEST:g}")
    if isinstance(stated, str):
        return _plain(stated)
    if isinstance(stated, bool | int | float) or stated is None:
        return stated
    raise ValueError(f"{describe(stated)} is not text, a number, true, false or null")


def _plain(text: str) -> str:
    """A text that can be an argument of a command line."""
    if "\0" in text:
        raise ValueError(f"{text!r} holds the character 0, which no command line can")
    return text


def domain(stated: object) -> tuple[Value, ...]:
    """Several values: one, a list, or a range such as ``{from: 8, to: 64, step: 8}``."""
    if isinstance(stated, dict):
        return _range(stated)
    values = tuple(value(v) for v in stated) if isinstance(stated, list) else (value(stated),)
    if not values:
        raise ValueError("no values")
    for i, item in enumerate(values):
        if within(item, values[:i]):
            raise ValueError(f"{describe(item)} is here twice")
    return values


def parameter(stated: object) -> Domain:
    """What a parameter can be: see ``Program.parameters``."""
    if stated == _UNREAD:
        return ParameterDomain(values=())
    ends = _DOTS.fullmatch(stated) if isinstance(stated, str) else None
    if ends is not None:
        raise ValueError(f"{stated!r} is a text: a range is {{from: {ends[1]}, to: {ends[2]}}}")
    if not isinstance(stated, dict):
        return ParameterDomain(values=domain(stated))
    when = _when(stated)
    rest = {key: value for key, value in stated.items() if key != "when"}
    if "flags" in rest:
        _only(rest, "flags")
        return _flags(rest["flags"], when)
    if "ordered" in rest or "permutation" in rest:
        kind: DomainKind = "ordered" if "ordered" in rest else "permutation"
        _only(rest, kind)
        return ParameterDomain(values=_named(rest[kind], kind), kind=kind, when=when)
    if set(rest) == {"values"} and when is not None:
        return ParameterDomain(values=domain(rest["values"]), when=when)
    dense = "step" not in rest and "times" not in rest
    return ParameterDomain(values=_range(rest), when=when, dense=dense)


def _when(stated: Mapping[str, object]) -> Condition | None:
    """The condition under the key ``when``; None without it."""
    condition = stated.get("when")
    if "when" in stated and not isinstance(condition, str | bool):
        raise ValueError(f"when: {describe(condition)} is not a condition such as mode == 'fast'")
    if condition is None:
        return None
    try:
        return Condition(str(condition).lower() if isinstance(condition, bool) else str(condition))
    except ValueError as error:
        raise ValueError(f"when: {error}") from error


def _only(stated: Mapping[str, object], key: str) -> None:
    """ValueError where other keys stand beside one that stands alone."""
    others = [other for other in stated if other != key]
    if others:
        raise ValueError(f"{others[0]} beside {key}: {key} stands alone")


def _named(stated: object, kind: DomainKind) -> tuple[Value, ...]:
    """The values of an ordered parameter, or all orders of the names of a permutation."""
    if not isinstance(stated, list) or len(stated) < 2:
        raise ValueError(f"{kind}: {describe(stated)} is not a list of at least two values")
    if kind == "ordered":
        return domain(stated)
    names = [str(value(name)) for name in stated]
    if len(set(names)) < len(names) or any("," in name for name in names):
        raise ValueError("permutation: names without commas, each once")
    if len(names) > LONGEST_ORDER:
        raise ValueError(f"permutation: {len(names)} names; at most {LONGEST_ORDER} have an order")
    return orders(names)


def _flags(stated: object, when: Condition | None) -> FlagSet:
    """Flags of a compiler: each a text, a list of texts that exclude one another, or a text before
    values; one with a condition is ``{flag: ..., when: condition}``.
    """
    if not isinstance(stated, list) or not stated:
        raise ValueError(f"flags: {describe(stated)} is not a list of flags")
    flags: dict[str, tuple[str, ...]] = {}
    conditions: dict[str, Condition] = {}
    for item in stated:
        spellings, condition = _flag(item)
        name = flag_name(spellings[0])
        if name in flags:
            raise ValueError(f"flags: {spellings[0]} is here twice")
        flags[name] = spellings
        if condition is not None:
            conditions[name] = condition
    return FlagSet(flags=flags, when=when, conditions=conditions)


def _flag(item: object) -> tuple[tuple[str, ...], Condition | None]:
    """The spellings of a flag, and where it may be set; None: everywhere."""
    if not isinstance(item, dict) or not {"flag", "when"} & item.keys():
        return _spellings(item), None
    if item.keys() != {"flag", "when"}:
        raise ValueError(f"flags: {', '.join(map(str, item))} is not of the form {_CONDITIONAL}")
    return _spellings(item["flag"]), _when(item)


def _spellings(item: object) -> tuple[str, ...]:
    if isinstance(item, dict) and len(item) == 1:
        (head, values), *_ = item.items()
        listed = [value(v) for v in (values if isinstance(values, list) else [values])]
        if None in listed:
            raise ValueError(f"flags: {head} has no value: write it as text if it takes none")
        texts = [f"{head}{v}" for v in listed]
    else:
        texts = [t for t in (item if isinstance(item, list) else [item]) if isinstance(t, str)]
        if isinstance(item, list) and len(texts) < len(item):
            texts = []
    if not texts or not all(text.startswith("-") and len(text) > 1 for text in texts):
        raise ValueError(f"flags: {describe(item)} is not a flag such as -funroll-loops")
    if len(set(texts)) < len(texts):
        raise ValueError(f"flags: {texts[0]} has a value twice")
    return tuple(_plain(text) for text in texts)


_DOTS = regex.compile(r"\s*(-?\d+)\s*\.\.\.?\s*(-?\d+)\s*")
"""A range as other languages write it."""
_CONDITIONAL = "{flag: -fgcse-las, when: options < 3}"
_FORMS = "{from: 8, to: 64, step: 8}, {..., times: 2} or {from: 0.1, to: 10.0, log: true}"
_KEYS = (
    *("from", "to", "step", "times", "values", "log"),
    *("when", "ordered", "permutation", "flags"),
)
_USUAL = 101
"""Values of a range that has neither step nor factor."""


def _range(stated: Mapping[str, object]) -> tuple[Value, ...]:
    """The values of a range: whole numbers by step or factor, or numbers evenly spaced, on a
    logarithmic scale if wanted; whole numbers where both ends are.
    """
    for key in stated:
        if key not in _KEYS:
            raise ValueError(f"unknown key {key!r}: {nearest(key, _KEYS) or one_of(_KEYS)}")
    if not {"from", "to"} <= set(stated) <= set(_KEYS[:6]):
        raise ValueError(f"{', '.join(stated) or 'nothing'} is not of the form {_FORMS}")
    if "step" in stated or "times" in stated:
        return _steps(stated)
    first, last = (_number(stated, key) for key in ("from", "to"))
    count, log = stated.get("values", _USUAL), stated.get("log", False)
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= _STEPS:
        raise ValueError(f"values: {describe(count)} is not a number of values from 2 to {_STEPS}")
    if not isinstance(log, bool):
        raise ValueError(f"log: {describe(log)} is neither true nor false")
    if not first < last:
        raise ValueError(f"these values never go from {first} to {last}: {_FORMS}")
    if log and first <= 0:
        raise ValueError(f"a logarithmic scale begins above 0, not at {first}")
    shares = [k / (count - 1) for k in range(count)]
    numbers = [first * (last / first) ** t if log else first + (last - first) * t for t in shares]
    if isinstance(first, int) and isinstance(last, int):
        return tuple(dict.fromkeys(round(number) for number in numbers))
    return tuple(dict.fromkeys(float(f"{number:.6g}") for number in numbers))


def _number(stated: Mapping[str, object], key: str) -> int | float:
    number = value(stated[key])
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
        raise ValueError(f"{key}: {describe(number)} is not a number")
    return number


def _steps(stated: Mapping[str, object]) -> tuple[Value, ...]:
    growth = [key for key in ("step", "times") if key in stated]
    if set(stated) != {"from", "to", *growth} or len(growth) != 1:
        raise ValueError(f"{', '.join(stated) or 'nothing'} is not of the form {_FORMS}")
    numbers: dict[str, int] = {}
    for key, number in stated.items():
        if isinstance(number, bool) or not isinstance(number, int):
            raise ValueError(f"{key}: {describe(number)} is not a whole number")
        numbers[key] = number
    first, last, by = numbers["from"], numbers["to"], numbers[growth[0]]
    if first > last or by < 1 or (growth == ["times"] and (by < 2 or first < 1)):
        raise ValueError(f"these values never go from {first} to {last}: {_FORMS}")
    values = [first]
    while (following := values[-1] + by if growth == ["step"] else values[-1] * by) <= last:
        values.append(following)
        if len(values) > _STEPS:
            hint = "{from: 1, to: 1000000, log: true, values: 200} takes some of them"
            raise ValueError(f"more than {_STEPS} values: {hint}")
    return tuple(values)


def _unit(stated: object) -> float:
    if not isinstance(stated, str):
        raise ValueError(f"{describe(stated)} is not a unit of time")
    return parse_quantity(f"1 {stated}", "time")


def _keys(stated: object) -> tuple[str, ...]:
    if not isinstance(stated, str) or not all(stated.split(".")):
        raise ValueError(f"{describe(stated)} is not a key, or several joined by dots")
    return tuple(stated.split("."))


def _pattern(stated: object) -> str:
    if not isinstance(stated, str):
        raise ValueError(f"{describe(stated)} is not a regular expression")
    try:
        groups = regex.compile(stated).groups
    except regex.error as error:
        raise ValueError(f"{stated!r} is not a regular expression: {error}") from error
    if groups != 1:
        raise ValueError(f"{stated!r} has {groups} groups; one is read: time: ([0-9.eE+-]+)")
    return stated


def _template(stated: object) -> Template:
    if isinstance(stated, bool) or not isinstance(stated, str | int | float):
        raise ValueError(f"{describe(stated)} is not an argument of a command line")
    return Template(_plain(str(stated)))


def _commands(stated: object) -> tuple[Command, ...]:
    """Commands: one as a list of arguments, or several as a list of lists."""
    if not isinstance(stated, list) or not stated:
        raise ValueError(f"{describe(stated)} is not a list of arguments")
    lists = stated if isinstance(stated[0], list) else [stated]
    if not all(isinstance(words, list) and words for words in lists):
        raise ValueError("a build is a list of arguments, or a list of such lists")
    return tuple(_command(words) for words in lists)


def _command(stated: object) -> Command:
    """Arguments; those of a list within the list belong together: one without value drops all."""
    if not isinstance(stated, list) or not stated:
        raise ValueError(f"{describe(stated)} is not a list of arguments")
    if isinstance(stated[0], list):
        raise ValueError("a command begins with its program, not with a list")
    command = list[Template]()
    for word in stated:
        group = [_template(part) for part in word] if isinstance(word, list) else [_template(word)]
        if not group:
            raise ValueError("a group of arguments is empty: [--depth, '{depth}']")
        names = tuple(dict.fromkeys(name for part in group for name in part.names))
        command += [replace(part, beside=names) for part in group] if len(group) > 1 else group
    return tuple(command)


def _constraint(stated: object) -> ProgramConstraint:
    """A constraint: a condition, or ``{require: condition, reason: text}``."""
    parts = stated if isinstance(stated, dict) else {"require": stated}
    require, reason = parts.get("require"), parts.get("reason", "")
    for key in parts:
        if key not in ("require", "reason"):
            raise ValueError(f"unknown key {key!r}: a constraint has require and reason")
    if not isinstance(require, str) or not isinstance(reason, str):
        raise ValueError(f"{describe(require)} is not a condition such as bi * bj <= 4096")
    return ProgramConstraint(require=Condition(require), reason=reason)


_VALUE = {"type": ["string", "number", "boolean", "null"]}
_GROUP = {"type": "array", "items": NUMBER_OR_TEXT, "minItems": 1}
_WORDS = {"type": "array", "items": {"anyOf": [NUMBER_OR_TEXT, _GROUP]}, "minItems": 1}
_LIST = {"type": "array", "items": _VALUE}
_RANGE = {
    **{name: {"type": "number"} for name in ("from", "to")},
    **{name: {"type": "integer"} for name in ("step", "times", "values")},
    "log": {"type": "boolean"},
}
_GROWING = object_schema(_RANGE, ["from", "to"])
_WHEN = {"when": {"type": ["string", "boolean"]}}
_PARAMETER: dict[str, object] = {
    "anyOf": [
        *(_VALUE, _LIST),
        object_schema({**_RANGE, **_WHEN}, ["from", "to"]),
        object_schema({"values": {"anyOf": [_LIST, _GROWING]}, **_WHEN}, ["values", "when"]),
        object_schema({"ordered": _LIST, **_WHEN}, ["ordered"]),
        object_schema({"permutation": _LIST, **_WHEN}, ["permutation"]),
        object_schema({"flags": {"type": "array"}, **_WHEN}, ["flags"]),
    ]
}
_REQUIRED = object_schema({name: {"type": "string"} for name in ("require", "reason")}, ["require"])

NOTATIONS: dict[object, Notation] = {
    Condition: Notation(read=formula, stand_in="1", schema=NUMBER_OR_TEXT),
    Template: Notation(read=_template, stand_in="", schema=NUMBER_OR_TEXT),
    ProgramConstraint: Notation(
        read=_constraint, stand_in="true", schema={"anyOf": [{"type": "string"}, _REQUIRED]}
    ),
    "formula of any value": Notation(read=formula_of_any, stand_in="1", schema=_VALUE),
    "formulas": Notation(
        read=terms,
        stand_in="1",
        schema={
            "anyOf": [NUMBER_OR_TEXT, {"type": "object", "additionalProperties": NUMBER_OR_TEXT}]
        },
    ),
    "sizes": Notation(read=sizes, stand_in="1", schema=one_or_list(NUMBER_OR_TEXT)),
    "reuse": Notation(read=reuse, stand_in="1", schema=NUMBER_OR_TEXT),
    "accuracy": Notation(read=share, stand_in=0.3, schema=NUMBER_OR_TEXT),
    "element": Notation(read=element, stand_in=8, schema=NUMBER_OR_TEXT),
    "value": Notation(read=value, schema=_VALUE),
    "domain": Notation(
        read=domain,
        stand_in=[0],
        schema={"anyOf": [_VALUE, _LIST, _GROWING]},
    ),
    "parameter": Notation(read=parameter, stand_in=_UNREAD, schema=_PARAMETER),
    "command": Notation(read=_command, stand_in=["true"], schema=_WORDS),
    "commands": Notation(
        read=_commands, stand_in=["{output}"], schema=one_or_list(_WORDS, minItems=1)
    ),
    "pattern": Notation(read=_pattern, stand_in="(.)", schema={"type": "string"}),
    "keys": Notation(read=_keys, stand_in="x", schema={"type": "string"}),
    "unit of time": Notation(read=_unit, stand_in="s", schema={"type": "string"}),
}
"""By the type of the value, or by the name that ``InNotation`` gives."""
