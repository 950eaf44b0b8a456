"""Compilers: version, accepted flags, and the meaning of ``-march=native`` on this host."""

import contextlib
import functools
import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.domain.variant import Build
from autotune.errors import Fault, InputError, MissingTool, nearest
from autotune.toolchain import child_process
from autotune.toolchain.known_flags import COMPILERS, is_known_compiler
from autotune.toolchain.scratch_folder import temporary_folder

USUAL_NAMES = ("gcc", "clang", "cc", "icx", "armclang", "nvc")
_PACKAGES = {
    "gcc": ("gcc libc6-dev", "gcc glibc-devel"),
    "clang": ("clang libomp-dev", "clang libomp-devel"),
}
"""Packages that install a compiler with its libraries: of Debian, of Fedora."""
_VENDORS = {
    **dict.fromkeys(
        ("icc", "icpc", "icx", "icpx", "ifort", "ifx"),
        "it is a part of Intel's oneAPI toolkits, which no distribution has",
    ),
    **dict.fromkeys(("nvc", "nvc++", "nvfortran"), "it is a part of the NVIDIA HPC SDK"),
    **dict.fromkeys(("armclang", "armflang"), "it is a part of Arm Compiler for Linux"),
    **dict.fromkeys(("aocc", "craycc", "cc", "CC"), "the modules of the machine may have it"),
}
"""Where compilers come from that are in no distribution."""
_LIMIT = 60.0
_TRIAL = """\
#include <math.h>
double trial(double x) { return sqrt(x); }
"""
_OPENMP_TRIAL = """\
#include <omp.h>
#include <stdio.h>
int main(void) { printf("%d\\n", omp_get_max_threads()); return 0; }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """An installed compiler with flags that it accepts."""

    path: str
    name: str
    """``gcc``, ``clang``, or the program's own name for others."""
    version: str
    """First line of ``--version``."""
    flags: tuple[str, ...]
    """The flags to pass: as requested, with ``-march=native`` replaced where it is refused."""
    resolved_flags: tuple[str, ...]
    """The meaning of the flags on this host, as the driver passes them to the compiler proper."""
    notes: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """A hash of the version and the resolved flags: equal identities generate equal code."""
        text = "\n".join((self.name, self.version, *self.flags, "", *self.resolved_flags))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def title(self) -> str:
        """Version and identity, under which results are stored."""
        return f"{self.version} [{self.identity}]"


def find(build: Build, where: str = "builds") -> Compiler:
    """The compiler of a build, tested with its flags on a small program.

    ``where`` is the place in the config that requested it. Raises MissingTool for a compiler that
    is not installed or has no C library, InputError, with the compiler's output, for flags that it
    refuses. Remembered per process.
    """
    with _placed(where):
        return _find(build.compiler, build.flags, os.environ.get("PATH", ""))


def require_openmp(compiler: Compiler, where: str = "builds") -> None:
    """Raise MissingTool unless the compiler builds OpenMP programs. Remembered per process."""
    with _placed(where):
        _require_openmp(compiler)


@contextlib.contextmanager
def _placed(where: str) -> Iterator[None]:
    # what is remembered does not depend on the place; what is reported does
    try:
        yield
    except InputError as error:
        faults = [
            Fault(where=where, found=f.found, expected=f.expected, hint=f.hint)
            for f in error.faults
        ]
        raise type(error)(*faults) from error


@functools.cache
def _find(program: str, flags: tuple[str, ...], search_path: str) -> Compiler:
    path = shutil.which(program, path=search_path)
    if path is None:
        raise MissingTool(_missing(program, search_path))
    shown = child_process.run([path, "--version"], timeout=_LIMIT, environment=environment())
    if not shown.ok:
        raise InputError(_refused(program, "does not tell its version", shown.describe()))
    name = _name(program, shown.out)
    with temporary_folder() as folder:
        (folder / "trial.c").write_text(_TRIAL, encoding="ascii")
        usable, notes = _accepted(path, program, name, flags, folder)
        resolved = _resolved(path, usable, folder)
    if not resolved:
        resolved = usable
        notes += (f"{program} does not show what its flags stand for",)
    return Compiler(
        path=path,
        name=name,
        version=shown.out.strip().splitlines()[0] if shown.out.strip() else program,
        flags=usable,
        resolved_flags=resolved,
        notes=notes,
    )


def environment(scratch: Path | None = None) -> dict[str, str]:
    """The environment variables for compilers: those of this process, with messages in English.

    ``scratch``: the folder for the temporary files of a compiler, which stay where it is killed.
    """
    variables = {**os.environ, "LC_ALL": "C"}
    return variables if scratch is None else {**variables, "TMPDIR": str(scratch.absolute())}


