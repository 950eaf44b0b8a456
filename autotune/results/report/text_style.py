"""How text is laid out where it is read: how wide, and whether in colour.

Texts of results are plain and as wide as they need to be, unless the command line states a style.
"""

import contextlib
import re
import textwrap
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

Tone = Literal["winner", "failure"]
MARKS: dict[Tone | None, str] = {"winner": "\ufdd0", "failure": "\ufdd1", None: "\ufdd2"}
"""Characters that begin a text of a tone, and end it (None). Unicode reserves them for such use
inside a program; a terminal shows colours in their place."""
_MARK = re.compile(f"[{''.join(MARKS.values())}]")
_HANGING = 4
"""Further lines of a broken line are indented by so many more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStyle:
    """The place where text is shown."""

    width: int | None = None
    """Columns of the terminal; None: lines are as long as they are."""
    colour: bool = False


_style: ContextVar[TextStyle | None] = ContextVar("text style", default=None)


def text_style() -> TextStyle:
    """The style of text that is made now."""
    return _style.get() or TextStyle()


@contextlib.contextmanager
def styled(style: TextStyle) -> Iterator[None]:
    """Text that is made inside the block has this style."""
    token = _style.set(style)
    try:
        yield
    finally:
        _style.reset(token)


def toned(text: str, tone: Tone | None) -> str:
    """Text with marks of its tone on every line; unchanged without colours or tone."""
    if tone is None or not text_style().colour:
        return text
    return "\n".join(f"{MARKS[tone]}{line}{MARKS[None]}" for line in text.split("\n"))


def broken(text: str) -> str:
    """Text whose lines are broken between words where they are wider than the style says.

    Further lines are indented below the first. A word that is wider stays whole.
    """
    width = text_style().width
    if width is None:
        return text
    return "\n".join(_broken(line, width) for line in text.split("\n"))


def _broken(line: str, width: int) -> str:
    if len(_MARK.sub("", line)) <= width:
        return line
    indent = len(line) - len(line.lstrip(" ")) + _HANGING
    return "\n".join(words(line, width, " " * min(indent, width // 3)))


def words(text: str, width: int, hanging: str = "") -> list[str]:
    """Text as lines of at most ``width`` characters, broken at blanks; ``hanging`` begins all lines
    but the first. A word that is wider stays whole.
    """
    return textwrap.wrap(
        text,
        max(1, width),
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]
