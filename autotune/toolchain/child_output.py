"""Reads the output of a child process while it runs, and checks its limits."""

import contextlib
import os
import select
import selectors
import time
from collections.abc import Callable
from typing import IO, Protocol

from autotune.toolchain.guard_process import has_ended
from autotune.toolchain.memory_footprint import holds_more

_POLL = 0.25
_FIRST_LOOK = 0.005


class RunningChild(Protocol):
    """A child that is not reaped yet, and the ends of its streams."""

    @property
    def pid(self) -> int:
        """Its process number."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """Always None: the child reads an empty standard input, so there is no pipe to it."""

    @property
    def stdout(self) -> IO[bytes]:
        """Its standard output."""

    @property
    def stderr(self) -> IO[bytes]:
        """Its error output."""


class ChildWatcher(Protocol):
    """The interface of objects that watch a running child process."""

    def begin(self, pid: int) -> None:
        """Called once after the child ``pid`` has started."""

    def look(self) -> None:
        """Called repeatedly while the child runs: often at first, later 4 times a second."""

    def end(self, reaped: int) -> None:
        """Called after the child has ended; ``reaped`` is ru_maxrss of getrusage(2), in bytes."""


class OutputReader:
    """Reads both output streams of a child in bounded memory."""

    def __init__(
        self,
        child: RunningChild,
        limit: int,
        on_line: Callable[[str], bool | None] | None,
        watcher: ChildWatcher | None = None,
        memory: int | None = None,
    ) -> None:
        self._child = child
        self._streams: tuple[IO[bytes], IO[bytes]] = (child.stdout, child.stderr)
        self._selector = selectors.DefaultSelector()
        for stream in self._streams:
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)
        self._end = _descriptor(child.pid)
        if self._end is not None:
            self._selector.register(self._end, selectors.EVENT_READ)
        self._limit, self._seen = limit, 0
        self._on_line = on_line
        self._watcher, self._memory = watcher, memory
        self._pause, self._next = _FIRST_LOOK, 0.0
        self._out = bytearray()
        self._line_start = 0
        self._err = bytearray()
        self.flooded = False
        self.swollen = False

    @property
    def exceeded(self) -> bool:
        """Whether the child exceeded a limit other than the time limit."""
        return self.flooded or self.swollen

    def follow(self, deadline: float) -> bool:
        """Read until the child ends or exceeds a limit; False when the deadline came first."""
        while not self.exceeded:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            ended = self._ended()
            # a descendant may hold the pipes open: once the child has ended, only drain them
            busy = self._read(0.0 if ended else min(remaining, self._look()))
            if ended and not busy:
                self._finish_line()
                return True
        return True

    def _look(self) -> float:
        """Call the watcher and check the memory if they are due; returns the seconds until the next
        check.
        """
        if self._watcher is None and self._memory is None:
            return _POLL
        now = time.monotonic()
        if now >= self._next:
            if self._next:
                if self._watcher is not None:
                    self._watcher.look()
                if self._memory is not None:
                    self.swollen = holds_more(self._child.pid, self._memory)
                self._pause = min(2 * self._pause, _POLL)
            self._next = now + self._pause
        return self._next - now

    def _ended(self) -> bool:
        # while the child is not reaped, its number cannot be given to another
        return has_ended(self._child.pid) if self._end is None else _readable(self._end)

    def _read(self, wait: float) -> bool:
        """Read once from all streams that have data; True if there were any."""
        if not self._selector.get_map():
            time.sleep(min(wait, 0.001))
            return False
        busy = False
        for key, _ in self._selector.select(wait):
            stream = key.fileobj
            if isinstance(stream, int):
                self._selector.unregister(stream)  # the child has ended
                continue
            data = os.read(stream.fileno(), 1 << 16)
            if not data:
                self._selector.unregister(stream)
                continue
            busy = True
            self._seen += len(data)
            self.flooded = self.flooded or self._seen > self._limit
            if stream is self._streams[0]:
                self._take(data)
            else:
                self._err += data[: max(0, self._limit - len(self._err))]
        return busy

    def _take(self, data: bytes) -> None:
        self._out += data[: max(0, self._limit - len(self._out))]
        if self._on_line is None:
            return
        while (end := self._out.find(b"\n", self._line_start)) >= 0:
            line = bytes(self._out[self._line_start : end])
            self._line_start = end + 1
            if self._on_line(line.decode(errors="replace")) and self._child.stdin is not None:
                with contextlib.suppress(BrokenPipeError):  # it has ended meanwhile
                    self._child.stdin.write(b"\n")

    def _finish_line(self) -> None:
        rest = bytes(self._out[self._line_start :])
        if rest and self._on_line is not None:
            self._line_start = len(self._out)
            self._on_line(rest.decode(errors="replace"))

    def out(self) -> str:
        return self._out.decode(errors="replace")

    def err(self) -> str:
        return self._err.decode(errors="replace")

    def close(self) -> None:
        self._selector.close()
        if self._end is not None:
            os.close(self._end)
        for stream in (*self._streams, self._child.stdin):
            if stream is not None:
                stream.close()


def _readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _descriptor(pid: int) -> int | None:
    """A descriptor that becomes readable when a process ends with all its threads (pidfd_open(2));
    None where the kernel has none, and the end is looked for instead.
    """
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
