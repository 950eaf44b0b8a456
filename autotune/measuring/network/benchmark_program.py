"""The MPI benchmark program, in C or for mpi4py: its build, arguments and output."""

import importlib.util
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from autotune.domain.cost_curve import OPERATIONS, Operation
from autotune.domain.variant import Build
from autotune.errors import Fault, MissingTool, WorkFailed
from autotune.measuring.network.samples import BenchmarkSample, ImpossibleSample
from autotune.toolchain import build_cache, compiler, mpi
from autotune.toolchain.mpi import Mpi
from autotune.units import Bytes, Seconds

BUILD = Build(compiler="gcc", flags=("-O2",))
_COMPILE_LIMIT = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkProgram:
    """The program that every rank runs."""

    kind: Literal["c", "mpi4py"]
    command: tuple[str, ...]
    note: str = ""
    """Why the compiled program is not used; empty if it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkStart:
    """The first line of the program: its ranks have started."""

    ranks: int
    cores: int
    library: str
    priority: str
    hosts: tuple[str, ...]
    """Host name of each rank."""


def provide(library: Mpi) -> BenchmarkProgram:
    """Build the C program, or use the mpi4py program where there is no mpicc.

    Raises MissingTool without either, WorkFailed when the compiler refuses.
    """
    if library.mpicc is None:
        return _python(library)
    flags, link = mpi.compile_flags(library, "comm bench")
    built = build_cache.build(
        {"bench.c": _text("bench.c")},
        compiler.find(BUILD, "comm bench"),
        extra_flags=flags,
        link=(*link, "-lm"),
        limit=_COMPILE_LIMIT,
    )
    if built.executable is None:
        raise WorkFailed(f"the benchmark cannot be built with {library.mpicc}: {built.detail}")
    return BenchmarkProgram(kind="c", command=(str(built.executable),))


def _python(library: Mpi) -> BenchmarkProgram:
    if importlib.util.find_spec("mpi4py") is None:
        fault = Fault(
            where="comm bench",
            found=f"{library.title} has no mpicc, and mpi4py is not installed",
            expected="one of them",
            hint=f"{sys.executable} -m pip install mpi4py, or {mpi.INSTALL}",
        )
        raise MissingTool(fault)
    script = resources.files("autotune.measuring.network") / "runtime" / "bench_mpi4py.py"
    return BenchmarkProgram(
        kind="mpi4py",
        command=(sys.executable, str(script)),
        note=f"{library.title} has no mpicc: measured through mpi4py",
    )


def _text(name: str) -> str:
    return (resources.files("autotune.measuring.network") / "runtime" / name).read_text(
        encoding="utf-8"
    )


def arguments(
    points: Sequence[tuple[Operation, int]],
    *,
    least: float,
    until: float,
    tries: int,
    busy: float,
    buffers: int,
) -> list[str]:
    """The command-line arguments for samples of these points, in this order; see bench.c."""
    limits = [f"{least:.6g}", f"{until:.6g}", str(tries), f"{busy:.4g}", str(buffers)]
    return [*limits, *(f"{operation}:{size}" for operation, size in points)]


def parse(line: str) -> BenchmarkStart | BenchmarkSample | Literal["end"] | None:
    """The content of a printed line; None for a line of another program, such as a launcher's
    banner.

    Raises WorkFailed for an impossible sample, such as one that took no time.
    """
    if not line.lstrip().startswith('{"kind"'):
        return None
    try:
        row = json.loads(line)
        return _parsed(row)
    except ImpossibleSample as error:
        raise WorkFailed(f"the benchmark printed {line.strip()}: {error}") from error
    except (ValueError, KeyError, TypeError):
        return None


def _parsed(row: Mapping[str, object]) -> BenchmarkStart | BenchmarkSample | Literal["end"] | None:
    if row["kind"] == "end":
        return "end"
    if row["kind"] == "start":
        return BenchmarkStart(
            ranks=int(str(row["ranks"])),
            cores=int(str(row["cores"])),
            library=str(row["library"]),
            priority=str(row["priority"]),
            hosts=tuple(map(str, _list(row["hosts"]))),
        )
    operation = next((name for name in OPERATIONS if name == row["operation"]), None)
    if operation is None:
        return None
    return BenchmarkSample(
        operation=operation,
        bytes=Bytes(int(str(row["bytes"]))),
        seconds=Seconds(float(str(row["seconds"]))),
        count=int(str(row["count"])),
        busy=tuple(float(str(share)) for share in _list(row["busy"])),
        taken=float(str(row["taken"])),
    )


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError
    return value
