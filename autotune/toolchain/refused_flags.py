"""Flags that a compiler refuses: found by trials, or named in what it said of a build."""

import re
from collections.abc import Callable, Mapping, Sequence

from autotune.errors import nearest, one_of
from autotune.toolchain import child_process
from autotune.toolchain import compiler as compilers
from autotune.toolchain.compiler import Compiler
from autotune.toolchain.scratch_folder import temporary_folder

_LIMIT = 120.0
_TRIALS = {
    "C": (
        "trial.c",
        """\
#include <math.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    double a[64], sum = 0;
    for (int i = 0; i < 64; i++) a[i] = sqrt(i + argc);
    for (int i = 1; i < 64; i++) if (a[i] > a[i - 1]) sum += a[i] * a[64 - i];
    return printf("%s %g\\n", argv[0], sum) < 0;
}
""",
    ),
    "C++": (
        "trial.cpp",
        """\
#include <cstdio>
#include <vector>
int main(int argc, char **)
{
    std::vector<double> a(64, argc);
    double sum = 0;
    for (double x : a) sum += x * x;
    return std::printf("%g\\n", sum) < 0;
}
""",
    ),
    "Fortran": (
        "trial.f90",
        "program trial\n  real(8) :: a(64)\n  a = 1d0\n  print *, sum(a * a)\nend program\n",
    ),
}
"""A file that is compiled and linked, by language."""
_UNKNOWN = re.compile(
    r"(?:unrecognized command[- ]line option|unknown argument:?|unrecognized argument in option"
    r"|unknown warning option|invalid --param name)"
    r" ['\"]?(?P<flag>[^'\"\s;,]+)['\"]?(?:[^\n]*?; did you mean ['\"]?(?P<near>[^'\"?\s]+))?"
)
"""What gcc and clang say of a flag that they do not have."""
_VALUES = re.compile(r"valid arguments to ['\"](?P<flag>-[^'\"\s]+)['\"] are: (?P<values>[^;\n]+)")
"""What gcc says of a value that a flag does not have."""

Trial = Callable[[Sequence[str]], str]
"""What a compiler says of flags; empty where it accepts them in silence."""


def trial(compiler: Compiler, language: str) -> Trial:
    """A trial that builds a small program of a language with the flags of the compiler and more."""
    name, text = _TRIALS[language]

    def said(flags: Sequence[str]) -> str:
        with temporary_folder() as folder:
            (folder / name).write_text(text, encoding="ascii")
            command = [compiler.path, *compiler.flags, *flags, name, "-o", "trial", "-lm"]
            outcome = child_process.run(
                command, timeout=_LIMIT, environment=compilers.environment(folder), folder=folder
            )
        return outcome.err.strip() if outcome.ok else outcome.describe()

    return said


def refused(options: Sequence[Sequence[str]], said: Trial) -> Mapping[str, str]:
    """The spellings that a compiler refuses or warns of, and what it says of each.

    ``options``: the spellings of each option. All are tried together, and halves of those about
    which the compiler says something, so that few refusals need few trials (group testing, Dorfman
    1943). Options that only together are refused are kept.
    """
    return _refused([spelling for spellings in options for spelling in spellings], said)


def _refused(spellings: Sequence[str], said: Trial) -> dict[str, str]:
    text = said(spellings) if spellings else ""
    if not text:
        return {}
    if len(spellings) == 1:
        return {spellings[0]: _first_words(text)}
    half = len(spellings) // 2
    return _refused(spellings[:half], said) | _refused(spellings[half:], said)


def _first_words(text: str) -> str:
    """The first line of a message that says what is wrong, without the place in the source."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    saying = [line for line in lines if re.search(r"error|warning|sorry", line)] or lines
    return re.sub(r"^.*?(?:error|warning|sorry): ", "", saying[0]).removesuffix(".")


def named_refusals(message: str, names: Callable[[], Sequence[str]] = tuple) -> str:
    """In words, which flags a compiler does not have by its message, each with the nearest that it
    has; empty where the message names none.

    ``names``: the flags that it has, asked only where the message says no nearest.

    >>> named_refusals("gcc: error: unrecognized command-line option '-fgcsee'; did you mean"
    ... " '-fgcse'?")
    'the compiler has no flag -fgcsee (did you mean -fgcse?)'
    """
    near: dict[str, str] = {}
    for match in _UNKNOWN.finditer(message):
        flag, hint = match["flag"], match["near"]
        near[flag] = f"did you mean {hint}?" if hint else nearest(flag, names())
    words = [f"{flag} ({hint})" if hint else flag for flag, hint in near.items()]
    noun = "flag" if len(words) == 1 else "flags"
    sayings = [f"the compiler has no {noun} {', '.join(words)}"] if words else []
    for match in _VALUES.finditer(message):
        if match["flag"] not in near:
            sayings.append(f"{match['flag']} takes {one_of(match['values'].split())}")
    return "; ".join(sayings)
