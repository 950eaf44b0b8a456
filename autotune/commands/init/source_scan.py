"""What a source file shows about itself: macros, arguments, threads, where it prints results.

Patterns are searched in the text; nothing is compiled. This is enough for a first description of a
program, which its author then corrects.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from autotune.commands.init.default_value import stated_default
from autotune.commands.init.included_files import (
    all_beside,
    all_included,
    followed,
    headers_of,
    source_text,
    with_imports,
    with_modules,
)
from autotune.commands.init.option_scan import ProgramOption, python_options
from autotune.commands.init.time_units import TIME_UNIT, unit_of
from autotune.commands.init.work_amount import role_of

Language = Literal["C", "C++", "Fortran", "Python", "script", "executable"]
LANGUAGES: dict[str, Language] = {
    ".c": "C",
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".C"), "C++"),
    **dict.fromkeys((".f90", ".F90", ".f", ".F", ".f95", ".f03", ".f08"), "Fortran"),
    ".py": "Python",
    **dict.fromkeys((".sh", ".pl", ".rb", ".lua", ".jl", ".R"), "script"),
}
"""By the ending of a file; everything else must be executable."""
COMPILED: tuple[Language, ...] = ("C", "C++", "Fortran")

_MACRO = re.compile(
    r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[^\n]*\n(?:[ \t]*(?://[^\n]*)?\n)*"
    r"[ \t]*#[ \t]*define[ \t]+\1[ \t]+\(?[ \t]*([-+]?\d+)[ \t]*\)?[ \t]*(?:/[*/][^\n]*)?$",
    re.MULTILINE,
)
_WHOLE = re.compile(r"\(?[ \t]*[-+]?\d+[ \t]*\)?")
_DEFAULTED = re.compile(
    r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[ \t]*\n[ \t]*#[ \t]*define[ \t]+\1[ \t]+(\S[^\n/]*?)[ \t]*"
    r"(?:/[/*][^\n]*)?\n[ \t]*#[ \t]*endif\b",
    re.MULTILINE,
)
_GUARD = re.compile(r"_.*|\w+_(?:H|HH|HPP|HXX|INCLUDED|GUARD)_*", re.IGNORECASE)
"""Macros that say that a header was read, and those that compilers and libraries define."""
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif|define)\b(.*)$", re.M)
_DEFINED = re.compile(r"^\s*defined\s*\(?\s*(\w+)\s*\)?\s*(?:/[*/].*)?$")
_FOREIGN = re.compile(r"_.*|NDEBUG|DEBUG|VERBOSE|WIN32|APPLE|M_PI|.*_H|.*_HPP|.*MPI.*|.*OPENMP.*")
"""Macros that compilers, libraries and headers define."""
_ARGUMENT = re.compile(r"(\w+)\s*=\s*([^;=\n]*?)\bargv\s*\[\s*(\d+)\s*\](?=([^;=\n]*))")
_HELPED = re.compile(
    r"(\w+)\s*=\s*\w+\s*\(\s*argc\s*,\s*argv\s*,\s*(\d+)\s*(?:,\s*([-+0-9.eE]+))?\s*\)"
)
"""Read by a function: ``n = argument(argc, argv, 1, 512)``."""
_ANY_ARGUMENT = re.compile(r"\bargv\s*\[\s*(\d+)\s*\]")
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"' + r"|'((?:[^'\\\n]|\\.)*)'")
_PERCENT = re.compile(r"%[-+ #0-9.*]*(?:ll|l|L|z|j)?[fFeEgGdiux]")
_BRACES = re.compile(r"\{[^{}]*\}")
_TIME = re.compile(r"\b(?:time|times|seconds?|secs?|elapsed|wall|runtime|took|walltime)", re.I)
_CHECK = re.compile(r"\b(?:check\w*|\w*sum|norm|results?|residual|answer|energy|steps)\b", re.I)
_UNIT = re.compile(rf"^[\s\[(]*({TIME_UNIT})\b")
_UNIT_BEFORE = re.compile(rf"[\[(]\s*(?:in\s+)?({TIME_UNIT})\s*[\])]|\bin\s+({TIME_UNIT})\b")
_RATE = r"[A-Za-z]+/(?:s|sec|second)|[kKMGT]?(?:FLOPS|Flops|flops)"
_RATE_AFTER = re.compile(rf"^[\s\[(]*({_RATE})(?!\w)")
_RATE_BEFORE = re.compile(rf"[\[(]({_RATE})[\])][\s:=]*$")
_OPENMP = re.compile(r"#\s*pragma\s+omp|!\$omp|omp\.h|use\s+omp_lib", re.I)
_SCHEDULE = re.compile(r"schedule\s*\(\s*runtime\s*\)", re.I)
_NUMERIC = re.compile(r"^\s*(?:import|from)\s+(?:numpy|scipy|numba|torch|jax|numexpr)\b", re.M)
_CPU_CLOCK = re.compile(
    r"\b(?-i:clock)(?=\s*\(\s*\))|\bcpu_time\b|\bprocess_time(?:_ns)?\b|\bru_utime\b"
    r"|\bCLOCK_(?:PROCESS|THREAD)_CPUTIME_ID\b|\bthread_time\b",
    re.I,
)
_WALL_CLOCK = re.compile(
    r"\b(?:gettimeofday|ftime|timespec_get|CLOCK_(?:MONOTONIC|REALTIME)\w*|omp_get_wtime|MPI_Wtime"
    r"|system_clock|steady_clock|high_resolution_clock|date_and_time|perf_counter(?:_ns)?|itime"
    r"|time\.time|time\.monotonic|monotonic|default_timer|__?rdtscp?)\b",
    re.I,
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_LONGEST = 4 << 20
"""Bytes that are read of a source file."""
_FEW = 3
"""Files of a project whose macros are all looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument of the command line."""

    name: str
    position: int
    default: str
    """Empty: the source does not tell one, or it is no plain number."""
    optional: bool = False
    """The source has a default for it that is no plain number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRate:
    """A rate that a program prints, such as ``rate 12.5 MB/s``."""

    name: str
    """The word before it; ``rate`` without one."""
    unit: str
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceScan:
    """What a program shows about itself."""

    language: Language
    macros: tuple[tuple[str, int], ...] = ()
    """Numbers that are macros with a default: ``#ifndef BI``, ``#define BI 64``."""
    unvaried: Mapping[str, str] = field(default_factory=dict)
    """Other macros with a default, each with the reason why it is not varied."""
    flags: frozenset[str] = frozenset()
    """Those of them that are only on or off."""
    switches: tuple[tuple[str, ...], ...] = ()
    """Macros that a source asks for and does not define; of several in one, one is chosen."""
    arguments: tuple[Argument, ...] = ()
    openmp: bool = False
    schedule: bool = False
    """The schedule of its loops is chosen when it is run."""
    threads: bool = False
    """It starts threads of its own."""
    mpi: bool = False
    files: tuple[str, ...] = ()
    """The file, what it includes and the sources that go with that, relative to its folder."""
    includes: tuple[str, ...] = ()
    """Folders of headers that a compiler has to be told, relative to the folder of the file."""
    options: tuple[ProgramOption, ...] = ()
    """Options and variables with defaults that it declares."""
    levels: frozenset[str] = frozenset()
    """Short options whose number is a level of quality, by the usage text."""
    numeric: bool = False
    """A Python program that computes in libraries with threads of their own."""
    time: str = ""
    """A pattern of what it prints; empty: none found."""
    unit: str = "s"
    rate: PrintedRate | None = None
    check: str = ""
    cpu_clock: str = ""
    """What it reads its CPU time from, such as ``clock()``; empty: nothing, or it reads a clock of
    wall time as well."""
    single: bool = False
    """It computes in single precision."""


