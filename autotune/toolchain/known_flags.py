"""Compilers and flags that a config file of somebody else may name without being trusted.

A flag can make a compiler run another program (``-wrapper``, ``-B``, ``-specs=``), load code into
itself (``-fplugin=``), or read and write any file (``@file``, ``-include``, ``-o``). Only flags of
the kinds listed here do nothing of that.
"""

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence

from autotune.errors import Fault, InputError, nearest

COMPILERS = (
    "gcc", "g++", "cc", "c++", "clang", "clang++", "icx", "icpx", "icc", "icpc", "armclang",
    "armclang++", "nvc", "nvc++", "fcc", "FCC", "aocc", "gfortran", "flang", "ifx", "nvfortran",
)  # fmt: skip
"""Names of compilers; ``gcc-12`` and ``aarch64-linux-gnu-gcc`` are such names too."""
KINDS = "-O*, -m*, -f*, -std=*, -D*, -U*, -W*, -I*, -L*, -l*, -g, -pthread, -static"
"""The known kinds in words. Of -f* and -W*, flags that name files or plugins are none of them."""
TRUST = "--trust, if you trust this file as you trust a program that you run"

_NAME = re.compile(
    rf"(?:[A-Za-z0-9_]+-)*(?:{'|'.join(map(re.escape, COMPILERS))})(?:-\d+(?:\.\d+)*)?"
)
_VALUE = r"[\w.,:+-]+"
_FLAG = re.compile(
    rf"""-O(?:[0-3sgz]|fast)?
    |-m(?!llvm)[\w.+-]+(?:={_VALUE})?
    |-f[\w-]+(?:={_VALUE})?
    |-W(?![apl],)[a-z][\w+-]*(?:=[\w-]+)?
    |-(?:std|stdlib)=[\w+:]+
    |-[DU][A-Za-z_]\w*(?:\([\w,]*\))?(?:=.*)?
    |-[ILl][^@%\0-]*[^@%\0]*
    |-i(?:system|quote|dirafter)[^@%\0]+
    |--param=[\w-]+=\d+
    |-g(?:[0-3]|dwarf(?:-\d)?|gdb\d?)?
    |-x[A-Z][\w-]*|-ax[A-Z][\w,-]*|-q[a-z][\w=,-]*|-tp=[\w-]+|-M[a-z]\w+(?:=[\w,:]+)?
    |-(?:pthread|static|shared|pipe|s|w|ansi|pedantic|rdynamic|restrict|ipo?|unroll\d*)
    |-no(?:stdinc|stdlib|lib-inline|builtin|-[a-z-]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_OF_FILES = re.compile(
    r"-[fq](?:\S*[-_=,.:+])?(?:plugin\w*|dump\w*|opt-info|save|record\w*|profile\w*|crash\w*"
    r"|cache\w*|modul(?!o)\w*|\w*file\w*|\w*path|\w*dir|directory|\w*list|output\w*|trace|report\w*"
    r"|coverage\w*|callgraph\w*|usage|use-ld|diagnostics|xray\w*|index\w*|embed\w*|prefix|working)"
    r"(?![a-z])"
)
"""Flags of a known form that read, write or load files; they are known by whole words."""
_PAIRED = ("-D", "-U", "-I", "-L", "-l", "-isystem", "-iquote", "-idirafter")
"""Flags of a known kind whose value may be the next word."""


def is_known_compiler(program: str) -> bool:
    """Whether a text is the name of a compiler, to be looked up on PATH, and no path.

    >>> is_known_compiler("gcc-12"), is_known_compiler("./gcc"), is_known_compiler("rm")
    (True, False, False)
    """
    return _NAME.fullmatch(program) is not None


def unknown_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Those of a compiler's flags that are of no known kind.

    >>> unknown_flags(["-O3", "-march=native", "-D", "N=8", "-fplugin=x.so", "@file"])
    ('-fplugin=x.so', '@file')
    >>> unknown_flags(["-fmodulo-sched", "-fcaller-saves", "-save-temps"])
    ('-save-temps',)
    """
    unknown: list[str] = []
    words = iter(flags)
    for word in words:
        if word in _PAIRED:
            value = next(words, "")
            if value.startswith(("-", "@")) or "\0" in value:
                unknown.append(f"{word} {value}")
        elif not _FLAG.fullmatch(word) or _OF_FILES.match(word) or "\0" in word:
            unknown.append(word)
    return tuple(unknown)


def command_faults(program: str, flags: Sequence[str], where: str) -> Iterator[Fault]:
    """The faults of a compiler and flags that a file names, which is not trusted.

    ``where``: the place in the file.
    """
    if not is_known_compiler(program):
        similar = nearest(program, COMPILERS)
        yield Fault(
            where=where,
            found=f"the compiler {program!r} would be run",
            expected="the name of a compiler on PATH, such as gcc, clang-19 or icx",
            hint=f"{similar} Else {TRUST}" if similar else TRUST,
        )
    for flag in unknown_flags(flags):
        found = f"the flag {flag!r} is not known to be safe: it may run a program or use a file"
        yield Fault(where=where, found=found, expected=KINDS, hint=TRUST)


def require(program: str, flags: Sequence[str], where: str) -> None:
    """Raise InputError with the faults of a compiler and flags, if there are any."""
    faults = list(command_faults(program, flags, where))
    if faults:
        raise InputError(*faults)


def machine_faults(compilers: Mapping[str, str], where: str) -> Iterator[Fault]:
    """The same for the compilers that a machine file names, each with its flags as one text.

    One that is not installed is never run.
    """
    for program, text in compilers.items():
        if shutil.which(program) is None:
            continue
        try:
            flags = shlex.split(text)
        except ValueError as error:
            yield Fault(where=where, found=f"flags of {program}: {error}", expected=KINDS)
            continue
        yield from command_faults(program, flags, where)
