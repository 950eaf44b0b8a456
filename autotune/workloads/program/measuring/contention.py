"""Whether an external program had its cores to itself, from the kernel's accounts of its run.

The program does not report the CPU time of what it times, so the whole run is judged. The first
thread was disturbed when it was ready and waited for a CPU. A program of one thread that waited for
nothing else lasted as long as it ran and waited; its wall time also holds the delay until its end
was noticed, which is long on a busy machine. For several threads, the CPU time over
(threads x wall time) depends on how much of the run is serial, so it is compared with the largest
share that any run of the candidate had.
"""

import threading
from collections import deque
from dataclasses import dataclass, field

from autotune.domain.variant import Candidate
from autotune.toolchain.child_process import ChildUsage
from autotune.workloads.program.measuring.command_line import program_problem

_ALWAYS_READY = 16
"""A run with at most so many voluntary switches waited for nothing but CPUs: start-up has some."""
_SHORT = 0.1
"""Seconds. The wall time of a shorter run is too inexact for comparing its share."""
_RECENT = 12
"""Runs; where all were disturbed, the next one will be."""


@dataclass(slots=True)
class ContentionJudge:
    """Judges runs, and remembers the largest share of each candidate and the latest timed runs."""

    _largest: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _recent: deque[bool] = field(default_factory=lambda: deque(maxlen=_RECENT))
    """Whether the latest timed runs were undisturbed."""

    def enter(self, *, undisturbed: bool) -> None:
        """Remember whether a timed run was undisturbed."""
        self._recent.append(undisturbed)

    @property
    def hopeless(self) -> bool:
        """Whether so many of the latest runs were all disturbed that another one will be, too."""
        return len(self._recent) == _RECENT and not any(self._recent)

    def busy(self, candidate: Candidate, usage: ChildUsage) -> float:
        """The part of its possible CPU time that a run used, from 0 to 1."""
        program = program_problem(candidate).program
        undelayed = _undelayed(usage)
        if program.threads == "one" and undelayed is None:
            return min(1.0, usage.cpu / usage.wall)
        if program.threads == "one" and usage.voluntary <= _ALWAYS_READY:
            return min(undelayed or 0.0, _ran(usage))
        if not program.spread or usage.wall < _SHORT:
            return 1.0 if undelayed is None else undelayed
        share = usage.cpu / (candidate.threads * usage.wall)
        with self._lock:
            largest = max(share, self._largest.get(candidate.identity, 0.0))
            self._largest[candidate.identity] = largest
        relative = share / largest if largest > 0 else 1.0
        return relative if undelayed is None else min(undelayed, relative)


def _ran(usage: ChildUsage) -> float:
    """The part of the time in which it could run that a program of one thread ran."""
    ready = usage.cpu + (usage.waited or 0.0)
    return usage.cpu / ready if ready > 0 else 1.0


def _undelayed(usage: ChildUsage) -> float | None:
    """The part of the run in which the first thread did not wait for a CPU; None if unknown."""
    if usage.waited is None or usage.wall <= 0:
        return None
    return max(0.0, 1 - usage.waited / usage.wall)
