"""The command line as a user runs it, in processes that need not import everything again."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_SERVER = Path(__file__).with_name("command_server.py")


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
            }
            code = self._ask(json.dumps(request), timeout)
            texts = (Path(file.name).read_text(encoding="utf-8") for file in (out, err))
            return Finished(code, *texts)

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
