"""The terminal as other programs may not use it: control characters of their text are escaped."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterator
from typing import TextIO, cast

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but line end and tab, marks of writing direction, halves of surrogate pairs"""


def escaped(text: str) -> str:
    r"""Text for a terminal or a file of text: what would control a terminal is written as escapes.

    >>> escaped("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


class EscapingStream(io.TextIOBase):
    """A stream of text whose control characters are escaped."""

    def __init__(self, terminal: TextIO) -> None:
        self.terminal = terminal
        """The stream below, for text that controls the terminal on purpose."""

    def write(self, text: str, /) -> int:
        """Write escaped text; the number of characters of ``text``."""
        self.terminal.write(escaped(text))
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
    """Standard output and standard error escape control characters inside the block."""
    out, err = cast(TextIO, EscapingStream(sys.stdout)), cast(TextIO, EscapingStream(sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield


def open_error_stream() -> None:
    """Give a process without standard error one that shows nothing: a file that is opened later
    would take its place, and receive messages.
    """
    if sys.stderr is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for the process
