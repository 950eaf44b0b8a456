"""The error tree. Every error says where, what was found, what is allowed, and what to do.

AutotuneError
 ├─ InputError        wrong input or environment: exit code 2
 │   ├─ ConfigError   a YAML file; all faults of the file at once
 │   ├─ MissingTool   a program or package that is not installed, with the install command
 │   └─ StoreError    a results file that is corrupt, locked, of another schema or misplaced
 │       └─ LostStore a results file that was deleted or replaced while it was open: exit code 1
 └─ WorkFailed        the work itself failed (no candidate ran): exit code 1
"""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

_ALIKE = 0.5
"""Names less alike than this ratio of matching letters are not suggested."""
_LISTED = 3
"""Equally near names that a hint lists at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One mistake: its place, what was found, what is allowed, what to do.

    ``where`` is ``file:line:column`` or the name of an option; empty if there is no place.
    """

    where: str
    found: str
    expected: str = ""
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.where}: {self.found}" if self.where else self.found
        if self.expected:
            text += f"; expected {self.expected}"
        if self.hint:
            text += f" ({self.hint})"
        return text


class AutotuneError(Exception):
    """The base class of all errors that autotune raises on purpose.

    ``where``, ``found``, ``expected`` and ``hint`` are the four facts of the first fault;
    ``faults`` has all of them.

    >>> error = InputError(Fault(where="tile", found="the number 7", expected="8 or 16"))
    >>> error.where, error.expected
    ('tile', '8 or 16')
    """

    exit_code = 1

    def __init__(self, text: object = "", faults: Sequence[Fault] = ()) -> None:
        super().__init__(text)
        first = faults[0] if faults else Fault(where="", found=str(text))
        self.faults = tuple(faults)
        self.where: str = first.where
        self.found: str = first.found
        self.expected: str = first.expected
        self.hint: str = first.hint


class InputError(AutotuneError):
    """Wrong input or environment; carries all faults found, not only the first."""

    exit_code = 2

    def __init__(self, *faults: Fault) -> None:
        super().__init__("\n".join(str(fault) for fault in faults), faults)


class ConfigError(InputError):
    """Faults in YAML files."""


class MissingTool(InputError):
    """A required program or package is not installed."""


class StoreError(InputError):
    """A results store that cannot be used."""


class LostStore(StoreError):
    """A results store whose file was deleted, moved or replaced while it was open."""

    exit_code = 1


class WorkFailed(AutotuneError):
    """The input was right, but the work gave no result."""


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint naming the nearest known name, or an empty string.

    Of equally near names those count that begin most like ``name``; up to three are listed.

    >>> nearest("heat2", ["heat2d", "wave1d"])
    'did you mean heat2d?'
    >>> nearest("gcx", ["icx", "gcc"]), nearest("glang", ["clang", "flang"])
    ('did you mean gcc?', 'did you mean clang or flang?')
    """
    spellings = {candidate.lower(): candidate for candidate in names}
    text = name.lower()
    matcher = difflib.SequenceMatcher()
    matcher.set_seq2(text)
    best, near = (_ALIKE, 0), list[str]()
    for spelling, candidate in spellings.items():
        matcher.set_seq1(spelling)
        if matcher.real_quick_ratio() < best[0] or matcher.quick_ratio() < best[0]:
            continue
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(spelling, text, strict=False))
        score = matcher.ratio(), sum(1 for _ in alike)
        if score > best:
            best, near = score, []
        if score == best:
            near.append(candidate)
    if not near:
        return ""
    *others, last = near[:_LISTED]
    return f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?"


def describe(value: object) -> str:
    """A description of a plain value for a fault: ``text 'a'``, ``the number 5``, ``a list``."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"text {value if len(value) <= 60 else value[:57] + '...'!r}"
        case list():
            return "a list"
        case _:
            return "keys and values"


def one_of(names: Sequence[str]) -> str:
    """The allowed names as text: ``one of a, b, c``."""
    return "one of " + ", ".join(names) if names else "nothing (none is known)"


def unknown_name(where: str, kind: str, name: str, choices: Iterable[str]) -> Fault:
    """The fault for an unknown name, with the nearest known name."""
    names = sorted(choices)
    return Fault(
        where=where,
        found=f"unknown {kind} {name!r}",
        expected=one_of(names) if names else "",
        hint=nearest(name, names) if names else "none is known",
    )
