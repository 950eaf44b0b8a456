"""The measuring program: built for this host, run in a child process, read line by line."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from autotune.domain.variant import Build
from autotune.errors import Fault, InputError, WorkFailed
from autotune.measuring.conditions import quiet
from autotune.toolchain import build_cache, child_process, compiler
from autotune.toolchain.compiler import Compiler
from autotune.units import Bytes, Seconds

Kind = Literal[
    "clock", "barrier", "load", "divide", "update", "store", "clash", "offset", "add", "forward",
    "blocked", "entry", "runs", "handed", "kept", "lent", "owned",
]  # fmt: skip

GROUP = 64
"""Bytes whose streaming counts as one."""
PAGE = 4096
EXTRAS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Additional loads from L1, or divides, per group that the program knows; as in probe.c."""
STREAMS = (1, 2, 3, 4, 6, 8, 12, 16)
"""Numbers of arrays that the program can read at once; as in probe.c."""
BUILD = Build(compiler="gcc", flags=("-O3", "-march=native"))

_WAITING: tuple[Kind, ...] = ("barrier", "handed", "kept", "lent", "owned")
_COMPILE_LIMIT = 20.0
_GRACE = 3.0
_WIDTHS = ((64, r"%zmm"), (32, r"%ymm"), (16, r""))
_SWEEP = """\
void sweep(long n, double *restrict y, const double *restrict x, double a)
{
    for (long j = 0; j < n; ++j)
        y[j] += a * x[j];
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeItem:
    """What one sample measures; ``probe.c`` says what each kind does and counts."""

    kind: Kind
    bytes: Bytes = Bytes(0)
    """Working set per thread."""
    streams: int = 0
    extra: int = 0
    run: int = 0

    def __str__(self) -> str:
        return f"{self.kind}:{self.bytes}:{self.streams}:{self.extra}:{self.run}"


def load(size: Bytes, *, streams: int = 1, extra: int = 0) -> ProbeItem:
    """Reading a working set."""
    return ProbeItem(kind="load", bytes=size, streams=streams, extra=extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSample:
    """One sample of the program."""

    item: ProbeItem
    threads: int
    seconds: Seconds
    count: int
    """Per thread: what the item counts."""
    busy: float
    """Processor time of the threads over their wall time."""

    @property
    def each(self) -> Seconds:
        """Seconds per what the item counts: on the processor, where no thread waits for another.

        So an interruption costs a sample its warm caches, but does not count itself.
        """
        waits = self.item.kind in _WAITING
        return Seconds(self.seconds * (1.0 if waits else min(1.0, self.busy)) / self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProbe:
    """The program as built."""

    executable: str
    width: Bytes
    """Of a vector."""
    compiler: str
    """Version and flags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRun:
    """The samples of one process, and how its priority was raised."""

    samples: tuple[ProbeSample, ...]
    priority: str
    detail: str
    """Why it ended early; empty when it did not."""


def source() -> str:
    """The C text of the program."""
    return resources.files(__package__).joinpath("probe.c").read_text(encoding="utf-8")


def width(found: Compiler) -> Bytes:
    """Bytes of the vectors that a compiler makes of a plain loop.

    Not the widest there are: compilers keep to half of them on some processors.
    """
    text = build_cache.assembly(_SWEEP, found, limit=_COMPILE_LIMIT)
    return next(Bytes(size) for size, register in _WIDTHS if re.search(register, text))


def build() -> HostProbe:
    """Build the program. Raises MissingTool without a compiler, WorkFailed when it refuses."""
    found = compiler.find(BUILD, "calibration")
    vector = width(found)
    text = f"#define WIDTH {vector}\n{source()}"
    built = build_cache.build({"probe.c": text}, found, limit=_COMPILE_LIMIT)
    if built.executable is None:
        raise WorkFailed(f"the calibration program cannot be built: {built.detail}")
    identity = f"{found.version}; {' '.join(found.flags)}"
    return HostProbe(executable=str(built.executable), width=vector, compiler=identity)


def run(
    probe: HostProbe, threads: int, items: Sequence[ProbeItem], *, sample: float, until: float
) -> ProbeRun:
    """Take a sample of about ``sample`` seconds of each item, none begun after ``until``."""
    lines: list[str] = []
    outcome = child_process.run(
        [probe.executable, str(threads), f"{sample:.6g}", f"{until:.6g}", *map(str, items)],
        timeout=until + _GRACE,
        environment=_environment(threads),
        on_line=lines.append,
        niceness=quiet.RAISED,
    )
    if outcome.code == 2:
        raise InputError(Fault(where="calibration", found=outcome.describe()))
    return ProbeRun(
        samples=tuple(parse(lines, items)),
        priority=outcome.priority,
        detail="" if outcome.ok else outcome.describe(),
    )


def parse(lines: Sequence[str], items: Sequence[ProbeItem]) -> Iterator[ProbeSample]:
    """The samples of the program's output; a line that was cut short is left out.

    So is a sample without processor time: the whole process was stopped.
    """
    known = {str(item): item for item in items}
    for line in lines:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if min(record[name] for name in ("count", "seconds", "busy")) > 0:
            yield ProbeSample(**record | {"item": known[record["item"]]})


def _environment(threads: int) -> dict[str, str]:
    """Threads bound to cores and waiting actively; nothing of the caller's OpenMP settings."""
    foreign = ("OMP_", "GOMP_", "KMP_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return kept | quiet.openmp(threads) | {"AUTOTUNE_PDEATHSIG": "1", "LC_ALL": "C"}
