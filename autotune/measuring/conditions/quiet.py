"""Keeps measurements undisturbed, and records disturbances.

Priority is raised where the system allows it. Disturbances that cannot be prevented are recorded
with every sample: load, stolen time, context switches. The measuring program itself judges each
sample by its CPU time over (threads x wall time).
"""

import functools
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.domain.variant import Placement
from autotune.measuring.conditions.cpu_contention import PROC, PressureWatch, cpu_counters
from autotune.toolchain import child_process
from autotune.toolchain.child_process import Priority

RAISED = -20
"""Niceness of timed programs, where the system allows it."""
VERIFYING = 0
"""Niceness of programs that are not timed, even if this process has a raised priority."""

BINDINGS: Mapping[Placement, str] = {"compact": "close", "scatter": "spread"}
"""Value of OMP_PROC_BIND for each placement."""

_BUSY_SHARE = 0.05
_TICK = os.sysconf("SC_CLK_TCK")


def cpus() -> int:
    """Number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def openmp(threads: int, *, timed: bool = True, placement: Placement = "compact") -> dict[str, str]:
    """OpenMP variables: one thread per core, packed or spread out, with active waiting.

    Active waiting makes a barrier fast, and CPU time over wall time then shows whether the threads
    kept their cores. It is harmful with more threads than CPUs, or beside other work
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
    """The way in which this system lets the priority of a child be raised, found by trying."""
    return child_process.run(["true"], timeout=10, niceness=RAISED).priority


class QuietWatch:
    """Load, pressure and stolen CPU time since the watch was started or last read."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._stolen = cpu_counters(proc).stolen
        self._pressure = PressureWatch(proc)

    def conditions(self) -> dict[str, float | int | str]:
        """Load average of the last minute, and CPU seconds stolen by the hypervisor.

        Where the kernel records them also ``pressure``, the share of the time since the last
        reading in which some process of the host waited for a CPU, and ``running``, the threads
        that run or wait for a CPU now.
        """
        counters = cpu_counters(self._proc)
        before, self._stolen = self._stolen, counters.stolen
        conditions: dict[str, float | int | str] = {
            "load": os.getloadavg()[0],
            "stolen_s": round(self._stolen - before, 4),
        }
        pressure = self._pressure.share()
        if pressure is not None:
            conditions["pressure"] = round(pressure, 4)
        if counters.running is not None:
            conditions["running"] = counters.running
        return conditions


@dataclass(frozen=True, slots=True)
class OtherProcesses:
    """CPU use of processes other than this one and its descendants, over a short window."""

    cpus: float
    """CPU seconds per second of wall time."""
    names: tuple[str, ...]
    """Names of the programs that used most CPU time, busiest first."""

    @property
    def note(self) -> str:
        """A sentence of warning; empty where no noticeable load was running."""
        if self.cpus < _BUSY_SHARE:
            return ""
        who = f" ({', '.join(self.names)})" if self.names else ""
        return f"other processes use {self.cpus:.2g} of {os.cpu_count() or 1} CPUs{who}"


def other_processes(window: float = 0.2) -> OtherProcesses:
    """CPU use of other processes, observed for ``window`` seconds."""
    before, started = _usage(), time.monotonic()
    time.sleep(window)
    after, elapsed = _usage(), time.monotonic() - started
    descendants = _descendants(after)
    used = {
        pid: (entry.ticks - before[pid].ticks) / _TICK / elapsed
        for pid, entry in after.items()
        if pid in before and pid not in descendants
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
    usage: dict[int, _Usage] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            head, _, tail = (entry / "stat").read_text(errors="replace").rpartition(")")
        except OSError:
            continue  # it has ended meanwhile
        values = tail.split()
        name = head.partition("(")[2]
        usage[int(entry.name)] = _Usage(name, int(values[1]), int(values[11]) + int(values[12]))
    return usage


def _descendants(usage: dict[int, _Usage]) -> set[int]:
    family = {os.getpid()}
    while more := {pid for pid, entry in usage.items() if entry.parent in family} - family:
        family |= more
    return family
