"""The notations of values in YAML files: quantities with units, expressions, coefficients, names.

Each notation has a function that reads a plain value, raising ValueError with a description, and
one that writes it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from autotune.domain.reference import Figure
from autotune.domain.variant import Value
from autotune.errors import describe, nearest, one_of
from autotune.files.parsing.yaml_document import Plain
from autotune.language.constraint import Condition
from autotune.language.expression import (
    Bin,
    Call,
    Cond,
    Expr,
    Neg,
    Num,
    Ref,
    Sym,
    number,
    parse,
)
from autotune.units import (
    Bytes,
    BytesPerCycle,
    BytesPerSecond,
    Cycles,
    Dimension,
    Hertz,
    Seconds,
    exact,
)
from autotune.units import parse as parse_quantity

DIMENSIONS: Mapping[object, Dimension] = {
    Bytes: "size",
    Hertz: "frequency",
    Seconds: "time",
    BytesPerSecond: "bandwidth",
    BytesPerCycle: "throughput",
    Cycles: "cycles",
}
"""Types of quantities, which files state with a unit."""

_EXAMPLES: Mapping[Dimension, str] = {
    "size": "32 KiB",
    "frequency": "2.3 GHz",
    "time": "20 ms",
    "bandwidth": "51 GB/s",
    "throughput": "32 B/cy",
    "cycles": "4 cy",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notation:
    """How values of one kind are written in a file: a function to read and one to write."""

    read: Callable[[object], object]
    """From a plain value; ValueError, in words, where it cannot be read."""
    stand_in: object = None
    """A plain value that can be read, for one that cannot, so that the rest is checked all the
    same; None: there is none."""
    write: Callable[[object], Plain] = str
    schema: Mapping[str, object]
    """The JSON Schema of its plain values."""


@cache
def quantity(kind: object, *, zero: bool = False, signed: bool = False) -> Notation:
    """The notation of a quantity by its type; it must be positive unless ``zero`` or ``signed``
    allows more.
    """
    dimension = DIMENSIONS[kind]
    stand_in = None
    if dimension == "size" and zero:
        stand_in = "0 B"
    elif signed:
        stand_in = f"0 {'s' if dimension == 'time' else 'B'}"
    return Notation(
        read=lambda value: _quantity(value, dimension, zero=zero, signed=signed),
        stand_in=stand_in,
        write=lambda value: exact(value, dimension),  # type: ignore[arg-type]
        schema={"type": "string", "description": f"{dimension} with a unit",
                "examples": [_EXAMPLES[dimension]]},
    )  # fmt: skip


def _quantity(value: object, dimension: Dimension, *, zero: bool, signed: bool) -> float:
    if not isinstance(value, str):
        example = _EXAMPLES[dimension]
        raise ValueError(f"{describe(value)} has no unit of {dimension}, such as {example}")
    result = parse_quantity(value, dimension)
    if not signed and (result < 0 or (result == 0 and not zero)):
        raise ValueError(f"{value!r} is not positive")
    if dimension != "size":
        return result
    if result != int(result):
        raise ValueError(f"{value!r} is not a whole number of bytes")
    return int(result)


def expression(value: object) -> Expr:
    """An expression read from its text, or from a plain number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{describe(value)} is not an expression")
    return Num(value) if not isinstance(value, str) else parse(value)


def object_schema(
    properties: Mapping[str, object], required: Sequence[str] = (), about: str = ""
) -> dict[str, object]:
    """The JSON Schema of a mapping that has no other keys than these."""
    schema: dict[str, object] = {"description": about} if about else {}
    schema |= {"type": "object", "properties": properties}
    return schema | ({"required": required} if required else {}) | {"additionalProperties": False}


def one_or_list(item: Mapping[str, object], **limits: int) -> dict[str, object]:
    """The JSON Schema of a value or a list of such values; ``limits`` are those of the list."""
    return {"anyOf": [item, {"type": "array", "items": item, **limits}]}


def reference(value: object) -> Ref:
    """A reference to an array or an array element: ``y``, ``Y[l]``."""
    match expression(value):
        case Sym(name=name):
            return Ref(name, ())
        case Ref() as ref:
            return ref
    raise ValueError(f"{describe(value)} is not an array or an element of one")


def coefficient(value: object) -> float:
    """A coefficient: a number, or the text of an exact expression such as ``(4 - sqrt(6))/10``."""
    try:
        return float(number(expression(value), {}))
    except OverflowError as error:
        raise ValueError(f"{describe(value)} is too large") from error


