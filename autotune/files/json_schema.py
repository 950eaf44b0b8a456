"""JSON Schemas (draft 2020-12) of frozen classes, for their YAML files and for their documents.

Both are made from the same annotated classes. In a file a quantity is text with a unit, and a key
may be left out where the class has a default. In a document a quantity is a number, and every key
is present.
"""

import ast
import dataclasses
import inspect
import itertools
import textwrap
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Union, cast, get_args, get_origin

from autotune.domain.annotations import (
    Bounds,
    FileColumn,
    FileHalf,
    FileKey,
    FileKeys,
    FileSection,
    OneKey,
    OneOf,
    ShortForm,
)
from autotune.files.config.facts import FORMS
from autotune.files.config.file_fields import (
    NOTATIONS,
    FileField,
    fields_of,
    is_record,
    literals,
    notation_of,
    required,
    split,
)
from autotune.files.config.notations import DIMENSIONS, object_schema

Schema = dict[str, object]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: Mapping[object, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", Path: "string",
}  # fmt: skip
_UNITS = {
    "size": "bytes", "frequency": "Hz", "time": "seconds", "bandwidth": "bytes per second",
    "throughput": "bytes per cycle", "cycles": "cycles",
}  # fmt: skip
_SOURCE = {"type": "string", "description": "where the value comes from"}
_UNVERIFIED = {"type": "boolean", "description": "the value was never checked"}


def file_schema(name: str, kind: type, *, sourced: bool = False) -> Schema:
    """The schema of the YAML files of a class; ``name`` is the value of their key ``schema``.

    ``sourced``: a value may be given with its source, ``{value: 4, source: a book}``.
    """
    writer = _FileSchema(sourced=sourced)
    body = writer.properties(kind)
    keys = {"schema": {"const": name}, **cast(Schema, body["properties"])}
    needed = ["schema", *cast("list[str]", body.get("required", []))]
    return _whole(name, body | {"properties": keys, "required": needed}, writer.definitions)


def document_schema(name: str, kind: type) -> Schema:
    """The schema of the documents of a class; ``name`` is the value of their key ``schema``."""
    writer = _DocumentSchema()
    body = writer.properties(kind)
    keys = {**cast(Schema, body["properties"]), "schema": {"const": name}}
    return _whole(name, body | {"properties": keys}, writer.definitions)


def data_schema(name: str, kind: type) -> Schema:
    """The schema of the JSON files of a class: as of a document, but keys with a default may be
    left out.
    """
    writer = _DocumentSchema(defaults=True)
    body = writer.properties(kind)
    keys = {**cast(Schema, body["properties"]), "schema": {"const": name}}
    needed = ["schema", *cast("list[str]", body.get("required", []))]
    return _whole(name, body | {"properties": keys, "required": needed}, writer.definitions)


def _whole(name: str, body: Schema, definitions: Schema) -> Schema:
    tail = {"$defs": dict(sorted(definitions.items()))} if definitions else {}
    return {"$schema": _DIALECT, "title": name, **body, **tail}


