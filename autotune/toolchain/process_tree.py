"""The processes that a child started, found wherever they hide."""

import os
from dataclasses import dataclass

MARK = "AUTOTUNE_MARK"
"""Name of the variable whose value all descendants of a child have in their environments."""


def family(session: int, mark: str) -> set[int]:
    """Processes of the session or with the mark that have not ended.

    Only the environments of those are read that began no earlier than the session's first one.
    """
    wanted = f"{MARK}={mark}".encode()
    found: set[int] = set()
    leader = _stat(f"/proc/{session}")
    begun = leader.begun if leader else 0
    for entry in os.scandir("/proc"):
        known = _stat(entry.path) if entry.name.isdigit() else None
        if known is None or known.ended or known.begun < begun:
            continue
        if known.session == session or wanted in _content(f"{entry.path}/environ").split(b"\0"):
            found.add(int(entry.name))
    return found


@dataclass(frozen=True, slots=True)
class _Stat:
    """What /proc says of a process; ``begun`` in clock ticks since the system's start."""

    ended: bool
    session: int
    begun: int


def _stat(folder: str) -> _Stat | None:
    """None: it has gone meanwhile."""
    fields = _content(f"{folder}/stat").rpartition(b")")[2].split()
    return _Stat(fields[0] in (b"Z", b"X"), int(fields[3]), int(fields[19])) if fields else None


def _content(path: str) -> bytes:
    """Nothing where the process has gone, or belongs to someone else."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - read hundreds of times per program
            return file.read()
    except OSError:
        return b""
