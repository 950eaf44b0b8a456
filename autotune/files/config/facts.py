"""Reads frozen classes from YAML; each fault states its place, what was there, and what is allowed.

``draft`` reads the keys of a class into an instance whose ``__post_init__`` has not run, so that
keys can be checked against one another first, each fault at its place. ``settle`` then constructs
the instance again, with the checks of the class.
"""

import contextlib
import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar, Union, cast, get_args, get_origin

from autotune import paths
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
    Text,
)
from autotune.domain.misfit import Checked, Misfit, MisfitError
from autotune.domain.parameter_domain import FlagSet, ParameterDomain
from autotune.domain.program import ProgramConstraint, Template
from autotune.errors import describe, nearest, one_of
from autotune.files.config.file_fields import (
    NOTATIONS,
    FileField,
    fields_of,
    is_keyed_by_name,
    is_record,
    keys_of,
    literals,
    notation_of,
    note,
    required,
    split,
)
from autotune.files.config.notations import ATOMS, Notation
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import Document, Keys

T = TypeVar("T")

_ATOMS = (*ATOMS, Template, ProgramConstraint, ParameterDomain, FlagSet)
LOST = object()
"""Stands for a value that has a fault."""
_PLAIN = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def draft(
    session: Session, document: Document, kind: type[T], keys: Keys = (), **given: object
) -> T | None:
    """An unchecked instance of a class with the values in a document; None where they cannot be
    read.

    ``given`` are fields that the file need not or cannot state. Parts with faults that can be left
    out (unknown keys, optional values, expressions) are left out of the draft and their faults
    noted, so that the rest is checked too.
    """
    reader = FactReader(session, document)
    value: object = document.root
    for key in keys:
        value = value[key]  # type: ignore[index]
    made = reader.record(kind, value, keys, given)
    return None if reader.broken or made is LOST else cast(T, made)


def read_file(
    session: Session,
    path: Path,
    *,
    schema: str,
    kind: type[T],
    at: Keys = (),
    check: Callable[[T], Iterable[Misfit]] | None = None,
) -> T | None:
    """The value of a class in a file of this schema; None with faults noted where it is wrong.

    A class with a derived field ``name`` has the name of the file. ``at`` is that of ``settle``;
    ``check`` states what else makes a valid instance wrong.
    """
    faults_before = len(session.faults)
    document = session.open(path, schema)
    given = {"name": paths.stem(path)} if is_keyed_by_name(kind) else {}
    stated = draft(session, document, kind, (), **given) if document else None
    if document is None or stated is None:
        return None
    readable = len(session.faults) == faults_before
    value = settle(session, document, stated, at=at, readable=readable)
    if value is not None and check is not None:
        note_misfits(session, document, check(value))
    return value if len(session.faults) == faults_before else None


def settle(
    session: Session,
    document: Document,
    draft: T,
    keys: Keys = (),
    at: Keys = (),
    *,
    readable: bool = True,
) -> T | None:
    """The checked instance for a draft; None with faults noted where the checks of its class fail.

    The misfits that a class states are noted each at its place. Drafts inside it are settled
    before it is, but for those with misfits. ``at``: the keys of the place that any other fault of
    the outermost class names. Not ``readable``: some value has a stand-in; so nothing is
    constructed, only the misfits are noted.
    """
    faults_before = len(session.faults)
    wrong = tuple(draft.misfits()) if isinstance(draft, Checked) else ()
    note_misfits(session, document, wrong, keys)
    blamed = [(*keys, *misfit.keys) for misfit in wrong]
    values = {}
    for field in fields_of(type(draft)):
        value = getattr(draft, field.name)
        if not field.derived:
            place = (*keys, field.key)
            value = _settled(session, document, value, place, blamed, readable=readable)
        values[field.name] = value
    if len(session.faults) > faults_before or not readable:
        return None
    with faults_noted(session, document, keys, at):
        return type(draft)(**values)
    return None


