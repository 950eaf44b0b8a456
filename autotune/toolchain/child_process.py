"""Child processes that cannot outlive, flood or stall their parent.

Every child leads a session of its own, so that the keyboard's signals reach only the parent. It is
started by a guard (``guard.py``), so that all its descendants can be found, and end with this
process even where that is killed.
"""

import contextlib
import errno
import os
import re
import resource
import shutil
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from autotune.errors import Fault, MissingTool
from autotune.toolchain.child_output import ChildWatcher, OutputReader
from autotune.toolchain.guard import Guard, GuardedChild, GuardLost, ReapedChild, child_guard
from autotune.units import Bytes, Seconds

Priority = Literal["autogroup", "nice", "none"]
"""How the priority of a process was changed: see ``renice``."""

OUTPUT_LIMIT = Bytes(1 << 20)
TAIL = 4096
"""Number of characters at the end of a program's output that messages show."""

_GRACE = 0.5
_LAST_WAIT = 5.0
_LINGER = 0.2
_BLOCK = 512
"""Bytes of one block of the shell's ``ulimit -f`` (POSIX)."""
_active: set[Guard] = set()
"""The guards of the running children of this process, over all threads."""
_interrupted: set[Guard] = set()
"""Those whose children ``end_all`` ended."""


@dataclass(frozen=True, slots=True)
class ChildUsage:
    """Time and context switches of a child process."""

    wall: Seconds
    """Seconds from its start to its end."""
    cpu: Seconds
    """CPU seconds of all its threads, and of descendants that it waited for."""
    waited: Seconds | None
    """Seconds in which its first thread was ready but had no CPU (proc(5), schedstat); None: not
    known."""
    voluntary: int
    """Number of voluntary context switches: how often it waited for something else than a CPU."""
    involuntary: int
    """Number of involuntary context switches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOutcome:
    """How a child process ended, and what it printed."""

    code: int | None
    """Exit code; None when a signal ended it."""
    signal: str | None
    """Name of the signal that ended it: ``SIGSEGV``."""
    timed_out: bool
    flooded: bool
    """True: it was ended because it printed more than allowed."""
    out: str
    err: str
    seconds: Seconds
    priority: Priority = "none"
    """How the requested priority was obtained."""
    left: tuple[int, ...] = ()
    """Process numbers of descendants that could not be ended."""
    strays: int = 0
    """Number of descendants that outlived the child and were ended."""
    swollen: bool = False
    """True: its processes together exceeded the memory limit and were ended."""
    usage: ChildUsage | None = None
    """None where the child could not be ended."""
    interrupted: bool = False
    """True: this process ended it, by ``end_all``, before it was done."""

    @property
    def ok(self) -> bool:
        """Whether the process ended by itself with exit code 0, within its limits."""
        return self.code == 0 and not (self.timed_out or self.flooded or self.swollen)

    @property
    def starved(self) -> bool:
        """Whether the process was ended before it was done after it had waited for a CPU for half
        of the time.
        """
        used, ended = self.usage, self.timed_out or self.interrupted
        return ended and used is not None and (used.waited or 0.0) > 0.5 * used.wall

    def describe(self) -> str:
        """A text on how the process ended, then the last lines that it printed."""
        if self.timed_out:
            text = f"ended after its time limit ({self.seconds:.3g} s)"
            if self.starved:
                text += ", most of which other processes had its CPU"
        elif self.flooded:
            text = "ended because it printed more than it may"
        elif self.swollen:
            text = "ended because its processes together held more memory than they may"
        elif self.interrupted:
            text = f"ran for at least {self.seconds:.3g} s"
        elif self.signal:
            text = f"ended by {self.signal}"
        else:
            text = f"exit code {self.code}{_of_launcher(self.code)}"
        if self.left:
            text += f"; still running: {', '.join(map(str, self.left))}"
        last = "\n".join(text_lines((self.err.strip() or self.out.strip())[-TAIL:]))
        return f"{text}\n{last}" if last else text


_OF_TERMINALS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|[\x07\x08]")
"""Colours, titles, bells and steps back, which programs print with text."""


def text_lines(printed: str) -> list[str]:
    """The lines of what was printed, without those that hold characters that no text has.

    >>> text_lines("time 1 s\\n\\x1f\\x8b\\x00\\x08")
    ['time 1 s']
    """
    return [
        line
        for line in printed.split("\n")
        if "\ufffd" not in line
        and all(c.isprintable() or c.isspace() for c in _OF_TERMINALS.sub("", line))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildLimits:
    """Limits of a child and its descendants; None: no limit.

    On a limit the processes get SIGTERM and, half a second later, SIGKILL.
    """

    memory: int | None = None
    """Bytes of address space of each process, and of what all together hold (read 4 times a
    second)."""
    output: int = OUTPUT_LIMIT
    """Bytes of both output streams together."""
    largest_file: int | None = None
    """Bytes that a process may write into one file."""


_NO_LIMITS = ChildLimits()


@dataclass(frozen=True, slots=True)
class LineListener:
    """Receives every complete line of a child's standard output as it arrives.

    With ``paced`` a line end is sent to the child's standard input, which is closed otherwise,
    whenever ``on_line`` returns True.
    """

    on_line: Callable[[str], bool | None]
    paced: bool = False


def run(
    command: Sequence[str],
    *,
    timeout: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    niceness: int | None = None,
    limits: ChildLimits = _NO_LIMITS,
    listener: LineListener | None = None,
    watcher: ChildWatcher | None = None,
) -> ProcessOutcome:
    """Run a command to its end or to a limit; when this returns, no descendant of it is left.

    ``timeout`` in seconds; ``environment`` is the whole environment (None: this process's);
    ``niceness`` -20..19 (None: as this process). Raises MissingTool when the program cannot be
    started.

    The limits are set from outside right after the start: code between fork and exec is not safe
    beside threads, and a limit on address space counts what was taken before it was set. A file
    can grow beyond its limit before that, so a shell sets this limit first (``_limited``).
    """
    variables = dict(os.environ if environment is None else environment)
    if limits.largest_file is not None:
        command = _limited(command, limits.largest_file, variables, folder)
    with child_guard() as guard:
        started = time.monotonic()
        child = _start(guard, command, variables, folder, listener)
        _activate(guard)
        on_line = listener.on_line if listener else None
        reader = OutputReader(child, limits.output, on_line, watcher, limits.memory)
        timed_out, ended, waited, strays = False, started, None, 0
        try:
            _limit(child.pid, resource.RLIMIT_AS, limits.memory)
            _limit(child.pid, resource.RLIMIT_FSIZE, limits.largest_file)
            priority = renice(child.pid, niceness) if niceness is not None else _inherit(child.pid)
            if watcher is not None:
                watcher.begin(child.pid)
            timed_out = not reader.follow(started + timeout)
            ended, waited = time.monotonic(), _waited(child.pid)
            if not (timed_out or reader.exceeded):
                strays = _linger(guard)
        finally:
            # also for KeyboardInterrupt and whatever on_line raises
            left = _end(guard, gentle=timed_out or reader.exceeded)
            reaped = _reaped(guard, child) if child.pid not in left else None
            if watcher is not None:
                watcher.end(reaped.peak if reaped else 0)
            _active.discard(guard)
            reader.close()
    code = reaped.code if reaped else None if left else -signal.SIGKILL
    outcome = _outcome(reader, code, timed_out=timed_out)
    return replace(
        outcome,
        seconds=Seconds(time.monotonic() - started),
        priority=priority,
        left=tuple(sorted(left)),
        strays=max(strays, int(guard.left)),
        interrupted=guard in _interrupted and outcome.signal is not None,
        usage=None if reaped is None else _usage(reaped, ended - child.begun, waited),
    )


def _outcome(reader: OutputReader, code: int | None, *, timed_out: bool) -> ProcessOutcome:
    """How the child ended and what it printed; its times are not filled in yet."""
    return ProcessOutcome(
        code=code if code is not None and code >= 0 else None,
        signal=_signal_name(-code) if code is not None and code < 0 else None,
        timed_out=timed_out,
        flooded=reader.flooded,
        swollen=reader.swollen,
        out=reader.out(),
        err=reader.err(),
        seconds=Seconds(0.0),
    )


def _activate(guard: Guard) -> None:
    """Note that a guard has a child, which nothing has interrupted yet."""
    _interrupted.discard(guard)
    _active.add(guard)


def end_all() -> None:
    """End every child that a ``run`` in another thread of this process is waiting for."""
    for guard in tuple(_active):
        _interrupted.add(guard)
        _end(guard, gentle=False)


def renice(pid: int, niceness: int) -> Priority:
    """Change the priority of a child (0: this thread) and of its scheduler group; returns which
    change succeeded.

    Where the kernel groups processes by session, niceness counts only within the group, and the
    group has a niceness of its own (sched(7), "The autogroup feature"). Real-time scheduling is not
    used: the kernel stops such threads for 50 ms of every second, and until then they would keep
    the parent from ending a child that hangs.
    """
    worked: Priority = "none"
    try:
        # a child leads its process group, and may have children already
        os.setpriority(os.PRIO_PGRP if pid else os.PRIO_PROCESS, pid, niceness)
        worked = "nice"
    except OSError:
        pass
    try:
        Path(f"/proc/{pid or 'self'}/autogroup").write_text(str(niceness), encoding="ascii")
        worked = "autogroup"
    except OSError:
        pass
    return worked


def group_niceness(pid: int = 0) -> int | None:
    """Niceness of the scheduler group of a process (0: this one); None where there are none."""
    try:
        text = Path(f"/proc/{pid or 'self'}/autogroup").read_text(encoding="ascii")
        return int(text.split()[-1])
    except (OSError, ValueError, IndexError):
        return None


def _inherit(pid: int) -> Priority:
    niceness = group_niceness()
    if not niceness:
        return "none"
    try:
        Path(f"/proc/{pid}/autogroup").write_text(str(niceness), encoding="ascii")
    except OSError:
        return "none"
    return "autogroup"


def _start(
    guard: Guard,
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | None,
    listener: LineListener | None,
) -> GuardedChild:
    paced = listener is not None and listener.paced
    try:
        return guard.start(command, environment, folder, piped_input=paced)
    except GuardLost as error:
        raise ChildProcessError(errno.ECHILD, "the guard of child processes was ended") from error
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR):
            raise
        raise _missing(command[0], error.strerror) from error


def _limited(
    command: Sequence[str], largest_file: int, environment: Mapping[str, str], folder: Path | None
) -> list[str]:
    """The command, wrapped in a shell that limits the size of files and then replaces itself by the
    command.

    Raises MissingTool for a missing program, as a start without the shell would: the shell itself
    always starts.
    """
    name = command[0]
    path = Path(folder or "", name) if "/" in name else None
    if shutil.which(path or name, path=environment.get("PATH", os.defpath)) is None:
        exists = path is not None and path.exists()
        raise _missing(name, os.strerror(errno.EACCES if exists else errno.ENOENT))
    blocks = -(-largest_file // _BLOCK)
    return ["/bin/sh", "-c", 'ulimit -f "$0"; exec "$@"', str(blocks), *command]


def _missing(name: str, reason: str | None) -> MissingTool:
    return MissingTool(
        Fault(
            where="",
            found=f"cannot run {name!r}: {reason}",
            expected="a program on PATH or a path to one",
        )
    )


def _reaped(guard: Guard, child: GuardedChild) -> ReapedChild | None:
    """How the child ended; None where its guard was ended, and the child with it, by SIGKILL."""
    try:
        return guard.reap(child)
    except GuardLost:
        return None


def _usage(reaped: ReapedChild, wall: float, waited: float | None) -> ChildUsage:
    return ChildUsage(
        wall=Seconds(wall),
        cpu=reaped.cpu,
        waited=None if waited is None else Seconds(waited),
        voluntary=reaped.voluntary,
        involuntary=reaped.involuntary,
    )


def _waited(pid: int) -> float | None:
    """Seconds for which the first thread of a process waited for a CPU; None where they are not
    known.

    The kernel's file is readable until the child is reaped; its second number is in nanoseconds.
    """
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):
        return None


def _limit(pid: int, which: int, limit: int | None) -> None:
    if limit is not None:
        with contextlib.suppress(ProcessLookupError):  # it may have ended already
            resource.prlimit(pid, which, (limit, limit))


def _end(guard: Guard, *, gentle: bool) -> set[int]:
    """End the child and all its descendants; returns those that could not be ended."""
    waits = ((signal.SIGTERM, _GRACE), (signal.SIGKILL, _LAST_WAIT))
    left: set[int] = set()
    for number, wait in waits if gentle else waits[1:]:
        until = time.monotonic() + wait
        signalled: set[int] = set()
        while left := guard.descendants:
            for member in left - signalled:
                _signal(member, number)
            signalled |= left
            if time.monotonic() > until:
                break
            time.sleep(0.005)
        if not left:
            break
    return left


def _linger(guard: Guard) -> int:
    """The number of descendants that are still running a short time after the child ended."""
    until = time.monotonic() + _LINGER
    while (left := len(guard.descendants)) and time.monotonic() < until:
        time.sleep(0.005)
    return left


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
    except PermissionError:
        pass  # a set-user-id program: it is reported as left


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _of_launcher(code: int | None) -> str:
    # shells and launchers report the signal that ended their child as 128 + its number
    return f" ({_signal_name(code - 128)})" if code is not None and 128 < code < 160 else ""