class _FileSchema:
    """Makes the schemas of types as YAML files have them; classes become definitions."""

    def __init__(self, *, sourced: bool) -> None:
        self.sourced = sourced
        self.definitions: Schema = {}

    def of(self, annotation: object) -> Schema:
        """The schema of an annotated type."""
        return self._typed(*split(annotation))

    def _typed(self, kind: object, notes: tuple[object, ...]) -> Schema:
        if kind in FORMS:
            return FORMS[kind].schema(self.of)
        single, inner = required(kind)
        if single in FORMS:
            return FORMS[single].schema(self.of)
        schema = self._plain(single, (*inner, *notes))
        short = next((item for item in notes if isinstance(item, ShortForm)), None)
        if short is not None:
            schema = {"anyOf": [{"const": short.text}, schema]}
        return _or_null(schema) if _may_be_none(kind) else schema

    def _plain(self, kind: object, notes: tuple[object, ...]) -> Schema:
        notation = notation_of(kind, notes)
        if notation is not None:
            return dict(notation.schema)
        while isinstance(kind, typing.NewType):
            kind = kind.__supertype__
        bounds = next((item for item in notes if isinstance(item, Bounds)), Bounds())
        names = next((item.names for item in notes if isinstance(item, OneOf)), ())
        if names:
            return {"enum": list(names)}
        if is_record(kind):
            return self.reference(kind)
        if kind in _PLAIN:
            return {"type": _PLAIN[kind]} | _limits(bounds, kind)
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin is Union:
            choices = literals(arguments)
            return {"enum": list(choices)} if choices else {"anyOf": [*map(self.of, arguments)]}
        if origin is tuple:
            return _list(
                arguments, bounds, [self.of(item) for item in arguments if item is not ...]
            )
        return {"type": "object", "additionalProperties": self._value(arguments[1])} | (
            {"minProperties": bounds.least} if bounds.least else {}
        )

    def reference(self, kind: type) -> Schema:
        """A pointer to the definition of a class."""
        if kind.__name__ not in self.definitions:
            self.definitions[kind.__name__] = {}
            self.definitions[kind.__name__] = self.properties(kind)
        return {"$ref": f"#/$defs/{kind.__name__}"}

    def properties(self, kind: type) -> Schema:
        """The schema of the keys of a class."""
        keys: Schema = {}
        needed: list[str] = []
        words = _field_docs(kind)
        for field in fields_of(kind):
            if not field.derived:
                self._add(field, words.get(field.name, ""), keys, needed)
        return object_schema(keys, list(dict.fromkeys(needed)), about(kind))

    def _add(self, field: FileField, words: str, keys: Schema, needed: list[str]) -> None:
        several, section = field.note(FileKeys), field.note(FileSection)
        column, half, choice = field.note(FileColumn), field.note(FileHalf), field.note(OneKey)
        if several is not None:
            for key, kind in several.kinds.items():
                about = [item.about for item in split(kind)[1] if isinstance(item, FileKey)]
                keys[key] = _or_null(self._value(kind)) | {"description": ". ".join(about)}
            return
        if choice is not None:
            keys |= {key: _or_null(self.of(kind)) for key, kind in choice.classes.items()}
            return
        if half is not None:
            keys[half.key] = dict(NOTATIONS[half.key].schema)
            needed.append(half.key)
            return
        if column is not None:
            rows = keys.setdefault(
                column.key, _list((), Bounds(least=1), [object_schema({}, [], "")])
            )
            row = cast(Schema, cast(Schema, rows)["items"])
            cast(Schema, row["properties"])[column.part] = self.of(get_args(field.kind)[0])
            cast("list[str]", row.setdefault("required", [])).append(column.part)
            needed.append(column.key)
            return
        if section is not None:
            inner = keys.setdefault(section.section, object_schema({}, [], ""))
            keys = cast(Schema, cast(Schema, inner)["properties"])
            if field.required:
                needed.append(section.section)
            needed = cast("list[str]", cast(Schema, inner).setdefault("required", []))
        keys[field.key] = self._described(field, words)
        if field.required:
            needed.append(field.key)

    def _described(self, field: FileField, words: str) -> Schema:
        schema = self._value(field.kind, field.notes)
        schema = _or_null(schema) if field.optional else schema
        key = field.note(FileKey)
        if key is not None and key.file:
            schema = {"anyOf": [schema, {"type": "string", "description": "the path of a file"}]}
        text = ". ".join(dict.fromkeys(sentence for sentence in (field.about, words) if sentence))
        default = _default(field)
        return (
            schema
            | ({"description": text} if text and "$ref" not in schema else {})
            | ({"default": default} if default is not None and "$ref" not in schema else {})
        )

    def _value(self, kind: object, notes: tuple[object, ...] = ()) -> Schema:
        """The schema of a value, which may be given with its source where ``sourced`` allows it."""
        schema = self._typed(kind, notes) if notes else self.of(kind)
        items = cast(Schema, schema.get("items", schema))
        plain = "$ref" not in items and schema.get("type") != "object"
        if not (self.sourced and plain):
            return schema
        keys: Schema = {"value": {}, "source": _SOURCE, "unverified": _UNVERIFIED}
        self.definitions["Sourced"] = object_schema(keys, ["value"], "A value with its source.")
        return {"anyOf": [schema, {"$ref": "#/$defs/Sourced"}]}


