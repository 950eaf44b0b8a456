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


def held(pid: int) -> int:
    """The bytes of private memory that a process and its descendants hold now.

    Pages that may be shared (proc(5), statm) do not count. Descendants that left the tree are not
    seen.
    """
    return sum(map(_private, _tree(_PROC / str(pid))))


def _private(folder: Path) -> int:
    try:
        pages = (folder / "statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")


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
        return (folder / "exe").samefile(executable)
    except OSError:
        return False


def _peak(folder: Path) -> int:
    """The peak resident memory (VmHWM) of a process in bytes; 0 for a process that has ended."""
    try:
        text = (folder / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    line = next((line for line in text.splitlines() if line.startswith("VmHWM:")), "VmHWM: 0 kB")
    return 1024 * int(line.split()[1])
