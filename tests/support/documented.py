"""A JSON document beside the TypedDict that documents it."""

import types
import typing

_PLAIN: dict[object, tuple[type, ...]] = {
    str: (str,),
    int: (int,),
    float: (int, float),
    bool: (bool,),
    types.NoneType: (types.NoneType,),
}


def documented(value: object, annotation: object, place: str) -> None:
    """AssertionError, with the place, unless the keys of a document are exactly those of its
    TypedDict, and its values of the types that it names, at every depth."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        _one_of(value, inner, place)
    elif origin is typing.Literal:
        assert value in inner, place
    elif origin is list:
        assert isinstance(value, list), place
        for item in value:
            documented(item, inner[0], f"{place}[]")
    elif origin is dict:
        assert isinstance(value, dict), place
        for key, item in value.items():
            documented(item, inner[1], f"{place}.{key}")
    elif typing.is_typeddict(annotation):
        assert isinstance(value, dict), place
        hints = typing.get_type_hints(annotation)
        assert set(value) == set(hints), place
        for name, hint in hints.items():
            documented(value[name], hint, f"{place}.{name}")
    elif annotation in _PLAIN:
        assert isinstance(value, _PLAIN[annotation]), f"{place}: {value!r} is no {annotation}"
        assert annotation is bool or not isinstance(value, bool), place


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
