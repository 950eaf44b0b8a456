"""The fields of frozen classes as YAML files have them: key, type, annotations, default."""

import dataclasses
import types
import typing
from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from functools import cache
from typing import Annotated, Literal, TypeGuard, TypeVar, Union, get_args, get_origin

from autotune.domain.annotations import (
    Bounds,
    Derived,
    FileColumn,
    FileHalf,
    FileKey,
    FileKeys,
    FileSection,
    InNotation,
    OneKey,
    Signed,
)
from autotune.files.config import notations, study_notations
from autotune.files.config.notations import DIMENSIONS, Notation, quantity
from autotune.files.config.program import program_notations

T = TypeVar("T")

NOTATIONS = {
    **notations.NOTATIONS,
    **program_notations.NOTATIONS,
    **study_notations.NOTATIONS,
}
"""How values are written that have a notation of their own, by type or by name."""


@dataclass(frozen=True, slots=True)
class FileField:
    """One field of a class as a YAML file has it."""

    name: str
    key: str
    kind: object
    """Its type without annotations."""
    notes: tuple[object, ...]
    """Its annotations."""
    about: str
    required: bool
    optional: bool
    """Absent or null, its reader knows a value; the draft has None."""
    derived: bool
    default: object
    """The value where the key is absent; MISSING where there is none."""

    def note(self, kind: type[T]) -> T | None:
        """The annotation of this kind on the field; None where there is none."""
        return note(self.notes, kind)


def note(notes: Sequence[object], kind: type[T]) -> T | None:
    """The first annotation of this kind; None where there is none."""
    return next((item for item in notes if isinstance(item, kind)), None)


def split(annotation: object) -> tuple[object, tuple[object, ...]]:
    """The type and the annotations of an annotated type."""
    if get_origin(annotation) is Annotated:
        kind, *notes = get_args(annotation)
        return kind, tuple(notes)
    return annotation, ()


def required(annotation: object) -> tuple[object, tuple[object, ...]]:
    """The type and the annotations of an annotated type, with ``None`` removed from the type."""
    if get_origin(annotation) in (Union, types.UnionType):
        rest = tuple(
            argument for argument in get_args(annotation) if argument is not types.NoneType
        )
        return split(Union[rest])  # noqa: UP007
    return split(annotation)


def fields_of(kind: type) -> tuple[FileField, ...]:
    """The fields of a frozen class or a NamedTuple, without fields that the class
    computes itself.
    """
    return _fields(kind)


@cache
def _fields(kind: type) -> tuple[FileField, ...]:
    hints = typing.get_type_hints(kind, include_extras=True)
    if not dataclasses.is_dataclass(kind):
        usual = getattr(kind, "_field_defaults", {})
        return tuple(_field(n, hints[n], usual.get(n, MISSING)) for n in kind._fields)  # type: ignore[attr-defined]
    return tuple(
        _field(
            field.name,
            hints[field.name],
            field.default if field.default_factory is MISSING else field.default_factory(),
        )
        for field in dataclasses.fields(kind)
        if field.init
    )


def _field(name: str, annotation: object, default: object) -> FileField:
    kind, notes = split(annotation)
    key, section = note(notes, FileKey) or FileKey(), note(notes, FileSection)
    return FileField(
        name=name,
        key=key.name or (section.key if section else "") or name,
        kind=kind,
        notes=notes,
        about=key.about,
        required=key.required or (default is MISSING and not key.optional),
        optional=key.optional,
        derived=note(notes, Derived) is not None,
        default=default,
    )


def notation_of(kind: object, notes: Sequence[object]) -> Notation | None:
    """The notation in which values of an annotated type are written; None where there is no special
    one.
    """
    written = note(notes, InNotation)
    if written is not None:
        return NOTATIONS[written.notation]
    if isinstance(kind, typing.NewType) and kind in DIMENSIONS:
        bound = note(notes, Bounds)
        zero = bound is not None and bound.least == 0
        return quantity(kind, zero=zero, signed=note(notes, Signed) is not None)
    try:
        return NOTATIONS.get(kind)
    except TypeError:
        return None


def is_record(kind: object) -> TypeGuard[type]:
    """Whether the type is a frozen class or a NamedTuple, which a file writes as keys
    and values.
    """
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"))


def literals(arguments: Sequence[object]) -> tuple[object, ...]:
    """The values of a union of literals; empty for any other union."""
    if not all(get_origin(argument) is Literal for argument in arguments):
        return ()
    return tuple(name for argument in arguments for name in get_args(argument))


def is_keyed_by_name(kind: type) -> bool:
    """Whether the class has a derived field ``name``, whose value a file states as the key of the
    instance.
    """
    return any(field.name == "name" and field.derived for field in fields_of(kind))


@cache
def keys_of(kind: type) -> tuple[str, ...]:
    """The keys that a file may have for a class."""
    fields = [field for field in fields_of(kind) if not field.derived]
    names: list[str] = []
    for field in fields:
        choice, section = field.note(OneKey), field.note(FileSection)
        several = field.note(FileKeys)
        part = field.note(FileColumn) or field.note(FileHalf)
        if choice is not None:
            names += choice.classes
        elif several is not None:
            names += several.kinds
        elif section is not None:
            names.append(section.section)
        else:
            names.append(part.key if part else field.key)
    return tuple(dict.fromkeys(names))
