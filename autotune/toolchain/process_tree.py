"""Finds all processes that a child started, by session or by a mark in their environment."""

import os
from dataclasses import dataclass

MARK = "AUTOTUNE_MARK"
"""Name of the environment variable whose value marks all descendants of a child."""


def running_descendants(session: int, mark: str) -> set[int]:
    """The running processes that belong to the session or carry the mark.

    Processes that began before the session's first one are not examined.
    """
    marker = f"{MARK}={mark}".encode()
    members: set[int] = set()
    leader = _stat(f"/proc/{session}")
    begun = leader.begun if leader else 0
    for entry in os.scandir("/proc"):
        stat = _stat(entry.path) if entry.name.isdigit() else None
        if stat is None or stat.ended or stat.begun < begun:
            continue
        if stat.session == session or marker in _content(f"{entry.path}/environ").split(b"\0"):
            members.add(int(entry.name))
    return members


@dataclass(frozen=True, slots=True)
class _Stat:
    """The state of a process from /proc; ``begun`` is in clock ticks since the system's start."""

    ended: bool
    session: int
    begun: int


def _stat(folder: str) -> _Stat | None:
    """The state of a process; None if it has ended."""
    fields = _content(f"{folder}/stat").rpartition(b")")[2].split()
    return _Stat(fields[0] in (b"Z", b"X"), int(fields[3]), int(fields[19])) if fields else None


def _content(path: str) -> bytes:
    """The content of a file in /proc; empty if the process has ended or belongs to another user."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - read hundreds of times per program
            return file.read()
    except OSError:
        return b""