def scan_source(path: Path, also: Sequence[str] = ()) -> SourceScan:
    """What a source file or an executable shows about itself; OSError where it cannot be read.

    ``also``: files that belong to it as well, relative to its folder.
    """
    data = path.read_bytes()[:_LONGEST]
    language = LANGUAGES.get(path.suffix)
    if language is None:
        language = "script" if data.startswith(b"#!") else "executable"
    if language == "executable":
        openmp = any(name in data for name in (b"libgomp", b"libomp.", b"libiomp5"))
        mpi = any(name in data for name in (b"libmpi.so", b"libmpich", b"libmpi_"))
        return SourceScan(language=language, openmp=openmp, mpi=mpi, files=(path.name,))
    text = data.decode(errors="replace")
    files, includes = _files(language, path, text)
    for name in also:
        file = path.parent / name
        more = followed(file, source_text(file))[0] if file.parent == path.parent else (name,)
        files = tuple(dict.fromkeys((*files, *more)))
    others = (source_text(path.parent / name) for name in files if name != path.name)
    every = "\n".join([text, *others])
    whole = all_beside(path, files) and all_included([path.parent / name for name in files])
    scan = scan_text(language, text, every, whole=whole)
    return replace(scan, files=files, includes=includes)


def _files(language: Language, path: Path, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files that belong to a source, and folders of headers, relative to its folder."""
    if language == "Python":
        return with_imports(path, text), ()
    if language not in COMPILED:
        return (path.name,), ()
    files, folders = followed(path, text)
    if language == "Fortran":
        modules = with_modules(path, text)
        files = (*(m for m in modules if m != path.name), *files)
    return tuple(dict.fromkeys(files)), folders


def scan_project(
    language: Language, files: Sequence[Path], folders: Sequence[Path] = ()
) -> SourceScan:
    """What the sources of a project show; switches of large projects are not looked at.

    Macros are also those of the headers that they include, which lie beside them or in ``folders``.
    """
    texts = [source_text(file) for file in files]
    mains = [text for text in texts if re.search(r"\bmain\s*\(|^\s*program\s", text, re.M | re.I)]
    every = "\n".join(texts)
    scan = scan_text(language, "\n".join(mains) or every, every)
    included = headers_of(files, folders)
    headers = "\n".join([every, *map(source_text, included)])
    every_macro = _macros(headers)
    few = len(files) <= _FEW
    macros = {m: v for m, v in every_macro.items() if few or role_of(m)[0] == "tuning"}
    unclear = "the name does not say how work is done"
    rest = {m: role_of(m)[1] or unclear for m in every_macro if m not in macros}
    return replace(
        scan,
        macros=tuple(macros.items()),
        flags=frozenset(name for name in macros if _is_switch(name, headers)),
        unvaried=rest | _other_macros(headers, whole=all_included([*files, *included])),
        switches=scan.switches if len(files) == 1 else (),
    )


def _macros(text: str) -> dict[str, int]:
    """Macros with a number as default that something reads."""
    return {m: v for m, v in _numbers(text).items() if _is_read(m, text)}


def _numbers(text: str) -> dict[str, int]:
    """Macros with a number as default; guards of headers are none."""
    return {m: int(v) for m, v in _MACRO.findall(text) if not _GUARD.fullmatch(m)}


def _other_macros(text: str, *, whole: bool) -> dict[str, str]:
    """Macros with a default that are not varied, each with the reason; those that nothing reads
    only where the text is the ``whole`` program.
    """
    names = (m for m, v in _DEFAULTED.findall(text) if not _WHOLE.fullmatch(v))
    others = {m: "the default is no whole number" for m in names if not _GUARD.fullmatch(m)}
    unread = [m for m in _numbers(text) if not _is_read(m, text)] if whole else []
    return others | dict.fromkeys(unread, "nothing reads it")


def _is_read(name: str, text: str) -> bool:
    """Whether a macro stands anywhere but where it gets its default."""
    plain = _COMMENT.sub(" ", text)
    default = rf"^[ \t]*#[ \t]*(?:ifndef|define|undef)[ \t]+{name}\b"
    return re.search(rf"\b{name}\b", re.sub(default, "", plain, flags=re.M)) is not None


def scan_text(language: Language, text: str, every: str, *, whole: bool = True) -> SourceScan:
    """What the text of a program shows; ``every``: with the texts of all that belongs to it, which
    is the ``whole`` of it or a part.
    """
    macros = _macros(every)
    printed = list(_printed(text))
    rate = next((line for line in printed if line.rate_unit), None)
    others = [line for line in printed if not line.rate_unit]
    timed = [line for line in others if _TIME.search(line.words)]
    time = max(timed, key=lambda line: line.likely, default=None)
    check = next((f for f in others if f is not time and _CHECK.search(f.words)), None)
    return SourceScan(
        language=language,
        unvaried=_other_macros(every, whole=whole) if language in COMPILED else {},
        macros=tuple(macros.items()) if language in COMPILED else (),
        flags=frozenset(name for name in macros if _is_switch(name, every)),
        switches=tuple(_switches(every)) if language in COMPILED else (),
        arguments=tuple(_arguments(text)),
        options=python_options(text) if language == "Python" else (),
        numeric=language == "Python" and bool(_NUMERIC.search(text)),
        openmp=language in COMPILED and bool(_OPENMP.search(every)),
        schedule=language in COMPILED and bool(_SCHEDULE.search(every)),
        threads=bool(re.search(r"pthread\.h|<thread>|import threading|multiprocessing", every)),
        mpi=bool(re.search(r"\bmpi\.h\b|\bMPI_Init|\bmpi4py\b|use\s+mpi", every, re.I)),
        time=time.pattern(r"([-+0-9.eEdD]+)") if time else "",
        unit=time.unit if time else "s",
        rate=rate.rate() if rate else None,
        check=check.pattern(r"([-+.\w]+)") if check else "",
        cpu_clock=_cpu_clock(every),
        single={"float", "double"} & set(re.findall(r"\w+", every)) == {"float"},
    )


def _cpu_clock(text: str) -> str:
    """The call from which a program takes its time, where that can only be CPU time."""
    plain = _COMMENT.sub(" ", text)
    match = _CPU_CLOCK.search(plain)
    if match is None or _WALL_CLOCK.search(plain):
        return ""
    return f"{match.group()}()" if match.group() == "clock" else match.group()


def _is_switch(name: str, text: str) -> bool:
    """Whether a macro is only tested for being on or off: ``#if NAME``."""
    return (
        re.search(rf"^[ \t]*#[ \t]*(?:el)?if[ \t]+!?[ \t]*{name}\b[ \t]*$", text, re.M) is not None
    )


def _switches(text: str) -> Iterator[tuple[str, ...]]:
    """Macros that are tested with ``#ifdef`` and defined nowhere, one tuple per #if chain."""
    defined = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M))
    chains: list[list[str]] = []
    seen: set[str] = set()
    for kind, rest in _DIRECTIVE.findall(text):
        match = _DEFINED.match(rest)
        name = match.group(1) if match else ""
        if kind == "ifdef":
            name = rest.split()[0] if rest.split() else ""
        if kind in ("if", "ifdef", "ifndef"):
            chains.append([])
        new = name and name not in defined | seen and not _FOREIGN.fullmatch(name)
        if new and chains and kind in ("if", "ifdef", "elif"):
            chains[-1].append(name)
            seen.add(name)
        if kind == "endif" and chains and (chain := chains.pop()):
            yield tuple(chain)


