"""Sessions of running children on record: a later process ends what is left of them.

A guard ends all descendants of its child, unless it is killed together with the process that it
serves. Then the kernel ends the child, but not the processes that the child started. They are found
by the record, which the guard keeps: an empty file for every session that it sees among its
descendants. The name of the file holds the process that the guard serves, the guard, and the
process that leads the session; the first and the last with the time of its start.
"""

import contextlib
import functools
import os
import re
import shutil
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from autotune import paths
from autotune.errors import InputError
from autotune.toolchain.guard_process import has_ended, running_descendants
from autotune.toolchain.scratch_folder import node_name, start_time

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAME = re.compile(r"(\d+)-(\d+)-\d+-(\d+)-(\d+)", re.ASCII)
_LAST_WAIT = 5.0
_OLD = 30 * 86400.0
"""Seconds; older folders of records are removed."""
_SESSION, _START = 3, 19
"""Fields of a line in /proc/PID/stat, counted from the state."""


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A session on record until ``end``."""

    leader: int
    started: str
    file: Path

    def end(self) -> None:
        """End all processes of the session, with their descendants, and take it off the record."""
        until = time.monotonic() + _LAST_WAIT
        while (left := self._members()) and time.monotonic() < until:
            for process in left:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.005)
        with contextlib.suppress(OSError):
            self.file.unlink(missing_ok=True)

    def _members(self) -> set[int]:
        if start_time(self.leader) not in ("", self.started):
            return set()  # another process has its number: no process of the session was left
        members: set[int] = set()
        for path in Path("/proc").glob("[0-9]*"):
            try:
                fields = (path / "stat").read_bytes().rpartition(b")")[2].split()
                ours = path.stat().st_uid == os.geteuid()
            except OSError:
                continue
            in_session = len(fields) > _START and int(fields[_SESSION]) == self.leader
            if in_session and ours and int(fields[_START]) >= int(self.started):
                members |= {int(path.name), *running_descendants(int(path.name))}
        return {process for process in members if not has_ended(process)}


def record_prefix() -> str | None:
    """How the names of records begin that a guard of this process keeps; None: it keeps none."""
    folder = _folder()
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder / f"{os.getpid()}-{start_time(os.getpid())}-")


def end_recorded(guard: int) -> None:
    """End what is left of the sessions that a guard of this process, now ended, had on record."""
    folder = _folder()
    if folder is not None:
        for file in folder.glob(f"{os.getpid()}-{start_time(os.getpid())}-{guard}-*-*"):
            leader, started = file.name.split("-")[3:]
            RecordedSession(int(leader), started, file).end()


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
        # of another start, or of another node of this name, whose records are renewed
        if other != folder and _age(other) > _OLD:
            shutil.rmtree(other, ignore_errors=True)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _folder() -> Path | None:
    """The folder of records: of this node since its start, and of one namespace of processes."""
    try:
        boot = _BOOT.read_text(encoding="ascii").strip().replace("-", "")
        namespace = Path("/proc/self/ns/pid").stat().st_ino
        cache = paths.cache_dir()
    except (OSError, InputError):
        return None
    return cache / "sessions" / f"{node_name()}-{boot}-{namespace}"
