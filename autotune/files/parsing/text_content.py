"""Reads the text of a file of another program: plain or gzipped, up to a largest size."""

import gzip
import os
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from autotune.errors import Fault, InputError
from autotune.files.parsing.faults import Faults

LARGEST = 1 << 29
"""Bytes of the largest file that is read, unpacked."""
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def bare_name(path: Path, endings: tuple[str, ...]) -> str:
    """The name of a file without these endings, however many it has.

    >>> bare_name(Path("space.json.gz"), (".gz", ".json"))
    'space'
    """
    name = path.name
    while name.endswith(endings):
        name = name.rsplit(".", 1)[0]
    return name or path.name


def text(path: Path, faults: Faults, formats: str, largest: int = LARGEST) -> str:
    """The text of a file in UTF-8, unpacked where it is gzipped.

    Raises InputError where it cannot be read, is a named pipe, is no text, or is larger than
    ``largest`` bytes; ``formats`` describes what was expected. At most ``largest`` bytes are held
    in memory, even of a device or a shell's pipe that never ends.
    """
    try:
        if path.is_fifo() and Path(os.path.realpath(path)).exists():  # no pipe of a shell's <(...)
            raise faults.fail("", "a named pipe, which need not have a writer", formats)
        with path.open("rb") as file:
            packed = file.peek(len(_GZIP)).startswith(_GZIP)
            source = cast(BinaryIO, gzip.GzipFile(fileobj=file) if packed else file)
            content = source.read(largest + 1)
    except IsADirectoryError:
        raise faults.fail("", "a folder", "a recorded file: " + formats) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        hint = "copy or download it again"
        raise faults.fail("", f"cut off or damaged: {error}", "a whole gzip file", hint) from error
    except OSError as error:
        found = f"cannot be read: {error.strerror or error}"
        raise InputError(Fault(where=str(path), found=found)) from error
    if len(content) > largest:
        raise faults.fail("", "too large", f"at most {largest >> 20} MiB, unpacked")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        wide = content.startswith(_UTF16)
        hint = "it is UTF-16: iconv -f UTF-16 -t UTF-8 FILE" if wide else ""
        raise faults.fail(f"byte {error.start}", "not text in UTF-8", formats, hint) from error
