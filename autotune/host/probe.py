"""The measuring program: built for this host, run in a child process, read line by line."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from autotune.errors import Fault, InputError, WorkFailed
from autotune.measure import quiet
from autotune.toolchain import cache, compiler, process
from autotune.units import Bytes, Seconds
from autotune.variant import Build

Kind = Literal["clock", "barrier", "stream"]

GROUP = 64
"""Bytes whose streaming counts as one."""
PAGE = 4096
EXTRAS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Additional loads from L1 per group that the program knows; as in probe.c."""
BUILD = Build(compiler="gcc", flags=("-O3", "-march=native"))

_COMPILE_LIMIT = 20.0
_GRACE = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One sample of the program."""

    kind: Kind
    threads: int
    extra: int
    """Loads from L1 beside each group."""
    bytes: Bytes
    """Working set per thread."""
    seconds: Seconds
    count: int
    """Per thread: additions of the chain, barriers or groups."""
    busy: float
    """Processor time of the threads over their wall time."""

    @property
    def each(self) -> Seconds:
        """Seconds per addition, barrier or group."""
        return Seconds(self.seconds / self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The program as built."""

    executable: str
    compiler: str
    """Version and flags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """The samples of one process, and how its priority was raised."""

    samples: tuple[Sample, ...]
    priority: str
    detail: str
    """Why it ended early; empty when it did not."""


def source() -> str:
    """The C text of the program."""
    return resources.files(__package__).joinpath("probe.c").read_text(encoding="utf-8")


def build() -> Probe:
    """Build the program. Raises MissingTool without a compiler, WorkFailed when it refuses."""
    found = compiler.find(BUILD, "calibration")
    built = cache.build({"probe.c": source()}, found, limit=_COMPILE_LIMIT)
    if built.executable is None:
        raise WorkFailed(f"the calibration program cannot be built: {built.detail}")
    text = f"{found.version}; {' '.join(found.flags)}"
    return Probe(executable=str(built.executable), compiler=text)


def run(
    probe: Probe,
    kind: Kind,
    threads: int,
    *,
    sample: float,
    until: float,
    streams: Iterable[tuple[int, int]] = (),
) -> Ran:
    """Take samples of about ``sample`` seconds, none begun after ``until`` seconds.

    ``streams`` are (loads from L1 per group, working set per thread in bytes).
    """
    items = [f"{extra}:{size}" for extra, size in streams]
    lines: list[str] = []
    outcome = process.run(
        [probe.executable, kind, str(threads), f"{sample:.6g}", f"{until:.6g}", *items],
        timeout=until + _GRACE,
        environment=_environment(threads),
        on_line=lines.append,
        niceness=quiet.RAISED,
    )
    if outcome.code == 2:
        raise InputError(Fault(where="calibration", found=outcome.describe()))
    return Ran(
        samples=tuple(parse(lines)),
        priority=outcome.priority,
        detail="" if outcome.ok else outcome.describe(),
    )


def parse(lines: Sequence[str]) -> Iterable[Sample]:
    """The samples of the program's output; a line that was cut short is left out."""
    for line in lines:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if record["count"] > 0 and record["seconds"] > 0:
            yield Sample(**record)


def _environment(threads: int) -> dict[str, str]:
    """Threads bound to cores and waiting actively; nothing of the caller's OpenMP settings."""
    foreign = ("OMP_", "GOMP_", "KMP_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return kept | quiet.openmp(threads) | {"AUTOTUNE_PDEATHSIG": "1", "LC_ALL": "C"}
