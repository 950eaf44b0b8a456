"""Converts frozen dataclasses to JSON and back, without code for each class.

It covers the types of the domain: numbers, text, None, paths, tuples, frozen dataclasses, and
mappings with text or integer keys. Reading repeats the checks that classes make at construction.
The store keeps values as JSON text; the commands print them as documents.
"""

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Union, cast

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


def dump(value: object, *, ordered: bool = True) -> str:
    """A value as JSON text; equal values give the same text, if ``ordered`` by keys.

    >>> dump((1, None))
    '[1,null]'
    """
    return json.dumps(_plain(value), sort_keys=ordered, separators=(",", ":"))


def document(value: object) -> object:
    """A value in JSON's own types: a dataclass becomes a mapping, a number that is not finite
    becomes None.

    >>> document({"working set": (4096, math.inf)})
    {'working set': [4096, None]}
    """
    return _plain(value, finite=True)


def fields(value: "DataclassInstance") -> dict[str, object]:
    """The fields of a dataclass by name, each in JSON's own types."""
    return cast("dict[str, object]", document(value))


def load(kind: type[T], text: str) -> T:
    """The value of a class that a JSON text holds; ValueError where the text holds
    something else.
    """
    return cast(T, _load(kind, text))


def _load(kind: object, text: str) -> object:
    """The value that a JSON text holds, of a type such as ``Machine`` or ``tuple[Part, ...]``."""
    try:
        return _converted(_converter(kind), json.loads(text))
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"the stored text is no {kind}: {error}") from error


def read(kind: type[T], values: Mapping[str, object]) -> T:
    """A dataclass from its fields by name; a text in a field of another type is read as JSON.

    So a row of a table gives the value back that ``columns`` made it of. Names that are no fields
    are ignored. Raises ValueError where a text holds something else.
    """
    return kind(
        **{
            name: _load(hint, value)
            if isinstance(value := values[name], str) and hint is not None
            else value
            for name, hint in _from_text(cast(Hashable, kind))
        }
    )


def columns(value: "DataclassInstance") -> dict[str, str | int | float | bool | None]:
    """The fields of a dataclass as columns of a table: numbers and text as they are, all other
    values as JSON text.
    """
    hints = _hints(type(value))
    return {
        name: cast("str | int | float | bool | None", item)
        if (item := getattr(value, name)) is None or is_scalar(hint)
        else dump(item)
        for name, hint in hints.items()
    }


def is_scalar(hint: object) -> bool:
    """Whether an annotation is a number, a text, or a union of literal texts; each may also allow
    None.
    """
    return scalar(hint) is not None


@functools.cache
def scalar(hint: object) -> type | None:
    """``int``, ``float``, ``bool`` or ``str`` for the annotation of a field of this type; None for
    other annotations.
    """
    while isinstance(hint, typing.NewType):
        hint = hint.__supertype__
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return scalar(inner[0])
    if origin is typing.Literal:
        return str
    if origin in (Union, types.UnionType):
        kinds = {scalar(part) for part in inner if part is not types.NoneType}
        return kinds.pop() if len(kinds) == 1 else None
    return hint if hint in (int, float, bool, str) else None


@functools.cache
def _hints(kind: Hashable) -> Mapping[str, object]:
    """The fields of a dataclass with their annotations."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(cast(type, kind))}


@functools.cache
def _from_text(kind: Hashable) -> tuple[tuple[str, object], ...]:
    """The fields of a dataclass, each with its annotation where a text is read as JSON; None where
    it stays a text.
    """
    hints = _hints(kind)
    return tuple((name, None if is_scalar(hint) else hint) for name, hint in hints.items())


def _plain(value: object, *, finite: bool = False) -> object:
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return {f.name: _plain(getattr(value, f.name), finite=finite) for f in fields}
    if isinstance(value, Mapping):
        return {str(key): _plain(item, finite=finite) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item, finite=finite) for item in value]
    if isinstance(value, frozenset):
        return sorted((_plain(item, finite=finite) for item in value), key=json.dumps)
    if finite and isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


_Converter = Callable[[object], object]
"""From JSON's own types to those of an annotation."""


def _converted(convert: _Converter | None, value: object) -> object:
    """A value read from JSON, as a converter makes it; None: as it is."""
    return value if convert is None else convert(value)


@functools.cache
def _converter(kind: Hashable) -> _Converter | None:
    """The converter to the type of an annotation, put together once, since a study has many
    thousands of values of few types; None where values stay as they are.
    """
    while isinstance(kind, typing.NewType):
        kind = kind.__supertype__
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return functools.partial(_to_dataclass, kind)
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        parts = _converters(tuple(typing.get_type_hints(kind).values()))
        make = cast("Callable[..., object]", kind)
        return lambda value: make(*_to_tuple(parts, value))
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        return _to_items(tuple, arguments[0]) if _endless(arguments) else _tuple(arguments)
    if origin is frozenset:
        return _to_items(frozenset, arguments[0])
    if origin in (Union, types.UnionType):
        return _optional(_converter(_single(arguments)))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _to_mapping(*arguments)
    return None


def _converters(kinds: tuple[object, ...]) -> tuple[_Converter | None, ...]:
    return tuple(_converter(kind) for kind in kinds)


@functools.cache
def _field_converters(kind: Hashable) -> Mapping[str, _Converter | None]:
    """The converters of the fields of a dataclass, made when the first one is read: a class may
    hold itself.
    """
    return {name: _converter(hint) for name, hint in _hints(kind).items()}


def _to_dataclass(kind: type, value: object) -> object:
    if not isinstance(value, dict):
        raise TypeError(f"{kind.__name__} needs a mapping, not {type(value).__name__}")
    converters = _field_converters(kind)
    return kind(**{name: _converted(converters[name], item) for name, item in value.items()})


def _endless(arguments: tuple[object, ...]) -> bool:
    """Whether the arguments are those of ``tuple[X, ...]``."""
    return len(arguments) == 2 and arguments[1] is Ellipsis


def _tuple(arguments: tuple[object, ...]) -> _Converter:
    parts = _converters(arguments)
    return lambda value: _to_tuple(parts, value)


def _to_tuple(parts: tuple[_Converter | None, ...], value: object) -> tuple[object, ...]:
    values = cast("list[object]", value)
    return tuple(_converted(part, item) for part, item in zip(parts, values, strict=True))


def _to_items(make: Callable[..., object], kind: object) -> _Converter:
    """The converter of a list to a collection of values of one type."""
    convert = _converter(kind)
    if convert is None:
        return make
    return lambda value: make(convert(item) for item in cast("list[object]", value))


def _optional(convert: _Converter | None) -> _Converter | None:
    return convert and (lambda value: None if value is None else convert(value))


def _to_mapping(key: object, item: object) -> _Converter | None:
    """The converter of a mapping; keys are texts in JSON."""
    convert = _converter(item)
    if convert is None and key is not int:
        return None

    def mapping(value: object) -> object:
        items = cast("dict[str, object]", value).items()
        return {int(k) if key is int else k: _converted(convert, v) for k, v in items}

    return mapping


def _single(arguments: tuple[object, ...]) -> object:
    """The type X of a union ``X | None``; ``object`` for other unions, which are of scalars and
    need no conversion.
    """
    kinds = [a for a in arguments if a is not type(None)]
    return kinds[0] if len(kinds) == 1 else object
