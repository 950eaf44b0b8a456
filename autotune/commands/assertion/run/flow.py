"""A program started with the recording library, and its end."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune.assertions.counters import lackey, program_totals
from autotune.assertions.counters.program_totals import ProgramTotal
from autotune.assertions.records import record_files, run_records
from autotune.assertions.records.run_records import RunRecords
from autotune.commands.assertion.run.recorded_launch import (
    LAUNCHERS,
    RunRecording,
    program_places,
    recorded,
)
from autotune.errors import Fault, InputError, WorkFailed

_Handlers = dict[signal.Signals, Any]
"""The handler of each signal, as signal.signal takes it."""
_PATIENCE = 5.0
"""Seconds that an interrupted program has to end, before it is ended less gently."""

_SLOWER = 1000.0
"""A run under valgrind may take so many times as long, and a minute more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEnd:
    """How the program, or the launcher of its ranks, ended."""

    code: int | None
    """Exit code; None when a signal ended it."""
    signal: str = ""
    """Name of the signal that ended it: ``SIGSEGV``."""
    seconds: float
    """Wall time."""

    @property
    def words(self) -> str:
        """How it ended, in words; empty where it ended well."""
        if self.signal:
            return f"the program was ended by {self.signal}"
        return f"the program ended with exit code {self.code}" if self.code else ""


def run_name(command: Sequence[str]) -> str:
    """A name of a run that no other run has: the time, and the number of this process."""
    if Path(command[0]).name in LAUNCHERS:
        command = ["run"]
    stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in Path(command[0]).name)[:40]
    return f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"


def start(
    command: Sequence[str], recording: RunRecording, *, quiet_stdout: bool = False
) -> RecordedEnd:
    """Run a command to its end with its own input and output.

    ``quiet_stdout``: its standard output goes to standard error. An interruption (Ctrl-C) ends the
    program too, and is passed on when it has ended. Raises InputError where it cannot be started.
    """
    words, environment = recorded(command, recording)
    try:
        recording.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            Fault(
                where="--output",
                found=f"{recording.folder}: {error.strerror}",
                expected="a folder that can be written",
            )
        ) from error
    sys.stdout.flush()
    begun = time.monotonic()
    interruptions: list[int] = []
    handlers = _deferred(interruptions)
    try:
        child = subprocess.Popen(
            words, env=environment, stdout=sys.stderr.fileno() if quiet_stdout else None
        )
    except OSError as error:
        _restore(handlers)
        raise InputError(
            Fault(
                where="COMMAND",
                found=f"{command[0]!r} cannot be started: {error.strerror}",
                expected="-- and a command, such as -- mpiexec -n 2 ./program",
            )
        ) from error
    try:
        _restore(handlers)
        if interruptions:
            raise KeyboardInterrupt
        code = child.wait()
    except KeyboardInterrupt:
        _end(child)
        raise
    seconds = time.monotonic() - begun
    if code < 0:
        return RecordedEnd(code=None, signal=_signal_name(-code), seconds=seconds)
    return RecordedEnd(code=code, seconds=seconds)


def _deferred(interruptions: list[int]) -> _Handlers:
    """Note interruptions in a list, in place of raising them; the handlers to restore.

    An interruption while a program is being started would leave it behind.
    """
    handlers: _Handlers = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if callable(signal.getsignal(number)):
            handlers[number] = signal.signal(number, lambda n, _: interruptions.append(n))
    return handlers


def _restore(handlers: _Handlers) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _end(child: "subprocess.Popen[bytes]") -> None:
    """End an interrupted program: gently, as the keyboard does, then less so."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            child.send_signal(number)
            child.wait(_PATIENCE)
            return


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def read_runs(recording: RunRecording, end: RecordedEnd) -> tuple[RunRecords, ...]:
    """What a run recorded: that of the command, then those of further programs that it started.

    Raises WorkFailed where nothing was recorded.
    """
    files = sorted(
        path
        for path in recording.folder.glob("*.json")
        if path.name.startswith((f"{recording.run}.", f"{recording.run}-"))
    )
    if not files:
        raise WorkFailed(
            f"no record was written to {recording.folder}: "
            + (
                f"{end.words}; a rank that is killed writes none, nor does one that cannot"
                " start, such as by the launcher of another MPI"
                if end.words
                else "the program reached no assertion and started no MPI; was it compiled with"
                " -DMODELING_ASSERTIONS_OFF, linked statically, or does it need --mpi?"
            )
        )
    names = sorted({record_files.read(path).run for path in files}, key=lambda n: (len(n), n))
    return tuple(run_records.read(files, name) for name in names)


def settle_lackey(command: Sequence[str]) -> None:
    """Whether a second run under valgrind can be started, before the first one.

    Raises MissingTool without valgrind, InputError where a launcher starts no program.
    """
    lackey.check()
    program_places(command)


def whole_program(
    command: Sequence[str], runs: Sequence[RunRecords], end: RecordedEnd
) -> tuple[ProgramTotal, ...]:
    """What each counter says of the whole program, which runs again under valgrind's lackey.

    What it prints is not shown. Raises WorkFailed where it does not run to its end there.
    """
    timeout = 60.0 + _SLOWER * end.seconds
    executed = lackey.count_executed(command, timeout, program_places(command))
    return program_totals.totals([r for run in runs for r in run.records], executed)