@contextlib.contextmanager
def faults_noted(
    session: Session, document: Document, keys: Keys = (), at: Keys = ()
) -> Iterator[None]:
    """Note as faults what the checks of the class of the value at these keys refuse, each misfit
    at its place and any other fault at the keys ``at`` inside the value.
    """
    try:
        yield
    except MisfitError as error:
        note_misfits(session, document, error.misfits, keys)
    except ValueError as error:
        session.add(document.place((*keys, *at)), str(error))


def note_misfits(
    session: Session, document: Document, misfits: Iterable[Misfit], keys: Keys = ()
) -> None:
    """Note misfits of the value at these keys as faults, each at its place."""
    for misfit in misfits:
        place = document.key if misfit.of_key else document.place
        expected = misfit.expected
        if misfit.first:
            expected += f" (first at {document.place((*keys, *misfit.first))})"
        session.add(place((*keys, *misfit.keys)), misfit.found, expected, misfit.hint)


def altered(draft: T, **values: object) -> T:
    """A copy of a draft with other values in some fields."""
    kind = type(draft)
    kept = {f.name: getattr(draft, f.name) for f in fields_of(kind) if hasattr(draft, f.name)}
    return cast(T, _instance(kind, {**kept, **values}))


def _settled(
    session: Session,
    document: Document,
    value: object,
    keys: Keys,
    blamed: Sequence[Keys],
    *,
    readable: bool,
) -> object:
    """The value with all drafts in it settled, but for those at keys that lead to a misfit."""
    if isinstance(value, _ATOMS):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        if any(misfit[: len(keys)] == keys for misfit in blamed):
            return value
        return settle(session, document, value, keys, readable=readable)

    def inside(item: object, key: str | int) -> object:
        return _settled(session, document, item, (*keys, key), blamed, readable=readable)

    if type(value) is tuple:
        return tuple(inside(item, i) for i, item in enumerate(value))
    if isinstance(value, Mapping):
        return {key: inside(item, str(key)) for key, item in value.items()}
    return value


@dataclass(frozen=True, slots=True)
class FileForm:
    """How a class is read whose form in YAML differs from its fields."""

    read: Callable[["FactReader", object, Keys], object]
    """Reads a plain value at a place; ``LOST`` after a fault."""
    schema: Callable[[Callable[[object], dict[str, object]]], dict[str, object]]
    """The JSON Schema of such values, given the schema of a type."""


FORMS: dict[object, FileForm] = {}
"""By class or union of classes; each is entered where its family is read."""


def named_file(
    collection: paths.Collection,
    read: Callable[[Session, Path], object],
    also: tuple[str, ...] = (),
) -> FileForm:
    """The form of a value that names a file; it reads as None where that file has faults, or for a
    name in ``also``.
    """

    def read_name(reader: FactReader, value: object, keys: Keys) -> object:
        text = reader.value(*split(Text), value, keys)
        if text is LOST or text in also:
            return LOST if text is LOST else None
        session = reader.session
        faults_before = len(session.faults)
        content = session.follow(reader.document, keys, collection, read, str(text), also)
        session.followed += len(session.faults) - faults_before
        return content

    return FileForm(read_name, lambda of: of(Text))


def notation_form(notation: Notation) -> FileForm:
    """The form of a class or union of classes that is written in its own notation."""
    return FileForm(
        lambda reader, value, keys: reader.noted(notation, value, keys),
        lambda _: dict(notation.schema),
    )


