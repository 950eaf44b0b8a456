"""Reads a YAML file as plain values, each with its place in the file.

Plain YAML loading drops duplicate keys, reads ``1e6`` as text and ``no`` as False. So the events of
the parser are composed here. A plain scalar is a number where it looks like one; ``true``,
``false`` and ``null`` have their meaning; everything else is text. Anchors, tags, several documents
in one file and keys that are not scalars are faults. All faults of a file are collected and none is
raised.
"""

import math
import re
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from autotune import paths
from autotune.errors import Fault, describe

Scalar = str | int | float | bool | None
Plain = Scalar | list["Plain"] | dict[str, "Plain"]
Keys = tuple[str | int, ...]
"""The way from the root to a value: keys of mappings, positions in lists."""

LARGEST = 1 << 20
"""Bytes of the largest file that is read."""
_DEEPEST = 40
_SOURCES = frozenset(
    {".c", ".h", ".cc", ".cpp", ".cxx", ".cu", ".f", ".f90", ".py", ".sh", ".jl", ".rs"}
)
"""Endings of files that somebody means to tune."""

_WHOLE = re.compile(r"[-+]?[0-9]+")
_REAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "~": None, "": None,
}  # fmt: skip
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Document:
    """The content of one file and the place of each value."""

    path: Path
    root: dict[str, Plain]
    places: dict[Keys, str] = field(default_factory=dict)
    """A value's place; the place of the key for a mapping or list under a key."""
    keys: dict[Keys, str] = field(default_factory=dict)
    """The place of a key."""

    def place(self, keys: Keys) -> str:
        """The place ``file:line:column`` of the value at ``keys``, else of the nearest value around
        it.
        """
        for end in range(len(keys), 0, -1):
            if keys[:end] in self.places:
                return self.places[keys[:end]]
        return self.places.get((), shown(self.path))

    def key(self, keys: Keys) -> str:
        """The place ``file:line:column`` of the last key in ``keys``, else of the nearest value
        around it.
        """
        return self.keys.get(keys) or self.place(keys)

    def inside(self, key: str) -> "Document | None":
        """The keys and values under a key as a document of its own; None where there are none."""
        root = self.root.get(key)
        if not isinstance(root, dict):
            return None
        places = {keys[1:]: place for keys, place in self.places.items() if keys[:1] == (key,)}
        names = {keys[1:]: place for keys, place in self.keys.items() if keys[:1] == (key,)}
        return Document(self.path, dict(root), places, names)

    def places_by_text(self) -> dict[str, str]:
        """The place of every value inside the file by its keys as text: ``problems.0.h``."""
        return {".".join(map(str, keys)): place for keys, place in self.places.items() if keys}