class _DocumentSchema:
    """Makes the schemas of types as documents have them, with every key present.

    ``defaults``: keys with a default may be left out.
    """

    def __init__(self, *, defaults: bool = False) -> None:
        self.defaults = defaults
        self.definitions: Schema = {}

    def of(self, annotation: object) -> Schema:
        """The schema of an annotated type; it allows null for numbers, since numbers that are not
        finite become null.
        """
        kind, _ = split(annotation)
        if isinstance(kind, typing.NewType):
            words = _UNITS.get(DIMENSIONS.get(kind, ""), "")
            schema = self.of(kind.__supertype__)
            return schema | ({"description": words} if words else {})
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            return self.reference(kind)
        if kind is float:
            return {"type": ["number", "null"]}
        if kind in _PLAIN:
            return {"type": _PLAIN[kind]}
        if kind is types.NoneType:
            return {"type": "null"}
        if is_record(kind):
            hints = typing.get_type_hints(kind, include_extras=True)
            return _list((), Bounds(), [self.of(hints[f.name]) for f in fields_of(kind)], row=True)
        return self._generic(kind)

    def _generic(self, kind: object) -> Schema:
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in (Union, types.UnionType):
            return _any_of([self.of(argument) for argument in arguments])
        if origin is tuple and arguments[-1] is not ...:
            return _list(arguments, Bounds(), [*map(self.of, arguments)], row=True)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        if arguments:
            return _list((arguments[0], ...), Bounds(), [self.of(arguments[0])])
        return {}

    def reference(self, kind: type) -> Schema:
        """A pointer to the definition of a class."""
        if kind.__name__ not in self.definitions:
            self.definitions[kind.__name__] = {}
            self.definitions[kind.__name__] = self.properties(kind)
        return {"$ref": f"#/$defs/{kind.__name__}"}

    def properties(self, kind: type) -> Schema:
        """The schema of the fields of a class."""
        hints = typing.get_type_hints(kind, include_extras=True)
        words = _field_docs(kind)
        keys: Schema = {}
        for field in dataclasses.fields(kind):
            schema = self.of(hints[field.name])
            text = words.get(field.name, "")
            keys[field.name] = schema | (
                {"description": text} if text and "$ref" not in schema else {}
            )
        needed = [
            field.name
            for field in dataclasses.fields(kind)
            if not self.defaults or field.default is field.default_factory is dataclasses.MISSING
        ]
        return object_schema(keys, needed, about(kind))


def _list(
    arguments: tuple[object, ...], bounds: Bounds, items: list[Schema], *, row: bool = False
) -> Schema:
    """The schema of a list of equal items, or of a list with one item per type."""
    if row or (arguments and arguments[-1] is not ...):
        count = len(items)
        return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}
    schema: Schema = {"type": "array", "items": items[0]}
    if bounds.least:
        schema["minItems"] = bounds.least
    if bounds.most:
        schema["maxItems"] = bounds.most
    return schema


def _limits(bounds: Bounds, kind: object) -> Schema:
    if kind is str:
        return {"minLength": bounds.least} if bounds.least else {}
    limits = {
        "minimum": bounds.least, "exclusiveMinimum": bounds.above,
        "maximum": bounds.most, "exclusiveMaximum": bounds.below,
    }  # fmt: skip
    return {name: limit for name, limit in limits.items() if limit is not None}


def _may_be_none(annotation: object) -> bool:
    kind = split(annotation)[0]
    return get_origin(kind) in (Union, types.UnionType) and types.NoneType in get_args(kind)


def _or_null(schema: Schema) -> Schema:
    if isinstance(schema.get("type"), str):
        return schema | {"type": [schema["type"], "null"]}
    return _any_of([schema, {"type": "null"}])


def _any_of(schemas: list[Schema]) -> Schema:
    """The schema that allows any of several schemas; plain types are listed in one schema."""
    kinds: list[object] = []
    for schema in schemas:
        kind = schema.get("type")
        if set(schema) != {"type"} or kind is None:
            distinct = [
                alternative
                for i, alternative in enumerate(schemas)
                if alternative not in schemas[:i]
            ]
            return {"anyOf": distinct}
        kinds += kind if isinstance(kind, list) else [kind]
    return {"type": list(dict.fromkeys(kinds))}


def _default(field: FileField) -> object:
    value = field.default
    return value if isinstance(value, str | int | float) and value != "" else None


def about(kind: type) -> str:
    """The first paragraph of the docstring of a class, as one line."""
    paragraph = (kind.__doc__ or "").partition("\n\n")[0]
    return " ".join(paragraph.split()).replace("``", "`")


def _field_docs(kind: type) -> dict[str, str]:
    """The docstrings of the fields of a class, and of the classes that it extends, by
    field name.
    """
    texts: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("autotune."):
            texts |= _texts_of(base)
    return texts


def _texts_of(kind: type) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    except (OSError, TypeError, SyntaxError):
        return {}
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    texts: dict[str, str] = {}
    for statement, after in itertools.pairwise(body):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            texts[statement.target.id] = " ".join(str(after.value.value).split())
    return texts
