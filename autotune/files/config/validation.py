"""Models against documents: each fault with its place, what was found and what is allowed."""

import copy
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from pydantic.fields import FieldInfo

from autotune.errors import nearest, one_of
from autotune.files.config.fields import Model, Unreadable
from autotune.files.config.session import Session
from autotune.files.config.yaml_document import Document, Keys, describe

M = TypeVar("M", bound=Model)

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "keys and values",
    "model_type": "keys and values",
    "model_attributes_type": "keys and values",
    "string_too_short": "text that is not empty",
}
_BOUNDS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def tag(name: str) -> str:
    """The tag of a model that is one of several, chosen by what a mapping holds.

    It stands in the way from the root to a value, but not in the file.
    """
    return f"<{name}>"


def _is_tag(key: str | int) -> bool:
    return isinstance(key, str) and key.startswith("<")


def _in_file(keys: Sequence[str | int]) -> Keys:
    return tuple(key for key in keys if not _is_tag(key))


def validate(session: Session, document: Document, model: type[M]) -> M | None:
    """The content of a document as a model, or None and faults.

    Where the faults can be left out (unknown keys, optional values, expressions), a model without
    them comes beside the faults, so that the rest is checked too.
    """
    try:
        return model.model_validate(document.root)
    except ValidationError as error:
        details = error.errors(include_url=False)
    for detail in details:
        _add(session, document, model, detail)
    try:
        return model.model_validate(_without(document.root, model, details))
    except ValidationError:
        return None


def _without(root: Any, model: type[Model], details: Sequence[Mapping[str, Any]]) -> Any:  # noqa: ANN401
    """A copy of the values that lacks the faulty ones, where it can do without them."""
    root = copy.deepcopy(root)
    for detail in details:
        keys = detail["loc"]
        error = detail.get("ctx", {}).get("error")
        holder = root
        for key in _in_file(keys[:-1]):
            holder = holder[key]
        if isinstance(error, Unreadable) and error.stand_in is not None:
            holder[keys[-1]] = error.stand_in
        elif isinstance(holder, dict) and keys and keys[-1] in holder:
            inner = _inner(model, keys[:-1])
            field = _fields(inner).get(str(keys[-1])) if inner else None
            if field is None or not field.is_required():
                del holder[keys[-1]]
    return root


def _add(
    session: Session, document: Document, model: type[Model], detail: Mapping[str, Any]
) -> None:
    way: Keys = tuple(detail["loc"])
    keys = _in_file(way)
    kind, context = detail["type"], detail.get("ctx", {})
    where = document.place(keys)
    found = f"{_named(keys)}{describe(detail['input'])}"
    if kind == "missing":
        use = _description(model, way)
        session.add(document.place(keys[:-1]), f"the key {keys[-1]!r} is missing", use)
    elif kind == "extra_forbidden":
        known = _known_keys(model, way[:-1])
        hint = nearest(str(keys[-1]), known)
        session.add(document.key(keys), f"unknown key {keys[-1]!r}", one_of(sorted(known)), hint)
    elif kind == "literal_error":
        hint = ""
        if isinstance(detail["input"], str):
            hint = nearest(detail["input"], str(context["expected"]).replace("'", "").split(", "))
        session.add(where, found, str(context["expected"]), hint)
    elif kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        session.add(where, found, f"{words} {context[name]}")
    elif kind in ("too_short", "too_long"):
        bound = context.get("min_length", context.get("max_length"))
        words = "at least" if kind == "too_short" else "at most"
        found = f"{_named(keys)}{context['actual_length']} values"
        session.add(where, found, f"{words} {bound}")
    elif kind == "value_error":
        session.add(where, f"{_named(keys)}{context['error']}")
    else:
        session.add(where, found, _EXPECTED.get(kind, detail["msg"]))


def _named(keys: Keys) -> str:
    """The innermost key by name, as the subject of a fault."""
    names = [key for key in keys if isinstance(key, str)]
    return f"{names[-1]}: " if names else ""


def _known_keys(model: type[BaseModel], keys: Sequence[str | int]) -> list[str]:
    inner = _inner(model, keys)
    return list(_fields(inner)) if inner else []


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by the keys that stand for them in a file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _description(model: type[BaseModel], keys: Keys) -> str:
    inner = _inner(model, keys[:-1])
    field = _fields(inner).get(str(keys[-1])) if inner else None
    return (field.description if field else None) or ""


def _inner(annotation: object, keys: Sequence[str | int]) -> type[BaseModel] | None:
    """The model that describes the mapping at ``keys``."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _inner(get_args(annotation)[0], keys)
    if origin in (Union, UnionType):
        if keys and _is_tag(keys[0]):
            tagged = [o for o in get_args(annotation) if Tag(str(keys[0])) in get_args(o)]
            if tagged:
                return _inner(tagged[0], keys[1:])
        for option in get_args(annotation):
            if option is not NoneType and (inner := _inner(option, keys)):
                return inner
        return None
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if not keys:
            return annotation
        field = _fields(annotation).get(str(keys[0]))
        return _inner(field.annotation, keys[1:]) if field else None
    if origin in (list, dict) and keys:
        return _inner(get_args(annotation)[-1], keys[1:])
    return None
