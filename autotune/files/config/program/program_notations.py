"""The notations of programs and their models: values, command lines, formulas, shares, reuse."""

from collections.abc import Mapping

import regex

from autotune.domain.parameter_values import within
from autotune.domain.program import Command, ProgramConstraint, Template
from autotune.errors import describe
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
    """The values of a parameter: a list, or ``{from: 8, to: 64, step: 8}``, ``{..., times: 2}``."""
    if isinstance(stated, dict):
        return _steps(stated)
    values = tuple(value(v) for v in stated) if isinstance(stated, list) else (value(stated),)
    if not values:
        raise ValueError("no values")
    for i, item in enumerate(values):
        if within(item, values[:i]):
            raise ValueError(f"{describe(item)} is here twice")
    return values


def _steps(stated: Mapping[str, object]) -> tuple[Value, ...]:
    form = "{from: 8, to: 64, step: 8} or {from: 8, to: 64, times: 2}"
    growth = [key for key in ("step", "times") if key in stated]
    if set(stated) != {"from", "to", *growth} or len(growth) != 1:
        raise ValueError(f"{', '.join(stated) or 'nothing'} is not of the form {form}")
    numbers: dict[str, int] = {}
    for key, number in stated.items():
        if isinstance(number, bool) or not isinstance(number, int):
            raise ValueError(f"{key}: {describe(number)} is not a whole number")
        numbers[key] = number
    first, last, by = numbers["from"], numbers["to"], numbers[growth[0]]
    if first > last or by < 1 or (growth == ["times"] and (by < 2 or first < 1)):
        raise ValueError(f"these values never go from {first} to {last}: {form}")
    values = [first]
    while (following := values[-1] + by if growth == ["step"] else values[-1] * by) <= last:
        values.append(following)
        if len(values) > _STEPS:
            raise ValueError(f"more than {_STEPS} values")
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
    return tuple(tuple(_template(word) for word in words) for words in lists)


def _command(stated: object) -> Command:
    if not isinstance(stated, list) or not stated:
        raise ValueError(f"{describe(stated)} is not a list of arguments")
    return tuple(_template(word) for word in stated)


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
_WORDS = {"type": "array", "items": NUMBER_OR_TEXT, "minItems": 1}
_GROWING = object_schema(
    {name: {"type": "integer"} for name in ("from", "to", "step", "times")}, ["from", "to"]
)
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
        schema={"anyOf": [_VALUE, {"type": "array", "items": _VALUE}, _GROWING]},
    ),
    "command": Notation(read=_command, stand_in=["true"], schema=_WORDS),
    "commands": Notation(
        read=_commands, stand_in=["{output}"], schema=one_or_list(_WORDS, minItems=1)
    ),
    "pattern": Notation(read=_pattern, stand_in="(.)", schema={"type": "string"}),
    "keys": Notation(read=_keys, stand_in="x", schema={"type": "string"}),
    "unit of time": Notation(read=_unit, stand_in="s", schema={"type": "string"}),
}
"""By the type of the value, or by the name that ``InNotation`` gives."""
