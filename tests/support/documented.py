"""A JSON document beside the frozen class that documents it."""

import collections.abc
import dataclasses
import pathlib
import types
import typing

from autotune.units import Unbounded

_PLAIN: dict[object, tuple[type, ...]] = {
    str: (str,),
    pathlib.Path: (str,),
    int: (int,),
    float: (int, float),
    bool: (bool,),
    types.NoneType: (types.NoneType,),
}


def documented(value: object, annotation: object, place: str) -> None:
    """AssertionError, with the place, unless the keys of a document are exactly the fields of its
    class, and its values of the types that it names, at every depth."""
    while isinstance(annotation, typing.NewType):
        annotation = annotation.__supertype__
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation == Unbounded:
        documented(value, float | None, place)
    elif origin is typing.Annotated:
        documented(value, inner[0], place)
    elif origin in (typing.Union, types.UnionType):
        _one_of(value, inner, place)
    elif origin is typing.Literal:
        assert value in inner, f"{place}: {value!r} is none of {inner}"
    elif origin is tuple:
        _list(value, inner, place)
    elif origin is frozenset:
        _list(value, (inner[0], ...), place)
    elif origin is collections.abc.Mapping:
        assert isinstance(value, dict), place
        for key, item in value.items():
            documented(item, inner[1], f"{place}.{key}")
    elif isinstance(annotation, type) and issubclass(annotation, tuple):
        _list(value, tuple(typing.get_type_hints(annotation).values()), place)
    elif isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        assert isinstance(value, dict), place
        hints = typing.get_type_hints(annotation, include_extras=True)
        assert list(value) == [field.name for field in dataclasses.fields(annotation)], place
        for name, item in value.items():
            documented(item, hints[name], f"{place}.{name}")
    else:
        assert annotation in _PLAIN, f"{place}: {annotation} has no form in JSON"
        assert isinstance(value, _PLAIN[annotation]), f"{place}: {value!r} is no {annotation}"
        assert annotation is bool or not isinstance(value, bool), place


def _list(value: object, inner: tuple[object, ...], place: str) -> None:
    assert isinstance(value, list), place
    if len(inner) == 2 and inner[1] is Ellipsis:
        inner = (inner[0],) * len(value)
    for item, annotation in zip(value, inner, strict=True):
        documented(item, annotation, f"{place}[]")


def _one_of(value: object, options: tuple[object, ...], place: str) -> None:
    if value is None and types.NoneType in options:
        return
    faults = []
    for option in options:
        if option is types.NoneType:
            continue
        try:
            documented(value, option, place)
        except AssertionError as error:
            faults.append(error)
        else:
            return
    raise faults[-1]
