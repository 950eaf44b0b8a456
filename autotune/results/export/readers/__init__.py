"""Readers of wisdom files for applications: one file each, to be copied, without dependencies."""

from pathlib import Path

FILES = ("autotune_wisdom.h", "autotune_wisdom.py")


def contents() -> dict[str, bytes]:
    """The text of each reader as it is shipped, by file name."""
    return {name: Path(__file__).with_name(name).read_bytes() for name in FILES}


def is_reader(name: str, content: bytes) -> bool:
    """Whether a file begins as the reader of this name, of any version of autotune, begins."""
    return content.split(b"\n")[0] == contents()[name].split(b"\n")[0]
