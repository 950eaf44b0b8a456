"""The peak memory of a child process and its descendants together, read while they run.

The kernel keeps the peak of every process (proc(5), /proc/PID/status, VmHWM) as long as the process
lives. The peak reported afterwards (getrusage(2), ru_maxrss) starts at the peak of the process that
started the child, so it counts only where it is larger than that.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autotune.units import Bytes

_PROC = Path("/proc")


@dataclass(slots=True, kw_only=True)
class Footprint:
    """The peak resident memory of a child's process tree; updated while the child runs.

    At any time it sums the peaks of the processes that are alive; it is the largest of these sums.
    So ranks add up, and commands of a script that run one after the other do not. Pages that
    processes share count in each of them. Descendants that left the tree are not seen.
    """

    counted: Path | None = None
    """Only processes that run this file count, so launchers do not. None: all count."""
    largest: int = 0
    """The largest sum so far, in bytes."""
    _pid: int = 0
    _floor: int = field(default_factory=lambda: _peak(_PROC / "self"))

    def begin(self, pid: int) -> None:
        """Start watching the process ``pid``."""
        self._pid = pid

    def look(self) -> None:
        """Read the peaks of the living processes, in about 0.05 ms for each process."""
        self.largest = max(self.largest, sum(map(_peak, self._members())))

    def end(self, reaped: int) -> None:
        """Stop watching; ``reaped`` is ru_maxrss of the largest process, in bytes."""
        if self.counted is None and reaped > self._floor:
            self.largest = max(self.largest, reaped)

    @property
    def peak(self) -> Bytes | None:
        """The peak memory in bytes; None where no process that counts was seen."""
        return Bytes(self.largest) if self.largest else None

    def _members(self) -> Iterator[Path]:
        for folder in _tree(_PROC / str(self._pid)):
            if self.counted is None or _runs(folder, self.counted):
                yield folder


def holds_more(pid: int, limit: int) -> bool:
    """Whether a process and its descendants together hold more than ``limit`` bytes now.

    Pages of files and of shared memory do not count. Pages that a process and its forks have in
    common count once; as finding these takes the kernel milliseconds, they are looked at only where
    the limit would be exceeded otherwise. Descendants that left the tree are not seen.
    """
    members = list(_tree(_PROC / str(pid)))
    return sum(map(_anonymous, members)) > limit and sum(map(_portion, members)) > limit


def _anonymous(folder: Path) -> int:
    """The bytes of a process in pages that belong to no file (proc(5), statm)."""
    pages = _text(_living(folder) / "statm").split() or ["0"] * 3
    return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")


def _portion(folder: Path) -> int:
    """The same, where each page counts as one over the number of processes that have it."""
    size = _kibibytes(_text(_living(folder) / "smaps_rollup"), "Pss_Anon")
    return _anonymous(folder) if size is None else size


def _living(folder: Path) -> Path:
    """The folder in /proc that describes the memory of a process.

    It is that of a thread where the first thread has ended before the others: the kernel then shows
    no memory of the process.
    """
    if _has_memory(folder):
        return folder
    try:
        threads = list((folder / "task").iterdir())
    except OSError:
        return folder
    return next(filter(_has_memory, threads), folder)


def _has_memory(folder: Path) -> bool:
    return bool(_text(folder / "statm").strip("0 \n"))


def _tree(folder: Path) -> Iterator[Path]:
    """The folders in /proc of a process and its descendants."""
    yield folder
    try:
        threads = list((folder / "task").iterdir())
    except OSError:
        return  # it has ended meanwhile
    for thread in threads:
        try:
            children = (thread / "children").read_text(encoding="ascii").split()
        except OSError:
            continue
        for child in children:
            yield from _tree(_PROC / child)


def _runs(folder: Path, executable: Path) -> bool:
    try:
        return (_living(folder) / "exe").samefile(executable)
    except OSError:
        return False


def _peak(folder: Path) -> int:
    """The peak resident memory (VmHWM) of a process in bytes; 0 for a process that has ended."""
    return _kibibytes(_text(_living(folder) / "status"), "VmHWM") or 0


def _kibibytes(text: str, name: str) -> int | None:
    """The bytes of a line ``NAME: 12 kB``; None where there is no such line."""
    sizes = (line.split()[1] for line in text.splitlines() if line.startswith(f"{name}:"))
    return next((1024 * int(size) for size in sizes), None)


def _text(path: Path) -> str:
    """The text of a file in /proc; empty for a process that has ended."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
