"""The client of kerncraft's worker processes: sends requests, watches time limits, restarts
workers.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from autotune.units import Seconds

WORKER = (sys.executable, "-P", "-u", "-m", "autotune.models.kerncraft_child")
"""Command line of a worker; its parent's process number and the machine file are appended."""

Reply = Mapping[str, object]

_SIZE = 1 << 16
_PATIENCE = 4
"""Number of workers that may end before any has answered, until no more are started."""


def failed(reason: str) -> Reply:
    """The reply for a kernel without an answer; a later attempt may give one."""
    return {"ok": False, "lasting": False, "error": reason}


class KerncraftWorker:
    """One worker process, which leads its own session so that all its children can be ended."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the worker)
        self._pending = b""
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=dict(environment),
            start_new_session=True,
        )

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def fileno(self) -> int:
        """The descriptor that becomes readable when the worker answers or ends."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def send(self, request: Mapping[str, object]) -> None:
        """Send one request. Only reading notices that a worker has ended."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps(dict(request)).encode() + b"\n")
            self._process.stdin.flush()

    def receive(self) -> list[Reply]:
        """Read what has arrived; the replies that are complete.

        Raises EOFError when the worker has ended.
        """
        data = os.read(self.fileno(), _SIZE)
        if not data:
            raise EOFError(self._last_words() or "without a word")
        *lines, self._pending = (self._pending + data).split(b"\n")
        return [_reply(line) for line in lines]

    def close(self) -> None:
        """End the worker and all processes that it started."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


def _reply(line: bytes) -> Reply:
    """The reply in a line; raises EOFError where it is none."""
    try:
        reply = json.loads(line)
    except ValueError:
        reply = None
    if not isinstance(reply, dict):
        raise EOFError("its answer cannot be read")
    return reply


@dataclass(frozen=True, slots=True)
class _Busy:
    position: int
    deadline: float


class KerncraftPool:
    """At most ``count`` workers, started when there is work; they stay until ``close``."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], *, count: int, limit: Seconds
    ) -> None:
        self._command, self._environment = tuple(command), dict(environment)
        self._count, self._limit = max(1, count), limit
        self._idle: list[KerncraftWorker] = []
        self._busy: dict[KerncraftWorker, _Busy] = {}
        self._fruitless = 0
        self._answered = False
        self.starts = 0

    def ask(self, requests: Sequence[Mapping[str, object]]) -> Iterator[tuple[int, Reply]]:
        """The positions and replies of all requests, in order of arrival.

        A worker that ends, or does not answer within the limit (its start included), is replaced,
        and its request counts as failed.
        """
        waiting = deque(enumerate(requests))
        try:
            while waiting or self._busy:
                if self._fruitless >= _PATIENCE and not self._busy:
                    for position, _ in waiting:
                        yield position, failed("its workers end without an answer")
                    return
                while waiting and len(self._busy) < self._count and self._fruitless < _PATIENCE:
                    position, request = waiting.popleft()
                    worker = self._free()
                    self._busy[worker] = _Busy(position, time.monotonic() + self._limit)
                    worker.send({**request, "id": position})
                yield from self._collect()
        finally:
            for worker in tuple(self._busy):
                self._drop(worker)

    def close(self) -> None:
        """End all workers; a later request starts new ones."""
        for worker in (*self._idle, *self._busy):
            worker.close()
        self._idle.clear()
        self._busy.clear()

    def _free(self) -> KerncraftWorker:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            worker.close()
        self.starts += 1
        return KerncraftWorker(self._command, self._environment)

    def _drop(self, worker: KerncraftWorker) -> int:
        worker.close()
        return self._busy.pop(worker).position

    def _collect(self) -> Iterator[tuple[int, Reply]]:
        """The replies that arrive before the next deadline."""
        left = min(busy.deadline for busy in self._busy.values()) - time.monotonic()
        with selectors.DefaultSelector() as ready:
            for worker in self._busy:
                ready.register(worker, selectors.EVENT_READ)
            events = [key.fileobj for key, _ in ready.select(max(0.0, left))]
        for worker in [worker for worker in self._busy if worker in events]:
            try:
                replies = worker.receive()
            except EOFError as fault:
                self._fruitless += not self._answered
                yield self._drop(worker), failed(f"its worker ended: {fault}")
                continue
            position = self._busy[worker].position
            reply = next((reply for reply in replies if reply.get("id") == position), None)
            if reply is not None:
                self._answered = True
                self._idle.append(worker)
                yield self._busy.pop(worker).position, reply
        now = time.monotonic()
        for worker in [w for w, busy in self._busy.items() if busy.deadline <= now]:
            yield self._drop(worker), failed(f"no answer within {self._limit:g} s")
