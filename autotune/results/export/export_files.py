"""Writing exported files atomically, and never over a file of another kind.

A file is written under a temporary name and then moved. During this time the folder is locked
against other exports, so that two exports into one wisdom file lose nothing.
"""

import contextlib
import errno
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from autotune import paths
from autotune.errors import Fault, InputError


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is created if it does not exist."""
    with _input_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # file systems without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write(path: Path, content: bytes) -> None:
    """Replace a file atomically; InputError if it cannot be written."""
    with _input_errors(path):
        target = paths.absolute(path)  # through a link: the link stays
        if target.exists() and not target.is_file():
            raise OSError(errno.EINVAL, "neither a file nor a new name", str(path))
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
            Path(name).chmod(mode)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def refuse_other(path: Path, kind: str, is_own: Callable[[], bool]) -> None:
    """InputError if the path holds something else than a file of this kind."""
    if not path.exists():
        return
    if path.is_file() and (path.stat().st_size == 0 or is_own()):
        return
    folder = path.is_dir()
    raise InputError(
        Fault(
            where=str(path),
            found="a folder" if folder else f"a file that is not {kind}",
            expected="a new file, or one that such an export wrote",
            hint="name another with -o FILE" + ("" if folder else ", or replace it with --force"),
        )
    )


def refuse_other_folder(path: Path, kind: str, is_own: Callable[[], bool]) -> None:
    """InputError if the path holds something else than an empty folder or one of this kind."""
    with _input_errors(path):
        if not path.exists() or (path.is_dir() and (not any(path.iterdir()) or is_own())):
            return
    raise InputError(
        Fault(
            where=str(path),
            found=f"a folder that is not {kind}" if path.is_dir() else "a file",
            expected="a new folder, or one that such an export wrote",
            hint="name another with -o FOLDER, or write into it with --force",
        )
    )


def refuse_other_library(path: Path, texts: Mapping[str, str]) -> None:
    """InputError if the folder holds a library of another name, whose files would stay there."""
    headers = {Path(text).stem for text in texts if text.startswith("include/")}
    with _input_errors(path):
        stems = {file.stem.removesuffix("_mpi") for file in path.glob("include/*.h")}
    others = sorted(stems - headers)
    if others:
        raise InputError(
            Fault(
                where=str(path),
                found=f"a folder with the library {others[0]}",
                expected="a new folder, or one with an export of the same library",
                hint="name another with -o FOLDER, or write into it with --force",
            )
        )


def write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Write files into a folder, each atomically; ``texts``: path in the folder to text."""
    for name, text in texts.items():
        path = folder / name
        with _input_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write(path, text.encode())


def text_of(path: Path) -> str:
    """The text of a file; empty if there is no file; InputError if it cannot be read."""
    with _input_errors(path):
        data = path.read_bytes() if path.exists() else b""
    return data.decode("utf-8", "replace")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def _input_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            Fault(
                where=str(path),
                found=f"cannot be written or read: {error.strerror or error}",
                hint="name another file with -o FILE",
            )
        ) from error
