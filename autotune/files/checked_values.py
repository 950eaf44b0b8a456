"""JSON of other programs as frozen classes: every value is checked against its annotation.

``codec`` trusts what this package wrote. A file that a user's program or an editor wrote is read
here: a text in place of a number is an error with its place, not a wrong result.
"""

import dataclasses
import functools
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar, Union

from autotune.errors import Fault, InputError, describe, nearest, one_of
from autotune.files import codec
from autotune.files.parsing import strict_json, text_content
from autotune.files.parsing.faults import Faults, printable

T = TypeVar("T")

_LARGEST = 10**300
"""Numbers beyond are refused: sums of them would be infinite."""
_SCALARS: Mapping[object, str] = {
    int: "a whole number", float: "a number", str: "text", bool: "true or false",
    types.NoneType: "null",
}  # fmt: skip


def read(kind: type[T], path: Path, schema: str, formats: str, largest: int) -> T:
    """The value of a class that a JSON file of at most ``largest`` bytes holds.

    ``schema`` is the value of its key ``schema``, ``formats`` describes what was expected.
    Raises InputError with the place of all that does not fit.
    """
    faults = Faults(str(path))
    text = text_content.text(path, faults, formats, largest)
    content = strict_json.document(text, faults, formats)
    stated = content.get("schema")
    if stated != schema:
        words = "no key 'schema'" if stated is None else f"schema {stated!r}"
        raise faults.fail("", words, f"{schema!r}, {formats}", _other_version(stated, schema))
    for misfit in misfits(kind, content):
        faults.add(*misfit)
    faults.settle()
    try:
        return codec.load(kind, text)
    except ValueError as error:
        raise InputError(Fault(where=str(path), found=printable(str(error)))) from error


def _other_version(stated: object, schema: str) -> str:
    """A hint where a schema differs in its version only."""
    if not isinstance(stated, str) or stated.partition("/")[0] != schema.partition("/")[0]:
        return ""
    return "another version of autotune wrote it: use the same for the run and for the check"


def misfits(kind: object, value: object, place: str = "") -> Iterator[tuple[str, str, str]]:
    """Every part of a JSON value that an annotation does not allow: place, found, expected.

    >>> list(misfits(tuple[int, ...], [1, "2"]))
    [('1', "text '2'", 'a whole number')]
    """
    while isinstance(kind, typing.NewType):
        kind = kind.__supertype__
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        yield from misfits(inner[0], value, place)
    elif origin in (Union, types.UnionType):
        yield from _of_union(inner, value, place)
    elif origin is typing.Literal:
        if not (isinstance(value, str) and value in inner):
            yield place, _near(value, inner), one_of([str(name) for name in inner])
    elif origin is tuple:
        parts = inner[:1] if inner[-1] is Ellipsis else inner
        yield from _of_list(parts, value, place, endless=inner[-1] is Ellipsis)
    elif isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        parts = tuple(_hints(kind).values())
        yield from _of_list(parts, value, place, endless=False)
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            yield place, describe(value), "keys and values"
            return
        for key, item in value.items():
            yield from misfits(inner[1], item, _joined(place, key))
    elif dataclasses.is_dataclass(kind) and isinstance(kind, type):
        yield from _of_fields(kind, value, place)
    elif not _is_scalar(kind, value):
        yield place, describe(value), _SCALARS.get(kind, f"a value of {kind}")


def _is_scalar(kind: object, value: object) -> bool:
    if kind is types.NoneType:
        return value is None
    if kind in (int, float):
        number = isinstance(value, int if kind is int else int | float)
        return number and not isinstance(value, bool) and abs(typing.cast(float, value)) < _LARGEST
    return isinstance(kind, type) and isinstance(value, kind)


def _of_union(
    kinds: tuple[object, ...], value: object, place: str
) -> Iterator[tuple[str, str, str]]:
    faults = [list(misfits(kind, value, place)) for kind in kinds]
    if all(faults):
        wider = [fault for fault in faults if fault[0][0] != place]
        if wider:  # the value has the form of this choice, but a part of it does not fit
            yield from wider[0]
        else:
            yield place, describe(value), " or ".join(fault[0][2] for fault in faults)


def _of_list(
    parts: tuple[object, ...], value: object, place: str, *, endless: bool
) -> Iterator[tuple[str, str, str]]:
    if not isinstance(value, list):
        yield place, describe(value), "a list"
        return
    if not endless and len(value) != len(parts):
        yield place, f"a list of {len(value)}", f"a list of {len(parts)}"
        return
    for number, item in enumerate(value):
        yield from misfits(parts[0 if endless else number], item, _joined(place, number))


def _of_fields(kind: type, value: object, place: str) -> Iterator[tuple[str, str, str]]:
    if not isinstance(value, dict):
        yield place, describe(value), "keys and values"
        return
    hints = _hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    plain = _plain(kind)
    for key, item in value.items():
        if key in fields:
            if type(item) not in plain[key] or (type(item) is int and abs(item) >= _LARGEST):
                yield from misfits(hints[key], item, _joined(place, key))
        else:
            hint = nearest(key, fields)
            yield place, f"unknown key {key!r}" + (f", {hint}" if hint else ""), one_of([*fields])
    for name, field in fields.items():
        optional = (field.default, field.default_factory) != (dataclasses.MISSING,) * 2
        if name not in value and not optional:
            yield place, f"no key {name!r}", "all keys of its kind"


@functools.cache
def _plain(kind: type) -> Mapping[str, frozenset[type]]:
    """The types that a field of a class may have without a further look, by field."""
    return {name: frozenset(_exact_types(hint)) for name, hint in _hints(kind).items()}


def _exact_types(hint: object) -> Iterator[type]:
    if hint in (int, str, bool, types.NoneType):
        yield typing.cast(type, hint)
    elif typing.get_origin(hint) in (Union, types.UnionType):
        for part in typing.get_args(hint):
            yield from _exact_types(part)


@functools.cache
def _hints(kind: type) -> Mapping[str, object]:
    return typing.get_type_hints(kind)


def _near(value: object, choices: tuple[object, ...]) -> str:
    hint = nearest(str(value), [str(choice) for choice in choices])
    return describe(value) + (f", {hint}" if hint else "")


def _joined(place: str, part: object) -> str:
    return f"{place}.{part}" if place else str(part)
