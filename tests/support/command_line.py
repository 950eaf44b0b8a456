"""The command line as a user runs it, in processes that need not import everything again."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_SERVER = Path(__file__).with_name("command_server.py")
_SCRIPT = """\
#!{python} -IS
import json, os, socket, sys
streams = f"/proc/{{os.getpid()}}/fd"
request = {{
    "arguments": sys.argv[1:],
    "folder": os.getcwd(),
    "environment": dict(os.environ),
    "out": f"{{streams}}/1",
    "err": f"{{streams}}/2",
}}
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    server.sendall(json.dumps(request).encode() + b"\\n")
    sys.exit(int(server.makefile().readline()))
"""


@dataclass(frozen=True)
class Finished:
    """A command's exit code, negative for a signal, and what it printed."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, object]:
        document = json.loads(self.out)
        assert isinstance(document, dict)
        return document


class CommandLine:
    """Runs commands, each in a process of its own with its own folder, environment and streams.

    The processes are forked from one that has imported the modules of all commands: the start of
    Python and the imports are a second of every command that is otherwise done in a tenth.
    """

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None

    def run(
        self,
        arguments: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        timeout: float = 300.0,
        limits: Mapping[str, int] | None = None,
    ) -> Finished:
        """Run ``autotune`` with these arguments; the wait ends after ``timeout`` seconds.

        ``limits`` are those of setrlimit(2), by name: ``RLIMIT_AS``.
        """
        with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
            request = {
                "arguments": [str(word) for word in arguments],
                "folder": str(folder),
                "environment": dict(environment),
                "out": out.name,
                "err": err.name,
                "limits": dict(limits or {}),
                "constants": {},
            }
            code = self._ask(json.dumps(request), timeout)
            texts = (Path(file.name).read_text(encoding="utf-8") for file in (out, err))
            return Finished(code, *texts)

    @contextlib.contextmanager
    def script(self, path: Path, constants: Mapping[str, float]) -> Iterator[None]:
        """A script at ``path`` that runs the command it is called with, until the block ends.

        One command at a time. ``constants``: values of names of modules, for these commands.
        """
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
            address = str(Path(folder, "s"))
            server.bind(address)
            server.listen()
            path.write_text(_SCRIPT.format(python=sys.executable, address=address))
            path.chmod(0o755)
            thread = threading.Thread(target=self._serve, args=(server, constants))
            thread.start()
            try:
                yield
            finally:
                server.shutdown(socket.SHUT_RDWR)
                thread.join()

    def _serve(self, server: socket.socket, constants: Mapping[str, float]) -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:  # it was shut down
                return
            with connection, connection.makefile("rw") as stream:
                request = {**json.loads(stream.readline()), "limits": {}, "constants": constants}
                code = 124
                with contextlib.suppress(AssertionError):  # it took too long
                    code = self._ask(json.dumps(request), 300.0)
                stream.write(f"{code if code >= 0 else 128 - code}\n")

    def close(self) -> None:
        if self._server is not None:
            self._server.communicate()  # the end of its input ends it

    def _ask(self, line: str, timeout: float) -> int:
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, str(_SERVER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,  # or one read takes both answers, and select waits for a third
                # a command sets it before numpy starts threads, which no fork would survive
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(line.encode() + b"\n")
        process = int(self._server.stdout.readline())
        ended, _, _ = select.select([self._server.stdout], [], [], timeout)
        if not ended:
            os.kill(process, signal.SIGKILL)
        code = int(self._server.stdout.readline())
        assert ended, f"not done after {timeout} s: {line}"
        return code
