"""Keeping a measurement undisturbed, and recording how far that went.

Priority is raised where the system allows it; what cannot be prevented is recorded beside every
sample: load, stolen time, context switches. The verdict on a single sample, CPU time over
(threads x wall time), is the measuring program's own.
"""

import functools
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.domain.variant import Placement
from autotune.toolchain import child_process
from autotune.toolchain.child_process import Priority

RAISED = -20
"""Niceness of what is timed, where it is allowed."""
VERIFYING = 0
"""Niceness of what runs but is not timed, also when this process has been raised."""

BINDINGS: Mapping[Placement, str] = {"compact": "close", "scatter": "spread"}
"""OMP_PROC_BIND of each placement."""

_BUSY_SHARE = 0.05
_TICK = os.sysconf("SC_CLK_TCK")


def cpus() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def openmp(threads: int, *, timed: bool = True, placement: Placement = "compact") -> dict[str, str]:
    """OpenMP's settings: one thread per core, side by side or spread out, waiting actively.

    Active waiting makes a barrier fast and lets CPU time over wall time tell whether the threads
    kept their cores. It only does harm with more threads than CPUs, or beside other work
    (``timed=False``).
    """
    active = timed and threads <= cpus()
    return {
        "OMP_NUM_THREADS": str(threads),
        "OMP_PLACES": "cores",
        "OMP_PROC_BIND": BINDINGS[placement] if active else "false",
        "OMP_WAIT_POLICY": "active" if active else "passive",
        "OMP_DYNAMIC": "false",
    }


@functools.cache
def attainable_priority() -> Priority:
    """How the priority of a child can be raised on this system, found by doing it once."""
    return child_process.run(["true"], timeout=10, niceness=RAISED).priority


class QuietWatch:
    """Conditions of a stretch of time: what the system did since it was started or last asked."""

    def __init__(self) -> None:
        self._stolen = _stolen()

    def conditions(self) -> dict[str, float | int | str]:
        """Load average of the last minute and CPU seconds stolen by the hypervisor."""
        before, self._stolen = self._stolen, _stolen()
        return {"load": os.getloadavg()[0], "stolen_s": round(self._stolen - before, 4)}


@dataclass(frozen=True, slots=True)
class OtherProcesses:
    """CPU use of processes other than this one and its descendants, over a short window."""

    cpus: float
    """CPU seconds per second."""
    names: tuple[str, ...]
    """Programs that used most, busiest first."""

    @property
    def note(self) -> str:
        """A warning in words; empty when nothing noticeable ran."""
        if self.cpus < _BUSY_SHARE:
            return ""
        who = f" ({', '.join(self.names)})" if self.names else ""
        return f"other processes use {self.cpus:.2g} of {os.cpu_count() or 1} CPUs{who}"


def others(window: float = 0.2) -> OtherProcesses:
    """What other processes use of the CPUs, watched for ``window`` seconds."""
    before, started = _usage(), time.monotonic()
    time.sleep(window)
    after, elapsed = _usage(), time.monotonic() - started
    own = _descendants(after)
    used = {
        pid: (entry.ticks - before[pid].ticks) / _TICK / elapsed
        for pid, entry in after.items()
        if pid in before and pid not in own
    }
    busiest = sorted((pid for pid in used if used[pid] >= _BUSY_SHARE), key=lambda pid: -used[pid])
    return OtherProcesses(
        cpus=sum(used.values()),
        names=tuple(dict.fromkeys(after[pid].name for pid in busiest[:5])),
    )


@dataclass(frozen=True, slots=True)
class _Usage:
    name: str
    parent: int
    ticks: int


def _usage() -> dict[int, _Usage]:
    found: dict[int, _Usage] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            head, _, tail = (entry / "stat").read_text(errors="replace").rpartition(")")
        except OSError:
            continue  # it has ended meanwhile
        values = tail.split()
        name = head.partition("(")[2]
        found[int(entry.name)] = _Usage(name, int(values[1]), int(values[11]) + int(values[12]))
    return found


def _descendants(usage: dict[int, _Usage]) -> set[int]:
    own = {os.getpid()}
    while more := {pid for pid, entry in usage.items() if entry.parent in own} - own:
        own |= more
    return own


def _stolen() -> float:
    """CPU seconds stolen by the hypervisor since boot, all CPUs together (proc(5), /proc/stat)."""
    try:
        first = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0].split()
        return int(first[8]) / _TICK
    except (OSError, IndexError, ValueError):
        return 0.0
