"""The assembly of a user's source file, compiled as the build of the program does.

Of the compiler's command line, the flags that affect the code are used. Names of files, linking and
joint compilation of several units are left out. The source is preprocessed in its own folder, so
that the assembly depends only on the resulting text and these flags. It comes from the build cache
if possible.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.domain.variant import Build
from autotune.errors import WorkFailed
from autotune.language.loop_marks import UNITS
from autotune.toolchain import build_cache, child_process, known_flags
from autotune.toolchain import compiler as compilers
from autotune.toolchain.compiler import Compiler

LINE_TABLE = ("-g1",)
"""Flag for a table of source lines in the assembly; it does not change the code."""
_LIMIT = 60.0
_LARGEST = 1 << 26
"""Largest number of bytes of a preprocessed source."""

_TEXT_WITH_VALUE = ("-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter")
_TEXT = ("-I", "-D", "-U", "-isystem", "-iquote", "-nostdinc")
"""Flags that affect the text only."""
_DROPPED_WITH_VALUE = ("-o", "-MF", "-MT", "-MQ", "-x", "-Xlinker", "-L", "-l", "-T", "-u", "-z")
_DROPPED = ("-c", "-S", "-E", "-s", "-v", "-shared", "-static", "-rdynamic", "-pipe", "-save-temps")
_DROPPED_BEGINNINGS = ("-L", "-l", "-Wl,", "-M", "-flto", "-fwhole-program", "-fuse-ld", "-g")


@dataclass(frozen=True, slots=True)
class CodeFlags:
    """The compiler, flags and sources of a command line."""

    compiler: str
    code: tuple[str, ...]
    text: tuple[str, ...]
    """Flags for the preprocessor only."""
    units: tuple[str, ...] = ()
    """The sources named in the command line."""


def flags_of(command: Sequence[str]) -> CodeFlags:
    """The compiler and its flags in a command line; ValueError for an empty command line.

    >>> flags_of(["gcc", "-O3", "-DB=8", "mm.c", "-o", "mm", "-lm"])
    CodeFlags(compiler='gcc', code=('-O3',), text=('-DB=8',), units=('mm.c',))
    """
    if not command:
        raise ValueError("the command line of the compiler is empty")
    code: list[str] = []
    text: list[str] = []
    units: list[str] = []
    rest = iter(command[1:])
    for word in rest:
        if word in _TEXT_WITH_VALUE:
            text += [word, next(rest, "")]
        elif word in _DROPPED_WITH_VALUE:
            next(rest, None)
        elif word.startswith(_TEXT):
            text.append(word)
        elif word.startswith("-") and not _is_dropped(word):
            code.append(word)
        elif word.lower().endswith(UNITS):
            units.append(word)
    return CodeFlags(command[0], tuple(code), tuple(text), tuple(units))


def _is_dropped(word: str) -> bool:
    return word in _DROPPED or word.startswith(_DROPPED_BEGINNINGS)


def assembly(
    command: Sequence[str], source: str, where: str = "builds", *, trusted: bool = True
) -> str:
    """The assembly of ``source``, an absolute path, compiled as by ``command``, with a line table.

    For a header it is the assembly of the unit that the command line names. The paths of the
    command line are relative to the folder of the source. Raises WorkFailed with the compiler's
    output. Raises MissingTool or InputError (naming ``where``) for a compiler that is not installed
    or refuses the flags, and InputError for a compiler or flag that may be used only where the file
    that names it is ``trusted``.
    """
    flags = flags_of(command)
    if not trusted:
        known_flags.require(flags.compiler, (*flags.code, *flags.text), where)
    compiler = compilers.find(Build(compiler=flags.compiler, flags=flags.code), where)
    unit = _unit(flags, source)
    text = preprocessed(compiler, flags.text, unit)
    language = () if unit.endswith(".c") else ("-x", "c++")
    return build_cache.assembly(text, compiler, limit=_LIMIT, extra_flags=(*LINE_TABLE, *language))


def _unit(flags: CodeFlags, source: str) -> str:
    """Absolute path of the unit to compile: the source, or the unit that includes a header."""
    if source.lower().endswith(UNITS):
        return source
    if len(flags.units) != 1:
        named = ", ".join(flags.units) or "none"
        raise WorkFailed(
            f"{Path(source).name} is a header, and the command line must name one source that"
            f" includes it, not {named}: the key compile of the model states it"
        )
    return str(Path(source).parent / flags.units[0])


def preprocessed(compiler: Compiler, flags: Sequence[str], source: str) -> str:
    """The text of a unit with its headers; line numbers refer to the original files."""
    outcome = child_process.run(
        [compiler.path, *compiler.flags, *flags, "-E", source],
        timeout=_LIMIT,
        environment=compilers.environment(),
        limits=child_process.ChildLimits(output=_LARGEST),
        folder=Path(source).parent,
        niceness=build_cache.BACKGROUND,
    )
    if not outcome.ok:
        raise WorkFailed(f"{compiler.name} does not read {Path(source).name}: {outcome.describe()}")
    return outcome.out