def _arguments(text: str) -> Iterator[Argument]:
    """Arguments by position, without gaps; an unnamed one is called ``argument3``."""
    plain = re.sub(r"[<>=!]=", "<", text)
    named: dict[int, Argument] = {}
    helped = [(name, position, words, False) for name, position, words in _HELPED.findall(plain)]
    for name, before, position, behind in _ARGUMENT.findall(plain):
        default, stated = stated_default(before, behind)
        helped.append((name, position, default, stated and not default))
    for name, position, words, optional in helped:
        place = int(position)
        if place and place not in named:
            # zero stands for an argument that must be given
            default = words if words.strip("+-0.") else ""
            named[place] = Argument(name=name, position=place, default=default, optional=optional)
    last = max([0, *named, *map(int, _ANY_ARGUMENT.findall(plain))])
    for position in range(1, min(last, 20) + 1):
        unnamed = Argument(name=f"argument{position}", position=position, default="")
        yield named.get(position, unnamed)


# --- what is printed ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Printed:
    """A place where a source prints a number, with the text around it on its line."""

    before: str
    after: str

    @property
    def words(self) -> str:
        return f"{self.before} {self.after}"

    @property
    def likely(self) -> int:
        """Score that the number is a time: 2 for a time word before it, 1 for a unit after it."""
        return 2 * bool(_TIME.search(self.before)) + bool(_UNIT.match(self.after))

    @property
    def unit(self) -> str:
        match = _UNIT.match(self.after) or _UNIT_BEFORE.search(self.before)
        return unit_of(next(filter(None, match.groups()))) if match else "s"

    @property
    def rate_unit(self) -> str:
        """The unit of a rate, of which more is better, such as MB/s; empty for other numbers."""
        match = _RATE_AFTER.match(self.after) or _RATE_BEFORE.search(self.before)
        return match.group(1) if match else ""

    def rate(self) -> PrintedRate:
        """The rate that is printed here."""
        words = re.findall(r"[A-Za-z_]\w*", _RATE_BEFORE.sub("", self.before))
        return PrintedRate(
            name=words[-1].lower() if words else "rate",
            unit=self.rate_unit,
            pattern=self.pattern(r"([-+0-9.eE]+)"),
        )

    def pattern(self, number: str) -> str:
        """A regular expression for the printed line, with ``number`` in place of the number."""
        unit = _RATE_AFTER.match(self.after) or _UNIT.match(self.after)
        tail = r"\s*" + re.escape(unit.group(1)) if unit else ""
        return f"{_escaped(self.before)}{number}{tail}"