def shown(path: Path) -> str:
    """A path as users see it: relative to the current folder where it lies inside this folder."""
    try:
        return str(paths.absolute(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def scalar(text: str) -> Scalar:
    """The value of a plain YAML scalar.

    >>> [scalar(text) for text in ("1e6", "12", "no", "true", "2.3 GHz")]
    [1000000.0, 12, 'no', True, '2.3 GHz']
    """
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text) if len(text) <= 300 else text
    if _REAL.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text


def read(path: Path, faults: list[Fault]) -> Document | None:
    """The document of a file; None where it cannot be read, with the reason added to ``faults``.

    Duplicate keys, anchors and tags are added to ``faults`` too, but the document is returned.
    """
    if path.suffix in _SOURCES and paths.exists(path) and path.is_file():
        hint = f"autotune init {shown(path)} writes a first config for a program"
        faults.append(Fault(where=shown(path), found="a source file", expected="YAML", hint=hint))
        return None
    if path.is_dir():
        hint = f"autotune init {shown(path)} writes a first config for the program in it"
        faults.append(Fault(where=shown(path), found="a folder", expected="a YAML file", hint=hint))
        return None
    content = text_of(path, faults)
    return None if content is None else compose(content, path, faults)


def compose(
    text: str, path: Path, faults: list[Fault], *, tags: Collection[str] = ()
) -> Document | None:
    """The document in a text, as ``read`` does it for a file.

    With ``tags``, tags are ignored instead of being faults.
    """
    name = shown(path)
    composer = _Composer(name, faults, tags)
    try:
        composer.run(text)
    except _TooDeepError:
        return None
    except yaml.MarkedYAMLError as error:
        faults.append(_syntax_fault(name, text, error))
        return None
    except yaml.YAMLError as error:
        faults.append(Fault(where=name, found=f"not YAML: {error}"))
        return None
    if composer.broken:
        return None
    root = composer.root
    if root is None:
        faults.append(Fault(where=name, found="the file is empty", expected="keys and values"))
        return None
    if not isinstance(root, dict):
        place = composer.places.get((), name)
        found = f"the file holds {describe(root)}"
        faults.append(Fault(where=place, found=found, expected="keys and values at its top"))
        return None
    return Document(path, root, composer.places, composer.keys)


def text_of(path: Path, faults: list[Fault]) -> str | None:
    """The text of a file; None with a fault noted where it is absent, not a file, too large or not
    text.
    """
    name = shown(path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            faults.append(Fault(where=name, found="this is not a file", expected="a YAML file"))
            return None
        if status.st_size > LARGEST:
            found, expected = f"the file has {status.st_size} B", f"at most {LARGEST} B"
            faults.append(Fault(where=name, found=found, expected=expected))
            return None
        data = path.read_bytes()
    except FileNotFoundError:
        faults.append(Fault(where=name, found="there is no such file"))
        return None
    except (OSError, ValueError) as error:
        found = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        faults.append(Fault(where=name, found=found))
        return None
    return _decoded(name, data, faults)


def _decoded(name: str, data: bytes, faults: list[Fault]) -> str | None:
    expected = "a text file in UTF-8"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"{name}:{data[: error.start].count(10) + 1}"
        found = f"byte {error.start} is not UTF-8 text"
        faults.append(Fault(where=place, found=found, expected=expected))
        return None
    control = _CONTROL.search(text)
    if control is None:
        return text
    line = text.count("\n", 0, control.start()) + 1
    column = control.start() - text.rfind("\n", 0, control.start())
    found = f"the character {control.group()!r} is not text: this looks like a binary file"
    faults.append(Fault(where=f"{name}:{line}:{column}", found=found, expected=expected))
    return None


def _syntax_fault(name: str, text: str, error: yaml.MarkedYAMLError) -> Fault:
    mark = error.problem_mark or error.context_mark
    problem = (error.problem or "cannot be read").removeprefix("but ")
    if mark is None:
        return Fault(where=name, found=f"not YAML: {problem}")
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    before = line[: len(line) - len(line.lstrip())]
    hint = ""
    if "\t" in before or (mark.column < len(line) and line[mark.column] == "\t"):
        hint = "indent with spaces: a tab is not allowed here"
    elif re.search(r"\[[^\]\"']*\)", line):
        hint = 'put quotes around a range: "[0, n)"'
    found = f"not YAML: {problem}"
    return Fault(where=f"{name}:{mark.line + 1}:{mark.column + 1}", found=found, hint=hint)


class _TooDeepError(Exception):
    """Raised for a document nested more deeply than is read; the fault is already noted."""


class _Composer:
    """Builds values from the parser's events, and records the place of each."""

    def __init__(self, name: str, faults: list[Fault], tags: Collection[str] = ()) -> None:
        self.name = name
        self.faults = faults
        self.tags = tags
        self.places: dict[Keys, str] = {}
        self.keys: dict[Keys, str] = {}
        self.root: Plain = None
        self.broken = False
        self._events: Iterator[yaml.Event] = iter(())

    def run(self, text: str) -> None:
        self._events = iter(yaml.parse(text, Loader=_PARSER))
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse(event, "a second document begins here", "one document per file")
                    self.broken = True
                    return
            elif isinstance(event, yaml.NodeEvent):
                self.root = self._value(event, ())

    def _refuse(self, event: yaml.Event, found: str, expected: str = "") -> None:
        self.faults.append(Fault(where=self._place(event), found=found, expected=expected))

    def _place(self, event: yaml.Event) -> str:
        mark = event.start_mark
        if mark is None:
            return self.name
        return f"{self.name}:{mark.line + 1}:{mark.column + 1}"

    def _value(self, event: yaml.Event, keys: Keys) -> Plain:
        self.places.setdefault(keys, self._place(event))
        if isinstance(event, yaml.AliasEvent):
            self._refuse(event, f"the alias *{event.anchor}", "values written out: no aliases")
            self.broken = True
            return None
        self._check_plain(event)
        if isinstance(event, yaml.ScalarEvent):
            if "\0" in event.value:
                self._refuse(event, "a NUL character", "text without, as no program can take one")
            return scalar(event.value) if not event.style and event.implicit[0] else event.value
        if len(keys) >= _DEEPEST:
            self._refuse(event, f"nested more than {_DEEPEST} levels deep")
            raise _TooDeepError
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(keys)
        return self._mapping(keys)

    def _check_plain(self, event: yaml.Event) -> None:
        """Check that an event has neither an anchor nor a tag."""
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            self._refuse(event, f"the anchor &{event.anchor}", "values written out: no anchors")
        tag = getattr(event, "tag", None)
        if tag is not None and tag not in self.tags:
            self._refuse(event, f"the tag {tag}", "plain values: no tags")

    def _list(self, keys: Keys) -> list[Plain]:
        values: list[Plain] = []
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            values.append(self._value(event, (*keys, len(values))))
        return values

    def _mapping(self, keys: Keys) -> dict[str, Plain]:
        values: dict[str, Plain] = {}
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            name = event.value if isinstance(event, yaml.ScalarEvent) else None
            if name is None:
                self._refuse(event, "this key is not plain text", "a name as key")
                self.broken = True
                self._value(event, (*keys, "?"))
                self._value(next(self._events), (*keys, "?"))
                continue
            self._check_plain(event)
            place, inner = self._place(event), (*keys, name)
            first = self.keys.get(inner)
            if first is not None:
                self._refuse(event, f"the key {name!r} is here again", f"once (first at {first})")
                inner = (*keys, f"{name} (again)")
            self.keys.setdefault(inner, place)
            content = next(self._events)
            if not isinstance(content, yaml.ScalarEvent):
                self.places.setdefault(inner, place)
            value = self._value(content, inner)
            if first is None:
                values[name] = value
        return values
