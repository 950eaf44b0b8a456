"""Files of HTML pages: replaced as a whole, and never over a file of another kind."""

import os
import tempfile
from pathlib import Path

from autotune import paths
from autotune.errors import Fault, InputError

_BEGIN = b"<!DOCTYPE HTML"


def check(path: Path) -> None:
    """InputError if the path holds something else than a page, which would be lost."""
    paths.check_output(path)
    try:
        begin = path.read_bytes()[: len(_BEGIN)] if path.exists() else b""
    except OSError as error:
        raise InputError(_refused(path, f"it cannot be read: {error.strerror}")) from error
    if begin.upper() != _BEGIN[: len(begin)]:
        raise InputError(_refused(path, "a file that is not an HTML page"))


def write(text: str, path: Path) -> None:
    """Write a page; an existing page is replaced atomically.

    Raises InputError if the file cannot be written.
    """
    paths.check_output(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except OSError as error:
        raise InputError(
            Fault(
                where=str(path),
                found=f"the page cannot be written: {error.strerror}",
                hint="name another file with -o FILE",
            )
        ) from error


def _refused(path: Path, reason: str) -> Fault:
    return Fault(
        where=str(path),
        found=reason,
        expected="a new file, or a page to replace",
        hint="name another file",
    )