def _escaped(text: str) -> str:
    """The text as a regular expression in which any white space matches any white space."""
    parts = re.split(r"\s+", text[-60:])
    return r"\s*".join(re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", part) for part in parts)


def _printed(text: str) -> Iterator[_Printed]:
    """The places that print numbers: formats (``"time %f s"``), f-strings, ``"time", t``."""
    for line in re.sub(r'"\s*\n?\s*"', "", text).splitlines():
        for literal in _LITERAL.finditer(line):
            words = literal.group(1) if literal.group(1) is not None else literal.group(2)
            follows = line[literal.end() :].lstrip()
            conversion = _BRACES if line[: literal.start()].endswith(("f", "F")) else _PERCENT
            if conversion.search(words):
                yield from _formatted(words, conversion)
            elif follows.startswith((",", "<<", "//")) and words.strip():
                yield _Printed(_unescaped(words).rstrip() + " ", "")


def _formatted(words: str, conversion: re.Pattern[str]) -> Iterator[_Printed]:
    for piece in re.split(r"\\n", words):
        ends = [0, *(match.end() for match in conversion.finditer(piece))]
        starts = [*(match.start() for match in conversion.finditer(piece)), len(piece)]
        for i in range(len(starts) - 1):
            before = _unescaped(piece[ends[i] : starts[i]])
            printed = _Printed(before, _unescaped(piece[ends[i + 1] : starts[i + 1]]))
            if re.search(r"\w", before) or printed.rate_unit:
                yield printed


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: " " if m.group(1) in "ntr" else m.group(1), text).replace(
        "%%", "%"
    )
