"""Locks on one host: while a tuner is timing, no other tuner of the same user builds or times.

There are two lock files, which the system releases when a process ends in any way. A tuner that is
to time holds the second lock, the gate, while it waits for running builds to end. So no new build
can begin meanwhile. A third lock file is held by a calibration, which times all along, so that who
is to calibrate the host knows for what it waits.
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
"""Seconds after which the user is told that another process is being waited for."""


@dataclass(frozen=True, slots=True)
class HostLock:
    """A shared lock for builds and an exclusive lock for timing, as two files in a folder.

    After the deadline it no longer waits for other processes.
    """

    progress: Progress
    deadline: float = float("inf")
    """Moment by ``time.monotonic()``, in seconds."""
    folder: Path = field(default_factory=lambda: paths.cache_dir() / "locks")

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        """Hold the shared lock: other tuners may build at the same time, but none may time."""
        with contextlib.ExitStack() as held:
            with self._lock("gate", fcntl.LOCK_EX):
                held.enter_context(self._lock("host", fcntl.LOCK_SH))
            yield

    @contextlib.contextmanager
    def timing(self) -> Iterator[None]:
        """Hold the exclusive lock: no other tuner builds or times at the same time."""
        with self._lock("gate", fcntl.LOCK_EX), self._lock("host", fcntl.LOCK_EX):
            yield

    @contextlib.contextmanager
    def calibrating(self) -> Iterator[None]:
        """Hold all locks: no other process calibrates the host, and no tuner builds or times."""
        with self._lock("calibration", fcntl.LOCK_EX, "another calibration of"), self.timing():
            yield

    @contextlib.contextmanager
    def _lock(self, name: str, kind: int, other: str = "another tuner on") -> Iterator[None]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.folder / name, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:  # a read-only cache: then nothing is locked
            yield
            return
        try:
            self._wait(handle, kind, other)
            yield
        finally:
            os.close(handle)

    def _wait(self, handle: int, kind: int, other: str) -> None:
        announced, started = False, time.monotonic()
        while time.monotonic() < self.deadline:
            try:
                fcntl.flock(handle, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                if not announced and time.monotonic() - started > _PATIENCE:
                    self.progress(f"wait for {other} this host", 0, 1)
                    announced = True
                time.sleep(_SOON)
            except OSError:  # a file system without locks
                return
            else:
                return
