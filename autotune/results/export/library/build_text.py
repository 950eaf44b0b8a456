r"""Texts in the languages of build files, so that a compiler gets them as they are.

>>> print(cmake_option('-DTEXT="a;b"'), meson_flag("-DQUOTE='"))
[==[-DTEXT="a\;b"]==] '-DQUOTE=\''
"""

import re

_MACRO = "-D"


def cmake_option(flag: str) -> str:
    """A flag as an element of a list of options in CMake: a bracket argument, in which only
    semicolons and generator expressions mean anything. (An opening bracket without a closing one
    would join it with the next: lists of CMake cannot hold that.)
    """
    escaped = flag.replace(";", r"\;").replace("$<", "$$<1:><")
    equals = "=" * (1 + max((len(run) for run in re.findall("=+", flag)), default=1))
    return f"[{equals}[{escaped}]{equals}]"


def meson_string(text: str) -> str:
    """A text as a string of Meson."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def meson_flag(flag: str) -> str:
    """A flag as a string of Meson, which doubles every backslash of flags that begin with -D."""
    if flag.startswith(_MACRO) and "\\" in flag:
        flag = f"--define-macro={flag.removeprefix(_MACRO)}"
    return meson_string(flag)


def pkg_config(text: str) -> str:
    """A text as a value in a file that CMake's configure_file makes for pkg-config, where ``at`` is
    @; it names no variable.
    """
    return text.replace("@", "@at@").replace("${", "$ {").replace("#", r"\#")


def interface_version(version: str) -> str:
    """What two versions share that can replace one another: the first number, or before version 1
    the first two.

    >>> interface_version("0.3.1"), interface_version("2.0")
    ('0.3', '2')
    """
    first, second, *_ = version.split(".")
    return first if int(first) else f"{first}.{second}"
