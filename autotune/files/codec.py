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


def dump(value: object) -> str:
    """A value as JSON text; equal values give the same text.

    >>> dump((1, None))
    '[1,null]'
    """
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


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
        return _build(kind, json.loads(text))
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"the stored text is no {kind}: {error}") from error


def read(kind: type[T], values: Mapping[str, object]) -> T:
    """A dataclass from its fields by name; a text in a field of another type is read as JSON.

    So a row of a table gives the value back that ``columns`` made it of. Names that are no fields
    are ignored. Raises ValueError where a text holds something else.
    """
    hints = _hints(cast(Hashable, kind))
    return kind(
        **{
            name: _load(hint, value)
            if isinstance(value := values[name], str) and not is_scalar(hint)
            else value
            for name, hint in hints.items()
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


def _build(kind: object, value: object) -> object:
    """A value read from JSON, converted to the type of an annotation."""
    while isinstance(kind, typing.NewType):
        kind = kind.__supertype__
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(value, dict):
            raise TypeError(f"{kind.__name__} needs a mapping, not {type(value).__name__}")
        hints = _hints(kind)
        return kind(**{name: _build(hints[name], item) for name, item in value.items()})
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        kinds = tuple(typing.get_type_hints(kind).values())
        make = cast("Callable[..., object]", kind)
        return make(*_build_tuple(kinds, cast("list[object]", value)))
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        return _build_tuple(arguments, cast("list[object]", value))
    if origin is frozenset:
        return frozenset(_build(arguments[0], item) for item in cast("list[object]", value))
    if origin in (Union, types.UnionType):
        return None if value is None else _build(_single(arguments), value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, item = arguments
        items = cast("dict[str, object]", value).items()
        return {int(k) if key is int else k: _build(item, v) for k, v in items}
    return value


def _build_tuple(arguments: tuple[object, ...], values: list[object]) -> tuple[object, ...]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_build(arguments[0], item) for item in values)
    return tuple(_build(a, item) for a, item in zip(arguments, values, strict=True))


def _single(arguments: tuple[object, ...]) -> object:
    """The type X of a union ``X | None``; ``object`` for other unions, which are of scalars and
    need no conversion.
    """
    kinds = [a for a in arguments if a is not type(None)]
    return kinds[0] if len(kinds) == 1 else object
