"""Lines of C: wrapping, and what stands before every function."""

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
"""The iterations of a marked loop are independent; clang takes that from ``restrict`` alone."""


def wrapped(line: str) -> list[str]:
    """A line of C, continued on further ones where it is long."""
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
