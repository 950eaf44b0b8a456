"""The client of one OSACA worker process: requests, time limits, restarts."""

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from autotune.units import Seconds

WORKER = (sys.executable, "-u", str(Path(__file__).with_name("osaca_worker.py")))
"""Command line of the worker; the process number of the parent is appended."""

Reply = Mapping[str, object]

_LIMIT = Seconds(60.0)
_SIZE = 1 << 16
_PATIENCE = 3
"""Number of requests that may fail before the worker is given up."""


class OsacaWorkerFailed(Exception):
    """A worker gave no answer; the message states the reason, in the worker's words if possible."""


class OsacaWorker:
    """An OSACA worker process, started at the first request.

    A request that kills or hangs the worker is retried once with a new worker. ``limit`` is in
    seconds for one answer, including the start.
    """

    def __init__(self, command: Sequence[str] = WORKER, limit: Seconds = _LIMIT) -> None:
        self._command = tuple(command)
        self._limit = limit
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._pending = b""
        self._requests = 0
        self._failures = 0
        self.starts = 0

    def start(self) -> None:
        """Start the process now, in this thread, unless it is running or has failed too often."""
        if self._failures < _PATIENCE:
            with contextlib.suppress(OSError):  # the request will say why
                self._running()

    def ask(self, request: Mapping[str, object]) -> Reply:
        """The worker's answer to a request.

        Raises ``OsacaWorkerFailed`` when the worker refuses, or dies or hangs twice at the same
        request.
        """
        if self._failures >= _PATIENCE:
            raise OsacaWorkerFailed("the worker failed too often")
        try:
            return self._ask(request)
        except OsacaWorkerFailed:
            if self._process is not None:  # it lives: this is its answer
                raise
        try:
            return self._ask(request)
        except OsacaWorkerFailed:
            self._failures += self._process is None
            raise

    def close(self) -> None:
        """End the worker; a later request starts it again."""
        process, self._process, self._pending = self._process, None, b""
        if process is not None:
            with contextlib.suppress(OSError):
                process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        errors, self._errors = self._errors, None
        if errors is not None:
            errors.close()

    def _ask(self, request: Mapping[str, object]) -> Reply:
        self._requests += 1
        identity = self._requests
        end = time.monotonic() + self._limit
        try:
            process = self._running()
            assert process.stdin is not None
            process.stdin.write(json.dumps({**request, "id": identity}).encode() + b"\n")
            process.stdin.flush()
            reply = self._reply(process, identity, end)
        except (OSError, ValueError, TimeoutError, EOFError) as fault:
            reason = self._reason(fault)
            self.close()
            raise OsacaWorkerFailed(reason) from fault
        if not reply.get("ok"):
            raise OsacaWorkerFailed(str(reply.get("error", "no reason given")))
        return reply

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self.starts += 1
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the worker)
            self._process = subprocess.Popen(
                [*self._command, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
            )
        return self._process

    def _reply(self, process: subprocess.Popen[bytes], identity: int, end: float) -> Reply:
        """The answer with this number; answers that arrive before it are dropped."""
        assert process.stdout is not None
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            while True:
                line, newline, rest = self._pending.partition(b"\n")
                if newline:
                    self._pending = rest
                    reply = json.loads(line)
                    if isinstance(reply, dict) and reply.get("id") == identity:
                        return reply
                    continue
                left = end - time.monotonic()
                if left <= 0 or not ready.select(left):
                    raise TimeoutError(f"no answer within {self._limit:g} s")
                data = os.read(process.stdout.fileno(), _SIZE)
                if not data:
                    raise EOFError("the process ended")
                self._pending += data

    def _reason(self, fault: Exception) -> str:
        """A description of the fault, with the last line that the worker wrote to
        standard error.
        """
        last = ""
        if self._errors is not None:
            self._errors.seek(0)
            lines = self._errors.read().decode(errors="replace").strip().splitlines()
            last = lines[-1] if lines else ""
        return f"{fault}: {last}" if last else str(fault)
