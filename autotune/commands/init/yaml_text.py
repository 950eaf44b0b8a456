"""Texts of YAML files, as they are written: scalars, lists, mappings, templates."""

import json
import re
from collections.abc import Iterable, Mapping

FILL_IN = "# FILL IN: "
LOOK_AT = "# LOOK AT: "
"""Marks of what could not be seen, and of what was guessed."""

Plain = str | int | float | None


def number_of(text: str) -> int | float | None:
    """The number that a text is; None for other texts and numbers that are no use."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if abs(number) < 1e18 else None
    return None


def doubled(text: str) -> str:
    """Text with its braces doubled, so that a template prints it unchanged."""
    return text.replace("{", "{{").replace("}", "}}")


def globbed(name: str) -> str:
    """A file name with its wildcards escaped, for use where a glob pattern is expected."""
    return re.sub(r"([*?\[])", r"[\1]", name)


def quoted(text: str) -> str:
    """The text as a YAML scalar, quoted where it has to be.

    Quotes as in JSON are valid in YAML, but not the pairs of escapes for one character.

    >>> quoted("a b"), quoted("\U0001f600.c")
    ('"a b"', '"\\\\U0001f600.c"')
    """
    if re.fullmatch(r"[A-Za-z][\w./+-]*", text) and text.lower() not in _KEYWORDS:
        return text
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    """A character between the double quotes of a YAML scalar."""
    code = ord(character)
    return f"\\U{code:08x}" if code > 0xFFFF else json.dumps(character)[1:-1]


_KEYWORDS = ("null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf")


def listed(words: Iterable[str]) -> str:
    """Words as a list in brackets."""
    return f"[{', '.join(map(quoted, words))}]"


def mapped(values: Mapping[str, Plain]) -> str:
    """Names and values as a mapping in braces."""
    pairs = (
        f"{name}: {quoted(value) if isinstance(value, str) else json.dumps(value)}"
        for name, value in values.items()
    )
    return f"{{{', '.join(pairs)}}}"
