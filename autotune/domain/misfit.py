"""What keeps a value from being valid: every misfit of a class, with the keys that lead to it.

A class states its misfits once. Its constructor refuses them; the reader of a file notes each at
its place in the file.
"""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

from autotune.errors import Fault, nearest, one_of, unknown_name
from autotune.language.expression import Expr, constant_parts, number, references, show, symbols

Keys = tuple[str | int, ...]
"""The way from a value to a part of it: keys of mappings, positions in lists."""


class Misfit(NamedTuple):
    """A part of a value that cannot be, alone or beside the other parts."""

    keys: Keys
    found: str
    expected: str = ""
    hint: str = ""
    of_key: bool = False
    """The misfit is the last key itself, not its value."""
    first: Keys = ()
    """The keys of the earlier part that this one repeats."""

    def __str__(self) -> str:
        where = ".".join(map(str, self.keys))
        return str(Fault(where=where, found=self.found, expected=self.expected, hint=self.hint))


class MisfitError(ValueError):
    """The misfits of a value that was to be constructed."""

    def __init__(self, *misfits: Misfit) -> None:
        super().__init__("\n".join(map(str, misfits)))
        self.misfits = misfits


@runtime_checkable
class Checked(Protocol):
    """A class that states its misfits."""

    def misfits(self) -> Iterable[Misfit]:
        """Every misfit of the value, whose parts may themselves be wrong."""


def refuse(misfits: Iterable[Misfit]) -> None:
    """Raise MisfitError where there is any misfit."""
    listed = tuple(misfits)
    if listed:
        raise MisfitError(*listed)


def unknown(
    keys: Keys, kind: str, name: str, names: Iterable[str], *, of_key: bool = False
) -> Iterator[Misfit]:
    """The misfit of a name that is none of the allowed names."""
    allowed = set(names)
    if name not in allowed:
        fault = unknown_name("", kind, name, allowed)
        yield Misfit(keys, fault.found, fault.expected, fault.hint, of_key)


def unknown_symbols(keys: Keys, expression: Expr, names: Collection[str]) -> Iterator[Misfit]:
    """The misfits of symbols of an expression that are none of the allowed names."""
    for name in sorted(symbols(expression) - set(names)):
        hint = nearest(name, sorted(names))
        yield Misfit(keys, f"unknown name {name!r}", one_of(sorted(names)), hint)


def scalar(keys: Keys, expression: Expr, names: Collection[str]) -> Iterator[Misfit]:
    """The misfits of an expression of these names that reads no array."""
    yield from unknown_symbols(keys, expression, names)
    for ref in references(expression):
        yield Misfit(keys, f"{show(ref)} is an array element", "a term that reads no element")


def no_numbers(keys: Keys, expression: Expr, constants: Mapping[str, Expr]) -> Iterator[Misfit]:
    """The misfits of constant parts of an expression that have no value, such as ``log(0 - 1)``.

    Parts count that use, besides numbers, only constants of the same value at every size.
    """
    values: dict[str, float | int] = {}
    for name, constant in constants.items():
        with contextlib.suppress(ValueError):  # it depends on the size, or is a misfit itself
            values[name] = number(constant, values)
    for part in constant_parts(expression, values):
        try:
            number(part, values)
        except ValueError as error:
            yield Misfit(keys, str(error), "constants that are numbers")


def new_name(keys: Keys, taken: Mapping[str, str]) -> Iterator[Misfit]:
    """The misfit of a name, the last key, that no expression could use.

    ``taken``: other names, and what each of them is.
    """
    name = str(keys[-1])
    if not name.isidentifier():
        yield Misfit(keys, f"{name!r} is not a name", "letters and digits", of_key=True)
    elif name in taken:
        found = f"the name {name!r} is taken by {taken[name]}"
        yield Misfit(keys, found, "a name of its own", of_key=True)


def definitions(
    key: str, defined: Mapping[str, Expr], names: Mapping[str, str], reserved: Mapping[str, str]
) -> Iterator[Misfit]:
    """The misfits of named expressions, each of which may use ``names`` and those before it.

    ``reserved``: further names that must not be given to an expression. Both say what each is.
    """
    usable = set(names)
    for name, expression in defined.items():
        yield from new_name((key, name), {**names, **reserved})
        yield from scalar((key, name), expression, usable)
        usable.add(name)
