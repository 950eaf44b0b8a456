"""How a project is built in a folder of its own, with flags that the tuner chooses."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autotune.commands.init.source_scan import Language
from autotune.errors import Fault, InputError

FLAGS = "@FLAGS@"
"""Stands in the commands of a plan for the flags that a first description puts there."""
COPY = "made"
"""The folder of a build in which the project is built."""
PARALLEL = f"-j{min(8, os.cpu_count() or 1)}"
"""How many sources are compiled at once."""
MOST_BYTES = 256 << 20
"""Of a project that is copied for every build."""

Choose = Callable[[str, Sequence[str]], int]
"""Asks a question with numbered answers: which of them, by its place."""

_DEFAULTS: dict[str, tuple[str, ...]] = {
    "C": ("gcc", "clang", "cc"),
    "C++": ("g++", "clang++", "c++"),
    "Fortran": ("gfortran", "flang"),
}
MPI_COMPILERS = {"C": "mpicc", "C++": "mpicxx", "Fortran": "mpifort"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildPlan:
    """The commands that build one program of a project, and what they depend on."""

    folder: Path
    """The folder that is ``{source folder}``."""
    patterns: tuple[str, ...]
    """Its files that decide what is built, as names or patterns."""
    files: tuple[Path, ...]
    """The sources that are compiled, as they lie there."""
    includes: tuple[Path, ...] = ()
    """Folders in which their compiler looks for headers."""
    commands: tuple[tuple[str, ...], ...]
    """Templates of the commands; ``@FLAGS@`` stands for what is varied."""
    language: Language
    compiler: str
    """What ``{compiler}`` is; empty where the project chooses its compiler."""
    base: tuple[str, ...] = ()
    """The optimisation that the project states, such as ``-O2``."""
    program: str
    """The program, relative to where it is built."""
    by: str
    """What builds it: ``make``, ``cmake``, ``compile_commands.json``."""
    remarks: tuple[str, ...] = ()

    @property
    def flagged(self) -> bool:
        """Whether flags can be chosen at all."""
        return any(FLAGS in word for command in self.commands for word in command)

    def one_by_one(self) -> "BuildPlan":
        """The plan that compiles one source after the other, for build files that need it."""
        commands = (tuple(w for w in command if w != PARALLEL) for command in self.commands)
        return replace(self, commands=tuple(commands))


def default_compiler(language: str, *, mpi: bool = False) -> str:
    """The first compiler of a language that is installed; its usual name where none is."""
    if mpi:
        return MPI_COMPILERS[language]
    names = _DEFAULTS[language]
    return next((name for name in names if shutil.which(name)), names[0])


def chosen_program(programs: Sequence[str], target: str, where: str, choose: Choose) -> str:
    """The program that a target names, or that is chosen; InputError for an unknown target."""
    unique = list(dict.fromkeys(programs))
    named = [p for p in unique if target in (p, Path(p).name)]
    if target and named:
        return named[0]
    if len(unique) < 2:
        return unique[0]
    # what is meant to be timed comes first
    unique.sort(key=lambda name: not any(w in name.lower() for w in ("bench", "speed", "perf")))
    return unique[choose(f"{where} builds several programs: which is to be tuned?", unique)]


def refuse_large(folder: Path) -> None:
    """InputError for a folder that is too large to be copied for every build."""
    total = 0
    for path in folder.rglob("*"):
        if ".git" in path.parts:
            continue
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
        if total > MOST_BYTES:
            found = f"it holds more than {MOST_BYTES >> 20} MiB, and every build copies it"
            hint = "give the folder of the program alone, or the executable that you built"
            raise InputError(Fault(where=str(folder), found=found, hint=hint))


def copied(folder: Path, to: Path) -> None:
    """Copy a project, without its history and links that lead nowhere."""
    shutil.copytree(
        folder, to, symlinks=True, ignore=shutil.ignore_patterns(".git"), dirs_exist_ok=True
    )
