"""C syntax for names, texts and values: identifiers, literals, comments, fields of a struct."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autotune.domain.variant import Value

_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
    constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit
    export extern false float for friend goto if inline int long mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
    restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof union unsigned using virtual void
    volatile wchar_t while xor xor_eq linux unix i386
    size threads candidate variant compiler flags communication placement seconds low high
    loss_bound verified
"""
"""Keywords of C and C++, macros that compilers define, and the fixed fields of the struct."""
_FIXED = frozenset({"FOR_SIZE", "FOR_THREADS", "CANDIDATE", "COMPILER", "FLAGS"})
_SMALL = 2**63


class UniqueNames:
    """Gives out C identifiers, never the same one twice."""

    def __init__(self, taken: frozenset[str] = frozenset()) -> None:
        self._taken = {name.lower() for name in taken}

    def new(self, name: str) -> str:
        """The name itself; if it is taken, ignoring case, the name with a number appended."""
        number, unique = 2, name
        while unique.lower() in self._taken:
            unique, number = f"{name}_{number}", number + 1
        self._taken.add(unique.lower())
        return unique


def lower(text: str) -> str:
    """A text as part of an identifier.

    >>> lower("3d star (7pt)"), lower("Heat2D")
    ('n3d_star_7pt', 'heat2d')
    """
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return f"n{name}" if not name or name[0].isdigit() else name


def upper(text: str) -> str:
    """A text as part of a macro."""
    return lower(text).upper()


def literal(text: str) -> str:
    r"""A text as a C string literal in UTF-8, with special characters as octal escapes.

    >>> literal('a"b')
    '"a\\"b"'
    """
    plain = {34: '\\"', 92: "\\\\", 63: "\\?"}
    pieces = [
        plain.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
        for byte in text.encode("utf-8", "replace")
    ]
    return f'"{"".join(pieces)}"'


def comment(text: str) -> str:
    """A text that is safe inside a C comment: one line that neither ends nor begins a comment."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")


Kind = Literal["flag", "whole", "number", "text"]


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter as fields of a C struct and as macros.

    A flag is ``int``, whole numbers are ``long long``, others ``double``. A text is a string with a
    second field that holds the number of its value; a macro names that number for ``switch`` and
    ``#if``. A parameter that may be absent has a further field ``NAME_set``.
    """

    parameter: str
    name: str
    upper: str
    """What the macros of its values begin with, including the prefix of the section."""
    kind: Kind
    optional: bool
    values: tuple[str, ...]
    """The values of a text; empty for other kinds."""
    numbered: tuple[str, ...]
    """The macros that stand for ``values``, in the same order."""

    def numbers(self) -> Iterator[str]:
        """The lines that define a macro for each value of a text: its number, from 1."""
        for number, name in enumerate(self.numbered, start=1):
            yield f"#define {name} {number}"

    def members(self) -> Iterator[str]:
        """The declarations of the fields in a C struct."""
        about = f" /* {comment(self.parameter)} */"
        if self.kind == "text":
            yield f"const char *{self.name};{about}"
            yield f"int {self.name}_id; /* {self.upper}_* */"
        else:
            types = {"flag": "int", "whole": "long long", "number": "double"}
            yield f"{types[self.kind]} {self.name};{about}"
        if self.optional:
            yield f"int {self.name}_set; /* 0: not applied */"

    def initialisers(self, value: Value) -> Iterator[str]:
        """The C initialisers of the fields, with the values of one entry."""
        yield from (text for _, text in self._all(value))

    def macros(self, value: Value) -> Iterator[tuple[str, str]]:
        """The macros of a parameter: the endings of their names, and their values."""
        for suffix, text in self._all(value):
            yield f"{self.name.upper()}{suffix}", text

    def _all(self, value: Value) -> Iterator[tuple[str, str]]:
        absent = value is None or (value == "none" and self.kind != "text")
        if self.kind == "text":
            text = "" if value is None else _said(value)
            yield "", literal(text)
            yield "_ID", "0" if absent else self.numbered[self.values.index(text)]
        elif self.kind == "number":
            yield "", "0.0" if absent else repr(float(value or 0))
        elif absent:
            yield "", "0"
        else:
            number = int(value or 0)
            yield "", str(number) + ("LL" if abs(number) >= 2**31 else "")
        if self.optional:
            yield "_SET", str(int(not absent))


def fields(prefix: str, domains: Mapping[str, Sequence[Value]]) -> list[Field]:
    """The C fields for parameters, given the different values of each."""
    members, macros = UniqueNames(_FIXED.union(_KEYWORDS.split())), UniqueNames()
    c_fields = []
    for parameter, values in domains.items():
        present = [value for value in values if value not in (None, "none")]
        kind = _kind(present)
        optional = None in values or (kind != "text" and len(present) < len(values))
        name = members.new(lower(parameter))
        for suffix in ("_id", "_set"):
            members.new(f"{name}{suffix}")
        said = [_said(value) for value in values if value is not None]
        texts = tuple(dict.fromkeys(said)) if kind == "text" else ()
        start = f"{prefix}_{name.upper()}"
        numbered = tuple(macros.new(f"{start}_{upper(text)}") for text in texts)
        c_fields.append(Field(parameter, name, start, kind, optional, texts, numbered))
    return c_fields


def _kind(values: Sequence[Value]) -> Kind:
    if values and all(isinstance(value, bool) for value in values):
        return "flag"
    if values and all(type(value) is int and abs(value) < _SMALL for value in values):
        return "whole"
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    return "number" if values and len(numbers) == len(values) else "text"


def _said(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
