"""The probe program: builds it for this host, runs it in a child process, and parses its output."""

import functools
import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from autotune.domain.calibration import CONSTANTS
from autotune.domain.variant import Build
from autotune.errors import Fault, InputError, WorkFailed
from autotune.measuring.conditions import quiet
from autotune.toolchain import build_cache, child_process, compiler
from autotune.toolchain.compiler import Compiler
from autotune.units import Bytes, Seconds

Kind = Literal[
    "clock", "barrier", "load", "divide", "update", "store", "clash", "offset", "behind", "apart",
    "mixed", "taps", "across", "add", "forward", "blocked", "adds", "multiplies", "fused",
    "divides", "shuffles", "calls", "narrow", "window", "entry", "runs", "resume", "meet", "wide",
    "handed", "kept", "lent", "owned",
]  # fmt: skip

GROUP = 64
"""Bytes of a stream that count as one operation."""
PAGE = 4096
EXTRAS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Numbers of extra loads or divides per group that the program offers; as in probe.c."""
STREAMS = (1, 2, 3, 4, 6, 8, 12, 16)
"""Numbers of arrays that the program can read at once; as in probe.c."""
FUNCTIONS = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh",
    "tanh", "asin", "acos", "atan", "cbrt", "erf", "pow", "atan2", "hypot", "fmod",
)  # fmt: skip
"""Functions of the mathematical library that the program can call, in the order of probe.c."""
BUILD = Build(compiler="gcc", flags=("-O3", "-march=native"))

_FORMULAS = ("calibration_plan.py", "constants.py", "estimates.py")
"""Modules that define what is measured and how figures follow from it."""
_NO_FORMULA = re.compile(r'"""(?s:.*?)"""|#[^\n]*')
_WAITING: tuple[Kind, ...] = ("barrier", "meet", "handed", "kept", "lent", "owned")
_COMPILE_LIMIT = 60.0
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
    """One thing for the probe to measure; ``probe.c`` defines the kinds and what each of them
    counts.
    """

    kind: Kind
    bytes: Bytes = Bytes(0)
    """Working set per thread."""
    streams: int = 0
    extra: int = 0
    run: int = 0

    def __str__(self) -> str:
        return f"{self.kind}:{self.bytes}:{self.streams}:{self.extra}:{self.run}"


def load(size: Bytes, *, streams: int = 1, extra: int = 0) -> ProbeItem:
    """An item that reads a working set."""
    return ProbeItem(kind="load", bytes=size, streams=streams, extra=extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSample:
    """One sample of the probe program."""

    item: ProbeItem
    threads: int
    seconds: Seconds
    count: int
    """Number of counted operations per thread; the kind of the item says of what."""
    busy: float
    """Processor time of the threads over their wall time."""

    @property
    def per_operation(self) -> Seconds:
        """Seconds per counted operation: CPU time, or wall time where threads wait for each other.

        In CPU time an interruption costs a sample the content of its caches, but not the time of
        the interruption.
        """
        waits = self.item.kind in _WAITING
        return Seconds(self.seconds * (1.0 if waits else min(1.0, self.busy)) / self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProbe:
    """The built probe program."""

    executable: str
    width: Bytes
    """Bytes of its vectors."""
    compiler: str
    """Version and flags of its compiler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRun:
    """The samples of one process of the probe, and how its priority was raised."""

    samples: tuple[ProbeSample, ...]
    priority: str
    detail: str
    """Why the process ended early; empty when it did not."""
    cpu: Seconds
    """Processor time of the process."""


def source() -> str:
    """The C text of the probe program."""
    return resources.files(__package__).joinpath("probe.c").read_text(encoding="utf-8")


@functools.cache
def identity() -> str:
    """What a calibration of this version means: the digest of the text of the probe program, and of
    the modules that say what it measures and what is computed of that.
    """
    package = resources.files(__package__)
    return digest(source(), [package.joinpath(f).read_text(encoding="utf-8") for f in _FORMULAS])


def digest(program: str, formulas: Sequence[str]) -> str:
    """12 hexadecimal digits of SHA-256 of a probe program, the names of all constants, and modules
    with formulas, whose comments, docstrings and spaces do not count.
    """
    bare = ("".join(_NO_FORMULA.sub("", text).split()) for text in formulas)
    text = "\n".join([program, *sorted(CONSTANTS), *bare])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def width(compiler: Compiler) -> Bytes:
    """The bytes of the vectors that a compiler uses for a plain loop.

    On some processors compilers use only half of the widest vectors.
    """
    text = build_cache.assembly(_SWEEP, compiler, limit=_COMPILE_LIMIT)
    return next(Bytes(size) for size, register in _WIDTHS if re.search(register, text))


def build() -> HostProbe:
    """Build the probe program; MissingTool without a compiler, WorkFailed when the
    compiler fails.
    """
    c_compiler = compiler.find(BUILD, "calibration")
    vector = width(c_compiler)
    text = f"#define WIDTH {vector}\n{source()}"
    built = build_cache.build({"probe.c": text}, c_compiler, limit=_COMPILE_LIMIT)
    if built.executable is None:
        raise WorkFailed(f"the calibration program cannot be built: {built.detail}")
    identity = f"{c_compiler.version}; {' '.join(c_compiler.flags)}"
    return HostProbe(executable=str(built.executable), width=vector, compiler=identity)


def run(
    probe: HostProbe, threads: int, items: Sequence[ProbeItem], *, sample: float, until: float
) -> ProbeRun:
    """Take a sample of about ``sample`` seconds of each item; none begins after ``until``."""
    lines: list[str] = []
    outcome = child_process.run(
        [probe.executable, str(threads), f"{sample:.6g}", f"{until:.6g}", *map(str, items)],
        timeout=until + _GRACE,
        environment=_environment(threads),
        listener=child_process.LineListener(lines.append),
        niceness=quiet.RAISED,
    )
    if outcome.code == 2:
        raise InputError(Fault(where="calibration", found=outcome.describe()))
    return ProbeRun(
        samples=tuple(parse(lines, items)),
        priority=outcome.priority,
        detail="" if outcome.ok else outcome.describe(),
        cpu=outcome.usage.cpu if outcome.usage else Seconds(0.0),
    )


def parse(lines: Sequence[str], items: Sequence[ProbeItem]) -> Iterator[ProbeSample]:
    """The samples in the program's output; incomplete lines are left out.

    A sample without processor time is left out too, since the whole process was stopped during it.
    """
    by_name = {str(item): item for item in items}
    for line in lines:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if min(record[name] for name in ("count", "seconds", "busy")) > 0:
            yield ProbeSample(**record | {"item": by_name[record["item"]]})


def _environment(threads: int) -> dict[str, str]:
    """Environment variables that bind threads to cores and make them wait actively, without the
    user's OpenMP settings.
    """
    foreign = ("OMP_", "GOMP_", "KMP_")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return variables | quiet.openmp(threads) | {"AUTOTUNE_PDEATHSIG": "1", "LC_ALL": "C"}