def range_(value: object) -> tuple[Expr, Expr]:
    """The bounds of a half-open range: ``[N, n - N)``."""
    if not isinstance(value, str):
        raise ValueError(f'{describe(value)} is not a range such as "[0, n)"')
    text = value.strip()
    comma = _top_comma(text[1:-1])
    if not (text.startswith("[") and text.endswith(")")) or comma is None:
        raise ValueError(f'{describe(value)} is not a range such as "[0, n)"')
    return parse(text[1 : comma + 1]), parse(text[comma + 2 : -1])


def _top_comma(text: str) -> int | None:
    """The position of the only comma outside brackets; None where there is not exactly one."""
    depth, places = 0, []
    for i, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            places.append(i)
    return places[0] if len(places) == 1 else None


def plain(value: object) -> Value:
    """A plain value: text, a whole number, true, false or null."""
    if isinstance(value, str | bool | int) or value is None:
        return value
    raise ValueError(f"{describe(value)} is not text, a whole number, true or false")


def choices(value: object) -> tuple[Value, ...]:
    """One or several plain values, from one value or a list."""
    return tuple(plain(v) for v in value) if isinstance(value, list) else (plain(value),)


def as_share(value: object) -> float:
    """A share, written as ``30 %`` or ``0.3``; -1 for what is none."""
    text = "" if isinstance(value, bool) else str(value).strip()
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        return -1.0


def port(value: object) -> str:
    """The name of a port; a plain number such as ``0`` is a name too."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError(f"{describe(value)} is not the name of a port")
    return str(value)


_PERCENT = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*%\s*")
_PRINTED = ("printed", "corrected", "suspect", "reason")


def _printed_time(value: object) -> float:
    return _quantity(value, "time", zero=False, signed=False)


def _printed_share(value: object) -> float:
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{describe(value)} is not a percentage such as -3.6 %")
    return float(f"{match.group(1)}e-2")


def printed(number: Callable[[object], float]) -> Callable[[object], Figure]:
    """A reader of a number as it was printed in a publication, or of a mapping that marks its
    erratum.
    """

    def read(value: object) -> Figure:
        if not isinstance(value, dict):
            return Figure(printed=number(value))
        for key in value:
            if key not in _PRINTED:
                hint = nearest(str(key), _PRINTED)
                raise ValueError(f"unknown key {key!r}; {one_of(_PRINTED)} {hint and f'({hint})'}")
        suspect, reason = value.get("suspect", False), value.get("reason", "")
        if not isinstance(suspect, bool) or not isinstance(reason, str):
            raise ValueError("suspect is true or false, reason is text")
        corrected = value.get("corrected")
        return Figure(
            printed=number(value.get("printed")),
            corrected=None if corrected is None else number(corrected),
            suspect=suspect,
            reason=reason,
        )

    return read


def _printed_schema(example: str) -> Mapping[str, object]:
    number = {"type": "string", "examples": [example]}
    keys = {"printed": number, "corrected": number, "suspect": {"type": "boolean"},
            "reason": {"type": "string"}}  # fmt: skip
    return {"anyOf": [number, object_schema(keys, ["printed"])]}


ATOMS = (Num, Sym, Ref, Neg, Bin, Call, Cond, Condition, Figure)
"""Classes of values with a notation of their own."""
NUMBER_OR_TEXT = {"type": ["string", "number"]}
_PLAIN = {"type": ["string", "integer", "boolean", "null"]}

NOTATIONS: dict[object, Notation] = {
    Expr: Notation(read=expression, stand_in=0, schema=NUMBER_OR_TEXT),
    Ref: Notation(read=reference, schema={"type": "string", "examples": ["Y[l]"]}),
    "coefficient": Notation(read=coefficient, schema=NUMBER_OR_TEXT),
    "range": Notation(
        read=range_, stand_in="[0, 0)", schema={"type": "string", "examples": ["[0, n)"]}
    ),
    "plain": Notation(read=plain, schema=_PLAIN),
    "choices": Notation(read=choices, schema=one_or_list(_PLAIN)),
    "cycles": quantity(Cycles),
    "cycles or zero": quantity(Cycles, zero=True),
    "printed time": Notation(read=printed(_printed_time), schema=_printed_schema("2.48 s")),
    "printed share": Notation(read=printed(_printed_share), schema=_printed_schema("-3.6 %")),
    "port": Notation(read=port, stand_in="0", schema={"type": ["string", "integer"]}),
}
"""By the type of the value, or by the name that ``InNotation`` gives."""
