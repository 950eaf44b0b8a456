"""Starts one child at a time for a parent process, and ends what is left of it with the parent.

Run by path, as a child process: ``python guard_process.py DESCRIPTOR`` serves the requests that
arrive at a socket. A request is the length of a JSON object in eight bytes, then the object; an
answer likewise.

    {"start": [...], "environment": {...}, "folder": PATH, "record": PREFIX}, with three descriptors
        -> {"pid": N, "begun": SECONDS of the monotonic clock} or {"errno": N}
    {"reap": N} -> {"status": N, "cpu": SECONDS, "voluntary": N, "involuntary": N, "peak": BYTES,
                    "left": BOOLEAN}

Descendants whose parents have ended become children of this process, which is a subreaper
(prctl(2)): none can leave its tree. When the parent ends, in whatever way, the tree is ended.
Where this process is killed too, a later one finds the sessions of the tree by their records
(``recorded_sessions.py``): empty files whose names begin with the prefix.
"""

import contextlib
import ctypes
import json
import mmap
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PARENT_LOOK = 1.0
"""Seconds between two looks for the parent, whose socket a fork of it may hold open."""
_FIRST_LOOK, _LONGEST_LOOK = 0.005, 0.25
"""Seconds from the start of a child to the first look at its sessions, and between two at most."""
_COSTLY_LOOK = 2.0
"""Seconds between two looks where all processes of the node must be read."""
_GRACE = 0.5
_LAST_WAIT = 10.0
_ENDED = (b"Z", b"X")
_SESSION, _START = 3, 19
"""Fields of a line in /proc/PID/stat, counted from the state."""
_LIBRARY = ctypes.CDLL(None)
_BEGUN = mmap.mmap(-1, 8)
"""The time at which the latest child began, which the child itself writes."""


def main() -> None:
    """Serve the parent until it ends, then end all that was started."""
    _LIBRARY.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            # a handler, unlike SIG_IGN, is not inherited by programs
            signal.signal(number, lambda *_: None)
    sessions = _Sessions()
    try:
        with socket.socket(fileno=int(sys.argv[1])) as connection:
            _serve(connection, os.getppid(), sessions)
    finally:
        _end_all()
        sessions.end()


def _serve(connection: socket.socket, parent: int, sessions: "_Sessions") -> None:
    started: list[subprocess.Popen[bytes]] = []  # keeps them from being reaped too soon
    while True:
        while not select.select([connection], [], [], sessions.pause)[0]:
            if os.getppid() != parent:
                return
            sessions.look()
        head, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
        if not head:
            return
        request = json.loads(_exactly(connection, int.from_bytes(head, "little")))
        if "start" in request:
            answer = _start(request, descriptors, started)
            if started:
                sessions.begin(request["record"])
        else:
            answer = _reap(int(request["reap"]))
            started.clear()
            sessions.end()
        data = json.dumps(answer).encode()
        connection.sendall(len(data).to_bytes(8, "little") + data)


class _Sessions:
    """The sessions of the descendants of this process, on record while a child runs."""

    def __init__(self) -> None:
        self.pause = _PARENT_LOOK
        """Seconds until the next look."""
        self._prefix: str | None = None
        self._files: dict[int, str] = {}

    def begin(self, prefix: str | None) -> None:
        """A child has started; ``prefix``: of the names of its records."""
        self._prefix = prefix
        self.pause = _FIRST_LOOK if _lists_children() else _COSTLY_LOOK
        self.look()

    def look(self) -> None:
        """Put the sessions that are new on record."""
        if self._prefix is None:
            return
        for pid in _listed_descendants(os.getpid()):
            fields = _stat(pid, -1)
            session = int(fields[_SESSION]) if fields else 0
            if session in (0, os.getsid(0)) or session in self._files:
                continue
            leader = _stat(session, -1) or fields
            file = f"{self._prefix}{os.getpid()}-{session}-{int(leader[_START])}"
            self._files[session] = file
            with contextlib.suppress(OSError):
                os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))
        self.pause = min(2 * self.pause, max(self.pause, _LONGEST_LOOK))

    def end(self) -> None:
        """The child has ended with all its descendants."""
        for file in self._files.values():
            with contextlib.suppress(OSError):
                os.unlink(file)  # noqa: PTH108 - this process imports little
        self._prefix, self._files = None, {}
        self.pause = _PARENT_LOOK


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = connection.recv(min(size - len(data), 1 << 16))
        if not piece:
            raise SystemExit("the parent ended meanwhile")
        data += piece
    return data