class FactReader:
    """Reads values by their types; a value that cannot be read is noted as a fault, and reading
    continues.
    """

    def __init__(self, session: Session, document: Document) -> None:
        self.session = session
        self.document = document
        self.broken = False
        """A fault that cannot be left out: there is no draft."""

    # --- records ----------------------------------------------------------------------------

    def record(self, kind: type, value: object, keys: Keys, given: Mapping[str, object]) -> object:
        """An instance of a frozen class, read from keys and values, without the checks of the
        class.
        """
        if not isinstance(value, dict):
            return self.refuse(keys, value, "keys and values")
        fields = [f for f in fields_of(kind) if not (f.derived and f.required) or f.name in given]
        values: dict[str, object] = {}
        rows: dict[str, list[FileField]] = {}
        sections: dict[str, list[FileField]] = {}
        for field in fields:
            column, half = field.note(FileColumn), field.note(FileHalf)
            section, several = field.note(FileSection), field.note(FileKeys)
            if several is not None:
                values[field.name] = self._several(several, value, keys)
            elif section is not None:
                sections.setdefault(section.section, []).append(field)
            elif field.note(OneKey) is not None:
                values[field.name] = self._under_one_key(field, value, keys)
            elif column is not None:
                rows.setdefault(column.key, []).append(field)
            elif half is not None:
                values[field.name] = self._half(field, half, value, keys)
            else:
                values[field.name] = self._field(field, value, keys, given)
        for key, columns in rows.items():
            values |= self._columns(key, columns, value, keys)
        for key, inner in sections.items():
            values |= self._section(key, inner, value, keys)
        self.refuse_others(keys_of(kind), value, keys)
        if any(item is LOST for item in values.values()):
            self.broken = True
            return LOST
        return _instance(kind, values)

    def _field(
        self,
        field: FileField,
        holder: Mapping[str, object],
        keys: Keys,
        given: Mapping[str, object],
    ) -> object:
        usual = given.get(field.name, field.default)
        if usual is MISSING and field.optional:
            usual = None
        if field.derived:
            return usual
        absent = field.key not in holder
        if absent or (holder[field.key] is None and field.optional):
            if field.name in given or not field.required:
                return usual
            self.missing(field.key, field.about, keys)
            return LOST
        value = self.value(field.kind, field.notes, holder[field.key], (*keys, field.key))
        if value is LOST and (field.name in given or not field.required):
            return usual
        return value

    def missing(self, key: str, about: str, keys: Keys) -> None:
        """Note that a mapping lacks a key."""
        self.session.add(self.document.place(keys), f"the key {key!r} is missing", about)

    def refuse_others(self, names: Sequence[str], value: Mapping[str, object], keys: Keys) -> None:
        """Note as faults the keys of a mapping that are none of these names."""
        for key in value:
            if key not in names:
                where = self.document.key((*keys, key))
                hint = nearest(key, names)
                self.session.add(where, f"unknown key {key!r}", one_of(sorted(names)), hint)

    def _under_one_key(self, field: FileField, holder: Mapping[str, object], keys: Keys) -> object:
        """The value under one of several alternative keys; the default where none is present."""
        choice = field.note(OneKey)
        assert choice is not None
        given = [key for key in choice.classes if holder.get(key) is not None]
        values = [self.record(choice.classes[k], holder[k], (*keys, k), {}) for k in given]
        if any(value is LOST for value in values):
            return LOST
        if len(given) > 1:
            self.fault(keys, choice.both)
            return LOST
        return values[0] if values else field.default

    def _several(
        self, several: FileKeys, holder: Mapping[str, object], keys: Keys
    ) -> dict[str, object]:
        """The values of several keys, by key; None for absent keys."""
        values: dict[str, object] = {}
        for key, kind in several.kinds.items():
            value = None
            if holder.get(key) is not None:
                value = self.value(*required(kind), holder[key], (*keys, key))
            values[key] = None if value is LOST else value
        return values

    def _section(
        self, key: str, fields: Sequence[FileField], holder: Mapping[str, object], keys: Keys
    ) -> dict[str, object]:
        """The fields that are written as a section of their own, by name."""
        here = (*keys, key)
        lost = {field.name: LOST for field in fields}
        if key not in holder:
            self.missing(key, fields[0].about, keys)
            return lost
        section = holder[key]
        if not isinstance(section, dict):
            self.refuse(here, section, "keys and values")
            return lost
        self.refuse_others([field.key for field in fields], section, here)
        return {field.name: self._field(field, section, here, {}) for field in fields}

    def _half(
        self, field: FileField, half: FileHalf, holder: Mapping[str, object], keys: Keys
    ) -> object:
        """One half of a pair that is written as one value; faults of the pair are noted with its
        first half only.
        """
        faults_before = len(self.session.faults)
        place = (*keys, half.key)
        if half.key in holder:
            pair = self.noted(NOTATIONS[half.key], holder[half.key], place)
        else:
            self.missing(half.key, field.about, keys)
            pair = LOST
        if half.index > 0:
            del self.session.faults[faults_before:]
        return pair if pair is LOST else cast("tuple[object, ...]", pair)[half.index]

    def _columns(
        self, key: str, columns: Sequence[FileField], holder: Mapping[str, object], keys: Keys
    ) -> dict[str, object]:
        """The columns of a list of rows, by the names of the fields that they fill."""
        lost = {field.name: LOST for field in columns}
        if key not in holder:
            self.missing(key, columns[0].about, keys)
            return lost
        rows = holder[key]
        if not isinstance(rows, list):
            self.refuse((*keys, key), rows, "a list")
            return lost
        if not rows:
            self._bound((*keys, key), "0 values", "at least 1")
            return lost
        row = _row(tuple(columns))
        read = [self.record(row, item, (*keys, key, i), {}) for i, item in enumerate(rows)]
        if any(item is LOST for item in read):
            return lost
        table = zip(*cast("list[tuple[object, ...]]", read), strict=True)
        return {field.name: tuple(column) for field, column in zip(columns, table, strict=True)}

    # --- values -----------------------------------------------------------------------------

    def value(self, kind: object, notes: Sequence[object], value: object, keys: Keys) -> object:
        """A value of an annotated type; ``LOST`` after a fault, unless the notation has
        a stand-in.
        """
        short = note(notes, ShortForm)
        if short is not None and value == short.text:
            value = dict(short.keys)
        notation = notation_of(kind, notes)
        if notation is not None:
            return self.noted(notation, value, keys)
        while isinstance(kind, typing.NewType):
            kind = kind.__supertype__
        if kind in FORMS:
            return FORMS[kind].read(self, value, keys)
        if is_record(kind):
            given = {"name": keys[-1]} if is_keyed_by_name(kind) else {}
            return self.record(kind, value, keys, given)
        if isinstance(kind, type):
            return self._plain(kind, notes, value, keys)
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Literal:
            return self._choice(arguments, value, keys)
        if origin in (Union, types.UnionType):
            names = literals(arguments)
            if names:
                return self._choice(names, value, keys)
            single, inner = required(kind)
            return None if value is None else self.value(single, (*inner, *notes), value, keys)
        if origin is tuple:
            return self._list(arguments, notes, value, keys)
        return self._mapping(arguments, notes, value, keys)

    def refuse(self, keys: Keys, value: object, expected: str, hint: str = "") -> object:
        """Note as a fault that a value is not what is expected; returns ``LOST``."""
        where, found = self.document.place(keys), f"{subject(keys)}{describe(value)}"
        self.session.add(where, found, expected, hint)
        return LOST

    def fault(self, keys: Keys, message: str) -> object:
        """Note a fault at a place; returns ``LOST``."""
        self.session.add(self.document.place(keys), f"{subject(keys)}{message}")
        return LOST

    def _bound(self, keys: Keys, found: str, expected: str) -> object:
        self.session.add(self.document.place(keys), f"{subject(keys)}{found}", expected)
        return LOST

    def noted(self, notation: Notation, value: object, keys: Keys) -> object:
        """A value that is written in its own notation; after a fault the notation's stand-in, or
        ``LOST``.
        """
        try:
            return notation.read(value)
        except ValueError as error:
            self.session.add(self.document.place(keys), f"{subject(keys)}{error}")
        return LOST if notation.stand_in is None else notation.read(notation.stand_in)

    def _plain(self, kind: type, notes: Sequence[object], value: object, keys: Keys) -> object:
        names = note(notes, OneOf)
        if names is not None:
            return self._choice(names.names, value, keys)
        accepted = (int, float) if kind is float else (kind,)
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            return self.refuse(keys, value, _PLAIN[kind])
        bound, words = note(notes, Bounds), ""
        if bound and isinstance(value, str):
            words = "" if value else "text that is not empty"
        elif bound and isinstance(value, int | float) and not isinstance(value, bool):
            words = bound.words(value)
        if words:
            return self.refuse(keys, value, words)
        return float(cast(float, value)) if kind is float else value

    def _choice(self, names: Sequence[object], value: object, keys: Keys) -> object:
        if any(type(value) is type(name) and value == name for name in names):
            return value
        quoted = [repr(name) for name in names]
        *others, last = quoted
        expected = f"{', '.join(others)} or {last}" if others else last
        hint = nearest(value, [str(n) for n in names]) if isinstance(value, str) else ""
        return self.refuse(keys, value, expected, hint)

    def _list(
        self, arguments: Sequence[object], notes: Sequence[object], value: object, keys: Keys
    ) -> object:
        if not isinstance(value, list):
            return self.refuse(keys, value, "a list")
        faults_before = len(self.session.faults)
        open_ = arguments[-1] is Ellipsis
        bound = note(notes, Bounds) if open_ else Bounds(least=len(arguments), most=len(arguments))
        kinds = [arguments[0]] * len(value) if open_ else arguments
        items = tuple(
            self.value(*split(kind), item, (*keys, i))
            for i, (kind, item) in enumerate(zip(kinds, value, strict=False))
        )
        if any(item is LOST for item in items):
            self.broken = True
            return LOST
        sound = not open_ or len(self.session.faults) == faults_before
        words = bound.words(len(value)) if bound and sound else ""
        return self._bound(keys, f"{len(value)} values", words) if words else items

    def _mapping(
        self, arguments: Sequence[object], notes: Sequence[object], value: object, keys: Keys
    ) -> object:
        if not isinstance(value, dict):
            return self.refuse(keys, value, "keys and values")
        bound = note(notes, Bounds)
        words = bound.words(len(value)) if bound else ""
        if words:
            return self._bound(keys, f"{len(value)} values", words)
        kind, inner = split(arguments[1])
        items: dict[object, object] = {}
        for name, item in value.items():
            read = self.value(kind, inner, item, (*keys, name))
            key = self._whole(name, notes, (*keys, name)) if arguments[0] is int else name
            if read is not LOST and key is not LOST:
                items[key] = read
        if bound and bound.words(len(items)):
            self.broken = True
        return items

    def _whole(self, name: str, notes: Sequence[object], keys: Keys) -> object:
        if name.isascii() and name.isdigit() and int(name) >= 1:
            return int(name)
        key = note(notes, FileKey) or FileKey()
        self.session.add(self.document.key(keys), f"{name!r} is not {key.entries}", "at least 1")
        return LOST


def subject(keys: Keys) -> str:
    """The innermost key by name, which begins the message of a fault."""
    names = [key for key in keys if isinstance(key, str)]
    return f"{names[-1]}: " if names else ""


@cache
def _row(columns: tuple[FileField, ...]) -> type:
    """The class of one row of a table, made from the fields that are its columns."""
    parts = []
    for field in columns:
        column, item = field.note(FileColumn), get_args(field.kind)[0]
        assert column is not None
        parts.append((column.part, item))
    return cast(type, typing.NamedTuple("row", parts))


def unchecked(kind: type[T], *values: object) -> T:
    """An instance with these field values, in order, without the checks of its class."""
    names = [field.name for field in fields_of(kind)]
    return cast(T, _instance(kind, dict(zip(names, values, strict=True))))


def _instance(kind: type, values: Mapping[str, object]) -> object:
    """An instance with these field values by name, without the checks of its class."""
    if not dataclasses.is_dataclass(kind):
        return kind(**values)
    made = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made
