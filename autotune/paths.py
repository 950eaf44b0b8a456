"""The places of data files: machines, kernels, variants, configs, tables; the user's folders.

In a checkout (the package's parent holds this project's pyproject.toml) they are those of the
checkout, otherwise those that the wheel ships at ``autotune/data``.
"""

import os
import shutil
import stat
from pathlib import Path
from typing import Literal

from autotune.errors import Fault, InputError

Collection = Literal[
    "machines",
    "configs",
    "kernels/method",
    "kernels/ivp",
    "kernels/stencil",
    "variants/skeleton",
    "variants/space",
    "variants/program",
    "benchmarks/published",
]

_PACKAGE = Path(__file__).resolve().parent
_LONGEST_STEM = 200


def data_root() -> Path:
    """The folder of machines/, kernels/, variants/, configs/, examples/, benchmarks/published/."""
    pyproject = _PACKAGE.parent / "pyproject.toml"
    if pyproject.is_file() and 'name = "autotune-ecm"' in pyproject.read_text(encoding="utf-8"):
        return _PACKAGE.parent
    return _PACKAGE / "data"


def folder(collection: Collection) -> Path:
    """The folder of one collection of data files."""
    return data_root() / collection


def names(collection: Collection) -> list[str]:
    """The names of the files in a collection, sorted, without their ending."""
    return sorted(path.stem for path in folder(collection).glob("*.yaml"))


def cache_dir() -> Path:
    """The folder of cached builds and analyses; safe to delete at any time."""
    return _base("AUTOTUNE_CACHE", "XDG_CACHE_HOME", ".cache")


def file_of_cache(path: Path) -> Path:
    """The place of a file of the cache, to be written; a folder that lies there is removed."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    return path


def user_data_dir() -> Path:
    """The folder of the user's calibrations."""
    return _base("AUTOTUNE_DATA", "XDG_DATA_HOME", ".local/share")


def _base(variable: str, xdg: str, fallback: str) -> Path:
    if os.environ.get(variable):
        return Path(os.environ[variable])
    if os.environ.get(xdg):
        return Path(os.environ[xdg]) / "autotune"
    try:
        return Path.home() / fallback / "autotune"
    except RuntimeError as error:
        fault = Fault(
            where=variable, found="there is no home directory", hint=f"set {variable} to a folder"
        )
        raise InputError(fault) from error


def absolute(path: Path) -> Path:
    """The path without links and ``..``; a link that leads to itself stays in it."""
    return Path(os.path.realpath(path))


def exists(path: Path) -> bool:
    """Whether a file or folder is there; False for a path that none can have: it is too long."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def check_output(path: Path, *, appended: bool = False) -> None:
    """InputError unless a file can be replaced: it is absent or a regular file.

    ``appended``: devices may also be written to, and the pipes that a shell passes on, since the
    file is not replaced.
    """
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        found = f"cannot be written: {error.strerror}"
        raise InputError(Fault(where=str(path), found=found, hint="name another file")) from error
    if stat.S_ISREG(kind) or (appended and _is_stream(path, kind)):
        return
    found = "a folder" if stat.S_ISDIR(kind) else "a device, a named pipe or a socket"
    raise InputError(
        Fault(
            where=str(path),
            found=found,
            expected="a new file, or a file to replace",
            hint="name another file",
        )
    )


def _is_stream(path: Path, kind: int) -> bool:
    if stat.S_ISFIFO(kind):  # a named pipe need not have a reader
        return not Path(os.path.realpath(path)).exists()
    return stat.S_ISCHR(kind)


def is_folder(path: Path) -> bool:
    """Whether a folder is there."""
    return exists(path) and path.is_dir()


def stem(path: Path) -> str:
    """The name of a file without its ending, as a name of what the file describes.

    Characters that no line of text has (control characters, bytes of another encoding) become
    dashes. Of a longer name the first 200 characters are left, as names of files are made of it.

    >>> stem(Path("configs/a\\nb.yaml"))
    'a-b'
    """
    return "".join(c if c.isprintable() else "-" for c in path.stem)[:_LONGEST_STEM]
