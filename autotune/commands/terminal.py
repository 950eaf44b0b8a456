"""The terminal: how wide it is, whether it shows colours; control characters of the text of other
programs are escaped.
"""

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterator
from typing import TextIO, cast

from autotune.results.report.text_style import MARKS, TextStyle, styled

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but line end and tab, marks of writing direction, halves of surrogate pairs"""


_COLOURS = {MARKS["winner"]: "\x1b[1;32m", MARKS["failure"]: "\x1b[31m", MARKS[None]: "\x1b[0m"}
"""How a terminal shows a tone: bold green, red, as usual."""
_NARROWEST = 20
"""Columns of the narrowest terminal that text is laid out for."""


def escaped(text: str) -> str:
    r"""Text for a terminal or a file of text: what would control a terminal is written as escapes.

    >>> escaped("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


class EscapingStream(io.TextIOBase):
    """A stream of text whose control characters are escaped."""

    def __init__(self, terminal: TextIO, *, colour: bool = False) -> None:
        self.terminal = terminal
        """The stream below, for text that controls the terminal on purpose."""
        self._colour = colour

    def write(self, text: str, /) -> int:
        """Write escaped text, tones as colours; the number of characters of ``text``."""
        shown = escaped(text)
        if self._colour:
            for mark, colour in _COLOURS.items():
                shown = shown.replace(mark, colour)
        self.terminal.write(shown)
        return len(text)

    def flush(self) -> None:
        """Pass on what was written."""
        self.terminal.flush()

    def fileno(self) -> int:
        """The descriptor of the stream below."""
        return self.terminal.fileno()

    def isatty(self) -> bool:
        """Whether the stream below is a terminal."""
        return self.terminal.isatty()

    def writable(self) -> bool:
        """True: it is for writing."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream below."""
        return self.terminal.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """How the stream below treats characters that it cannot encode."""
        return self.terminal.errors


def raw_stderr() -> TextIO:
    """Standard error, unescaped: for text that controls the terminal on purpose."""
    return getattr(sys.stderr, "terminal", sys.stderr)


@contextlib.contextmanager
def escaping() -> Iterator[None]:
    """Standard output and standard error escape control characters inside the block, and text is
    laid out for standard output.
    """
    style = style_of(sys.stdout)
    out = cast(TextIO, EscapingStream(sys.stdout, colour=style.colour))
    err = cast(TextIO, EscapingStream(sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), styled(style):
        yield


def style_of(stream: TextIO) -> TextStyle:
    """The style of text on a stream.

    Its width is COLUMNS, else that of the terminal; a pipe or file without COLUMNS has lines as
    long as they are, one per row, for other programs. There are colours on a terminal unless
    NO_COLOR is set (no-color.org), and elsewhere where FORCE_COLOR is.
    """
    terminal = _is_terminal(stream)
    if os.environ.get("NO_COLOR"):
        colour = False
    elif os.environ.get("FORCE_COLOR"):
        colour = True
    else:
        colour = terminal and os.environ.get("TERM") != "dumb"
    return TextStyle(width=_width(stream), colour=colour)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # it is closed
        return False


def _width(stream: TextIO) -> int | None:
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return max(_NARROWEST, int(wanted))
    if _is_terminal(stream):
        with contextlib.suppress(OSError, ValueError):
            columns = os.get_terminal_size(stream.fileno()).columns
            return max(_NARROWEST, columns) if columns else None
    return None


def open_error_stream() -> None:
    """Give a process without standard error one that shows nothing: a file that is opened later
    would take its place, and receive messages.
    """
    if sys.stderr is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for the process
