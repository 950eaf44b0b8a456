"""Folders for one piece of work, which a later process removes where their owner was killed.

The name of a folder holds its owner: process number, time of its start, and node, because a cache
may lie on a file system that several nodes share.
"""

import contextlib
import functools
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_OWNED = re.compile(r"(?P<process>\d+)-(?P<start>\d+)-(?P<node>\w+)-\w{8}")


@contextlib.contextmanager
def scratch_folder(parent: Path, prefix: str = "") -> Iterator[Path]:
    """A new folder in ``parent`` that is removed at the end of the block.

    ``prefix``: the beginning of its name.
    """
    parent.mkdir(parents=True, exist_ok=True)
    owner = f"{prefix}{os.getpid()}-{start_time(os.getpid())}-{node_name()}-"
    with tempfile.TemporaryDirectory("", owner, parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextlib.contextmanager
def temporary_folder(prefix: str = "autotune-") -> Iterator[Path]:
    """A scratch folder among the temporary files of this host."""
    parent = Path(tempfile.gettempdir())
    remove_abandoned(parent, "autotune-*")
    with scratch_folder(parent, prefix) as folder:
        yield folder


@functools.cache
def remove_abandoned(root: Path, pattern: str) -> None:
    """Remove the scratch folders below ``root`` whose owners have ended; once per process.

    ``pattern``: as ``Path.glob`` takes it. A folder of another node, or of an unknown owner, stays.
    """
    for folder in root.glob(pattern):
        owner = _OWNED.search(folder.name)
        if owner is None or owner["node"] != node_name():
            continue
        if start_time(int(owner["process"])) != owner["start"]:
            shutil.rmtree(folder, ignore_errors=True)


def node_name() -> str:
    """The name of this node, in letters and digits."""
    return re.sub(r"\W|_", "", platform.node()) or "node"


def start_time(process: int) -> str:
    """When a process started, in clock ticks since the start of the system; empty without one."""
    try:
        stat = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return ""
    return stat.rpartition(b")")[2].split()[19].decode()
