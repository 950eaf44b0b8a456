"""Guards: processes that start children for this one, and end all that is left of them.

Every guard has one child at a time, so all its descendants belong to that child, whatever they did
to their session and environment. A guard ends them when this process ends, in whatever way.
"""

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from autotune.toolchain import guard_process, recorded_sessions
from autotune.units import Bytes, Seconds

_CLOSING = 12.0
"""Seconds that a guard may take to end what is left of its child."""
_idle: dict[int, list["Guard"]] = {}
"""Guards without a child, by the process that started them: a fork has none of its parent's."""
_lock = threading.Lock()


class GuardLost(Exception):
    """The guard itself was ended, and its child with it."""


@dataclass(frozen=True, slots=True)
class ReapedChild:
    """How a child ended, and what it and the descendants that it waited for used."""

    code: int
    """Exit code; negative for a signal."""
    cpu: Seconds
    voluntary: int
    """Number of voluntary context switches: how often it waited for something else than a CPU."""
    involuntary: int
    """Number of involuntary context switches."""
    peak: Bytes
    """The largest memory that one of the processes held."""


@dataclass(frozen=True, slots=True)
class GuardedChild:
    """A child that a guard started, and the ends of its streams."""

    pid: int
    begun: float
    """The monotonic clock when it began, so that no time of its guard counts."""
    stdin: IO[bytes] | None
    stdout: IO[bytes]
    stderr: IO[bytes]


class Guard:
    """A process between this one and one child at a time."""

    def __init__(self) -> None:
        recorded_sessions.end_abandoned()
        self._lost = False
        self._started = 0
        """Children."""
        self._left = False
        """The latest child left processes behind."""
        self._gone = 0
        """So many of them have ended and left nothing behind."""
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", guard_process.__file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # nobody waits for the end of an inherited pipe
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def start(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path | None,
        *,
        piped_input: bool,
    ) -> GuardedChild:
        """Start a command that leads a session of its own.

        Without ``piped_input`` its standard input is empty. Raises OSError as ``Popen`` does.
        """
        request = {
            "start": [os.fspath(word) for word in command],
            "environment": dict(environment),
            "folder": str(Path.cwd() if folder is None else folder),
            "record": recorded_sessions.record_prefix(),
        }
        streams = [os.pipe(), os.pipe()]
        source = os.pipe() if piped_input else (os.open(os.devnull, os.O_RDONLY), None)
        ours = [source[1], *(reader for reader, _ in streams)]
        theirs = [source[0], *(writer for _, writer in streams)]
        try:
            answer = self._ask(request, theirs)
            if "errno" in answer:
                raise OSError(int(answer["errno"]), os.strerror(int(answer["errno"])))
        except BaseException:
            for end in ours:
                if end is not None:
                    os.close(end)
            raise
        finally:
            for end in theirs:
                os.close(end)
        self._started += 1
        return GuardedChild(
            int(answer["pid"]),
            answer["begun"],
            None if source[1] is None else os.fdopen(source[1], "wb", 0),
            os.fdopen(streams[0][0], "rb", 0),
            os.fdopen(streams[1][0], "rb", 0),
        )

    def reap(self, child: GuardedChild) -> ReapedChild:
        """Wait for the end of the child. Raises GuardLost where the guard was ended."""
        answer = self._ask({"reap": child.pid})
        self._left = bool(answer["left"])
        return ReapedChild(
            int(answer["status"]),
            Seconds(answer["cpu"]),
            int(answer["voluntary"]),
            int(answer["involuntary"]),
            Bytes(int(answer["peak"])),
        )

    @property
    def descendants(self) -> set[int]:
        """The process numbers of the child and all its descendants that have not ended.

        Looking for them takes milliseconds; where there were none, there are none until the next
        start.
        """
        started = self._started
        if self._gone == started:
            return set()
        running = guard_process.running_descendants(self._process.pid)
        if not running:
            self._gone = started
        return running

    @property
    def left(self) -> bool:
        """Whether the latest reaped child left processes behind, however short they live."""
        return self._left

    @property
    def alive(self) -> bool:
        """Whether the guard itself is running."""
        return not self._lost and self._process.poll() is None

    def close(self) -> None:
        """End the guard, which ends what is left of its child."""
        self._socket.close()
        try:
            self._process.wait(_CLOSING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.returncode != 0:  # it was ended before it could end the child
            recorded_sessions.end_recorded(self._process.pid)

    def _ask(
        self, request: Mapping[str, object], descriptors: Sequence[int] = ()
    ) -> dict[str, float]:
        data = json.dumps(request).encode()
        try:
            socket.send_fds(self._socket, [len(data).to_bytes(8, "little")], descriptors)
            self._socket.sendall(data)
            size = int.from_bytes(self._exactly(8), "little")
            answer: dict[str, float] = json.loads(self._exactly(size))
        except OSError as error:
            self._lost = True
            raise GuardLost(str(error)) from error
        return answer

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            if not piece:
                raise ConnectionResetError("it was ended")
            data += piece
        return data


@contextlib.contextmanager
def child_guard() -> Iterator[Guard]:
    """A guard without a child; guards are kept for the next one."""
    with _lock:
        guards = _idle.setdefault(os.getpid(), [])
        guard = guards.pop() if guards else None
    if guard is not None and not guard.alive:
        guard.close()
        guard = None
    guard = guard or Guard()
    try:
        yield guard
    except BaseException:
        guard.close()  # it may be in the midst of an answer
        raise
    if not guard.alive or guard.descendants or guard.left:
        guard.close()
        return
    with _lock:
        guards.append(guard)


@atexit.register
def _close_all() -> None:
    for guard in _idle.pop(os.getpid(), []):
        guard.close()
