"""Annotations of fields of frozen classes: file-format details beyond the field's type.

A frozen class of the domain is the schema of its YAML: its fields are the keys, their types the
kinds of values. Quantities (``Bytes``, ``Hertz``, ``Seconds``, ...) are text with a unit. An
annotation adds a bound, another name of the key, or what the key is for:

    size: Annotated[Bytes, FileKey(about="a size such as 32 KiB")]
    cores: Count = 1

Nothing here reads a file: the reader of YAML looks these annotations up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits of a number, or of the length of a list or mapping; None: no limit."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None

    def words(self, value: float) -> str:
        """The limit that a number violates, in words; empty if it violates none.

        >>> Bounds(least=1).words(0), Bounds(least=1).words(2)
        ('at least 1', '')
        """
        if self.above is not None and not value > self.above:
            return f"more than {self.above}"
        if self.least is not None and not value >= self.least:
            return f"at least {self.least}"
        if self.most is not None and not value <= self.most:
            return f"at most {self.most}"
        if self.below is not None and not value < self.below:
            return f"less than {self.below}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKey:
    """The key of a field in a file, and its description."""

    name: str = ""
    """The key; empty: the name of the field."""
    about: str = ""
    """What the key states and what it is used for, for the reader whose file lacks it."""
    required: bool = False
    """A file must have the key although the class has a default."""
    optional: bool = False
    """A file may leave the key out although the class has no default: its reader knows a value."""
    file: bool = False
    """The key may name a file that holds the value."""
    entries: str = ""
    """What the keys of a mapping are, where they are whole numbers: ``a number of threads``."""


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A field that is one column of a list of rows: the file has ``points: [{size: 1 KiB}, ...]``.

    The fields of a class that name the same ``key`` have equal length.
    """

    key: str
    part: str


@dataclass(frozen=True, slots=True)
class FileHalf:
    """A field that is one half of a pair: the file has ``range: "[0, n)"``."""

    key: str
    index: int


@dataclass(frozen=True, slots=True)
class FileSection:
    """A field that is written inside a section: ``rule: {variant: jli, source: ...}``."""

    section: str
    key: str = ""
    """Its key there; empty: the name of the field."""


@dataclass(frozen=True, slots=True)
class FileKeys:
    """A field that its reader composes from several keys, each with the type of its value."""

    kinds: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class OneKey:
    """A field whose value is written under one of several keys, each with a class of its own."""

    classes: Mapping[str, type]
    both: str
    """What to say where there is more than one."""


@dataclass(frozen=True, slots=True)
class ShortForm:
    """A text that a file may have in place of the keys of a class: ``time: wall``."""

    text: str
    keys: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class OneOf:
    """The allowed texts of a field."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InNotation:
    """A value in a special notation, given by the notation's name: ``coefficient``."""

    notation: str


@dataclass(frozen=True, slots=True)
class Derived:
    """A field without a key: the reader of the file computes it."""


@dataclass(frozen=True, slots=True)
class Signed:
    """A quantity that may be negative or zero; all other quantities are positive."""


Text = Annotated[str, Bounds(least=1)]
"""Text that is not empty."""
Count = Annotated[int, Bounds(least=1)]
Fraction = Annotated[float, Bounds(least=0, most=1)]