def _name(program: str, text: str) -> str:
    if "clang" in text.lower():
        return "clang"
    if "Free Software Foundation" in text:
        return "gcc"
    return Path(program).name


def _accepted(
    path: str, program: str, name: str, flags: tuple[str, ...], folder: Path
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The flags to pass, and notes on refused flags that were replaced."""
    first = _try(path, flags, folder)
    if first is None:
        return flags, ()
    for replacement in _replacements(flags):
        if _try(path, replacement, folder) is None:
            by = " ".join(f for f in replacement if f not in flags) or "nothing"
            return replacement, (f"{program} refuses -march=native: replaced by {by}",)
    if _try(path, (), folder) is None:
        raise InputError(_refused(program, f"refuses {shlex.join(flags)}", first))
    raise MissingTool(_incomplete(program, name, "a C program", first))


@functools.cache
def _require_openmp(compiler: Compiler) -> None:
    with temporary_folder() as folder:
        (folder / "trial.c").write_text(_OPENMP_TRIAL, encoding="ascii")
        command = [compiler.path, *compiler.flags, "-fopenmp", "trial.c", "-o", "trial"]
        outcome = child_process.run(
            command, timeout=_LIMIT, environment=environment(folder), folder=folder
        )
    if not outcome.ok:
        fault = _incomplete(compiler.path, compiler.name, "an OpenMP program", outcome.describe())
        raise MissingTool(fault)


def _incomplete(program: str, name: str, what: str, text: str) -> Fault:
    debian, fedora = _PACKAGES.get(name, _PACKAGES["gcc"])
    return Fault(
        where="",
        found=f"{program} cannot build {what}: {_words(text)}",
        expected="a compiler with C and OpenMP libraries",
        hint=f"apt install {debian}, or dnf install {fedora}",
    )


def _replacements(flags: tuple[str, ...]) -> list[tuple[str, ...]]:
    native = "-march=native"
    if native not in flags:
        return []
    other = tuple("-mcpu=native" if flag == native else flag for flag in flags)
    return [other, tuple(flag for flag in flags if flag != native)]


def _try(path: str, flags: Sequence[str], folder: Path) -> str | None:
    """Build the trial program; None on success, else the compiler's message."""
    command = [path, *flags, "-c", "trial.c", "-o", "trial.o"]
    outcome = child_process.run(
        command, timeout=_LIMIT, environment=environment(folder), folder=folder
    )
    return None if outcome.ok else outcome.describe()


def _resolved(path: str, flags: Sequence[str], folder: Path) -> tuple[str, ...]:
    command = [path, *flags, "-###", "-c", "trial.c", "-o", "trial.o"]
    outcome = child_process.run(
        command, timeout=_LIMIT, environment=environment(folder), folder=folder
    )
    for line in (outcome.err + outcome.out).splitlines():
        if not line.startswith(" "):
            continue
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        if len(words) > 1 and (Path(words[0]).name == "cc1" or "-cc1" in words):
            return _options(words[1:])
    return ()


def _options(words: Sequence[str]) -> tuple[str, ...]:
    """The options that determine the generated code, without the names of files and folders."""
    paired = ("--param", "-target-cpu", "-target-feature", "-tune-cpu", "-target-abi", "-triple")
    options: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        if before in paired:
            options.append(f"{before} {word}")
        elif re.match(r"-(m|O|f|std=|D|U)", word) and "/" not in word:
            options.append(word)
    return tuple(options)


def _missing(program: str, search_path: str) -> Fault:
    installed = [name for name in USUAL_NAMES if shutil.which(name, path=search_path)]
    name = Path(program).name.split("-")[0]
    debian, fedora = _PACKAGES.get(name, (program, program))
    packages = f"apt install {debian}, or dnf install {fedora}"
    meant = "" if is_known_compiler(Path(program).name) else nearest(program, COMPILERS)
    hint = meant or _VENDORS.get(name, packages)
    if installed:
        hint += f"; on PATH: {', '.join(installed)}"
    return Fault(
        where="",
        found=f"the compiler {program!r} is not installed",
        expected="a C compiler on PATH",
        hint=hint,
    )


def _refused(program: str, what: str, text: str) -> Fault:
    return Fault(
        where="",
        found=f"{program} {what}: {_words(text)}",
        expected="flags that this compiler accepts",
    )


def _words(text: str) -> str:
    """The first error lines of a compiler's output; its last lines where none is an error line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines[-2:]
    return "; ".join(errors[:3])