def _start(
    request: dict[str, object], descriptors: list[int], started: list[subprocess.Popen[bytes]]
) -> dict[str, object]:
    try:
        child = subprocess.Popen(
            request["start"],  # type: ignore[call-overload]
            stdin=descriptors[0],
            stdout=descriptors[1],
            stderr=descriptors[2],
            env=request["environment"],
            cwd=request["folder"],
            start_new_session=True,
            preexec_fn=_begin,  # this process has one thread
        )
    except OSError as error:
        return {"errno": error.errno}
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    started.append(child)
    return {"pid": child.pid, "begun": struct.unpack("d", _BEGUN[:])[0]}


def _begin() -> None:
    """In the child, right before it becomes the program."""
    _LIBRARY.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _BEGUN[:] = struct.pack("d", time.monotonic())


def _reap(pid: int) -> dict[str, object]:
    """Wait for the child and for all orphans that have ended; ``left``: others have not."""
    _, status, usage = os.wait4(pid, 0)
    return {
        "left": _reap_orphans(),
        "status": os.waitstatus_to_exitcode(status),
        "cpu": usage.ru_utime + usage.ru_stime,
        "voluntary": usage.ru_nvcsw,
        "involuntary": usage.ru_nivcsw,
        "peak": usage.ru_maxrss * 1024,
    }


def _reap_orphans() -> bool:
    """Whether this process still has children: exact, unlike a look at all processes."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _end_all() -> None:
    """End all descendants: with SIGTERM, then with SIGKILL until none is left."""
    begun = time.monotonic()
    signalled: set[int] = set()
    while time.monotonic() < begun + _LAST_WAIT:
        if not _reap_orphans():
            return
        left = running_descendants(os.getpid())
        gentle = time.monotonic() < begun + _GRACE
        for pid in left - signalled if gentle else left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM if gentle else signal.SIGKILL)
        signalled |= left
        time.sleep(0.01)


def running_descendants(ancestor: int) -> set[int]:
    """The process numbers of all descendants of a process that have not ended.

    Processes that have ended but are not reaped yet may have descendants, but are no members.
    """
    children: dict[int, list[tuple[int, bool]]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - read often while a child ends
        if name.isdigit() and (fields := _stat(int(name))):
            ended = fields[0] in _ENDED and not _has_threads(int(name))
            children.setdefault(int(fields[1]), []).append((int(name), ended))
    members: set[int] = set()
    parents = [ancestor]
    while parents:
        for pid, ended in children.get(parents.pop(), ()):
            parents.append(pid)
            if not ended:
                members.add(pid)
    return members


def _lists_children() -> bool:
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110


def _listed_descendants(ancestor: int) -> set[int]:
    """The descendants that the kernel lists with their parents (proc(5)): quicker than all."""
    if not _lists_children():
        return running_descendants(ancestor)
    members: set[int] = set()
    parents = [ancestor]
    while parents:
        folder = f"/proc/{parents.pop()}/task"
        with contextlib.suppress(OSError):
            for thread in os.listdir(folder):  # noqa: PTH208
                with open(f"{folder}/{thread}/children", encoding="ascii") as file:  # noqa: PTH123
                    children = {int(word) for word in file.read().split()} - members
                members |= children
                parents += children
    return members


def has_ended(pid: int) -> bool:
    """Whether a process has ended, reaped or not."""
    fields = _stat(pid)
    return not fields or (fields[0] in _ENDED and not _has_threads(pid))


def _has_threads(pid: int) -> bool:
    """Whether a process whose first thread has ended has others that have not."""
    try:
        return len(os.listdir(f"/proc/{pid}/task")) > 1  # noqa: PTH208
    except OSError:
        return False


def _stat(pid: int, splits: int = 2) -> list[bytes]:
    """The state of a process, its parent, and the rest of its line in /proc; empty without one.

    ``splits``: into how many fields before the rest; -1: all.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - read hundreds of times
            return file.read().rpartition(b")")[2].split(None, splits)
    except OSError:
        return []


if __name__ == "__main__":
    main()
