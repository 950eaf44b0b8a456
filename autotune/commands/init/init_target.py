"""What ``autotune init PATH|COMMAND`` is about: a file, a folder, or a command with its words."""

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune import paths
from autotune.errors import Fault, InputError, nearest

LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "srun")
_INTERPRETER = re.compile(r"(?:python|pypy)[\d.]*")
_EXPECTED = "a source file, a folder, an executable, or a command on PATH"


@dataclass(frozen=True, slots=True, kw_only=True)
class InitTarget:
    """A program and its command line."""

    path: Path
    """A source file, an executable, a build description, or a folder."""
    words: tuple[str, ...] = ()
    """Its command line; names of files are absolute."""
    files: tuple[str, ...] = ()
    """The names in it that were made absolute, as they were given."""
    ranks: int = 0
    """Processes of a launcher of MPI that stood before it; 0: there was none."""
    on_path: bool = False
    """It was found on PATH."""


def target_of(program: str, words: Sequence[str]) -> InitTarget:
    """The program that a path or a command names; InputError if there is none."""
    if not paths.exists(Path(program)) and " " in program.strip():
        program, *before = _split(program)
        words = (*before, *words)
    name = Path(program).name
    if name in LAUNCHERS and words:
        return _launched(program, words)
    if _INTERPRETER.fullmatch(name) and words and words[0].endswith(".py"):
        return target_of(words[0], words[1:])
    absolute, files = absolute_files(words)
    path = Path(program)
    if paths.exists(path):
        return InitTarget(path=path, words=absolute, files=files)
    where = shutil.which(program) if "/" not in program else None
    if where is None:
        raise InputError(_absent(program))
    return InitTarget(path=Path(where), words=absolute, files=files, on_path=True)


def absolute_files(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A command line with the names of files made absolute, and these names as they were given.

    Runs begin in a folder of their own. ``--in=mesh.dat`` counts; what does not exist stays.
    """
    made, files = list[str](), list[str]()
    for word in words:
        head, equals, tail = word.partition("=") if word.startswith("-") else ("", "", word)
        if _is_file(tail):
            files.append(tail)
            made.append(f"{head}{equals}{os.path.abspath(tail)}")  # noqa: PTH100 - keeps links
        else:
            made.append(word)
    return tuple(made), tuple(files)


def _is_file(word: str) -> bool:
    path = Path(word)
    if not word or path.is_absolute() or word.startswith("-"):
        return False
    return paths.exists(path) and (path.is_file() or "/" in word)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(Fault(where=text, found=f"it is no command line: {error}")) from error


def _launched(launcher: str, words: Sequence[str]) -> InitTarget:
    """The program behind a launcher such as ``mpirun -n 2``."""
    ranks, place = 1, 0
    while place < len(words) and words[place].startswith("-"):
        option = words[place]
        counted = re.fullmatch(r"-(?:n|np|c)|--n|--np|--ntasks", option)
        if counted and place + 1 < len(words) and words[place + 1].isdigit():
            ranks = int(words[place + 1])
        # options such as --oversubscribe have no value, --map-by and --bind-to have one
        value = counted or re.fullmatch(r"--?(?:map-by|bind-to|host|hostfile|mca|x)", option)
        place += 1 + bool(value) + (option.lstrip("-") == "mca")
    if place >= len(words):
        text = shlex.join((launcher, *words))
        fault = Fault(where=text, found="it starts no program", expected="mpirun -n 2 ./program")
        raise InputError(fault)
    program = target_of(words[place], words[place + 1 :])
    return InitTarget(
        path=program.path,
        words=program.words,
        files=program.files,
        ranks=ranks,
        on_path=program.on_path,
    )


def _absent(program: str) -> Fault:
    path = Path(program)
    near = nearest(path.name, (p.name for p in _beside(path) if p.is_file()))
    if not near and "/" not in program:
        near = nearest(program, _commands())
    return Fault(where=program, found="it does not exist", expected=_EXPECTED, hint=near)


def _beside(path: Path) -> list[Path]:
    try:
        return list(path.parent.glob("*"))
    except OSError:
        return []


def _commands() -> list[str]:
    """The names of all commands on PATH."""
    names = set[str]()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        try:
            names.update(path.name for path in Path(folder or ".").iterdir())
        except OSError:
            continue
    return sorted(names)
