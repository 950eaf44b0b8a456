"""The build cache: objects, programs and assembly texts, stored under a hash of what they are made
from.

    build/<kind>/<two digits>/<key>        the entry
    build/<kind>/<two digits>/<key>.sha    hash of the entry, written after it
    build/lock/<two digits>                held while an entry is made

An entry is valid only when its hash agrees, and is put in place by an atomic rename. An entry that
a killed process left half-written is made again. The kernel releases a lock when its holder ends.
"""

import contextlib
import fcntl
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autotune import paths
from autotune.errors import WorkFailed
from autotune.toolchain import child_process
from autotune.toolchain import compiler as compilers
from autotune.toolchain.compiler import Compiler
from autotune.toolchain.scratch_folder import remove_abandoned, scratch_folder

Kind = Literal["program", "command"]
"""``program``: made of units by a compiler; ``command``: made by commands of the user."""

OPENMP = ("-fopenmp",)
LINK = ("-lm",)
LIMIT = 60.0
BACKGROUND = 5
"""Niceness of compilers: they give way to others, but still finish within their time limit."""

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """A built program, or the compiler's message where the build failed."""

    key: str
    """Hash of sources, compiler identity, flags and libraries."""
    executable: Path | None
    detail: str = ""
    """The last 4 KiB of the compiler's output when it fails."""


class _Failed(Exception):
    """The failure of a compiler; its message is the compiler's output."""


def build(
    units: Mapping[str, str],
    compiler: Compiler,
    *,
    extra_flags: Sequence[str] = OPENMP,
    link: Sequence[str] = LINK,
    limit: float = LIMIT,
) -> BuildResult:
    """The program made of ``units`` (file name to text), from the cache if possible.

    Every ``.c`` and ``.s`` (assembly) becomes an object of its own, shared between programs; other
    units are headers.
    ``limit`` is in seconds for each run of the compiler. A failure is a result, not an exception.
    """
    flags = (*compiler.flags, *extra_flags)
    objects = {
        name: _object_key(name, units, compiler, flags)
        for name in sorted(units)
        if name.endswith((".c", ".s"))
    }
    key = _hash("program", compiler.identity, *flags, "--", *link, "--", *objects.values())
    try:
        with _made("program", key) as target:
            if target is not None:
                files = [
                    _object(name, k, units, compiler, flags, limit) for name, k in objects.items()
                ]
                command = [compiler.path, *flags, *map(str, files), "-o", str(target), *link]
                _compile(command, target.parent, limit)
    except _Failed as failure:
        return BuildResult(key=key, executable=None, detail=str(failure))
    return BuildResult(key=key, executable=_place("program", key))


def executable(key: str, kind: Kind = "program") -> Path | None:
    """The file of a build by its key; None where it is not in the cache."""
    entry = _place(kind, key)
    return entry if _trusted(entry) else None


def by_commands(
    parts: Sequence[str],
    commands: Callable[[Path], Sequence[Sequence[str]]],
    limit: float = LIMIT,
) -> BuildResult:
    """The file that the user's own build commands make, from the cache if possible.

    ``parts``: everything that its content depends on. ``commands``: a function from the path of the
    file to the command lines that make it, run one after the other in a fresh folder. ``limit`` is
    in seconds for each command. A failed build is a result. Raises MissingTool for a command that
    is not installed.
    """
    key = _hash("command", *parts)
    try:
        with _made("command", key) as target:
            if target is not None:
                for command in commands(target):
                    _compile(command, target.parent, limit)
                if not target.is_file():
                    raise _Failed("the build ended well, but made no {output}")
    except _Failed as failure:
        return BuildResult(key=key, executable=None, detail=str(failure))
    return BuildResult(key=key, executable=_place("command", key))


def assembly(
    text: str,
    compiler: Compiler,
    limit: float = LIMIT,
    *,
    extra_flags: Sequence[str] = OPENMP,
) -> str:
    """The assembly that the compiler makes of a C text, with the flags of programs.

    Raises WorkFailed with the compiler's output when it fails.
    """
    flags = (*compiler.flags, *extra_flags)
    key = _hash("assembly", compiler.identity, *flags, "--", text)
    try:
        with _made("assembly", key) as target:
            if target is not None:
                (target.parent / "unit.c").write_text(text, encoding="utf-8")
                command = [compiler.path, *flags, "-S", "unit.c", "-o", str(target)]
                _compile(command, target.parent, limit)
    except _Failed as failure:
        raise WorkFailed(f"{compiler.name} makes no assembly: {failure}") from failure
    return _place("assembly", key).read_text(encoding="utf-8", errors="replace")


def _object(
    name: str,
    key: str,
    units: Mapping[str, str],
    compiler: Compiler,
    flags: Sequence[str],
    limit: float,
) -> Path:
    with _made("object", key) as target:
        if target is not None:
            for unit in _needed(name, units):
                (target.parent / unit).write_text(units[unit], encoding="utf-8")
            _compile([compiler.path, *flags, "-c", name, "-o", str(target)], target.parent, limit)
    return _place("object", key)


def _compile(command: Sequence[str], folder: Path, limit: float) -> None:
    outcome = child_process.run(
        command,
        timeout=limit,
        environment=compilers.environment(folder),
        niceness=BACKGROUND,
        folder=folder,
    )
    if not outcome.ok:
        raise _Failed(outcome.describe())


def _object_key(
    name: str, units: Mapping[str, str], compiler: Compiler, flags: Sequence[str]
) -> str:
    texts = [part for unit in _needed(name, units) for part in (unit, units[unit])]
    return _hash("object", compiler.identity, *flags, "--", *texts)


def _needed(name: str, units: Mapping[str, str]) -> list[str]:
    """The names of a unit and of the headers that it includes, directly or through
    other headers.
    """
    needed = [name]
    for unit in needed:
        for header in _INCLUDE.findall(units[unit]):
            if header in units and header not in needed:
                needed.append(header)
    return needed


def _hash(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:32]


# --- entries --------------------------------------------------------------------------------


def _place(kind: str, key: str) -> Path:
    return paths.cache_dir() / "build" / kind / key[:2] / key


@contextlib.contextmanager
def _made(kind: str, key: str) -> Iterator[Path | None]:
    """Yields None when the entry exists, else the path of a file to write, which
    becomes the entry.
    """
    entry = _place(kind, key)
    if _trusted(entry):
        yield None
        return
    with _lock(kind, key):
        if _trusted(entry):  # made by another process meanwhile
            yield None
            return
        remove_abandoned(paths.cache_dir() / "build", "*/*/.new-*")
        with scratch_folder(entry.parent, ".new-") as scratch:
            yield scratch / key
            _publish(scratch / key, entry)


def _publish(file: Path, entry: Path) -> None:
    sum_file = file.with_suffix(".sha")
    sum_file.write_text(_content_hash(file), encoding="ascii")
    file.replace(paths.file_of_cache(entry))
    sum_file.replace(paths.file_of_cache(entry.with_suffix(".sha")))


def _trusted(entry: Path) -> bool:
    try:
        return entry.with_suffix(".sha").read_text(encoding="ascii") == _content_hash(entry)
    except (OSError, UnicodeDecodeError):
        return False


def _content_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextlib.contextmanager
def _lock(kind: str, key: str) -> Iterator[None]:
    # programs and objects lock apart: a program holds its lock while its objects are made
    path = paths.cache_dir() / "build" / "lock" / f"{kind}-{key[:2]}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with paths.file_of_cache(path).open("a") as file:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
