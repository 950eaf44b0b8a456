"""What the Linux kernel says of processes that run or wait for a CPU, on the whole host.

Kernels without the files of /proc, or containers that hide them, say nothing: then values are
None.
"""

import math
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

PROC = Path("/proc")
_TICK = os.sysconf("SC_CLK_TCK")
_MICROSECONDS = 1e-6


@dataclass(frozen=True, slots=True)
class CpuPressure:
    """How much processes waited for a CPU (Weiner 2018, pressure stall information, ``some``)."""

    recent: float
    """Share of the last 10 s in which at least one process waited for a CPU."""
    total: float
    """Seconds since boot in which at least one process waited for a CPU."""


def cpu_pressure(proc: Path = PROC) -> CpuPressure | None:
    """The pressure on all CPUs of the host; None where the kernel does not record it."""
    try:
        text = (proc / "pressure" / "cpu").read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    line = re.search(r"^some avg10=(\d+\.\d+) .*\btotal=(\d+)$", text, re.MULTILINE)
    if line is None:
        return None
    return CpuPressure(recent=float(line[1]) / 100, total=int(line[2]) * _MICROSECONDS)


@dataclass(frozen=True, slots=True)
class CpuCounters:
    """Counters of all CPUs of the host together (proc(5), /proc/stat)."""

    stolen: float = 0.0
    """CPU seconds since boot that the hypervisor gave to others; 0 where it is not recorded."""
    running: int | None = None
    """Threads that run or wait for a CPU now, this one included; None where it is not recorded."""


def cpu_counters(proc: Path = PROC) -> CpuCounters:
    """The counters of the host now."""
    try:
        text = (proc / "stat").read_text(encoding="ascii")
    except (OSError, ValueError):
        return CpuCounters()
    stolen = re.match(r"cpu +(?:\d+ ){7}(\d+)", text)
    running = re.search(r"^procs_running (\d+)$", text, re.MULTILINE)
    return CpuCounters(
        stolen=int(stolen[1]) / _TICK if stolen else 0.0,
        running=int(running[1]) if running else None,
    )


@dataclass(slots=True)
class PressureWatch:
    """The share of time in which a process waited for a CPU, from reading to reading."""

    proc: Path = PROC
    _last: tuple[float, float] | None = field(init=False)
    """Moment and seconds of waiting at the last reading."""

    def __post_init__(self) -> None:
        self._last = self._read()

    def share(self) -> float | None:
        """The share since the watch was started or last read, between 0 and 1.

        None where the kernel does not record it, and where no time has passed.
        """
        before, self._last = self._last, self._read()
        if before is None or self._last is None or self._last[0] <= before[0]:
            return None
        share = (self._last[1] - before[1]) / (self._last[0] - before[0])
        return min(1.0, max(0.0, share)) if math.isfinite(share) else None

    def _read(self) -> tuple[float, float] | None:
        pressure = cpu_pressure(self.proc)
        return None if pressure is None else (time.monotonic(), pressure.total)
