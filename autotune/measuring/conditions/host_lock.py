"""Turns on one host: while one tuner times, no other one of the same user builds or times.

Two locks on files, which the system lets go of when a process ends, however it ends. Who wants to
time holds the gate while he waits for those who build; nobody begins to build meanwhile.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autotune import paths
from autotune.progress import Progress

_SOON = 0.02
_PATIENCE = 1.0
"""Seconds after which it is told that another one is waited for."""


@dataclass(frozen=True, slots=True)
class HostLock:
    """Turns by two files in a folder; past the deadline nobody is waited for any more."""

    progress: Progress
    deadline: float = float("inf")
    """time.monotonic()."""
    folder: Path = field(default_factory=lambda: paths.cache_dir() / "turns")

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        """Others may build meanwhile, nobody may time."""
        with contextlib.ExitStack() as held:
            with self._lock("gate", fcntl.LOCK_EX):
                held.enter_context(self._lock("host", fcntl.LOCK_SH))
            yield

    @contextlib.contextmanager
    def timing(self) -> Iterator[None]:
        """Nobody else builds or times meanwhile."""
        with self._lock("gate", fcntl.LOCK_EX), self._lock("host", fcntl.LOCK_EX):
            yield

    @contextlib.contextmanager
    def _lock(self, name: str, kind: int) -> Iterator[None]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.folder / name, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:  # a read-only cache: then there are no turns
            yield
            return
        try:
            self._wait(handle, kind)
            yield
        finally:
            os.close(handle)

    def _wait(self, handle: int, kind: int) -> None:
        told, started = False, time.monotonic()
        while time.monotonic() < self.deadline:
            try:
                fcntl.flock(handle, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                if not told and time.monotonic() - started > _PATIENCE:
                    self.progress("wait for another tuner on this host", 0, 1)
                    told = True
                time.sleep(_SOON)
            except OSError:  # a file system without locks
                return
            else:
                return
