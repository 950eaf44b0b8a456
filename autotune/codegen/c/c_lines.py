"""Formats C text: wraps long lines, and puts a macro before every function."""

import textwrap

WIDTH = 100
GLUE = "\xa0"
"""A space at which no line is broken."""
INDEPENDENT = [
    "#ifdef __clang__",
    "#define INDEPENDENT",
    "#else",
    '#define INDEPENDENT _Pragma("GCC ivdep")',
    "#endif",
    "",
]
"""Lines that define the macro ``INDEPENDENT``: the iterations of the next loop are independent.
clang concludes that from ``restrict`` alone."""


def wrapped(line: str) -> list[str]:
    """A line of C, divided into several lines where it is longer than ``WIDTH``."""
    if len(line) <= WIDTH or line.lstrip().startswith("#"):
        return [line.replace(GLUE, " ")]
    indent = line[: len(line) - len(line.lstrip())]
    lines = textwrap.wrap(
        line,
        WIDTH,
        subsequent_indent=indent + "        ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [part.replace(GLUE, " ") for part in lines]
