"""Sessions of running children on record: a later process ends what is left of them.

A guard ends all descendants of its child, unless it is killed together with the process that it
serves. Then the kernel ends the child, but not the processes that the child started. Those that
stayed in its session are found by the record: an empty file whose name holds the owner of the
session and the process that leads it, each with the time of its start.
"""

import contextlib
import functools
import os
import re
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

from autotune import paths
from autotune.errors import InputError
from autotune.toolchain.scratch_folder import node_name, start_time

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAME = re.compile(r"(\d+)-(\d+)-(\d+)-(\d+)", re.ASCII)
_SESSION, _START = 3, 19
"""Fields of a line in /proc/PID/stat, counted from the state."""


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A session on record until ``close``."""

    leader: int
    started: str
    file: Path

    def close(self) -> None:
        """Take the session off the record."""
        with contextlib.suppress(OSError):
            self.file.unlink(missing_ok=True)

    def end(self) -> None:
        """End all processes of the session and take it off the record."""
        for process in self._members():
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        self.close()

    def _members(self) -> list[int]:
        if start_time(self.leader) not in ("", self.started):
            return []  # another process has its number: no process of the session was left
        members = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                fields = (path / "stat").read_bytes().rpartition(b")")[2].split()
                ours = path.stat().st_uid == os.geteuid()
            except OSError:
                continue
            in_session = len(fields) > _START and int(fields[_SESSION]) == self.leader
            if in_session and ours and int(fields[_START]) >= int(self.started):
                members.append(int(path.name))
        return members


def record(leader: int) -> RecordedSession | None:
    """Put the session of a child that was just started on record; None where that cannot be."""
    started, folder = start_time(leader), _folder()
    if not started or folder is None:
        return None
    name = f"{os.getpid()}-{start_time(os.getpid())}-{leader}-{started}"
    session = RecordedSession(leader, started, folder / name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        session.file.touch()
    except OSError:
        return None
    return session


@functools.cache
def end_abandoned() -> None:
    """End what is left of the sessions whose owners have ended; once per process."""
    folder = _folder()
    if folder is None:
        return
    for file in folder.glob("*"):
        name = _NAME.fullmatch(file.name)
        if name is None:
            continue
        owner, owner_start, leader, started = name.groups()
        if start_time(int(owner)) != owner_start:
            RecordedSession(int(leader), started, file).end()
    for other in folder.parent.glob(f"{node_name()}-*"):
        if other.name.split("-")[1] != folder.name.split("-")[1]:  # before the last start
            shutil.rmtree(other, ignore_errors=True)


def _folder() -> Path | None:
    """The folder of records: of this node since its start, and of one namespace of processes."""
    try:
        boot = _BOOT.read_text(encoding="ascii").strip().replace("-", "")
        namespace = Path("/proc/self/ns/pid").stat().st_ino
        cache = paths.cache_dir()
    except (OSError, InputError):
        return None
    return cache / "sessions" / f"{node_name()}-{boot}-{namespace}"
