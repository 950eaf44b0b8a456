"""How busy this host is with the work of others, and what that means for measuring."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from autotune.measuring.conditions import quiet
from autotune.measuring.conditions.cpu_contention import cpu_pressure
from autotune.measuring.conditions.quiet import OtherProcesses
from autotune.units import counted

_WINDOW = 0.5
"""Seconds for which other processes are observed."""
_QUIET = 0.05
"""CPUs: with less work of others the host counts as quiet."""
_LARGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_WAITED = 0.2
"""Share of the last 10 s: with less waiting the host counts as quiet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLoad:
    """What other processes do on this host at one moment."""

    cores: int
    """CPUs that this process may use."""
    others: OtherProcesses
    load: float
    """Load average of the last minute: processes that run or wait."""
    pressure: float | None
    """Share of the last 10 s in which some process waited for a CPU; None: not recorded here."""

    @property
    def free(self) -> int:
        """The number of whole CPUs that others leave free."""
        return max(0, int(self.cores - self.others.cpus + _QUIET))

    @property
    def meaning(self) -> str:
        """What the load means for measuring, as a sentence without its full stop."""
        if self.others.cpus < _QUIET and (self.pressure or 0.0) < _WAITED:
            return "quiet: times repeat"
        if self.others.cpus < _QUIET:
            return "processes that have just ended, or are not visible here, take CPUs: look again"
        if self.free:
            threads = counted(self.free, "thread")
            return f"candidates of up to {threads} find free CPUs, those of more are disturbed"
        return (
            "no CPU is free: samples are disturbed, comparisons need more rounds;"
            " autotune noise CONFIG says how many"
        )

    def __str__(self) -> str:
        cores = counted(self.cores, "CPU")
        names = f" ({', '.join(self.others.names)})" if self.others.names else ""
        parts = [
            f"other processes use {self.others.cpus:.1f} of {cores}{names}",
            f"load average {self.load:.1f}",
        ]
        if self.pressure is not None:
            parts.append(
                f"something waited for a CPU in {100 * self.pressure:.0f} % of the last 10 s"
            )
        return ", ".join(parts)


def observe(window: float = _WINDOW) -> HostLoad:
    """The load of this host, observed for ``window`` seconds."""
    others = quiet.other_processes(window)
    pressure = cpu_pressure()
    return HostLoad(
        cores=quiet.cpus(),
        others=others,
        load=os.getloadavg()[0],
        pressure=None if pressure is None else pressure.recent,
    )


def large_pages() -> str:
    """Who gets large pages of memory here: ``always`` and ``madvise`` large arrays of programs,
    ``never`` nobody; ``unknown`` where the system does not say.
    """
    try:
        text = _LARGE_PAGES.read_text(encoding="ascii")
    except OSError:
        return "unknown"
    chosen = re.search(r"\[(\w+)\]", text)
    return chosen[1] if chosen else "unknown"
